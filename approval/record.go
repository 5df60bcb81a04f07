package approval

import (
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"time"
)

// Kind is a family of records.
type Kind string

// The kinds of records.
const (
	KindAsk   Kind = "ask"   // approval.Ask
	KindStep  Kind = "step"  // approval.Step: the turn log
	KindBrake Kind = "brake" // approval.Brake, by the agent's name
	KindMeta  Kind = "meta"  // the instance's own: secret, agents, versions

	KindJudgement Kind = "judgement" // vaglio.Judgement: what a judge agent did
	KindResume    Kind = "resume"    // a webhook still to be delivered, by the approval's id
)

// Limits of a record, in bytes. They are small enough for the index of any engine.
const (
	MaxKind = 64       // a kind
	MaxName = 1024     // an id, a key, the name of a lease, a holder
	MaxKeys = 4096     // keys of one record
	MaxBody = 64 << 20 // a body
	MaxLeaf = 64 << 10 // a leaf of the history
)

// Record is one stored thing. Body is opaque to the store.
type Record struct {
	// ID is 1 to [MaxName] arbitrary bytes, unique within the kind.
	ID string
	// Seq is set by the store: it increases over all records with every write.
	Seq uint64
	// Born is the Seq of the record's first write.
	Born uint64
	// Open marks work that is not done; Query.Open finds it without a scan.
	Open bool
	// Keys are further names, unique within the kind, that the record holds for as long as
	// it lists them. If another record holds a key or has it as its id, Update fails with a
	// [*KeyError]; so it does for a new record whose id is another's key.
	Keys []string
	// Drop, if set by the function given to Update, deletes the record; Update then returns
	// the zero Record. The id and keys are free again. A watch does not report it.
	Drop bool
	Body []byte
	// Leaves are what the change adds to the history, in order. The function given to
	// Update sets them, and they are written with the record or not at all. They are not
	// part of the record: the store never returns any.
	Leaves [][]byte
}

// Exists reports whether the record was stored.
func (r Record) Exists() bool { return r.Seq != 0 }

// Version names a record as it was when it was read: the store may hold a later one.
type Version struct {
	ID  string
	Seq uint64
}

// Clone returns a copy of the stored part of r that shares nothing with it.
func (r Record) Clone() Record {
	r.Keys, r.Body, r.Leaves = slices.Clone(r.Keys), slices.Clone(r.Body), nil
	return r
}

// Change runs the function given to Update on a copy of the stored record r, and returns
// what to store under the id. It is the part of Update that every store shares. The error
// is the function's own, which may be [ErrKeep], a [*PanicError] if it panicked, or a
// [*RecordError].
func (r Record) Change(id string, change func(Record) (Record, error)) (out Record, err error) {
	defer func() {
		if v := recover(); v != nil {
			out, err = Record{}, &PanicError{Value: v, Stack: debug.Stack()}
		}
	}()
	out, err = change(r.Clone())
	if err != nil {
		return Record{}, err
	}
	if out.ID == "" {
		out.ID = id
	}
	if out.ID != id {
		return Record{}, &RecordError{"id", "cannot be changed"}
	}
	out.Seq, out.Born = r.Seq, r.Born
	out.Keys = distinct(out.Keys)
	if out.Body == nil {
		out.Body = []byte{}
	}
	return out, out.Check()
}

// distinct returns the keys without repetitions, in order, or nil if there are none.
func distinct(keys []string) []string {
	if len(keys) == 0 {
		return nil
	}
	seen := make(map[string]bool, len(keys))
	return slices.DeleteFunc(slices.Clone(keys), func(k string) bool {
		again := seen[k]
		seen[k] = true
		return again
	})
}

// Check returns a [*RecordError] if the record cannot be stored.
func (r Record) Check() error {
	if err := CheckName("id", r.ID); err != nil {
		return err
	}
	if len(r.Keys) > MaxKeys {
		return &RecordError{"keys", fmt.Sprintf("are %d, at most %d can be kept", len(r.Keys), MaxKeys)}
	}
	for _, k := range r.Keys {
		if err := CheckName("key", k); err != nil {
			return err
		}
	}
	if len(r.Body) > MaxBody {
		return &RecordError{"body", fmt.Sprintf("has %d bytes, at most %d can be kept", len(r.Body), MaxBody)}
	}
	for _, leaf := range r.Leaves {
		if len(leaf) == 0 || len(leaf) > MaxLeaf {
			return &RecordError{"leaves", fmt.Sprintf("have one of %d bytes, from 1 to %d can be kept", len(leaf), MaxLeaf)}
		}
	}
	return nil
}

// Check returns a [*RecordError] if the name of the kind is invalid.
func (k Kind) Check() error {
	switch {
	case k == "":
		return &RecordError{"kind", "is empty"}
	case len(k) > MaxKind:
		return &RecordError{"kind", fmt.Sprintf("has %d bytes, at most %d are allowed", len(k), MaxKind)}
	case strings.Contains(string(k), "\x00"):
		return &RecordError{"kind", "contains a NUL byte"}
	}
	return nil
}

// CheckName returns a [*RecordError] if a store cannot keep the name: an id, a key, a
// lease, a holder. The error does not repeat the name.
func CheckName(field, name string) error {
	switch {
	case name == "":
		return &RecordError{field, "is empty"}
	case len(name) > MaxName:
		return &RecordError{field, fmt.Sprintf("has %d bytes, at most %d are allowed", len(name), MaxName)}
	}
	return nil
}

// Query selects records of one kind. A listing shows the records that were born before it
// began; a record that changes meanwhile appears as it is when its turn comes, or not at
// all if it no longer matches.
type Query struct {
	Kind Kind
	// Open selects only records marked open.
	Open bool
	// Prefix selects ids that start with it and orders by id, byte by byte. It cannot be
	// combined with After.
	Prefix string
	// Newest orders by Born, newest first; otherwise oldest first. With a prefix it begins
	// with the last id.
	Newest bool
	// After continues a listing ordered by Born after the record with that Born, in the
	// listing's direction. 0 starts at the beginning.
	After uint64
	// Limit is the largest number of records; 0 means all.
	Limit int
}

// Check returns a [*RecordError] if the query cannot be answered.
func (q Query) Check() error {
	switch {
	case q.Limit < 0:
		return &RecordError{"limit", "is negative"}
	case q.Prefix != "" && q.After != 0:
		return &RecordError{"prefix", "orders by id and does not go with after"}
	}
	return q.Kind.Check()
}

// ErrNotFound says that no record has the id or key.
var ErrNotFound = errors.New("not found")

// ErrKeep is what a change returns to leave the record as it is.
var ErrKeep = errors.New("keep")

// ErrFull says that the store has no room left. Nothing was written; the store keeps
// working, and writes again once there is room.
var ErrFull = errors.New("the store has no room left")

// RecordError says that a store cannot keep a record or a name, or cannot answer a query.
type RecordError struct{ Field, Problem string }

func (e *RecordError) Error() string { return "record: " + e.Field + " " + e.Problem }

// UnreadError says that a record exists but cannot be read: a newer program wrote it, or
// its bytes are not those that were written. Whatever it is about stays denied; everything
// else goes on.
type UnreadError struct {
	Kind Kind
	ID   string
	// From and To bound the times of what cannot be read, as far as they are known.
	From, To time.Time
	// Err says what is wrong. It quotes nothing of what was stored.
	Err error
}

func (e *UnreadError) Error() string {
	return fmt.Sprintf("%s %s cannot be read: %v", e.Kind, e.ID, e.Err)
}

func (e *UnreadError) Unwrap() error { return e.Err }

// Unread is a part of the turn log that exists but cannot be read.
type Unread struct {
	// Part is the file of a segment, or the id of a record.
	Part string `json:"part"`
	// From and To are the times between which it may lack something.
	From time.Time `json:"from"`
	To   time.Time `json:"to"`
}

// UnreadParts are parts that cannot be read, each once.
type UnreadParts []Unread

// mostUnread is how many parts are told.
const mostUnread = 100

// Add adds a part, if it may lack something between two times.
func (u *UnreadParts) Add(e *UnreadError, from, to time.Time) {
	p := Unread{Part: e.ID, From: from, To: to}
	if e.From.After(from) {
		p.From = e.From
	}
	if !e.To.IsZero() && e.To.Before(to) {
		p.To = e.To
	}
	known := slices.IndexFunc(*u, func(o Unread) bool { return o.Part == p.Part })
	switch {
	case p.To.Before(p.From):
	case known >= 0:
		o := &(*u)[known]
		if p.From.Before(o.From) {
			o.From = p.From
		}
		if p.To.After(o.To) {
			o.To = p.To
		}
	case len(*u) < mostUnread:
		*u = append(*u, p)
	}
}

// KeyError says that another record holds a key.
type KeyError struct{ Key, HeldBy string }

func (e *KeyError) Error() string { return fmt.Sprintf("key is held by record %s", e.HeldBy) }

// PanicError says that the function given to Update panicked. Nothing was written.
type PanicError struct {
	Value any
	// Stack is the stack trace, for the log.
	Stack []byte
}

func (e *PanicError) Error() string { return fmt.Sprintf("change panicked: %v", e.Value) }

// LeaseError says that somebody else holds a lease.
type LeaseError struct {
	Holder string
	Until  time.Time
}

func (e *LeaseError) Error() string {
	return fmt.Sprintf("lease is held by %s until %s", e.Holder, e.Until.Format(time.RFC3339))
}

// JournalEntry is one line of a store's journal: something that happened and will not
// change. Note and Body are opaque to the store.
type JournalEntry struct {
	// Seq is set by the store: it increases over all entries and records with every write,
	// as [Record.Seq] does.
	Seq uint64
	// At is when it happened; the store drops entries older than the journal's retention.
	At time.Time
	// Key groups the entry with others for lookup; 1 to [MaxName] bytes.
	Key string
	// Note is the small part that listings which only count need; they read it without the
	// body.
	Note []byte
	// Body is the complete entry.
	Body []byte
}

// MaxNote is the largest size of an entry's note, in bytes.
const MaxNote = 8 << 10

// Check returns a [*RecordError] if the entry cannot be appended.
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
	// From and To bound the time of the entries; To is exclusive. The zero time is no
	// bound.
	From, To time.Time
	// Key selects the entries appended under it; empty means all.
	Key string
	// Newest orders by Seq, newest first; otherwise oldest first.
	Newest bool
	// Before selects entries with a smaller Seq; 0 selects all.
	Before uint64
	// Stretch selects the entries of the stretch with that ID; 0 selects all.
	Stretch uint64
	// Wants selects entries by what it is given of them, which is all but the body; nil
	// selects all. It saves reading the bodies of the others, and may be called more than
	// once for an entry.
	Wants func(*JournalEntry) bool
	// NotesOnly leaves out the bodies, which saves reading them.
	NotesOnly bool
}

// Holds reports whether the span selects the entry, whatever stretch it is in.
func (s *Span) Holds(e *JournalEntry) bool {
	return (s.Key == "" || s.Key == e.Key) && !e.At.Before(s.From) && (s.To.IsZero() || e.At.Before(s.To)) &&
		(s.Before == 0 || e.Seq < s.Before) && (s.Wants == nil || s.Wants(e))
}

// Overlaps reports whether the span may select entries between two times.
func (s *Span) Overlaps(from, to time.Time) bool {
	return !to.Before(s.From) && (s.To.IsZero() || from.Before(s.To))
}

// Stretch is a run of entries that a journal keeps together. Two stretches with the same ID
// hold the same entries, except that the one with the greater Last has more at its end.
type Stretch struct {
	// ID is not 0 and never reused.
	ID uint64
	// From and To are the times of the earliest and latest entry. Both are zero if there is
	// none. If none can be read, they bound the times, and a From that is not known is zero.
	From, To time.Time
	// Last is the Seq of the newest entry.
	Last uint64
	// Unread says why part of it cannot be read; nil if no such damage is known.
	Unread *UnreadError
}
