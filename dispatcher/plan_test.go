package dispatcher_test

import (
	"errors"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/dispatcher"
	"github.com/metnos/vaglio/internal/race"
	"github.com/metnos/vaglio/vaglio"
)

// P5: a card shows one request of the user. A plan whose calls claim several could show a
// person another request than the one a judge read.
func TestAPlanHasOneIntentAndOneTurn(t *testing.T) {
	in(t, func(t *testing.T, g *gate) {
		first, other := shell("make clean"), shell("make install")
		first.TurnID = "t-1"
		for field, change := range map[string]func(*vaglio.Proposal){
			"intent":  func(p *vaglio.Proposal) { p.Intent = "something else" },
			"turn_id": func(p *vaglio.Proposal) { p.TurnID = "t-9" },
		} {
			second := other
			change(&second)
			_, err := g.ProposePlan(t.Context(), agent, []dispatcher.Request{{Proposal: first}, {Proposal: second}})
			wrong, ok := errors.AsType[*dispatcher.PlanError](err)
			if !ok || wrong.Index != 1 || wrong.Field != field {
				t.Errorf("%s: got %v", field, err)
			}
		}
		for range g.store.List(t.Context(), approval.Query{Kind: approval.KindAsk}) {
			t.Error("something of the plan was asked")
		}
	})
}

// TestAPlanSaysItsIntentOnce checks that a call of a plan takes what it leaves out from the
// others.
func TestAPlanSaysItsIntentOnce(t *testing.T) {
	in(t, func(t *testing.T, g *gate) {
		rs := []dispatcher.Request{{Proposal: shell("make clean")}, {Proposal: shell("make install")}, {Proposal: shell("make test")}}
		rs[0].Proposal.Intent, rs[2].Proposal.Intent = "", ""
		rs[2].Proposal.TurnID = "t-1"
		if _, err := g.ProposePlan(t.Context(), agent, rs); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		log, err := g.Turn(t.Context(), approval.TurnQuery{Agent: agent, Turn: "t-1"})
		steps := log.Steps
		if err != nil || len(steps) != 3 {
			t.Fatalf("the turn has %d steps, %v", len(steps), err)
		}
		for _, s := range steps {
			if s.Proposal.Intent != "clean up" {
				t.Errorf("a step has the intent %q", s.Proposal.Intent)
			}
		}
	})
}

// TestCallsOfOneStepInOnePlan checks that calls that run in parallel can have the same
// step. A repeat of their plan joins each of them, and none voids another.
func TestCallsOfOneStepInOnePlan(t *testing.T) {
	in(t, func(t *testing.T, g *gate) {
		two, err := g.ProposePlan(t.Context(), agent, []dispatcher.Request{
			{Proposal: shell("make a"), Key: "one"}, {Proposal: shell("make b"), Key: "one"},
		})
		if err != nil {
			t.Fatal(err)
		}
		p, q := shell("make c"), shell("make d")
		p.TurnID, p.Step, q.TurnID, q.Step = "t-2", 1, "t-2", 1
		more, err := g.ProposePlan(t.Context(), agent, []dispatcher.Request{{Proposal: p}, {Proposal: q}})
		if err != nil {
			t.Fatal(err)
		}
		again, err := g.ProposePlan(t.Context(), agent, []dispatcher.Request{{Proposal: p}, {Proposal: q}})
		if err != nil {
			t.Fatal(err)
		}
		for i := range more {
			if again[i].Approval.ID != more[i].Approval.ID {
				t.Errorf("repeated, call %d is %s, before %s", i, again[i].Approval.ID, more[i].Approval.ID)
			}
		}
		for i, a := range append(two, more...) {
			if now, err := g.Await(t.Context(), agent, a.Approval.ID, 0); err != nil || now.Decision != approval.RulingPending {
				t.Errorf("of two calls, %d is %+v, %v", i, now.Approval, err)
			}
		}
		var rs []dispatcher.Request
		for _, command := range []string{"make clean", "make install", "make clean"} {
			p := shell(command)
			p.TurnID, p.Step = "t-1", 2
			rs = append(rs, dispatcher.Request{Proposal: p})
		}
		first, err := g.ProposePlan(t.Context(), agent, rs)
		if err != nil {
			t.Fatal(err)
		}
		again, err = g.ProposePlan(t.Context(), agent, rs)
		if err != nil {
			t.Fatal(err)
		}
		for i := range first {
			if again[i].Decision != approval.RulingPending || again[i].Approval.ID != first[i].Approval.ID {
				t.Errorf("call %d: first %+v, then %+v", i, first[i].Approval, again[i].Approval)
			}
		}
		if first[0].Approval.ID != first[2].Approval.ID || first[0].Approval.ID == first[1].Approval.ID {
			t.Errorf("got %+v", first)
		}
	})
}

// TestThePlansKeyIsNoCallsKey checks that a plan's key differs from a single call's key
// with the same characters.
func TestThePlansKeyIsNoCallsKey(t *testing.T) {
	in(t, func(t *testing.T, g *gate) {
		as, err := g.ProposePlan(t.Context(), agent, []dispatcher.Request{
			{Proposal: shell("make clean"), Key: "k"}, {Proposal: shell("make install"), Key: "k"},
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, key := range []string{"k", "k#1", "1:k", "plan:1:k"} {
			if _, err := g.Propose(t.Context(), agent, dispatcher.Request{Proposal: shell("make test"), Key: key}); err != nil {
				t.Fatal(err)
			}
		}
		for i := range as {
			if a, err := g.Await(t.Context(), agent, as[i].Approval.ID, 0); err != nil || a.Decision != approval.RulingPending {
				t.Errorf("call %d is %+v, %v", i, a.Approval, err)
			}
		}
	})
}

// TestAChangedCallThatNeedsNobodySupersedes checks that a changed call under the same key
// voids the waiting one, even if nobody has to be asked about the new call.
func TestAChangedCallThatNeedsNobodySupersedes(t *testing.T) {
	for name, changed := range map[string]vaglio.Proposal{
		"Approved": {Executor: "fs_read", Args: vaglio.Args{"path": "/tmp/x"}},
		"Guarded":  {Executor: "fs_read", Args: vaglio.Args{"path": "/etc/shadow"}},
	} {
		t.Run(name, func(t *testing.T) {
			in(t, func(t *testing.T, g *gate) {
				p := shell("make clean")
				p.TurnID, p.Step = "t-1", 3
				changed.TurnID, changed.Step = p.TurnID, p.Step
				a := g.propose(t, p, 0)
				g.propose(t, changed, 0)
				old, err := g.Await(t.Context(), agent, a.Approval.ID, 0)
				if err != nil || old.Approval.State != approval.Superseded {
					t.Errorf("the old approval: %+v, %v", old.Approval, err)
				}
				if r := g.decide(t, a.Approval.ID, approval.ChoiceAllow, ""); r.Won {
					t.Error("a superseded approval was allowed")
				}
			})
		})
	}
}

// TestTheTurnLogIsNotWrittenOver checks that an agent that repeats a step with other words,
// or after its denial was settled, overwrites nothing in the turn log.
func TestTheTurnLogIsNotWrittenOver(t *testing.T) {
	in(t, func(t *testing.T, g *gate) {
		p := shell("make clean")
		p.TurnID, p.Step, p.Intent = "t-1", 1, "wipe everything"
		a := g.propose(t, p, 0)
		g.propose(t, p, 0)
		g.decide(t, a.Approval.ID, approval.ChoiceDeny, "")
		time.Sleep(time.Second)
		p.Intent = "tidy up a little"
		g.propose(t, p, 0)
		if _, err := g.Propose(t.Context(), agent, dispatcher.Request{Proposal: p, Key: "fresh"}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		log, err := g.Turn(t.Context(), approval.TurnQuery{Agent: agent, Turn: "t-1"})
		steps := log.Steps
		if err != nil || len(steps) != 2 || steps[0].Proposal.Intent != "wipe everything" || steps[1].Proposal.Intent != "tidy up a little" {
			t.Errorf("the turn has %d steps, %v: %+v", len(steps), err, steps)
		}
	})
}

// TestALongPlanIsAskedOnSeveralCards checks that a plan too long for one card is asked on
// several, in order, and that a repeat of it joins every one.
func TestALongPlanIsAskedOnSeveralCards(t *testing.T) {
	race.Alone(t)
	in(t, func(t *testing.T, g *gate) {
		rs := make([]dispatcher.Request, 2*dispatcher.MaxAsked+13)
		for i := range rs {
			rs[i].Proposal = shell("make part-" + strconv.Itoa(i))
			rs[i].Proposal.TurnID, rs[i].Key = "t-1", "the-plan"
		}
		for range 2 {
			answers, err := g.ProposePlan(t.Context(), agent, rs)
			if err != nil {
				t.Fatal(err)
			}
			var asks []approval.AskID
			for i, a := range answers {
				if a.Decision != approval.RulingPending {
					t.Fatalf("call %d: %+v", i, a)
				}
				ask := a.Approval.ID.Ask()
				if i%dispatcher.MaxAsked == 0 {
					asks = append(asks, ask)
				}
				if want := approval.ID(string(asks[len(asks)-1]) + "-" + strconv.Itoa(i%dispatcher.MaxAsked+1)); a.Approval.ID != want {
					t.Fatalf("call %d is %s, want %s", i, a.Approval.ID, want)
				}
			}
			if len(asks) != 3 {
				t.Errorf("it takes %d cards", len(asks))
			}
		}
	})
}
