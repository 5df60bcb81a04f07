package dispatcher_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/dispatcher"
	"github.com/metnos/vaglio/store/storetest"
	"github.com/metnos/vaglio/vaglio"
)

// TestABrakeHoldsWhomItNames gives two agents a waiting call, a permit and a grant each. A
// brake for one takes away all that one has, and nothing of the other; a brake for everyone
// takes all.
func TestABrakeHoldsWhomItNames(t *testing.T) {
	for stopped, held := range map[string][]string{"one": {"one"}, "two": {"two"}, "": {"one", "two"}} {
		inUnderstanding(t, func(t *testing.T, g *gate) {
			waits, allowed := map[string]approval.ID{}, map[string]string{}
			for _, who := range []string{"one", "two"} {
				propose := func(command string) approval.ID {
					a, err := g.Propose(t.Context(), who, dispatcher.Request{Proposal: shell(command)})
					if err != nil || a.Decision != approval.RulingPending {
						t.Fatalf("%+v %v", a, err)
					}
					return a.Approval.ID
				}
				waits[who] = propose("kubectl delete namespace a")
				id := propose("git push origin main")
				if _, err := g.press(t, id, approval.ChoiceHour); err != nil {
					t.Fatal(err)
				}
				a, err := g.Await(t.Context(), who, id, 0)
				if err != nil || a.Permit == nil {
					t.Fatalf("%+v %v", a, err)
				}
				allowed[who] = a.Permit.Permit
			}
			done, err := g.order(t, approval.Order{Verb: approval.VerbStop, Agent: stopped, All: true})
			if n := len(held); err != nil || done.Denied != n || done.Revoked != n || done.Ended != n {
				t.Fatalf("stopping %q: %d denied, %d revoked, %d ended, %v", stopped, done.Denied, done.Revoked, done.Ended, err)
			}
			for _, who := range []string{"one", "two"} {
				is := slices.Contains(held, who)
				a, err := g.Await(t.Context(), who, waits[who], 0)
				if err != nil || (a.Decision == approval.RulingDeny) != is {
					t.Errorf("stopping %q: the waiting call of %s is %s, %v", stopped, who, a.Decision, err)
				}
				if err := g.Redeem(t.Context(), who, allowed[who], shell("git push origin main")); (err != nil) != is {
					t.Errorf("stopping %q: redeeming the permit of %s: %v", stopped, who, err)
				}
				for command, free := range map[string]approval.Ruling{"git push origin main": approval.RulingAllow, "ls": approval.RulingAllow, "kubectl delete namespace b": approval.RulingPending} {
					a, err := g.Propose(t.Context(), who, dispatcher.Request{Proposal: shell(command)})
					if want := map[bool]approval.Ruling{true: approval.RulingDeny, false: free}[is]; err != nil || a.Decision != want {
						t.Errorf("stopping %q: %s of %s is answered %s, not %s; %v", stopped, command, who, a.Decision, want, err)
					}
				}
			}
		})
	}
}

// TestABrakeThatIsOverIsNotTold checks that a channel that was away learns of the brakes
// that hold, and of those that were released, but not of one whose time is over.
func TestABrakeThatIsOverIsNotTold(t *testing.T) {
	for name, row := range map[string]struct {
		lasts           time.Duration
		released, ended bool
		told            int
	}{
		"holds":             {0, false, false, 1},
		"holds for a while": {time.Hour, false, false, 1},
		"released":          {0, true, false, 1},
		"released in time":  {time.Hour, true, true, 1},
		"over":              {time.Hour, false, true, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			store, chat := storetest.NewMemory(), &told{}
			g := understanding(t, store, newFakeChannel(), chat)
			chat.fail(errors.New("no network"))
			if _, err := g.order(t, approval.Order{Verb: approval.VerbStop, For: row.lasts}); err != nil {
				t.Fatal(err)
			}
			if row.released {
				if _, err := g.order(t, approval.Order{Verb: approval.VerbGo}); err != nil {
					t.Fatal(err)
				}
			}
			g.end()
			if row.ended {
				time.Sleep(2 * time.Hour)
			}
			chat.fail(nil)
			g = understanding(t, store, newFakeChannel(), chat)
			time.Sleep(time.Minute)
			if all := chat.notices(); len(all) != row.told {
				t.Errorf("%s: told %+v", name, all)
			}
			g.end()
		})
	}
}

// TestAHandOverIsShownWhereThePersonIs checks that an ask is shown on the channels of whom
// it is handed over to, once, and on no other.
func TestAHandOverIsShownWhereThePersonIs(t *testing.T) {
	for to, want := range map[string][2]int{"bob": {1, 0}, "ann": {1, 0}, "cat": {1, 1}} {
		teamed(t, func(t *testing.T, h *house, desk *chat) {
			h.routing.Routes[0].Approvers, h.routing.Routes[0].Quorum = []string{"ann", "bob", "cat"}, 1
			h.restart()
			a := h.ask("make a", 1)
			settle()
			by := approval.Person{ID: bob, Name: "bob"}
			if to == "bob" {
				by = approval.Person{ID: ann, Name: "ann"}
			}
			if _, err := h.Order(t.Context(), approval.Order{Verb: approval.VerbHand, ID: string(a.Approval.ID), To: to, By: by, Channel: "chat"}); err != nil {
				t.Fatal(err)
			}
			settle()
			if got := [2]int{len(h.chat.seen()), len(desk.seen())}; got != want {
				t.Errorf("handed over to %s, it is shown %v times on chat and desk, not %v", to, got, want)
			}
			// Where it was shown before, a reminder says so; the new card needs none.
			_, chat := h.chat.told()
			if _, there := desk.told(); len(chat) != 1 || len(there) != 0 {
				t.Errorf("handed over to %s, people are reminded by %v and %v", to, chat, there)
			}
		})
	}
}

// TestAChangedCallOfAPlanVoidsItsOwn repeats one call of a plan in a changed form, under its
// own step: it voids the one that was asked under that step, and no other.
func TestAChangedCallOfAPlanVoidsItsOwn(t *testing.T) {
	for changed := range 3 {
		in(t, func(t *testing.T, g *gate) {
			var plan []dispatcher.Request
			for i, command := range []string{"make a", "make b", "make c"} {
				p := shell(command)
				p.TurnID, p.Step = "t-1", i+1
				plan = append(plan, dispatcher.Request{Proposal: p})
			}
			first, err := g.ProposePlan(t.Context(), agent, plan)
			if err != nil {
				t.Fatal(err)
			}
			r := plan[changed]
			r.Proposal.Args = shell("make d").Args
			if _, err := g.Propose(t.Context(), agent, r); err != nil {
				t.Fatal(err)
			}
			for i, a := range first {
				now, err := g.Await(t.Context(), agent, a.Approval.ID, 0)
				want := map[bool]approval.State{true: approval.Superseded, false: approval.Pending}[i == changed]
				if err != nil || now.Approval.State != want {
					t.Errorf("call %d is %s after call %d was changed, not %s; %v", i, now.Approval.State, changed, want, err)
				}
			}
		})
	}
}

// TestAMistakenCallRefusesItsPlan puts a call that cannot be read at every place of a plan:
// the error names it, and nothing of the plan is asked or allowed.
func TestAMistakenCallRefusesItsPlan(t *testing.T) {
	for at := range 3 {
		in(t, func(t *testing.T, g *gate) {
			plan := make([]dispatcher.Request, 3)
			for i := range plan {
				plan[i].Proposal = shell("make " + string(rune('a'+i)))
			}
			plan[at].Proposal.Args = shell(`echo "`).Args
			answers, err := g.ProposePlan(t.Context(), agent, plan)
			if wrong, ok := errors.AsType[*dispatcher.CallError](err); !ok || wrong.Index != at || answers != nil {
				t.Errorf("with a mistake in call %d: %+v, %v", at, answers, err)
			}
			synctest.Wait()
			for c := range g.Pending(t.Context(), "fake") {
				t.Errorf("with a mistake in call %d, %+v is asked", at, c)
			}
		})
	}
}

// TestAnEscalationToARouteThatIsGone lets an ask escalate to a route that the configuration no
// longer has: it stays with the people who have it, and nobody else may answer.
func TestAnEscalationToARouteThatIsGone(t *testing.T) {
	teamed(t, func(t *testing.T, h *house, desk *chat) {
		a := h.ask("make a", 1)
		settle()
		h.end()
		h.routing.Routes = h.routing.Routes[:1]
		h.routing.Routes[0].EscalateAfter, h.routing.Routes[0].EscalateTo = 0, ""
		h.routing.Rules = []approval.Rule{{Route: "shell"}}
		h.restart()
		time.Sleep(11 * time.Minute)
		settle()
		ask, err := h.Find(t.Context(), string(a.Approval.ID.Ask()))
		if err != nil || len(ask.Routes) != 1 || ask.Routes[0].Route != "shell" || !ask.Waiting() || len(desk.seen()) != 0 {
			t.Errorf("it waits on %+v, %d cards on desk, %v", ask.Routes, len(desk.seen()), err)
		}
		if said := "an ask escalates to a route that no longer exists"; strings.Count(h.log.String(), said) != 1 {
			t.Errorf("the log does not say once that %s: %s", said, &h.log)
		}
	})
}

// TestOnlyTheRoutesPeopleGiveOrders lets somebody who may decide other calls give every order
// about a call of a route that is not theirs. P7: none of it is done.
func TestOnlyTheRoutesPeopleGiveOrders(t *testing.T) {
	for verb, choice := range map[approval.Verb]approval.Choice{
		approval.VerbLift: approval.ChoiceDeny, approval.VerbRevoke: approval.ChoiceAllow, approval.VerbAsk: "", approval.VerbSnooze: "", approval.VerbHand: "",
	} {
		teamed(t, func(t *testing.T, h *house, _ *chat) {
			h.routing.Routes[0].Quorum, h.routing.Routes[0].Separate = 1, false
			h.restart()
			a := h.ask("make a", 1)
			settle()
			if choice != "" {
				if _, err := h.vote(h.chat.seen()[0], ann, choice); err != nil {
					t.Fatal(err)
				}
			}
			before := h.state(a.Approval.ID)
			order := func(by string) error {
				_, err := h.Order(t.Context(), approval.Order{Verb: verb, ID: string(a.Approval.ID), By: approval.Person{ID: by}, Words: "why?", To: "ann", For: time.Minute, Channel: "chat"})
				return err
			}
			if err := order(cat); !errors.Is(err, approval.ErrNotApprover) || h.state(a.Approval.ID) != before {
				t.Errorf("%s by somebody else: %v; it was %s and is %s", verb, err, before, h.state(a.Approval.ID))
			}
			if err := order(bob); err != nil {
				t.Errorf("%s by one of them: %v", verb, err)
			}
		})
	}
}

// TestAnEscalationIsMadeUpFor has the store fail while an ask is due to escalate: it does so as
// soon as the store works again.
func TestAnEscalationIsMadeUpFor(t *testing.T) {
	teamed(t, func(t *testing.T, h *house, desk *chat) {
		h.ask("make a", 1)
		settle()
		time.Sleep(9 * time.Minute)
		h.store.Break(errDisk)
		time.Sleep(3 * time.Minute)
		h.store.Break(nil)
		time.Sleep(3 * time.Minute)
		settle()
		if n := len(desk.seen()); n != 1 {
			t.Errorf("it is shown %d times to whom it escalates", n)
		}
		told := func() int { return strings.Count(h.log.String(), "an ask could not be escalated") }
		n := told()
		time.Sleep(time.Hour)
		if n == 0 || told() != n {
			t.Errorf("the log tells %d times that it could not be escalated, later %d", n, told())
		}
	})
	teamed(t, func(t *testing.T, h *house, desk *chat) {
		h.ask("make a", 1)
		settle()
		time.Sleep(9 * time.Minute)
		h.store.Fail(1, errDisk) // once, and what goes on beside it works
		time.Sleep(3 * time.Minute)
		settle()
		if n := len(desk.seen()); n != 1 {
			t.Errorf("after a read that failed, it is shown %d times to whom it escalates", n)
		}
	})
}

// TestAMistakenCallIsInTheTurnLog finds a call that could not be judged among its turn's steps.
func TestAMistakenCallIsInTheTurnLog(t *testing.T) {
	in(t, func(t *testing.T, g *gate) {
		p := shell(`echo "`)
		p.TurnID, p.Step = "t-1", 1
		if _, err := g.Propose(t.Context(), agent, dispatcher.Request{Proposal: p}); err == nil {
			t.Fatal("it was judged")
		}
		log, err := g.Turn(t.Context(), approval.TurnQuery{Agent: agent, Turn: "t-1"})
		steps := log.Steps
		if err != nil || len(steps) != 1 || steps[0].Error == "" || steps[0].ID == "" || steps[0].Route != "" {
			t.Errorf("%+v %v", steps, err)
		}
	})
}

// interrupted is a channel on which something happens while a brake is being told.
type interrupted struct {
	*told

	do func()
}

func (c interrupted) Notify(ctx context.Context, n approval.Notice) error {
	if n.Brake != nil && n.Brake.Released == nil {
		c.do()
	}
	return c.told.Notify(ctx, n)
}

// TestABrakeReleasedWhileItIsTold tells that an agent goes on, although the telling that it is
// stopped ends later.
func TestABrakeReleasedWhileItIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g *gate
		chat := interrupted{&told{}, func() {
			if _, err := g.order(t, approval.Order{Verb: approval.VerbGo}); err != nil {
				t.Error(err)
			}
		}}
		g = understanding(t, storetest.NewMemory(), newFakeChannel(), chat)
		if _, err := g.order(t, approval.Order{Verb: approval.VerbStop}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if all := chat.notices(); len(all) != 2 || all[0].Brake.Released != nil || all[1].Brake.Released == nil {
			t.Errorf("people were told %+v", all)
		}
		g.end()
	})
}

// TestABrakeIsToldAlthoughTheStoreFails has the store fail when it should keep that people were
// told of a brake, and when the brakes are read for that again: people are told once more, since
// nothing says that they were.
func TestABrakeIsToldAlthoughTheStoreFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := storetest.NewMemory()
		chat := interrupted{&told{}, sync.OnceFunc(func() {
			time.Sleep(time.Millisecond) // the order itself ends before
			store.Fail(1, errDisk)
			store.Fail(2, errDisk)
		})}
		g := understanding(t, store, newFakeChannel(), chat)
		if _, err := g.order(t, approval.Order{Verb: approval.VerbStop}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour)
		if n := len(chat.notices()); n != 2 {
			t.Errorf("people were told %d times", n)
		}
		g.end()
	})
}

// TestTheRouteIsThatOfWhatACallWouldDo asks the people of the route whose rule names what the
// call would do and how far that reaches.
func TestTheRouteIsThatOfWhatACallWouldDo(t *testing.T) {
	for command, want := range map[string]string{"delete public": "ops", "delete private": "rest", "send public": "rest", "": "rest"} {
		synctest.Test(t, func(t *testing.T) {
			members := []approval.Member{{Name: "ann", IDs: []string{ann}}, {Name: "bob", IDs: []string{bob}}}
			g := running(t, dispatcher.Config{
				Channels: []dispatcher.Channel{newFakeChannel()},
				Deciders: dispatcher.Deciders{Routing: approval.Routing{
					Members: members, Routes: []approval.Route{{Name: "ops", Approvers: []string{"ann"}}, {Name: "rest", Approvers: []string{"bob"}}},
					Rules: []approval.Rule{{Effects: []string{"delete"}, Reaches: []string{"public"}, Route: "ops"}, {Route: "rest"}},
				}},
				Effects: dispatcher.Effects{Traits: func(p vaglio.Proposal) (effects, reaches []string) {
					effect, reach, _ := strings.Cut(p.Args["command"].(string), " ")
					return []string{effect}, []string{reach}
				}},
			})
			a := g.propose(t, shell(command), 0)
			for id, route := range map[string]string{ann: "ops", bob: "rest"} {
				_, err := g.Decide(t.Context(), approval.Tap{Ask: a.Approval.ID.Ask(), Approval: a.Approval.ID, Choice: approval.ChoiceDeny, By: approval.Person{ID: id}, Channel: "fake"})
				if may := !errors.Is(err, approval.ErrNotApprover); may != (route == want) {
					t.Errorf("%q: %s may answer: %v", command, id, may)
				}
			}
		})
	}
}

// TestAValueThatHasNoFormIsNotAsked proposes a value that JSON cannot hold, which no
// fingerprint could bind: it is an error, and nothing of its plan is asked or allowed.
func TestAValueThatHasNoFormIsNotAsked(t *testing.T) {
	for at := range 2 {
		for _, executor := range []string{"shell_exec", "fs_read"} { // one that is asked about, and one that passes
			in(t, func(t *testing.T, g *gate) {
				plan := []dispatcher.Request{{Proposal: shell("make a")}, {Proposal: shell("make b")}}
				plan[at].Proposal.Args["n"], plan[at].Proposal.Executor = math.NaN(), executor
				for _, calls := range [][]dispatcher.Request{plan, plan[at : at+1]} {
					if answers, err := g.ProposePlan(t.Context(), agent, calls); err == nil || answers != nil {
						t.Errorf("%d calls are answered %+v", len(calls), answers)
					}
				}
				synctest.Wait()
				for c := range g.Pending(t.Context(), "fake") {
					t.Errorf("%+v is asked", c)
				}
				before, err := g.Propose(t.Context(), agent, dispatcher.Request{Proposal: shell("make c"), Key: "k"})
				if err != nil {
					t.Fatal(err)
				}
				plan[at].Key = "k"
				if a, err := g.Propose(t.Context(), agent, plan[at]); err == nil {
					t.Errorf("under the key of another call it is answered %+v", a)
				}
				if now, err := g.Await(t.Context(), agent, before.Approval.ID, 0); err != nil || now.Decision != approval.RulingPending {
					t.Errorf("the other call is %+v, %v", now.Approval, err)
				}
			})
		}
	}
}
