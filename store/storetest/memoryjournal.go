package storetest

import (
	"bytes"
	"cmp"
	"context"
	"iter"
	"slices"
	"time"

	"github.com/metnos/vaglio/approval"
)

// Append keeps the promise of the store's interface.
func (m *Memory) Append(ctx context.Context, e *approval.JournalEntry) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	late, err := m.begin(ctx)
	if err := cmp.Or(e.Check(), err); err != nil {
		return err
	}
	m.kept.seq++
	e.Seq = m.kept.seq
	kept := *e
	kept.Note, kept.Body = bytes.Clone(e.Note), bytes.Clone(e.Body)
	m.kept.journal = append(m.kept.journal, kept)
	return late
}

// Entries keeps the promise of the store's interface.
func (m *Memory) Entries(ctx context.Context, s approval.Span) iter.Seq2[approval.JournalEntry, error] {
	return func(yield func(approval.JournalEntry, error) bool) {
		m.mu.Lock()
		late, err := m.begin(ctx)
		all := slices.Clone(m.kept.journal)
		m.mu.Unlock()
		if err := cmp.Or(err, late); err != nil {
			yield(approval.JournalEntry{}, err)
			return
		}
		if s.Newest {
			slices.Reverse(all)
		}
		for _, e := range all {
			if s.NotesOnly {
				e.Body = nil
			}
			if s.Holds(&e) && !yield(e, nil) {
				return
			}
		}
	}
}

// Forget keeps the promise of the store's interface. It drops every old entry: a
// store may keep some for longer.
func (m *Memory) Forget(ctx context.Context, before time.Time) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	late, err := m.begin(ctx)
	if err != nil {
		return err
	}
	m.kept.journal = slices.DeleteFunc(m.kept.journal, func(e approval.JournalEntry) bool { return e.At.Before(before) })
	return late
}
