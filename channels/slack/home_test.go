package slack_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/internal/race"
	"github.com/metnos/vaglio/vaglio"
)

// past makes a history of n entries, newest first.
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

// TestTheHomeTabOfABusyDay has more than the tab lists, more than a page of steps, and
// decisions made today about calls of yesterday.
func TestTheHomeTabOfABusyDay(t *testing.T) {
	race.Alone(t)
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
			case i < 22: // twenty of Ann's, where a repeat counts once
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
		// Ten of Ann's, eighteen of Bob's, and the guard's, of which fifteen are listed.
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

// TestTheHomeTabSaysWhatWaitsForWhom has two people, a route for each, and one on which
// both must allow.
func TestTheHomeTabSaysWhatWaitsForWhom(t *testing.T) {
	inWorld(t, func(w *world) {
		routing := approval.Routing{
			Members: []approval.Member{{Name: "ann", IDs: []string{"slack:" + ann}}, {Name: "bob", IDs: []string{"slack:" + bob}}},
			Routes: []approval.Route{
				{Name: "hers", Approvers: []string{"ann"}},
				{Name: "his", Approvers: []string{"bob"}},
				{Name: "both", Approvers: []string{"ann", "bob"}, Quorum: 2},
			},
			Rules: []approval.Rule{{Route: "hers"}},
		}
		if err := routing.Check([]string{"slack"}); err != nil {
			t.Fatal(err)
		}
		w.desk.Route(routing)
		ask := func(route, line string) *approval.Ask {
			a := newAsk(w.t, denial("partial"), command(line))
			a.Routes = []approval.Active{{Route: route, Quorum: 1}}
			return w.post(a)
		}
		ask("his", "make his")
		hers, both := ask("hers", "make hers"), ask("both", "make both")
		shows := func(user string, want []string, others string) {
			t.Helper()
			w.server.OpenHome(user)
			synctest.Wait()
			v, _ := w.server.Home(user)
			said, _, ok := strings.Cut(v.Shown(), "What you decided today")
			var got []string
			for _, line := range []string{"make his", "make hers", "make both"} {
				if strings.Contains(said, line) {
					got = append(got, line)
				}
			}
			if !ok || !slices.Equal(got, want) || !strings.Contains(said, others) || others == "" && strings.Contains(said, "others") {
				t.Errorf("%s has %q, want %q and %q: %s", user, got, want, others, said)
			}
		}
		shows(ann, []string{"make hers", "make both"}, "1 more waits for others.")
		shows(bob, []string{"make his", "make both"}, "1 more waits for others.")
		w.desk.Change(func() {
			e := routing.Electorate(both.Routes, both.Agent, func(id string) (string, bool) { return routing.Human(id), true })
			tap := approval.Tap{Ask: both.ID, Choice: approval.ChoiceAllow, By: approval.Person{ID: "slack:" + ann, Name: "Ann"}, Channel: "slack"}
			if r, err := both.Vote(tap, e, time.Now(), time.Minute); err != nil || !r.Voted {
				t.Fatalf("%+v, %v", r, err)
			}
		})
		shows(ann, []string{"make hers"}, "2 more wait for others.")
		shows(bob, []string{"make his", "make both"}, "1 more waits for others.")
		w.press(ann, hers, "Deny")
		shows(ann, nil, "Nothing waits for you.")
		shows(ann, nil, "2 more wait for others.")
		shows(bob, []string{"make his", "make both"}, "")
		id := w.server.Command(ann, home, "pending")
		synctest.Wait()
		w.wants(string(w.server.Delivery(id).Answer), "2 asks wait", "make his", "make both")
	})
}

// TestTheHomeTabNamesACallAsItsCardDoes checks that what was decided is named by what it
// does, and not by the tool and its arguments.
func TestTheHomeTabNamesACallAsItsCardDoes(t *testing.T) {
	inWorld(t, func(w *world) {
		e := decidedBy("slack:"+ann, time.Now(), approval.Denied, 1)
		e.Step.At, e.Step.Proposal = time.Now(), vaglio.Proposal{
			Agent: "bot", Executor: "send_email", Args: vaglio.Args{"to": "bob@example.org", "subject": "Invoice *now*"},
		}
		w.desk.Remember(e)
		w.server.OpenHome(ann)
		synctest.Wait()
		v, _ := w.server.Home(ann)
		w.wants(v.Shown(), "bot: Sends mail to bob@example.org: Invoice *now*")
	})
}
