package client

import (
	"context"
	"errors"
	"time"
)

const (
	// slice is how long a single request of [Client.Await] waits.
	slice = 5 * time.Minute
	// patience is how long the daemon may be unreachable while somebody waits: it is probably
	// restarting, and it keeps the question in its store.
	patience = 30 * time.Second
	// firstPause and longestPause bound the pause between two attempts.
	firstPause   = 100 * time.Millisecond
	longestPause = time.Second
)

// Await waits up to wait for the person's decision, in as many requests as it takes, and
// returns the latest answer. That answer is still pending if nobody decided, or if somebody
// asked the agent something. Await survives a restart of the daemon, and retries later when
// the daemon asks for that.
func (c *Client) Await(ctx context.Context, id ID, wait time.Duration) (Answer, error) {
	w := waiting{until: time.Now().Add(wait), heard: time.Now()}
	pause := firstPause
	for {
		asked, part := time.Now(), min(w.left(), slice)
		a, err := c.await(ctx, id, part)
		if w.over(a, err) {
			return a, err
		}
		// An answer that comes much too early means that the daemon is releasing its waiters.
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

// waiting is the state of one Await.
type waiting struct {
	until time.Time
	// heard is when the daemon last answered.
	heard time.Time
}

func (w *waiting) left() time.Duration { return max(0, time.Until(w.until)) }

// over reports whether Await should return the outcome of a request.
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

// retryable reports whether a wait may be requested again: the daemon is unreachable,
// stopping, or has too many waiters.
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
