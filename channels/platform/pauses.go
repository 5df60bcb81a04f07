package platform

import (
	"sync"
	"time"
)

// Pauses are the pauses that a platform asked for, by what it limits: asking again before
// one is over would only prolong it. The zero value has none. It is safe for concurrent
// use.
type Pauses[L comparable] struct {
	mu   sync.Mutex
	ends map[L]time.Time
}

// Left returns how much longer the limit's pause lasts; 0 if there is none.
func (p *Pauses[L]) Left(limit L) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return max(0, time.Until(p.ends[limit]))
}

// Begin records that the platform asked for a pause, and forgets those that are over.
func (p *Pauses[L]) Begin(limit L, d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ends == nil {
		p.ends = map[L]time.Time{}
	}
	now := time.Now()
	for l, end := range p.ends {
		if !end.After(now) {
			delete(p.ends, l)
		}
	}
	p.ends[limit] = now.Add(d)
}
