package dispatcher

import (
	"context"
	"iter"
	"time"

	"github.com/metnos/vaglio/approval"
)

// Store keeps records and a journal, and drops what is old of both.
type Store interface {
	RecordStore
	Journal
	Retention
}

// RecordStore keeps records. It is small so that a shared engine can implement it as well
// as a single file: compare-and-swap on one record, reads by id or key, listings in a
// stated order, a feed of changes, a lease.
//
// What Update returned is on disk. Listings are paged internally: nothing is yielded while
// a lock or a transaction is held, so a caller may write from within the loop. A record
// that exists but cannot be read comes with its id and an [*approval.UnreadError]; the
// records after it follow.
type RecordStore interface {
	// Update runs change on the record with the id and stores what it returns, as one
	// atomic step. A record that does not exist comes as the zero Record. change must be
	// pure and may run more than once. An error from change is returned in a form that
	// errors.Is and As recognize, and nothing is written. ErrKeep from change means that
	// there is nothing to write: Update returns the record as it is, without an error.
	Update(ctx context.Context, kind approval.Kind, id string, change func(approval.Record) (approval.Record, error)) (approval.Record, error)
	// Get returns the record with the id, or the one that holds the key, or ErrNotFound if
	// there is none.
	Get(ctx context.Context, kind approval.Kind, idOrKey string) (approval.Record, error)
	// List yields the records that match, in the query's order.
	List(ctx context.Context, q approval.Query) iter.Seq2[approval.Record, error]
	// Watch yields every record changed after the sequence number, oldest change first,
	// then waits for more until ctx ends. Several changes of one record may come as one,
	// the newest.
	Watch(ctx context.Context, kind approval.Kind, after uint64) iter.Seq2[approval.Record, error]
	// Lease takes or renews the named lease for the holder and returns its fencing token,
	// which increases with every new holder. A [*approval.LeaseError] says who holds it
	// until when.
	Lease(ctx context.Context, name, holder string, ttl time.Duration) (uint64, error)
}

// Journal keeps what happened and will not change. It is for large volumes: an entry costs
// one write, and old entries are dropped in large parts.
type Journal interface {
	// Append adds an entry and sets its Seq, which increases together with those of the
	// records. What was appended survives a crash of the process at any instant; a power
	// cut may take the last 10 ms. Append does not retain the entry's bytes.
	Append(ctx context.Context, e *approval.JournalEntry) error
	// Entries yields the entries that the span selects and that were appended before the
	// call, in its order. A part that exists but cannot be read comes as an
	// [*approval.UnreadError]; the entries after it follow.
	Entries(ctx context.Context, s approval.Span) iter.Seq2[approval.JournalEntry, error]
	// Stretches returns the runs in which the entries are kept, oldest first: what was
	// counted in one once need not be read again.
	Stretches(ctx context.Context) ([]approval.Stretch, error)
}

// Retention drops many records or entries at little cost.
type Retention interface {
	// Drop deletes the records that are still as they were read, as one atomic step, like
	// Updates that set Record.Drop. It leaves alone what changed, what does not exist and
	// what is damaged.
	Drop(ctx context.Context, kind approval.Kind, read []approval.Version) error
	// Forget drops journal entries from before the instant. Some may be kept longer.
	Forget(ctx context.Context, before time.Time) error
}
