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

// ErrNotRunning says that no daemon listens.
var ErrNotRunning = errors.New("vaglio is not running: start it with `vaglio serve`")

// ProblemError is the problem document (RFC 9457) that the daemon answered with.
type ProblemError struct {
	// Type tells kinds of problems apart, such as "/problems/spent".
	Type  string `json:"type"`
	Title string `json:"title"`
	// Status is the HTTP status.
	Status int `json:"status"`
	// Detail says in one sentence what was wrong.
	Detail string `json:"detail"`
	// Field is the JSON pointer to what was wrong in the body, if anything.
	Field string `json:"field"`
	// Line is the line of the body with the mistake, from 1; 0 when there is none.
	Line int `json:"line"`
	// RetryAfter is when the daemon wants to be asked again; 0 when it did not say.
	RetryAfter time.Duration `json:"-"`
}

func (p *ProblemError) Error() string { return p.Detail }

// TooLarge reports whether the call was larger than the daemon takes.
func (p *ProblemError) TooLarge() bool { return p.Status == statusTooLarge }

// TransportError says that an exchange with the daemon did not come to its
// end. Whether the daemon took the request is not known.
type TransportError struct {
	// What was asked for, in one word.
	What string
	Err  error
}

func (e *TransportError) Error() string {
	return fmt.Sprintf("vaglio could not be asked to %s: %v", e.What, e.Err)
}

func (e *TransportError) Unwrap() error { return e.Err }

// MaxReply is the greatest length of a reply's body, in bytes.
const MaxReply = 16 << 20

// replyWithin is how long an answer may take beyond the wait asked for.
const replyWithin = 30 * time.Second

// The statuses of HTTP that a client goes by.
const (
	statusOK          = 200
	statusNoContent   = 204
	statusFailure     = 400 // and above
	statusTooLarge    = 413
	statusUnavailable = 503
)

// Transport carries requests to the daemon, each over to its reply. It is safe for
// concurrent use.
type Transport interface {
	// Exchange sends r and returns the daemon's whole reply to it, whatever its
	// status. It follows no redirect and sends nothing twice. Its errors hold no
	// part of r; where nobody could be reached, a [*net.OpError] says so of "dial", or
	// it is [ErrNotRunning].
	Exchange(ctx context.Context, r *Message) (*Reply, error)
	// Close closes the connections that no exchange uses.
	Close()
}

// Message is one request of HTTP.
type Message struct {
	Method string
	// Path may hold a permit, and a query.
	Path string
	// Header may hold the agent's token.
	Header []Field
	// Body is JSON, or nil.
	Body []byte
}

// Field is one field of a header.
type Field struct{ Name, Value string }

// Reply is what came back.
type Reply struct {
	Status int
	// RetryAfter is the field of that name, "" if there was none.
	RetryAfter string
	// Body has at most [MaxReply] bytes.
	Body []byte
	// last says that nothing may follow it on its connection.
	last bool
}

// ErrTooLarge says that a reply had more than [MaxReply] bytes.
var ErrTooLarge error = tooLargeError{}

type tooLargeError struct{}

func (tooLargeError) Error() string {
	return fmt.Sprintf("the answer is larger than %d bytes", MaxReply)
}

// exchange is one request to the daemon. Its path may hold a permit.
type exchange struct {
	what, method, path string
	body               []byte
	key                string
	wait               time.Duration
}

// send returns the status and body of an answer that is no failure.
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

// explain tells apart why an exchange failed, whose time was bounded by timed
// within ctx.
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

// problem reads a failure. Whatever it holds, it is a failure.
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
