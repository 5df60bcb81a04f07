package channeltest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/vaglio"
)

// discreet fails the test if an error, or one that it wraps, shows the secret.
func (h *Harness) discreet(t *testing.T, err error) {
	t.Helper()
	for e := err; e != nil; e = errors.Unwrap(e) {
		if h.Secret != "" && strings.Contains(e.Error(), h.Secret) {
			t.Error("an error shows the secret")
		}
	}
}

// retry returns the failure, which must be a temporary one.
func (h *Harness) retry(t *testing.T, err error) *approval.RetryError {
	t.Helper()
	h.discreet(t, err)
	r, ok := errors.AsType[*approval.RetryError](err)
	if !ok || errors.Is(err, approval.ErrGone) {
		t.Fatalf("got %v, want a failure that passes", err)
	}
	return r
}

// How soon a press must be decided, and the person who pressed be told, whatever else is
// going on.
const (
	decidedWithin  = time.Second
	answeredWithin = 3 * time.Second
)

// timely holds every press on a card to its time limits.
func (h *Harness) timely(t *testing.T) {
	shown := h.Shown
	h.Shown = func(ref string) Picture {
		p := shown(ref)
		for i := range p.Buttons {
			label, press := p.Buttons[i].Label, p.Buttons[i].Press
			p.Buttons[i].Press = func(who Who) string {
				before, began := len(h.Desk.Taps()), time.Now()
				told := press(who)
				if took := time.Since(began); told != "" && took > answeredWithin && !h.Desk.failing() {
					t.Errorf("%q was answered after %s", label, took)
				}
				for _, at := range h.Desk.heardSince(before) {
					if took := at.Sub(began); took > decidedWithin {
						t.Errorf("%q was decided after %s", label, took)
					}
				}
				return told
			}
		}
		return p
	}
}

// pressed has the owner allow a card of its own, which nothing else delays.
func (h *Harness) pressed(t *testing.T, a *approval.Ask, p *Picture) {
	t.Helper()
	if told := p.button(t, approval.ChoiceAllow).Press(Owner); told == "" || h.Desk.states(a)[0] != approval.Allowed {
		t.Errorf("a press meanwhile made the call %s, and is told %q", h.Desk.states(a)[0], told)
	}
}

func limited(t *testing.T, h Harness) {
	a, ref, _ := h.ask(t, "make")
	beside, _, p := h.ask(t, "make beside")
	h.elsewhere(t, a, approval.ChoiceDeny, "")
	const pause = 7 * time.Second
	h.Limit(pause)
	if r := h.retry(t, h.Channel.Amend(t.Context(), ref, h.card(a))); r.After <= 0 || r.After > pause {
		t.Errorf("the pause is %s, want %s", r.After, pause)
	}
	h.pressed(t, beside, &p)
	time.Sleep(pause)
	h.amend(t, ref, a)
	h.Limit(pause)
	other := Ask(t, h.Channel.Name(), "make")
	_, err := h.Channel.Post(t.Context(), h.card(&other))
	if r := h.retry(t, err); r.After <= 0 || r.After > pause || !r.Unsent {
		t.Errorf("the pause is %s, want %s; surely not sent: %v", r.After, pause, r.Unsent)
	}
}

func outage(t *testing.T, h Harness) {
	a, ref, _ := h.ask(t, "make")
	beside, _, q := h.ask(t, "make beside")
	h.elsewhere(t, a, approval.ChoiceAllow, "")
	other := Ask(t, h.Channel.Name(), "make test")
	time.Sleep(time.Minute) // so that nothing waits for its turn while the platform is away
	try := func() {
		t.Helper()
		_ = h.retry(t, h.Channel.Amend(t.Context(), ref, h.card(a)))
	}
	h.Fail()
	try()
	h.Down(true)
	try()
	_, err := h.Channel.Post(t.Context(), h.card(&other))
	_ = h.retry(t, err)
	h.Down(false)
	h.pressed(t, beside, &q)
	if p := h.amend(t, ref, a); len(p.Buttons) != 0 {
		t.Errorf("after the outage the card offers %v", p.choices())
	}
	if _, p := h.post(t, &other); len(p.Buttons) != 2 {
		t.Errorf("what was to be posted offers %v", p.choices())
	}
}

func gone(t *testing.T, h Harness) {
	a, ref, _ := h.ask(t, "make")
	beside, _, p := h.ask(t, "make beside")
	h.Remove(ref)
	h.elsewhere(t, a, approval.ChoiceDeny, "")
	err := h.Channel.Amend(t.Context(), ref, h.card(a))
	h.discreet(t, err)
	if !errors.Is(err, approval.ErrGone) {
		t.Errorf("got %v, want %v", err, approval.ErrGone)
	}
	h.pressed(t, beside, &p)
}

// shut shuts the room in each way that the platform has, decides a card in the meantime,
// and opens the room again: the channel notices that, what was to be posted arrives with
// its buttons, and the decided card offers nothing, or a press on it says how it ended.
func shut(t *testing.T, h Harness) {
	if len(h.Rooms) == 0 {
		t.Fatal("the harness names no way in which a room is shut")
	}
	for _, way := range slices.Sorted(maps.Keys(h.Rooms)) {
		a, ref, before := h.ask(t, "make "+way)
		h.Rooms[way](true)
		h.open(t, way) // A delivery that found it shut may still be under way.
		h.Rooms[way](true)
		other := Ask(t, h.Channel.Name(), "make test "+way)
		_, err := h.Channel.Post(t.Context(), h.card(&other))
		h.discreet(t, err)
		r, ok := errors.AsType[*approval.RetryError](err)
		if !ok || !r.Unsent || !r.Shut {
			t.Fatalf("%s: got %+v, want a failure of a shut room, and that nothing was sent", way, r)
		}
		h.elsewhere(t, a, approval.ChoiceDeny, "")
		err = h.Channel.Amend(t.Context(), ref, h.card(a))
		h.discreet(t, err)
		if r, passes := errors.AsType[*approval.RetryError](err); !passes || !r.Shut || errors.Is(err, approval.ErrGone) {
			t.Errorf("%s: an amendment: %v, want a failure of a shut room", way, err)
		}
		h.open(t, way)
		if _, p := h.post(t, &other); len(p.Buttons) != 2 {
			t.Errorf("%s: what was to be posted offers %v", way, p.choices())
		}
		if told := before.button(t, approval.ChoiceAllow).Press(Owner); !strings.Contains(told, "Denied by Bob") || h.Desk.states(a)[0] != approval.Denied {
			t.Errorf("%s: a press on the decided card is told %q", way, told)
		}
		if p := h.amend(t, ref, a); len(p.Buttons) != 0 {
			t.Errorf("%s: the decided card offers %v", way, p.choices())
		}
	}
}

// open opens a room that was shut, and checks that the channel notices it.
func (h Harness) open(t *testing.T, way string) {
	t.Helper()
	heard := len(h.Desk.Openings())
	h.Rooms[way](false)
	time.Sleep(time.Second)
	if !slices.Contains(h.Desk.Openings()[heard:], h.Channel.Name()) {
		t.Errorf("%s: nobody heard that the room is open", way)
	}
}

// missed deletes a waiting card, in each way in which the channel can learn of it: it is
// looked for, cannot be amended, and can be answered once it is posted again.
func missed(t *testing.T, h Harness) {
	if len(h.Misses) == 0 {
		t.Fatal("the harness names no way in which a card is missed")
	}
	for i := range 40 { // What another agent has asked before takes no place in a list.
		flood := openFor(t, h.Channel.Name(), "mallory", "flood", vaglio.Proposal{Executor: "shell_exec", Args: vaglio.Args{"command": fmt.Sprint("make ", i)}})
		h.Desk.Add(&flood)
	}
	for _, way := range slices.Sorted(maps.Keys(h.Misses)) {
		a, ref, _ := h.ask(t, "make "+way)
		h.Remove(ref)
		before := len(h.Desk.Looked())
		h.Misses[way](ref)
		if looked := h.Desk.Looked()[before:]; !slices.Contains(looked, a.ID) {
			t.Errorf("%s: the card is not looked for", way)
		}
		err := h.Channel.Amend(t.Context(), ref, h.card(a))
		h.discreet(t, err)
		if !errors.Is(err, approval.ErrGone) && !errors.Is(err, approval.ErrRepost) {
			t.Errorf("%s: an amendment of what was deleted: %v", way, err)
		}
		again, err := h.Channel.Post(t.Context(), h.card(a))
		if err != nil {
			t.Fatalf("%s: posted anew: %v", way, err)
		}
		h.Desk.Change(func() { a.Cards[0].Ref = again })
		p := h.Shown(again)
		if told := p.button(t, approval.ChoiceDeny).Press(Owner); h.Desk.states(a)[0] != approval.Denied {
			t.Errorf("%s: a press on the card that came back is told %q", way, told)
		}
	}
}

// saidInAnyForm says words to a card in each way that the platform has: they deny, those of
// a stranger do not, and without words nothing does.
func saidInAnyForm(t *testing.T, h Harness) {
	if len(h.Says) == 0 {
		t.Fatal("the harness names no way to say something")
	}
	for _, way := range slices.Sorted(maps.Keys(h.Says)) {
		a, ref, _ := h.ask(t, "make "+way)
		for _, r := range []struct {
			who   Who
			words string
			want  approval.State
		}{{Stranger, "yes, allow it", approval.Pending}, {Owner, "", approval.Pending}, {Owner, "see the picture", approval.Denied}} {
			told := h.Says[way](r.who, ref, r.words)
			if got := h.Desk.states(a)[0]; got != r.want {
				t.Errorf("%s: %q of %d made it %s, want %s; told %q", way, r.words, r.who, got, r.want, told)
			}
			if told == "" && r.who == Owner {
				t.Errorf("%s: %q is answered with silence", way, r.words)
			}
		}
		if d := a.Approvals[0].Decision; d == nil || d.Words != "see the picture" {
			t.Errorf("%s: the words are not kept: %+v", way, d)
		}
	}
}

// decorated has the platform refuse for an hour things that no answer needs, across a
// restart: a press is decided and answered as always.
func decorated(t *testing.T, h Harness) {
	if len(h.Decorate) == 0 {
		t.Fatal("the harness names no decoration")
	}
	for _, way := range slices.Sorted(maps.Keys(h.Decorate)) {
		h.Decorate[way](true)
		h.Channel = h.Restart()
		for range 4 {
			a, ref, p := h.ask(t, "make "+way)
			h.pressed(t, a, &p)
			if p := h.amend(t, ref, a); len(p.Buttons) != 0 {
				t.Errorf("%s: decided, the card offers %v", way, p.choices())
			}
			time.Sleep(20 * time.Minute)
		}
		h.Decorate[way](false)
	}
}

// crowded sends thousands of messages that take long to answer, and then a press.
func crowded(t *testing.T, h Harness) {
	if h.Crowd == nil {
		t.Fatal("the harness has no crowd")
	}
	const many = 3000
	a, ref, p := h.ask(t, "make")
	h.Crowd(ref, many)
	h.pressed(t, a, &p)
}

// rehearsed presses the button of a test card on a waiting card: nothing is decided, and
// the card stays as it is.
func rehearsed(t *testing.T, h Harness) {
	if h.Forge == nil {
		t.Fatal("the harness forges nothing")
	}
	a, ref, before := h.ask(t, "make")
	told := h.Forge(ref)
	if p := h.Shown(ref); told == "" || p.Text != before.Text || len(p.Buttons) != len(before.Buttons) || h.Desk.states(a)[0] != approval.Pending {
		t.Errorf("a forged press of a test card is told %q, and leaves %v below %s", told, p.choices(), p.Text)
	}
	h.pressed(t, a, &before)
}

// news asks two people of a route, and then another route as well: the card says how many
// have allowed, who they are, and where how many are missing. A message next to it says who
// is asked now, too.
func news(t *testing.T, h Harness) {
	a := Ask(t, h.Channel.Name(), "make")
	a.Routes = []approval.Active{{Route: "on-call", Quorum: 2}}
	ref, p := h.post(t, &a)
	holds := func(p Picture, parts ...string) {
		t.Helper()
		for _, part := range parts {
			if !strings.Contains(p.Text, part) || len(p.Buttons) == 0 {
				t.Errorf("%q is not on the card, which offers %v: %s", part, p.choices(), p.Text)
			}
		}
	}
	holds(p, "2 people must allow it")
	h.Desk.Change(func() {
		by := approval.Person{ID: "test:1", Name: "Bob"}
		a.Approvals[0].Votes = []approval.Vote{{Human: "bob", By: by, Route: "on-call", Channel: "test", At: time.Now()}}
	})
	holds(h.amend(t, ref, &a), "1 of 2 have allowed", "Bob")
	h.Desk.Change(func() { a.Routes = append(a.Routes, approval.Active{Route: "leads", Quorum: 1}) })
	holds(h.amend(t, ref, &a), "on-call: 1 of 2", "leads: 0 of 1", "Bob")
	b := Ask(t, h.Channel.Name(), "make")
	b.Routes = []approval.Active{{Route: "on-call", Quorum: 1}, {Route: "leads", Quorum: 1}}
	ref, p = h.post(t, &b)
	holds(p, "on-call: 0 of 1", "leads: 0 of 1")
	if !h.Facts.Delivers {
		return
	}
	r, ok := h.Channel.(interface {
		Remind(ctx context.Context, ref string, c approval.Card) error
	})
	if !ok || h.Beside == nil {
		t.Fatal("nobody can be told beside the card")
	}
	if err := r.Remind(t.Context(), ref, h.card(&b)); err != nil || !strings.Contains(h.Beside(ref), "Now also asked: leads") {
		t.Errorf("beside the card people are told %q, %v", h.Beside(ref), err)
	}
}

// late presses Allow on a card whose ask has expired, like a press that arrived late: it
// decides nothing, and the person is not told that nobody answered.
func late(t *testing.T, h Harness) {
	a, _, before := h.ask(t, "make")
	h.Desk.Change(func() { a.Lapse(a.ExpiresAt) })
	told := before.button(t, approval.ChoiceAllow).Press(Owner)
	if h.Desk.states(a)[0] != approval.Expired || !strings.Contains(strings.ToLower(told), "expired") || strings.Contains(told, "obody answered") {
		t.Errorf("a press that came late made it %s and is told %q", h.Desk.states(a)[0], told)
	}
}
