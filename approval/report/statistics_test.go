package report_test

import (
	"fmt"
	"math"
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

// record is an ask or a step.
type record struct {
	ask  *approval.Ask
	step *approval.Step
}

// history is a list of records in the order in which they were first written.
type history []record

func (h *history) ask(a approval.Ask)   { *h = append(*h, record{ask: &a}) }
func (h *history) step(s approval.Step) { *h = append(*h, record{step: &s}) }

func (h history) digest(w report.Window) report.Digest {
	b := report.NewDigestBuilder(w, approval.NewMasker(approval.Secret{1}))
	for _, r := range h {
		if r.ask != nil {
			b.Ask(r.ask)
		}
	}
	for _, r := range h {
		if r.step != nil {
			b.Step(r.step)
		}
	}
	return b.Digest(nil)
}

func (h history) statistics(w report.Window, zone *time.Location) report.Statistics {
	b := report.NewStatisticsBuilder(w, zone, report.DefaultNight(), approval.NewMasker(approval.Secret{1}))
	for i, r := range slices.Backward(h) {
		if r.ask != nil {
			b.Ask(r.ask)
		} else {
			b.Step(r.step, uint64(i+1))
		}
	}
	return b.Statistics()
}

// lived returns a random history of 40 asks over 70 hours. Some of their steps are lost,
// some calls are repeated, and some steps are written before a repeat that happened
// earlier.
func lived(t *testing.T, rng *rand.Rand) history {
	t.Helper()
	var h history
	for n := range 40 {
		a, s := asked(n, rng.Float64()*70)
		a.TurnID = fmt.Sprint("t", rng.IntN(12))
		s.Proposal.TurnID = a.TurnID
		s.Proposal.Executor = []string{"shell_exec", "mail_send", "fs_write"}[rng.IntN(3)]
		a.Approvals[0].Proposal = s.Proposal
		switch after := time.Duration(rng.IntN(59*60)) * time.Second; rng.IntN(6) {
		case 0, 1:
			decided(t, &a, approval.ChoiceAllow, after/time.Duration(1+rng.IntN(900)), "web:ann")
		case 2:
			decided(t, &a, approval.ChoiceDeny, after, "web:bob")
		case 3:
			a.Lapse(a.ExpiresAt)
		case 4:
			if err := a.Withdraw(a.Approvals[0].ID, a.OpenedAt.Add(after)); err != nil {
				t.Fatal(err)
			}
		}
		if rng.IntN(10) > 0 {
			h.ask(a)
		}
		var steps []approval.Step
		if rng.IntN(4) > 0 {
			steps = append(steps, s)
		}
		for range rng.IntN(4) * rng.IntN(9) {
			again := s
			v := *s.Verdict
			v.TS += float64(rng.IntN(3)) * rng.Float64() * 4000
			again.Verdict, again.At = &v, approval.Instant(v.TS)
			steps = append(steps, again)
		}
		if len(steps) > 1 && rng.IntN(5) == 0 {
			steps[0], steps[1] = steps[1], steps[0]
		}
		for _, s := range steps {
			h.step(s)
		}
		if rng.IntN(3) == 0 {
			s.Approval = ""
			h.step(s)
		}
		h.step(ruled([]string{"path.auth", "tree.root"}[rng.IntN(2)], rng.Float64()*70))
		at := digestAt(rng.Float64() * 70)
		h.step(approval.Step{At: at, Proposal: s.Proposal, Verdict: &vaglio.Verdict{Approved: true, TS: digestSeconds(at)}})
		h.step(approval.Step{At: digestAt(rng.Float64() * 70), Proposal: s.Proposal, Error: "no such executor"})
	}
	return h
}

// TestStatisticsAreTheDigests checks, for random histories, that statistics and the digest
// of a window have the same counts, and that every chart's numbers add up to them.
func TestStatisticsAreTheDigests(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 150 {
		h := lived(t, rng)
		from := rng.Float64() * 40
		w := report.Window{From: digestAt(from), To: digestAt(from + 1 + rng.Float64()*80)}
		s, d := h.statistics(w, time.UTC), h.digest(w)
		if diff := cmp.Diff(d.Counts, s.Counts); diff != "" {
			t.Fatalf("digest and statistics of %v differ:\n%s", w, diff)
		}
		hasty, answers := 0, 0
		for _, p := range d.People {
			hasty, answers = hasty+p.Hasty, answers+p.Allows+p.Denies
		}
		if s.Delays.Hasty != hasty || s.Delays.Answers != answers {
			t.Fatalf("%d answers, %d hasty; the digest tells %d and %d", s.Delays.Answers, s.Delays.Hasty, answers, hasty)
		}
		addsUp(t, &s)
	}
}

// addsUp checks that the parts of statistics add up to the whole.
func addsUp(t *testing.T, s *report.Statistics) {
	t.Helper()
	var whole report.Counts
	at := s.Window.From
	for i := range s.Spans {
		p := &s.Spans[i]
		if p.From != at || !p.From.Before(p.To) {
			t.Fatalf("span %v begins at another time than %v", p.Window, at)
		}
		at = p.To
		whole.Approved, whole.Guard, whole.Errors = whole.Approved+p.Approved, whole.Guard+p.Guard, whole.Errors+p.Errors
		whole.Judged += p.Judged()
		whole.Fates = sum(whole.Fates, p.Fates)
	}
	whole.Vetoed, whole.Carried, whole.Settled = whole.Fates.Sum(), s.Counts.Carried, s.Counts.Settled
	if at != s.Window.To {
		t.Fatalf("the spans end at %v", at)
	}
	if diff := cmp.Diff(s.Counts, whole); diff != "" {
		t.Fatalf("the spans do not add up:\n%s", diff)
	}
	c := &s.Counts
	for name, list := range map[string][]report.Usage{"executors": s.Executors, "agents": s.Agents} {
		got := total(list)
		want := report.Usage{Judged: c.Judged, Guard: c.Guard, Fates: c.Fates}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("the %s do not add up:\n%s", name, diff)
		}
	}
	if got := total(s.Effects); got.Fates != c.Fates || got.Vetoed() != c.Vetoed {
		t.Fatalf("the effects do not add up: %+v", got)
	}
	if got := total(s.Rules); got.Guard != c.Guard {
		t.Fatalf("the rules do not add up: %+v", got)
	}
	within, with := 0, 0
	for _, d := range s.Delays.Within {
		within += d.Count
	}
	for _, d := range s.Turns.With {
		with += d.Count
	}
	if within != s.Delays.Answers || with != s.Turns.Turns {
		t.Fatalf("delays %+v, turns %+v", s.Delays, s.Turns)
	}
}

func total(list []report.Usage) report.Usage {
	var u report.Usage
	for _, l := range list {
		u.Judged, u.Guard, u.Fates = u.Judged+l.Judged, u.Guard+l.Guard, sum(u.Fates, l.Fates)
	}
	return u
}

func sum(a, b report.Fates) report.Fates {
	a.Allowed, a.Denied, a.Expired = a.Allowed+b.Allowed, a.Denied+b.Denied, a.Expired+b.Expired
	a.Withdrawn, a.Superseded, a.Waiting = a.Withdrawn+b.Withdrawn, a.Superseded+b.Superseded, a.Waiting+b.Waiting
	a.Repeated, a.Unasked = a.Repeated+b.Repeated, a.Unasked+b.Unasked
	x, y := &a.Runs, b.Runs
	x.Succeeded, x.Failed, x.Unknown = x.Succeeded+y.Succeeded, x.Failed+y.Failed, x.Unknown+y.Unknown
	x.Running, x.Unused, x.Lapsed = x.Running+y.Running, x.Unused+y.Unused, x.Lapsed+y.Lapsed
	return a
}

// TestStatisticsAreBounded checks that however many names, turns, repeats and judges there
// are, what is kept is bounded and what is shown adds up.
func TestStatisticsAreBounded(t *testing.T) {
	var h history
	a, s := asked(1, 1)
	h.ask(a)
	mark := func(hour float64) { // an error in the turn "spread"
		h.step(approval.Step{At: digestAt(hour), Error: "no", Proposal: vaglio.Proposal{Agent: "bot", TurnID: "spread"}})
	}
	often := func(hour float64) { // a name that is known before there are too many, and comes again
		h.step(ruled("often", hour))
	}
	often(1.5)
	for n := range 30_000 {
		if n == 15_000 { // within as many turns as are followed, on either side of a card
			mark(2)
			for i := range 2 {
				card, _ := asked(2+i, 2)
				card.TurnID = "spread"
				h.ask(card)
			}
		}
		if n == 9_000 {
			mark(2)
		}
		again := s
		v := *s.Verdict
		v.TS += float64(n) / 10
		again.Verdict, again.At = &v, approval.Instant(v.TS)
		h.step(again)
		p := vaglio.Proposal{
			Agent: fmt.Sprint("agent", n), Executor: strings.Repeat("x", n%7*50) + fmt.Sprint(n), TurnID: fmt.Sprint(n),
		}
		at := digestAt(2 + float64(n)/30_000)
		verdict := vaglio.Verdict{BlockedBy: vaglio.PhaseGuard, TS: digestSeconds(at), Rule: &vaglio.GuardRule{ID: fmt.Sprint(n)}, Results: []vaglio.GradientResult{
			{Judge: fmt.Sprint("judge", n), Score: float64(n) / 30_000},
		}}
		h.step(approval.Step{At: at, Proposal: p, Verdict: &verdict})
	}
	often(23)
	got := h.statistics(report.Window{From: digestAt(0), To: digestAt(24)}, time.UTC)
	addsUp(t, &got)
	if r := got.Rules[0]; r.Name != "often" || r.Guard != 2 {
		t.Errorf("%+v denied most", r)
	}
	if got.Counts.Fates.Repeated != 29_999 || got.Counts.Guard != 30_002 || got.Turns.Turns != 30_000+2 || got.Turns.Most != 2 {
		t.Errorf("%+v %+v", got.Counts, got.Turns)
	}
	graded := 0
	for i := range got.Judges {
		graded += got.Judges[i].Graded
	}
	if len(got.Executors) != 13 || len(got.Rules) != 13 || len(got.Judges) != 13 || got.Judges[12].Judge != "" || graded != 60_000 {
		t.Errorf("%d executors, %d rules, %d judges with %d grades", len(got.Executors), len(got.Rules), len(got.Judges), graded)
	}
	for _, u := range got.Executors {
		if len(u.Name) > 100 || u.Whole != (u.Name != "" && !strings.Contains(u.Name, "[cut")) {
			t.Errorf("name %q, whole %v", u.Name, u.Whole)
		}
	}
}

func TestStatisticsTellHowPeopleAnswer(t *testing.T) {
	var h history
	for n, after := range []time.Duration{time.Second, 1900 * time.Millisecond, 2 * time.Second, 20 * time.Second, 50 * time.Minute} {
		a, s := asked(n, float64(n))
		a.TurnID = []string{"busy", "busy", "busy", "calm", ""}[n]
		s.Proposal.TurnID = a.TurnID
		s.Proposal.Executor = "ghp_" + strings.Repeat("a1B2", 9)
		s.Verdict.Results[0].Score = .7999999999999999
		a.Approvals[0].Proposal, a.Approvals[0].Verdict = s.Proposal, *s.Verdict
		decided(t, &a, approval.ChoiceAllow, after, "web:ann")
		h.ask(a)
		h.step(s)
	}
	quiet := ruled("path.auth", 14.5) // half past ten at night
	quiet.Proposal.TurnID = "quiet"
	quiet.Verdict.Results = []vaglio.GradientResult{{Judge: "effects", Score: .8}, {Judge: "effects", Score: 1}, {Judge: "effects"}}
	h.step(quiet)
	late, _ := asked(9, 15)
	h.ask(late)
	got := h.statistics(report.Window{From: digestAt(0), To: digestAt(24)}, time.UTC)
	if d := got.Delays; d.Answers != 5 || d.Hasty != 2 || d.AtNight != 0 {
		t.Errorf("delays %+v", d)
	}
	within := []report.Delay{
		{2 * time.Second, 2},
		{10 * time.Second, 1},
		{30 * time.Second, 1},
		{time.Minute, 0},
		{5 * time.Minute, 0},
		{15 * time.Minute, 0},
		{30 * time.Minute, 0},
		{time.Hour, 1},
		{6 * time.Hour, 0},
		{0, 0},
	}
	if diff := cmp.Diff(within, got.Delays.Within); diff != "" {
		t.Error(diff)
	}
	for want, got := range map[time.Duration]time.Duration{2 * time.Second: got.Delays.Median, 50 * time.Minute: got.Delays.P90} {
		if off := float64(got-want) / float64(want); off > report.DelayError || off < -report.DelayError {
			t.Errorf("got %v for %v", got, want)
		}
	}
	want := report.Turns{Turns: 3, Cards: 6, AtNight: 1, Loose: 2, Most: 3, With: []report.TurnsWith{
		{0, 1}, {1, 1}, {2, 0}, {3, 1}, {4, 0}, {6, 0}, {11, 0},
	}}
	if diff := cmp.Diff(want, got.Turns); diff != "" {
		t.Error(diff)
	}
	j := got.Judges[0]
	if len(got.Judges) != 1 || j.Graded != 8 || j.Refused != 5 || j.Bins[79] != 5 || j.Bins[80] != 1 || j.Bins[99] != 1 || j.Below(.8) != 6 {
		t.Errorf("judges %+v", got.Judges)
	}
	if u := got.Executors[0]; strings.Contains(u.Name, "ghp_a1B2") || u.Whole || u.Fates.Allowed != 5 {
		t.Errorf("executor %+v", u)
	}
}

func TestStatisticsHint(t *testing.T) {
	kinds := func(s report.Statistics) string {
		var all []string
		for _, h := range s.Hints() {
			all = append(all, fmt.Sprint(h.Kind, " ", h.Share, " of ", h.N, h.Name))
		}
		return strings.Join(all, ", ")
	}
	for want, s := range map[string]report.Statistics{
		"":                  {},
		"strict 95 of 20":   {Counts: report.Counts{Fates: report.Fates{Allowed: 19, Denied: 1}}},
		"lax 0 of 200":      {Counts: report.Counts{Judged: 200, Approved: 200}},
		"spare 100 of 10sh": {Executors: []report.Usage{{Name: "sh", Fates: report.Fates{Allowed: 10}}, {Name: "rm", Fates: report.Fates{Allowed: 30, Denied: 1}}, {Fates: report.Fates{Allowed: 40}}}},
		"hasty 10 of 20":    {Delays: report.Delays{Answers: 20, Hasty: 2}, Counts: report.Counts{Fates: report.Fates{Allowed: 189, Denied: 11}}}, // 94.5 percent
		"spare 100 of 10a, spare 100 of 10b, spare 100 of 10c": {Executors: []report.Usage{
			{Name: "a", Fates: report.Fates{Allowed: 10}},
			{Name: "few", Fates: report.Fates{Allowed: 9}},
			{Name: "b", Fates: report.Fates{Allowed: 10}},
			{Name: "c", Fates: report.Fates{Allowed: 10}},
			{Name: "d", Fates: report.Fates{Allowed: 10}},
		}},
		"night 20 of 50":      {Turns: report.Turns{Cards: 50, AtNight: 10}},
		"unanswered 20 of 20": {Counts: report.Counts{Fates: report.Fates{Allowed: 8, Denied: 8, Expired: 4}}},
	} {
		if got := kinds(s); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestAnAnswerAtOnce checks the least time that is told.
func TestAnAnswerAtOnce(t *testing.T) {
	t.Parallel()
	a, _ := asked(1, 1)
	decided(t, &a, approval.ChoiceDeny, 10*time.Millisecond, "web:ann")
	var h history
	w := report.Window{From: digestAt(0), To: digestAt(24)}
	none := h.statistics(w, time.UTC).Delays
	h.ask(a)
	if d := h.statistics(w, time.UTC).Delays; d.Median != 100*time.Millisecond || d.P90 != d.Median || none.Median != 0 {
		t.Errorf("answered within %v and %v; without an answer within %v", d.Median, d.P90, none.Median)
	}
}

// TestGradesFallIntoTheirHundredth checks every hundredth, and the next double below it.
func TestGradesFallIntoTheirHundredth(t *testing.T) {
	t.Parallel()
	bin := func(score float64) (at int) {
		s := ruled("path.auth", 1)
		s.Verdict.Results = []vaglio.GradientResult{{Judge: "effects", Score: score}}
		h := history{}
		h.step(s)
		of := h.statistics(report.Window{From: digestAt(0), To: digestAt(24)}, time.UTC)
		return slices.Index(of.Judges[0].Bins[:], 1)
	}
	for i := range 101 {
		score := float64(i) / 100
		if got := bin(score); got != min(i, 99) {
			t.Errorf("%v falls into bin %d", score, got)
		}
		if got := bin(math.Nextafter(score, -1)); got != max(i-1, 0) {
			t.Errorf("just below %v falls into bin %d", score, got)
		}
	}
	if bin(math.NaN()) != 0 || bin(7) != 99 || bin(-7) != 0 {
		t.Error("what is not a grade falls between")
	}
}

// TestAJudgeIsNotBlamedForAnother checks that of several judges only the one that rejected a
// call is said to have stopped it.
func TestAJudgeIsNotBlamedForAnother(t *testing.T) {
	t.Parallel()
	grades := []vaglio.GradientResult{{Judge: "mild", Score: 1}, {Judge: "strict"}}
	var h history
	for hour, phase := range []vaglio.Phase{vaglio.PhaseJudge, vaglio.PhaseNone} {
		at := digestAt(float64(hour))
		h.step(approval.Step{At: at, Verdict: &vaglio.Verdict{Approved: phase == vaglio.PhaseNone, BlockedBy: phase, JudgeKind: "strict", TS: digestSeconds(at), Results: grades}})
	}
	got := h.statistics(report.Window{From: digestAt(0), To: digestAt(24)}, time.UTC).Judges
	if len(got) != 2 || got[0].Judge != "mild" || got[0].Refused != 0 || got[0].Graded != 2 || got[1].Refused != 1 || got[1].Graded != 2 {
		t.Errorf("judges %+v", got)
	}
}

// TestNights checks which hours count as night, also where it does not pass midnight.
func TestNights(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		night report.Night
		hours string // of a day, from midnight
	}{
		{report.DefaultNight(), "0 1 2 3 4 5 6 22 23"},
		{report.Night{From: 60, To: 180}, "1 2"},
		{report.Night{From: 60, To: 60}, ""},
		{report.Night{}, ""},
	} {
		var got []string
		for hour := range 24 {
			b := report.NewStatisticsBuilder(report.Window{From: digestAt(-8), To: digestAt(16)}, time.UTC, row.night, approval.NewMasker(approval.Secret{1}))
			for _, minute := range []float64{0, 30, 59} {
				a, _ := asked(1, float64(hour)-8+minute/60) // digests begin at eight
				b.Ask(&a)
			}
			if n := b.Statistics().Turns.AtNight; n == 3 {
				got = append(got, fmt.Sprint(hour))
			} else if n > 0 {
				t.Errorf("%+v: the hour %d is night in part", row.night, hour)
			}
		}
		if hours := strings.Join(got, " "); hours != row.hours {
			t.Errorf("%+v: %q, want %q", row.night, hours, row.hours)
		}
	}
}
