package platform

import (
	"context"
	"sync"
	"time"
)

// Rate is how many messages a platform accepts: one in a time on average, and some of them
// at once.
type Rate struct {
	Every time.Duration
	// AtOnce is at least 1.
	AtOnce int
}

// Pace keeps to a platform's limits before it has to ask for a pause. A limit is known by
// what it applies to, such as a chat. The zero value is ready to use. It is safe for
// concurrent use.
type Pace[L comparable] struct {
	mu sync.Mutex
	// paid are when each limit will have forgotten all messages that were sent.
	paid map[L]time.Time
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
		if free := p.paid[l].Add(-time.Duration(rate.AtOnce-1) * rate.Every); free.After(at) {
			at = free
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

// take counts a message under each of the limits, and forgets those that count no more.
func (p *Pace[L]) take(limits map[L]Rate, at time.Time) {
	if p.paid == nil {
		p.paid = map[L]time.Time{}
	}
	for l, paid := range p.paid {
		if paid.Before(time.Now()) {
			delete(p.paid, l)
		}
	}
	for l, rate := range limits {
		if p.paid[l].Before(at) {
			p.paid[l] = at
		}
		p.paid[l] = p.paid[l].Add(rate.Every)
	}
}
