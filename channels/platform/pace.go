package platform

import (
	"context"
	"slices"
	"sync"
	"time"
)

// Rate is how many messages a platform accepts in a time.
type Rate struct {
	Most int
	In   time.Duration
}

// Pace keeps to a platform's limits before it has to ask for a pause. A limit is known by
// what it applies to, such as a chat. The zero value is ready to use. It is safe for
// concurrent use.
type Pace[L comparable] struct {
	mu sync.Mutex
	// turns are when the latest messages under each limit were or will be sent, in order.
	turns map[L][]time.Time
}

// longestQueue is the longest time that a message waits for its turn before it is put off.
const longestQueue = 5 * time.Second

// Turn waits until every one of the limits accepts another message, and returns 0. If that
// takes too long, or ctx ends, it returns how long to wait before trying again: nothing may
// be sent now.
func (p *Pace[L]) Turn(ctx context.Context, limits map[L]Rate) time.Duration {
	now := time.Now()
	p.mu.Lock()
	at := now
	for l, rate := range limits {
		if turns := p.turns[l]; len(turns) >= rate.Most {
			if free := turns[len(turns)-rate.Most].Add(rate.In); free.After(at) {
				at = free
			}
		}
	}
	left := at.Sub(now)
	if left < longestQueue {
		p.take(limits, at)
	}
	p.mu.Unlock()
	if left >= longestQueue {
		return left
	}
	Sleep(ctx, left)
	if ctx.Err() != nil {
		return max(left, time.Second)
	}
	return 0
}

// Ahead counts a message that is sent at once, whoever waits for a turn: an answer to a
// person.
func (p *Pace[L]) Ahead(limits map[L]Rate) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.take(limits, time.Now())
}

// take notes a message under each of the limits, and forgets what no longer counts.
func (p *Pace[L]) take(limits map[L]Rate, at time.Time) {
	if p.turns == nil {
		p.turns = map[L][]time.Time{}
	}
	for l, turns := range p.turns {
		if time.Since(turns[len(turns)-1]) > longestRate {
			delete(p.turns, l)
		}
	}
	for l, rate := range limits {
		turns := append(p.turns[l], at)
		slices.SortFunc(turns, time.Time.Compare)
		p.turns[l] = slices.Clone(turns[max(0, len(turns)-rate.Most):])
	}
}

// longestRate is the longest time that a limit counts in.
const longestRate = time.Minute
