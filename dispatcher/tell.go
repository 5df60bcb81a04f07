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
func (d *Dispatcher) tell(ctx context.Context, ch Channel, ask approval.Ask, e *errand) error {
	t, ok := ch.(Teller)
	if !ok {
		return nil
	}
	again := ask.On(ch.Name()).Tell == approval.TellBegun && !e.unsent
	if err := d.keepTold(ctx, ch, ask.ID, approval.TellBegun); err != nil {
		return err
	}
	turn, err := d.turnCounts(ctx, &ask)
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

// turnCounts counts what the ask's turn did so far, as a digest would. Of a turn
// without a name, or longer than is read for this, there is nothing to tell.
func (d *Dispatcher) turnCounts(ctx context.Context, ask *approval.Ask) (report.Counts, error) {
	if ask.TurnID == "" {
		return report.Counts{}, nil
	}
	all := report.Window{To: now().AddDate(1, 0, 0)}
	b := report.NewDigestBuilder(all, d.masker)
	asks := map[approval.AskID]bool{}
	read := 0
	for s, err := range d.stepsOf(ctx, approval.Query{Prefix: turnPrefix(ask.Agent, ask.TurnID)}) {
		if err != nil {
			return report.Counts{}, fmt.Errorf("dispatcher: read the turn log: %w", err)
		}
		if read++; read > turnRead {
			return report.Counts{}, nil
		}
		if id := s.is.Approval.Ask(); s.is.Approval != "" && !asks[id] {
			asks[id] = true
			if err := d.countAsk(ctx, b, id, ask.TurnID); err != nil {
				return report.Counts{}, err
			}
		}
		b.Step(&s.is)
	}
	return b.Digest(nil).Counts, nil
}

// turnRead is the most steps of a turn that are counted.
const turnRead = 1000

// countAsk takes an ask of the turn in. One of another turn, that a call of this
// one joined, counts as the step tells.
func (d *Dispatcher) countAsk(ctx context.Context, b *report.DigestBuilder, id approval.AskID, turn string) error {
	ask, err := d.ask(ctx, string(id))
	if nothingThere(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("dispatcher: read ask %s: %w", id, err)
	}
	if ask.TurnID == turn {
		b.Ask(&ask)
	}
	return nil
}
