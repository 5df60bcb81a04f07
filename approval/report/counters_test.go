package report_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/approval/report"
	"github.com/metnos/vaglio/vaglio"
)

// passedAt returns the nth step that judges let through, at an instant.
func passedAt(rng *rand.Rand, n int, at time.Time, names int) approval.Step {
	s := approval.Step{At: at, Route: []string{"", "team"}[rng.IntN(2)], Verdict: &vaglio.Verdict{Approved: true, TS: digestSeconds(at)}}
	s.Proposal = vaglio.Proposal{Agent: fmt.Sprint("agent ", rng.IntN(3)), TurnID: fmt.Sprint("t", n/5), Executor: fmt.Sprint("tool_", rng.IntN(names))}
	if rng.IntN(8) == 0 {
		s.Proposal.TurnID = ""
	}
	for i := range rng.IntN(4) {
		s.Verdict.Results = append(s.Verdict.Results, vaglio.GradientResult{Judge: fmt.Sprint("judge-", i), Score: rng.Float64()})
	}
	return s
}

// stretches splits steps into runs, and counts each run.
func stretches(rng *rand.Rand, steps []approval.Step) (runs [][]int, counters []*report.Counters) {
	for i := 0; i < len(steps); {
		c, run := report.NewCounters(), []int{}
		for range 1 + rng.IntN(30) {
			if i < len(steps) {
				c.Add(&steps[i], uint64(i+1))
				run = append(run, i)
				i++
			}
		}
		runs, counters = append(runs, run), append(counters, c)
	}
	return runs, counters
}

// TestCountersCountWhatARecountDoes builds digests of varied histories once step by step
// and once from counters, over windows that end anywhere.
func TestCountersCountWhatARecountDoes(t *testing.T) {
	rome, err := time.LoadLocation("Europe/Rome")
	if err != nil {
		t.Fatal(err)
	}
	known, unknown := 0, 0
	for seed := range uint64(150) {
		rng := rand.New(rand.NewPCG(seed, 19))
		spread := []time.Duration{time.Second, time.Minute, 20 * time.Minute}[rng.IntN(3)]
		at, steps := digestStart, []approval.Step{}
		for n := range 300 {
			at = at.Add(time.Duration(rng.Int64N(int64(2 * spread))))
			late := at
			if rng.IntN(20) == 0 { // the clock was set
				late = at.Add(-time.Duration(rng.Int64N(int64(10 * spread))))
			}
			steps = append(steps, passedAt(rng, n, late.Truncate(time.Millisecond), 30))
		}
		runs, counters := stretches(rng, steps)
		total := at.Sub(digestStart)
		cut := func() time.Time {
			return digestStart.Add(time.Duration(rng.Int64N(int64(total)+1)) - total/4).Truncate([]time.Duration{time.Minute, time.Millisecond}[rng.IntN(2)])
		}
		w := report.Window{From: cut(), To: cut()}
		if w.To.Before(w.From) {
			w.From, w.To = w.To, w.From
		}
		w.To = w.To.Add(total / 2)
		masker := approval.NewMasker(approval.Secret{1})

		a, b := report.NewStatisticsBuilder(w, rome, report.DefaultNight(), masker), report.NewStatisticsBuilder(w, rome, report.DefaultNight(), masker)
		before := []report.Window{{From: w.From.Add(-total / 4), To: w.From}}[:rng.IntN(2)]
		c, d := report.NewDigestBuilder(w, masker, before...), report.NewDigestBuilder(w, masker, before...)
		if rng.IntN(2) == 0 {
			c.Of("team")
			d.Of("team")
		}
		for i := range steps {
			a.Step(&steps[i], uint64(i+1))
			c.Step(&steps[i])
		}
		for i, run := range runs {
			if b.Knows(counters[i]) {
				b.Counted(counters[i])
				known++
			} else {
				unknown++
				for _, n := range run {
					b.Step(&steps[n], uint64(n+1))
				}
			}
			if d.Knows(counters[i]) {
				d.Counted(counters[i])
				continue
			}
			for _, n := range run {
				d.Step(&steps[n])
			}
		}
		if diff := cmp.Diff(a.Statistics(), b.Statistics()); diff != "" {
			t.Fatalf("seed %d, %v: statistics (-recount +counters):\n%s", seed, w, diff)
		}
		if diff := cmp.Diff(c.Digest(nil), d.Digest(nil)); diff != "" {
			t.Fatalf("seed %d, %v: digest (-recount +counters):\n%s", seed, w, diff)
		}
	}
	if known == 0 || unknown == 0 {
		t.Errorf("counters told enough %d times, and not %d times", known, unknown)
	}
}

// TestCountersDoNotTellVerdicts checks that a digest that passes on every verdict needs
// every step.
func TestCountersDoNotTellVerdicts(t *testing.T) {
	b := report.NewDigestBuilder(report.Window{From: digestAt(0), To: digestAt(24)}, approval.NewMasker(approval.Secret{1}))
	b.Tell(func(report.Judgement) {})
	if b.Knows(report.NewCounters()) {
		t.Error("counters stand for verdicts")
	}
}

// TestCountersAreBounded checks that however many names there are, only so many are told
// apart and the totals stay right.
func TestCountersAreBounded(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	w := report.Window{From: digestAt(0), To: digestAt(24)}
	b := report.NewStatisticsBuilder(w, time.UTC, report.DefaultNight(), approval.NewMasker(approval.Secret{1}))
	const each, all = 2500, 4
	for n := range all {
		c := report.NewCounters()
		for i := range each {
			s := passedAt(rng, i*5, digestAt(1).Add(time.Duration(i)*time.Millisecond), 1)
			s.Proposal.Agent, s.Proposal.Executor, s.Proposal.TurnID = fmt.Sprint(n, " ", i), fmt.Sprint("x", n, i), fmt.Sprint("turn ", i)
			s.Verdict.Results = []vaglio.GradientResult{{Judge: fmt.Sprint("judge ", i), Score: 1}}
			c.Add(&s, uint64(i+1))
		}
		if !b.Knows(c) {
			t.Fatal("counters within the window are refused")
		}
		b.Counted(c)
	}
	s := b.Statistics()
	graded := 0
	for _, j := range s.Judges {
		graded += j.Graded
	}
	if s.Counts.Approved != all*each || graded != all*each || s.Turns.Turns != all*each || len(s.Judges) > 13 {
		t.Errorf("%d approved, %d graded by %d judges, %d turns", s.Counts.Approved, graded, len(s.Judges), s.Turns.Turns)
	}
	if i := slices.IndexFunc(s.Agents, func(u report.Usage) bool { return u.Name == "" && u.Judged == all*each }); i < 0 {
		t.Errorf("the agents are %+v", s.Agents)
	}
}

// TestCountersKnowWhoDidNothing counts steps of more names than are kept apart, with and without a
// name: of whoever did something, they never say that it did nothing.
func TestCountersKnowWhoDidNothing(t *testing.T) {
	at := time.Date(2026, time.November, 20, 9, 0, 0, 0, time.UTC)
	for _, names := range []int{0, 1, 900, 1500} {
		for _, nameless := range []bool{false, true} {
			c := report.NewCounters()
			add := func(agent, executor string) {
				s := approval.Step{At: at, Verdict: &vaglio.Verdict{Approved: true}, Proposal: vaglio.Proposal{Agent: agent, Executor: executor}}
				c.Add(&s, 1)
			}
			for n := range names {
				add(fmt.Sprint("agent ", n), fmt.Sprint("tool_", n))
			}
			if nameless {
				add("", "")
			}
			for n := range names {
				if c.Lack(fmt.Sprint("agent ", n), "") || c.Lack("", fmt.Sprint("tool_", n)) {
					t.Fatalf("of %d names, that of number %d is said to have done nothing", names, n)
				}
			}
			known := names < 1000 && !nameless
			if c.Lack("", "") || c.Lack("nobody", "") != known || c.Lack("agent 0", "nothing") != known || c.Lack(strings.Repeat("x", 5000), "") != known {
				t.Errorf("of %d names, nameless %t: what is not among them is told wrongly", names, nameless)
			}
		}
	}
}
