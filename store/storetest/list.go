package storetest

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/metnos/vaglio/approval"
)

// manyRecords is more than any store reads at once.
const manyRecords = 300

func listCases() []promise {
	return []promise{
		{"ListKeepsItsOrder", func(b *bench) {
			s := b.open()
			born := map[string]uint64{}
			for _, id := range []string{"m", "z1", "a", "z0", "b", "z"} {
				born[id] = b.put(s, ask, approval.Record{ID: id, Open: id > "b"}).Born
			}
			b.put(s, ask, approval.Record{ID: "m", Open: true, Body: []byte("changed")})
			b.put(s, "other", approval.Record{ID: "z2", Open: true})
			b.put(s, "as", approval.Record{ID: "k"})
			b.put(s, ask+"s", approval.Record{ID: "k"})
			for name, c := range map[string]struct {
				q    approval.Query
				want []string
			}{
				"all":               {approval.Query{}, []string{"m", "z1", "a", "z0", "b", "z"}},
				"newest":            {approval.Query{Newest: true}, []string{"z", "b", "z0", "a", "z1", "m"}},
				"open":              {approval.Query{Open: true}, []string{"m", "z1", "z0", "z"}},
				"open_newest":       {approval.Query{Open: true, Newest: true}, []string{"z", "z0", "z1", "m"}},
				"prefix":            {approval.Query{Prefix: "z"}, []string{"z", "z0", "z1"}},
				"prefix_open":       {approval.Query{Prefix: "b", Open: true}, []string{}},
				"prefix_limit":      {approval.Query{Prefix: "z", Limit: 2}, []string{"z", "z0"}},
				"prefix_newest":     {approval.Query{Prefix: "z", Newest: true}, []string{"z1", "z0", "z"}},
				"prefix_newest_one": {approval.Query{Prefix: "z", Newest: true, Limit: 1}, []string{"z1"}},
				"prefix_newest_a":   {approval.Query{Prefix: "a", Newest: true}, []string{"a"}},
				"prefix_newest_no":  {approval.Query{Prefix: "n", Newest: true}, []string{}},
				"prefix_of_nothing": {approval.Query{Prefix: "zz"}, []string{}},
				"limit":             {approval.Query{Limit: 2}, []string{"m", "z1"}},
				"limit_beyond":      {approval.Query{Limit: 99, Newest: true}, []string{"z", "b", "z0", "a", "z1", "m"}},
				"after":             {approval.Query{After: born["a"]}, []string{"z0", "b", "z"}},
				"after_newest":      {approval.Query{After: born["a"], Newest: true}, []string{"z1", "m"}},
				"after_open":        {approval.Query{After: born["z1"], Open: true}, []string{"z0", "z"}},
				"after_closed":      {approval.Query{After: born["a"], Open: true, Newest: true, Limit: 1}, []string{"z1"}},
				"after_the_last":    {approval.Query{After: born["z"]}, []string{}},
				"before_the_first":  {approval.Query{After: born["m"], Newest: true}, []string{}},
				"after_any":         {approval.Query{After: 1 << 63}, []string{}},
				"newest_before_any": {approval.Query{After: 1 << 63, Newest: true}, []string{"z", "b", "z0", "a", "z1", "m"}},
			} {
				b.Run(name, func(t *testing.T) {
					c.q.Kind = ask
					in := &bench{T: t}
					if diff := cmp.Diff(c.want, in.list(s, c.q)); diff != "" {
						t.Errorf("(-want +got):\n%s", diff)
					}
				})
			}
		}},
		{"ListOfNothingIsEmpty", func(b *bench) {
			s := b.open()
			for _, q := range []approval.Query{{}, {Open: true}, {Newest: true}, {Prefix: "a"}, {Prefix: "a", Newest: true}, {After: 1}} {
				q.Kind = ask
				if ids := b.list(s, q); len(ids) != 0 {
					b.Errorf("%+v: got %q", q, ids)
				}
			}
		}},
		{"ListShowsAllOfMany", func(b *bench) {
			s := b.open()
			want := b.fill(s, manyRecords)
			for _, q := range []approval.Query{{}, {Open: true}, {Prefix: "n"}, {Newest: true}} {
				q.Kind = ask
				got, want := b.list(s, q), slices.Clone(want)
				if q.Newest {
					slices.Reverse(want)
				}
				if q.Prefix != "" {
					slices.Sort(want)
				}
				if diff := cmp.Diff(want, got); diff != "" {
					b.Errorf("%+v (-want +got):\n%s", q, diff)
				}
			}
		}},
		{"ListMayWriteInsideItsLoop", func(b *bench) {
			s := b.open()
			want := b.fill(s, manyRecords)
			var got []string
			for r, err := range s.List(b.Context(), approval.Query{Kind: ask, Open: true}) {
				if err != nil {
					b.Fatal(err)
				}
				got = append(got, r.ID)
				r.Open = false
				b.put(s, ask, r)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				b.Errorf("(-want +got):\n%s", diff)
			}
			if left := b.list(s, approval.Query{Kind: ask, Open: true}); len(left) != 0 {
				b.Errorf("%d are still open", len(left))
			}
		}},
		{"ListEndsThoughItsLoopCreates", func(b *bench) {
			for _, q := range []approval.Query{{}, {Open: true}, {Prefix: "n"}, {Newest: true}} {
				q.Kind = ask
				s := b.open()
				want := b.fill(s, 10)
				n := 0
				for r, err := range s.List(b.Context(), q) {
					if err != nil {
						b.Fatal(err)
					}
					if n++; n > len(want) {
						b.Fatalf("%+v: shows %q, which was born after the listing began", q, r.ID)
					}
					b.put(s, ask, approval.Record{ID: fmt.Sprint("nn", n), Open: true})
				}
				if n != len(want) {
					b.Errorf("%+v: shows %d of %d", q, n, len(want))
				}
			}
		}},
		{"ListLeavesOutWhatWentAway", func(b *bench) {
			for _, q := range []approval.Query{{}, {Open: true}, {Prefix: "n"}} {
				q.Kind = ask
				s := b.open()
				b.fill(s, manyRecords)
				n := 0
				for r, err := range s.List(b.Context(), q) {
					if err != nil {
						b.Fatal(err)
					}
					if n++; n == 1 {
						b.at(manyRecords-1, func(i int) error {
							if nth(i) == r.ID {
								return nil
							}
							_, err := put(b.Context(), s, ask, approval.Record{ID: nth(i), Drop: true})
							return err
						})
					}
				}
				// A store may have read a page before the loop's body ran.
				if n < 2 || n > manyRecords/2 {
					b.Errorf("%+v: shows %d of 2 that are left", q, n)
				}
			}
		}},
		{"ListStopsWhenItsLoopDoes", func(b *bench) {
			s := b.open()
			b.fill(s, 10)
			for r, err := range s.List(b.Context(), approval.Query{Kind: ask}) {
				if err != nil || r.ID != nth(0) {
					b.Errorf("got %q, %v", r.ID, err)
				}
				break
			}
			b.put(s, ask, approval.Record{ID: "after"})
		}},
		{"SenselessQueryIsRefused", func(b *bench) {
			s := b.open()
			b.fill(s, 2)
			for name, q := range map[string]approval.Query{
				"no_kind":        {},
				"negative_limit": {Kind: ask, Limit: -1},
				"prefix_after":   {Kind: ask, Prefix: "n", After: 1},
			} {
				n := 0
				for _, err := range s.List(b.Context(), q) {
					n++
					if _, ok := errors.AsType[*approval.RecordError](err); !ok {
						b.Errorf("%s: got %v, want a RecordError", name, err)
					}
				}
				if n != 1 {
					b.Errorf("%s: yields %d times, want once", name, n)
				}
			}
		}},
	}
}

func nth(i int) string { return fmt.Sprintf("n%05d", i) }

// fill stores n open records, many concurrently, and returns their ids by birth.
func (b *bench) fill(s Store, n int) []string {
	b.Helper()
	ids := make([]string, n)
	for i := range ids {
		ids[i] = nth(i)
		if i == 0 {
			b.put(s, ask, approval.Record{ID: ids[i], Open: true, Body: []byte(ids[i])})
		}
	}
	b.at(n-1, func(i int) error {
		_, err := put(b.Context(), s, ask, approval.Record{ID: ids[i+1], Open: true, Body: []byte(ids[i+1])})
		return err
	})
	// Records that were written concurrently were born in any order.
	ids = b.list(s, approval.Query{Kind: ask})
	if len(ids) != n {
		b.Fatalf("%d records are stored, want %d", len(ids), n)
	}
	return ids
}
