package storetest

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/metnos/vaglio/approval"
)

func watchCases() []promise {
	return []promise{
		{"WatchMissesNothing", testWatchMissesNothing},
		{"WatchShowsTheOldestChangeFirst", func(b *bench) {
			s := b.open()
			var seqs []uint64
			for _, id := range []string{"a", "b", "c", "a", "d"} {
				seqs = append(seqs, b.put(s, ask, approval.Record{ID: id}).Seq)
			}
			b.put(s, "other", approval.Record{ID: "x"})
			for _, c := range []struct {
				after uint64
				want  []string
			}{
				{0, []string{"b", "c", "a", "d"}},
				{seqs[0], []string{"b", "c", "a", "d"}},
				{seqs[2], []string{"a", "d"}},
				{seqs[3], []string{"d"}},
			} {
				var got []string
				for r, err := range s.Watch(b.Context(), ask, c.after) {
					if err != nil {
						b.Fatal(err)
					}
					if got = append(got, r.ID); r.ID == "d" {
						break
					}
				}
				if diff := cmp.Diff(c.want, got); diff != "" {
					b.Errorf("after %d (-want +got):\n%s", c.after, diff)
				}
			}
		}},
		{"WatchWakesForWhatComesLater", func(b *bench) {
			s := b.open()
			last := b.put(s, ask, approval.Record{ID: "a"}).Seq
			var wg sync.WaitGroup
			defer wg.Wait()
			ctx, cancel := context.WithCancel(b.Context())
			defer cancel()
			heard := make(chan approval.Record)
			wg.Go(func() {
				defer close(heard)
				for r, err := range s.Watch(ctx, ask, last) {
					if err != nil {
						b.Error(err)
						return
					}
					heard <- r
				}
			})
			for i := range 50 {
				b.put(s, "other", approval.Record{ID: "noise"})
				want := b.put(s, ask, approval.Record{ID: fmt.Sprint(i % 7), Body: fmt.Append(nil, i)})
				if diff := cmp.Diff(want, <-heard); diff != "" {
					b.Fatalf("(-written +heard):\n%s", diff)
				}
			}
			cancel()
			for range heard {
				b.Error("the watch goes on after its context ended")
			}
		}},
		{"WatchIsWokenByTheLastChangeToo", testWatchLastChange},
		{"WatchMayWriteInsideItsLoop", func(b *bench) {
			s := b.open()
			b.put(s, ask, approval.Record{ID: "0"})
			n := 0
			for r, err := range s.Watch(b.Context(), ask, 0) {
				if err != nil {
					b.Fatal(err)
				}
				if r.ID != fmt.Sprint(n) {
					b.Fatalf("got %q, want %d", r.ID, n)
				}
				if n++; n == 150 {
					break
				}
				b.put(s, ask, approval.Record{ID: fmt.Sprint(n)})
			}
		}},
		{"WatchEndsWithItsContext", func(b *bench) {
			s := b.open()
			ctx, cancel := context.WithCancel(b.Context())
			cancel()
			for r, err := range s.Watch(ctx, ask, 0) {
				b.Errorf("yields %+v, %v", r, err)
			}
			b.put(s, ask, approval.Record{ID: "a"})
			ctx, cancel = context.WithCancel(b.Context())
			defer cancel()
			for _, err := range s.Watch(ctx, ask, 0) {
				if err != nil {
					b.Errorf("ends with %v, want the end alone", err)
				}
				cancel()
			}
		}},
		{"WatchRefusesASenselessKind", func(b *bench) {
			n := 0
			for _, err := range b.open().Watch(b.Context(), "", 0) {
				n++
				if _, ok := errors.AsType[*approval.RecordError](err); !ok {
					b.Errorf("got %v, want a RecordError", err)
				}
			}
			if n != 1 {
				b.Errorf("yields %d times, want once", n)
			}
		}},
	}
}

// testWatchMissesNothing lets several watches follow several writers: each must see the
// last state of each record, and all changes in order.
func testWatchMissesNothing(b *bench) {
	const watchers, writers, rounds, records = 4, 8, 40, 5
	s := b.open()
	var wg sync.WaitGroup
	for range watchers {
		wg.Go(func() {
			var last uint64
			done := map[string]bool{}
			for r, err := range s.Watch(b.Context(), ask, 0) {
				if err != nil {
					b.Error(err)
					return
				}
				if r.Seq <= last {
					b.Errorf("hears seq %d after %d", r.Seq, last)
				}
				last = r.Seq
				// Each writer increments each record once in each round.
				if string(r.Body) == fmt.Sprint(writers*rounds) {
					done[r.ID] = true
				}
				if len(done) == records {
					return
				}
			}
		})
	}
	b.at(writers, func(int) error {
		for i := range rounds * records {
			if _, err := count(b.Context(), s, fmt.Sprint(i%records)); err != nil {
				return err
			}
		}
		return nil
	})
	wg.Wait()
}

// testWatchLastChange writes a few records concurrently and waits until the watch has seen
// the last one: a change that comes while the watch goes to sleep must wake it. In a
// bubble, a missed wake-up is a deadlock that is detected at once.
func testWatchLastChange(b *bench) {
	synctest.Test(b.T, func(t *testing.T) {
		const rounds, writers = 60, 3
		b := &bench{T: t, h: b.h}
		s := b.open()
		heard := make(chan string, writers)
		var wg sync.WaitGroup
		defer wg.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		wg.Go(func() {
			for r, err := range s.Watch(ctx, ask, 0) {
				if err != nil {
					t.Error(err)
				}
				heard <- r.ID
			}
		})
		for i := range rounds {
			b.at(writers, func(w int) error {
				for range (i * w) % 17 {
					runtime.Gosched() // at different moments
				}
				_, err := put(ctx, s, ask, approval.Record{ID: fmt.Sprint(i, "-", w)})
				return err
			})
			for range writers {
				<-heard
			}
		}
	})
}
