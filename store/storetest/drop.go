package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/metnos/vaglio/approval"
)

// read returns the records as they are now.
func (b *bench) read(s Store, ids ...string) (read []approval.Version) {
	b.Helper()
	for _, id := range ids {
		read = append(read, approval.Version{ID: id, Seq: b.get(s, ask, id).Seq})
	}
	return read
}

func dropCases() []promise {
	return []promise{
		{"DropTakesAllThatWasRead", func(b *bench) {
			s := b.open()
			var ids []string
			for i := range manyRecords {
				r := approval.Record{ID: nth(i), Open: i%2 == 0, Keys: []string{"key" + nth(i)}}
				b.put(s, ask, r)
				b.put(s, approval.KindStep, r)
				ids = append(ids, r.ID)
			}
			stays := ids[len(ids)-1]
			if err := s.Drop(b.Context(), ask, b.read(s, ids[:len(ids)-1]...)); err != nil {
				b.Fatal(err)
			}
			for range 2 {
				if got := b.list(s, approval.Query{Kind: ask}); !slices.Equal(got, []string{stays}) {
					b.Errorf("%d are left: %.5q; want %q", len(got), got, stays)
				}
				b.missing(s, ask, ids[0], "key"+ids[0])
				if got := b.list(s, approval.Query{Kind: approval.KindStep}); !slices.Equal(got, ids) {
					b.Errorf("%d of %d of the other kind are left", len(got), len(ids))
				}
				s = b.reopen(s)
			}
			b.put(s, ask, approval.Record{ID: "key" + ids[0], Keys: []string{ids[0]}})
		}},
		{"DropLeavesWhatChanged", func(b *bench) {
			s := b.open()
			for _, id := range []string{"changed", "again", "same"} {
				b.put(s, ask, approval.Record{ID: id})
			}
			read := b.read(s, "changed", "again", "same", "same")
			read = append(read, approval.Version{ID: "never", Seq: 1}, approval.Version{ID: "never"}, approval.Version{})
			b.put(s, ask, approval.Record{ID: "again", Drop: true})
			was := []approval.Record{
				b.put(s, ask, approval.Record{ID: "changed", Body: []byte("new")}),
				b.put(s, ask, approval.Record{ID: "again", Body: []byte("new")}),
			}
			for range 2 {
				if err := s.Drop(b.Context(), ask, read); err != nil {
					b.Fatal(err)
				}
				b.unchanged(s, was[0])
				b.unchanged(s, was[1])
				b.missing(s, ask, "same", "never")
			}
		}},
		{"DropLosesNoUpdate", func(b *bench) {
			const records = 100
			s := b.open()
			var read []approval.Version
			for i := range records {
				read = append(read, approval.Version{ID: nth(i), Seq: b.put(s, ask, approval.Record{ID: nth(i)}).Seq})
			}
			b.at(records+1, func(i int) error {
				if i == records {
					return s.Drop(b.Context(), ask, read)
				}
				_, err := put(b.Context(), s, ask, approval.Record{ID: nth(i), Body: fmt.Append(nil, i)})
				return err
			})
			if got := b.list(s, approval.Query{Kind: ask}); len(got) != records {
				b.Errorf("%d of %d updates are left", len(got), records)
			}
		}},
		{"DropThatIsRefusedDropsNothing", func(b *bench) {
			s := b.open()
			b.put(s, ask, approval.Record{ID: "a"})
			read := b.read(s, "a")
			ctx, cancel := context.WithCancel(b.Context())
			cancel()
			if err := s.Drop(ctx, ask, read); !errors.Is(err, context.Canceled) {
				b.Errorf("got %v, want context.Canceled", err)
			}
			if _, ok := errors.AsType[*approval.RecordError](s.Drop(b.Context(), "", read)); !ok {
				b.Error("an empty kind was accepted")
			}
			if err := s.Drop(b.Context(), ask, nil); err != nil {
				b.Errorf("nothing to drop: %v", err)
			}
			b.read(s, "a")
		}},
	}
}
