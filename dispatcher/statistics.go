package dispatcher

import (
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/metnos/vaglio/approval"
)

// statisticsReaders is how many statistics are read at once. Each keeps a
// processor busy while it lasts, which proposals need too; others wait.
const statisticsReaders = 1

// Statistics returns how the gate was used in a range of days, from the store's
// records. A range that is none is an [*approval.RangeError]. It ends with ctx,
// also while it waits for others who read.
func (d *Dispatcher) Statistics(ctx context.Context, r approval.Range) (approval.Statistics, error) {
	zone := d.digestHours().Zone
	w, err := r.Window(now(), zone)
	if err != nil {
		return approval.Statistics{}, err
	}
	select {
	case d.readers <- struct{}{}:
		defer func() { <-d.readers }()
	case <-ctx.Done():
		return approval.Statistics{}, ctx.Err()
	}
	b := approval.NewStatisticsBuilder(w, zone, d.night(), d.masker)
	if err := d.backwards(ctx, w.From.Add(-digestReach), b); err != nil {
		return approval.Statistics{}, err
	}
	s := b.Statistics()
	begin, err := d.beginning(ctx)
	if begin.After(w.From) {
		s.Since = begin.In(s.Window.From.Location())
	}
	return s, err
}

// night is when people are not to be disturbed, as configured.
func (d *Dispatcher) night() approval.Night {
	if d.quiet.From == d.quiet.To {
		return approval.DefaultNight()
	}
	return approval.Night{From: d.quiet.From, To: d.quiet.To}
}

// beginning returns when the oldest step was made that is kept; the zero time
// when there is none.
func (d *Dispatcher) beginning(ctx context.Context) (time.Time, error) {
	for r, err := range d.store.List(ctx, approval.Query{Kind: approval.KindStep, Limit: 1}) {
		if err != nil {
			return time.Time{}, fmt.Errorf("dispatcher: find the oldest step: %w", err)
		}
		s, err := approval.DecodeStep(r.Body)
		return s.At, err
	}
	return time.Time{}, nil
}

// backwards gives the builder the asks and the steps in the order of their
// births, newest first, until both are from before an instant.
func (d *Dispatcher) backwards(ctx context.Context, since time.Time, b *approval.StatisticsBuilder) error {
	// The steps are begun first: the ask of each step that is listed was born
	// before it, and is listed too.
	steps := d.past(ctx, approval.KindStep, func(r *approval.Record) (bool, error) {
		s, err := approval.DecodeStep(r.Body)
		if err == nil {
			b.Step(&s, r.Born)
		}
		return s.At.Before(since), err
	})
	defer steps.stop()
	asks := d.past(ctx, approval.KindAsk, func(r *approval.Record) (bool, error) {
		a, err := approval.DecodeAsk(r.Body)
		if err == nil {
			b.Ask(&a)
		}
		return a.OpenedAt.Before(since), err
	})
	defer asks.stop()
	for work := startLongRead(); steps.more || asks.more; work.rest() {
		p := steps
		if asks.more && (!steps.more || asks.head.Born > steps.head.Born) {
			p = asks
		}
		if err := p.take(); err != nil {
			return err
		}
	}
	return nil
}

// past is a listing of records, newest first, that is over when many in a row
// were old.
type past struct {
	head approval.Record
	err  error
	more bool
	aged int
	next func() (approval.Record, error, bool)
	stop func()
	// read takes a record in, and says whether it was old.
	read func(*approval.Record) (old bool, err error)
}

func (d *Dispatcher) past(ctx context.Context, kind approval.Kind, read func(*approval.Record) (bool, error)) *past {
	p := &past{read: read}
	p.next, p.stop = iter.Pull2(d.store.List(ctx, approval.Query{Kind: kind, Newest: true}))
	p.head, p.err, p.more = p.next()
	return p
}

// take reads the head and goes on to the next record.
func (p *past) take() error {
	if p.err != nil {
		return fmt.Errorf("dispatcher: read records for statistics: %w", p.err)
	}
	old, err := p.read(&p.head)
	if err != nil {
		return err
	}
	if p.aged++; !old {
		p.aged = 0
	}
	p.head, p.err, p.more = p.next()
	p.more = p.more && p.aged < digestOld
	return nil
}
