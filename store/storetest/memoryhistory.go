package storetest

import (
	"context"
	"errors"
	"iter"
	"slices"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/metnos/vaglio/approval/history"
)

// grow appends leaves.
func (k *kept) grow(values [][]byte) error {
	for _, v := range values {
		size := int64(len(k.leaves))
		hashes, err := history.Grow(size, v, k.hashes)
		if err != nil {
			return err
		}
		k.leaves = append(k.leaves, history.Leaf{Index: size, Hashes: hashes, Value: slices.Clone(v)})
	}
	return nil
}

func (k *kept) hashes(indexes []int64) ([]tlog.Hash, error) {
	found := make([]tlog.Hash, len(indexes))
	for i, index := range indexes {
		leaf, at := history.Place(index)
		if leaf < 0 || leaf >= int64(len(k.leaves)) || at >= len(k.leaves[leaf].Hashes) {
			return nil, errors.New("memory: the history has no such hash")
		}
		found[i] = k.leaves[leaf].Hashes[at]
	}
	return found, nil
}

// TreeSize implements [history.Tree].
func (m *Memory) TreeSize(ctx context.Context) (int64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := errors.Join(ctx.Err(), m.state()); err != nil {
		return 0, err
	}
	return int64(len(m.kept.leaves)), nil
}

// Leaves implements [history.Tree].
func (m *Memory) Leaves(ctx context.Context, from int64) iter.Seq2[history.Leaf, error] {
	return func(yield func(history.Leaf, error) bool) {
		end, err := m.TreeSize(ctx)
		if err != nil {
			yield(history.Leaf{}, err)
			return
		}
		for i := max(from, 0); i < end; i++ {
			m.mu.Lock()
			l := m.kept.leaves[i]
			err := errors.Join(ctx.Err(), m.state())
			m.mu.Unlock()
			l.Hashes, l.Value = slices.Clone(l.Hashes), slices.Clone(l.Value)
			if !yield(l, err) || err != nil {
				return
			}
		}
	}
}

// TreeHashes implements [history.Tree].
func (m *Memory) TreeHashes(ctx context.Context, indexes []int64) ([]tlog.Hash, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := errors.Join(ctx.Err(), m.state()); err != nil {
		return nil, err
	}
	return m.kept.hashes(indexes)
}

// DropLeaves implements [history.Tree].
func (m *Memory) DropLeaves(ctx context.Context, before int64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := errors.Join(ctx.Err(), m.state()); err != nil {
		return err
	}
	for i := range min(before, int64(len(m.kept.leaves))) {
		m.kept.leaves[i].Value = nil
	}
	return nil
}
