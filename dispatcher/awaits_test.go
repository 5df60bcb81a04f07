package dispatcher_test

import (
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/metnos/vaglio/approval"
)

// awaited returns the team's ids for whom the only card waits.
func (h *house) awaited() (ids []string) {
	h.t.Helper()
	for card, err := range h.Pending(h.t.Context(), "chat") {
		if err != nil || ids != nil {
			h.t.Fatalf("%v; before: %v", err, ids)
		}
		ids = []string{}
		for _, id := range []string{ann, annToo, bob, cat, owner.ID, "chat:eve"} {
			if h.Awaits(card, id) {
				ids = append(ids, id)
			}
		}
	}
	return ids
}

func (h *house) awaits(when string, want ...string) {
	h.t.Helper()
	if got := h.awaited(); !slices.Equal(got, want) {
		h.t.Errorf("%s: it waits for %v, want %v", when, got, want)
	}
}

// TestAnAskWaitsForWhoIsMissing checks that if two people must allow, the card waits for
// those who have not answered yet, under any of their ids, and after an escalation for the
// further people too.
func TestAnAskWaitsForWhoIsMissing(t *testing.T) {
	teamed(t, func(t *testing.T, h *house, _ *chat) {
		h.ask("make a", 1)
		settle()
		card := h.chat.seen()[0]
		h.awaits("at first", ann, annToo, bob)
		if r, err := h.vote(card, annToo, approval.ChoiceAllow); err != nil || !r.Voted {
			t.Fatalf("%+v, %v", r, err)
		}
		h.awaits("after a vote", bob)
		h.restart()
		h.awaits("after a restart", bob)
		time.Sleep(10 * time.Minute)
		settle()
		h.awaits("escalated", bob, cat)
		if r, err := h.vote(card, bob, approval.ChoiceDeny); err != nil || !r.Won {
			t.Fatalf("%+v, %v", r, err)
		}
		h.awaits("denied")
	})
}

// TestACardWaitsWhileOneCallDoes checks that a call that joins a card makes the card wait
// again for somebody who allowed the first call.
func TestACardWaitsWhileOneCallDoes(t *testing.T) {
	teamed(t, func(t *testing.T, h *house, _ *chat) {
		h.ask("make a", 1)
		settle()
		if _, err := h.vote(h.chat.seen()[0], ann, approval.ChoiceAllow); err != nil {
			t.Fatal(err)
		}
		h.awaits("one call", bob)
		if _, err := h.Propose(t.Context(), agent, inTurn("make b", 2)); err != nil {
			t.Fatal(err)
		}
		settle()
		h.awaits("two calls", ann, annToo, bob)
		second := h.chat.seen()[0].card.Items[1].Approval
		tap := approval.Tap{Ask: second.Ask(), Approval: second, Choice: approval.ChoiceDeny, By: approval.Person{ID: bob}, Channel: "chat"}
		if r, err := h.Decide(t.Context(), tap); err != nil || !r.Won {
			t.Fatalf("%+v, %v", r, err)
		}
		h.awaits("the second denied", bob)
	})
}

// TestSeparationWaitsForAnother checks that the yes of the agent's own person is kept, but
// is not enough alone.
func TestSeparationWaitsForAnother(t *testing.T) {
	teamed(t, func(t *testing.T, h *house, _ *chat) {
		h.end()
		h.routing.Routes[0].Quorum = 1
		h.restart()
		h.ask("make a", 1)
		settle()
		h.awaits("at first", ann, annToo, bob)
		if r, err := h.vote(h.chat.seen()[0], ann, approval.ChoiceAllow); err != nil || r.Won || !r.Voted {
			t.Fatalf("%+v, %v", r, err)
		}
		h.awaits("after the owner", bob)
	})
}

// TestAnAskWaitsForAGroup checks that a group's members are looked up each time, and that
// the card waits for none of them while they are unknown.
func TestAnAskWaitsForAGroup(t *testing.T) {
	teamed(t, func(t *testing.T, h *house, _ *chat) {
		var roster atomic.Pointer[[]string]
		h.end()
		h.routing.Routes[0].Approvers, h.routing.Routes[0].Groups = []string{"bob"}, []string{"chat:G1"}
		h.routing.Roster = func(string) ([]string, bool) {
			if ids := roster.Load(); ids != nil {
				return *ids, true
			}
			return nil, false
		}
		h.restart()
		h.ask("make a", 1)
		settle()
		h.awaits("an unknown group", bob)
		roster.Store(&[]string{ann})
		h.awaits("a group", ann, annToo, bob)
		if r, err := h.vote(h.chat.seen()[0], bob, approval.ChoiceAllow); err != nil || !r.Voted {
			t.Fatalf("%+v, %v", r, err)
		}
		h.awaits("after a vote", ann, annToo)
		roster.Store(&[]string{cat})
		h.awaits("another group voids the vote", bob, cat)
	})
}

// TestWithoutRoutesItWaitsForEverybody checks that without routes the card waits for
// everybody who may decide at all.
func TestWithoutRoutesItWaitsForEverybody(t *testing.T) {
	housed(t, func(_ *testing.T, h *house) {
		h.ask("make a", 1)
		settle()
		h.awaits("no routes", owner.ID)
	})
}
