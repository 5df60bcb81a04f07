package dispatcher

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/metnos/vaglio/approval"
)

// courier works for one channel until every card there shows the state of its
// ask. It keeps no message queue: it holds the ids of asks whose card is
// stale, and reads what to show when it delivers, so several changes make one
// delivery and a crash between a commit and a delivery loses nothing.
type courier struct {
	channel Channel

	mu    sync.Mutex
	stale map[approval.AskID]errand
	kick  chan struct{}
}

// errand is a delivery that is due.
type errand struct {
	at    time.Time
	tries int
}

// The pauses between tries of one delivery, when the platform names none.
const (
	firstPause   = time.Second
	longestPause = time.Minute
)

func newCourier(ch Channel) *courier {
	return &courier{channel: ch, stale: make(map[approval.AskID]errand), kick: make(chan struct{}, 1)}
}

// take makes the ask's card due. One that waits after a failure goes on
// waiting: the platform asked for the pause.
func (c *courier) take(id approval.AskID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, waits := c.stale[id]; waits {
		return
	}
	c.stale[id] = errand{at: time.Now()}
	select {
	case c.kick <- struct{}{}:
	default:
	}
}

// next returns an ask that is due, or how long to wait for one.
func (c *courier) next(now time.Time) (id approval.AskID, e errand, nap time.Duration) {
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
		if found == "" || e.at.Before(c.stale[found].at) {
			found = id
		}
	}
	if found == "" {
		return "", errand{}, nap
	}
	e = c.stale[found]
	delete(c.stale, found)
	return found, e, 0
}

// again puts a failed delivery back.
func (c *courier) again(id approval.AskID, e errand, err error) time.Duration {
	pause := min(firstPause<<min(e.tries, 10), longestPause)
	if retry, ok := errors.AsType[*approval.RetryError](err); ok && retry.After > 0 {
		pause = retry.After
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stale[id] = errand{at: time.Now().Add(pause), tries: e.tries + 1}
	return pause
}

func (c *courier) run(ctx context.Context, d *Dispatcher) error {
	timer := time.NewTimer(longestPause)
	defer timer.Stop()
	for ctx.Err() == nil {
		id, e, nap := c.next(time.Now())
		if id != "" {
			if err := d.deliver(ctx, c.channel, id); err != nil && ctx.Err() == nil {
				pause := c.again(id, e, err)
				d.log.WarnContext(ctx, "a card could not be brought up to date; trying again",
					"channel", c.channel.Name(), "ask", id, "try", e.tries+1, "pause", pause, "error", err)
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

// deliver makes the ask's card on the channel show the ask's state, and keeps
// that it does. A crash between the two posts the card again: both are safe,
// because a button's meaning is looked up and a decided approval refuses it.
func (d *Dispatcher) deliver(ctx context.Context, ch Channel, id approval.AskID) error {
	ask, err := d.ask(ctx, string(id))
	if err != nil {
		return fmt.Errorf("dispatcher: read ask %s: %w", id, err)
	}
	shown := ask.On(ch.Name())
	if shown == nil || !shown.Stale(ask.View()) {
		return nil
	}
	card := approval.NewCard(ask, ch.Name(), d.masker)
	ref := shown.Ref
	switch {
	case ref != "":
		err = ch.Amend(ctx, ref, card)
	case ask.Waiting():
		ref, err = ch.Post(ctx, card)
	default:
		// It was over before anybody saw it: there is nothing to tell.
	}
	gone := errors.Is(err, approval.ErrGone)
	if err != nil && !gone {
		return err
	}
	_, err = d.update(ctx, id, func(ask *approval.Ask) error {
		shown := ask.On(ch.Name())
		shown.Ref, shown.View, shown.Gone = ref, card.View, gone
		return nil
	})
	if err != nil {
		return fmt.Errorf("dispatcher: keep what the card of ask %s shows: %w", id, err)
	}
	return nil
}
