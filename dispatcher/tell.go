package dispatcher

import (
	"context"
	"errors"
	"fmt"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/approval/report"
)

// Teller is a channel that tells people, next to a card, how its ask ended.
type Teller interface {
	// Tell says, near the message with the reference, how the ask of the card ended, and
	// what its turn has done so far; zero counts mean that there is nothing to tell about
	// the turn. again says that an earlier Tell may have got through: the channel then
	// looks first, so that people read it once. [approval.ErrGone] means that nobody can be
	// told.
	Tell(ctx context.Context, ref string, c approval.Card, turn report.Counts, again bool) error
}

// tell tells on the channel how the ask ended, once. It records that it will before it
// does, and that it did afterwards: what a crash leaves in between is looked for on the
// platform.
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

// keepTold records how far the telling has got.
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

// Adopt accepts a message that a channel found on its platform, and that nobody knew of, as
// the card of an ask: it is amended like any other, so that people can read there how the
// ask ended. It is adopted only if the ask no longer waits for anybody and the channel
// neither has a message of it nor is posting one: while the ask waits, a message with its
// own buttons is posted. adopted reports whether it was. [approval.ErrNotFound] means that
// nobody knows the ask.
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
