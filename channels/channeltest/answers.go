package channeltest

import (
	"strings"
	"testing"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/internal/race"
)

// granting opens an ask with one call that may be granted, and posts it.
func (h *Harness) granting(t *testing.T, change func(*approval.Call)) (a *approval.Ask, ref string, p Picture) {
	t.Helper()
	d, err := approval.JudgeDenial(Denial())
	if err != nil {
		t.Fatal(err)
	}
	proposal := Command("git push origin main")
	proposal.Agent = "coder"
	call := approval.Call{Proposal: proposal, Denial: d, Fingerprint: "fp"}
	change(&call)
	at := time.Now()
	opened, err := approval.Open(approval.Opening{
		Agent: "coder", Intent: "publish", TurnID: "t-1", Channels: []string{h.Channel.Name()}, At: at, ExpiresAt: at.Add(30 * time.Minute), Calls: []approval.Call{call},
	})
	if err != nil {
		t.Fatal(err)
	}
	ref, p = h.post(t, &opened)
	return &opened, ref, p
}

// grants checks what a channel offers behind a second tap, and nowhere else.
func grants(t *testing.T, h Harness) {
	for _, choice := range approval.GrantChoices() {
		a, ref, p := h.granting(t, func(c *approval.Call) { c.Grantable = "key" })
		if got := p.choices(); len(got) != 2 {
			t.Errorf("before the second tap the card offers %v", got)
		}
		offered := h.Grants(ref)
		if len(offered) != 3 {
			t.Fatalf("behind the second tap the card offers %+v", offered)
		}
		for _, b := range offered {
			if told := b.Press(Stranger); told == "" || h.Desk.states(a)[0] != approval.Pending {
				t.Errorf("a stranger's tap on %q made it %s: %q", b.Label, h.Desk.states(a)[0], told)
			}
			if b.Choice != choice {
				continue
			}
			told := b.Press(Owner)
			g := a.Approvals[0].Grant
			if h.Desk.states(a)[0] != approval.Allowed || g == nil || !strings.Contains(strings.ToLower(told), "granted") || (g.Turn != "") != (choice == approval.ChoiceTurn) {
				t.Errorf("%q: told %q, it is %s, and granted %+v", b.Label, told, h.Desk.states(a)[0], g)
			}
			break
		}
		h.Desk.Change(func() { a.Spend(a.Approvals[0].ID, "key", "t-1", "use", time.Now()) })
		if p := h.amend(t, ref, a); len(p.Buttons) != 0 || !strings.Contains(p.Text, "2 of 10") {
			t.Errorf("granted, the card shows %v %s", p.choices(), p.Text)
		}
		h.Desk.Change(func() { a.EndGrant(a.Approvals[0].ID, approval.GrantTake, approval.Person{ID: "test:1"}, time.Now()) })
		if p := h.amend(t, ref, a); !strings.Contains(p.Text, "is over") {
			t.Errorf("ended, the card shows %s", p.Text)
		}
	}
	_, ref, _ := h.granting(t, func(*approval.Call) {})
	if offered := h.Grants(ref); len(offered) != 0 {
		t.Errorf("what cannot be granted offers %+v", offered)
	}
}

// further checks what a channel offers in sight if something similar was just answered: the
// grant of what was just allowed, with the number of calls that it covers, and the denial
// of the whole kind of what was just denied.
func further(t *testing.T, h Harness) {
	again := func(c *approval.Call) {
		c.Grantable, c.Most, c.Again = "key", approval.MaxUses, &approval.Likeness{Approval: "old-1", At: time.Now()}
	}
	a, ref, p := h.granting(t, again)
	if got := p.choices(); len(got) != 5 || !strings.Contains(p.Text, "The same call was allowed") {
		t.Fatalf("what was just allowed offers %v: %s", got, p.Text)
	}
	b := p.button(t, approval.ChoiceTurn)
	if !strings.Contains(b.Label, "50") {
		t.Errorf("the button %q does not say how many calls it covers", b.Label)
	}
	if told := b.Press(Stranger); told == "" || h.Desk.states(a)[0] != approval.Pending {
		t.Errorf("a stranger's tap made it %s: %q", h.Desk.states(a)[0], told)
	}
	if b.Press(Owner); h.Desk.states(a)[0] != approval.Allowed || a.Approvals[0].Grant == nil || a.Approvals[0].Grant.Most != approval.MaxUses {
		t.Errorf("granted, it is %s with %+v", h.Desk.states(a)[0], a.Approvals[0].Grant)
	}
	if p := h.amend(t, ref, a); len(p.Buttons) != 0 || strings.Contains(p.Text, "The same call was allowed") {
		t.Errorf("granted, the card shows %v %s", p.choices(), p.Text)
	}
	like := func(c *approval.Call) {
		c.Like = &approval.Likeness{
			Approval: "old-1", At: time.Now(), Kind: approval.CallKind{System: "git", Verb: "push"}, Differences: []approval.Difference{{Name: "ref", Was: "main", Now: "dev"}},
		}
	}
	a, ref, p = h.granting(t, like)
	if got := p.choices(); len(got) != 3 || !strings.Contains(p.Text, "every further push in git") {
		t.Fatalf("what is like a denied call offers %v: %s", got, p.Text)
	}
	b = p.button(t, approval.ChoiceDenyKind)
	if told := b.Press(Stranger); told == "" || h.Desk.states(a)[0] != approval.Pending {
		t.Errorf("a stranger's tap made it %s: %q", h.Desk.states(a)[0], told)
	}
	told := b.Press(Owner)
	if h.Desk.states(a)[0] != approval.Denied || a.Approvals[0].Kind == nil || !strings.Contains(strings.ToLower(told), "denied") {
		t.Errorf("the kind was denied: told %q, it is %s of %+v", told, h.Desk.states(a)[0], a.Approvals[0].Kind)
	}
	h.Desk.Change(func() { a.Stand(a.Approvals[0].EndedAt, time.Minute) })
	if p := h.amend(t, ref, a); len(p.Buttons) != 0 || !strings.Contains(p.Text, "Every push in git by this agent gets this answer") {
		t.Errorf("the kind was denied, and the card shows %v %s", p.choices(), p.Text)
	}
	_, _, p = h.granting(t, func(c *approval.Call) { again(c); c.Grantable = "" })
	if got := p.choices(); len(got) != 2 {
		t.Errorf("what cannot be granted offers %v", got)
	}
}

// likes checks what a channel says about a call that resembles a denied one, and about a
// denial that stands.
func likes(t *testing.T, h Harness) {
	_, _, p := h.granting(t, func(c *approval.Call) {
		c.Like = &approval.Likeness{Approval: "old-1", At: time.Now(), Differences: []approval.Difference{{Name: "ref", Was: "main", Now: "dev"}}}
	})
	if !strings.Contains(p.Text, "Like what you denied") || !strings.Contains(p.Text, "ref main → dev") {
		t.Errorf("the card does not say what it is like: %s", p.Text)
	}
	a, ref, _ := h.granting(t, func(*approval.Call) {})
	h.elsewhere(t, a, approval.ChoiceDeny, "")
	h.Desk.Change(func() { a.Stand(a.Approvals[0].EndedAt, time.Hour) })
	if p := h.amend(t, ref, a); !strings.Contains(p.Text, "gets this answer") {
		t.Errorf("denied, the card does not say how long that stands: %s", p.Text)
	}
	h.Desk.Change(func() {
		a.Lift(a.Approvals[0].ID, approval.Act{By: approval.Person{ID: "test:1", Name: "Bob"}, At: time.Now()})
	})
	if p := h.amend(t, ref, a); !strings.Contains(p.Text, "Lifted by Bob") || strings.Contains(p.Text, "gets this answer") {
		t.Errorf("lifted, the card shows %s", p.Text)
	}
}

// questions checks that asking the agent decides nothing, that the card shows the question
// and the answer, and that it is offered as often as allowed.
func questions(t *testing.T, h Harness) {
	a, ref, _ := h.ask(t, "make")
	if told, _ := h.Ask(Stranger, ref, "let me in?"); told == "" || len(a.Questions) != 0 {
		t.Errorf("a stranger asks: told %q, %+v", told, a.Questions)
	}
	for i, words := range []string{"yes, allow it", "which <b>one</b> & *why*?"} {
		told, offered := h.Ask(Owner, ref, words)
		if !offered || !strings.Contains(told, "Asked") || h.Desk.states(a)[0] != approval.Pending || len(a.Questions) != i+1 || a.Questions[i].Words != words {
			t.Fatalf("%q: told %q, and it is %s with %+v", words, told, h.Desk.states(a)[0], a.Questions)
		}
		p := h.amend(t, ref, a)
		if !strings.Contains(p.Text, words) || !strings.Contains(p.Text, "not answered yet") || len(p.Buttons) != 2 {
			t.Errorf("asked, the card shows %v %s", p.choices(), p.Text)
		}
		if _, offered := h.Ask(Owner, ref, "again?"); offered || len(a.Questions) != i+1 {
			t.Errorf("before the answer, a further question is offered: %+v", a.Questions)
		}
		h.Desk.Change(func() { a.AnswerQuestion("because\n<i>it</i> is *old*", time.Now()) })
		p = h.amend(t, ref, a)
		if !strings.Contains(p.Text, "<i>it</i> is *old*") || strings.Contains(p.Text, "not answered yet") || len(p.Buttons) != 2 || len(p.Links) != 0 {
			t.Errorf("answered, the card shows %v %v %s", p.choices(), p.Links, p.Text)
		}
	}
	if _, offered := h.Ask(Owner, ref, "a third?"); offered {
		t.Error("a third question is offered")
	}
	b, ref, p := h.ask(t, "make b")
	if told := p.button(t, approval.ChoiceAllow).Press(Owner); h.Desk.states(b)[0] != approval.Allowed {
		t.Fatalf("told %q", told)
	}
	h.amend(t, ref, b)
	if _, offered := h.Ask(Owner, ref, "too late?"); offered || len(b.Questions) != 0 {
		t.Errorf("after the end a question is offered: %+v", b.Questions)
	}
}

// orders checks the orders that people write or press.
func orders(t *testing.T, h Harness) {
	a, _, _ := h.ask(t, "make")
	for command, want := range map[string]string{
		"stop nobody": "nobody", "stop -1h": "-1h is not a time", "stop coder 0h": "0h is not a time", "stop coder 999h": "not a time", "go": "Nothing", "lift zzzz": "zzzz", "end": "id", "ask": "id", "ask zzzz": "zzzz", "grants": "No grant",
	} {
		if told := h.Command(Owner, command); !strings.Contains(told, want) || h.Desk.states(a)[0] != approval.Pending {
			t.Errorf("%s: told %q, and the call is %s", command, told, h.Desk.states(a)[0])
		}
	}
	if h.Command(Stranger, "stop"); h.Desk.states(a)[0] != approval.Pending {
		t.Errorf("a stranger's brake made the call %s", h.Desk.states(a)[0])
	}
	if told := h.Command(Owner, "stop coder 1h"); !strings.Contains(told, "coder is stopped") || h.Desk.states(a)[0] != approval.Denied || !a.Approvals[0].Decision.Brake {
		t.Errorf("stop: told %q, and the call is %s", told, h.Desk.states(a)[0])
	}
	if told := h.Command(Owner, "go"); !strings.Contains(told, "may go on") {
		t.Errorf("go: told %q", told)
	}
	b, _, _ := h.granting(t, func(c *approval.Call) { c.Grantable = "key" })
	h.elsewhere(t, b, approval.ChoiceHour, "")
	id := string(b.Approvals[0].ID)
	if told := h.Command(Owner, "grants"); !strings.Contains(told, id) || !strings.Contains(told, "1 of 10") {
		t.Errorf("grants: told %q", told)
	}
	if told := h.Command(Owner, "revoke "+id); !strings.Contains(told, "void") || h.Desk.states(b)[0] != approval.Lapsed {
		t.Errorf("revoke: told %q, and it is %s", told, h.Desk.states(b)[0])
	}
	if told := h.Command(Owner, "end "+id); !strings.Contains(told, "over") || b.Approvals[0].Grant.Ended == nil {
		t.Errorf("end: told %q", told)
	}
	c, _, _ := h.granting(t, func(*approval.Call) {})
	h.elsewhere(t, c, approval.ChoiceDeny, "")
	if told := h.Command(Owner, "lift "+string(c.Approvals[0].ID)); !strings.Contains(told, "asked again") || c.Approvals[0].Lifted == nil {
		t.Errorf("lift: told %q", told)
	}
}

// later checks what people do with an ask that they do not answer: postpone its reminder,
// or hand it over. That decides nothing, the deadline stays, and the card says so.
func later(t *testing.T, h Harness) {
	a, ref, _ := h.ask(t, "make")
	id, until := string(a.ID), a.ExpiresAt
	for command, want := range map[string]string{
		"snooze " + id + " 999h": "cannot be put off", "snooze " + id + " soon": "cannot be put off by soon", "snooze": "id", "snooze zzzz": "zzzz",
		"hand " + id + " nobody": "nobody is not an approver", "hand zzzz test:2": "zzzz", "hand": "id",
	} {
		if told := h.Command(Owner, command); !strings.Contains(told, want) || a.Snoozed != nil || len(a.Handed) != 0 {
			t.Errorf("%s: told %q, and the ask is %+v %+v", command, told, a.Snoozed, a.Handed)
		}
	}
	for _, command := range []string{"snooze " + id, "hand " + id + " test:2"} {
		if told := h.Command(Stranger, command); told == "" || a.Snoozed != nil || len(a.Handed) != 0 {
			t.Errorf("a stranger's %s: told %q, and the ask is %+v %+v", command, told, a.Snoozed, a.Handed)
		}
	}
	if told := h.Command(Owner, "snooze "+id+" 5m"); !strings.Contains(told, "The reminder comes") || a.Snoozed == nil || a.Snoozed.Until.Sub(a.Snoozed.At) != 5*time.Minute {
		t.Fatalf("snooze: told %q, and the ask is %+v", told, a.Snoozed)
	}
	if p := h.amend(t, ref, a); !strings.Contains(p.Text, "put the reminder off") || len(p.Buttons) != 2 {
		t.Errorf("put off, the card shows %v %s", p.choices(), p.Text)
	}
	if told := h.Command(Owner, "hand "+id+" test:2"); !strings.Contains(told, "Handed over to test:2") || len(a.Handed) != 1 || a.Handed[0].To != "test:2" {
		t.Fatalf("hand: told %q, and the ask is %+v", told, a.Handed)
	}
	if p := h.amend(t, ref, a); !strings.Contains(p.Text, "handed this over to test:2") || len(p.Buttons) != 2 {
		t.Errorf("handed over, the card shows %v %s", p.choices(), p.Text)
	}
	if h.Desk.states(a)[0] != approval.Pending || !a.ExpiresAt.Equal(until) {
		t.Errorf("it decided something: %s, until %s", h.Desk.states(a)[0], a.ExpiresAt)
	}
}

// givenHere checks that a channel names orders the way people give them there, both on
// cards and in what it tells those who decide or stop.
func givenHere(t *testing.T, h Harness) {
	says := func(what, told, verb string, of ...string) {
		t.Helper()
		order := h.Facts.Order(verb, of...)
		if strings.Contains(told, ".,") {
			t.Errorf("%s is cut off by what follows it: %s", what, told)
		}
		if !strings.Contains(told, order) {
			t.Errorf("%s does not name %s: %s", what, order, told)
		}
		for _, foreign := range []string{"/" + verb, "/vaglio " + verb, "vaglio " + verb} {
			if strings.Contains(strings.ReplaceAll(told, order, ""), foreign) {
				t.Errorf("%s names an order as it is given elsewhere, %s: %s", what, foreign, told)
			}
		}
	}
	a, ref, _ := h.granting(t, func(*approval.Call) {})
	h.elsewhere(t, a, approval.ChoiceDeny, "")
	h.Desk.Change(func() { a.Stand(a.Approvals[0].EndedAt, time.Hour) })
	says("a denial that stands", h.amend(t, ref, a).Text, "lift", string(a.Approvals[0].ID))
	like := &approval.Likeness{Approval: "old-1", At: time.Now(), Kind: approval.CallKind{System: "git", Verb: "push"}, Differences: []approval.Difference{{Name: "ref", Was: "main", Now: "dev"}}}
	a, ref, _ = h.granting(t, func(c *approval.Call) { c.Like = like })
	h.elsewhere(t, a, approval.ChoiceDenyKind, "")
	h.Desk.Change(func() { a.Stand(a.Approvals[0].EndedAt, time.Hour) })
	says("a kind's denial", h.amend(t, ref, a).Text, "lift", string(a.Approvals[0].ID))
	a, ref, _ = h.granting(t, func(c *approval.Call) { c.Grantable = "key" })
	for _, b := range h.Grants(ref) {
		if b.Choice == approval.ChoiceHour {
			says("the answer to a grant", b.Press(Owner), "grants")
		}
	}
	says("a grant", h.amend(t, ref, a).Text, "end", string(a.Approvals[0].ID))
	for _, order := range []string{"stop", "stop 1h", "stop coder", "stop coder 1h"} {
		says(order, h.Command(Owner, order), "go")
		h.Command(Owner, "go")
	}
}

// edits checks that cards link to where a call can be edited and then allowed if something
// that waits can be edited, and that no other cards do.
func edits(t *testing.T, h Harness) {
	race.Alone(t)
	a, ref, p := h.ask(t, "git push origin main")
	label, address := h.Edit(ref)
	if want := h.Facts.Edits(a.ID, a.Approvals[0].ID); !strings.Contains(label, "Edit") || address != want {
		t.Errorf("the card leads to %q by %q, not to %q", address, label, want)
	}
	if got := p.choices(); len(got) != 2 || len(p.Links) != 0 {
		t.Errorf("the card that leads to an edit offers %v, and its text leads to %v", got, p.Links)
	}
	h.elsewhere(t, a, approval.ChoiceDeny, "")
	h.amend(t, ref, a)
	if label, address := h.Edit(ref); label+address != "" {
		t.Errorf("denied, the card leads to %q by %q", address, label)
	}
	for what, line := range map[string]string{"long": strings.Repeat("echo a\n", approval.MaxEdit), "masked": "curl -H 'Authorization: Bearer ghp_0123456789abcdefABCDEF0123456789abcd' https://example.org"} {
		_, ref, _ := h.ask(t, line)
		if label, address := h.Edit(ref); label+address != "" {
			t.Errorf("a call that is %s cannot be edited, and its card leads to %q by %q", what, address, label)
		}
	}
	b, ref, _ := h.ask(t, "git push origin main", "git push origin dev")
	if _, address := h.Edit(ref); address != h.Facts.Edits(b.ID, "") {
		t.Errorf("the card of several calls leads to %q, not to %q", address, h.Facts.Edits(b.ID, ""))
	}
}
