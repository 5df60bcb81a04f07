package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/metnos/vaglio/approval"
)

func raceCases() []promise {
	return []promise{
		{"OneOfManyWins", func(b *bench) {
			const taps = 200
			s := b.open()
			b.put(s, ask, approval.Record{ID: "a", Open: true, Keys: []string{"token"}})
			var won atomic.Int32
			var winner atomic.Value
			b.at(taps, func(i int) error {
				choice := []string{"allow", "deny"}[i%2] + fmt.Sprint(i)
				r, err := s.Update(b.Context(), ask, "a", func(r approval.Record) (approval.Record, error) {
					if len(r.Body) > 0 {
						return r, fmt.Errorf("%w: %s was first", errRefused, r.Body)
					}
					r.Open, r.Body = false, []byte(choice)
					return r, nil
				})
				switch {
				case err == nil:
					won.Add(1)
					winner.Store(string(r.Body))
				case !errors.Is(err, errRefused):
					return err
				}
				return nil
			})
			if n := won.Load(); n != 1 {
				b.Fatalf("%d of %d won", n, taps)
			}
			if r := b.get(s, ask, "token"); string(r.Body) != winner.Load() {
				b.Errorf("stored is %q, told was %q", r.Body, winner.Load())
			}
		}},
		{"OneOfManyGetsTheKey", func(b *bench) {
			const callers = 60
			s := b.open()
			var won atomic.Int32
			b.at(callers, func(i int) error {
				id := fmt.Sprint(i)
				_, err := put(b.Context(), s, ask, approval.Record{ID: id, Keys: []string{"own" + id, "call"}})
				if e, ok := errors.AsType[*approval.KeyError](err); ok && e.Key == "call" && e.HeldBy != id {
					return nil
				}
				won.Add(1)
				return err
			})
			if n := won.Load(); n != 1 {
				b.Errorf("%d got the key", n)
			}
			if all := b.list(s, approval.Query{Kind: ask}); len(all) != 1 {
				b.Errorf("%d records were stored", len(all))
			}
		}},
		{"OneOfManyCreates", func(b *bench) {
			s := b.open()
			var won atomic.Int32
			b.at(60, func(i int) error {
				_, err := s.Update(b.Context(), ask, "a", func(r approval.Record) (approval.Record, error) {
					if r.Exists() {
						return r, approval.ErrKeep
					}
					return approval.Record{Body: fmt.Append(nil, i)}, nil
				})
				if err == nil && string(b.get(s, ask, "a").Body) == fmt.Sprint(i) {
					won.Add(1)
				}
				return err
			})
			if won.Load() != 1 {
				b.Errorf("%d created the record", won.Load())
			}
		}},
		{"EveryCallLooksAtomic", testLinear},
		{"RefusedAndAcceptedDoNotMix", func(b *bench) {
			s := b.open()
			b.put(s, ask, approval.Record{ID: "holder", Keys: []string{"taken"}})
			b.at(120, func(i int) error {
				id := fmt.Sprint("n", i)
				switch i % 4 {
				case 0:
					_, err := put(b.Context(), s, ask, approval.Record{ID: id, Open: true, Keys: []string{"k" + id}})
					return err
				case 1:
					_, err := put(b.Context(), s, ask, approval.Record{ID: id, Open: true, Keys: []string{"k" + id, "taken"}})
					if _, ok := errors.AsType[*approval.KeyError](err); !ok {
						return fmt.Errorf("got %w, want a KeyError", err)
					}
				case 2:
					_, err := s.Update(b.Context(), ask, id, func(r approval.Record) (approval.Record, error) { return r, errRefused })
					if !errors.Is(err, errRefused) {
						return err
					}
				default:
					ctx, cancel := context.WithCancel(b.Context())
					go cancel()
					_, err := put(ctx, s, "other", approval.Record{ID: id})
					cancel()
					if err != nil && !errors.Is(err, context.Canceled) {
						return err
					}
				}
				return nil
			})
			if n := len(b.list(s, approval.Query{Kind: ask, Open: true})); n != 30 {
				b.Errorf("%d were stored, want the 30 that were accepted", n)
			}
		}},
	}
}

// at calls f n times concurrently and fails the test with the errors.
func (b *bench) at(n int, f func(i int) error) {
	b.Helper()
	var wg sync.WaitGroup
	errs := make([]error, n)
	start := make(chan struct{})
	for i := range n {
		wg.Go(func() {
			<-start
			errs[i] = f(i)
		})
	}
	close(start)
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		b.Fatal(err)
	}
}

// count increments the number in the record and returns it as stored.
func count(ctx context.Context, s Store, id string) (approval.Record, error) {
	return s.Update(ctx, ask, id, func(r approval.Record) (approval.Record, error) {
		n, _ := strconv.Atoi(string(r.Body)) // empty is 0
		r.Body = strconv.AppendInt(nil, int64(n+1), 10)
		return r, nil
	})
}

// invocation is one call in a history: what it returned, and when it began and ended on a
// clock that only orders.
type invocation struct {
	began, ended int64
	write        bool
	seq          uint64
	n            int
}

// testLinear checks that a history of concurrent writes and reads is linearizable: it could
// have come from one call after another, each at one moment between its begin and its end.
// The record is a counter, which makes that simple: the counts are 1, 2, 3 … without gap or
// repetition, later counts have later sequence numbers, and no call that began after
// another ended shows less than that one did.
func testLinear(b *bench) {
	const callers, rounds, records = 16, 25, 3
	s := b.open()
	var clock atomic.Int64
	var mu sync.Mutex
	history := map[string][]invocation{}
	one := func(id string, write bool) error {
		c := invocation{began: clock.Add(1), write: write}
		var r approval.Record
		var err error
		if write {
			r, err = count(b.Context(), s, id)
		} else if r, err = s.Get(b.Context(), ask, id); errors.Is(err, approval.ErrNotFound) {
			err = nil
		}
		c.ended = clock.Add(1)
		c.seq = r.Seq
		c.n, _ = strconv.Atoi(string(r.Body)) // empty means 0
		mu.Lock()
		defer mu.Unlock()
		history[id] = append(history[id], c)
		return err
	}
	b.at(callers, func(i int) error {
		for j := range rounds {
			if err := one(fmt.Sprint((i+j)%records), (i+j)%4 != 0); err != nil {
				return err
			}
		}
		return nil
	})
	for id, calls := range history {
		if err := linear(calls); err != nil {
			b.Errorf("record %s: %v", id, err)
		}
	}
}

func linear(calls []invocation) error {
	var writes []invocation
	for _, c := range calls {
		if c.write {
			writes = append(writes, c)
		}
	}
	slices.SortFunc(writes, func(a, b invocation) int { return a.n - b.n })
	seqs := map[int]uint64{0: 0}
	for i, w := range writes {
		if w.n != i+1 {
			return fmt.Errorf("count %d was answered where %d was due", w.n, i+1)
		}
		if w.seq <= seqs[i] {
			return fmt.Errorf("count %d has the sequence number %d, not after %d", w.n, w.seq, seqs[i])
		}
		seqs[w.n] = w.seq
	}
	for _, a := range calls {
		if a.seq != seqs[a.n] {
			return fmt.Errorf("count %d was shown with the sequence number %d, written with %d", a.n, a.seq, seqs[a.n])
		}
		for _, b := range calls {
			if a.ended < b.began && (b.n < a.n || b.write && b.n == a.n) {
				return fmt.Errorf("a call shows %d after another had ended that shows %d", b.n, a.n)
			}
		}
	}
	return nil
}
