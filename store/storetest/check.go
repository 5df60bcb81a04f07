package storetest

import (
	order "cmp"
	"context"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/metnos/vaglio/approval"
)

// Check fails the test unless everything that the store shows of the kinds is consistent:
// ids, keys and sequence numbers are unique, each name leads to the record that has it, and
// every listing is the full listing, sorted or filtered. It may run after the test's
// context has ended.
func Check(t *testing.T, s Store, kinds ...approval.Kind) {
	t.Helper()
	c := checker{T: t, s: s, seqs: map[uint64]string{}}
	ctx := context.WithoutCancel(t.Context())
	for _, k := range kinds {
		c.kind(ctx, k)
	}
}

type checker struct {
	*testing.T
	s    Store
	seqs map[uint64]string
}

// kind checks one kind of record.
func (c *checker) kind(ctx context.Context, kind approval.Kind) {
	c.Helper()
	all := c.list(ctx, approval.Query{Kind: kind})
	if !slices.IsSortedFunc(all, func(a, b approval.Record) int { return order.Compare(a.Born, b.Born) }) {
		c.Errorf("%s: the listing is not in the order of birth", kind)
	}
	names := map[string]string{}
	claim := func(name, by string) {
		if other, ok := names[name]; ok && other != by {
			c.Errorf("%s: %q names both %q and %q", kind, name, other, by)
		}
		names[name] = by
	}
	ids := map[string]bool{}
	for _, r := range all {
		if ids[r.ID] {
			c.Errorf("%s: %q is listed twice", kind, r.ID)
		}
		ids[r.ID] = true
		claim(r.ID, r.ID)
		for _, k := range r.Keys {
			claim(k, r.ID)
		}
		c.record(ctx, kind, r)
	}
	c.listings(ctx, kind, all)
}

// record checks one record of a listing.
func (c *checker) record(ctx context.Context, kind approval.Kind, r approval.Record) {
	c.Helper()
	if r.Born == 0 || r.Born > r.Seq {
		c.Errorf("%s %q: born %d, seq %d", kind, r.ID, r.Born, r.Seq)
	}
	for _, n := range slices.Compact([]uint64{r.Born, r.Seq}) {
		if other, ok := c.seqs[n]; ok {
			c.Errorf("%s %q: the sequence number %d is that of %s too", kind, r.ID, n, other)
		}
		c.seqs[n] = string(kind) + " " + r.ID
	}
	if r.Drop {
		c.Errorf("%s %q: is stored as dropped", kind, r.ID)
	}
	for _, name := range append([]string{r.ID}, r.Keys...) {
		got, err := c.s.Get(ctx, kind, name)
		if err != nil {
			c.Errorf("%s %q: get %q: %v", kind, r.ID, name, err)
			continue
		}
		if diff := differ(r, got); diff != "" {
			c.Errorf("%s %q: the listing and %q differ (-listing +get):\n%s", kind, r.ID, name, diff)
		}
	}
}

// listings checks all ways to list against the full listing.
func (c *checker) listings(ctx context.Context, kind approval.Kind, all []approval.Record) {
	c.Helper()
	open := slices.DeleteFunc(slices.Clone(all), func(r approval.Record) bool { return !r.Open })
	c.same(kind, "open", open, c.list(ctx, approval.Query{Kind: kind, Open: true}))

	newest := slices.Clone(all)
	slices.Reverse(newest)
	c.same(kind, "newest first", newest, c.list(ctx, approval.Query{Kind: kind, Newest: true}))

	byID := slices.Clone(all)
	slices.SortFunc(byID, func(a, b approval.Record) int { return strings.Compare(a.ID, b.ID) })
	prefixes := map[string]bool{}
	for _, r := range byID {
		prefixes[r.ID[:1]] = true
	}
	for p := range prefixes {
		want := slices.DeleteFunc(slices.Clone(byID), func(r approval.Record) bool { return !strings.HasPrefix(r.ID, p) })
		c.same(kind, "prefix", want, c.list(ctx, approval.Query{Kind: kind, Prefix: p}))
	}

	bySeq := slices.Clone(all)
	slices.SortFunc(bySeq, func(a, b approval.Record) int { return order.Compare(a.Seq, b.Seq) })
	c.same(kind, "watch", bySeq, c.watch(ctx, kind, len(all)))
}

func (c *checker) same(kind approval.Kind, what string, want, got []approval.Record) {
	c.Helper()
	if diff := differ(want, got); diff != "" && (len(want) > 0 || len(got) > 0) {
		c.Errorf("%s: %s: the listings differ (-want +got):\n%s", kind, what, diff)
	}
}

func (c *checker) list(ctx context.Context, q approval.Query) (all []approval.Record) {
	c.Helper()
	for r, err := range c.s.List(ctx, q) {
		if err != nil {
			c.Fatalf("list %+v: %v", q, err)
		}
		all = append(all, r)
	}
	return all
}

// watch returns the first n records that a watch from the beginning shows.
func (c *checker) watch(ctx context.Context, kind approval.Kind, n int) (all []approval.Record) {
	c.Helper()
	if n == 0 {
		return nil
	}
	for r, err := range c.s.Watch(ctx, kind, 0) {
		if err != nil {
			c.Fatalf("watch %s: %v", kind, err)
		}
		if all = append(all, r); len(all) == n {
			break
		}
	}
	return all
}

// differ compares before it formats: showing that two big bodies are equal takes seconds.
func differ(want, got any) string {
	if reflect.DeepEqual(want, got) {
		return ""
	}
	return cmp.Diff(want, got)
}
