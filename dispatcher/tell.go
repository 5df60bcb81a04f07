package dispatcher

import (
	"context"
	"errors"
	"fmt"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/approval/report"
)

// Teller is a channel that tells beside a card how its ask ended.
type Teller interface {
	// Tell says, near the message with the reference, how the ask of the card
	// ended, and what its turn did so far; a turn of which nothing is to be told
	// has counted nothing. again says that an earlier Tell may have got there:
	// then the channel looks first, so that people read it once.
	// [approval.ErrGone] means that nobody can be told.
	Tell(ctx context.Context, ref string, c approval.Card, turn report.Counts, again bool) error
}

// tell tells on the channel how the ask ended, once. That it does is on disk
// before, and that it did after: what a crash leaves between is looked for on
// the platform.
func (d *Dispatcher) tell(ctx context.Context, ch Channel, ask approval.Ask, e *delivery) error {
	t, ok := ch.(Teller)
	if !ok {
		return nil
	}
	again := ask.On(ch.Name()).Tell == approval.TellBegun && !e.unsent
	if err := d.keepTold(ctx, ch, ask.ID, approval.TellBegun); err != nil {
		return err
	}
	turn, err := d.TurnCounts(ctx, &ask)
	if err != nil {
		return err
	}
	err = t.Tell(ctx, ask.On(ch.Name()).Ref, d.card(ask, ch), turn, again)
	e.unsent = surelyUnsent(err)
	if err != nil && !errors.Is(err, approval.ErrGone) {
		return err
	}
	return d.keepTold(ctx, ch, ask.ID, approval.Told)
}

// keepTold keeps how far the telling is.
func (d *Dispatcher) keepTold(ctx context.Context, ch Channel, id approval.AskID, to approval.Telling) error {
	_, err := d.update(ctx, id, func(ask *approval.Ask) error {
		shown := ask.On(ch.Name())
		if shown.Tell == to {
			return approval.ErrKeep
		}
		shown.Tell = to
		return nil
	})
	if err != nil {
		return fmt.Errorf("dispatcher: keep what was told of ask %s: %w", id, err)
	}
	return nil
}

// Adopt takes a message that a channel found on its platform, and of which
// nobody knew, for the card of an ask: it is amended like any other, so that
// people read there how the ask ended, too. It is adopted only when the ask waits
// for nobody any more and the channel has no message of it, nor posts one: while
// the ask waits, a message with buttons of its own is posted. adopted tells
// whether it was. [approval.ErrNotFound] is an ask that nobody knows.
func (d *Dispatcher) Adopt(ctx context.Context, id approval.AskID, channel, ref string) (adopted bool, err error) {
	_, err = d.update(ctx, id, func(ask *approval.Ask) error {
		shown := ask.On(channel)
		// What is stale is being worked on.
		adopted = shown != nil && !ask.Waiting() && shown.Ref == "" && !shown.Gone && !shown.Stale(ask.View())
		if !adopted {
			return approval.ErrKeep
		}
		shown.Ref, shown.View, shown.Begun, shown.Posted = ref, "", "", len(ask.Approvals)
		if c := d.outlets.deliverers[channel]; c != nil {
			owesTheEnd(c.channel, shown)
		}
		return nil
	})
	if errors.Is(err, approval.ErrNotFound) {
		return false, approval.ErrNotFound
	}
	if err != nil {
		return false, fmt.Errorf("dispatcher: adopt a message of ask %s: %w", id, err)
	}
	return adopted, nil
}
