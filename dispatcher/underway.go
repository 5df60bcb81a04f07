package dispatcher

import (
	"context"
	"sync"
	"time"
)

// underway are the calls of which a verdict may be known that no record tells of
// yet: they are being judged, with others of their plan, or wait for the disk.
type underway struct {
	mu    sync.Mutex
	calls map[*time.Time]struct{}
	// ended is closed when one of the calls ends, while somebody waits for that.
	ended chan struct{}
}

// begin notes calls of an instant. The function that it returns is called once,
// when the records tell of them.
func (u *underway) begin(at time.Time) (end func()) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.calls == nil {
		u.calls = make(map[*time.Time]struct{})
	}
	u.calls[&at] = struct{}{}
	return func() {
		u.mu.Lock()
		defer u.mu.Unlock()
		delete(u.calls, &at)
		if u.ended != nil {
			close(u.ended)
			u.ended = nil
		}
	}
}

// settled waits until the records tell of every call that began before the
// instant, or until ctx ends.
func (u *underway) settled(ctx context.Context, before time.Time) {
	for {
		ended := u.wait(before)
		if ended == nil {
			return
		}
		select {
		case <-ended:
		case <-ctx.Done():
			return
		}
	}
}

// wait returns what is closed when a call ends, or nil when none began before the
// instant.
func (u *underway) wait(before time.Time) <-chan struct{} {
	u.mu.Lock()
	defer u.mu.Unlock()
	for at := range u.calls {
		if at.Before(before) {
			if u.ended == nil {
				u.ended = make(chan struct{})
			}
			return u.ended
		}
	}
	return nil
}
