package platformtest

import (
	"sync"
	"time"
)

// Trouble is what happens to the calls of a platform's methods; F is the type of their
// faults. The zero Trouble means none.
type Trouble[F any] struct {
	mu     sync.Mutex
	faults map[string][]F
	slow   map[string]time.Duration
}

// Slow makes the calls of the methods take that long; without methods, every call.
func (t *Trouble[F]) Slow(d time.Duration, methods ...string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(methods) == 0 {
		methods = []string{""}
	}
	if t.slow == nil {
		t.slow = map[string]time.Duration{}
	}
	for _, method := range methods {
		t.slow[method] = d
	}
}

// Takes returns how long a call of the method takes.
func (t *Trouble[F]) Takes(method string) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	if d, ok := t.slow[method]; ok {
		return d
	}
	return t.slow[""]
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

// Heal forgets the unused faults.
func (t *Trouble[F]) Heal() {
	t.mu.Lock()
	defer t.mu.Unlock()
	clear(t.faults)
}

// Next takes the next fault for the method; nil means none.
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
