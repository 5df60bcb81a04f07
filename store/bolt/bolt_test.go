package bolt_test

import (
	"path/filepath"
	"testing"

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
	})
}
