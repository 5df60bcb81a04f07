package history

import (
	"context"
	"fmt"
	"iter"

	"golang.org/x/mod/sumdb/tlog"
)

// Leaf is one entry of the history as stored.
type Leaf struct {
	// Index is the leaf's position, counted from 0.
	Index int64
	// Hashes are what the leaf added to the tree: its own hash, then that of each complete
	// subtree that it is the last leaf of, smallest first.
	Hashes []tlog.Hash
	// Value is an encoded [Event]; nil if it was dropped.
	Value []byte
}

// Tree is where the history is stored. It changes only by growing and by dropping values; a
// store grows it when it writes [approval.Record.Leaves].
type Tree interface {
	// TreeSize returns how many leaves there are.
	TreeSize(ctx context.Context) (int64, error)
	// Leaves yields in order every leaf from the given index on that exists when the call
	// begins.
	Leaves(ctx context.Context, from int64) iter.Seq2[Leaf, error]
	// TreeHashes returns the hashes with the given indexes, which are those of package
	// tlog.
	TreeHashes(ctx context.Context, indexes []int64) ([]tlog.Hash, error)
	// DropLeaves drops the values of every leaf before the index. Their hashes stay.
	DropLeaves(ctx context.Context, before int64) error
}

// Grow returns the hashes of a leaf that is appended to size others; read returns the
// hashes of the tree so far.
func Grow(size int64, value []byte, read func(indexes []int64) ([]tlog.Hash, error)) ([]tlog.Hash, error) {
	hashes, err := tlog.StoredHashes(size, value, tlog.HashReaderFunc(read))
	if err != nil {
		return nil, fmt.Errorf("history: grow the tree: %w", err)
	}
	return hashes, nil
}

// Place returns the leaf that stores the hash with the given index, and the position among
// that leaf's hashes. For a negative index, leaf is -1.
func Place(index int64) (leaf int64, hash int) {
	if index < 0 {
		return -1, 0
	}
	level, n := tlog.SplitStoredHashIndex(index)
	return (n+1)<<level - 1, level
}

// Root returns the hash of the tree as it was at the given size.
func Root(ctx context.Context, t Tree, size int64) (tlog.Hash, error) {
	root, err := tlog.TreeHash(size, tlog.HashReaderFunc(func(indexes []int64) ([]tlog.Hash, error) {
		return t.TreeHashes(ctx, indexes)
	}))
	if err != nil {
		return root, fmt.Errorf("history: read the tree: %w", err)
	}
	return root, nil
}

// spine rebuilds the tree from the hashes of its leaves, in memory that grows only with the
// tree's height.
type spine struct {
	size int64
	// whole are the hashes of the complete subtrees that size decomposes into, largest
	// first.
	whole []tlog.Hash
}

// add appends a leaf and returns the hashes that it adds.
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
		root, _ := tlog.TreeHash(0, nil) // the empty tree reads no hash
		return root
	}
	root := s.whole[len(s.whole)-1]
	for i := len(s.whole) - 2; i >= 0; i-- {
		root = tlog.NodeHash(s.whole[i], root)
	}
	return root
}
