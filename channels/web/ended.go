package web

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"time"
)

// ended are the sessions that people ended and that would still be good: a
// cookie that somebody copied must not outlive its owner's signing out.
type ended struct {
	// keep puts them all on disk; nil keeps them in this process alone.
	keep func(context.Context, map[string]int64) error

	mu sync.Mutex
	by map[string]int64 // until when, in seconds since 1970, by nonce
}

func (e *ended) has(s session) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	_, ok := e.by[s.Nonce]
	return ok
}

// add ends a session, in this process also where that cannot be kept.
func (e *ended) add(ctx context.Context, s session) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	now := time.Now().Unix()
	maps.DeleteFunc(e.by, func(_ string, until int64) bool { return until <= now })
	e.by[s.Nonce] = s.Until
	if e.keep == nil {
		return nil
	}
	if err := e.keep(ctx, maps.Clone(e.by)); err != nil {
		return fmt.Errorf("web: keep the ended sessions: %w", err)
	}
	return nil
}
