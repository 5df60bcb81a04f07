package approval_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/metnos/vaglio/approval"
)

// TestTheTablesOfGrantsAndBrakes compares the transitions of grants and brakes with the
// edges of the design, which are written down here a second time.
func TestTheTablesOfGrantsAndBrakes(t *testing.T) {
	type edge struct{ from, event, to string }
	for _, from := range []approval.GrantState{approval.GrantLive, approval.GrantSpent, approval.GrantEnded} {
		for _, e := range []approval.GrantEvent{"use", "spend", "elapse", "take", "denied", "stopped", "", "allow"} {
			to, ok := from.Then(e)
			want := slices.Contains([]edge{
				{"live", "use", "live"},
				{"live", "spend", "spent"},
				{"live", "elapse", "ended"},
				{"live", "take", "ended"},
				{"live", "denied", "ended"},
				{"live", "stopped", "ended"},
			}, edge{string(from), string(e), string(to)})
			if ok != want {
				t.Errorf("a grant that is %s: %q leads to %q, %t", from, e, to, ok)
			}
		}
	}
	for _, from := range []approval.BrakeState{approval.BrakeOff, approval.BrakeOn} {
		for _, e := range []approval.BrakeEvent{"pull", "release", "elapse", "", "allow"} {
			to, ok := from.Then(e)
			want := slices.Contains([]edge{
				{"off", "pull", "on"}, {"on", "pull", "on"}, {"on", "release", "off"}, {"on", "elapse", "off"},
			}, edge{string(from), string(e), string(to)})
			if ok != want {
				t.Errorf("a brake that is %s: %q leads to %q, %t", from, e, to, ok)
			}
		}
	}
}

func grantable(t *testing.T) approval.Ask {
	t.Helper()
	o := opening(t, "git push origin main")
	o.Calls[0].Grantable = "key"
	a, err := approval.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestAGrantIsBounded(t *testing.T) {
	for choice, until := range map[approval.Choice]time.Duration{approval.ChoiceTurn: approval.MaxGrant, approval.ChoiceHour: time.Hour} {
		a := grantable(t)
		id := a.Approvals[0].ID
		decide(t, &a, approval.Tap{Approval: id, Choice: choice, By: owner}, start)
		g := a.Approvals[0].Grant
		if g == nil || g.Most != approval.DefaultUses || g.Until.Sub(start) != until || (g.Turn == a.TurnID) != (choice == approval.ChoiceTurn) {
			t.Fatalf("%s gives %+v", choice, g)
		}
		for what, ok := range map[string]bool{
			"another key":       a.Spend(id, "other", a.TurnID, "x", start),
			"no key":            a.Spend(id, "", a.TurnID, "x", start),
			"another approval":  a.Spend("nobody-1", "key", a.TurnID, "x", start),
			"when it is over":   a.Spend(id, "key", a.TurnID, "x", g.Until),
			"a clock set back":  a.Spend(id, "key", a.TurnID, "x", start.Add(-time.Hour)),
			"in another turn":   choice == approval.ChoiceTurn && a.Spend(id, "key", "t-other", "x", start),
			"taken by an event": a.EndGrant(id, approval.GrantUse, owner, start),
		} {
			if ok {
				t.Errorf("%s: it covers %s", choice, what)
			}
		}
		for i := range approval.DefaultUses - 1 {
			if !a.Spend(id, "key", a.TurnID, "x", start) {
				t.Fatalf("use %d is not covered", i+2)
			}
		}
		if a.Spend(id, "key", a.TurnID, "x", start) || a.EndGrant(id, approval.GrantTake, owner, start) {
			t.Error("it goes on after the last use")
		}
	}
}

func TestNobodyGrantsWhatCannotBeGranted(t *testing.T) {
	a := open(t, "rm -rf /srv/data")
	tap := approval.Tap{Approval: a.Approvals[0].ID, Choice: approval.ChoiceHour, By: owner}
	if _, err := a.Decide(tap, start, permitFor); !errors.Is(err, approval.ErrNoGrant) || a.Approvals[0].State != approval.Pending {
		t.Errorf("%v, and it is %s", err, a.Approvals[0].State)
	}
	for token, c := range a.On("web").Callbacks {
		if c.Choice.Grants() {
			t.Errorf("the button %s would grant", token)
		}
	}
}

// TestAQuorumGrantsAsAQuorum checks that a grant by a quorum lasts no longer than any of
// its members would grant.
func TestAQuorumGrantsAsAQuorum(t *testing.T) {
	r := approval.Routing{Routes: []approval.Route{{Name: "two", Quorum: 2, Approvers: []string{approval.Anyone}}}}
	for _, tt := range []struct{ first, second, want approval.Choice }{
		{approval.ChoiceHour, approval.ChoiceTurn, approval.ChoiceTurn},
		{approval.ChoiceHour, approval.ChoiceHour, approval.ChoiceHour},
		{approval.ChoiceAllow, approval.ChoiceHour, ""},
		{approval.ChoiceHour, approval.ChoiceAllow, ""},
	} {
		a := grantable(t)
		a.Routes = []approval.Active{{Route: "two", Quorum: 2}}
		e := r.Electorate(a.Routes, a.Agent, func(id string) (string, bool) { return id, true })
		for i, c := range []approval.Choice{tt.first, tt.second} {
			tap := approval.Tap{Approval: a.Approvals[0].ID, Choice: c, By: approval.Person{ID: []string{"web:a", "web:b"}[i]}}
			if _, err := a.Vote(tap, e, start, permitFor); err != nil {
				t.Fatal(err)
			}
		}
		g := a.Approvals[0].Grant
		if (g == nil) != (tt.want == "") || a.Approvals[0].State != approval.Allowed {
			t.Errorf("%s and %s give %+v", tt.first, tt.second, g)
		}
		if g != nil && (g.Turn != "") != (tt.want == approval.ChoiceTurn) {
			t.Errorf("%s and %s give %+v", tt.first, tt.second, g)
		}
	}
}
