package approval

import (
	"errors"
	"fmt"
	"time"
)

// Kind is a family of records.
type Kind string

// The kinds of records.
const (
	KindAsk  Kind = "ask"  // approval.Ask
	KindStep Kind = "step" // approval.Step: the turn log
	KindMeta Kind = "meta" // the instance's own: secret, agents, versions
)

// Record is one stored thing. Body is opaque to the store.
type Record struct {
	ID string
	// Seq is set by the store: it rises over all records with every write.
	Seq uint64
	// Born is the Seq of the record's first write.
	Born uint64
	// Open marks work that is not done; Query.Open finds it without a scan.
	Open bool
	// Keys are further names, unique within the kind, held by the record for
	// as long as it lists them. A key held by another record fails the Update
	// with a KeyError.
	Keys []string
	// Drop deletes the record, when set by the function given to Update.
	Drop bool
	Body []byte
}

// Exists reports whether the record was stored.
func (r Record) Exists() bool { return r.Seq != 0 }

// Query selects records of one kind.
type Query struct {
	Kind Kind
	// Open selects only records marked open.
	Open bool
	// Prefix selects ids that start with it and orders by id.
	Prefix string
	// Newest orders by Born, newest first; otherwise oldest first.
	Newest bool
	// After continues a listing ordered by Born behind the record with that
	// Born, in the listing's direction. 0 starts at its beginning.
	After uint64
	// Limit is the greatest number of records; 0 means all.
	Limit int
}

// ErrNotFound says that no record has the id or key.
var ErrNotFound = errors.New("not found")

// ErrKeep is what a change returns when the record is right as it is.
var ErrKeep = errors.New("keep")

// KeyError says that another record holds a key.
type KeyError struct{ Key, HeldBy string }

func (e *KeyError) Error() string { return fmt.Sprintf("key is held by record %s", e.HeldBy) }

// LeaseError says that somebody else holds a lease.
type LeaseError struct {
	Holder string
	Until  time.Time
}

func (e *LeaseError) Error() string {
	return fmt.Sprintf("lease is held by %s until %s", e.Holder, e.Until.Format(time.RFC3339))
}
