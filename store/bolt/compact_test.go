package bolt_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/store/bolt"
	"github.com/metnos/vaglio/store/storetest"
)

// worn makes a store from which most records were dropped, and closes it properly.
func worn(t *testing.T) (path string, before map[string]approval.Record) {
	t.Helper()
	path = newFile(t)
	db := open(t, path)
	fill(t, db, 600)
	for i := range 600 {
		if i%10 == 0 {
			continue
		}
		if err := put(t.Context(), db, approval.Record{ID: fmt.Sprintf("n%05d", i), Drop: true}); err != nil {
			t.Fatal(err)
		}
	}
	if err := put(t.Context(), db, approval.Record{ID: "told", Body: body, Leaves: [][]byte{[]byte("a leaf")}}); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Lease(t.Context(), "l", "holder", time.Hour); err != nil {
		t.Fatal(err)
	}
	before = everything(t, db)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	return path, before
}

func everything(t *testing.T, db *bolt.DB) map[string]approval.Record {
	t.Helper()
	all := map[string]approval.Record{}
	for r, err := range db.List(t.Context(), approval.Query{Kind: approval.KindAsk}) {
		if err != nil {
			t.Fatal(err)
		}
		all[r.ID] = r
	}
	return all
}

// TestCompactKeepsAllAndGivesRoomBack compares a compacted store with the original, and
// goes on writing to it.
func TestCompactKeepsAllAndGivesRoomBack(t *testing.T) {
	path, want := worn(t)
	var was, is bytes.Buffer
	db := open(t, path)
	if _, err := db.Backup(&was); err != nil {
		t.Fatal(err)
	}
	last, err := db.Lease(t.Context(), "l", "holder", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	before, after, err := bolt.Compact(path, bolt.Options{})
	if err != nil || after >= before {
		t.Fatalf("%d bytes before, %d after: %v", before, after, err)
	}
	if info, err := os.Stat(path); err != nil || info.Size() != after || info.Mode().Perm() != 0o600 {
		t.Errorf("told of %d bytes: %v, %v", after, info, err)
	}
	if left, err := filepath.Glob(filepath.Join(filepath.Dir(path), ".new-*")); err != nil || len(left) > 0 {
		t.Errorf("files are left: %v, %v", left, err)
	}
	db = open(t, path)
	storetest.Check(t, db, approval.KindAsk)
	audit(t, db)
	got := everything(t, db)
	if len(got) != len(want) {
		t.Errorf("%d records, want %d", len(got), len(want))
	}
	for id, w := range want {
		if g := got[id]; g.Seq != w.Seq || g.Born != w.Born || !bytes.Equal(g.Body, w.Body) {
			t.Errorf("%s is %d %d, want %d %d", id, g.Seq, g.Born, w.Seq, w.Born)
		}
	}
	if leaves := storetest.CheckHistory(t, db); len(leaves) != 1 {
		t.Errorf("%d leaves", len(leaves))
	}
	if token, err := db.Lease(t.Context(), "l", "holder", time.Hour); err != nil || token != last {
		t.Errorf("the lease has the token %d, want %d: %v", token, last, err)
	}
	if err := put(t.Context(), db, approval.Record{ID: "later"}); err != nil {
		t.Fatal(err)
	}
	r, err := db.Get(t.Context(), approval.KindAsk, "later")
	if err != nil || r.Seq <= want["told"].Seq {
		t.Errorf("a later record has the number %d: %v", r.Seq, err)
	}
	if _, err := db.Backup(&is); err != nil || is.Len() >= was.Len() {
		t.Errorf("a copy has %d bytes, and had %d: %v", is.Len(), was.Len(), err)
	}
}

// TestCompactRefuses checks that nothing changes if the store is open, is not a store, or
// does not exist.
func TestCompactRefuses(t *testing.T) {
	path, _ := worn(t)
	db := open(t, path)
	if _, _, err := bolt.Compact(path, bolt.Options{}); !isLocked(err) {
		t.Errorf("an open store: %v", err)
	}
	if err := put(t.Context(), db, approval.Record{ID: "meanwhile"}); err != nil {
		t.Error(err)
	}
	none := filepath.Join(t.TempDir(), "vaglio.db")
	if _, _, err := bolt.Compact(none, bolt.Options{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no store: %v", err)
	}
	if _, err := os.Stat(none); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a store was made: %v", err)
	}
	text := filepath.Join(t.TempDir(), "vaglio.db")
	if err := os.WriteFile(text, bytes.Repeat([]byte("not a database\n"), 9000), 0o600); err != nil {
		t.Fatal(err)
	}
	_, _, err := bolt.Compact(text, bolt.Options{})
	if _, foreign := errors.AsType[*bolt.ForeignError](err); !foreign {
		t.Errorf("a text: %v", err)
	}
}

func isLocked(err error) bool { _, ok := errors.AsType[*bolt.LockedError](err); return ok }

// TestWhoWaitsForACompactedStoreGetsTheNewFile lets openers wait for the lock while the
// file is replaced: what they write must be in the file at the path.
func TestWhoWaitsForACompactedStoreGetsTheNewFile(t *testing.T) {
	path, _ := worn(t)
	var all sync.WaitGroup
	for n := range 4 {
		all.Go(func() {
			db, err := bolt.Open(path, bolt.Options{LockWait: time.Minute})
			if err != nil {
				t.Error(err)
				return
			}
			if err := put(context.Background(), db, approval.Record{ID: fmt.Sprint("waiter", n)}); err != nil {
				t.Error(err)
			}
			if err := db.Close(); err != nil {
				t.Error(err)
			}
		})
		all.Go(func() {
			if _, _, err := bolt.Compact(path, bolt.Options{}); err != nil && !isLocked(err) {
				t.Error(err)
			}
		})
	}
	all.Wait()
	db := open(t, path)
	for n := range 4 {
		if _, err := db.Get(t.Context(), approval.KindAsk, fmt.Sprint("waiter", n)); err != nil {
			t.Error(err)
		}
	}
}
