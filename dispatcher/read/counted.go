package read

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/approval/report"
)

// countedJournal holds the counters of the journal's stretches. Each entry is read once in
// the life of the process, in the background, and not again for each digest and for
// statistics. The counters follow the journal: they drop what it drops, and another process
// counts again.
type countedJournal struct {
	// passed is how many entries this process has written; due holds a token if many of
	// them have not been counted yet.
	passed atomic.Uint64
	due    chan struct{}
	// turn holds a token while nobody uses the fields below.
	turn chan struct{}
	by   map[uint64]*countedStretch
	// step is the one being counted; the next one reuses it.
	step  approval.Step
	names names
}

type countedStretch struct {
	// last is the Seq of the newest entry that was counted.
	last uint64
	of   *report.Counters
	// unread are the parts of it that could not be counted.
	unread []*approval.UnreadError
}

// mostUncounted is how many parts of a stretch are remembered.
const mostUncounted = 100

// lack remembers a part of the stretch that is not counted.
func (c *countedStretch) lack(e *approval.UnreadError) {
	if len(c.unread) < mostUncounted {
		c.unread = append(c.unread, e)
	}
}

func newCountedJournal() *countedJournal {
	c := &countedJournal{due: make(chan struct{}, 1), turn: make(chan struct{}, 1), by: make(map[uint64]*countedStretch), names: make(names)}
	c.turn <- struct{}{}
	return c
}

// countEvery is after how many entries they are counted if nobody looks: few enough that a
// reader need not wait long.
const countEvery = 5000

// Journalled records that an entry was written.
func (r *Reader) Journalled() {
	if r.counted.passed.Add(1)%countEvery == 0 {
		select {
		case r.counted.due <- struct{}{}:
		default:
		}
	}
}

// CountJournal counts what the journal has, now and as it grows, until ctx ends. Errors are
// reported to those who read the counts.
func (r *Reader) CountJournal(ctx context.Context) error {
	for {
		_, _ = r.countersOf(ctx, approval.Span{}, func(*countedStretch) bool { return true })
		select {
		case <-ctx.Done():
			return nil
		case <-r.counted.due:
		}
	}
}

// counter is how digests and statistics take steps.
type counter struct {
	// knows reports whether the counters are precise enough; counted takes them.
	knows   func(*report.Counters) bool
	counted func(*report.Counters)
	// step takes a step where they are not, with its position in the history.
	step func(s *approval.Step, cursor uint64)
	// lost takes what cannot be read.
	lost func(*approval.UnreadError)
}

// countPassed gives what the span selects to the counter: whole stretches as counters where
// these are precise enough, and the others step by step.
func (r *Reader) countPassed(ctx context.Context, span approval.Span, to counter) error {
	unknown, err := r.countersOf(ctx, span, func(c *countedStretch) bool {
		for _, e := range c.unread {
			to.lost(e)
		}
		known := to.knows(c.of)
		if known {
			to.counted(c.of)
		}
		return known
	})
	if err != nil {
		return err
	}
	work := startLongRead()
	for _, span.Stretch = range unknown {
		for s, err := range r.records.passed(ctx, span, to.lost) {
			if err != nil {
				return err
			}
			work.rest()
			to.step(&s.Is, s.Born)
		}
	}
	return nil
}

// countersOf passes on the up-to-date counters of the stretches that the span may select,
// and returns the stretches whose counters were refused.
func (r *Reader) countersOf(ctx context.Context, span approval.Span, take func(*countedStretch) bool) (refused []uint64, err error) {
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
			_ = r.records.Note(ctx, s.Unread) // everything else is counted
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

// count returns the counters of a stretch, with everything that it has now.
func (r *Reader) count(ctx context.Context, s *approval.Stretch) (*countedStretch, error) {
	known := r.counted.by[s.ID]
	if known != nil && known.last >= s.Last {
		return known, nil
	}
	span := approval.Span{Stretch: s.ID, NotesOnly: true, Newest: known != nil}
	if known == nil {
		known = &countedStretch{of: report.NewCounters()}
	}
	// New entries are added to existing counters only once all of them have been read: a
	// reading that is cut short adds nothing, and nothing is counted twice.
	var added []approval.JournalEntry
	var lost []*approval.UnreadError
	last, work := known.last, startLongRead()
	for e, err := range r.records.store.Entries(ctx, span) {
		if err != nil {
			if e := r.records.Note(ctx, err); e != nil {
				lost = append(lost, e)
				continue
			}
			return nil, fmt.Errorf("read: read the journal: %w", err)
		}
		if span.Newest && e.Seq <= known.last {
			break
		}
		work.rest()
		if last = max(last, e.Seq); span.Newest {
			added = append(added, e)
		} else {
			r.take(ctx, known, &e)
		}
	}
	for i := range added {
		r.take(ctx, known, &added[i])
	}
	for _, e := range lost {
		known.lack(e)
	}
	known.last = max(last, s.Last)
	r.counted.by[s.ID] = known
	return known, nil
}

// take counts an entry. An entry that cannot be read is noted, and everything else is
// counted.
func (r *Reader) take(ctx context.Context, c *countedStretch, e *approval.JournalEntry) {
	if err := count(&r.counted.step, e, r.counted.names); err != nil {
		c.lack(r.records.Note(ctx, unreadEntry(e, err)))
		return
	}
	c.of.Add(&r.counted.step, e.Seq)
}
