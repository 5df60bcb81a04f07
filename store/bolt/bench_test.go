package bolt_test

import (
	"fmt"
	"os"
	"sync"
	"testing"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/store/bolt"
)

// body is about as long as a stored ask.
var body = make([]byte, 2048)

// BenchmarkUpdate measures one decision: a record is read, changed and written to disk. The
// time is that of one Update with the given number of concurrent callers.
func BenchmarkUpdate(b *testing.B) {
	for _, callers := range []int{1, 64, 256} {
		b.Run(fmt.Sprint("callers=", callers), func(b *testing.B) {
			db := open(b, newFile(b))
			work := make(chan int)
			var wg sync.WaitGroup
			for c := range callers {
				id := fmt.Sprint("a", c)
				wg.Go(func() {
					for i := range work {
						_, err := db.Update(b.Context(), approval.KindAsk, id, func(r approval.Record) (approval.Record, error) {
							r.Open, r.Keys, r.Body = i%2 == 0, []string{id + "k1", id + "k2"}, body
							return r, nil
						})
						if err != nil {
							b.Error(err)
						}
					}
				})
			}
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				i++
				work <- i
			}
			close(work)
			wg.Wait()
		})
	}
}

func BenchmarkGet(b *testing.B) {
	db := open(b, newFile(b))
	fill(b, db, 1000)
	for name, key := range map[string]string{"id": "n00500", "key": "k00500"} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := db.Get(b.Context(), approval.KindAsk, key); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkListOpen lists all open asks, as a start does.
func BenchmarkListOpen(b *testing.B) {
	db := open(b, newFile(b))
	fill(b, db, 10_000)
	b.ReportAllocs()
	for b.Loop() {
		n := 0
		for _, err := range db.List(b.Context(), approval.Query{Kind: approval.KindAsk, Open: true}) {
			if err != nil {
				b.Fatal(err)
			}
			n++
		}
		if n != 10_000 {
			b.Fatal(n)
		}
	}
}

// BenchmarkOpen measures a start with 50,000 records of 2 KB, after an orderly close and
// after a crash.
func BenchmarkOpen(b *testing.B) {
	path := newFile(b)
	db := open(b, path)
	fill(b, db, 50_000)
	if err := db.Close(); err != nil {
		b.Fatal(err)
	}
	for _, how := range []string{"clean", "crash"} {
		b.Run(how, func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				if how == "crash" {
					if err := os.Remove(bolt.CleanMark(path)); err != nil {
						b.Fatal(err)
					}
				}
				b.StartTimer()
				db, err := bolt.Open(path, bolt.Options{})
				if err != nil {
					b.Fatal(err)
				}
				b.StopTimer()
				if err := db.Close(); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
			}
		})
	}
}
