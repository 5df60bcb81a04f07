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

// endpoint serves one route: credentials, the call, and the one place where an
// error becomes a problem document.
type endpoint struct {
	api   *API
	route route
	who   identify
	codes *codes
}

// call is one request on its way through an endpoint.
type call struct {
	w     http.ResponseWriter
	r     *http.Request
	agent string
	// status is what was answered; 0 until then.
	status int
	// buf is what the body is read into and the answer written; nil while there is none.
	buf *bytes.Buffer
}

// statusGone is counted where the client left before the answer.
const statusGone = 499

// answerWithin bounds how long a client may take to read an answer, and
// bodyWithin how long it may take to send its body.
const (
	answerWithin = 30 * time.Second
	bodyWithin   = 30 * time.Second
)

// ServeHTTP answers one request.
func (e *endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c := &call{w: w, r: r}
	defer func() { e.codes.count(c.status) }()
	defer c.release()
	defer e.recovered(r.Context(), c)
	if err := e.serve(c); err != nil {
		e.refuse(r.Context(), c, err)
	}
}

// recovered answers a panic as a failure of ours. It must be deferred itself.
func (e *endpoint) recovered(ctx context.Context, c *call) {
	v := recover()
	if v == nil {
		return
	}
	e.api.log.ErrorContext(ctx, "a call panicked", "route", e.codes.route, "panic", v, "stack", string(debug.Stack()))
	if c.status == 0 {
		c.fail(ours(http.StatusInternalServerError))
	}
}

func (e *endpoint) serve(c *call) error {
	if !e.route.public {
		if err := refuseBrowser(c.r); err != nil {
			return err
		}
		agent, err := e.who(c.r)
		if err != nil {
			return err
		}
		c.agent = agent
	}
	return e.route.serve(e.api, c)
}

// refuse answers with the problem that err is. What is our fault is logged
// here and told without detail.
func (e *endpoint) refuse(ctx context.Context, c *call, err error) {
	if _, told := errors.AsType[*problemError](err); !told && ctx.Err() != nil {
		// Nobody reads this unless the server is going down.
		c.fail(stopping())
		c.status = statusGone
		return
	}
	p := problemOf(err)
	if p.ours {
		e.api.log.ErrorContext(ctx, "a call failed", "route", e.codes.route, "status", p.Status, "error", err)
	}
	c.fail(p)
}

// answer sends v as JSON.
func (c *call) answer(v any) error {
	buf := c.room()
	body, err := strictjson.Append(buf.AvailableBuffer(), v)
	if err != nil {
		return fmt.Errorf("httpapi: encode an answer: %w", err)
	}
	if cap(body) > buf.Cap() {
		c.buf = bytes.NewBuffer(body) // It had to grow, and is what the next one gets.
	}
	c.send(http.StatusOK, jsonType, body)
	return nil
}

// done answers that there is nothing more to say.
func (c *call) done() { c.send(http.StatusNoContent, "", nil) }

// fail sends a problem document.
func (c *call) fail(p *problemError) {
	h := c.w.Header()
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
		// A detail that is not UTF-8 cannot be sent; the status can.
		body = nil
	}
	c.send(p.Status, "application/problem+json", body)
}

// What most responses say in their head. The lists are shared by all of them: nobody
// adds to a response's head behind this.
//
//nolint:gochecknoglobals // They are never changed.
var (
	noStore     = []string{"no-store"}
	noSniff     = []string{"nosniff"}
	jsonContent = []string{jsonType}
)

const jsonType = "application/json"

// send writes one whole response within its deadline, which the connection keeps. Of one
// that is shared by several responses each has its own, which is lifted again.
func (c *call) send(status int, mediaType string, body []byte) {
	c.status = status
	h := c.w.Header()
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
	if c.r.ProtoMajor == 1 {
		c.w.WriteHeader(status)
		_, _ = c.w.Write(body)
		return
	}
	rc := http.NewResponseController(c.w)
	// A writer without deadlines is a test's; one without a reader has failed
	// already. Neither leaves anything to do.
	_ = rc.SetWriteDeadline(time.Now().Add(answerWithin))
	c.w.WriteHeader(status)
	_, _ = c.w.Write(body)
	_ = rc.Flush()
	_ = rc.SetWriteDeadline(time.Time{})
}

// ctx is the request's context: it ends when the client leaves.
func (c *call) ctx() context.Context { return c.r.Context() }
