package dispatcher_test

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/dispatcher"
	"github.com/metnos/vaglio/vaglio"
)

const (
	ann, annToo, bob, cat = "chat:ann", "desk:ann", "chat:bob", "desk:cat"
)

// teamed runs a test with two channels and a team of three. Two of them must allow what the
// shell does, and one everything else.
func teamed(t *testing.T, test func(t *testing.T, h *house, desk *chat)) {
	t.Helper()
	housed(t, func(t *testing.T, h *house) {
		desk := &chat{name: "desk"}
		h.also = []dispatcher.Channel{desk}
		h.routing = approval.Routing{
			Members: []approval.Member{{Name: "ann", IDs: []string{ann, annToo}}, {Name: "bob", IDs: []string{bob}}, {Name: "cat", IDs: []string{cat}}},
			Owners:  map[string]string{"*": "ann"},
			Routes: []approval.Route{
				{Name: "shell", Channels: []string{"chat"}, Approvers: []string{"ann", "bob"}, Quorum: 2, Separate: true, EscalateAfter: 10 * time.Minute, EscalateTo: "rest"},
				{Name: "rest", Approvers: []string{"cat"}, Deadline: time.Hour},
			},
			Rules: []approval.Rule{{Executors: []string{"shell_exec"}, Route: "shell"}, {Route: "rest"}},
		}
		if err := h.routing.Check([]string{"chat", "desk"}); err != nil {
			t.Fatal(err)
		}
		h.restart()
		test(t, h, desk)
	})
}

// vote presses the button for all on the card, as the person.
func (h *house) vote(m message, id string, c approval.Choice) (approval.Receipt, error) {
	h.t.Helper()
	for _, b := range m.card.Buttons {
		if b.Choice == c {
			return h.Decide(h.t.Context(), approval.Tap{Token: b.Token, By: approval.Person{ID: id}, Channel: "chat"})
		}
	}
	h.t.Fatalf("no button %s in %+v", c, m.card)
	return approval.Receipt{}, nil
}

// P7: a call goes to those who decide it, also inside another one.
func TestABatchGoesWhereItsCallsGo(t *testing.T) {
	teamed(t, func(t *testing.T, h *house, _ *chat) {
		for command, want := range map[string]string{"shell_exec": "shell", "mystery": "rest"} {
			c := inTurn("", 1)
			c.Proposal.TurnID, c.Proposal.Executor = command, "batch"
			c.Proposal.Args = vaglio.Args{"tool_calls": []any{map[string]any{"tool": command, "parameters": map[string]any{"command": "make a"}}}}
			if _, err := h.Propose(t.Context(), agent, c); err != nil {
				t.Fatal(err)
			}
			goes := false
			for c, err := range h.Pending(t.Context(), "") {
				goes = goes || err == nil && c.Routes[0].Route == want
			}
			if !goes {
				t.Errorf("a batch of %s does not go to %s", command, want)
			}
		}
	})
}

// P7, P3: one yes of two is kept over a restart, gives no permit, and wakes nobody; the
// second one allows.
func TestTwoPeopleAllow(t *testing.T) {
	teamed(t, func(t *testing.T, h *house, desk *chat) {
		a := h.ask("make a", 1)
		settle()
		card := h.chat.seen()[0]
		if n := len(desk.seen()); n != 0 {
			t.Errorf("%d cards on a channel that is not the route's", n)
		}
		if r, err := h.vote(card, ann, approval.ChoiceAllow); err != nil || r.Won || !r.Voted {
			t.Fatalf("the first: %+v, %v", r, err)
		}
		settle()
		if it := h.chat.seen()[0].card.Items[0]; len(it.Votes) != 1 || it.Votes[0].Human != "ann" {
			t.Errorf("the card shows %+v", it.Votes)
		}
		for _, id := range []string{cat, owner.ID, "chat:eve"} {
			if _, err := h.vote(card, id, approval.ChoiceAllow); !errors.Is(err, approval.ErrNotApprover) {
				t.Errorf("%s: %v", id, err)
			}
			e := edit(a.Approval.ID, "make b")
			e.By.ID = id
			if shown, err := h.Edit(t.Context(), e); !errors.Is(err, approval.ErrNotApprover) || shown.Print != "" {
				t.Errorf("%s looks at an edit: %+v %v", id, shown, err)
			}
		}
		if b, err := h.Await(t.Context(), agent, a.Approval.ID, 0); err != nil || b.Permit != nil || b.Decision != approval.RulingPending {
			t.Errorf("with one vote the agent has %+v, %v", b, err)
		}
		h.restart()
		if r, err := h.vote(card, annToo, approval.ChoiceAllow); err != nil || r.Won || r.Voted {
			t.Errorf("the same person elsewhere: %+v, %v", r, err)
		}
		if r, err := h.vote(card, bob, approval.ChoiceAllow); err != nil || !r.Won {
			t.Errorf("the second: %+v, %v", r, err)
		}
		settle()
		if m := h.chat.seen()[0]; len(m.card.Buttons) != 0 || h.state(a.Approval.ID) != approval.Allowed {
			t.Errorf("in the end it is %s: %+v", h.state(a.Approval.ID), m.card)
		}
	})
}

// TestOnePersonIsNoQuorum checks that one person has one vote, however often and under
// however many ids they press.
func TestOnePersonIsNoQuorum(t *testing.T) {
	teamed(t, func(t *testing.T, h *house, _ *chat) {
		a := h.ask("make a", 1)
		settle()
		card := h.chat.seen()[0]
		var wg sync.WaitGroup
		var mu sync.Mutex
		kept := 0
		for i := range 100 {
			wg.Go(func() {
				r, err := h.vote(card, []string{ann, annToo}[i%2], approval.ChoiceAllow)
				mu.Lock()
				defer mu.Unlock()
				if err != nil || r.Won {
					t.Errorf("press %d: %+v, %v", i, r, err)
				}
				if r.Voted {
					kept++
				}
			})
		}
		wg.Wait()
		if kept != 1 || h.state(a.Approval.ID) != approval.Pending {
			t.Errorf("%d votes were kept, it is %s", kept, h.state(a.Approval.ID))
		}
	})
}

// TestAnotherRosterVoidsVotes checks that a start with another roster voids the votes of
// the old one, on the card too.
func TestAnotherRosterVoidsVotes(t *testing.T) {
	teamed(t, func(t *testing.T, h *house, _ *chat) {
		a := h.ask("make a", 1)
		settle()
		card := h.chat.seen()[0]
		if _, err := h.vote(card, ann, approval.ChoiceAllow); err != nil {
			t.Fatal(err)
		}
		h.end()
		h.routing.Routes[0].Approvers = []string{"ann", "bob", "cat"}
		h.restart()
		settle()
		if it := h.chat.seen()[0].card.Items[0]; len(it.Votes) != 0 || strings.Contains(h.log.String(), "could not be dropped") {
			t.Errorf("the card shows %+v; %s", it.Votes, &h.log)
		}
		if r, err := h.vote(card, bob, approval.ChoiceAllow); err != nil || r.Won || !r.Voted {
			t.Errorf("bob: %+v, %v", r, err)
		}
		if r, err := h.vote(card, cat, approval.ChoiceAllow); err != nil || !r.Won || h.state(a.Approval.ID) != approval.Allowed {
			t.Errorf("cat: %+v, %v", r, err)
		}
	})
}

// TestAnAskEscalates checks that an ask that nobody answers goes to further people, who see
// it on their channels, even if no dispatcher ran when it was due. Its deadline stays.
func TestAnAskEscalates(t *testing.T) {
	for name, wait := range map[string]func(h *house){
		"Running": func(*house) { time.Sleep(10 * time.Minute) },
		"Down": func(h *house) {
			h.end()
			time.Sleep(11 * time.Minute)
			h.restart()
		},
	} {
		t.Run(name, func(t *testing.T) {
			teamed(t, func(t *testing.T, h *house, desk *chat) {
				a, began := h.ask("make a", 1), time.Now()
				settle()
				first := h.chat.seen()[0]
				if _, err := h.vote(first, cat, approval.ChoiceDeny); !errors.Is(err, approval.ErrNotApprover) {
					t.Errorf("before: %v", err)
				}
				wait(h)
				settle()
				if len(desk.seen()) != 1 || len(h.chat.seen()) != 1 || len(h.chat.seen()[0].card.Routes) != 2 {
					t.Fatalf("it is on %d and %d cards: %+v", len(h.chat.seen()), len(desk.seen()), h.chat.seen())
				}
				if _, told := h.chat.told(); len(told) != 1 {
					t.Errorf("where it was shown, people are told %d times that others are asked, too", len(told))
				}
				if _, told := desk.told(); len(told) != 0 {
					t.Errorf("where it is shown anew, people are told beside the card: %v", told)
				}
				if ask, err := h.Find(t.Context(), string(a.Approval.ID)); err != nil || !ask.ExpiresAt.Equal(began.Add(dispatcher.DefaultAskFor).UTC()) {
					t.Errorf("the deadline moved to %v, %v", ask.ExpiresAt, err)
				}
				if r, err := h.vote(desk.seen()[0], cat, approval.ChoiceAllow); err != nil || !r.Won {
					t.Errorf("after: %+v, %v", r, err)
				}
				settle()
				for _, c := range []*chat{h.chat, desk} {
					if m := c.seen()[0]; len(m.card.Buttons) != 0 || m.card.Items[0].State != approval.Allowed {
						t.Errorf("%s shows %+v", c.Name(), m.card)
					}
				}
			})
		})
	}
}

// TestADecidedAskDoesNotEscalate checks that an ask that was decided in time stays as it is.
func TestADecidedAskDoesNotEscalate(t *testing.T) {
	teamed(t, func(t *testing.T, h *house, desk *chat) {
		a := h.ask("make a", 1)
		settle()
		if _, err := h.vote(h.chat.seen()[0], bob, approval.ChoiceDeny); err != nil {
			t.Fatal(err)
		}
		settle()
		ask, err := h.Find(t.Context(), string(a.Approval.ID))
		if err != nil {
			t.Fatal(err)
		}
		written := func() uint64 {
			r, err := h.store.Get(t.Context(), approval.KindAsk, string(ask.ID))
			if err != nil {
				t.Fatal(err)
			}
			return r.Seq
		}
		before := written()
		time.Sleep(12 * time.Minute)
		settle()
		if len(desk.seen()) != 0 || written() != before {
			t.Errorf("it is shown to %d more people, and was written %d, now %d", len(desk.seen()), before, written())
		}
	})
}

// TestAPlanOverTwoRoutes checks that the calls of one plan that go to different people are
// on different cards.
func TestAPlanOverTwoRoutes(t *testing.T) {
	teamed(t, func(t *testing.T, h *house, _ *chat) {
		rs := []dispatcher.Request{inTurn("make a", 1), inTurn("make b", 2), inTurn("make c", 3)}
		rs[1].Proposal.Executor = "fs_write"
		as, err := h.ProposePlan(t.Context(), agent, rs)
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		ids := [3]approval.AskID{}
		for i, a := range as {
			if a.Decision != approval.RulingPending {
				t.Fatalf("call %d: %+v", i, a)
			}
			ids[i] = a.Approval.ID.Ask()
		}
		if ids[0] != ids[2] || ids[0] == ids[1] {
			t.Errorf("the calls are on %v", ids)
		}
		for i, want := range map[int]time.Duration{0: dispatcher.DefaultAskFor, 1: time.Hour} {
			if got := time.Until(as[i].Approval.ExpiresAt).Round(time.Minute); got != want {
				t.Errorf("call %d waits %v, want %v", i, got, want)
			}
		}
	})
}

// TestARouteWithoutChannels checks that a route that names no channel uses the plain ones.
// A channel that is not plain is used only by the routes that name it.
func TestARouteWithoutChannels(t *testing.T) {
	housed(t, func(t *testing.T, h *house) {
		ops := &chat{name: "chat:ops"}
		h.also = []dispatcher.Channel{ops}
		h.routing = approval.Routing{
			Routes: []approval.Route{
				{Name: "ops", Channels: []string{"chat:ops"}, Approvers: []string{ann}},
				{Name: "rest", Approvers: []string{approval.Anyone}},
			},
			Rules: []approval.Rule{{Agents: []string{agent}, Executors: []string{"fs_write"}, Route: "ops"}, {Route: "rest"}},
		}
		if err := h.routing.Check([]string{"chat", "chat:ops"}); err != nil {
			t.Fatal(err)
		}
		h.restart()
		h.ask("make a", 1)
		settle()
		if plain, own := len(h.chat.seen()), len(ops.seen()); plain != 1 || own != 0 {
			t.Errorf("%d cards on the plain channel and %d on the other", plain, own)
		}
		p := shell("x")
		p.Executor = "fs_write"
		if _, err := h.Propose(t.Context(), agent, dispatcher.Request{Proposal: p}); err != nil {
			t.Fatal(err)
		}
		settle()
		if plain, own := len(h.chat.seen()), len(ops.seen()); plain != 1 || own != 1 {
			t.Errorf("%d cards on the plain channel and %d on the other", plain, own)
		}
	})
}
