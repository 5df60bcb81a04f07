package read

import (
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/approval/report"
)

// statisticsReaders is how many statistics are computed at once. Each keeps a processor
// busy that proposals need too; others wait.
const statisticsReaders = 1

// Statistics returns how the gate was used in a range of days, from the store's records. An
// invalid range gives an [*report.RangeError]. It ends with ctx, even while it waits for
// other readers.
func (r *Reader) Statistics(ctx context.Context, of report.Range) (report.Statistics, error) {
	zone := r.hours.Zone
	w, err := of.Window(now(), zone)
	if err != nil {
		return report.Statistics{}, err
	}
	select {
	case r.readers <- struct{}{}:
		defer func() { <-r.readers }()
	case <-ctx.Done():
		return report.Statistics{}, ctx.Err()
	}
	b := report.NewStatisticsBuilder(w, zone, r.night, r.masker)
	if err := r.backwards(ctx, w.From.Add(-digestReach), b); err != nil {
		return report.Statistics{}, err
	}
	var unread approval.UnreadParts
	passed := counter{b.Knows, b.Counted, b.Step, func(e *approval.UnreadError) { unread.Add(e, w.From, w.To) }}
	if err := r.countPassed(ctx, approval.Span{From: w.From, To: w.To, NotesOnly: true}, passed); err != nil {
		return report.Statistics{}, err
	}
	s := b.Statistics()
	s.Unread = unread
	begin, err := r.beginning(ctx)
	if begin.After(w.From) {
		s.Since = begin.In(s.Window.From.Location())
	}
	return s, err
}

// beginning returns the time of the oldest step that is kept, or the zero time if there is
// none.
func (r *Reader) beginning(ctx context.Context) (time.Time, error) {
	var begin time.Time
	for _, oldest := range []iter.Seq2[Kept[approval.Step], error]{
		r.records.Steps(ctx, approval.Query{}), r.records.Passed(ctx, approval.Span{NotesOnly: true}),
	} {
		for s, err := range oldest {
			if err != nil {
				return time.Time{}, fmt.Errorf("read: find the oldest step: %w", err)
			}
			if begin.IsZero() || s.Is.At.Before(begin) {
				begin = s.Is.At
			}
			break
		}
	}
	return begin, nil
}

// backwards gives the builder the asks and the steps in order of birth, newest first, until
// both are from before an instant.
func (r *Reader) backwards(ctx context.Context, since time.Time, b *report.StatisticsBuilder) error {
	// The steps are begun first: the ask of each listed step was born before it, and so is
	// listed too.
	newest := approval.Query{Newest: true}
	steps := pastOf(r.records.Steps(ctx, newest), func(s *Kept[approval.Step]) (old bool) {
		b.Step(&s.Is, s.Born)
		return s.Is.At.Before(since)
	})
	defer steps.stop()
	asks := pastOf(r.records.Asks(ctx, newest), func(a *Kept[approval.Ask]) (old bool) {
		b.Ask(&a.Is)
		return a.Is.OpenedAt.Before(since)
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

// past is a listing of records, newest first, that ends when many in a row were old.
type past[T any] struct {
	head Kept[T]
	err  error
	more bool
	aged int
	next func() (Kept[T], error, bool)
	stop func()
	// read takes a record, and reports whether it is old.
	read func(*Kept[T]) (old bool)
}

func pastOf[T any](records iter.Seq2[Kept[T], error], read func(*Kept[T]) (old bool)) *past[T] {
	p := &past[T]{read: read}
	p.next, p.stop = iter.Pull2(records)
	p.head, p.err, p.more = p.next()
	return p
}

// take reads the head and advances to the next record.
func (p *past[T]) take() error {
	if p.err != nil {
		return fmt.Errorf("read: read records for statistics: %w", p.err)
	}
	if p.aged++; !p.read(&p.head) {
		p.aged = 0
	}
	p.head, p.err, p.more = p.next()
	p.more = p.more && p.aged < digestOld
	return nil
}
