package dispatcher_test

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"runtime/metrics"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/dispatcher"
	"github.com/metnos/vaglio/store/bolt"
	"github.com/metnos/vaglio/vaglio"
)

// digestEvents is the number of judged calls in the benchmark's store.
const digestEvents = 100_000

// BenchmarkDigestWhileProposing measures how long the digest of a day takes in a store of
// 100,000 judged calls over two weeks, every fourth of which asked a person. Agents propose
// 200 calls per second, half of which the guard refuses. It also reports how long those
// proposals took while a digest was built (during) and in pauses of the same length
// (alone), and the peak of the live heap above its initial size.
func BenchmarkDigestWhileProposing(b *testing.B) {
	d, db := benchFile(b, &strict{})
	fillWeeks(b, d, db, digestEvents)
	day := time.Now().UTC().Format(time.DateOnly)
	agents := startProposing(b, d)
	var peak uint64
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		runtime.GC()
		before := gauge("/gc/heap/live:bytes")
		highest, stop := watchPeak()
		agents.phase("during")
		begun := time.Now()
		b.StartTimer()
		got, err := d.Digest(b.Context(), day)
		b.StopTimer()
		took := time.Since(begun)
		agents.phase("alone")
		stop()
		peak = max(peak, *highest-min(*highest, before))
		if err != nil || got.Counts.Judged == 0 || got.WeekAgo.Judged == 0 {
			b.Fatalf("%+v, %v", got.Counts, err)
		}
		time.Sleep(took)
		b.StartTimer()
	}
	for _, name := range []string{"alone", "during"} {
		of := agents.end(name)
		b.ReportMetric(float64(percentile(of, 50).Microseconds()), "µs-p50-"+name)
		b.ReportMetric(float64(percentile(of, 99).Microseconds()), "µs-p99-"+name)
	}
	b.ReportMetric(float64(peak)/(1<<20), "MB-peak")
}

// fillWeeks stores judged calls, spread evenly over the two weeks before now.
func fillWeeks(b *testing.B, d *dispatcher.Dispatcher, db *bolt.DB, n int) {
	b.Helper()
	end := time.Now().UTC()
	each := 14 * 24 * time.Hour / time.Duration(n)
	steps, asks := samplesOf(b, d, db)
	var wg sync.WaitGroup
	todo := make(chan int)
	for range 512 {
		wg.Go(func() {
			for i := range todo {
				at := end.Add(-each * time.Duration(n-i))
				id := fmt.Sprintf("bench-%06d", i)
				kind := []int{0, 1, 2, 0}[i%4]
				step := steps[kind]
				verdict := *step.Verdict
				verdict.TS = float64(at.UnixMicro()) / 1e6
				step.ID, step.At, step.Verdict = id, at, &verdict
				step.Proposal.TurnID, step.Proposal.Step = id, 1
				if kind == 2 {
					ask := asks
					ask.Cards = nil // it is no longer shown to anybody
					ask.ID, ask.OpenedAt, ask.ExpiresAt = approval.AskID(id), at, at.Add(time.Hour)
					a := ask.Approvals[0]
					a.ID, a.Verdict, a.Proposal = approval.ID(id+".1"), verdict, step.Proposal
					a.State, a.EndedAt = approval.Denied, at.Add(time.Minute)
					a.Decision = &approval.Decision{Choice: approval.ChoiceDeny, By: owner, At: a.EndedAt, Channel: "fake"}
					ask.Approvals = []approval.Approval{a}
					step.Approval = a.ID
					keep(b, db, approval.KindAsk, id, func() ([]byte, error) { return approval.EncodeAsk(ask) })
				}
				keep(b, db, approval.KindStep, id, func() ([]byte, error) { return approval.EncodeStep(step) })
			}
		})
	}
	for i := range n {
		todo <- i
	}
	close(todo)
	wg.Wait()
}

func keep(b *testing.B, db *bolt.DB, kind approval.Kind, id string, encode func() ([]byte, error)) {
	_, err := db.Update(b.Context(), kind, id, func(r approval.Record) (approval.Record, error) {
		body, err := encode()
		r.ID, r.Body = id, body
		return r, err
	})
	if err != nil {
		b.Error(err)
	}
}

// samplesOf returns the stored steps of a call that passed, of one that the guard refused
// and of one that was asked, and the stored ask.
func samplesOf(b *testing.B, d *dispatcher.Dispatcher, db *bolt.DB) (steps []approval.Step, ask approval.Ask) {
	b.Helper()
	for i, p := range []vaglio.Proposal{reading(), shell("rm -rf /"), shell("git push --force origin main")} {
		p.TurnID, p.Step = fmt.Sprint("sample-", i), 1
		if _, err := d.Propose(b.Context(), agent, dispatcher.Request{Proposal: p}); err != nil {
			b.Fatal(err)
		}
		for {
			log, err := d.Turn(b.Context(), approval.TurnQuery{Agent: agent, Turn: p.TurnID})
			kept := log.Steps
			if err == nil {
				steps = append(steps, kept...)
				break
			}
		}
	}
	for r, err := range db.List(b.Context(), approval.Query{Kind: approval.KindAsk}) {
		if err == nil {
			ask, err = approval.DecodeAsk(r.Body)
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	return steps, ask
}

func reading() vaglio.Proposal {
	return vaglio.Proposal{
		Executor: "fs_read", Args: vaglio.Args{"path": "/home/u/app/internal/server/handler.go"}, Intent: "find where the session is lost",
		Context: vaglio.Context{Cwd: "/home/u/app"},
	}
}

// proposers propose calls at a steady rate.
type proposers struct {
	stop func()

	mu   sync.Mutex
	name string
	took map[string][]time.Duration
}

func startProposing(b *testing.B, d *dispatcher.Dispatcher) *proposers {
	b.Helper()
	ctx, cancel := context.WithCancel(b.Context())
	var wg sync.WaitGroup
	ps := &proposers{name: "alone", took: map[string][]time.Duration{}, stop: func() { cancel(); wg.Wait() }}
	wg.Go(func() {
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for n := 0; ; n++ {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			wg.Go(func() {
				p := reading()
				if n%2 == 0 {
					p = shell("rm -rf /")
				}
				name := ps.phase("")
				begun := time.Now()
				if _, err := d.Propose(context.WithoutCancel(ctx), agent, dispatcher.Request{Proposal: p}); err != nil {
					b.Error(err)
				}
				ps.mu.Lock()
				defer ps.mu.Unlock()
				ps.took[name] = append(ps.took[name], time.Since(begun))
			})
		}
	})
	return ps
}

// phase names what runs at the same time from now on, and returns the name. An empty name
// keeps the current one.
func (ps *proposers) phase(name string) string {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	ps.name = cmp.Or(name, ps.name)
	return ps.name
}

// end stops all proposers and returns how long proposals took in a phase, in ascending
// order.
func (ps *proposers) end(name string) []time.Duration {
	ps.stop()
	slices.Sort(ps.took[name])
	return ps.took[name]
}

// percentile returns the value below which p percent of the values lie.
func percentile(sorted []time.Duration, p int) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[len(sorted)*p/100]
}

// watchPeak records the largest live heap until it is stopped.
func watchPeak() (peak *uint64, stop func()) {
	peak = new(uint64)
	quit, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for {
			*peak = max(*peak, gauge("/gc/heap/live:bytes"))
			select {
			case <-quit:
				return
			case <-tick.C:
			}
		}
	}()
	return peak, func() { close(quit); <-ended }
}

// gauge reads one of the runtime's metrics.
func gauge(name string) uint64 {
	s := []metrics.Sample{{Name: name}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}
