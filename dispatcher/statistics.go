package dispatcher

import (
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/approval/report"
)

// statisticsReaders is how many statistics are read at once. Each keeps a
// processor busy while it lasts, which proposals need too; others wait.
const statisticsReaders = 1

// Statistics returns how the gate was used in a range of days, from the store's
// records. A range that is none is an [*report.RangeError]. It ends with ctx,
// also while it waits for others who read.
func (d *Dispatcher) Statistics(ctx context.Context, r report.Range) (report.Statistics, error) {
	zone := d.digestHours().Zone
	w, err := r.Window(now(), zone)
	if err != nil {
		return report.Statistics{}, err
	}
	select {
	case d.readers <- struct{}{}:
		defer func() { <-d.readers }()
	case <-ctx.Done():
		return report.Statistics{}, ctx.Err()
	}
	b := report.NewStatisticsBuilder(w, zone, d.night(), d.masker)
	if err := d.backwards(ctx, w.From.Add(-digestReach), b); err != nil {
		return report.Statistics{}, err
	}
	s := b.Statistics()
	begin, err := d.beginning(ctx)
	if begin.After(w.From) {
		s.Since = begin.In(s.Window.From.Location())
	}
	return s, err
}

// night is when people are not to be disturbed, as configured.
func (d *Dispatcher) night() report.Night {
	if d.quiet.From == d.quiet.To {
		return report.DefaultNight()
	}
	return report.Night{From: d.quiet.From, To: d.quiet.To}
}

// beginning returns when the oldest step was made that is kept; the zero time
// when there is none.
func (d *Dispatcher) beginning(ctx context.Context) (time.Time, error) {
	for s, err := range d.stepsOf(ctx, approval.Query{}) {
		if err != nil {
			return time.Time{}, fmt.Errorf("dispatcher: find the oldest step: %w", err)
		}
		return s.is.At, nil
	}
	return time.Time{}, nil
}

// backwards gives the builder the asks and the steps in the order of their
// births, newest first, until both are from before an instant.
func (d *Dispatcher) backwards(ctx context.Context, since time.Time, b *report.StatisticsBuilder) error {
	// The steps are begun first: the ask of each step that is listed was born
	// before it, and is listed too.
	newest := approval.Query{Newest: true}
	steps := pastOf(d.stepsOf(ctx, newest), func(s *kept[approval.Step]) (old bool) {
		b.Step(&s.is, s.Born)
		return s.is.At.Before(since)
	})
	defer steps.stop()
	asks := pastOf(d.asks(ctx, newest), func(a *kept[approval.Ask]) (old bool) {
		b.Ask(&a.is)
		return a.is.OpenedAt.Before(since)
	})
	defer asks.stop()
	for work := startLongRead(); steps.more || asks.more; work.rest() {
		take := steps.take
		if asks.more && (!steps.more || asks.head.Born > steps.head.Born) {
			take = asks.take
		}
		if err := take(); err != nil {
			return err
		}
	}
	return nil
}

// past is a listing of records, newest first, that is over when many in a row
// were old.
type past[T any] struct {
	head kept[T]
	err  error
	more bool
	aged int
	next func() (kept[T], error, bool)
	stop func()
	// read takes a record in, and says whether it was old.
	read func(*kept[T]) (old bool)
}

func pastOf[T any](records iter.Seq2[kept[T], error], read func(*kept[T]) (old bool)) *past[T] {
	p := &past[T]{read: read}
	p.next, p.stop = iter.Pull2(records)
	p.head, p.err, p.more = p.next()
	return p
}

// take reads the head and goes on to the next record.
func (p *past[T]) take() error {
	if p.err != nil {
		return fmt.Errorf("dispatcher: read records for statistics: %w", p.err)
	}
	if p.aged++; !p.read(&p.head) {
		p.aged = 0
	}
	p.head, p.err, p.more = p.next()
	p.more = p.more && p.aged < digestOld
	return nil
}
