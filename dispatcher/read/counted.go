package read

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/approval/report"
)

// countedJournal are the counters of the journal's stretches. Each entry is read once in the
// life of the process, behind, and not again for each digest and for statistics. They
// are the journal's alone: what it drops they drop, and another process counts anew.
type countedJournal struct {
	// passed is how many entries were written in the life of the process; due holds a
	// token when many of them were not counted yet.
	passed atomic.Uint64
	due    chan struct{}
	// turn holds a token while nobody uses the rest.
	turn chan struct{}
	by   map[uint64]*countedStretch
	// step is the one that is counted, whose room the next one takes.
	step  approval.Step
	names names
}

type countedStretch struct {
	// last is the Seq of the newest entry that was counted.
	last uint64
	of   *report.Counters
}

func newCountedJournal() *countedJournal {
	c := &countedJournal{due: make(chan struct{}, 1), turn: make(chan struct{}, 1), by: make(map[uint64]*countedStretch), names: make(names)}
	c.turn <- struct{}{}
	return c
}

// countEvery is after how many entries they are counted, where nobody looks: few enough
// that who looks need not wait for it.
const countEvery = 5000

// Journalled says that an entry was written.
func (r *Reader) Journalled() {
	if r.counted.passed.Add(1)%countEvery == 0 {
		select {
		case r.counted.due <- struct{}{}:
		default:
		}
	}
}

// CountJournal counts what the journal has, now and as it grows, until ctx ends. What cannot
// be counted is told to those who want to know.
func (r *Reader) CountJournal(ctx context.Context) error {
	for {
		_, _ = r.countersOf(ctx, approval.Span{}, func(*report.Counters) bool { return true })
		select {
		case <-ctx.Done():
			return nil
		case <-r.counted.due:
		}
	}
}

// counter is what digests and statistics are built by.
type counter struct {
	// knows says whether the counters tell all that is asked; counted takes them in.
	knows   func(*report.Counters) bool
	counted func(*report.Counters)
	// step takes a step in where they do not, with its place in the history.
	step func(s *approval.Step, cursor uint64)
}

// countPassed gives what the span selects to the counter: counters of whole stretches
// where they tell enough, and the steps of the others.
func (r *Reader) countPassed(ctx context.Context, span approval.Span, to counter) error {
	unknown, err := r.countersOf(ctx, span, func(c *report.Counters) bool {
		known := to.knows(c)
		if known {
			to.counted(c)
		}
		return known
	})
	if err != nil {
		return err
	}
	work := startLongRead()
	for _, span.Stretch = range unknown {
		for s, err := range r.records.Passed(ctx, span) {
			if err != nil {
				return err
			}
			work.rest()
			to.step(&s.Is, s.Born)
		}
	}
	return nil
}

// countersOf hands on the counters of the stretches that the span may select, up to
// date, and returns the stretches whose counters were refused.
func (r *Reader) countersOf(ctx context.Context, span approval.Span, take func(*report.Counters) bool) (refused []uint64, err error) {
	select {
	case <-r.counted.turn:
		defer func() { r.counted.turn <- struct{}{} }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	stretches, err := r.records.store.Stretches(ctx)
	if err != nil {
		return nil, fmt.Errorf("read: read the journal: %w", err)
	}
	had := r.counted.by
	r.counted.by = make(map[uint64]*countedStretch, len(stretches))
	for i := range stretches {
		if known := had[stretches[i].ID]; known != nil {
			r.counted.by[stretches[i].ID] = known
		}
	}
	for i := range stretches {
		s := &stretches[i]
		if s.Unread != nil {
			_ = r.records.Note(ctx, s.Unread) // all else is counted
		}
		if !s.To.IsZero() && !span.Overlaps(s.From, s.To) {
			continue
		}
		c, err := r.count(ctx, s)
		if err != nil {
			return nil, err
		}
		if !take(c) {
			refused = append(refused, s.ID)
		}
	}
	return refused, nil
}

// count returns the counters of a stretch, with what it has now.
func (r *Reader) count(ctx context.Context, s *approval.Stretch) (*report.Counters, error) {
	known := r.counted.by[s.ID]
	if known != nil && known.last >= s.Last {
		return known.of, nil
	}
	span := approval.Span{Stretch: s.ID, NotesOnly: true, Newest: known != nil}
	if known == nil {
		known = &countedStretch{of: report.NewCounters()}
	}
	// What is added to counters that are known is counted when all of it was found: a
	// reading that ends before counts nothing, and none of it twice.
	var added []approval.JournalEntry
	last, work := known.last, startLongRead()
	for e, err := range r.records.store.Entries(ctx, span) {
		if err != nil && r.records.Note(ctx, err) != nil {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read: read the journal: %w", err)
		}
		if span.Newest && e.Seq <= known.last {
			break
		}
		work.rest()
		if last = max(last, e.Seq); span.Newest {
			added = append(added, e)
		} else {
			r.take(ctx, known.of, &e)
		}
	}
	for i := range added {
		r.take(ctx, known.of, &added[i])
	}
	known.last = max(last, s.Last)
	r.counted.by[s.ID] = known
	return known.of, nil
}

// take counts an entry. One that cannot be read is told, and all else is counted.
func (r *Reader) take(ctx context.Context, of *report.Counters, e *approval.JournalEntry) {
	if err := count(&r.counted.step, e, r.counted.names); err != nil {
		_ = r.records.Note(ctx, unreadEntry(e, err)) // it is told and counted
		return
	}
	of.Add(&r.counted.step, e.Seq)
}
