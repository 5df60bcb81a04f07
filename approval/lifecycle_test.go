package approval_test

import (
	"errors"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/vaglio"
)

func TestDecide(t *testing.T) {
	a := open(t, "make a", "make b", "make c")
	first, second, third := a.Approvals[0].ID, a.Approvals[1].ID, a.Approvals[2].ID
	one := tokenFor(t, &a, "telegram", approval.Callback{Approval: second, Choice: approval.ChoiceDeny})
	at := start.Add(time.Minute)

	r := decide(t, &a, approval.Tap{Token: one, By: owner, Channel: "telegram", Words: "  use make tidy \n"}, at)
	if !r.Won || !cmp.Equal(r.Approvals, []approval.ID{second}) || r.Ask.View() != "pending,denied,pending" {
		t.Errorf("denying one gives %+v", r)
	}
	want := &approval.Decision{Choice: approval.ChoiceDeny, By: owner, Channel: "telegram", At: at, Words: "use make tidy"}
	if p := a.Approvals[1]; !cmp.Equal(p.Decision, want) || p.Permit != nil || !p.EndedAt.Equal(at) {
		t.Errorf("the denied one is %+v", p)
	}

	all := tokenFor(t, &a, "web", approval.Callback{Choice: approval.ChoiceAllow, Calls: 3})
	r = decide(t, &a, approval.Tap{Token: all, By: owner, Channel: "web"}, at)
	if !r.Won || !cmp.Equal(r.Approvals, []approval.ID{first, third}) || r.Ask.View() != "allowed,denied,allowed" {
		t.Errorf("allowing the rest gives %+v", r)
	}
	if p := a.Approvals[0].Permit; p == nil || !p.IssuedAt.Equal(at) || !p.LapsesAt.Equal(at.Add(permitFor)) || !p.SpentAt.IsZero() {
		t.Errorf("the permit is %+v", p)
	}

	stranger := approval.Person{ID: "telegram:4711"}
	r = decide(t, &a, approval.Tap{Token: all, By: stranger}, at)
	if r.Won || len(r.Approvals) != 3 || r.Ask.Approvals[0].Decision.By != owner {
		t.Errorf("a tap for all that came too late gives %+v", r)
	}
	r = decide(t, &a, approval.Tap{Token: one, By: stranger}, at)
	if r.Won || !cmp.Equal(r.Approvals, []approval.ID{second}) || r.Ask.Approvals[1].Decision.Words != "use make tidy" {
		t.Errorf("a tap for one that came too late gives %+v", r)
	}
}

func TestDecideRefuses(t *testing.T) {
	long := strings.Repeat("é", approval.MaxWords)
	for name, tt := range map[string]struct {
		tap  approval.Tap
		want error
		says string
	}{
		"UnknownToken":    {tap: approval.Tap{Token: "NONE", Choice: approval.ChoiceAllow, By: owner}, want: approval.ErrNotFound},
		"TokenWins":       {tap: approval.Tap{Token: "NONE", Ask: "this", Choice: approval.ChoiceAllow, By: owner}, want: approval.ErrNotFound},
		"OtherAsk":        {tap: approval.Tap{Ask: "other", Choice: approval.ChoiceAllow, By: owner}, want: approval.ErrNotFound},
		"UnknownApproval": {tap: approval.Tap{Approval: "other-1", Choice: approval.ChoiceAllow, By: owner}, want: approval.ErrNotFound},
		"Nobody":          {tap: approval.Tap{Choice: approval.ChoiceAllow}, want: approval.ErrNobody},
		"NameIsNoID":      {tap: approval.Tap{Choice: approval.ChoiceAllow, By: approval.Person{Name: "Owner"}}, want: approval.ErrNobody},
		"IDNotUTF8":       {tap: approval.Tap{Choice: approval.ChoiceAllow, By: approval.Person{ID: "web:\xff"}}, want: approval.ErrNobody},
		"NoChoice":        {tap: approval.Tap{By: owner}, says: `choice "" is not an answer: it must be "allow" or "deny"`},
		"Yes":             {tap: approval.Tap{Choice: "yes", By: owner}, says: `choice "yes" is not an answer: it must be "allow" or "deny"`},
		"AllowInCapitals": {tap: approval.Tap{Choice: "ALLOW", By: owner}, says: `choice "ALLOW" is not an answer: it must be "allow" or "deny"`},
		"WordsTooLong":    {tap: approval.Tap{Choice: approval.ChoiceDeny, By: owner, Words: long + "é"}, says: "the words have 2001 characters; at most 2000 are taken"},
		"WordsNotUTF8":    {tap: approval.Tap{Choice: approval.ChoiceDeny, By: owner, Words: "no\xff"}, says: "the words are not valid UTF-8; send them as UTF-8 text"},
	} {
		t.Run(name, func(t *testing.T) {
			a := open(t, "make clean")
			before := open(t, "make clean")
			before.ID, before.Cards, before.Approvals[0].ID = a.ID, a.Cards, a.Approvals[0].ID
			r, err := a.Decide(tt.tap, start, permitFor)
			if r.Won || err == nil {
				t.Fatalf("taken: %+v", r)
			}
			if tt.want != nil && !errors.Is(err, tt.want) || tt.says != "" && err.Error() != tt.says {
				t.Errorf("error is %q, want %q%v", err, tt.says, tt.want)
			}
			if diff := cmp.Diff(before, a); diff != "" {
				t.Errorf("and yet it changed (-was +is):\n%s", diff)
			}
		})
	}
	a := open(t, "make clean")
	if r := decide(t, &a, approval.Tap{Choice: approval.ChoiceDeny, By: owner, Words: long}, start); !r.Won {
		t.Error("the longest words do not deny")
	}
}

// TestAButtonMeansWhatItSays checks that a button decides only what the person was told it
// means.
func TestAButtonMeansWhatItSays(t *testing.T) {
	a := open(t, "make clean", "make tidy")
	deny := tokenFor(t, &a, "web", approval.Callback{Approval: a.Approvals[0].ID, Choice: approval.ChoiceDeny})
	for name, tt := range map[string]struct {
		tap  approval.Tap
		want error
	}{
		"OtherChoice": {approval.Tap{Token: deny, Choice: approval.ChoiceAllow, By: owner}, approval.ErrOtherChoice},
		"OtherKind":   {approval.Tap{Token: deny, Choice: approval.ChoiceDenyKind, By: owner}, approval.ErrOtherChoice},
		"OtherAsk":    {approval.Tap{Token: deny, Ask: "other", Choice: approval.ChoiceDeny, By: owner}, approval.ErrNotFound},
	} {
		if r, err := a.Decide(tt.tap, start, permitFor); r.Won || !errors.Is(err, tt.want) || a.View() != "pending,pending" {
			t.Errorf("%s: %v, and the ask is %s", name, err, a.View())
		}
	}
	if r := decide(t, &a, approval.Tap{Token: deny, Ask: a.ID, Choice: approval.ChoiceDeny, By: owner}, start); !r.Won {
		t.Error("what the button says does not decide")
	}
}

func TestDecideKeepsADisplayNameHarmless(t *testing.T) {
	a := open(t, "make clean")
	decide(t, &a, approval.Tap{Choice: approval.ChoiceDeny, By: approval.Person{ID: "telegram:1", Name: "\xff" + strings.Repeat("n", 9999)}}, start)
	if name := a.Approvals[0].Decision.By.Name; len(name) > 110 || !strings.HasPrefix(name, "�n") {
		t.Errorf("the name is kept as %q", name)
	}
	if _, err := approval.EncodeAsk(a); err != nil {
		t.Errorf("the ask cannot be stored: %v", err)
	}
}

func TestDeadlines(t *testing.T) {
	end := start.Add(askFor)
	for name, tt := range map[string]struct {
		at   time.Time
		want approval.State
	}{
		"AtOnce":             {start, approval.Allowed},
		"LastInstant":        {end.Add(-1), approval.Allowed},
		"Deadline":           {end, approval.Expired},
		"Later":              {end.Add(time.Hour), approval.Expired},
		"ClockTrimmed":       {start.Add(-30 * time.Second), approval.Allowed},
		"ClockSetBack":       {start.Add(-time.Hour), approval.Expired},
		"ClockLost":          {time.Time{}, approval.Expired},
		"ClockFarFromReason": {start.AddDate(500, 0, 0), approval.Expired},
	} {
		t.Run(name, func(t *testing.T) {
			a := open(t, "make clean", "make all")
			r := decide(t, &a, approval.Tap{Approval: a.Approvals[0].ID, Choice: approval.ChoiceAllow, By: owner}, tt.at)
			if won := tt.want == approval.Allowed; r.Won != won || a.Approvals[0].State != tt.want {
				t.Errorf("won %v, state %s", r.Won, a.Approvals[0].State)
			}
			if tt.want == approval.Expired {
				if p := a.Approvals[1]; p.State != approval.Expired || p.Decision != nil || p.Permit != nil {
					t.Errorf("the other call of the ask is %+v", p)
				}
			}
		})
	}
}

func TestLapseAndNextDeadline(t *testing.T) {
	a := open(t, "make a", "make b")
	first, second := a.Approvals[0].ID, a.Approvals[1].ID
	at := start.Add(askFor - time.Minute)
	expect := func(step string, next time.Time, view approval.View) {
		t.Helper()
		if got := a.NextDeadline(); !got.Equal(next) || a.View() != view {
			t.Errorf("%s: next deadline %v, view %s; want %v, %s", step, got, a.View(), next, view)
		}
	}
	lapse := func(at time.Time, want bool) {
		t.Helper()
		if got := a.Lapse(at); got != want {
			t.Errorf("Lapse(%v) = %v", at, got)
		}
	}
	expect("open", start.Add(askFor), "pending,pending")
	decide(t, &a, approval.Tap{Approval: first, Choice: approval.ChoiceAllow, By: owner}, at)
	expect("allowed", start.Add(askFor), "allowed,pending")
	lapse(start.Add(askFor).Add(-1), false)
	lapse(start.Add(askFor), true)
	expect("expired", at.Add(permitFor), "allowed,expired")
	if !a.Approvals[1].EndedAt.Equal(start.Add(askFor)) {
		t.Errorf("the expired one ended at %v", a.Approvals[1].EndedAt)
	}
	spent := at.Add(permitFor - 1)
	if err := a.Redeem(first, a.Approvals[0].Fingerprint, spent); err != nil {
		t.Fatal(err)
	}
	expect("spent", spent.Add(approval.ReportWithin), "spent,expired")
	lapse(spent.Add(approval.ReportWithin), true)
	expect("unknown", time.Time{}, "unknown,expired")
	lapse(start.AddDate(9, 0, 0), false)
	if err := a.Report(second, approval.Outcome{}); err == nil {
		t.Error("an expired approval takes a report")
	}
}

func TestRedeem(t *testing.T) {
	allowed := func(t *testing.T) (approval.Ask, approval.ID, approval.Fingerprint) {
		a := open(t, "make clean")
		decide(t, &a, approval.Tap{Choice: approval.ChoiceAllow, By: owner}, start)
		return a, a.Approvals[0].ID, a.Approvals[0].Fingerprint
	}
	moveError := func(t *testing.T, err error, s approval.State) {
		t.Helper()
		if wrong, ok := errors.AsType[*approval.MoveError](err); !ok || wrong.State != s || wrong.Event != approval.Redeem {
			t.Errorf("error is %v, want a MoveError in %s", err, s)
		}
	}
	t.Run("Once", func(t *testing.T) {
		a, id, f := allowed(t)
		at := start.Add(time.Minute)
		if err := a.Redeem(id, f, at); err != nil || !a.Approvals[0].Permit.SpentAt.Equal(at) {
			t.Fatalf("Redeem: %v, %+v", err, a.Approvals[0].Permit)
		}
		moveError(t, a.Redeem(id, f, at), approval.Spent)
		if err := a.Redeem(id, f+"0", at); !errors.Is(err, approval.ErrOtherCall) {
			t.Errorf("another call on a spent permit: %v", err)
		}
		if err := a.Report(id, approval.Outcome{Succeeded: true, At: at}); err != nil || a.Approvals[0].State != approval.Succeeded {
			t.Errorf("Report: %v, %s", err, a.Approvals[0].State)
		}
		moveError(t, a.Redeem(id, f, at), approval.Succeeded)
		if err := a.Report(id, approval.Outcome{At: at}); err == nil || !a.Approvals[0].Outcome.Succeeded {
			t.Errorf("a second report is taken: %v", err)
		}
	})
	t.Run("OtherCall", func(t *testing.T) {
		a, id, f := allowed(t)
		for _, other := range []approval.Fingerprint{"", f[:len(f)-1], f + "0", "0" + f[1:] + "x"} {
			if err := a.Redeem(id, other, start); !errors.Is(err, approval.ErrOtherCall) {
				t.Errorf("fingerprint %q: %v", other, err)
			}
		}
		if err := a.Redeem("x-1", f, start); !errors.Is(err, approval.ErrNotFound) {
			t.Errorf("unknown approval: %v", err)
		}
		if err := a.Report("x-1", approval.Outcome{}); !errors.Is(err, approval.ErrNotFound) {
			t.Errorf("a report on an unknown approval: %v", err)
		}
		if err := a.Redeem(id, f, start); err != nil {
			t.Errorf("the right call after wrong ones: %v", err)
		}
	})
	for name, at := range map[string]time.Time{"Lapsed": start.Add(permitFor), "ClockSetBack": start.Add(-time.Hour)} {
		t.Run(name, func(t *testing.T) {
			a, id, f := allowed(t)
			moveError(t, a.Redeem(id, f, at), approval.Lapsed)
			moveError(t, a.Redeem(id, f, start.Add(time.Minute)), approval.Lapsed)
		})
	}
	t.Run("NotDecided", func(t *testing.T) {
		a := open(t, "make clean")
		moveError(t, a.Redeem(a.Approvals[0].ID, a.Approvals[0].Fingerprint, start), approval.Pending)
	})
	// A record that claims to be allowed is not enough: each part of it must be there and
	// match.
	for name, forge := range map[string]func(p *approval.Approval){
		"NoPermit":   func(p *approval.Approval) { p.Permit = nil },
		"NoDecision": func(p *approval.Approval) { p.Decision = nil },
		"Denied":     func(p *approval.Approval) { p.Decision.Choice = approval.ChoiceDeny },
		"NoChoice":   func(p *approval.Approval) { p.Decision.Choice = "" },
	} {
		t.Run("Forged"+name, func(t *testing.T) {
			a, id, f := allowed(t)
			forge(&a.Approvals[0])
			moveError(t, a.Redeem(id, f, start), approval.Allowed)
		})
	}
	// Nothing leads from the guard's denial to a permit, whatever the record says.
	for name, verdict := range map[string]vaglio.Verdict{
		"Guard":    {BlockedBy: vaglio.PhaseGuard},
		"Approved": {Approved: true},
		"Nothing":  {},
	} {
		t.Run("Forged"+name, func(t *testing.T) {
			a, id, f := allowed(t)
			a.Approvals[0].Verdict = verdict
			if err := a.Redeem(id, f, start); !errors.Is(err, approval.ErrNotAskable) || a.Approvals[0].State != approval.Allowed {
				t.Errorf("Redeem: %v, %s", err, a.Approvals[0].State)
			}
			b := open(t, "make a", "make b")
			b.Approvals[1].Verdict = verdict
			tap := approval.Tap{Ask: b.ID, Choice: approval.ChoiceAllow, By: owner, Channel: "web"}
			if _, err := b.Vote(tap, approval.Everybody(), start, permitFor); !errors.Is(err, approval.ErrNotAskable) || b.View() != "pending,pending" {
				t.Errorf("Vote: %v, %s", err, b.View())
			}
			tap.Choice = approval.ChoiceDeny
			if _, err := b.Vote(tap, approval.Everybody(), start, permitFor); err != nil || b.View() != "denied,denied" {
				t.Errorf("a denial: %v, %s", err, b.View())
			}
		})
	}
}

func TestWithdrawAndSupersede(t *testing.T) {
	for name, tt := range map[string]struct {
		end  func(*approval.Ask, approval.ID, time.Time) error
		want approval.State
	}{
		"Withdraw":  {(*approval.Ask).Withdraw, approval.Withdrawn},
		"Supersede": {(*approval.Ask).Supersede, approval.Superseded},
	} {
		t.Run(name, func(t *testing.T) {
			a := open(t, "make a", "make b")
			at := start.Add(time.Second)
			if err := tt.end(&a, a.Approvals[0].ID, at); err != nil || a.Approvals[0].State != tt.want || !a.Approvals[0].EndedAt.Equal(at) {
				t.Fatalf("%v, %+v", err, a.Approvals[0])
			}
			if a.Approvals[1].State != approval.Pending {
				t.Errorf("the other call is %s", a.Approvals[1].State)
			}
			if err := tt.end(&a, a.Approvals[0].ID, at); err == nil {
				t.Error("it ends twice")
			}
			if err := tt.end(&a, "x-1", at); !errors.Is(err, approval.ErrNotFound) {
				t.Errorf("unknown approval: %v", err)
			}
			if r := decide(t, &a, approval.Tap{Approval: a.Approvals[0].ID, Choice: approval.ChoiceAllow, By: owner}, at); r.Won {
				t.Error("it can be allowed afterwards")
			}
		})
	}
}

func TestReportBoundsTheDetail(t *testing.T) {
	a := open(t, "make clean")
	decide(t, &a, approval.Tap{Choice: approval.ChoiceAllow, By: owner}, start)
	if err := a.Redeem(a.Approvals[0].ID, a.Approvals[0].Fingerprint, start); err != nil {
		t.Fatal(err)
	}
	if err := a.Report(a.Approvals[0].ID, approval.Outcome{Detail: "\xff" + strings.Repeat("x", 1<<20)}); err != nil {
		t.Fatal(err)
	}
	o := a.Approvals[0].Outcome
	if a.Approvals[0].State != approval.Failed || utf8.RuneCountInString(o.Detail) != 2000 || !strings.HasSuffix(o.Detail, "[cut: 1048577 characters in all]") {
		t.Errorf("the report is kept as %.40s… (%d bytes)", o.Detail, len(o.Detail))
	}
}

// TestANameIsKeptAsLongAsACardCanShowIt decides under a name of the maximum length and
// under longer ones.
func TestANameIsKeptAsLongAsACardCanShowIt(t *testing.T) {
	const most = 100
	for _, n := range []int{most, most + 1, 10 * most} {
		a := open(t, "make clean")
		name := strings.Repeat("é", n)
		decide(t, &a, approval.Tap{Choice: approval.ChoiceDeny, By: approval.Person{ID: owner.ID, Name: name}}, start)
		kept := a.Approvals[0].Decision.By.Name
		if len([]rune(kept)) > most || (kept == name) != (n == most) {
			t.Errorf("of %d characters %d are kept", n, len([]rune(kept)))
		}
	}
}

// TestOnlyWhatWasSeenIsAllowed checks that an allowance holds only for what was shown, and
// a denial whatever was shown.
func TestOnlyWhatWasSeenIsAllowed(t *testing.T) {
	for name, tt := range map[string]struct {
		choice approval.Choice
		change func(a *approval.Ask) error
		want   approval.State
	}{
		"as it was shown": {approval.ChoiceAllow, func(*approval.Ask) error { return nil }, approval.Allowed},
		"asked about since": {approval.ChoiceAllow, func(a *approval.Ask) error {
			return a.Question(approval.Question{At: a.OpenedAt, Words: "which one?"})
		}, approval.Pending},
		"denied all the same": {approval.ChoiceDeny, func(a *approval.Ask) error {
			return a.Question(approval.Question{At: a.OpenedAt, Words: "which one?"})
		}, approval.Denied},
	} {
		t.Run(name, func(t *testing.T) {
			a := open(t, "make")
			at := a.OpenedAt
			tap := approval.Tap{Ask: a.ID, Choice: tt.choice, By: approval.Person{ID: "web:owner"}, Channel: "terminal", Seen: a.View()}
			if err := tt.change(&a); err != nil {
				t.Fatal(err)
			}
			_, err := a.Vote(tap, approval.Everybody(), at, time.Minute)
			if refused := errors.Is(err, approval.ErrOtherView); refused != (tt.want == approval.Pending) || err != nil && !refused {
				t.Errorf("the answer: %v", err)
			}
			if got := a.Approvals[0].State; got != tt.want {
				t.Errorf("it is %s, want %s", got, tt.want)
			}
		})
	}
}
