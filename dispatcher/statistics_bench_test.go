package dispatcher_test

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/approval/report"
	"github.com/metnos/vaglio/dispatcher"
	"github.com/metnos/vaglio/store/bolt"
	"github.com/metnos/vaglio/vaglio"
)

// yearGate is a dispatcher over a file with steps over a year, one in ten of which was
// asked and answered.
func yearGate(b *testing.B, steps int) *dispatcher.Dispatcher {
	b.Helper()
	db, err := bolt.Open(filepath.Join(b.TempDir(), "vaglio.db"), bolt.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = db.Close() })
	const writers = 512
	begin := time.Now().AddDate(-1, 0, 2)
	var wg sync.WaitGroup
	next := make(chan int)
	for range writers {
		wg.Go(func() {
			for n := range next {
				at := begin.Add(time.Duration(n) * (360 * 24 * time.Hour / time.Duration(steps)))
				if err := lived(b.Context(), db, n, at); err != nil {
					b.Error(err)
				}
			}
		})
	}
	for n := range steps {
		next <- n
	}
	close(next)
	wg.Wait()
	return dispatcher.New(dispatcher.Config{
		Store: db, Engine: newEngine(b, &strict{}, nil), Secret: approval.Secret{1}, Log: slog.New(slog.DiscardHandler),
	})
}

// lived writes the nth step of a year, and its ask.
func lived(ctx context.Context, db *bolt.DB, n int, at time.Time) error {
	p := vaglio.Proposal{
		Agent: fmt.Sprint("agent-", n%30), TurnID: fmt.Sprint("t-", n/8), Step: n % 8, Intent: "clean the old build and tell the team what was removed",
		Executor: fmt.Sprint("tool_", n%40), Args: vaglio.Args{"command": fmt.Sprint("rm -rf ./build/", n), "reason": "the old one is in the way of the new one"},
		Context: vaglio.Context{Cwd: "/home/u/app", Capability: vaglio.Capabilities{"code:exec"}},
	}
	v := vaglio.Verdict{
		Approved: true, Reason: "score 0.80", TS: float64(at.UnixMilli()) / 1000, JudgeKind: "effects", Score: .8,
		Results: []vaglio.GradientResult{
			{Judge: "rule-based-v1", Score: .7, Confidence: 1, Reasoning: "nothing speaks against it"},
			{Judge: "effects", Score: float64(n%100) / 100, Confidence: 1, Reasoning: "It removes a folder.", Signals: []vaglio.Signal{
				{Category: "delete", Score: -.4, Message: "removes ./build with everything in it"},
			}},
		},
	}
	s := approval.Step{ID: fmt.Sprintf("%024d/%08d", n/8, n), At: at, Proposal: p, Verdict: &v}
	if n%10 == 0 {
		v.Approved, v.BlockedBy = false, vaglio.PhaseJudge
		denial, err := approval.JudgeDenial(v)
		if err != nil {
			return err
		}
		a, err := approval.Open(approval.Opening{
			Agent: p.Agent, Intent: p.Intent, TurnID: p.TurnID, At: at, ExpiresAt: at.Add(time.Hour), Channels: []string{"web"},
			Calls: []approval.Call{{Proposal: p, Denial: denial, Fingerprint: "f"}},
		})
		if err != nil {
			return err
		}
		s.Approval = a.Approvals[0].ID
		tap := approval.Tap{Ask: a.ID, Choice: approval.ChoiceAllow, By: owner, Channel: "web"}
		if _, err := a.Decide(tap, at.Add(time.Duration(n%900)*time.Second), 10*time.Minute); err != nil {
			return err
		}
		body, err := approval.EncodeAsk(a)
		if err != nil {
			return err
		}
		if err := put(ctx, db, approval.KindAsk, string(a.ID), body); err != nil {
			return err
		}
	}
	body, err := approval.EncodeStep(s)
	if err != nil {
		return err
	}
	return put(ctx, db, approval.KindStep, s.ID, body)
}

func put(ctx context.Context, db *bolt.DB, kind approval.Kind, id string, body []byte) error {
	_, err := db.Update(ctx, kind, id, func(r approval.Record) (approval.Record, error) {
		r.Body = body
		return r, nil
	})
	return err
}

// BenchmarkStatisticsOfAYear measures the time and memory of one page about a year of
// 100,000 steps, 10,000 of which were asked.
func BenchmarkStatisticsOfAYear(b *testing.B) {
	d := yearGate(b, 100_000)
	before := memory()
	for b.Loop() {
		s, err := d.Statistics(b.Context(), report.Range{Days: 365})
		if err != nil || s.Counts.Judged != 100_000 || s.Counts.Fates.Allowed != 10_000 {
			b.Fatalf("%+v, %v", s.Counts, err)
		}
		b.StopTimer()
		b.ReportMetric(float64(memory()-before)/(1<<20), "MB-kept")
		runtime.KeepAlive(s)
		b.StartTimer()
	}
}

// BenchmarkProposeWhileReading measures how long proposals take while some people look at
// the statistics of a year: the median, and the 90th and 99th percentiles.
func BenchmarkProposeWhileReading(b *testing.B) {
	d := yearGate(b, 100_000)
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() { _ = d.Run(ctx) })
	b.Cleanup(func() {
		cancel()
		wg.Wait()
	})
	n := 0
	for _, readers := range []int{0, 1, 2, 4} {
		b.Run(fmt.Sprint(readers), func(b *testing.B) {
			ctx, cancel := context.WithCancel(b.Context())
			var wg sync.WaitGroup
			for range readers {
				wg.Go(func() {
					for ctx.Err() == nil {
						_, _ = d.Statistics(ctx, report.Range{Days: 365})
					}
				})
			}
			var took []time.Duration
			for b.Loop() {
				n++
				start := time.Now()
				p := vaglio.Proposal{Agent: agent, TurnID: fmt.Sprint("now-", n), Executor: "fs_read", Args: vaglio.Args{"path": "/tmp/notes"}}
				if _, err := d.Propose(b.Context(), agent, dispatcher.Request{Proposal: p}); err != nil {
					b.Fatal(err)
				}
				took = append(took, time.Since(start))
			}
			cancel()
			wg.Wait()
			slices.Sort(took)
			for name, q := range map[string]int{"p50-ns": 50, "p90-ns": 90, "p99-ns": 99} {
				b.ReportMetric(float64(took[len(took)*q/100]), name)
			}
		})
	}
}
