package storetest

import (
	cmpseq "cmp"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/metnos/vaglio/approval"
)

// entryAt returns an entry from the given number of minutes after noon.
func entryAt(minute int, key string) *approval.JournalEntry {
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	return &approval.JournalEntry{
		At: noon.Add(time.Duration(minute) * time.Minute), Key: key,
		Note: fmt.Appendf(nil, "note %d", minute), Body: fmt.Appendf(nil, "body %d", minute),
	}
}

// journaled appends entries, one per minute, under the keys in turn.
func (b *bench) journaled(s Store, n int, keys ...string) []approval.JournalEntry {
	b.Helper()
	var all []approval.JournalEntry
	for i := range n {
		e, kept := entryAt(i, keys[i%len(keys)]), entryAt(i, keys[i%len(keys)])
		if err := s.Append(b.Context(), e); err != nil {
			b.Fatalf("append: %v", err)
		}
		kept.Seq = e.Seq
		clear(e.Note) // the caller may reuse the bytes
		clear(e.Body)
		all = append(all, *kept)
	}
	return all
}

// entries returns what the span selects, in its order.
func (b *bench) entries(s Store, span approval.Span) []approval.JournalEntry {
	b.Helper()
	all := []approval.JournalEntry{}
	for e, err := range s.Entries(b.Context(), span) {
		if err != nil {
			b.Fatalf("entries: %v", err)
		}
		all = append(all, e)
	}
	return all
}

func journalCases() []promise {
	return []promise{
		{"JournalSelects", journalSelects},
		{"JournalNotesComeWithoutBodies", func(b *bench) {
			s := b.open()
			b.journaled(s, 3, "a")
			for i, e := range b.entries(s, approval.Span{NotesOnly: true}) {
				if want := entryAt(i, "a"); string(e.Note) != string(want.Note) || !e.At.Equal(want.At) {
					b.Errorf("got %q of %v, want %q", e.Note, e.At, want.Note)
				}
			}
		}},
		{"JournalSurvives", func(b *bench) {
			s := b.open()
			all := b.journaled(s, 10, "a")
			for _, err := range s.Entries(b.Context(), approval.Span{}) {
				if err != nil {
					b.Error(err)
				}
				break // a reader may stop at any entry
			}
			s = b.reopen(s)
			if diff := cmp.Diff(all, b.entries(s, approval.Span{})); diff != "" {
				b.Errorf("(-want +got):\n%s", diff)
			}
			e := entryAt(10, "a")
			if err := s.Append(b.Context(), e); err != nil || e.Seq <= all[9].Seq {
				b.Errorf("after a restart: %v, number %d is not behind %d", err, e.Seq, all[9].Seq)
			}
		}},
		{"JournalIsNumberedWithTheRecords", func(b *bench) {
			s := b.open()
			var last uint64
			for i := range 6 {
				e := entryAt(i, "a")
				if err := s.Append(b.Context(), e); err != nil {
					b.Fatal(err)
				}
				r := b.put(s, ask, approval.Record{ID: fmt.Sprint(i)})
				if e.Seq <= last || r.Seq <= e.Seq {
					b.Fatalf("entry %d and record %d do not rise from %d", e.Seq, r.Seq, last)
				}
				if last = r.Seq; i == 2 {
					s = b.reopen(s)
				}
			}
		}},
		{"JournalForgets", func(b *bench) {
			s := b.open()
			all := b.journaled(s, 20, "a")
			if err := s.Forget(b.Context(), all[10].At); err != nil {
				b.Fatal(err)
			}
			got := b.entries(s, approval.Span{From: all[10].At})
			if diff := cmp.Diff(all[10:], got); diff != "" {
				b.Errorf("what is young (-want +got):\n%s", diff)
			}
			if err := s.Forget(b.Context(), all[19].At.Add(time.Hour)); err != nil {
				b.Fatal(err)
			}
			if got := b.entries(s, approval.Span{}); len(got) > 0 {
				b.Errorf("%d old entries are left", len(got))
			}
		}},
		{"JournalTakesManyAtOnce", func(b *bench) {
			s := b.open()
			var wg sync.WaitGroup
			for w := range 8 {
				wg.Go(func() {
					for i := range 50 {
						if err := s.Append(b.Context(), entryAt(i, fmt.Sprint("w", w))); err != nil {
							b.Error(err)
						}
					}
				})
			}
			wg.Wait()
			all := b.entries(s, approval.Span{})
			if len(all) != 400 || !slices.IsSortedFunc(all, func(x, y approval.JournalEntry) int { return cmpseq.Compare(x.Seq, y.Seq) }) {
				b.Errorf("%d entries of 400, or out of order", len(all))
			}
		}},
		{"JournalStretchesAreTheWhole", journalStretches},
		{"JournalRefuses", func(b *bench) {
			s := b.open()
			err := s.Append(b.Context(), &approval.JournalEntry{At: time.Now()})
			if r, ok := errors.AsType[*approval.RecordError](err); !ok || r.Field != "key" {
				b.Errorf("no key: %v", err)
			}
		}},
	}
}

func journalSelects(b *bench) {
	s := b.open()
	all := b.journaled(s, manyRecords, "a", "b", "c")
	for name, c := range map[string]struct {
		span approval.Span
		want func(*approval.JournalEntry) bool
	}{
		"all":    {approval.Span{}, func(*approval.JournalEntry) bool { return true }},
		"key":    {approval.Span{Key: "b"}, func(e *approval.JournalEntry) bool { return e.Key == "b" }},
		"no_key": {approval.Span{Key: "d"}, func(*approval.JournalEntry) bool { return false }},
		"from":   {approval.Span{From: all[9].At}, func(e *approval.JournalEntry) bool { return !e.At.Before(all[9].At) }},
		"to":     {approval.Span{To: all[9].At}, func(e *approval.JournalEntry) bool { return e.At.Before(all[9].At) }},
		"wants": {
			approval.Span{Wants: func(e *approval.JournalEntry) bool {
				return string(e.Note) == string(all[9].Note) || e.Seq == all[11].Seq
			}},
			func(e *approval.JournalEntry) bool { return e.Seq == all[9].Seq || e.Seq == all[11].Seq },
		},
		"before": {approval.Span{Before: all[9].Seq}, func(e *approval.JournalEntry) bool { return e.Seq < all[9].Seq }},
	} {
		for _, newest := range []bool{false, true} {
			c.span.Newest = newest
			var want []approval.JournalEntry
			for _, e := range all {
				if c.want(&e) {
					want = append(want, e)
				}
			}
			if newest {
				slices.Reverse(want)
			}
			if diff := cmp.Diff(append([]approval.JournalEntry{}, want...), b.entries(s, c.span)); diff != "" {
				b.Errorf("%s, newest %v (-want +got):\n%s", name, newest, diff)
			}
		}
	}
}

// journalStretches reads a journal by its stretches, as it grows and after a drop.
func journalStretches(b *bench) {
	s := b.open()
	known := map[uint64]approval.Stretch{}
	check := func() {
		b.Helper()
		all, err := s.Stretches(b.Context())
		if err != nil {
			b.Fatalf("stretches: %v", err)
		}
		joined := []approval.JournalEntry{}
		now := map[uint64]approval.Stretch{}
		for _, st := range all {
			entries := b.entries(s, approval.Span{Stretch: st.ID})
			if was, ok := known[st.ID]; ok && was.Last > st.Last {
				b.Errorf("stretch %d ended with %d, and ends with %d", st.ID, was.Last, st.Last)
			}
			if _, twice := now[st.ID]; twice || st.ID == 0 {
				b.Errorf("the id %d is used twice, or none", st.ID)
			}
			now[st.ID] = st
			for i := range entries {
				if at := entries[i].At; at.Before(st.From) || at.After(st.To) || entries[i].Seq > st.Last {
					b.Errorf("an entry of %v, number %d, lies in %+v", at, entries[i].Seq, st)
				}
			}
			joined = append(joined, entries...)
		}
		known = now
		if diff := cmp.Diff(b.entries(s, approval.Span{}), joined); diff != "" {
			b.Errorf("the stretches are not the whole (-whole +stretches):\n%s", diff)
		}
	}
	check()
	for range 3 {
		b.journaled(s, manyRecords/2, "a", "b")
		check()
	}
	if err := s.Forget(b.Context(), entryAt(manyRecords/4, "a").At); err != nil {
		b.Fatalf("forget: %v", err)
	}
	check()
	b.journaled(s, 20, "c")
	check()
	if got := b.entries(s, approval.Span{Stretch: 1<<63 + 1}); len(got) != 0 {
		b.Errorf("a stretch that there is not has %d entries", len(got))
	}
}
