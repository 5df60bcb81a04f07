package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/metnos/vaglio/approval"
)

var errRefused = errors.New("refused by the change")

const ask = approval.KindAsk

func updateCases() []promise {
	return []promise{
		{"WhatUpdateReturnedIsStored", func(b *bench) {
			s := b.open()
			r := b.put(s, ask, approval.Record{ID: "a", Open: true, Keys: []string{"k2", "k1", "k2"}, Body: []byte("one")})
			want := approval.Record{ID: "a", Seq: r.Seq, Born: r.Seq, Open: true, Keys: []string{"k2", "k1"}, Body: []byte("one")}
			if diff := cmp.Diff(want, r); diff != "" {
				b.Errorf("Update returned (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(r, b.get(s, ask, "a")); diff != "" {
				b.Errorf("Update and Get differ (-update +get):\n%s", diff)
			}
		}},
		{"ChangeSeesWhatIsStored", func(b *bench) {
			s := b.open()
			var seen approval.Record
			change := func(r approval.Record) (approval.Record, error) {
				seen = r
				return approval.Record{Keys: []string{"k"}, Body: []byte("x")}, nil
			}
			first, err := s.Update(b.Context(), ask, "a", change)
			if err != nil {
				b.Fatal(err)
			}
			if diff := cmp.Diff(approval.Record{}, seen); diff != "" {
				b.Errorf("a record that does not exist came as:\n%s", diff)
			}
			if _, err := s.Update(b.Context(), ask, "a", change); err != nil {
				b.Fatal(err)
			}
			if diff := cmp.Diff(first, seen); diff != "" {
				b.Errorf("the change saw something else (-stored +seen):\n%s", diff)
			}
		}},
		{"SeqRisesAndBornStays", func(b *bench) {
			s := b.open()
			var last uint64
			born := map[string]uint64{}
			for i := range 20 {
				kind := kinds()[i%2]
				r := b.put(s, kind, approval.Record{ID: fmt.Sprint(i % 6), Seq: 999, Born: 999})
				if r.Seq <= last {
					b.Errorf("seq %d after %d", r.Seq, last)
				}
				last = r.Seq
				name := string(kind) + r.ID
				if born[name] == 0 {
					born[name] = r.Seq
				}
				if r.Born != born[name] {
					b.Errorf("%s was born %d, then %d", name, born[name], r.Born)
				}
			}
		}},
		{"RefusedChangeWritesNothing", func(b *bench) {
			s := b.open()
			was := b.put(s, ask, approval.Record{ID: "a", Keys: []string{"k"}, Body: []byte("one")})
			for _, id := range []string{"a", "new"} {
				_, err := s.Update(b.Context(), ask, id, func(r approval.Record) (approval.Record, error) {
					r.Body, r.Open, r.Keys = append(r.Body, '!'), true, []string{"other"}
					return r, fmt.Errorf("%s: %w", id, errRefused)
				})
				if !errors.Is(err, errRefused) {
					b.Errorf("%s: got error %v, want the change's own", id, err)
				}
			}
			b.unchanged(s, was)
			b.missing(s, ask, "new", "other")
		}},
		{"TypedErrorsOfAChangeComeThrough", func(b *bench) {
			s := b.open()
			_, err := s.Update(b.Context(), ask, "a", func(r approval.Record) (approval.Record, error) {
				return r, &approval.MoveError{ID: "a", State: approval.Denied, Event: approval.Allow}
			})
			if e, ok := errors.AsType[*approval.MoveError](err); !ok || e.State != approval.Denied {
				b.Errorf("got %v", err)
			}
		}},
		{"KeepWritesNothing", func(b *bench) {
			s := b.open()
			was := b.put(s, ask, approval.Record{ID: "a", Keys: []string{"k"}, Body: []byte("one")})
			got, err := s.Update(b.Context(), ask, "a", func(r approval.Record) (approval.Record, error) {
				r.Body[0], r.Keys[0], r.Open = '!', "other", true
				return r, fmt.Errorf("as it is: %w", approval.ErrKeep)
			})
			if err != nil {
				b.Fatal(err)
			}
			if diff := cmp.Diff(was, got); diff != "" {
				b.Errorf("Update returned another record (-stored +got):\n%s", diff)
			}
			b.unchanged(s, was)
			got, err = s.Update(b.Context(), ask, "new", func(approval.Record) (approval.Record, error) {
				return approval.Record{Body: []byte("x")}, approval.ErrKeep
			})
			if err != nil || got.Exists() {
				b.Errorf("keeping what does not exist: got %+v, %v; want the zero record", got, err)
			}
			b.missing(s, ask, "new")
		}},
		{"PanicInChangeFailsThatCallOnly", func(b *bench) {
			s := b.open()
			was := b.put(s, ask, approval.Record{ID: "a", Body: []byte("one")})
			b.at(40, func(i int) error {
				if i%2 == 0 {
					_, err := put(b.Context(), s, ask, approval.Record{ID: fmt.Sprint("n", i)})
					return err
				}
				_, err := s.Update(b.Context(), ask, "a", func(approval.Record) (approval.Record, error) { panic("boom") })
				if e, ok := errors.AsType[*approval.PanicError](err); !ok || e.Value != "boom" {
					return fmt.Errorf("got %w, want a PanicError", err)
				}
				return nil
			})
			b.unchanged(s, was)
		}},
		{"ChangeAndStoreShareNothing", func(b *bench) {
			s := b.open()
			body, keys := []byte("one"), []string{"k"}
			r := b.put(s, ask, approval.Record{ID: "a", Body: body, Keys: keys})
			want := r.Clone()
			scribble := func(r approval.Record) { r.Body[0], r.Keys[0] = '!', "scribbled" }
			scribble(approval.Record{Body: body, Keys: keys})
			b.unchanged(s, want)
			scribble(r)
			b.unchanged(s, want)
			scribble(b.get(s, ask, "a"))
			b.unchanged(s, want)
			for r, err := range s.List(b.Context(), approval.Query{Kind: ask}) {
				if err != nil {
					b.Fatal(err)
				}
				scribble(r)
			}
			b.unchanged(s, want)
			for r, err := range s.Watch(b.Context(), ask, 0) {
				if err != nil {
					b.Fatal(err)
				}
				scribble(r)
				break
			}
			b.unchanged(s, want)
		}},
		{"DropFreesEverything", func(b *bench) {
			s := b.open()
			b.put(s, ask, approval.Record{ID: "a", Open: true, Keys: []string{"k1", "k2"}})
			gone := b.put(s, ask, approval.Record{ID: "a", Drop: true})
			if gone.Exists() {
				b.Errorf("dropping returned %+v", gone)
			}
			b.missing(s, ask, "a", "k1", "k2")
			b.put(s, ask, approval.Record{ID: "never", Drop: true})
			b.missing(s, ask, "never")
			if ids := b.list(s, approval.Query{Kind: ask, Open: true}); len(ids) != 0 {
				b.Errorf("still open: %q", ids)
			}
			b.put(s, ask, approval.Record{ID: "k1", Keys: []string{"a", "k2"}})
		}},
		{"KindsAreApart", func(b *bench) {
			s := b.open()
			for _, kind := range kinds() {
				b.put(s, kind, approval.Record{ID: "same", Keys: []string{"key"}, Body: []byte(kind)})
			}
			for _, kind := range kinds() {
				if r := b.get(s, kind, "key"); string(r.Body) != string(kind) {
					b.Errorf("%s has the body of %s", kind, r.Body)
				}
			}
			b.missing(s, "oth", "same", "key")
		}},
		{"BigBodiesAreKept", func(b *bench) {
			s := b.open()
			for _, n := range []int{0, 1, 4096, 1 << 20} {
				b.put(s, ask, approval.Record{ID: fmt.Sprint(n), Body: bytes.Repeat([]byte{'x'}, n)})
				if r := b.get(s, ask, fmt.Sprint(n)); len(r.Body) != n {
					b.Errorf("%d bytes came back as %d", n, len(r.Body))
				}
			}
		}},
		{"WhatCannotBeKeptIsRefused", testRefusals},
		{"EndedContextWritesNothing", func(b *bench) {
			s := b.open()
			ctx, cancel := context.WithCancel(b.Context())
			cancel()
			for range 20 { // whoever writes may be quick
				if _, err := put(ctx, s, ask, approval.Record{ID: "a"}); !errors.Is(err, context.Canceled) {
					b.Errorf("Update: got %v, want context.Canceled", err)
				}
			}
			if _, err := s.Get(ctx, ask, "a"); !errors.Is(err, context.Canceled) {
				b.Errorf("Get: got %v, want context.Canceled", err)
			}
			if _, err := s.Lease(ctx, "l", "h", 1); !errors.Is(err, context.Canceled) {
				b.Errorf("Lease: got %v, want context.Canceled", err)
			}
			if err := s.Append(ctx, entryAt(0, "a")); !errors.Is(err, context.Canceled) || len(b.entries(s, approval.Span{})) != 0 {
				b.Errorf("Append: got %v, want context.Canceled", err)
			}
			if err := ending(s.List(ctx, approval.Query{Kind: ask})); !errors.Is(err, context.Canceled) {
				b.Errorf("List: got %v, want context.Canceled", err)
			}
			b.missing(s, ask, "a")
		}},
	}
}

func testRefusals(b *bench) {
	s := b.open()
	long := strings.Repeat("x", approval.MaxName+1)
	many := make([]string, approval.MaxKeys+1)
	for i := range many {
		many[i] = fmt.Sprint("k", i)
	}
	for name, c := range map[string]struct {
		kind approval.Kind
		id   string
		r    approval.Record
	}{
		"empty_id":       {ask, "", approval.Record{}},
		"long_id":        {ask, long, approval.Record{}},
		"other_id":       {ask, "a", approval.Record{ID: "b"}},
		"empty_key":      {ask, "a", approval.Record{Keys: []string{""}}},
		"long_key":       {ask, "a", approval.Record{Keys: []string{long}}},
		"many_keys":      {ask, "a", approval.Record{Keys: many}},
		"big_body":       {ask, "a", approval.Record{Body: make([]byte, approval.MaxBody+1)}},
		"empty_kind":     {"", "a", approval.Record{}},
		"kind_with_null": {"a\x00b", "a", approval.Record{}},
		"long_kind":      {approval.Kind(long), "a", approval.Record{}},
	} {
		b.Run(name, func(t *testing.T) {
			_, err := s.Update(t.Context(), c.kind, c.id, func(approval.Record) (approval.Record, error) { return c.r, nil })
			if _, ok := errors.AsType[*approval.RecordError](err); !ok {
				t.Errorf("got %v, want a RecordError", err)
			} else if strings.Contains(err.Error(), "\n") || strings.Contains(err.Error(), long) {
				t.Errorf("the text is not one short sentence: %v", err)
			}
		})
	}
	b.missing(s, ask, "a", "b", long)
	b.put(s, ask, approval.Record{ID: long[1:], Keys: []string{"b" + long[2:]}})
}

// unchanged fails the test unless the record is stored as it was.
func (b *bench) unchanged(s Store, was approval.Record) {
	b.Helper()
	if diff := cmp.Diff(was, b.get(s, ask, was.ID)); diff != "" {
		b.Errorf("the stored record changed (-was +is):\n%s", diff)
	}
}

// missing fails the test unless the names lead to nothing.
func (b *bench) missing(s Store, kind approval.Kind, names ...string) {
	b.Helper()
	for _, n := range names {
		if r, err := s.Get(b.Context(), kind, n); !errors.Is(err, approval.ErrNotFound) {
			b.Errorf("get %.20q: got %+v, %v; want ErrNotFound", n, r, err)
		}
	}
}
