package channeltest

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/metnos/vaglio/approval"
)

// means presses each button of a plan, each on a plan of its own.
func means(t *testing.T, h Harness) {
	seen := map[string]string{}
	for i := range 6 {
		a, _, p := h.ask(t, "make a", "make b")
		if len(p.Buttons) != 6 {
			t.Fatalf("the card offers %v", p.choices())
		}
		b := p.Buttons[i]
		b.Press(Owner)
		did := fmt.Sprint(h.Desk.states(a))
		if other, ok := seen[did]; ok {
			t.Errorf("%q and %q do the same: %s", b.Label, other, did)
		}
		seen[did] = b.Label
		ended := approval.Denied
		if b.Choice == approval.ChoiceAllow {
			ended = approval.Allowed
		}
		for _, s := range h.Desk.states(a) {
			if s != ended && s != approval.Pending {
				t.Errorf("%q, which is to %s, made a call %s", b.Label, b.Choice, s)
			}
		}
	}
	for _, did := range []string{"[allowed allowed]", "[denied denied]", "[allowed pending]", "[pending allowed]", "[denied pending]", "[pending denied]"} {
		if _, ok := seen[did]; !ok {
			t.Errorf("no button makes the calls %s; they make %v", did, seen)
		}
	}
}

func once(t *testing.T, h Harness) {
	a, ref, p := h.ask(t, "make")
	allow, deny := p.button(t, approval.ChoiceAllow), p.button(t, approval.ChoiceDeny)
	if told := allow.Press(Owner); !strings.Contains(strings.ToLower(told), "allowed") || h.Desk.states(a)[0] != approval.Allowed {
		t.Errorf("told %q, and the call is %s", told, h.Desk.states(a)[0])
	}
	for name, b := range map[string]Button{"the same": allow, "the other": deny} {
		if told := b.Press(Owner); !strings.Contains(strings.ToLower(told), "allowed") || h.Desk.states(a)[0] != approval.Allowed {
			t.Errorf("%s again: told %q, and the call is %s", name, told, h.Desk.states(a)[0])
		}
	}
	h.amend(t, ref, a)
	if told := deny.Press(Owner); !strings.Contains(strings.ToLower(told), "allowed") || h.Desk.states(a)[0] != approval.Allowed {
		t.Errorf("after the end: told %q, and the call is %s", told, h.Desk.states(a)[0])
	}
	if d := a.Approvals[0].Decision; d == nil || d.Channel != h.Channel.Name() || !strings.HasPrefix(d.By.ID, approval.Platform(h.Channel.Name())+":") {
		t.Errorf("the decision is %+v", d)
	}
}

func stranger(t *testing.T, h Harness) {
	a, ref, p := h.ask(t, "make")
	for _, b := range p.Buttons {
		if told := b.Press(Stranger); told == "" || strings.Contains(told, "make") {
			t.Errorf("a stranger is told %q", told)
		}
	}
	h.Reply(Stranger, ref, "no")
	if s := h.Desk.states(a)[0]; s != approval.Pending {
		t.Errorf("a stranger made it %s", s)
	}
	if told := p.button(t, approval.ChoiceDeny).Press(Owner); h.Desk.states(a)[0] != approval.Denied {
		t.Errorf("afterwards the owner is told %q", told)
	}
}

func stale(t *testing.T, h Harness) {
	for name, end := range map[string]func(a *approval.Ask){
		"denied":    func(a *approval.Ask) { h.elsewhere(t, a, approval.ChoiceDeny, "") },
		"expired":   func(a *approval.Ask) { h.Desk.Change(func() { a.Lapse(a.ExpiresAt) }) },
		"withdrawn": func(a *approval.Ask) { h.Desk.Change(func() { _ = a.Withdraw(a.Approvals[0].ID, time.Now()) }) },
	} {
		a, ref, p := h.ask(t, "make")
		end(a)
		told := p.button(t, approval.ChoiceAllow).Press(Owner)
		if !strings.Contains(strings.ToLower(told), name) || h.Desk.states(a)[0] != approval.State(name) {
			t.Errorf("%s: told %q, and it is %s", name, told, h.Desk.states(a)[0])
		}
		if name == "denied" && !strings.Contains(told, "Bob") {
			t.Errorf("who was first is not told: %q", told)
		}
		if told := h.Reply(Owner, ref, "and more"); told == "" || h.Desk.states(a)[0] != approval.State(name) {
			t.Errorf("%s: words are answered %q", name, told)
		}
	}
}

func wordsDeny(t *testing.T, h Harness) {
	for _, words := range []string{"yes, allow it", "allow", "ok", "use staging\nplease"} {
		a, ref, _ := h.ask(t, "make")
		told := h.Reply(Owner, ref, words)
		d := a.Approvals[0].Decision
		if h.Desk.states(a)[0] != approval.Denied || d == nil || d.Words != words || !strings.Contains(strings.ToLower(told), "denied") {
			t.Errorf("%q: told %q, %s, %+v", words, told, h.Desk.states(a)[0], d)
		}
	}
	a, ref, _ := h.ask(t, "make")
	if told := h.Reply(Owner, ref, strings.Repeat("x", approval.MaxWords+1)); !strings.Contains(told, "othing was decided") || h.Desk.states(a)[0] != approval.Pending {
		t.Errorf("too many words: told %q, %s", told, h.Desk.states(a)[0])
	}
}

func restarts(t *testing.T, h Harness) {
	a, ref, p := h.ask(t, "make")
	b, _, q := h.ask(t, "make b")
	h.Channel = h.Restart()
	if told := p.button(t, approval.ChoiceAllow).Press(Owner); h.Desk.states(a)[0] != approval.Allowed {
		t.Errorf("a tap after a restart is told %q", told)
	}
	if got := h.amend(t, ref, a); len(got.Buttons) != 0 || !strings.Contains(strings.ToLower(got.Text), "allowed") {
		t.Errorf("an amendment after a restart: %v %s", got.choices(), got.Text)
	}
	if told := q.button(t, approval.ChoiceDeny).Press(Stranger); told == "" || h.Desk.states(b)[0] != approval.Pending {
		t.Errorf("a stranger after a restart is told %q", told)
	}
}

// refused checks that each refusal of a tap is explained to whom it concerns.
func refused(t *testing.T, h Harness) {
	a, _, p := h.ask(t, "make")
	for err, want := range map[error]string{
		approval.ErrNotApprover: "not among those who may", approval.ErrNotAskable: "Nobody can allow this call",
		approval.ErrObscured: "masked value decides", approval.ErrPasskey: "needs your passkey", approval.ErrNoGrant: "cannot be granted",
	} {
		h.Desk.Fail(err)
		if told := p.button(t, approval.ChoiceAllow).Press(Owner); !strings.Contains(told, want) || h.Desk.states(a)[0] != approval.Pending {
			t.Errorf("%v: told %q, and the call is %s", err, told, h.Desk.states(a)[0])
		}
	}
	h.Desk.Fail(nil)
	if told := p.button(t, approval.ChoiceAllow).Press(Owner); h.Desk.states(a)[0] != approval.Allowed {
		t.Errorf("afterwards it is told %q", told)
	}
}

func unkept(t *testing.T, h Harness) {
	a, _, p := h.ask(t, "make")
	h.Desk.Fail(errors.New("no room left"))
	told := p.button(t, approval.ChoiceAllow).Press(Owner)
	if lower := strings.ToLower(told); told == "" || strings.Contains(lower, "allowed once") || strings.Contains(told, "no room left") || h.Desk.states(a)[0] != approval.Pending {
		t.Errorf("told %q, and the call is %s", told, h.Desk.states(a)[0])
	}
	h.Desk.Fail(nil)
	if told := p.button(t, approval.ChoiceAllow).Press(Owner); h.Desk.states(a)[0] != approval.Allowed {
		t.Errorf("pressed again: told %q, and the call is %s", told, h.Desk.states(a)[0])
	}
}
