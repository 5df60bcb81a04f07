package client

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"strconv"
	"syscall"
	"time"

	"github.com/metnos/vaglio/internal/strictjson"
)

// ErrNotRunning means that no daemon is listening.
var ErrNotRunning = errors.New("vaglio is not running: start it with `vaglio serve`")

// ProblemError is the problem document (RFC 9457) that the daemon answered with.
type ProblemError struct {
	// Type identifies the kind of problem, such as "/problems/spent".
	Type  string `json:"type"`
	Title string `json:"title"`
	// Status is the HTTP status.
	Status int `json:"status"`
	// Detail says in one sentence what went wrong.
	Detail string `json:"detail"`
	// Field is the JSON pointer to the offending value in the body, if any.
	Field string `json:"field"`
	// Line is the line of the body with the mistake, counted from 1; 0 if there is none.
	Line int `json:"line"`
	// RetryAfter is how long the daemon asks to wait before a retry; 0 if it did not say.
	RetryAfter time.Duration `json:"-"`
}

func (p *ProblemError) Error() string { return p.Detail }

// TooLarge reports whether the daemon refused the call because of its size.
func (p *ProblemError) TooLarge() bool { return p.Status == statusTooLarge }

// TransportError means that an exchange with the daemon was not completed. The daemon may or
// may not have taken the request.
type TransportError struct {
	// What is what the daemon was asked for, in one word.
	What string
	Err  error
}

func (e *TransportError) Error() string {
	return fmt.Sprintf("vaglio could not be asked to %s: %v", e.What, e.Err)
}

func (e *TransportError) Unwrap() error { return e.Err }

// MaxReply is the maximum length of a reply's body, in bytes.
const MaxReply = 16 << 20

// replyWithin is how long an answer may take beyond the requested wait.
const replyWithin = 30 * time.Second

// The HTTP statuses that the client distinguishes.
const (
	statusOK          = 200
	statusNoContent   = 204
	statusFailure     = 400 // and above
	statusTooLarge    = 413
	statusUnavailable = 503
)

// Transport sends requests to the daemon and returns its replies. It is safe for concurrent
// use.
type Transport interface {
	// Exchange sends r and returns the daemon's complete reply, whatever its status. It
	// follows no redirects and sends nothing twice. Its errors contain no part of r. If the
	// daemon could not be reached, the error is a [*net.OpError] with Op "dial", or
	// [ErrNotRunning].
	Exchange(ctx context.Context, r *Message) (*Reply, error)
	// Close closes idle connections.
	Close()
}

// Message is an HTTP request.
type Message struct {
	Method string
	// Path may contain a permit and a query.
	Path string
	// Header may contain the agent's token.
	Header []Field
	// Body is JSON, or nil.
	Body []byte
}

// Field is one header field.
type Field struct{ Name, Value string }

// Reply is an HTTP reply.
type Reply struct {
	Status int
	// RetryAfter is the Retry-After header field, "" if there was none.
	RetryAfter string
	// Body has at most [MaxReply] bytes.
	Body []byte
	// last says that the connection must not be reused.
	last bool
}

// ErrTooLarge means that a reply's body is longer than [MaxReply] bytes.
var ErrTooLarge error = tooLargeError{}

type tooLargeError struct{}

func (tooLargeError) Error() string {
	return fmt.Sprintf("the answer is larger than %d bytes", MaxReply)
}

// exchange is one request to the daemon. Its path may contain a permit.
type exchange struct {
	what, method, path string
	body               []byte
	key                string
	wait               time.Duration
}

// send sends x and returns the status and body of the reply. A failure status is an error.
func (c *Client) send(ctx context.Context, x exchange) (int, []byte, error) {
	timed, cancel := context.WithTimeout(ctx, x.wait+replyWithin)
	defer cancel()
	m := &Message{Method: x.method, Path: x.path, Body: x.body}
	m.add("Content-Type", "application/json", x.body != nil)
	m.add("Idempotency-Key", x.key, x.key != "")
	m.add("Authorization", "Bearer "+c.token, c.token != "")
	reply, err := c.transport.Exchange(timed, m)
	switch {
	case err != nil:
		return 0, nil, explain(ctx, timed, x.what, err)
	case reply.Status >= statusFailure:
		return 0, nil, problem(reply)
	}
	return reply.Status, reply.Body, nil
}

func (m *Message) add(name, value string, wanted bool) {
	if wanted {
		m.Header = append(m.Header, Field{name, value})
	}
}

// explain says why an exchange failed. timed is the context within ctx that bounded it.
func explain(ctx, timed context.Context, what string, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "dial" &&
		(errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED)) {
		return ErrNotRunning
	}
	if errors.Is(err, ErrNotRunning) {
		return err
	}
	if timed.Err() != nil {
		err = errors.New("it did not answer in time")
	}
	return &TransportError{what, err}
}

// problem decodes a failure. Whatever the body holds, the result is a failure.
func problem(r *Reply) *ProblemError {
	p := new(ProblemError)
	if strictjson.UnmarshalLoose(r.Body, p) != nil || p.Detail == "" {
		*p = ProblemError{Detail: fmt.Sprintf("vaglio answered with status %d", r.Status)}
	}
	p.Status = r.Status
	if s, err := strconv.Atoi(r.RetryAfter); err == nil && s > 0 {
		p.RetryAfter = time.Duration(s) * time.Second
	}
	return p
}
