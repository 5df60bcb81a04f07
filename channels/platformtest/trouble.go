package platformtest

import (
	"sync"
	"time"
)

// Trouble is what the calls of a platform's methods meet: F is how a call can
// fail there. The zero Trouble is none.
type Trouble[F any] struct {
	mu     sync.Mutex
	faults map[string][]F
	slow   time.Duration
}

// Slow makes every call take that long.
func (t *Trouble[F]) Slow(d time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.slow = d
}

// Takes is how long a call takes.
func (t *Trouble[F]) Takes() time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.slow
}

// Fail makes the next n calls of a method fail; the method "" means every one.
func (t *Trouble[F]) Fail(method string, n int, fault F) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.faults == nil {
		t.faults = map[string][]F{}
	}
	for range n {
		t.faults[method] = append(t.faults[method], fault)
	}
}

// Heal forgets the faults that were not used yet.
func (t *Trouble[F]) Heal() {
	t.mu.Lock()
	defer t.mu.Unlock()
	clear(t.faults)
}

// Next takes the next fault that is meant for the method; nil means none.
func (t *Trouble[F]) Next(method string) *F {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, key := range []string{method, ""} {
		if list := t.faults[key]; len(list) > 0 {
			t.faults[key] = list[1:]
			return &list[0]
		}
	}
	return nil
}
