package model

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync/atomic"
)

// addedByServers is what a server may put around a conversation that it is sent,
// in tokens: its template of a chat, its own words about tools.
const addedByServers = 1024

// traffic is how many bytes one request took. From these its tokens are estimated
// where its server counts none.
type traffic struct {
	// length is what the request's body says of itself, sent what was taken of it
	// to be sent, received what was read of the answer's.
	length, sent, received atomic.Int64
}

type trafficKey struct{}

// watched has what a request takes counted.
func watched(ctx context.Context) (context.Context, *traffic) {
	t := new(traffic)
	return context.WithValue(ctx, trafficKey{}, t), t
}

// over counts a request that goes out: a copy of it whose body is counted as it
// is read.
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

// back counts an answer's body.
func (t *traffic) back(body io.ReadCloser) io.ReadCloser {
	if t == nil {
		return body
	}
	return counted{body, &t.received}
}

// counted counts what is read of a body.
type counted struct {
	io.ReadCloser
	by *atomic.Int64
}

func (c counted) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	c.by.Add(int64(n))
	return n, err
}

// usage is what a request took: the server's count, and where there is none an
// estimate that is never too low. A token of a text is a byte or more of it, and
// what a model thinks unseen stands within the tokens that it was given. What was
// not sent, and what a server refused with an error, took nothing; what was broken
// off may have been paid for.
func (t *traffic) usage(told Usage, err error, allowed int) Usage {
	// No server's count makes up for what was spent before.
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
