package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
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

// The limits of what the daemon may answer.
const (
	maxAnswer = 16 << 20
	// replyWithin is how long an answer may take beyond the wait asked for.
	replyWithin = 30 * time.Second
)

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
	r, err := http.NewRequestWithContext(timed, x.method, c.base+x.path, bytes.NewReader(x.body))
	if err != nil {
		return 0, nil, &TransportError{x.what, errors.New("the address is not a URL")}
	}
	if x.body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	if x.key != "" {
		r.Header.Set("Idempotency-Key", x.key)
	}
	if c.token != "" {
		r.Header.Set("Authorization", "Bearer "+c.token)
	}
	resp, err := c.http.Do(r)
	if err != nil {
		return 0, nil, explain(ctx, x.what, err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	switch {
	case err != nil:
		return 0, nil, explain(ctx, x.what, err)
	case len(body) > maxAnswer:
		return 0, nil, &TransportError{x.what, fmt.Errorf("the answer is larger than %d bytes", maxAnswer)}
	case resp.StatusCode >= http.StatusBadRequest:
		return 0, nil, problem(resp, body)
	}
	return resp.StatusCode, body, nil
}

// explain tells apart why an exchange failed. The library's own error names
// the URL, which may hold a permit, so only its cause is kept.
func explain(ctx context.Context, what string, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if outer, ok := errors.AsType[*url.Error](err); ok {
		err = outer.Err
	}
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "dial" &&
		(errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED)) {
		return ErrNotRunning
	}
	if errors.Is(err, context.DeadlineExceeded) {
		err = errors.New("it did not answer in time")
	}
	return &TransportError{what, err}
}

// problem reads a failure. Whatever it holds, it is a failure.
func problem(resp *http.Response, body []byte) *ProblemError {
	p := new(ProblemError)
	if strictjson.UnmarshalLoose(body, p) != nil || p.Detail == "" {
		*p = ProblemError{Detail: fmt.Sprintf("vaglio answered with status %d", resp.StatusCode)}
	}
	p.Status = resp.StatusCode
	if s, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil && s > 0 {
		p.RetryAfter = time.Duration(s) * time.Second
	}
	return p
}
