package storetest

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/metnos/vaglio/approval"
)

func leaseCases() []promise {
	return []promise{
		{"LeaseHasOneHolder", func(b *bench) {
			s := b.open()
			first := b.lease(s, "poll", "a", time.Hour)
			if first == 0 {
				b.Error("the first token is 0")
			}
			_, err := s.Lease(b.Context(), "poll", "b", time.Hour)
			e, ok := errors.AsType[*approval.LeaseError](err)
			if !ok || e.Holder != "a" || time.Until(e.Until) > time.Hour || time.Until(e.Until) < time.Minute {
				b.Errorf("got %v, want a LeaseError that names a and the end", err)
			}
			b.lease(s, "digest", "b", time.Hour)
		}},
		{"LeaseIsRenewedUnderItsToken", func(b *bench) {
			s := b.open()
			first := b.lease(s, "poll", "a", time.Hour)
			b.lease(s, "digest", "b", time.Hour)
			if again := b.lease(s, "poll", "a", 2*time.Hour); again != first {
				b.Errorf("renewed under %d, was %d", again, first)
			}
			_, err := s.Lease(b.Context(), "poll", "b", time.Hour)
			if e, ok := errors.AsType[*approval.LeaseError](err); !ok || time.Until(e.Until) < 90*time.Minute {
				b.Errorf("got %v, want a LeaseError with the new end", err)
			}
		}},
		{"LeaseTokenRises", func(b *bench) {
			synctest.Test(b.T, func(t *testing.T) {
				b := &bench{T: t, h: b.h}
				s := b.open()
				var last uint64
				for i := range 10 {
					holder := fmt.Sprint("h", i/2) // a lapsed lease belongs to nobody, not even its last holder
					token := b.lease(s, "poll", holder, time.Minute)
					if token <= last {
						b.Errorf("%s got token %d after %d", holder, token, last)
					}
					last = token
					time.Sleep(59 * time.Second)
					if _, err := s.Lease(b.Context(), "poll", "thief", time.Minute); err == nil {
						b.Error("the lease was taken before its end")
					}
					time.Sleep(time.Second)
				}
			})
		}},
		{"LeaseCanBeGivenUp", func(b *bench) {
			s := b.open()
			first := b.lease(s, "poll", "a", time.Hour)
			if _, err := s.Lease(b.Context(), "poll", "b", 0); err == nil {
				b.Error("somebody else gave it up")
			}
			b.lease(s, "poll", "a", 0)
			if second := b.lease(s, "poll", "b", time.Hour); second <= first {
				b.Errorf("token %d after %d", second, first)
			}
		}},
		{"LeaseGoesToOneOfMany", func(b *bench) {
			s := b.open()
			var won atomic.Int32
			b.at(60, func(i int) error {
				_, err := s.Lease(b.Context(), "poll", fmt.Sprint("h", i), time.Hour)
				if _, ok := errors.AsType[*approval.LeaseError](err); ok {
					return nil
				}
				won.Add(1)
				return err
			})
			if won.Load() != 1 {
				b.Errorf("%d hold the lease", won.Load())
			}
		}},
		{"SenselessLeaseIsRefused", func(b *bench) {
			s := b.open()
			for _, c := range []struct {
				name, holder string
				ttl          time.Duration
			}{{"", "a", 1}, {"poll", "", 1}, {"poll", "a", -1}} {
				_, err := s.Lease(b.Context(), c.name, c.holder, c.ttl)
				if _, ok := errors.AsType[*approval.RecordError](err); !ok {
					b.Errorf("%+v: got %v, want a RecordError", c, err)
				}
			}
		}},
	}
}

func (b *bench) lease(s Store, name, holder string, ttl time.Duration) uint64 {
	b.Helper()
	token, err := s.Lease(b.Context(), name, holder, ttl)
	if err != nil {
		b.Fatalf("lease %s for %s: %v", name, holder, err)
	}
	return token
}

func lifeCases() []promise {
	return []promise{
		{"ReopenKeepsEverything", func(b *bench) {
			s := b.open()
			b.fill(s, manyRecords)
			for i := 0; i < manyRecords; i += 3 {
				b.put(s, ask, approval.Record{ID: nth(i), Keys: []string{"key" + nth(i)}, Body: []byte("changed")})
			}
			b.put(s, ask, approval.Record{ID: nth(1), Drop: true})
			token := b.lease(s, "poll", "a", time.Hour)
			last := b.put(s, ask, approval.Record{ID: "last"})
			want := snapshot(b, s)

			s = b.reopen(s)
			if diff := cmp.Diff(want, snapshot(b, s)); diff != "" {
				b.Errorf("(-before +after):\n%s", diff)
			}
			b.missing(s, ask, nth(1))
			if again := b.lease(s, "poll", "a", time.Hour); again != token {
				b.Errorf("the lease has token %d, was %d", again, token)
			}
			if _, err := s.Lease(b.Context(), "poll", "b", time.Hour); err == nil {
				b.Error("somebody else took the lease")
			}
			if r := b.put(s, ask, approval.Record{ID: "after"}); r.Seq <= last.Seq {
				b.Errorf("seq %d after %d", r.Seq, last.Seq)
			}
		}},
		{"ReopenNeverReusesASequenceNumber", func(b *bench) {
			s := b.open()
			last := b.put(s, ask, approval.Record{ID: "a"}).Seq
			b.put(s, ask, approval.Record{ID: "a", Drop: true})
			token := b.lease(s, "poll", "a", 0)
			s = b.reopen(s)
			if r := b.put(s, ask, approval.Record{ID: "a"}); r.Seq <= last || r.Born != r.Seq {
				b.Errorf("seq %d, born %d after %d", r.Seq, r.Born, last)
			}
			if again := b.lease(s, "poll", "a", 0); again <= token {
				b.Errorf("token %d after %d", again, token)
			}
		}},
		{"EndedStoreRefuses", func(b *bench) {
			s := b.open()
			b.put(s, ask, approval.Record{ID: "a"})
			heard := make(chan error, 1)
			go func() { heard <- ending(s.Watch(b.Context(), ask, 0)) }()
			b.reopen(s)
			if err := <-heard; err == nil {
				b.Error("a watch ends without an error")
			}
			if _, err := put(b.Context(), s, ask, approval.Record{ID: "b"}); err == nil {
				b.Error("Update works")
			}
			if _, err := s.Get(b.Context(), ask, "a"); err == nil || errors.Is(err, approval.ErrNotFound) {
				b.Errorf("Get answers %v", err)
			}
			if err := ending(s.List(b.Context(), approval.Query{Kind: ask})); err == nil {
				b.Error("List works")
			}
		}},
		{"WorksInABubble", func(b *bench) {
			synctest.Test(b.T, func(t *testing.T) {
				b := &bench{T: t, h: b.h}
				s := b.open()
				heard := make(chan string)
				go func() {
					defer close(heard)
					for r, err := range s.Watch(t.Context(), ask, 0) {
						if err != nil {
							t.Error(err)
							return
						}
						heard <- r.ID
						if r.ID == "end" {
							return
						}
					}
				}()
				start := time.Now()
				b.at(20, func(i int) error {
					time.Sleep(time.Duration(i) * time.Hour)
					_, err := put(t.Context(), s, ask, approval.Record{ID: fmt.Sprint(i)})
					if id := <-heard; id != fmt.Sprint(i) {
						t.Errorf("heard of %s, wrote %d", id, i)
					}
					return err
				})
				if d := time.Since(start); d != 19*time.Hour {
					t.Errorf("took %v", d)
				}
				b.put(s, ask, approval.Record{ID: "end"})
				for range heard {
				}
			})
		}},
	}
}

// snapshot returns everything that a store shows of kind ask.
func snapshot(b *bench, s Store) []approval.Record {
	b.Helper()
	var all []approval.Record
	for r, err := range s.List(b.Context(), approval.Query{Kind: ask}) {
		if err != nil {
			b.Fatal(err)
		}
		all = append(all, r)
	}
	return all
}
