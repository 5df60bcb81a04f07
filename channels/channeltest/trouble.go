package channeltest

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/metnos/vaglio/approval"
)

// discreet fails the test when an error, or one inside of it, shows the secret.
func (h *Harness) discreet(t *testing.T, err error) {
	t.Helper()
	for e := err; e != nil; e = errors.Unwrap(e) {
		if h.Secret != "" && strings.Contains(e.Error(), h.Secret) {
			t.Error("an error shows the secret")
		}
	}
}

// retry returns the failure as one that passes.
func (h *Harness) retry(t *testing.T, err error) *approval.RetryError {
	t.Helper()
	h.discreet(t, err)
	r, ok := errors.AsType[*approval.RetryError](err)
	if !ok || errors.Is(err, approval.ErrGone) {
		t.Fatalf("got %v, want a failure that passes", err)
	}
	return r
}

func limited(t *testing.T, h Harness) {
	a, ref, _ := h.ask(t, "make")
	h.elsewhere(t, a, approval.ChoiceDeny, "")
	const pause = 7 * time.Second
	h.Limit(pause)
	if r := h.retry(t, h.Channel.Amend(t.Context(), ref, h.card(a))); r.After <= 0 || r.After > pause {
		t.Errorf("the pause is %s, want %s", r.After, pause)
	}
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
	h.elsewhere(t, a, approval.ChoiceAllow, "")
	other := Ask(t, h.Channel.Name(), "make test")
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
	if p := h.amend(t, ref, a); len(p.Buttons) != 0 {
		t.Errorf("after the outage the card offers %v", p.choices())
	}
	if _, p := h.post(t, &other); len(p.Buttons) != 2 {
		t.Errorf("what was to be posted offers %v", p.choices())
	}
}

func gone(t *testing.T, h Harness) {
	a, ref, _ := h.ask(t, "make")
	h.Remove(ref)
	h.elsewhere(t, a, approval.ChoiceDeny, "")
	err := h.Channel.Amend(t.Context(), ref, h.card(a))
	h.discreet(t, err)
	if !errors.Is(err, approval.ErrGone) {
		t.Errorf("got %v, want %v", err, approval.ErrGone)
	}
}

// shut shuts the room in each way that the platform has, decides a card meanwhile,
// and opens the room again: what was to be posted comes with its buttons, and the
// decided card offers nothing, or a press on it says how it ended.
func shut(t *testing.T, h Harness) {
	if len(h.Rooms) == 0 {
		t.Fatal("the harness names no way in which a room is shut")
	}
	for _, way := range slices.Sorted(maps.Keys(h.Rooms)) {
		a, ref, before := h.ask(t, "make "+way)
		h.Rooms[way](true)
		other := Ask(t, h.Channel.Name(), "make test "+way)
		_, err := h.Channel.Post(t.Context(), h.card(&other))
		h.discreet(t, err)
		r, ok := errors.AsType[*approval.RetryError](err)
		if !ok || !r.Unsent {
			t.Fatalf("%s: got %v, want a failure that passes, and that nothing was sent", way, err)
		}
		h.elsewhere(t, a, approval.ChoiceDeny, "")
		err = h.Channel.Amend(t.Context(), ref, h.card(a))
		h.discreet(t, err)
		if _, passes := errors.AsType[*approval.RetryError](err); !passes && !errors.Is(err, approval.ErrGone) {
			t.Errorf("%s: an amendment: %v", way, err)
		}
		h.Rooms[way](false)
		time.Sleep(r.After)
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
