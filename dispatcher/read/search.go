package read

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/metnos/vaglio/approval"
)

const (
	// entriesAtOnce is how many entries History returns by default.
	entriesAtOnce = 50
	// entriesRead and bytesRead limit how far one call of History looks for entries that
	// fit a filter, and notesRead how many it may pass over by their notes alone.
	entriesRead = 5000
	bytesRead   = 16 << 20
	notesRead   = 200_000
)

// History returns what was proposed and what became of it, newest first. Values are masked
// as on a card.
func (r *Reader) History(ctx context.Context, f approval.Filter) (approval.Page, error) {
	if f.Limit <= 0 {
		f.Limit = entriesAtOnce
	}
	var page approval.Page
	begin, end := r.within(&f)
	search := search{filter: &f, lost: func(e *approval.UnreadError) { page.Unread.Add(e, begin, end) }}
	read, weight := 0, 0
	for s, err := range r.past(ctx, &search) {
		if err != nil {
			return approval.Page{}, fmt.Errorf("read: read the history: %w", err)
		}
		if len(page.Entries) == f.Limit || read == entriesRead || weight >= bytesRead {
			return page, nil
		}
		read++
		weight += len(s.Body)
		e, err := r.entry(ctx, s)
		if err != nil {
			return approval.Page{}, err
		}
		if f.Over(&e.Step) {
			break
		}
		if f.Fits(&e) {
			if e = r.masker.Entry(e); f.Finds(&e) {
				page.Entries = append(page.Entries, e)
			}
		}
		if page.Older = s.Born; search.passed > notesRead {
			return page, nil
		}
	}
	page.Older = 0
	return page, nil
}

// within returns the times between which there are entries that a filter may fit.
func (r *Reader) within(f *approval.Filter) (begin, end time.Time) {
	begin, end = now().Add(-r.stepsKept), now()
	if f.Since.After(begin) {
		begin = f.Since
	}
	if !f.Until.IsZero() {
		end = f.Until
	}
	return begin, end
}

// search is a search for entries that fit a filter.
type search struct {
	filter *approval.Filter
	// passed is how many steps of the journal were passed over.
	passed int
	// lost is told what cannot be read.
	lost func(*approval.UnreadError)
}

// outcomeOfPassed is the outcome of every step of the journal.
const outcomeOfPassed = "approved"

// judgedWithin is longer than the time between a proposal, which is what a filter bounds, and its
// verdict, which is what the journal is searched by.
const judgedWithin = 4 * time.Hour

// span returns what of the journal may fit.
func (s *search) span() approval.Span {
	f := s.filter
	span := approval.Span{Newest: true, Before: f.Before, Wants: s.wants}
	if !f.Since.IsZero() {
		span.From = f.Since.Add(-judgedWithin)
	}
	if !f.Until.IsZero() {
		span.To = f.Until.Add(judgedWithin)
	}
	return span
}

// wants reports whether a step of the journal may fit, by its note. Of those that do not, one is
// wanted when many were passed over, for the search to end there.
func (s *search) wants(e *approval.JournalEntry) bool {
	if s.filter.Agent == "" && s.filter.Executor == "" {
		return true
	}
	n := note{rest: e.Note}
	n.byte()
	agent, _, executor := n.text(), n.text(), n.text()
	if n.bad || isName(agent, s.filter.Agent) && isName(executor, s.filter.Executor) {
		return true
	}
	s.passed++
	return s.passed > notesRead
}

// isName reports whether a note has the name, or that is empty.
func isName(noted []byte, name string) bool {
	return name == "" || string(noted) == name[:min(len(name), longestCounted)]
}

// past yields the steps that the search may want, newest first.
func (r *Reader) past(ctx context.Context, of *search) iter.Seq2[Kept[approval.Step], error] {
	q := approval.Query{Kind: approval.KindStep, Newest: true, After: of.filter.Before}
	records := readable(ctx, r.records, q.Kind, r.records.store.List(ctx, q), approval.DecodeStep, of.lost)
	entries := r.journalFor(ctx, of)
	return func(yield func(Kept[approval.Step], error) bool) {
		a, stopA := startOf(records)
		defer stopA()
		b, stopB := startOf(entries)
		defer stopB()
		for a.more || b.more {
			from := a
			if !a.more || b.more && b.head.Born > a.head.Born {
				from = b
			}
			if !yield(from.head, from.err) || from.err != nil {
				return
			}
			from.take()
		}
	}
}

// journalFor yields the steps of the journal that the search may want, newest first. It leaves out
// stretches that are known to have none.
func (r *Reader) journalFor(ctx context.Context, of *search) iter.Seq2[Kept[approval.Step], error] {
	f := of.filter
	return func(yield func(Kept[approval.Step], error) bool) {
		if f.Outcome != "" && f.Outcome != outcomeOfPassed {
			return
		}
		stretches, err := r.records.store.Stretches(ctx)
		if err != nil {
			yield(Kept[approval.Step]{}, fmt.Errorf("read: read the journal: %w", err))
			return
		}
		span := of.span()
		for i := range slices.Backward(stretches) {
			if span.Stretch = stretches[i].ID; r.lacks(&stretches[i], f) {
				continue
			}
			for s, err := range r.records.passed(ctx, span, of.lost) {
				if !yield(s, err) || err != nil {
					return
				}
			}
		}
	}
}

// lacks reports whether a stretch is known to have no step that fits: one that could not all be counted is not.
func (r *Reader) lacks(s *approval.Stretch, f *approval.Filter) bool {
	select {
	case <-r.counted.turn:
		defer func() { r.counted.turn <- struct{}{} }()
	default:
		return false // it is being counted
	}
	known := r.counted.by[s.ID]
	return known != nil && known.last >= s.Last && len(known.unread) == 0 && known.of.Lack(f.Agent, f.Executor)
}
