package read_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/approval/report"
	"github.com/metnos/vaglio/dispatcher/read"
	"github.com/metnos/vaglio/vaglio"
)

// pass stores a step that judges let through that long ago.
func (l *library) pass(n int, ago time.Duration) {
	at := time.Now().UTC().Add(-ago)
	s := approval.Step{At: at, Verdict: &vaglio.Verdict{Approved: true, TS: float64(at.UnixMilli()) / 1000}, Proposal: vaglio.Proposal{
		Agent: fmt.Sprint("agent ", n%3), TurnID: fmt.Sprint("turn ", n/4), Step: n, Executor: fmt.Sprint("tool_", n%7), Args: vaglio.Args{"n": n},
	}}
	s.Verdict.Results = []vaglio.GradientResult{{Judge: "effects", Score: float64(n%100) / 100}}
	e, _, err := read.EncodePassed(nil, &s)
	if err != nil {
		l.Error(err)
		return
	}
	if err := l.store.Append(l.Context(), &e); err != nil {
		l.Error(err)
		return
	}
	l.Journalled()
}

// recount fails the test unless statistics and digests equal those computed from all steps
// of the journal, read one by one.
func (l *library) recount() {
	l.Helper()
	ctx, now, masker := l.Context(), time.Now().UTC(), approval.NewMasker(approval.Secret{1})
	for _, days := range []int{1, 3, 40} {
		of := report.Range{From: now.AddDate(0, 0, 1-days).Format(time.DateOnly), To: now.Format(time.DateOnly)} // also across midnight
		w, err := of.Window(now, time.UTC)
		if err != nil {
			l.Fatal(err)
		}
		b := report.NewStatisticsBuilder(w, time.UTC, report.Night{}, masker)
		for s, err := range read.NewRecords(l.store, slog.New(slog.DiscardHandler)).Passed(ctx, approval.Span{}) {
			if err != nil {
				l.Fatal(err)
			}
			b.Step(&s.Is, s.Born)
		}
		want := b.Statistics()
		got, err := l.Statistics(ctx, of)
		if err != nil {
			l.Fatal(err)
		}
		got.Since = time.Time{}
		if diff := cmp.Diff(want, got); diff != "" {
			l.Fatalf("%d days (-recount +counters):\n%s", days, diff)
		}
	}
	w := l.OpenWindow()
	all := 0
	told, err := l.DigestOf(ctx, w, read.Telling{Each: func(report.Judgement) { all++ }})
	if err != nil {
		l.Fatal(err)
	}
	counted, err := l.DigestOf(ctx, w, read.Telling{})
	if diff := cmp.Diff(told, counted); err != nil || diff != "" || counted.Counts.Judged != all {
		l.Fatalf("%v, %d verdicts, digest (-recount +counters):\n%s", err, all, diff)
	}
}

// TestCountersFollowTheJournal checks the counters of a journal as it grows and as old
// steps are dropped from it.
func TestCountersFollowTheJournal(t *testing.T) {
	for seed := range uint64(5) {
		l := newLibrary(t)
		rng := rand.New(rand.NewPCG(seed, 3))
		n := 0
		for range 5 {
			for range rng.IntN(60) {
				n++
				l.pass(n, time.Duration(rng.Int64N(int64(35*24*time.Hour))))
			}
			l.recount()
			if rng.IntN(3) == 0 {
				if err := l.store.Forget(t.Context(), time.Now().Add(-time.Duration(rng.IntN(30))*24*time.Hour)); err != nil {
					t.Fatal(err)
				}
				l.recount()
			}
		}
	}
}

// TestAReadingThatEndsCountsNothingTwice cancels a reading after every new entry.
func TestAReadingThatEndsCountsNothingTwice(t *testing.T) {
	l := newLibrary(t)
	for n := range 10 {
		l.pass(n, time.Hour)
	}
	l.recount()
	for n := range 30 {
		l.pass(n, time.Hour)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := l.Statistics(ctx, report.Range{Days: 3}); !errors.Is(err, context.Canceled) {
			t.Fatalf("got %v", err)
		}
	}
	l.recount()
	broken := errors.New("the disk is gone")
	l.store.Break(broken)
	if _, err := l.Statistics(t.Context(), report.Range{Days: 3}); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}

// TestWhoLooksAndWhoWritesDoNotMeet counts in the background and on demand while entries
// come in.
func TestWhoLooksAndWhoWritesDoNotMeet(t *testing.T) {
	l := newLibrary(t)
	ctx, cancel := context.WithCancel(t.Context())
	var writers, readers sync.WaitGroup
	readers.Go(func() { _ = l.CountJournal(ctx) })
	for range 2 {
		readers.Go(func() {
			for ctx.Err() == nil {
				if _, err := l.Statistics(ctx, report.Range{Days: 2}); err != nil && ctx.Err() == nil {
					t.Error(err)
				}
				if _, err := l.DigestOf(ctx, l.OpenWindow(), read.Telling{}); err != nil && ctx.Err() == nil {
					t.Error(err)
				}
			}
		})
	}
	for w := range 4 {
		writers.Go(func() {
			for n := range 150 {
				l.pass(1000*w+n, time.Minute)
			}
		})
	}
	writers.Wait()
	cancel()
	readers.Wait()
	l.recount()
}
