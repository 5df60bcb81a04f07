package approval

import (
	"fmt"
	"time"
)

// JournalEntry is one line of a store's journal: something that happened and will not
// change. Note and Body are opaque to the store.
type JournalEntry struct {
	// Seq is set by the store: it rises over all entries and records with every
	// write, as [Record.Seq] does.
	Seq uint64
	// At is when it happened; what is older than the journal keeps is dropped by it.
	At time.Time
	// Key is what the entry is found under together with others, 1 to [MaxName] bytes.
	Key string
	// Note is what listings that count need of it, small: they are read without
	// the bodies.
	Note []byte
	// Body is the whole of it.
	Body []byte
}

// MaxNote is the greatest number of bytes of an entry's note.
const MaxNote = 8 << 10

// Check says with a [*RecordError] what keeps the entry from being appended.
func (e *JournalEntry) Check() error {
	switch {
	case len(e.Note) > MaxNote:
		return &RecordError{"note", fmt.Sprintf("has %d bytes, at most %d can be kept", len(e.Note), MaxNote)}
	case len(e.Body) > MaxBody:
		return &RecordError{"body", fmt.Sprintf("has %d bytes, at most %d can be kept", len(e.Body), MaxBody)}
	}
	return CheckName("key", e.Key)
}

// Span selects entries of a journal.
type Span struct {
	// From and To bound when they happened, To excluded. The zero time is no bound.
	From, To time.Time
	// Key selects what was appended under it; empty means all.
	Key string
	// Newest orders by Seq, newest first; otherwise oldest first.
	Newest bool
	// Before selects what has a smaller Seq; 0 selects all.
	Before uint64
	// Stretch selects the stretch with the ID; 0 selects all.
	Stretch uint64
	// NotesOnly leaves the bodies out, which spares reading them.
	NotesOnly bool
}

// Holds reports whether the span selects the entry, wherever it lies.
func (s *Span) Holds(e *JournalEntry) bool {
	return (s.Key == "" || s.Key == e.Key) && !e.At.Before(s.From) && (s.To.IsZero() || e.At.Before(s.To)) &&
		(s.Before == 0 || e.Seq < s.Before)
}

// Overlaps reports whether the span may select entries from between two instants.
func (s *Span) Overlaps(from, to time.Time) bool {
	return !to.Before(s.From) && (s.To.IsZero() || from.Before(s.To))
}

// Stretch is a run of entries that a journal keeps together. Two with the same ID hold
// the same entries, but that the one with the greater Last has more behind them.
type Stretch struct {
	// ID is not 0, and used once.
	ID uint64
	// From and To are the earliest and the latest instant of the entries. Both are the
	// zero time where nobody can tell.
	From, To time.Time
	// Last is the Seq of the newest entry.
	Last uint64
}
