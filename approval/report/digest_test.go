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

// digestStart is when the first window begins; digestAt counts hours from it.
var digestStart = time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)

func digestAt(hours float64) time.Time {
	return digestStart.Add(time.Duration(hours * float64(time.Hour)))
}

func digestSeconds(t time.Time) float64 { return float64(t.UnixMilli()) / 1000 }

// asked returns an ask with one approval, made at an hour, and its step.
func asked(n int, hour float64) (approval.Ask, approval.Step) {
	at := digestAt(hour)
	p := vaglio.Proposal{Agent: "bot", TurnID: "t", Executor: "shell_exec", Args: vaglio.Args{"command": fmt.Sprintf("rm %d", n)}}
	v := vaglio.Verdict{BlockedBy: vaglio.PhaseJudge, JudgeKind: "effects", TS: digestSeconds(at), Results: []vaglio.GradientResult{
		{Judge: "effects", Signals: []vaglio.Signal{{Category: "delete", Score: -1}}},
	}}
	id := approval.ID(fmt.Sprintf("ask%04d-1", n))
	a := approval.Ask{ID: id.Ask(), Agent: "bot", OpenedAt: at, ExpiresAt: at.Add(time.Hour), Approvals: []approval.Approval{
		{ID: id, State: approval.Pending, Proposal: p, Verdict: v, Fingerprint: "f"},
	}}
	return a, approval.Step{At: at, Proposal: p, Verdict: &v, Approval: id}
}

func decided(t *testing.T, a *approval.Ask, c approval.Choice, after time.Duration, by string) {
	t.Helper()
	tap := approval.Tap{Ask: a.ID, Choice: c, By: approval.Person{ID: by, Name: by}, Channel: "web", Words: "not now"}
	if _, err := a.Decide(tap, a.OpenedAt.Add(after), 10*time.Minute); err != nil {
		t.Fatal(err)
	}
}

func ruled(rule string, hour float64) approval.Step {
	v := vaglio.Verdict{BlockedBy: vaglio.PhaseGuard, TS: digestSeconds(digestAt(hour)), Rule: &vaglio.GuardRule{ID: rule}}
	return approval.Step{At: digestAt(hour), Proposal: vaglio.Proposal{Agent: "bot", Executor: "read", Args: vaglio.Args{"token": "ghp_" + strings.Repeat("a1B2", 9)}}, Verdict: &v}
}

func build(w report.Window, asks []approval.Ask, steps []approval.Step, before ...report.Window) report.Digest {
	b := report.NewDigestBuilder(w, approval.NewMasker(approval.Secret{1}), before...)
	for i := range asks {
		b.Ask(&asks[i])
	}
	for i := range steps {
		b.Step(&steps[i])
	}
	return b.Digest(nil)
}

func TestDigestTellsWhatBecameOfVetoes(t *testing.T) {
	var asks []approval.Ask
	var steps []approval.Step
	ask := func(n int, hour float64, then func(*approval.Ask)) {
		a, s := asked(n, hour)
		if then != nil {
			then(&a)
		}
		asks, steps = append(asks, a), append(steps, s)
	}
	allow := func(after time.Duration) func(*approval.Ask) {
		return func(a *approval.Ask) { decided(t, a, approval.ChoiceAllow, after, "web:ann") }
	}
	ask(0, -0.5, allow(45*time.Minute)) // carried, and allowed in the window
	ask(1, 1, allow(time.Second))
	ask(2, 2, func(a *approval.Ask) {
		decided(t, a, approval.ChoiceAllow, time.Minute, "web:ann")
		if err := a.Redeem(a.Approvals[0].ID, "f", a.OpenedAt.Add(2*time.Minute)); err != nil {
			t.Fatal(err)
		}
		if err := a.Report(a.Approvals[0].ID, approval.Outcome{Succeeded: true, At: a.OpenedAt.Add(3 * time.Minute)}); err != nil {
			t.Fatal(err)
		}
	})
	ask(3, 3, func(a *approval.Ask) { decided(t, a, approval.ChoiceDeny, time.Minute, "web:bob") })
	ask(4, 4, func(a *approval.Ask) { a.Lapse(digestAt(5.5)) })
	ask(5, 23.5, nil) // still waits
	ask(6, 24, nil)   // belongs to the next window
	for n, wanted := range []string{"rm 3", "rm -f 3"} {
		_, s := asked(3, 3.5+float64(n)/10)
		s.Proposal.Args = vaglio.Args{"command": wanted}
		steps = append(steps, s)
	}
	_, unasked := asked(7, 6)
	unasked.Approval = ""
	steps = append(steps, unasked, ruled("path.auth", 7), ruled("path.auth", 8), ruled("tree.root", 9), ruled("tree.root", 24),
		approval.Step{At: digestAt(10), Error: "no such executor"},
		approval.Step{At: digestAt(11), Verdict: &vaglio.Verdict{Approved: true, TS: digestSeconds(digestAt(11))}})

	d := build(report.Window{From: digestAt(0), To: digestAt(24)}, asks, steps)
	want := report.Counts{
		Judged: 12, Approved: 1, Guard: 3, Vetoed: 8, Errors: 1,
		Fates: report.Fates{
			Allowed: 2, Denied: 1, Expired: 1, Waiting: 1, Repeated: 2, Unasked: 1,
			Runs: report.Runs{Succeeded: 1, Unused: 1},
		},
		Carried: report.Fates{Allowed: 1, Runs: report.Runs{Unused: 1}},
	}
	if d.Counts != want {
		t.Errorf("counts\n%+v, want\n%+v", d.Counts, want)
	}
	if len(d.Rules) != 2 || d.Rules[0] != (report.Tally{Name: "path.auth", Count: 2, New: true}) {
		t.Errorf("rules %+v", d.Rules)
	}
	if len(d.Waiting) != 2 || d.Waiting[0].ID != "ask0005-1" {
		t.Errorf("waiting %+v", d.Waiting)
	}
	if len(d.Workarounds) != 1 || d.Workarounds[0].Tries != 1 || d.Workarounds[0].ID != "ask0003-1" {
		t.Errorf("workarounds %+v", d.Workarounds)
	}
	if len(d.People) != 2 || d.People[0] != (report.Habit{Person: "web:ann", Name: "web:ann", Allows: 3, Hasty: 1}) || d.People[1].Denies != 1 {
		t.Errorf("people %+v", d.People)
	}
	if len(d.Groups) != 3 || d.Groups[0].Effect != "delete" || d.Groups[0].Count != 6 || len(d.Groups[0].Actions) != 5 {
		t.Fatalf("groups %+v", d.Groups)
	}
	newest := d.Groups[0].Actions[0]
	if newest.ID != "ask0005-1" || newest.State != approval.Pending || !strings.Contains(newest.Wanted, "rm 5") {
		t.Errorf("newest %+v", newest)
	}
	for _, g := range d.Groups {
		if g.Rule != "" && strings.Contains(g.Actions[0].Wanted, "ghp_a1B2") {
			t.Errorf("a secret shows: %s", g.Actions[0].Wanted)
		}
	}
}

// TestDigestIsBounded checks that what exceeds the bounds is summed up, and that the sum is
// right.
func TestDigestIsBounded(t *testing.T) {
	var steps []approval.Step
	for n := range 3000 {
		steps = append(steps, ruled(fmt.Sprintf("rule.%d", n), float64(n)/300))
	}
	for range 5 {
		steps = append(steps, ruled("rule.0", 11)) // one of those that are kept apart
	}
	d := build(report.Window{From: digestAt(0), To: digestAt(24)}, nil, steps)
	if !slices.ContainsFunc(d.Groups, func(g report.VetoGroup) bool { return g.Rule == "rule.0" && g.Count == 6 }) || d.Rules[0] != (report.Tally{Name: "rule.0", Count: 6, New: true}) {
		t.Errorf("a rule that denied six calls is told as %+v, %+v", d.Rules[0], d.Groups[:2])
	}
	rules, actions := 0, 0
	for _, r := range d.Rules {
		rules += r.Count
	}
	for _, g := range d.Groups {
		actions += g.Count
	}
	if rules != 3005 || actions != 3005 || len(d.Rules) != 13 || len(d.Groups) != 13 {
		t.Errorf("%d rules in %d lines, %d actions in %d groups", rules, len(d.Rules), actions, len(d.Groups))
	}
}

// TestWhatADigestDoesNotListIsSummedUp checks each list at its bound and beyond.
func TestWhatADigestDoesNotListIsSummedUp(t *testing.T) {
	t.Parallel()
	// of returns the digest of n calls that wait, n that people denied, and n that were
	// allowed three times, each by somebody else or of another kind.
	of := func(n int) report.Digest {
		var asks []approval.Ask
		var steps []approval.Step
		ask := func(then func(*approval.Ask)) {
			a, s := asked(len(asks), 1+float64(len(asks))/100)
			then(&a)
			asks, steps = append(asks, a), append(steps, s)
		}
		for i := range n {
			ask(func(a *approval.Ask) { a.ExpiresAt = digestAt(100 - float64(i)) })
			ask(func(a *approval.Ask) { decided(t, a, approval.ChoiceDeny, time.Minute, fmt.Sprint("web:", i)) })
			again := steps[len(steps)-1] // in other words, after the denial
			v := *again.Verdict
			v.TS += 3600
			again.Verdict, again.Proposal.Args = &v, vaglio.Args{"command": fmt.Sprint("rm -f ", i)}
			steps = append(steps, again)
			for range 3 {
				ask(func(a *approval.Ask) {
					a.Approvals[0].Proposal.Executor = fmt.Sprint("tool_", i)
					decided(t, a, approval.ChoiceAllow, time.Minute, "web:0")
				})
			}
		}
		return build(report.Window{From: digestAt(0), To: digestAt(24)}, asks, steps)
	}
	for _, row := range []struct{ n, waiting, spares, workarounds, people int }{{5, 5, 5, 5, 5}, {6, 6, 6, 6, 6}, {10, 10, 6, 6, 10}, {12, 10, 6, 6, 11}} {
		d := of(row.n)
		if len(d.Waiting) != row.waiting || len(d.Waiting)+d.WaitingMore != row.n || d.Waiting[0].Until != digestAt(float64(101-row.n)) {
			t.Errorf("%d: %d are listed as waiting, until %v first, and %d more", row.n, len(d.Waiting), d.Waiting[0].Until, d.WaitingMore)
		}
		spares, tries, decisions := 0, 0, 0
		for _, s := range d.Spares {
			spares += s.Count
		}
		for _, w := range d.Workarounds {
			tries += w.Tries
		}
		for _, p := range d.People {
			decisions += p.Allows + p.Denies
		}
		if len(d.Spares) != row.spares || spares != 3*row.n || len(d.Workarounds) != row.workarounds || tries != row.n {
			t.Errorf("%d: spares %v, workarounds %v", row.n, d.Spares, d.Workarounds)
		}
		if len(d.People) != row.people || decisions != 4*row.n || d.People[0].Name != "web:0" {
			t.Errorf("%d: people %v", row.n, d.People)
		}
	}
}

// TestARuleIsSuggestedForWhatIsAlwaysAllowed checks that three allowances suggest a rule,
// unless a call of that kind was answered otherwise or not at all.
func TestARuleIsSuggestedForWhatIsAlwaysAllowed(t *testing.T) {
	t.Parallel()
	var asks []approval.Ask
	for kind, fates := range map[string]string{"enough": "aaa", "waits": "aaaw", "few": "aa", "denied": "aaad", "expired": "aaae", "mixed": "daaa"} {
		for _, fate := range fates {
			a, _ := asked(len(asks), 1+float64(len(asks))/10)
			a.Approvals[0].Proposal.Executor = kind
			switch fate {
			case 'a':
				decided(t, &a, approval.ChoiceAllow, time.Minute, "web:ann")
			case 'd':
				decided(t, &a, approval.ChoiceDeny, time.Minute, "web:ann")
			case 'e':
				a.Lapse(a.ExpiresAt)
			}
			asks = append(asks, a)
		}
	}
	got := build(report.Window{From: digestAt(0), To: digestAt(24)}, asks, nil).Spares
	if diff := cmp.Diff([]report.Tally{{Name: "enough", Effect: "delete", Count: 3}, {Name: "waits", Effect: "delete", Count: 3}}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestDigestsJoin checks random histories: the buckets add up, what waits at the end of a
// window is what the next one carries, and windows share nothing.
func TestDigestsJoin(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var asks []approval.Ask
		var steps []approval.Step
		for n := range 40 {
			a, s := asked(n, rng.Float64()*70)
			switch after := time.Duration(rng.IntN(59)) * time.Minute; rng.IntN(5) {
			case 0:
				decided(t, &a, approval.ChoiceAllow, after, "web:ann")
			case 1:
				decided(t, &a, approval.ChoiceDeny, after, "web:ann")
			case 2:
				a.Lapse(a.ExpiresAt)
			case 3:
				if err := a.Withdraw(a.Approvals[0].ID, a.OpenedAt.Add(after)); err != nil {
					t.Fatal(err)
				}
			}
			asks = append(asks, a)
			if rng.IntN(4) > 0 { // some steps are lost or overwritten
				steps = append(steps, s)
			}
			steps = append(steps, ruled("r", rng.Float64()*70))
		}
		carried, judged := 0, 0
		var windows []report.Window
		var days []report.Counts
		for day := range 3 {
			w := report.Window{From: digestAt(float64(24 * day)), To: digestAt(float64(24*day + 24))}
			d := build(w, asks, steps, windows...)
			c := d.Counts
			windows, days = append(windows, w), append(days, c)
			for i, told := range d.Week {
				if told.Window != windows[i] || told.Counts != days[i] || len(d.Week) != len(days) {
					t.Fatalf("day %d of the week is %+v, and its own digest counts %+v", i, told, days[i])
				}
			}
			if c.Judged != c.Approved+c.Guard+c.Vetoed || c.Vetoed != c.Fates.Sum() || c.Fates.Allowed != c.Fates.Runs.Sum() {
				t.Fatalf("buckets do not add up: %+v", c)
			}
			if c.Carried.Sum() != carried {
				t.Fatalf("day %d carries %d, and %d waited", day, c.Carried.Sum(), carried)
			}
			carried = c.Fates.Waiting + c.Carried.Waiting
			judged += c.Judged
		}
		if judged != 80 {
			t.Fatalf("%d calls were told of 80", judged)
		}
	}
}

func TestDigestWindows(t *testing.T) {
	for name, tt := range map[string]struct {
		zone   string
		minute int
		day    string
		hours  float64
	}{
		"Plain":       {"Europe/Rome", 480, "2026-11-21", 24},
		"RomeSpring":  {"Europe/Rome", 480, "2026-03-29", 23},
		"RomeAutumn":  {"Europe/Rome", 480, "2026-10-25", 25},
		"YorkSpring":  {"America/New_York", 480, "2026-03-08", 23},
		"YorkAutumn":  {"America/New_York", 480, "2026-11-01", 25},
		"LordHowe":    {"Australia/Lord_Howe", 480, "2026-04-05", 24.5},
		"YorkSkipped": {"America/New_York", 120, "2026-03-08", 24},
		// Half past midnight is skipped; half past one is on the same day.
		"NoMidnight": {"America/Sao_Paulo", 30, "2018-11-04", 24},
		"DayAfter":   {"America/Sao_Paulo", 30, "2018-11-05", 23},
	} {
		t.Run(name, func(t *testing.T) {
			zone, err := time.LoadLocation(tt.zone)
			if err != nil {
				t.Fatal(err)
			}
			h := report.Hours{Minute: tt.minute, Zone: zone}
			w, err := h.Parse(tt.day)
			if err != nil || w.To.Sub(w.From).Hours() != tt.hours {
				t.Errorf("%v %v", w, err)
			}
			if at := fmt.Sprintf("%02d:%02d", tt.minute/60, tt.minute%60); w.To.In(zone).Format("15:04") != at && name != "NoMidnight" && name != "YorkSkipped" {
				t.Errorf("due at %v, want %s", w.To.In(zone), at)
			}
			if got := h.Last(w.To); got != w || h.Last(w.To.Add(-1)).To != w.From {
				t.Errorf("last is %v", got)
			}
			week := append(h.Week(w), w)
			for i := 1; i < len(week); i++ {
				if len(week) != 7 || week[i-1].To != week[i].From || h.Last(week[i].To) != week[i] {
					t.Errorf("the week is %v", week)
				}
			}
			if h.Day(w) != tt.day || h.After(w.From) != w.To || h.After(w.To.Add(-1)) != w.To {
				t.Errorf("day %s, after %v", h.Day(w), h.After(w.From))
			}
		})
	}
	// Windows join at every minute of the day, also at those that a clock change skips or
	// repeats.
	for _, name := range []string{"Europe/Rome", "America/New_York", "Pacific/Apia", "America/Sao_Paulo"} {
		zone, err := time.LoadLocation(name)
		if err != nil {
			t.Fatal(err)
		}
		for minute := 0; minute < 1440; minute += 30 {
			h := report.Hours{Minute: minute, Zone: zone}
			before := h.Window(2011, 1, 1)
			for day := 2; day < 400; day++ {
				w := h.Window(2011, 1, day)
				if w.From != before.To || w.To.Before(w.From) {
					t.Fatalf("%s %d: %v follows %v", name, minute, w, before)
				}
				before = w
			}
		}
	}
	for _, bad := range []string{"", "2026-02-30", "21.11.2026", "x"} {
		if _, err := (report.Hours{}).Parse(bad); err == nil {
			t.Errorf("%q is a day", bad)
		}
	}
}

func TestWhyThereIsNoDigest(t *testing.T) {
	t.Parallel()
	for want, err := range map[string]*report.DayError{
		`"x" is not a day such as 2026-11-21`:                                                               {Day: "x"},
		`the digest of "2026-11-21" is not due yet`:                                                         {Day: "2026-11-21", Early: true},
		`the digest of "2026-11-21" cannot be made any more: calls that passed are forgotten after 30 days`: {Day: "2026-11-21", Kept: 30},
	} {
		if got := err.Error(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestThePeopleOfADigest checks that one person is counted once, whichever of their ids
// they decide with, and that two people of the same name are told apart.
func TestThePeopleOfADigest(t *testing.T) {
	members := approval.Routing{Members: []approval.Member{{Name: "ann", IDs: []string{"web:owner", "telegram:4711"}}}}
	for name, tt := range map[string]struct {
		human func(string) string
		by    map[string]string
		want  []string
	}{
		"joined":    {members.Human, map[string]string{"web:owner": "owner", "telegram:4711": "Ann"}, []string{"ann: 2"}},
		"unknown":   {nil, map[string]string{"web:owner": "Ann", "telegram:4711": "Ann"}, []string{"Ann (telegram): 1", "Ann (web): 1"}},
		"different": {nil, map[string]string{"web:owner": "Ann", "telegram:4711": "Bob"}, []string{"Bob: 1", "Ann: 1"}},
		"beside":    {members.Human, map[string]string{"web:owner": "x", "telegram:1": "ann"}, []string{"ann: 1", "ann (telegram): 1"}},
	} {
		b := report.NewDigestBuilder(report.Window{From: digestAt(0), To: digestAt(24)}, approval.NewMasker(approval.Secret{1}))
		b.Human(tt.human)
		n := 0
		for id, display := range tt.by {
			n++
			a, _ := asked(n, float64(n))
			tap := approval.Tap{Ask: a.ID, Choice: approval.ChoiceDeny, By: approval.Person{ID: id, Name: display}, Channel: "web"}
			if _, err := a.Decide(tap, a.OpenedAt.Add(time.Minute), time.Minute); err != nil {
				t.Fatal(err)
			}
			b.Ask(&a)
		}
		d := b.Digest(nil)
		var got []string
		for _, l := range d.Lines() {
			if l.Key == "person" {
				got = append(got, fmt.Sprintf("%v: %v", l.Values["who"], l.Values["n"]))
			}
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
