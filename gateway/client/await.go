package client

import (
	"context"
	"errors"
	"time"
)

const (
	// slice is how long one request of [Client.Await] waits.
	slice = 5 * time.Minute
	// patience is how long the daemon may be away while somebody waits: it is
	// being restarted, and the question is in its store.
	patience = 30 * time.Second
	// firstPause and longestPause lie between two tries.
	firstPause   = 100 * time.Millisecond
	longestPause = time.Second
)

// Await waits up to wait for the person's decision, over as many requests as
// it takes, and returns the answer as it then is: still pending when nobody
// decided, or when somebody asked something of the agent. It goes on through a restart of the daemon, and comes back later
// when the daemon asks for that.
func (c *Client) Await(ctx context.Context, id ID, wait time.Duration) (Answer, error) {
	w := waiting{until: time.Now().Add(wait), heard: time.Now()}
	pause := firstPause
	for {
		asked, part := time.Now(), min(w.left(), slice)
		a, err := c.await(ctx, id, part)
		if ctx.Err() != nil {
			return Answer{}, ctx.Err()
		}
		if w.over(a, err) {
			return a, err
		}
		// An answer that came much too early is a daemon that lets its
		// waiters go.
		if err == nil && time.Since(asked) >= part/2 {
			pause = firstPause
			continue
		}
		if err := rest(ctx, max(pause, retryAfter(err))); err != nil {
			return Answer{}, err
		}
		pause = min(2*pause, longestPause)
	}
}

// waiting is how one Await stands.
type waiting struct {
	until time.Time
	// heard is when the daemon last said anything.
	heard time.Time
}

func (w *waiting) left() time.Duration { return max(0, time.Until(w.until)) }

// over reports whether a request's outcome is what Await returns.
func (w *waiting) over(a Answer, err error) bool {
	if err == nil && (a.Decision != Pending || a.Asked()) || err != nil && !retryable(err) {
		return true
	}
	if _, told := errors.AsType[*ProblemError](err); told || err == nil {
		w.heard = time.Now()
	}
	return w.left() == 0 || time.Since(w.heard) >= patience
}

func (c *Client) await(ctx context.Context, id ID, wait time.Duration) (Answer, error) {
	return c.answer(ctx, exchange{what: "await", method: "GET", path: approvalPath(id) + query(wait), wait: wait})
}

// retryable reports whether a wait may be asked for again: the daemon is away,
// stopping, or full of waiters.
func retryable(err error) bool {
	if p, ok := errors.AsType[*ProblemError](err); ok {
		return p.Status == statusUnavailable
	}
	_, cut := errors.AsType[*TransportError](err)
	return cut || errors.Is(err, ErrNotRunning)
}

func retryAfter(err error) time.Duration {
	if p, ok := errors.AsType[*ProblemError](err); ok {
		return min(p.RetryAfter, patience)
	}
	return 0
}

func rest(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
