// Package storetest is the contract that every store keeps, as tests: the names
// of the cases are the promises. After every case it checks that what the store
// shows agrees with itself. It also holds [Memory], a store for the tests of a
// store's callers.
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

// Store is what the contract is about. It is the interface that the dispatcher
// declares, declared here by its other caller.
//
// A call whose context ended may have happened or not: a store says so only
// where it knows. Callers read back what became of it.
type Store interface {
	records
	journal
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
	Forget(ctx context.Context, before time.Time) error
}

// Tree is what a store shows of the history besides; every store keeps it.
type Tree = history.Tree

// Harness makes the stores that are tested.
type Harness struct {
	// Open returns a new, empty store, which it closes when the test ends. It is
	// also called in synctest bubbles.
	Open func(t *testing.T) Store
	// Reopen ends the store and returns one that holds what the first kept.
	Reopen func(t *testing.T, s Store) Store
	// Invariant, when set, checks what else must hold after every case.
	Invariant func(t *testing.T, s Store)
}

// kinds are those that the cases write.
func kinds() []approval.Kind {
	return []approval.Kind{approval.KindAsk, approval.KindStep, approval.KindMeta, "other"}
}

// Run runs every case against stores of the harness.
func Run(t *testing.T, h Harness) {
	for _, c := range slices.Concat(updateCases(), nameCases(), listCases(), watchCases(), raceCases(), leaseCases(), lifeCases(), historyCases(), journalCases()) {
		t.Run(c.name, func(t *testing.T) { c.run(&bench{T: t, h: h}) })
	}
}

// promise is one case of the contract.
type promise struct {
	name string
	run  func(b *bench)
}

// bench is what a case works at.
type bench struct {
	*testing.T
	h Harness
	// over holds the stores that the case itself ended.
	over []Store
}

// open returns a new store that is checked when the case ends.
func (b *bench) open() Store {
	b.Helper()
	s := b.h.Open(b.T)
	b.watchOver(s)
	return s
}

// reopen ends s and returns what it kept, which is checked when the case ends.
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
