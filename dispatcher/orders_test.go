package dispatcher_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/dispatcher"
	"github.com/metnos/vaglio/internal/race"
	"github.com/metnos/vaglio/store/storetest"
)

// TestAStrangerLearnsNothingFromOrders has somebody who may decide nothing give every order about
// calls that exist and calls that do not. P7: the answer is the same, so it does not say which
// ids there are.
func TestAStrangerLearnsNothingFromOrders(t *testing.T) {
	inUnderstanding(t, func(t *testing.T, g *gate) {
		known := g.propose(t, push("main"), 0).Approval.ID
		for _, verb := range []approval.Verb{
			approval.VerbStop, approval.VerbGo, approval.VerbLift, approval.VerbEnd, approval.VerbRevoke,
			approval.VerbAsk, approval.VerbSnooze, approval.VerbHand, "dance",
		} {
			for _, id := range []string{string(known), "0123456789ab", ""} {
				o := approval.Order{Verb: verb, ID: id, Words: "why?", To: "bob", By: approval.Person{ID: "fake:stranger"}, Channel: "fake"}
				if done, err := g.Order(t.Context(), o); !errors.Is(err, approval.ErrNotApprover) || done.Approval != nil {
					t.Errorf("%s %s: %+v %v", verb, id, done, err)
				}
			}
		}
		if a, err := g.Await(t.Context(), agent, known, 0); err != nil || a.Decision != approval.RulingPending {
			t.Errorf("in the end it is %+v, %v", a, err)
		}
		if held, err := g.Brakes(t.Context()); err != nil || len(held) != 0 {
			t.Errorf("a stranger stopped %+v %v", held, err)
		}
	})
}

// TestWhoHasNoRouteStopsNobody has a paired person whom no route names pull and release a brake:
// neither is done. P7.
func TestWhoHasNoRouteStopsNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := running(t, dispatcher.Config{
			Channels: []dispatcher.Channel{newFakeChannel()},
			Deciders: dispatcher.Deciders{
				MayDecide: func(id string) bool { return id == "fake:paired" },
				Routing: approval.Routing{
					Members: []approval.Member{{Name: "ann", IDs: []string{owner.ID}}},
					Routes:  []approval.Route{{Name: "all", Channels: []string{"fake"}, Approvers: []string{"ann"}}},
					Rules:   []approval.Rule{{Route: "all"}},
				},
			},
		})
		order := func(by string, verb approval.Verb) error {
			_, err := g.Order(t.Context(), approval.Order{Verb: verb, By: approval.Person{ID: by}, Channel: "fake"})
			return err
		}
		held := func() int {
			all, err := g.Brakes(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			return len(all)
		}
		if err := order("fake:paired", approval.VerbStop); !errors.Is(err, approval.ErrNotApprover) || held() != 0 {
			t.Errorf("stop: %v, %d brakes hold", err, held())
		}
		if err := order(owner.ID, approval.VerbStop); err != nil || held() != 1 {
			t.Errorf("stop by one of the route: %v, %d brakes hold", err, held())
		}
		if err := order("fake:paired", approval.VerbGo); !errors.Is(err, approval.ErrNotApprover) || held() != 1 {
			t.Errorf("go: %v, %d brakes hold", err, held())
		}
		g.end()
	})
}

// TestOneOfTwoAgentsGoesOn releases the brake of one agent: that of the other holds.
func TestOneOfTwoAgentsGoesOn(t *testing.T) {
	inUnderstanding(t, func(t *testing.T, g *gate) {
		g.propose(t, push("main"), 0)
		for _, name := range []string{agent, newcomer} {
			if _, err := g.order(t, approval.Order{Verb: approval.VerbStop, Agent: name}); err != nil {
				t.Fatal(err)
			}
		}
		done, err := g.order(t, approval.Order{Verb: approval.VerbGo, Agent: newcomer})
		if err != nil || len(done.Brakes) != 1 || done.Brakes[0].Agent != newcomer {
			t.Errorf("released are %+v %v", done.Brakes, err)
		}
		if held, err := g.Brakes(t.Context()); err != nil || len(held) != 1 || held[0].Agent != agent {
			t.Errorf("there hold %+v %v", held, err)
		}
		if a := g.propose(t, push("dev"), 0); a.Decision != approval.RulingDeny {
			t.Errorf("the other agent: %+v", a)
		}
	})
}

// TestVoidPermitsAreVoid redeems a permit that was taken back with all others.
func TestVoidPermitsAreVoid(t *testing.T) {
	inUnderstanding(t, func(t *testing.T, g *gate) {
		id := g.propose(t, push("main"), 0).Approval.ID
		if _, err := g.press(t, id, approval.ChoiceAllow); err != nil {
			t.Fatal(err)
		}
		a, err := g.Await(t.Context(), agent, id, 0)
		if err != nil || a.Permit == nil {
			t.Fatalf("%+v %v", a, err)
		}
		waits := g.propose(t, shell("kubectl delete namespace a"), 0).Approval.ID
		if n, err := g.VoidPermits(t.Context(), owner, "fake"); err != nil || n != 1 {
			t.Fatalf("%d were taken back, %v", n, err)
		}
		if err := g.Redeem(t.Context(), agent, a.Permit.Permit, push("main")); err == nil {
			t.Error("a permit that was taken back is redeemed")
		}
		for of, want := range map[approval.ID]approval.State{id: approval.Lapsed, waits: approval.Pending} {
			if a, err := g.Await(t.Context(), agent, of, 0); err != nil || a.Approval.State != want {
				t.Errorf("%s is %s, want %s, %v", of, a.Approval.State, want, err)
			}
		}
	})
}

// TestEveryBrakeIsTold pulls two brakes while a channel does not work: once it does, it tells both,
// although the store fails to keep that the first was told.
func TestEveryBrakeIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, chat := storetest.NewMemory(), &told{}
		given, lost := make(chan struct{}), sync.OnceFunc(func() { store.Fail(1, errDisk) })
		fails := interrupted{chat, func() {
			select {
			case <-given: // before, it would be an order that the disk fails
				lost()
			default:
			}
		}}
		chat.fail(&approval.RetryError{After: time.Second, Err: errors.New("slow down")})
		g := understanding(t, store, newFakeChannel(), fails)
		g.propose(t, push("main"), 0)
		for _, name := range []string{agent, newcomer} {
			if _, err := g.order(t, approval.Order{Verb: approval.VerbStop, Agent: name}); err != nil {
				t.Fatal(err)
			}
		}
		close(given)
		chat.fail(nil)
		time.Sleep(time.Hour)
		times := map[string]int{}
		for _, n := range chat.notices() {
			times[n.Brake.Agent]++
		}
		if times[agent] == 0 || times[newcomer] == 0 {
			t.Errorf("people were told %v", times)
		}
		g.end()
	})
}

// TestAnAgentOfLongAgoIsKnown stops an agent whose only call lies behind those of others.
func TestAnAgentOfLongAgoIsKnown(t *testing.T) {
	race.Alone(t)
	in(t, func(t *testing.T, g *gate) {
		if _, err := g.Propose(t.Context(), "early", dispatcher.Request{Proposal: shell("make a")}); err != nil {
			t.Fatal(err)
		}
		for range 5000 { // as many as are read at a time, of those that are not passed over by their notes
			g.propose(t, shell("rm -rf /"), 0)
		}
		page, err := g.History(t.Context(), approval.Filter{Agent: "early", Limit: 1})
		if err != nil || len(page.Entries) != 0 || page.Older == 0 {
			t.Fatalf("the first page has %d of its calls, older ones from %d, %v", len(page.Entries), page.Older, err)
		}
		if _, err := g.order(t, approval.Order{Verb: approval.VerbStop, Agent: "early"}); err != nil {
			t.Errorf("an agent of long ago: %v", err)
		}
	})
}

// TestAMistakenCallIsNoPlansCall checks that the error of a single call does not speak of a plan.
func TestAMistakenCallIsNoPlansCall(t *testing.T) {
	in(t, func(t *testing.T, g *gate) {
		_, err := g.Propose(t.Context(), agent, dispatcher.Request{Proposal: shell(`echo "`)})
		if wrong, ok := errors.AsType[*dispatcher.CallError](err); err == nil || ok {
			t.Errorf("%v, of a plan: %v", err, wrong)
		}
	})
}

// TestAStartLeavesVotesThatCount restarts over an ask with a vote that counts: nothing is written.
func TestAStartLeavesVotesThatCount(t *testing.T) {
	teamed(t, func(t *testing.T, h *house, _ *chat) {
		a := h.ask("make a", 1)
		settle()
		if _, err := h.vote(h.chat.seen()[0], ann, approval.ChoiceAllow); err != nil {
			t.Fatal(err)
		}
		settle()
		record := func() approval.Record {
			r, err := h.store.Get(context.Background(), approval.KindAsk, string(a.Approval.ID.Ask()))
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		before := record().Seq
		h.restart()
		settle()
		if now := record().Seq; now != before {
			t.Errorf("the start wrote it: %d, before %d", now, before)
		}
		if it := h.chat.seen()[0].card.Items[0]; len(it.Votes) != 1 {
			t.Errorf("the card shows %+v", it.Votes)
		}
	})
}
