package slack_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/vaglio"
)

// past makes a history, newest first, from what each step was.
func past(n int, entry func(i int) approval.Entry) []approval.Entry {
	all := make([]approval.Entry, n)
	for i := range all {
		all[n-1-i] = entry(i)
		all[n-1-i].Cursor = uint64(i + 1)
	}
	return all
}

func decidedBy(id string, at time.Time, state approval.State, n int) approval.Entry {
	return approval.Entry{
		Step: approval.Step{At: at.Add(-time.Minute), Approval: approval.ID(fmt.Sprint("a", n))},
		Approval: &approval.Approval{
			ID: approval.ID(fmt.Sprint("a", n)), State: state, Refusal: approval.Refusal{Wanted: fmt.Sprintf("call-%d.", n)},
			Decision: &approval.Decision{By: approval.Person{ID: id, Name: "somebody"}, At: at}, EndedAt: at,
		},
	}
}

// TestTheHomeTabOfABusyDay has more than it lists, more than a page of steps, and
// decisions of today about calls of yesterday.
func TestTheHomeTabOfABusyDay(t *testing.T) {
	inWorld(t, func(w *world) {
		time.Sleep(36 * time.Hour) // noon
		now := time.Now()
		home := func(entries []approval.Entry) string {
			w.desk.Remember(entries...)
			w.server.OpenHome(ann)
			synctest.Wait()
			v, _ := w.server.Home(ann)
			return v.Shown()
		}
		passed := approval.Entry{Step: approval.Step{At: now, Verdict: &vaglio.Verdict{Approved: true}}}
		vetoed := approval.Entry{Step: approval.Step{At: now, Verdict: &vaglio.Verdict{BlockedBy: vaglio.PhaseGuard}, Refusal: &approval.Refusal{Wanted: "veto"}}}
		said := home(past(3000, func(i int) approval.Entry {
			switch {
			case i == 0: // proposed yesterday, decided today, the first of 3000 steps
				e := decidedBy("slack:"+ann, now, approval.Succeeded, i)
				e.Step.At = now.Add(-13 * time.Hour)
				return e
			case i == 1: // decided yesterday
				return decidedBy("slack:"+ann, now.Add(-13*time.Hour), approval.Succeeded, i)
			case i < 22: // twenty of Ann's, of which a repeat counts once
				return decidedBy("slack:"+ann, now.Add(-time.Hour+time.Duration(i)*time.Second), approval.Denied, i-i%2)
			case i < 40:
				return decidedBy("slack:"+bob, now.Add(-time.Hour), approval.Denied, i)
			case i%100 == 0:
				return vetoed
			default:
				return passed
			}
		}))
		_, rest, _ := strings.Cut(said, "What you decided today")
		mine, others, ok := strings.Cut(rest, "What was vetoed today")
		if !ok || strings.Contains(mine, "call-1.") || !strings.Contains(mine, "call-0.") || strings.Count(mine, "call-") != 11 || strings.Contains(mine, "more") {
			w.t.Errorf("decided is %s", mine)
		}
		// Ten of Ann's, eighteen of Bob's and those of the guard, of which fifteen are listed.
		want := fmt.Sprintf("… and %d more; the inbox has all of them.", 10+18+29-15)
		if !strings.Contains(others, want) {
			w.t.Errorf("%q is not in %s", want, others)
		}
		said = home(past(20_000, func(int) approval.Entry { return vetoed }))
		w.wants(said, "… and 9985 more at least: it was a long day.")
		said = home(past(600, func(int) approval.Entry { return passed }))
		if strings.Contains(said, "more") || strings.Count(said, "Nothing.") < 2 {
			w.t.Errorf("of nothing it says %s", said)
		}
	})
}
