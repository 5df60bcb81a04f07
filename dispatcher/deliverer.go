package dispatcher

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/metnos/vaglio/approval"
)

// deliverer works for one channel until every card there shows the state of its ask. It
// keeps no message queue: it holds the ids of asks whose card is stale and reads what to
// show when it delivers, so that several changes make one delivery and a crash between a
// commit and a delivery loses nothing.
type deliverer struct {
	channel Channel

	mu    sync.Mutex
	stale map[approval.AskID]delivery
	// turns is how many deliveries there were, and last the number of each agent's last one:
	// agents take turns, so that one with hundreds of cards does not hold up the others'.
	turns uint64
	last  map[string]uint64
	kick  chan struct{}
	// opened is when there last was a sign that the room accepts messages.
	opened time.Time
	// failures counts the failed deliveries since the last success; since is when the first
	// of them failed.
	failures int
	since    time.Time
}

// delivery is the state of a card's delivery.
type delivery struct {
	agent string // whose ask it is; empty if a reminder made it due
	at    time.Time
	began time.Time // the last try
	tries int
	// unsent says that the last try certainly left nothing on the platform.
	unsent bool
	// shut says that the room accepted no messages at the last try.
	shut bool
	// opened says that, as far as we know, the room accepts messages again.
	opened bool
	// sent is what reached the platform but could not be recorded yet.
	sent *sent
}

// The pauses between tries of one delivery, if the platform gives none.
const (
	firstPause   = time.Second
	longestPause = time.Minute
	// failuresTold is how many deliveries in a row must fail before a channel counts as
	// unwell: an occasional failure is no problem.
	failuresTold = 3
)

// backoff returns the pause after the given number of earlier failures.
func backoff(failures int) time.Duration { return min(firstPause<<min(failures, 10), longestPause) }

func newDeliverer(ch Channel) *deliverer {
	return &deliverer{
		channel: ch, stale: make(map[approval.AskID]delivery), last: make(map[string]uint64), kick: make(chan struct{}, 1),
	}
}

// take makes the card of the agent's ask due. A card that waits after a failure goes on
// waiting: the platform asked for the pause.
func (c *deliverer) take(id approval.AskID, agent string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, waits := c.stale[id]; waits {
		return
	}
	c.stale[id] = delivery{agent: agent, at: time.Now()}
	select {
	case c.kick <- struct{}{}:
	default:
	}
}

// open makes everything due that found the room shut. What waits for another reason goes on
// waiting.
func (c *deliverer) open() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.opened = time.Now()
	for id, e := range c.stale {
		if e.shut {
			e.at, e.tries, e.opened = c.opened, 0, true
			c.stale[id] = e
		}
	}
	select {
	case c.kick <- struct{}{}:
	default:
	}
}

// next returns an ask that is due, or how long to wait for one.
func (c *deliverer) next(now time.Time) (id approval.AskID, e delivery, nap time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	nap = longestPause
	var found approval.AskID
	for id, e := range c.stale {
		left := e.at.Sub(now)
		if left > 0 {
			nap = min(nap, left)
			continue
		}
		if found == "" || c.before(&e, found) {
			found = id
		}
	}
	if found == "" {
		return "", delivery{}, nap
	}
	e = c.stale[found]
	e.began = now
	delete(c.stale, found)
	c.turns++
	c.last[e.agent] = c.turns
	return found, e, 0
}

// before reports whether a delivery comes before that of the other ask: the agent whose last
// turn is longer ago comes first, with what was due first.
func (c *deliverer) before(e *delivery, other approval.AskID) bool {
	o := c.stale[other]
	if mine, theirs := c.last[e.agent], c.last[o.agent]; mine != theirs {
		return mine < theirs
	}
	return e.at.Before(o.at)
}

// again puts back a failed delivery and returns the pause before the next try.
func (c *deliverer) again(id approval.AskID, e delivery, err error) time.Duration {
	pause := backoff(e.tries)
	retry, ok := errors.AsType[*approval.RetryError](err)
	if ok && retry.After > 0 {
		pause = retry.After
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	e.shut = ok && retry.Shut
	e.opened = e.shut && c.opened.After(e.began) // it was still shut when it was tried
	if e.opened {
		pause = 0
	}
	e.at, e.tries = time.Now().Add(pause), e.tries+1
	c.stale[id] = e
	return pause
}

// note records the result of a delivery.
func (c *deliverer) note(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case err == nil:
		c.failures, c.since = 0, time.Time{}
	case c.failures == 0:
		c.failures, c.since = 1, time.Now()
	default:
		c.failures++
	}
}

// health says how deliveries are going.
func (c *deliverer) health() approval.Health {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.failures < failuresTold {
		return approval.Health{}
	}
	return approval.Health{
		Problem: "Cards cannot be shown there.",
		Remedy:  "The log says why. What waits is shown as soon as it can be.",
		Since:   c.since,
	}
}

func (c *deliverer) run(ctx context.Context, d *Dispatcher) error {
	timer := time.NewTimer(longestPause)
	defer timer.Stop()
	for ctx.Err() == nil {
		id, e, nap := c.next(time.Now())
		if id != "" {
			err := d.deliver(ctx, c.channel, id, &e)
			if d.records.Note(ctx, err) != nil {
				continue // what it was to show can no longer be read
			}
			if _, ours := errors.AsType[*storeError](err); !ours {
				c.note(err)
			}
			if err != nil && ctx.Err() == nil {
				pause := c.again(id, e, err)
				d.log.With("channel", c.channel.Name()).WarnContext(ctx, "a card could not be brought up to date; trying again",
					"ask", id, "try", e.tries+1, "pause", pause, "error", err)
			}
			continue
		}
		timer.Reset(nap)
		select {
		case <-ctx.Done():
		case <-timer.C:
		case <-c.kick:
		}
	}
	return nil
}
