package dispatcher_test

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/approval/history"
	"github.com/metnos/vaglio/store/bolt"
	"github.com/metnos/vaglio/vaglio"
)

// BenchmarkChange measures what the history adds to a change of an ask, apart from the
// disk: the leaf of a denial with words.
func BenchmarkChange(b *testing.B) {
	ask := benchAsk(b, 1)
	w := history.NewWriter(approval.NewMasker(approval.Secret{1}).Mask)
	before := history.Remember(&ask)
	if _, err := ask.Decide(approval.Tap{Ask: ask.ID, Choice: approval.ChoiceDeny, By: owner, Words: "use make tidy"}, ask.OpenedAt, time.Minute); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	size := 0
	for b.Loop() {
		leaves, err := w.Change(before, &ask, ask.OpenedAt, "seed")
		if err != nil {
			b.Fatal(err)
		}
		size = len(leaves[0])
	}
	b.ReportMetric(float64(size), "bytes/leaf")
}

func benchAsk(b *testing.B, n int) approval.Ask {
	b.Helper()
	at := time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)
	p := shell(fmt.Sprint("git push --force origin main # ", n))
	p.Agent, p.TurnID = "coder", fmt.Sprint("t-", n)
	denial, err := approval.JudgeDenial(vaglio.Verdict{Reason: "it rewrites history", JudgeKind: "effects", Score: 0.3, BlockedBy: vaglio.PhaseJudge})
	if err != nil {
		b.Fatal(err)
	}
	ask, err := approval.Open(approval.Opening{
		Agent: "coder", Intent: p.Intent, TurnID: p.TurnID, Channels: []string{"web"}, At: at, ExpiresAt: at.Add(time.Hour),
		Calls: []approval.Call{{Proposal: p, Denial: denial, Fingerprint: approval.Fingerprint(fmt.Sprint("f", n))}},
	})
	if err != nil {
		b.Fatal(err)
	}
	return ask
}

// BenchmarkVerify verifies a file with 100,000 leaves, from 25,000 asks that were allowed
// and run, against its records.
func BenchmarkVerify(b *testing.B) {
	const asks = 25_000
	db, err := bolt.Open(filepath.Join(b.TempDir(), "vaglio.db"), bolt.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	w := history.NewWriter(approval.NewMasker(approval.Secret{1}).Mask)
	keep := func(before history.Before, ask *approval.Ask) error {
		leaves, err := w.Change(before, ask, ask.OpenedAt, string(ask.ID))
		if err != nil {
			return err
		}
		body, err := approval.EncodeAsk(*ask)
		if err != nil {
			return err
		}
		_, err = db.Update(context.Background(), approval.KindAsk, string(ask.ID), func(r approval.Record) (approval.Record, error) {
			r.Body, r.Leaves = body, leaves
			return r, nil
		})
		return err
	}
	var wg sync.WaitGroup
	for c := range 256 {
		wg.Go(func() {
			for n := c; n < asks; n += 256 {
				ask := benchAsk(b, n)
				id, at := ask.Approvals[0].ID, ask.OpenedAt
				err := keep(history.Before{}, &ask)
				for _, step := range []func() error{
					func() error {
						_, err := ask.Decide(approval.Tap{Ask: ask.ID, Choice: approval.ChoiceAllow, By: owner}, at, time.Minute)
						return err
					},
					func() error { return ask.Redeem(id, ask.Approvals[0].Fingerprint, at) },
					func() error { return ask.Report(id, approval.Outcome{Succeeded: true, At: at}) },
				} {
					before := history.Remember(&ask)
					if err == nil {
						err = step()
					}
					if err == nil {
						err = keep(before, &ask)
					}
				}
				if err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	var before, after runtime.MemStats
	peak := uint64(0)
	for b.Loop() {
		b.StopTimer()
		runtime.GC()
		runtime.ReadMemStats(&before)
		stop, watched := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(watched)
			for {
				runtime.ReadMemStats(&after)
				peak = max(peak, after.HeapAlloc-min(after.HeapAlloc, before.HeapAlloc))
				select {
				case <-stop:
					return
				case <-time.After(5 * time.Millisecond):
				}
			}
		}()
		b.StartTimer()
		r, err := history.Verify(b.Context(), history.Case{Tree: db, Records: db})
		b.StopTimer()
		close(stop)
		<-watched
		if err != nil || !r.Whole() || r.Size != 4*asks || r.Approvals != asks {
			b.Fatalf("%v, %d leaves, %d findings", err, r.Size, len(r.Findings))
		}
		b.StartTimer()
	}
	b.ReportMetric(float64(peak)/(1<<20), "peak-MiB")
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/(4*asks), "ns/leaf")
}
