package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/approval/history"
)

func historyCases() []promise {
	return []promise{
		{"leaves come with their record, in their order", leavesInOrder},
		{"a change that is refused leaves no leaf", refusedLeaves},
		{"a dropped record may leave leaves", leavesOfDrop},
		{"writers side by side share one dense history", leavesRace},
		{"what one change leaves stays together", leavesTogether},
		{"a leaf that cannot be kept refuses the change", badLeaves},
		{"dropping values keeps the tree", dropLeaves},
		{"a listing of leaves has those that were there", leavesPage},
		{"the history survives a restart", leavesReopen},
		{"an old tree has its hash for ever", oldRoots},
	}
}

// tree returns the store's history.
func tree(t *testing.T, s Store) history.Tree {
	t.Helper()
	h, ok := s.(history.Tree)
	if !ok {
		t.Fatal("the store shows no history")
	}
	return h
}

// CheckHistory fails the test unless the store's history has no holes, and its tree is the
// one that package tlog builds from the leaves from scratch. It returns the values of the
// leaves; nil for one that was dropped.
func CheckHistory(t *testing.T, s Store) [][]byte {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	h := tree(t, s)
	var values [][]byte
	var hashes []tlog.Hash
	for l, err := range h.Leaves(ctx, 0) {
		if err != nil {
			t.Fatalf("leaves: %v", err)
		}
		if l.Index != int64(len(values)) {
			t.Fatalf("leaf %d comes after %d leaves", l.Index, len(values))
		}
		want, err := tlog.StoredHashesForRecordHash(l.Index, leafHash(l), tlog.HashReaderFunc(func(indexes []int64) ([]tlog.Hash, error) {
			found := make([]tlog.Hash, len(indexes))
			for i, index := range indexes {
				found[i] = hashes[index]
			}
			return found, nil
		}))
		if err != nil {
			t.Fatal(err)
		}
		if fmt.Sprint(want) != fmt.Sprint(l.Hashes) {
			t.Errorf("leaf %d has the hashes %v, and should have %v", l.Index, l.Hashes, want)
		}
		hashes, values = append(hashes, want...), append(values, l.Value)
	}
	size, err := h.TreeSize(ctx)
	if err != nil || size != int64(len(values)) {
		t.Errorf("the size is %d, %v, and there are %d leaves", size, err, len(values))
	}
	all := make([]int64, len(hashes))
	for i := range all {
		all[i] = int64(i)
	}
	if got, err := h.TreeHashes(ctx, all); err != nil || fmt.Sprint(got) != fmt.Sprint(hashes) && len(all) > 0 {
		t.Errorf("the hashes by their index differ, %v", err)
	}
	return values
}

// leafHash returns the hash that a leaf should have. For a dropped one nothing better is
// known than the stored hash.
func leafHash(l history.Leaf) tlog.Hash {
	if l.Value != nil || len(l.Hashes) == 0 {
		return tlog.RecordHash(l.Value)
	}
	return l.Hashes[0]
}

// leave stores a record with leaves.
func leave(ctx context.Context, s Store, id string, leaves ...string) error {
	_, err := s.Update(ctx, approval.KindAsk, id, func(r approval.Record) (approval.Record, error) {
		r.Body = append(r.Body, '.')
		for _, l := range leaves {
			r.Leaves = append(r.Leaves, []byte(l))
		}
		return r, nil
	})
	return err
}

func (b *bench) leave(s Store, id string, leaves ...string) {
	b.Helper()
	if err := leave(b.Context(), s, id, leaves...); err != nil {
		b.Fatalf("leave %s: %v", id, err)
	}
}

// left fails the test unless the history is exactly this.
func (b *bench) left(s Store, want ...string) {
	b.Helper()
	var got []string
	for _, v := range CheckHistory(b.T, s) {
		got = append(got, string(v))
	}
	if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) {
		b.Errorf("the history is %q, want %q", got, want)
	}
}

func leavesInOrder(b *bench) {
	s := b.open()
	b.leave(s, "a", "1", "2", "3")
	b.leave(s, "b")
	b.leave(s, "b", "4")
	b.leave(s, "a", "5", "6", "7", "8", "9")
	b.left(s, "1", "2", "3", "4", "5", "6", "7", "8", "9")
	r := b.get(s, approval.KindAsk, "a")
	if r.Leaves != nil || string(r.Body) != ".." {
		b.Errorf("the record has %d leaves and the body %q", len(r.Leaves), r.Body)
	}
}

func refusedLeaves(b *bench) {
	s := b.open()
	b.put(s, approval.KindAsk, approval.Record{ID: "a", Keys: []string{"k"}})
	for name, answer := range map[string]struct {
		record approval.Record
		err    error
	}{
		"error":     {approval.Record{}, errors.New("no")},
		"keep":      {approval.Record{}, approval.ErrKeep},
		"taken key": {approval.Record{Keys: []string{"k"}}, nil},
		"bad key":   {approval.Record{Keys: []string{""}}, nil},
	} {
		answer.record.Leaves = [][]byte{[]byte("never")}
		_, err := s.Update(b.Context(), approval.KindAsk, "b", func(approval.Record) (approval.Record, error) { return answer.record, answer.err })
		if err == nil && name != "keep" {
			b.Errorf("%s: it was taken", name)
		}
	}
	b.left(s)
}

func leavesOfDrop(b *bench) {
	s := b.open()
	b.leave(s, "a", "in")
	_, err := s.Update(b.Context(), approval.KindAsk, "a", func(r approval.Record) (approval.Record, error) {
		r.Drop, r.Leaves = true, [][]byte{[]byte("out")}
		return r, nil
	})
	if err != nil {
		b.Fatal(err)
	}
	b.left(s, "in", "out")
}

func leavesRace(b *bench) {
	s := b.open()
	const writers, each = 16, 20
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				if err := leave(b.Context(), s, fmt.Sprint("r", w), fmt.Sprintf("%d %d a", w, i), fmt.Sprintf("%d %d b", w, i)); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	next := map[int]int{}
	values := CheckHistory(b.T, s)
	if len(values) != 2*writers*each {
		b.Fatalf("there are %d leaves", len(values))
	}
	for i := 0; i < len(values); i += 2 {
		var w, n int
		if _, err := fmt.Sscanf(string(values[i]), "%d %d a", &w, &n); err != nil {
			b.Fatalf("leaf %d is %q: %v", i, values[i], err)
		}
		if want := fmt.Sprintf("%d %d b", w, n); n != next[w] || string(values[i+1]) != want {
			b.Fatalf("leaves %d and %d are %q and %q, expected was change %d of %d", i, i+1, values[i], values[i+1], next[w], w)
		}
		next[w]++
	}
}

func leavesTogether(b *bench) {
	s := b.open()
	var many []string
	for i := range 300 {
		many = append(many, fmt.Sprint("leaf ", i))
	}
	b.leave(s, "a", many...)
	b.left(s, many...)
}

func badLeaves(b *bench) {
	s := b.open()
	for _, bad := range []string{"", string(bytes.Repeat([]byte{'x'}, approval.MaxLeaf+1))} {
		err := leave(b.Context(), s, "a", "good", bad)
		if _, ok := errors.AsType[*approval.RecordError](err); !ok {
			b.Errorf("a leaf of %d bytes: %v", len(bad), err)
		}
	}
	if _, err := s.Get(b.Context(), approval.KindAsk, "a"); !errors.Is(err, approval.ErrNotFound) {
		b.Errorf("the record is there: %v", err)
	}
	b.left(s)
	b.leave(s, "a", string(bytes.Repeat([]byte{'x'}, approval.MaxLeaf)))
	if n := len(CheckHistory(b.T, s)); n != 1 {
		b.Errorf("the greatest leaf makes %d leaves", n)
	}
}

func dropLeaves(b *bench) {
	s := b.open()
	h := tree(b.T, s)
	b.leave(s, "a", "0", "1", "2", "3", "4")
	before, err := history.Root(b.Context(), h, 5)
	if err != nil {
		b.Fatal(err)
	}
	for _, to := range []int64{-1, 0, 2, 1} {
		if err := h.DropLeaves(b.Context(), to); err != nil {
			b.Fatal(err)
		}
	}
	b.left(s, "", "", "2", "3", "4")
	for l, err := range h.Leaves(b.Context(), 0) {
		if err != nil || (l.Value == nil) != (l.Index < 2) || len(l.Hashes) == 0 {
			b.Errorf("leaf %d has the value %q and %d hashes, %v", l.Index, l.Value, len(l.Hashes), err)
		}
	}
	b.leave(s, "a", "5")
	if err := h.DropLeaves(b.Context(), 100); err != nil {
		b.Fatal(err)
	}
	b.left(s, "", "", "", "", "", "")
	b.leave(s, "a", "6")
	b.left(s, "", "", "", "", "", "", "6")
	if after, err := history.Root(b.Context(), h, 5); err != nil || after != before {
		b.Errorf("the root was %v and is %v, %v", before, after, err)
	}
}

func leavesPage(b *bench) {
	s := b.open()
	const n = 3000
	for i := range n / 100 {
		var some []string
		for j := range 100 {
			some = append(some, fmt.Sprint(i*100+j))
		}
		b.leave(s, "a", some...)
	}
	next := int64(7)
	for l, err := range tree(b.T, s).Leaves(b.Context(), next) {
		if err != nil || l.Index != next || string(l.Value) != fmt.Sprint(next) {
			b.Fatalf("leaf %d is %q where %d was expected, %v", l.Index, l.Value, next, err)
		}
		if next++; next == 1000 {
			b.leave(s, "b", "late") // within the loop
		}
	}
	if next != n {
		b.Errorf("the listing ended before %d", next)
	}
	for l, err := range tree(b.T, s).Leaves(b.Context(), n+1) {
		b.Errorf("behind the end there is %v, %v", l, err)
	}
	ctx, cancel := context.WithCancel(b.Context())
	cancel()
	if err := ending(tree(b.T, s).Leaves(ctx, 0)); !errors.Is(err, context.Canceled) {
		b.Errorf("with an ended context: %v", err)
	}
	if _, err := tree(b.T, s).TreeHashes(ctx, []int64{0}); !errors.Is(err, context.Canceled) {
		b.Errorf("hashes with an ended context: %v", err)
	}
	if _, err := tree(b.T, s).TreeSize(ctx); !errors.Is(err, context.Canceled) {
		b.Errorf("the size with an ended context: %v", err)
	}
}

func leavesReopen(b *bench) {
	s := b.open()
	b.leave(s, "a", "1", "2", "3")
	s = b.reopen(s)
	b.leave(s, "a", "4")
	b.left(s, "1", "2", "3", "4")
}

func oldRoots(b *bench) {
	s := b.open()
	h := tree(b.T, s)
	var roots []tlog.Hash
	for i := range 40 {
		b.leave(s, "a", fmt.Sprint(i))
		root, err := history.Root(b.Context(), h, int64(i+1))
		if err != nil {
			b.Fatal(err)
		}
		roots = append(roots, root)
	}
	for i, want := range roots {
		if got, err := history.Root(b.Context(), h, int64(i+1)); err != nil || got != want {
			b.Errorf("the root of %d leaves was %v and is %v, %v", i+1, want, got, err)
		}
	}
	for _, none := range []int64{1 << 40, -1} {
		if _, err := h.TreeHashes(b.Context(), []int64{none}); err == nil {
			b.Errorf("hash %d is found, and is not there", none)
		}
	}
}
