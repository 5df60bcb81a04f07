package read

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"log/slog"
	"slices"
	"sync"

	"github.com/metnos/vaglio/approval"
)

// Store is the part of a store that is read.
type Store interface {
	// Get returns the record with the id, or the one that holds the key.
	// ErrNotFound if there is none.
	Get(ctx context.Context, kind approval.Kind, idOrKey string) (approval.Record, error)
	// List yields the records that match, in the query's order.
	List(ctx context.Context, q approval.Query) iter.Seq2[approval.Record, error]
	// Entries yields the journal's entries that the span selects, in its order.
	Entries(ctx context.Context, s approval.Span) iter.Seq2[approval.JournalEntry, error]
	// Stretches returns the stretches of the journal, oldest first.
	Stretches(ctx context.Context) ([]approval.Stretch, error)
}

// Records are a store's asks and steps. A record that exists but cannot be read is skipped,
// remembered, and logged once.
type Records struct {
	store  Store
	log    *slog.Logger
	unread unread
}

// NewRecords returns the records of a store.
func NewRecords(s Store, log *slog.Logger) *Records { return &Records{store: s, log: log} }

// unread holds the records that exist but could not be read. Whatever a call needs of one
// stays denied; a listing leaves it out and goes on.
type unread struct {
	mu sync.Mutex
	by map[recordKey]*approval.UnreadError
	// told counts, by kind, those that the log named.
	told map[approval.Kind]int
}

// recordKey identifies a record.
type recordKey struct {
	kind approval.Kind
	id   string
}

const (
	// unreadKept is how many records that cannot be read are remembered, and unreadNamed
	// how many of a kind are logged by name. After a downgrade there may be a month of
	// them.
	unreadKept  = 10_000
	unreadNamed = 20
)

// add remembers a record, and returns how many of its kind were told before, or -1 if it is
// already known.
func (u *unread) add(e *approval.UnreadError) (before int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	at := recordKey{e.Kind, e.ID}
	if u.by[at] != nil || len(u.by) == unreadKept {
		return -1
	}
	if u.by == nil {
		u.by, u.told = make(map[recordKey]*approval.UnreadError), make(map[approval.Kind]int)
	}
	u.by[at] = e
	u.told[e.Kind]++
	return u.told[e.Kind] - 1
}

// forget drops a record that can be read again.
func (u *unread) forget(at recordKey) {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.by, at)
}

// Unread returns the records that could not be read since the start, sorted by kind and id,
// each with its reason. Everything else goes on without them.
func (r *Records) Unread() []*approval.UnreadError {
	r.unread.mu.Lock()
	defer r.unread.mu.Unlock()
	all := make([]*approval.UnreadError, 0, len(r.unread.by))
	for _, e := range r.unread.by {
		all = append(all, e)
	}
	slices.SortFunc(all, func(a, b *approval.UnreadError) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.ID, b.ID))
	})
	return all
}

// Note remembers a record that cannot be read, and logs it once. It returns nil for any
// other error, which it leaves to the caller.
func (r *Records) Note(ctx context.Context, err error) *approval.UnreadError {
	e, ok := errors.AsType[*approval.UnreadError](err)
	if !ok {
		return nil
	}
	switch n := r.unread.add(e); {
	case n < 0 || n > unreadNamed:
	case n == unreadNamed:
		r.log.ErrorContext(ctx, "more stored records of this kind cannot be read; 'vaglio doctor' counts them", "kind", e.Kind)
	case e.Kind == approval.KindAsk:
		r.log.With("ask", e.ID).ErrorContext(ctx, "a stored ask cannot be read; its calls stay denied, and everything else goes on", "error", e.Err)
	default:
		r.log.With("kind", e.Kind, "id", e.ID).ErrorContext(ctx, "a stored record cannot be read; it is skipped, and everything else goes on", "error", e.Err)
	}
	return e
}

// decoded decodes a store's answer. A record that exists but cannot be read gives an
// [*approval.UnreadError] and is noted.
func decoded[T any](ctx context.Context, of *Records, at recordKey, r *approval.Record, err error, decode func([]byte) (T, error)) (T, error) {
	var v T
	if err == nil {
		if v, err = decode(r.Body); err == nil {
			of.unread.forget(at)
			return v, nil
		}
		err = &approval.UnreadError{Kind: at.kind, ID: at.id, Err: err}
	}
	_ = of.Note(ctx, err) // it is told and counted; the caller has err
	return v, err
}

// Kept is a record of a listing with its decoded content.
type Kept[T any] struct {
	approval.Record

	Is T
}

// Ask reads an ask by its id or one of its keys, as stored: its deadline may have passed.
func (r *Records) Ask(ctx context.Context, idOrKey string) (approval.Ask, error) {
	stored, err := r.store.Get(ctx, approval.KindAsk, idOrKey)
	return decoded(ctx, r, recordKey{approval.KindAsk, stored.ID}, &stored, err, approval.DecodeAsk)
}

// Asks yields the readable asks of a listing.
func (r *Records) Asks(ctx context.Context, q approval.Query) iter.Seq2[Kept[approval.Ask], error] {
	q.Kind = approval.KindAsk
	return Readable(ctx, r, q.Kind, r.store.List(ctx, q), approval.DecodeAsk)
}

// Steps yields the readable steps among the records; [Records.Passed] yields the others.
func (r *Records) Steps(ctx context.Context, q approval.Query) iter.Seq2[Kept[approval.Step], error] {
	q.Kind = approval.KindStep
	return Readable(ctx, r, q.Kind, r.store.List(ctx, q), approval.DecodeStep)
}

// Readable yields the readable of the decoded records of a listing.
func Readable[T any](
	ctx context.Context, of *Records, kind approval.Kind, records iter.Seq2[approval.Record, error], decode func([]byte) (T, error),
) iter.Seq2[Kept[T], error] {
	return readable(ctx, of, kind, records, decode, func(*approval.UnreadError) {})
}

// readable is the only place that decides what an unreadable record means: it is noted and
// skipped, and passed to lost.
func readable[T any](
	ctx context.Context, of *Records, kind approval.Kind, records iter.Seq2[approval.Record, error], decode func([]byte) (T, error),
	lost func(*approval.UnreadError),
) iter.Seq2[Kept[T], error] {
	return func(yield func(Kept[T], error) bool) {
		for r, err := range records {
			v, err := decoded(ctx, of, recordKey{kind, r.ID}, &r, err, decode)
			if e, unread := errors.AsType[*approval.UnreadError](err); unread {
				lost(e)
				continue
			}
			if !yield(Kept[T]{r, v}, err) || err != nil {
				return
			}
		}
	}
}

// Nothing reports whether an error of the store says that there is no such record, or no
// readable one.
func Nothing(err error) bool {
	_, unread := errors.AsType[*approval.UnreadError](err)
	return unread || errors.Is(err, approval.ErrNotFound)
}
