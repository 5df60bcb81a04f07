package report_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/approval/report"
	"github.com/metnos/vaglio/vaglio"
)

// buckets returns the counts as numbers that can be added.
func buckets(c report.Counts) []int {
	all := []int{c.Judged, c.Approved, c.Guard, c.Vetoed, c.Errors}
	runs := func(r report.Runs) {
		all = append(all, r.Succeeded, r.Failed, r.Unknown, r.Running, r.Unused, r.Lapsed)
	}
	for _, f := range []report.Fates{c.Fates, c.Carried} {
		all = append(all, f.Allowed, f.Denied, f.Expired, f.Withdrawn, f.Superseded, f.Waiting, f.Repeated, f.Unasked)
		runs(f.Runs)
	}
	runs(c.Settled)
	return all
}

// TestRoutesAddUp checks, for random histories, that the digests of all routes and of none
// add up to the digest of everything, bucket by bucket, in each window.
func TestRoutesAddUp(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(5, 6))
	routes := []string{"", "a", "b", "c"}
	pick := func() string { return routes[rng.IntN(len(routes))] }
	for range 100 {
		var asks []approval.Ask
		var steps []approval.Step
		for n := range 40 {
			a, s := asked(n, rng.Float64()*48)
			if to := pick(); to != "" {
				a.Routes = []approval.Active{{Route: to, Quorum: 1}}
				if rng.IntN(3) > 0 { // others are from before steps recorded their route
					s.Route = to
				}
			}
			switch after := time.Duration(rng.IntN(59)) * time.Minute; rng.IntN(4) {
			case 0:
				decided(t, &a, approval.ChoiceAllow, after, "web:ann")
			case 1:
				decided(t, &a, approval.ChoiceDeny, after, "web:ann")
			case 2:
				a.Lapse(a.ExpiresAt)
			}
			asks = append(asks, a)
			steps = append(steps, s)
			again := s // a call that joins, from any route
			again.At, again.Route = s.At.Add(time.Minute), pick()
			v := *s.Verdict
			v.TS = digestSeconds(again.At)
			again.Verdict = &v
			refused, passed := ruled("r", rng.Float64()*48), ruled("", rng.Float64()*48)
			refused.Route, passed.Route = pick(), pick()
			passed.Verdict.Approved, passed.Verdict.BlockedBy = true, vaglio.PhaseNone
			steps = append(steps, again, refused, passed, approval.Step{At: digestAt(rng.Float64() * 48), Error: "no", Route: pick()})
		}
		day := report.Window{From: digestAt(24), To: digestAt(48)}
		before := report.Window{From: digestAt(0), To: digestAt(24)}
		of := func(routes ...string) report.Digest {
			b := report.NewDigestBuilder(day, approval.NewMasker(approval.Secret{1}), before)
			b.Of(routes...)
			for i := range asks {
				b.Ask(&asks[i])
			}
			for i := range steps {
				b.Step(&steps[i])
			}
			return b.Digest(nil)
		}
		whole := of()
		for i := range whole.Week {
			sum := make([]int, len(buckets(whole.Counts)))
			waiting := 0
			for _, r := range routes {
				d := of(r)
				for k, n := range buckets(d.Week[i].Counts) {
					sum[k] += n
				}
				waiting += len(d.Waiting) + d.WaitingMore
			}
			if !slices.Equal(sum, buckets(whole.Week[i].Counts)) || waiting != len(whole.Waiting)+whole.WaitingMore {
				t.Fatalf("the routes' sum is\n%v, the whole\n%v; %d wait", sum, buckets(whole.Week[i].Counts), waiting)
			}
		}
		if both, a, b := of("a", "b"), of("a"), of("b"); both.Counts.Judged != a.Counts.Judged+b.Counts.Judged || both.Counts.Judged == 0 {
			t.Fatalf("two routes have %d, each %d and %d", both.Counts.Judged, a.Counts.Judged, b.Counts.Judged)
		}
	}
}

// TestAnEscalatedCallWaitsInBothPlaces checks that an escalated call is counted on its
// first route, and waits on both.
func TestAnEscalatedCallWaitsInBothPlaces(t *testing.T) {
	t.Parallel()
	a, s := asked(1, 1)
	a.Routes, s.Route = []approval.Active{{Route: "a", Quorum: 1}, {Route: "b", Quorum: 1}}, "a"
	for route, judged := range map[string]int{"a": 1, "b": 0} {
		b := report.NewDigestBuilder(report.Window{From: digestAt(0), To: digestAt(24)}, approval.NewMasker(approval.Secret{1}))
		b.Of(route)
		b.Ask(&a)
		b.Step(&s)
		if d := b.Digest(nil); d.Counts.Judged != judged || len(d.Waiting) != 1 || fmt.Sprint(d.Routes) != "["+route+"]" {
			t.Errorf("%s: %+v", route, d)
		}
	}
}

// TestAnEmptyDayIsOneLine checks that a day on which nothing happened takes one line.
func TestAnEmptyDayIsOneLine(t *testing.T) {
	t.Parallel()
	w := report.Window{From: digestAt(0), To: digestAt(24)}
	if d := build(w, nil, nil); !d.Empty() || len(d.Lines()) != 1 || !strings.HasPrefix(d.Lines()[0].Key, "title.empty") {
		t.Errorf("an empty day: %+v", d.Lines())
	}
	waits, _ := asked(1, 30) // asked after the window, and waiting now
	for name, d := range map[string]report.Digest{
		"waiting": build(w, []approval.Ask{waits}, nil),
		"guard":   build(w, nil, []approval.Step{ruled("r", 1)}),
		"error":   build(w, nil, []approval.Step{{At: digestAt(1), Error: "no"}}),
	} {
		if d.Empty() || len(d.Lines()) < 2 {
			t.Errorf("%s: %+v", name, d.Lines())
		}
	}
}
