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

// Append implements [Store].
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

// Entries implements [Store].
func (m *Memory) Entries(ctx context.Context, s approval.Span) iter.Seq2[approval.JournalEntry, error] {
	return func(yield func(approval.JournalEntry, error) bool) {
		m.mu.Lock()
		late, err := error(nil), cmp.Or(ctx.Err(), m.state())
		if s.Stretch == 0 { // background counting is not among the calls that tests number
			late, err = m.begin(ctx)
		}
		all := slices.Clone(m.stretch(s.Stretch))
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

// Forget implements [Store]. It drops every old entry; other stores may keep some for
// longer.
func (m *Memory) Forget(ctx context.Context, before time.Time) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	late, err := m.begin(ctx)
	if err != nil {
		return err
	}
	had := len(m.kept.journal)
	m.kept.journal = slices.DeleteFunc(m.kept.journal, func(e approval.JournalEntry) bool { return e.At.Before(before) })
	if len(m.kept.journal) < had {
		m.kept.forgot++
	}
	return late
}

const (
	// memoryStretch is how many entries a stretch has: few, so that tests have many
	// stretches.
	memoryStretch = 16
	// memoryStretches is the most stretches between two drops.
	memoryStretches = 1 << 32
)

// stretch returns the entries of the stretch; 0 means all. m.mu must be held.
func (m *Memory) stretch(id uint64) []approval.JournalEntry {
	if id == 0 {
		return m.kept.journal
	}
	from := (id%memoryStretches - 1) * memoryStretch
	if n := uint64(len(m.kept.journal)); id/memoryStretches == m.kept.forgot && from < n {
		return m.kept.journal[from:min(from+memoryStretch, n)]
	}
	return nil
}

// Stretches implements [Store].
func (m *Memory) Stretches(ctx context.Context) ([]approval.Stretch, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := cmp.Or(ctx.Err(), m.state()); err != nil {
		return nil, err
	}
	var all []approval.Stretch
	for entries := range slices.Chunk(m.kept.journal, memoryStretch) {
		s := approval.Stretch{ID: m.kept.forgot*memoryStretches + uint64(len(all)) + 1, From: entries[0].At, To: entries[0].At}
		for i := range entries {
			e := &entries[i]
			if e.At.Before(s.From) {
				s.From = e.At
			}
			if e.At.After(s.To) {
				s.To = e.At
			}
			s.Last = e.Seq
		}
		all = append(all, s)
	}
	return all, nil
}
