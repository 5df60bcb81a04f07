package dispatcher_test

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/dispatcher"
	"github.com/metnos/vaglio/store/bolt"
)

// benchGate runs a dispatcher over a file, outside any bubble.
func benchGate(b *testing.B, judge *strict) *dispatcher.Dispatcher {
	b.Helper()
	d, _ := benchFile(b, judge)
	return d
}

// benchFile is like benchGate, but also returns the file.
func benchFile(b *testing.B, judge *strict) (*dispatcher.Dispatcher, *bolt.DB) {
	b.Helper()
	db, err := bolt.Open(filepath.Join(b.TempDir(), "vaglio.db"), bolt.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = db.Close() })
	g := running(b, dispatcher.Config{
		Store: db, Channels: []dispatcher.Channel{newFakeChannel()}, Engine: newEngine(b, judge, nil),
		Deadlines: dispatcher.Deadlines{AskFor: 24 * time.Hour},
		Log:       slog.New(slog.DiscardHandler),
	})
	return g.Dispatcher, db
}

// BenchmarkDecideToWaiterAwake measures the time from a person's press until the waiting
// turn has its answer: one fsync, and the way back.
func BenchmarkDecideToWaiterAwake(b *testing.B) {
	d := benchGate(b, &strict{})
	n := 0
	for b.Loop() {
		b.StopTimer()
		n++
		a, err := d.Propose(b.Context(), agent, dispatcher.Request{Proposal: shell(fmt.Sprint("make ", n))})
		if err != nil {
			b.Fatal(err)
		}
		ready, awake := make(chan struct{}), make(chan approval.Answer)
		go func() {
			close(ready)
			got, _ := d.Await(b.Context(), agent, a.Approval.ID, time.Minute)
			awake <- *got
		}()
		<-ready
		b.StartTimer()
		if _, err := d.Decide(b.Context(), approval.Tap{
			Ask: a.Approval.ID.Ask(), Choice: approval.ChoiceAllow, By: owner, Channel: "fake",
		}); err != nil {
			b.Fatal(err)
		}
		if got := <-awake; got.Decision != approval.RulingAllow {
			b.Fatalf("got %s", got.Decision)
		}
	}
}

// BenchmarkParkedWaiter measures the memory of one turn that waits in process, on a goroutine
// of its own or without one.
func BenchmarkParkedWaiter(b *testing.B) {
	const waiters = 10_000
	for b.Loop() {
		d := benchGate(b, &strict{})
		ids := make([]approval.ID, waiters)
		// No single agent may have so many asks.
		of := func(i int) string { return fmt.Sprint(agent, i/dispatcher.MaxOpen) }
		var wg sync.WaitGroup
		for i := range ids {
			wg.Go(func() {
				a, err := d.Propose(b.Context(), of(i), dispatcher.Request{Proposal: shell(fmt.Sprint("make ", i))})
				if err != nil {
					b.Error(err)
					return
				}
				ids[i] = a.Approval.ID
			})
		}
		wg.Wait()
		before := memory()
		ctx, cancel := context.WithCancel(b.Context())
		for i, id := range ids {
			who := of(i)
			wg.Go(func() { _, _ = d.Await(ctx, who, id, time.Hour) })
		}
		for runtime.NumGoroutine() < waiters {
			runtime.Gosched()
		}
		b.ReportMetric(float64(memory()-before)/waiters, "B/waiter")
		cancel()
		wg.Wait()
		before = memory()
		all := make([]func(), waiters)
		for i, id := range ids {
			var err error
			if _, all[i], err = d.AwaitChange(b.Context(), of(i), id, func() {}); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(memory()-before)/waiters, "B/watcher")
		for _, leave := range all {
			leave()
		}
	}
}

// memory returns the heap and stack memory in use after garbage collection. A collection
// halves a stack that is larger than it needs to be, so it takes several until a parked
// goroutine has given back what reading the store took.
func memory() uint64 {
	for range 4 {
		runtime.GC()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapInuse + m.StackInuse
}

// BenchmarkSweep measures how long the daily sweep takes to drop 20,000 steps of calls that
// were not let through. Steps that passed go with the segments of their journal.
func BenchmarkSweep(b *testing.B) {
	const steps = 20_000
	d, db := benchFile(b, &strict{})
	samples, _ := samplesOf(b, d, db)
	old := samples[1]
	for b.Loop() {
		b.StopTimer()
		var wg sync.WaitGroup
		for i := range steps {
			wg.Go(func() {
				step := old
				step.ID, step.At = fmt.Sprintf("old-%05d", i), time.Now()
				keep(b, db, approval.KindStep, step.ID, func() ([]byte, error) { return approval.EncodeStep(step) })
			})
		}
		wg.Wait()
		b.StartTimer()
		if err := d.DropSteps(b.Context(), time.Now()); err != nil {
			b.Fatal(err)
		}
	}
}
