package history

import (
	"context"
	"fmt"
	"iter"

	"golang.org/x/mod/sumdb/tlog"
)

// Leaf is one entry of the history as a store keeps it.
type Leaf struct {
	// Index is the leaf's place, counted from 0.
	Index int64
	// Hashes are what the leaf added to the tree: its own hash, and then that of
	// each whole subtree of which it is the last leaf, the smallest first.
	Hashes []tlog.Hash
	// Value is an [Event] in its stored form; nil when it was dropped.
	Value []byte
}

// Tree is where the history lies. What it shows never changes but by growing,
// and by dropped values; a store grows it, in [approval.Record.Leaves].
type Tree interface {
	// TreeSize returns how many leaves there are.
	TreeSize(ctx context.Context) (int64, error)
	// Leaves yields every leaf from the given index on that is there when the
	// call begins, in order.
	Leaves(ctx context.Context, from int64) iter.Seq2[Leaf, error]
	// TreeHashes returns the hashes with the indexes, which are those of package
	// tlog.
	TreeHashes(ctx context.Context, indexes []int64) ([]tlog.Hash, error)
	// DropLeaves drops the values of every leaf before the index. Their hashes
	// stay.
	DropLeaves(ctx context.Context, before int64) error
}

// Grow returns the hashes of a leaf that is put behind size others; read returns
// the hashes of the tree so far.
func Grow(size int64, value []byte, read func(indexes []int64) ([]tlog.Hash, error)) ([]tlog.Hash, error) {
	hashes, err := tlog.StoredHashes(size, value, tlog.HashReaderFunc(read))
	if err != nil {
		return nil, fmt.Errorf("history: grow the tree: %w", err)
	}
	return hashes, nil
}

// Place returns which of which leaf's hashes has the index. A negative index has
// no place: the leaf is -1 then.
func Place(index int64) (leaf int64, hash int) {
	if index < 0 {
		return -1, 0
	}
	level, n := tlog.SplitStoredHashIndex(index)
	return (n+1)<<level - 1, level
}

// Root returns the hash of the tree as it was when it had so many leaves.
func Root(ctx context.Context, t Tree, size int64) (tlog.Hash, error) {
	root, err := tlog.TreeHash(size, tlog.HashReaderFunc(func(indexes []int64) ([]tlog.Hash, error) {
		return t.TreeHashes(ctx, indexes)
	}))
	if err != nil {
		return root, fmt.Errorf("history: read the tree: %w", err)
	}
	return root, nil
}

// spine is the tree built anew from the hashes of its leaves, in memory that
// grows with the tree's height alone.
type spine struct {
	size int64
	// whole are the hashes of the whole subtrees that size is made of, the
	// greatest first.
	whole []tlog.Hash
}

// add puts a leaf behind the others and returns the hashes that it adds.
func (s *spine) add(leaf tlog.Hash) []tlog.Hash {
	added := []tlog.Hash{leaf}
	for n := s.size; n&1 == 1; n >>= 1 {
		leaf = tlog.NodeHash(s.whole[len(s.whole)-1], leaf)
		s.whole = s.whole[:len(s.whole)-1]
		added = append(added, leaf)
	}
	s.whole = append(s.whole, leaf)
	s.size++
	return added
}

// root returns the hash of the tree.
func (s *spine) root() tlog.Hash {
	if s.size == 0 {
		root, _ := tlog.TreeHash(0, nil) // It asks for no hash.
		return root
	}
	root := s.whole[len(s.whole)-1]
	for i := len(s.whole) - 2; i >= 0; i-- {
		root = tlog.NodeHash(s.whole[i], root)
	}
	return root
}
