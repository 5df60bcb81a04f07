package bolt_test

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"testing"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/store/bolt"
	"github.com/metnos/vaglio/store/storetest"
)

func open(t testing.TB, path string) *bolt.DB {
	t.Helper()
	db, err := bolt.Open(path, bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

func newFile(t testing.TB) string { return filepath.Join(t.TempDir(), "data", "vaglio.db") }

func TestBoltKeepsTheContract(t *testing.T) {
	storetest.Run(t, storetest.Harness{
		Open: func(t *testing.T) storetest.Store { return open(t, newFile(t)) },
		Reopen: func(t *testing.T, s storetest.Store) storetest.Store {
			db := s.(*bolt.DB)
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			return open(t, db.Path())
		},
		Invariant: func(t *testing.T, s storetest.Store) { audit(t, s.(*bolt.DB)) },
	})
}

// fill stores n open records with a key each.
func fill(t testing.TB, db *bolt.DB, n int) {
	t.Helper()
	var wg sync.WaitGroup
	for c := range 64 {
		wg.Go(func() {
			for i := c; i < n; i += 64 {
				r := approval.Record{ID: fmt.Sprintf("n%05d", i), Keys: []string{fmt.Sprintf("k%05d", i)}, Open: true, Body: body}
				if err := put(t.Context(), db, r); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
}

func put(ctx context.Context, db *bolt.DB, r approval.Record) error {
	_, err := db.Update(ctx, approval.KindAsk, r.ID, func(approval.Record) (approval.Record, error) { return r, nil })
	return err
}

func audit(t *testing.T, db *bolt.DB) {
	t.Helper()
	for _, problem := range db.Audit() {
		t.Error(problem)
	}
}
