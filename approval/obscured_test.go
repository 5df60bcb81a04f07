package approval_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/metnos/vaglio/approval"
)

// P5: what a masked value decides can be allowed only by somebody to whom the value was
// shown, whatever the button or state, and can be denied by everybody.
func TestAMaskIsACut(t *testing.T) {
	t.Parallel()
	const secret = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
	m := approval.NewMasker(approval.Secret{1})
	person := approval.Person{ID: "telegram:1", Name: "Ann"}
	fresh := func() approval.Ask {
		a := open(t, "make", "TOKEN="+secret+"; $TOKEN")
		a.Approvals[1].Obscured = []approval.Obscured{approval.ObscuredCommand}
		return a
	}
	first := fresh()
	channel := first.Cards[0].Channel
	for name, r := range map[string]struct {
		tap  func(a *approval.Ask) approval.Tap
		then func(a *approval.Ask)
		// err is nil if the tap is accepted; allowed is whether the second call is then
		// allowed.
		err     error
		allowed bool
	}{
		"alone":                {tap: one(1, approval.ChoiceAllow, false), err: approval.ErrObscured},
		"alone, shown":         {tap: one(1, approval.ChoiceAllow, true), allowed: true},
		"with all":             {tap: all(approval.ChoiceAllow, false), err: approval.ErrObscured},
		"with all, shown":      {tap: all(approval.ChoiceAllow, true), allowed: true},
		"the other one":        {tap: one(0, approval.ChoiceAllow, false)},
		"denied":               {tap: one(1, approval.ChoiceDeny, false)},
		"denied with all":      {tap: all(approval.ChoiceDeny, false)},
		"by a button":          {tap: button(approval.ChoiceAllow, channel), err: approval.ErrObscured},
		"over already":         {tap: one(1, approval.ChoiceAllow, false), then: func(a *approval.Ask) { a.Lapse(a.ExpiresAt) }},
		"all, once it is over": {tap: all(approval.ChoiceAllow, false), then: func(a *approval.Ask) { _ = a.Withdraw(a.Approvals[1].ID, start) }},
	} {
		a := fresh()
		if r.then != nil {
			r.then(&a)
		}
		before := a.View()
		tap := r.tap(&a)
		tap.By, tap.Channel = person, channel
		_, err := a.Decide(tap, start, time.Minute)
		if !errors.Is(err, r.err) || (a.Approvals[1].State == approval.Allowed) != r.allowed || err != nil && a.View() != before {
			t.Errorf("%s: %v, and it is %s", name, err, a.View())
		}
	}

	masked, shown := approval.NewCard(first, channel, m), approval.NewRevealedCard(first, channel, m)
	for _, c := range []struct {
		card  approval.Card
		shown bool
	}{{masked, false}, {shown, true}} {
		allows := func(bs []approval.Button) bool {
			return slices.ContainsFunc(bs, func(b approval.Button) bool { return b.Choice == approval.ChoiceAllow })
		}
		it := c.card.Items[1]
		if c.card.Revealed != c.shown || strings.Contains(it.Args+it.Command, secret) != c.shown || strings.Contains(it.Refusal.Wanted, secret) {
			t.Errorf("shown %v: the card shows %s %s", c.shown, it.Command, it.Refusal.Wanted)
		}
		if !allows(c.card.Items[0].Buttons) || allows(it.Buttons) != c.shown || allows(c.card.Buttons) != c.shown {
			t.Errorf("shown %v: it offers %v, %v and %v", c.shown, c.card.Items[0].Buttons, it.Buttons, c.card.Buttons)
		}
	}
	plain := fresh()
	plain.Approvals[1].Obscured = nil
	if c := approval.NewRevealedCard(plain, channel, m); strings.Contains(c.Items[1].Args+c.Items[1].Command, secret) {
		t.Errorf("a secret that decides nothing is shown: %s", c.Items[1].Args)
	}
	dropped := fresh()
	dropped.Lapse(dropped.ExpiresAt)
	dropped.DropValues(dropped.ExpiresAt.Add(time.Hour), dropped.ExpiresAt.Add(time.Hour))
	if c := approval.NewRevealedCard(dropped, channel, m); strings.Contains(c.Items[1].Args+c.Items[1].Command, secret) {
		t.Errorf("what was dropped is shown: %s", c.Items[1].Args)
	}
}

// TestAsksOfBeforeMasksWereCuts checks asks from before masked values that decide were
// looked for: they can be allowed unrevealed only if nothing in them is masked.
func TestAsksOfBeforeMasksWereCuts(t *testing.T) {
	t.Parallel()
	a := open(t, "make", "TOKEN=ghp_16C7e42F292c6912E7710c838347Ae178B4a; $TOKEN")
	now, err := approval.EncodeAsk(a)
	if err != nil {
		t.Fatal(err)
	}
	early := slices.Clone(a.Approvals)
	for _, r := range []struct {
		form string
		want []approval.Obscured
	}{{"7", []approval.Obscured{approval.ObscuredUnknown}}, {"1", []approval.Obscured{approval.ObscuredUnknown}}, {"8", nil}} {
		body := strings.Replace(string(now), `{"v":8,`, `{"v":`+r.form+`,`, 1)
		got, err := approval.DecodeAsk([]byte(body))
		if err != nil || got.Approvals[0].Obscured != nil || !slices.Equal(got.Approvals[1].Obscured, r.want) {
			t.Fatalf("form %s: %v, obscured %v and %v", r.form, err, got.Approvals[0].Obscured, got.Approvals[1].Obscured)
		}
		tap := one(1, approval.ChoiceAllow, false)(&got)
		tap.By, tap.Channel = approval.Person{ID: "telegram:1", Name: "Ann"}, got.Cards[0].Channel
		if _, err := got.Decide(tap, start, time.Minute); errors.Is(err, approval.ErrObscured) != (r.want != nil) {
			t.Errorf("form %s: %v", r.form, err)
		}
		if c := approval.NewCard(got, got.Cards[0].Channel, approval.NewMasker(approval.Secret{1})); strings.Contains(c.Items[1].Command, "ghp_") {
			t.Errorf("form %s: the card shows %s", r.form, c.Items[1].Command)
		}
	}
	// What has ended is shown as it was.
	a.Approvals = early
	a.Lapse(a.ExpiresAt)
	ended, err := approval.EncodeAsk(a)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := approval.DecodeAsk([]byte(strings.Replace(string(ended), `{"v":8,`, `{"v":7,`, 1))); err != nil || got.Approvals[1].Obscured != nil {
		t.Errorf("ended: %v, %v", err, got.Approvals[1].Obscured)
	}
}

// one returns a tap that answers one call by its id.
func one(i int, c approval.Choice, revealed bool) func(*approval.Ask) approval.Tap {
	return func(a *approval.Ask) approval.Tap {
		return approval.Tap{Ask: a.ID, Approval: a.Approvals[i].ID, Choice: c, Revealed: revealed}
	}
}

// all returns a tap that answers every waiting call.
func all(c approval.Choice, revealed bool) func(*approval.Ask) approval.Tap {
	return func(a *approval.Ask) approval.Tap { return approval.Tap{Ask: a.ID, Choice: c, Revealed: revealed} }
}

// button returns a tap on the button that answers all calls.
func button(c approval.Choice, channel string) func(*approval.Ask) approval.Tap {
	return func(a *approval.Ask) approval.Tap {
		for token, meant := range a.On(channel).Callbacks {
			if meant.Choice == c && meant.Approval == "" {
				return approval.Tap{Token: token}
			}
		}
		return approval.Tap{}
	}
}
