package dispatcher_test

import (
	"fmt"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/approval/report"
	"github.com/metnos/vaglio/dispatcher"
	"github.com/metnos/vaglio/dispatcher/read"
	"github.com/metnos/vaglio/store/bolt"
	"github.com/metnos/vaglio/vaglio"
)

// BenchmarkSearch measures how long a person looks for a few calls in a month of many, and how many
// pages that takes: those of one agent, of one executor, of one outcome, of one day.
func BenchmarkSearch(b *testing.B) {
	const steps = 100_000
	db, err := bolt.Open(filepath.Join(b.TempDir(), "vaglio.db"), bolt.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = db.Close() })
	const days = 28
	begin := time.Now().AddDate(0, 0, -days)
	var room []byte
	for n := range steps {
		at := begin.Add(time.Duration(n) * (days * 24 * time.Hour / time.Duration(steps)))
		p := vaglio.Proposal{
			Agent: fmt.Sprint("agent-", n%30), TurnID: fmt.Sprint("t-", n/8), Step: n % 8, Intent: "clean the old build and tell the team what was removed",
			Executor: fmt.Sprint("tool_", n%40), Args: vaglio.Args{"command": fmt.Sprint("ls -l ./build/", n), "reason": "to see what is there"},
		}
		if n > steps/4 && n <= steps/4+5 {
			p.Agent, p.Executor = "rare", "tool_rare"
		}
		s := approval.Step{At: at, Proposal: p, Verdict: &vaglio.Verdict{
			Approved: true, Reason: "score 0.80", TS: float64(at.UnixMilli()) / 1000, JudgeKind: "effects", Score: .8,
			Results: []vaglio.GradientResult{{Judge: "effects", Score: .8, Confidence: 1, Reasoning: "It only reads."}},
		}}
		e, more, err := read.EncodePassed(room[:0], &s)
		if err == nil {
			err = db.Append(b.Context(), &e)
		}
		if err != nil {
			b.Fatal(err)
		}
		room = more
	}
	d := dispatcher.New(dispatcher.Config{
		Store: db, Engine: newEngine(b, &strict{}, nil), Secret: approval.Secret{1}, Log: slog.New(slog.DiscardHandler),
	})
	if _, err := d.Statistics(b.Context(), report.Range{Days: days}); err != nil { // counts the journal, as a daemon does after its start
		b.Fatal(err)
	}
	day := begin.AddDate(0, 0, 7).Truncate(24 * time.Hour)
	for name, f := range map[string]approval.Filter{
		"agent": {Agent: "rare"}, "executor": {Executor: "tool_rare"}, "nobody": {Agent: "nobody"}, "outcome": {Outcome: "denied"},
		"day": {Since: day, Until: day.AddDate(0, 0, 1)},
	} {
		b.Run(name, func(b *testing.B) {
			pages, found := 0, 0
			for b.Loop() {
				pages, found = 0, 0
				for f.Before = 0; ; {
					page, err := d.History(b.Context(), f)
					if err != nil {
						b.Fatal(err)
					}
					pages, found = pages+1, found+len(page.Entries)
					if f.Before = page.Older; f.Before == 0 || name == "day" && found > 0 {
						break
					}
				}
			}
			b.ReportMetric(float64(pages), "pages")
			b.ReportMetric(float64(found), "found")
		})
	}
}
