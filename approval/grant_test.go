package approval_test

import (
	"errors"
	"testing"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/vaglio"
)

// TestWhatMayBeGranted checks that a grant covers calls that are alike in all that counts,
// and that nothing unknown, unseen or hard to undo can be granted.
func TestWhatMayBeGranted(t *testing.T) {
	m := approval.NewMasker(secret)
	mild := approval.About{Subjects: approval.Subjects{{Verb: "push"}}, Mild: true, Whole: true}
	key := func(change func(p *vaglio.Proposal, v *vaglio.Verdict, about *approval.About)) string {
		p, v, about := shell("git push"), judgeDenies(0.4), mild
		v.Sources = []vaglio.Source{{Path: "/x", SHA256: "1"}}
		if change != nil {
			change(&p, &v, &about)
		}
		return approval.Grantable(p, v, about, m)
	}
	plain := key(nil)
	if plain == "" || plain != key(nil) {
		t.Fatalf("the key is %q", plain)
	}
	const none, same, other = "none", "the same", "another"
	for name, tt := range map[string]struct {
		change func(p *vaglio.Proposal, v *vaglio.Verdict, about *approval.About)
		want   string
	}{
		"not mild":        {func(_ *vaglio.Proposal, _ *vaglio.Verdict, a *approval.About) { a.Mild = false }, none},
		"no subject":      {func(_ *vaglio.Proposal, _ *vaglio.Verdict, a *approval.About) { a.Subjects = nil }, none},
		"no agent":        {func(p *vaglio.Proposal, _ *vaglio.Verdict, _ *approval.About) { p.Agent = "" }, none},
		"the guard's":     {func(_ *vaglio.Proposal, v *vaglio.Verdict, _ *approval.About) { *v = guardDenies() }, none},
		"a source unread": {func(_ *vaglio.Proposal, v *vaglio.Verdict, _ *approval.About) { v.Sources[0].SHA256 = "" }, none},
		"a secret": {func(p *vaglio.Proposal, _ *vaglio.Verdict, _ *approval.About) {
			p.Args = vaglio.Args{"command": "x " + aSecret}
		}, none},
		"another source": {func(_ *vaglio.Proposal, v *vaglio.Verdict, _ *approval.About) { v.Sources[0].SHA256 = "2" }, other},
		"another agent":  {func(p *vaglio.Proposal, _ *vaglio.Verdict, _ *approval.About) { p.Agent = "coder" }, other},
		"another subject": {func(_ *vaglio.Proposal, _ *vaglio.Verdict, a *approval.About) {
			a.Subjects = approval.Subjects{{Verb: "pull"}}
		}, other},
		"another spelling": {func(p *vaglio.Proposal, _ *vaglio.Verdict, _ *approval.About) {
			p.Args = vaglio.Args{"command": "git  push"}
		}, same},
		"no value of JSON": {func(p *vaglio.Proposal, _ *vaglio.Verdict, _ *approval.About) { p.Args = vaglio.Args{"f": func() {}} }, none},
	} {
		got := same
		switch key(tt.change) {
		case "":
			got = none
		case plain:
		default:
			got = other
		}
		if got != tt.want {
			t.Errorf("%s: the key is %s, want %s", name, got, tt.want)
		}
	}
	// If the subjects do not cover the whole call, the grant is for the exact call.
	part := func(command, executor string) string {
		return key(func(p *vaglio.Proposal, _ *vaglio.Verdict, a *approval.About) {
			a.Whole, p.Args, p.Executor = false, vaglio.Args{"command": command}, executor
		})
	}
	if a := part("git push", "sh"); a == "" || a == plain || a != part("git push", "sh") || a == part("git  push", "sh") || a == part("git push", "bash") {
		t.Error("what is not whole is covered in another form")
	}
}

func TestAnEveningEndsAGrant(t *testing.T) {
	clock := func(h, m, s int) time.Time { return time.Date(2026, 3, 4, h, m, s, 0, time.Local) }
	for at, want := range map[time.Time]time.Time{
		clock(9, 59, 59):  clock(17, 59, 59), // eight hours at most
		clock(12, 0, 0):   clock(18, 0, 0),
		clock(17, 59, 59): clock(18, 0, 0),
		clock(18, 0, 0):   clock(19, 0, 0),
		clock(23, 0, 0):   clock(24, 0, 0),
	} {
		o := opening(t, "git push")
		o.Calls[0].Grantable, o.At, o.ExpiresAt = "key", at, at.Add(askFor)
		a, err := approval.Open(o)
		if err != nil {
			t.Fatal(err)
		}
		if r := decide(t, &a, approval.Tap{Choice: approval.ChoiceEvening, By: owner}, at); !r.Won {
			t.Errorf("given at %s, it decides nothing", at)
		}
		if g := a.Approvals[0].Grant; g == nil || !g.Until.Equal(want) {
			t.Errorf("given at %s: %+v, want %s", at, g, want)
		}
	}
}

// TestAnEveningIsWhereThePeopleAre checks that a grant for the rest of a day ends in the
// evening of the people who gave it, wherever the machine is.
func TestAnEveningIsWhereThePeopleAre(t *testing.T) {
	tokyo, angeles := time.FixedZone("Tokyo", 9*3600), time.FixedZone("Los Angeles", -7*3600)
	for at, want := range map[time.Time]time.Time{
		time.Date(2026, 3, 4, 14, 0, 0, 0, tokyo):   time.Date(2026, 3, 4, 18, 0, 0, 0, tokyo),
		time.Date(2026, 3, 4, 20, 0, 0, 0, tokyo):   time.Date(2026, 3, 4, 21, 0, 0, 0, tokyo), // not seven hours into the night
		time.Date(2026, 3, 4, 12, 0, 0, 0, angeles): time.Date(2026, 3, 4, 18, 0, 0, 0, angeles),
	} {
		o := opening(t, "git push")
		o.Calls[0].Grantable, o.At, o.ExpiresAt = "key", at, at.Add(askFor)
		a, err := approval.Open(o)
		if err != nil {
			t.Fatal(err)
		}
		people := approval.Everybody()
		people.Zone = at.Location()
		tap := approval.Tap{Ask: a.ID, Choice: approval.ChoiceEvening, By: owner}
		if _, err := a.Vote(tap, people, at.UTC(), permitFor); err != nil {
			t.Fatal(err)
		}
		if g := a.Approvals[0].Grant; g == nil || !g.Until.Equal(want) {
			t.Errorf("given at %s: %+v, want %s", at, g, want)
		}
	}
}

// TestAGrantEndsOnce checks that a grant ends once: when its time is over, when a person
// ends it, or with its last use.
func TestAGrantEndsOnce(t *testing.T) {
	a := grantable(t)
	id := a.Approvals[0].ID
	if a.EndGrant(id, approval.GrantTake, owner, start) || a.Spend(id, "key", "", "x", start) {
		t.Error("there is a grant before it was given")
	}
	decide(t, &a, approval.Tap{Choice: approval.ChoiceHour, By: owner}, start)
	end := a.Approvals[0].Grant.Until
	a.Lapse(end.Add(-1))
	if g := a.Approvals[0].Grant; g.Ended != nil {
		t.Errorf("it ended too early: %+v", g.Ended)
	}
	for _, other := range []approval.ID{"other-1", ""} {
		if a.EndGrant(other, approval.GrantTake, owner, start) {
			t.Errorf("the grant of %q ended", other)
		}
	}
	b := a
	b.Approvals = append([]approval.Approval(nil), a.Approvals...)
	if !b.Lapse(end) || b.Approvals[0].Grant.Ended == nil || b.Approvals[0].Grant.Ended.Event != approval.GrantElapse || b.Lapse(end) {
		t.Errorf("its time does not end it once: %+v", b.Approvals[0].Grant)
	}
	if !a.EndGrant(id, approval.GrantTake, owner, start) || a.Approvals[0].Grant.Ended.By != owner || a.EndGrant(id, approval.GrantStopped, owner, start) {
		t.Errorf("a person does not end it once: %+v", a.Approvals[0].Grant)
	}
	if a.Spend(id, "key", a.TurnID, "x", start) {
		t.Error("it covers a call after its end")
	}
}

// TestAGrantAllowsAnAsk checks that the person who gave the grant counts as deciding, and
// that nothing is decided twice.
func TestAGrantAllowsAnAsk(t *testing.T) {
	a := open(t, "make a", "make b")
	g := &approval.Grant{By: owner, Channel: "web"}
	if err := a.Granted("g-1", g, start, permitFor); err != nil || a.View() != "allowed,allowed" {
		t.Fatalf("%v, and it is %s", err, a.View())
	}
	if d := a.Approvals[1].Decision; d.Grant != "g-1" || d.By != owner || !a.Approvals[1].Permit.LapsesAt.Equal(start.Add(permitFor)) {
		t.Errorf("the decision is %+v", d)
	}
	var move *approval.MoveError
	if err := a.Granted("g-1", g, start, permitFor); !errors.As(err, &move) {
		t.Errorf("a second time: %v", err)
	}
}

func TestAPermitIsTakenBackOnce(t *testing.T) {
	a := open(t, "make a")
	id, act := a.Approvals[0].ID, approval.Act{By: owner, Channel: "web", At: start}
	for _, none := range []approval.ID{id, "other-1"} { // no permit yet, and no such call
		if err := a.Revoke(none, act); !errors.Is(err, approval.ErrNotFound) {
			t.Errorf("%s: %v", none, err)
		}
	}
	decide(t, &a, approval.Tap{Choice: approval.ChoiceAllow, By: owner}, start)
	if err := a.Revoke(id, act); err != nil || a.View() != "lapsed" || *a.Approvals[0].Permit.Revoked != act {
		t.Errorf("%v, and it is %+v", err, a.Approvals[0])
	}
	later := approval.Act{By: owner, At: start.Add(1)}
	if err := a.Revoke(id, later); err == nil || *a.Approvals[0].Permit.Revoked != act {
		t.Errorf("a second time: %v, %+v", err, a.Approvals[0].Permit)
	}
}

// TestADenialStands checks that a denial stands from its moment on until it is lifted or
// its time is over. What was denied at another moment, or not denied, stays as it is.
func TestADenialStands(t *testing.T) {
	a := open(t, "make a", "make b", "make c")
	deny := approval.Tap{Approval: a.Approvals[0].ID, Choice: approval.ChoiceDeny, By: owner}
	decide(t, &a, deny, start)
	deny.Approval = a.Approvals[1].ID
	later := start.Add(time.Minute)
	decide(t, &a, deny, later)
	a.Approvals[1].Kind = &approval.CallKind{System: "git", Verb: "push"}
	a.Stand(start, time.Hour)
	if p := a.Approvals[0]; !p.StandsUntil.Equal(start.Add(time.Hour)) || !a.Approvals[1].StandsUntil.IsZero() || !a.Approvals[2].StandsUntil.IsZero() {
		t.Errorf("they stand until %s, %s, %s", p.StandsUntil, a.Approvals[1].StandsUntil, a.Approvals[2].StandsUntil)
	}
	a.Stand(start, 2*time.Hour)
	a.Stand(later, time.Hour)
	if !a.Approvals[0].StandsUntil.Equal(start.Add(time.Hour)) || !a.Approvals[1].StandsUntil.Equal(later.Add(max(time.Hour, approval.KindStands))) {
		t.Errorf("they stand until %s, %s", a.Approvals[0].StandsUntil, a.Approvals[1].StandsUntil)
	}
	lift := func(id approval.ID, at time.Time) bool { return a.Lift(id, approval.Act{By: owner, At: at}) }
	if first := a.Approvals[0].ID; lift("other-1", start) || lift(a.Approvals[2].ID, start) || lift(first, start.Add(time.Hour)) ||
		!lift(first, start.Add(time.Hour-1)) || lift(first, start) || a.Approvals[0].Answers(start) || !a.Approvals[0].Settled {
		t.Errorf("lifting gives %+v", a.Approvals[0])
	}
}

// TestAKindIsDenied checks that a person can deny a kind of call if the call has one.
func TestAKindIsDenied(t *testing.T) {
	kind := approval.CallKind{System: "git", Verb: "push"}
	for _, tt := range []struct {
		like *approval.Likeness
		ok   bool
	}{{nil, false}, {&approval.Likeness{}, false}, {&approval.Likeness{Kind: kind}, true}} {
		a := open(t, "make a")
		a.Approvals[0].Like = tt.like
		r, err := a.Decide(approval.Tap{Choice: approval.ChoiceDenyKind, By: owner}, start, permitFor)
		p := a.Approvals[0]
		if (err == nil) != tt.ok || r.Won != tt.ok || (p.State == approval.Denied) != tt.ok || (p.Kind != nil && *p.Kind == kind) != tt.ok {
			t.Errorf("like %+v: %v, %+v", tt.like, err, p)
		}
	}
}
