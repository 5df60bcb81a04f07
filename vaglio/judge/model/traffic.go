package model

import (
	"errors"
	"io"
	"net/http"
	"sync/atomic"
)

// addedByServers is what a server may add to the conversation that it is sent, in tokens: its chat
// template, and its own words about tools.
const addedByServers = 1024

// traffic counts the bytes of one request. The tokens are estimated from these if the server does
// not count them.
type traffic struct {
	// length is the content length of the request's body, sent how much of it was read to be
	// sent, and received how much of the response's body was read.
	length, sent, received atomic.Int64
}

type trafficKey struct{}

// over returns a copy of a request whose body is counted as it is read.
func (t *traffic) over(r *http.Request) *http.Request {
	if t == nil || r.Body == nil {
		return r
	}
	t.length.Store(r.ContentLength)
	out := *r
	out.Body = counted{r.Body, &t.sent}
	if again := r.GetBody; again != nil {
		out.GetBody = func() (io.ReadCloser, error) {
			body, err := again()
			return counted{body, &t.sent}, err
		}
	}
	return &out
}

// back returns a response's body that is counted as it is read.
func (t *traffic) back(body io.ReadCloser) io.ReadCloser {
	if t == nil {
		return body
	}
	return counted{body, &t.received}
}

// counted counts what is read from a body.
type counted struct {
	io.ReadCloser
	by *atomic.Int64
}

func (c counted) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	c.by.Add(int64(n))
	return n, err
}

// usage returns what a request consumed: the server's count or, without one, an estimate that is
// never too low. A token of text has at least one byte, and a model's hidden thinking is within the
// tokens that it was allowed. A request that was not sent, or that the server refused with an
// error, consumed nothing; an answer that broke off may have been paid for.
func (t *traffic) usage(told Usage, err error, allowed int) Usage {
	// A negative count must not offset what was spent before.
	u := Usage{Input: max(0, told.Input), Output: max(0, told.Output)}
	sent := t.sent.Load()
	if e, ok := errors.AsType[*Error](err); sent == 0 || ok && e.Status != 0 && e.Status != http.StatusOK {
		return u
	}
	if u.Input == 0 {
		u.Input, u.Estimated = int(max(sent, t.length.Load()))+addedByServers, true
	}
	if u.Output == 0 {
		u.Output, u.Estimated = max(allowed, int(t.received.Load())), true
	}
	return u
}
