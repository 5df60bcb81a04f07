package bolt_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"

	"go.etcd.io/bbolt"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/store/bolt"
	"github.com/metnos/vaglio/store/storetest"
)

// inFile changes the closed store's file without the store.
func inFile(t testing.TB, path string, change func(*bbolt.Tx) error) {
	t.Helper()
	db, err := bbolt.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Update(change); err != nil {
		t.Error(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

func leave(ctx context.Context, db *bolt.DB, id string, leaves ...string) error {
	_, err := db.Update(ctx, approval.KindAsk, id, func(r approval.Record) (approval.Record, error) {
		for _, l := range leaves {
			r.Leaves = append(r.Leaves, []byte(l))
		}
		return r, nil
	})
	return err
}

// TestOldFileGetsAHistory opens a file of form 1, to look into it and for writing.
func TestOldFileGetsAHistory(t *testing.T) {
	path := newFile(t)
	db := open(t, path)
	fill(t, db, 10)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	inFile(t, path, func(tx *bbolt.Tx) error {
		for _, name := range []string{"leaf", "tree"} {
			if err := tx.DeleteBucket([]byte(name)); err != nil {
				return err
			}
		}
		return tx.Bucket([]byte("vaglio")).Put([]byte("form"), binary.BigEndian.AppendUint64(nil, 1))
	})
	look, err := bolt.LookInto(path, bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if n, err := look.TreeSize(t.Context()); n != 0 || err != nil {
		t.Errorf("an old file has %d leaves, %v", n, err)
	}
	for l, err := range look.Leaves(t.Context(), 0) {
		t.Errorf("an old file has a leaf: %v, %v", l, err)
	}
	if _, err := look.TreeHashes(t.Context(), []int64{0}); err == nil {
		t.Error("an old file has a hash")
	}
	if err := look.Close(); err != nil {
		t.Fatal(err)
	}
	db = open(t, path)
	if err := leave(t.Context(), db, "n00001", "a", "b"); err != nil {
		t.Fatal(err)
	}
	if n := len(storetest.CheckHistory(t, db)); n != 2 {
		t.Errorf("there are %d leaves", n)
	}
	audit(t, db)
}

// TestMissingHashIsDamage deletes a hash that the next leaf needs: nothing is then added to
// the broken tree.
func TestMissingHashIsDamage(t *testing.T) {
	path := newFile(t)
	db := open(t, path)
	if err := leave(t.Context(), db, "a", "0", "1", "2"); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	inFile(t, path, func(tx *bbolt.Tx) error {
		return tx.Bucket([]byte("tree")).Delete(binary.BigEndian.AppendUint64(nil, 1))
	})
	db = open(t, path)
	for l, err := range db.Leaves(t.Context(), 0) {
		if err != nil || string(l.Value) != fmt.Sprint(l.Index) || (len(l.Hashes) == 0) != (l.Index == 1) {
			t.Errorf("leaf %d is %q with %d hashes, %v", l.Index, l.Value, len(l.Hashes), err)
		}
	}
	err := leave(t.Context(), db, "a", "3")
	if want := "store " + path + " is damaged: the history lacks a hash of leaf 1; restore it from a backup"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if err := leave(t.Context(), db, "b"); err != nil {
		t.Errorf("a record without leaves: %v", err)
	}
}

// TestALeafWithoutANumberIsDamage adds a leaf whose key is not a number of a leaf: nothing is
// numbered after it.
func TestALeafWithoutANumberIsDamage(t *testing.T) {
	for name, key := range map[string][]byte{
		"short":    {0, 0, 0, 0, 0, 0, 9},
		"long":     {0, 0, 0, 0, 0, 0, 0, 0, 9},
		"negative": {0x80, 0, 0, 0, 0, 0, 0, 0},
	} {
		path := newFile(t)
		db := open(t, path)
		if err := errors.Join(leave(t.Context(), db, "a", "0"), db.Close()); err != nil {
			t.Fatal(err)
		}
		inFile(t, path, func(tx *bbolt.Tx) error { return tx.Bucket([]byte("tree")).Put(key, make([]byte, 32)) })
		db = open(t, path)
		err := leave(t.Context(), db, "a", "1")
		for _, errLeaf := range db.Leaves(t.Context(), 0) {
			if errLeaf == nil || !strings.Contains(errLeaf.Error(), "a leaf of the history has no number") {
				t.Errorf("%s: the leaves are read: %v", name, errLeaf)
			}
			break
		}
		if err == nil || !strings.Contains(err.Error(), "is damaged: a leaf of the history has no number") {
			t.Errorf("%s: got %v", name, err)
		}
		if err := leave(t.Context(), db, "b"); err != nil {
			t.Errorf("%s: a record without leaves: %v", name, err)
		}
	}
}

// TestDamageOfTheHistoryIsTold spoils a key between two leaves, and the hashes of a leaf.
func TestDamageOfTheHistoryIsTold(t *testing.T) {
	path := newFile(t)
	db := open(t, path)
	if err := errors.Join(leave(t.Context(), db, "a", "0", "1"), db.Close()); err != nil {
		t.Fatal(err)
	}
	inFile(t, path, func(tx *bbolt.Tx) error {
		tree := tx.Bucket([]byte("tree"))
		return errors.Join(tree.Put(append(bolt.At(0), 9), make([]byte, 32)), tree.Put(bolt.At(1), make([]byte, 33)))
	})
	db = open(t, path)
	var last error
	for _, err := range db.Leaves(t.Context(), 0) {
		last = err
	}
	if last == nil || !strings.Contains(last.Error(), "a leaf of the history has no number") {
		t.Errorf("the leaves end with %v", last)
	}
	if _, err := db.TreeHashes(t.Context(), []int64{1}); err == nil || !strings.Contains(err.Error(), "hashes of the history do not read as they were written") {
		t.Errorf("the hashes: %v", err)
	}
}

func BenchmarkLeaves(b *testing.B) {
	for _, leaves := range []int{0, 1, 4} {
		b.Run(fmt.Sprint(leaves), func(b *testing.B) {
			db := open(b, newFile(b))
			value := make([]byte, 600)
			b.ReportAllocs()
			b.SetParallelism(64)
			var n int
			for b.Loop() {
				_, err := db.Update(b.Context(), approval.KindAsk, fmt.Sprint("r", n%1000), func(r approval.Record) (approval.Record, error) {
					r.Body = body
					for range leaves {
						r.Leaves = append(r.Leaves, value)
					}
					return r, nil
				})
				if err != nil {
					b.Fatal(err)
				}
				n++
			}
		})
	}
}
