package dispatcher

import (
	"context"
	"iter"
	"time"

	"github.com/metnos/vaglio/approval"
)

// Store keeps records, and what happened besides.
type Store interface {
	RecordStore
	Journal
}

// RecordStore keeps records. It is small so that it can be kept on a shared engine
// as well as in one file: compare-and-swap on one record, reads by id or key,
// listings in a stated order, a feed of changes, a lease.
//
// What Update returned is on disk. Listings are paged inside: nothing is
// yielded while a lock or a transaction is held, so a caller may write from
// within the loop. A record that is there and cannot be read comes with its id
// and an [*approval.UnreadError]; the records behind it follow.
type RecordStore interface {
	// Update runs change on the record with the id and stores what it returns,
	// as one atomic step. A record that does not exist comes as the zero
	// Record. change must be pure and may run more than once. An error from
	// change is returned unwrapped enough for errors.Is and As, and nothing is
	// written. ErrKeep from change means: nothing to write, return the record as
	// it is, no error.
	Update(ctx context.Context, kind approval.Kind, id string, change func(approval.Record) (approval.Record, error)) (approval.Record, error)
	// Get returns the record with the id, or the one that holds the key.
	// ErrNotFound if there is none.
	Get(ctx context.Context, kind approval.Kind, idOrKey string) (approval.Record, error)
	// List yields the records that match, in the query's order.
	List(ctx context.Context, q approval.Query) iter.Seq2[approval.Record, error]
	// Watch yields every record changed after the sequence number, oldest
	// change first, then waits for more until ctx ends. Several changes of one
	// record may come as one, the newest.
	Watch(ctx context.Context, kind approval.Kind, after uint64) iter.Seq2[approval.Record, error]
	// Lease takes or renews the named lease for the holder and returns its
	// fencing token, which rises with every new holder. A [*approval.LeaseError] says who
	// holds it until when.
	Lease(ctx context.Context, name, holder string, ttl time.Duration) (uint64, error)
}

// Journal keeps what happened and will not change. It is for much: an entry costs
// one write, and what is old is dropped in large parts.
type Journal interface {
	// Append adds an entry and sets its Seq, which rises with those of the records.
	// What was appended survives a crash of the process at any instant; a power cut
	// may take the last 10 ms. The entry's bytes are the caller's again afterwards.
	Append(ctx context.Context, e *approval.JournalEntry) error
	// Entries yields the entries that the span selects and that were appended before
	// the call, in its order. A part that is there and cannot be read comes as an
	// [*approval.UnreadError]; the entries behind it follow.
	Entries(ctx context.Context, s approval.Span) iter.Seq2[approval.JournalEntry, error]
	// Stretches returns how the entries lie together, oldest first: what was counted
	// of one once need not be read again.
	Stretches(ctx context.Context) ([]approval.Stretch, error)
	// Forget drops entries of before the instant. Some may be kept for longer.
	Forget(ctx context.Context, before time.Time) error
}
