// Package storetest is the contract that every store must keep, in the form of tests: the
// names of the cases are the promises. After every case it checks that what the store shows
// is consistent. It also provides [Memory], a store for the tests of a store's callers.
package storetest

import (
	"context"
	"iter"
	"slices"
	"testing"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/approval/history"
)

// Store is what the contract is about. It is the interface that the dispatcher declares,
// repeated here for its other users.
//
// A call whose context ended may or may not have happened: a store says so only if it
// knows. Callers read back what became of it.
type Store interface {
	records
	journal
	retention
}

type records interface {
	Update(ctx context.Context, kind approval.Kind, id string, change func(approval.Record) (approval.Record, error)) (approval.Record, error)
	Get(ctx context.Context, kind approval.Kind, idOrKey string) (approval.Record, error)
	List(ctx context.Context, q approval.Query) iter.Seq2[approval.Record, error]
	Watch(ctx context.Context, kind approval.Kind, after uint64) iter.Seq2[approval.Record, error]
	Lease(ctx context.Context, name, holder string, ttl time.Duration) (uint64, error)
}

type journal interface {
	Append(ctx context.Context, e *approval.JournalEntry) error
	Entries(ctx context.Context, s approval.Span) iter.Seq2[approval.JournalEntry, error]
	Stretches(ctx context.Context) ([]approval.Stretch, error)
}

type retention interface {
	Drop(ctx context.Context, kind approval.Kind, read []approval.Version) error
	Forget(ctx context.Context, before time.Time) error
}

// Tree is what a store also shows of the history; every store has it.
type Tree = history.Tree

// Harness makes the stores that are tested.
type Harness struct {
	// Open returns a new, empty store, which it closes when the test ends. It is also
	// called in synctest bubbles.
	Open func(t *testing.T) Store
	// Reopen closes the store and returns one with the same contents.
	Reopen func(t *testing.T, s Store) Store
	// Invariant, if set, checks what else must hold after every case.
	Invariant func(t *testing.T, s Store)
}

// kinds returns the kinds that the cases write.
func kinds() []approval.Kind {
	return []approval.Kind{approval.KindAsk, approval.KindStep, approval.KindMeta, "other"}
}

// Run runs every case against stores of the harness.
func Run(t *testing.T, h Harness) {
	for _, c := range slices.Concat(updateCases(), dropCases(), nameCases(), listCases(), watchCases(), raceCases(), leaseCases(), lifeCases(), historyCases(), journalCases()) {
		t.Run(c.name, func(t *testing.T) { c.run(&bench{T: t, h: h}) })
	}
}

// promise is one case of the contract.
type promise struct {
	name string
	run  func(b *bench)
}

// bench is what a case works with.
type bench struct {
	*testing.T
	h Harness
	// over holds the stores that the case itself closed.
	over []Store
}

// ending returns the error with which a listing ends; nil if it ends as if it were whole.
func ending[T any](listing iter.Seq2[T, error]) (last error) {
	for _, err := range listing {
		last = err
	}
	return last
}

// open returns a new store that is checked when the case ends.
func (b *bench) open() Store {
	b.Helper()
	s := b.h.Open(b.T)
	b.watchOver(s)
	return s
}

// reopen closes s and returns its successor, which is checked when the case ends.
func (b *bench) reopen(s Store) Store {
	b.Helper()
	b.over = append(b.over, s)
	s = b.h.Reopen(b.T, s)
	b.watchOver(s)
	return s
}

func (b *bench) watchOver(s Store) {
	b.Cleanup(func() {
		if slices.Contains(b.over, s) {
			return
		}
		Check(b.T, s, kinds()...)
		CheckHistory(b.T, s)
		if b.h.Invariant != nil {
			b.h.Invariant(b.T, s)
		}
	})
}

// put stores a record and returns it as stored.
func (b *bench) put(s Store, kind approval.Kind, r approval.Record) approval.Record {
	b.Helper()
	got, err := put(b.Context(), s, kind, r)
	if err != nil {
		b.Fatalf("put %s %q: %v", kind, r.ID, err)
	}
	return got
}

func put(ctx context.Context, s Store, kind approval.Kind, r approval.Record) (approval.Record, error) {
	return s.Update(ctx, kind, r.ID, func(approval.Record) (approval.Record, error) { return r, nil })
}

func (b *bench) get(s Store, kind approval.Kind, idOrKey string) approval.Record {
	b.Helper()
	r, err := s.Get(b.Context(), kind, idOrKey)
	if err != nil {
		b.Fatalf("get %s %q: %v", kind, idOrKey, err)
	}
	return r
}

// list returns the ids that the query shows, in its order.
func (b *bench) list(s Store, q approval.Query) []string {
	b.Helper()
	ids := []string{}
	for r, err := range s.List(b.Context(), q) {
		if err != nil {
			b.Fatalf("list: %v", err)
		}
		ids = append(ids, r.ID)
	}
	return ids
}
