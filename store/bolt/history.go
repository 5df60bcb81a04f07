package bolt

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"iter"

	"go.etcd.io/bbolt"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/metnos/vaglio/approval/history"
	"github.com/metnos/vaglio/store/keyring"
)

// leafFill is how full the pages of the history are: leaves come in order, with none
// inserted later.
const leafFill = 0.95

// leavesMax is the most leaves that one transaction reads.
const leavesMax = 1024

// TreeSize returns how many leaves the history has.
func (db *DB) TreeSize(ctx context.Context) (size int64, err error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	err = db.view(func(tx *bbolt.Tx) error {
		size, err = treeSize(tx.Bucket([]byte(bucketTree)))
		return err
	})
	return size, db.damaged(err)
}

// Leaves yields the leaves from the index on, in order, as of the time of the call; it
// reads them in pages. If the file was tampered with, a leaf may have no hashes, and an
// index may be missing.
func (db *DB) Leaves(ctx context.Context, from int64) iter.Seq2[history.Leaf, error] {
	return func(yield func(history.Leaf, error) bool) {
		end, err := db.leafEnd()
		for at := max(from, 0); err == nil && at < end; {
			var page []history.Leaf
			if page, err = db.leaves(ctx, at, end); err != nil || len(page) == 0 {
				break
			}
			for i := range page {
				if !yield(page[i], nil) {
					return
				}
			}
			at = page[len(page)-1].Index + 1
		}
		if err != nil {
			yield(history.Leaf{}, db.damaged(err))
		}
	}
}

// TreeHashes returns the hashes with the indexes.
func (db *DB) TreeHashes(ctx context.Context, indexes []int64) (hashes []tlog.Hash, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	err = db.view(func(tx *bbolt.Tx) error {
		hashes, err = treeHashes(tx.Bucket([]byte(bucketTree)), indexes)
		return err
	})
	return hashes, db.damaged(err)
}

// DropLeaves drops the values of the leaves before the index, all or none; their hashes
// stay.
func (db *DB) DropLeaves(ctx context.Context, before int64) error {
	err := db.write(ctx, false, func(t *tables) error {
		var keys [][]byte
		c := t.leaf.Cursor()
		for k, _ := c.First(); k != nil && bytes.Compare(k, leafKey(max(before, 0))) < 0; k, _ = c.Next() {
			keys = append(keys, bytes.Clone(k))
		}
		for _, k := range keys {
			t.remove(t.leaf, k)
		}
		return nil
	})
	return db.damaged(err)
}

// grow appends the leaves to the history. Everything that can fail does so before the first
// put.
func (t *tables) grow(values [][]byte) error {
	if len(values) == 0 {
		return nil
	}
	size, err := treeSize(t.tree)
	if err != nil {
		return err
	}
	// The leaves of one change may need each other's hashes.
	fresh := make([][]tlog.Hash, 0, len(values))
	read := func(indexes []int64) ([]tlog.Hash, error) {
		found := make([]tlog.Hash, len(indexes))
		for i, index := range indexes {
			leaf, at := history.Place(index)
			if leaf >= size {
				found[i] = fresh[leaf-size][at]
				continue
			}
			old, err := treeHashes(t.tree, indexes[i:i+1])
			if err != nil {
				return nil, err
			}
			found[i] = old[0]
		}
		return found, nil
	}
	for i, v := range values {
		hashes, err := history.Grow(size+int64(i), v, read)
		if err != nil {
			return err
		}
		fresh = append(fresh, hashes)
	}
	t.leaf.FillPercent, t.tree.FillPercent = leafFill, leafFill
	for i, v := range values {
		key := leafKey(size + int64(i))
		t.put(t.leaf, key, sealLeaf(t.keys, key, v))
		t.put(t.tree, key, joinHashes(fresh[i]))
	}
	return nil
}

func leafKey(index int64) []byte { return binary.BigEndian.AppendUint64(nil, uint64(index)) } //nolint:gosec // -1 is the key of no leaf.

// leafIndex returns the index in a key.
func leafIndex(key []byte) (int64, error) {
	if len(key) != 8 || key[0] > 0x7f {
		return 0, damage("a leaf of the history has no number")
	}
	return int64(binary.BigEndian.Uint64(key)), nil //nolint:gosec // Checked.
}

// treeSize returns the number after the last leaf's index.
func treeSize(tree *bbolt.Bucket) (int64, error) {
	if tree == nil {
		return 0, nil // the file predates histories
	}
	k, _ := tree.Cursor().Last()
	if k == nil {
		return 0, nil
	}
	last, err := leafIndex(k)
	return last + 1, err
}

func treeHashes(tree *bbolt.Bucket, indexes []int64) ([]tlog.Hash, error) {
	found := make([]tlog.Hash, len(indexes))
	for i, index := range indexes {
		leaf, at := history.Place(index)
		var packed []byte
		if tree != nil {
			packed = tree.Get(leafKey(leaf))
		}
		hashes, err := splitHashes(packed)
		if err != nil {
			return nil, err
		}
		if at >= len(hashes) {
			return nil, damage(fmt.Sprintf("the history lacks a hash of leaf %d", leaf))
		}
		found[i] = hashes[at]
	}
	return found, nil
}

func joinHashes(hashes []tlog.Hash) []byte {
	packed := make([]byte, 0, len(hashes)*tlog.HashSize)
	for i := range hashes {
		packed = append(packed, hashes[i][:]...)
	}
	return packed
}

func splitHashes(packed []byte) ([]tlog.Hash, error) {
	if len(packed)%tlog.HashSize != 0 {
		return nil, damage("hashes of the history do not read as they were written")
	}
	hashes := make([]tlog.Hash, len(packed)/tlog.HashSize)
	for i := range hashes {
		copy(hashes[i][:], packed[i*tlog.HashSize:])
	}
	return hashes, nil
}

// leafEnd returns the number after the index of the last leaf that has a value or a hash.
func (db *DB) leafEnd() (end int64, err error) {
	err = db.view(func(tx *bbolt.Tx) error {
		for _, name := range []string{bucketTree, bucketLeaf} {
			size, err := treeSize(tx.Bucket([]byte(name)))
			if err != nil {
				return err
			}
			end = max(end, size)
		}
		return nil
	})
	return end, err
}

// leaves reads a page of leaves in [at, end). An empty page means the end.
func (db *DB) leaves(ctx context.Context, at, end int64) (page []history.Leaf, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	err = db.view(func(tx *bbolt.Tx) error {
		m := merge{keys: db.keys, tree: tx.Bucket([]byte(bucketTree)).Cursor(), leaf: tx.Bucket([]byte(bucketLeaf)).Cursor()}
		m.seek(leafKey(at))
		for size := 0; m.more() && len(page) < leavesMax && size <= pageBytes; {
			l, err := m.next()
			if err != nil || l.Index >= end {
				return err
			}
			page, size = append(page, l), size+len(l.Value)
		}
		return nil
	})
	return page, err
}

// merge joins the leaves' hashes with their values.
type merge struct {
	keys           *keyring.Ring
	tree, leaf     *bbolt.Cursor
	tk, tv, lk, lv []byte
}

func (m *merge) seek(from []byte) {
	m.tk, m.tv = m.tree.Seek(from)
	m.lk, m.lv = m.leaf.Seek(from)
}

func (m *merge) more() bool { return m.tk != nil || m.lk != nil }

// next returns a copy of the next leaf.
func (m *merge) next() (l history.Leaf, err error) {
	at := m.tk
	if at == nil || m.lk != nil && bytes.Compare(m.lk, at) < 0 {
		at = m.lk
	}
	if l.Index, err = leafIndex(at); err != nil {
		return l, err
	}
	if bytes.Equal(m.lk, at) {
		l.Value, _ = openLeaf(m.keys, m.lk, m.lv)
		m.lk, m.lv = m.leaf.Next()
	}
	if bytes.Equal(m.tk, at) {
		l.Hashes, err = splitHashes(m.tv)
		m.tk, m.tv = m.tree.Next()
	}
	return l, err
}
