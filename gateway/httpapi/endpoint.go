package httpapi

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/metnos/vaglio/internal/strictjson"
)

// endpoint serves one route: it checks credentials, runs the call, and turns errors into
// problem documents.
type endpoint struct {
	api   *API
	route route
	who   identify
	// known reports whether a Host header names this daemon; nil knows every one.
	known func(host string) bool
	codes *codes
}

// exchange is one request that an endpoint is serving, and its answer.
type exchange struct {
	w     http.ResponseWriter
	r     *http.Request
	agent string
	// status is the status that was sent; 0 until then.
	status int
	// buf is the buffer for the body and the answer; nil if it holds none.
	buf *bytes.Buffer
	// read says that the body was read to its end.
	read bool
	// by is what serves it.
	by *endpoint
	// parked says that a goroutine of its own goes on with it, on the connection.
	parked bool
}

// statusGone is counted when the client left before the answer.
const statusGone = 499

// answerWithin is how long a client may take to read an answer, and bodyWithin how long it may
// take to send its body.
const (
	answerWithin = 30 * time.Second
	bodyWithin   = 30 * time.Second
)

// ServeHTTP serves one request.
func (e *endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	e.run(r.Context(), &exchange{w: w, r: r, by: e}, e.serve)
}

// run takes a call to its end, or until it is parked.
func (e *endpoint) run(ctx context.Context, x *exchange, serve func(*exchange) error) {
	defer func() {
		if !x.parked {
			e.codes.count(x.status)
		}
	}()
	defer x.release()
	defer e.recovered(ctx, x)
	if err := serve(x); err != nil {
		e.refuse(ctx, x, err)
	}
}

// recovered answers a panic as an internal failure. It must be deferred directly.
func (e *endpoint) recovered(ctx context.Context, x *exchange) {
	v := recover()
	if v == nil {
		return
	}
	e.api.log.ErrorContext(ctx, "a call panicked", "route", e.codes.route, "panic", v, "stack", string(debug.Stack()))
	if x.status == 0 {
		x.fail(ours(http.StatusInternalServerError))
	}
}

func (e *endpoint) serve(x *exchange) error {
	if e.route.public {
		if e.known != nil && !e.known(x.r.Host) {
			return &problemError{
				Type: "host", Title: "Not the address of vaglio", Status: http.StatusMisdirectedRequest,
				Detail: "without a token, vaglio answers only at its loopback address and at METNOS_PUBLIC_URL",
			}
		}
	} else {
		if err := refuseBrowser(x.r); err != nil {
			return err
		}
		agent, err := e.who(x.r)
		if err != nil {
			return err
		}
		x.agent = agent
	}
	return e.route.serve(e.api, x)
}

// refuse answers with the problem document for err. It logs failures on our side and hides
// their details from the agent.
func (e *endpoint) refuse(ctx context.Context, x *exchange, err error) {
	if _, told := errors.AsType[*problemError](err); !told && ctx.Err() != nil {
		// Nobody reads this, unless the server is shutting down.
		x.fail(stopping())
		x.status = statusGone
		return
	}
	p := problemOf(err)
	if p.ours {
		e.api.log.ErrorContext(ctx, "a call failed", "route", e.codes.route, "status", p.Status, "error", err)
	}
	x.fail(p)
}

// answer sends v as JSON.
func (x *exchange) answer(v any) error {
	buf := x.room()
	body, err := strictjson.Append(buf.AvailableBuffer(), v)
	if err != nil {
		return fmt.Errorf("httpapi: encode an answer: %w", err)
	}
	if cap(body) > buf.Cap() {
		x.buf = bytes.NewBuffer(body) // The buffer had to grow: keep the larger one.
	}
	x.send(http.StatusOK, jsonType, body)
	return nil
}

// done answers with an empty success.
func (x *exchange) done() { x.send(http.StatusNoContent, "", nil) }

// fail sends a problem document.
func (x *exchange) fail(p *problemError) {
	h := x.w.Header()
	if p.retryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(p.retryAfter))
	}
	if p.challenge != "" {
		h.Set("WWW-Authenticate", p.challenge)
	}
	out := *p
	out.Type = "/problems/" + p.Type
	body, err := strictjson.Marshal(out)
	if err != nil {
		// A detail that is not valid UTF-8 cannot be encoded, but the status can still be sent.
		body = nil
	}
	x.send(p.Status, "application/problem+json", body)
}

// Header values that most responses share. No code may append to them.
//
//nolint:gochecknoglobals // They are never changed.
var (
	noStore     = []string{"no-store"}
	noSniff     = []string{"nosniff"}
	jsonContent = []string{jsonType}
)

const jsonType = "application/json"

// send writes a complete response. On HTTP/1.1 the connection sets the write deadline. HTTP/2
// responses share a connection, so each sets a deadline for its own stream and lifts it again.
func (x *exchange) send(status int, mediaType string, body []byte) {
	x.status = status
	h := x.w.Header()
	h["Cache-Control"], h["X-Content-Type-Options"] = noStore, noSniff
	switch mediaType {
	case "":
	case jsonType:
		h["Content-Type"] = jsonContent
	default:
		h.Set("Content-Type", mediaType)
	}
	if status != http.StatusNoContent {
		h.Set("Content-Length", strconv.Itoa(len(body)))
	}
	if x.r.ProtoMajor == 1 {
		x.w.WriteHeader(status)
		_, _ = x.w.Write(body)
		return
	}
	rc := http.NewResponseController(x.w)
	// A test's writer has no deadlines, and a client that no longer reads has failed anyway.
	// Either way there is nothing to do about an error.
	_ = rc.SetWriteDeadline(time.Now().Add(answerWithin))
	x.w.WriteHeader(status)
	_, _ = x.w.Write(body)
	_ = rc.Flush()
	_ = rc.SetWriteDeadline(time.Time{})
}

// ctx returns the request's context, which ends when the client leaves.
func (x *exchange) ctx() context.Context { return x.r.Context() }
