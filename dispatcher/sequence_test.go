package dispatcher_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/approval/history"
	"github.com/metnos/vaglio/dispatcher"
	"github.com/metnos/vaglio/vaglio"
)

// person answers every card at once, and counts the cards answered.
type person struct {
	// takes is the grant that the person chooses if it is offered in sight; "" means none.
	takes approval.Choice
	cards int
}

// answer lets the person answer a waiting ask, and the agent run the call.
func (p *person) answer(t *testing.T, g *gate, a approval.Answer, call vaglio.Proposal) {
	t.Helper()
	if a.Decision == approval.RulingPending {
		p.cards++
		synctest.Wait()
		choice := approval.ChoiceAllow
		if it := g.channel.card(a.Approval.ID.Ask()).Items[0]; p.takes != "" && it.Again != nil && len(it.Grants) > 0 {
			choice = p.takes
		}
		if r, err := g.press(t, a.Approval.ID, choice); err != nil || !r.Won {
			t.Fatalf("%v: %+v %v", call.Args, r, err)
		}
		var err error
		if a, err = g.Await(t.Context(), agent, a.Approval.ID, 0); err != nil {
			t.Fatal(err)
		}
	}
	if a.Decision != approval.RulingAllow {
		t.Fatalf("%v: %+v", call.Args, a)
	}
	if a.Permit != nil {
		if err := g.Redeem(t.Context(), agent, a.Permit.Permit, call); err != nil {
			t.Fatalf("%v: %v", call.Args, err)
		}
	}
}

// session is modeled on a real one: 298 calls in 35 turns over some five hours, twenty of
// which were asked, 17 of them the same push.
func session() (calls []vaglio.Proposal) {
	others := map[int]string{60: "npm publish", 150: "kubectl apply -f k8s/", 250: "sudo systemctl restart app"}
	for i := range 298 {
		line := []string{"ls", "git status", "go test ./...", "git diff", "cat README.md"}[i%5]
		if other, ok := others[i]; ok {
			line = other
		} else if i%17 == 10 && i < 17*17 {
			line = "git push origin main"
		}
		p := shell(line)
		p.TurnID, p.Step = fmt.Sprintf("t-%d", i*35/298), 0
		calls = append(calls, p)
	}
	return calls
}

// TestTheCardsOfASession counts the cards for a sequence of calls: with a person who only
// allows, and with one who takes the grant offered in sight.
func TestTheCardsOfASession(t *testing.T) {
	plan := func(n int) (calls []vaglio.Proposal) {
		for range n {
			p := push("main")
			p.TurnID = "t-1"
			calls = append(calls, p)
		}
		return calls
	}
	for name, c := range map[string]struct {
		calls []vaglio.Proposal
		takes approval.Choice
		want  int
	}{
		"the session, each allowed once": {session(), "", 20},
		"the session, grants taken":      {session(), approval.ChoiceEvening, 6},
		"63 equal calls, grants taken":   {plan(63), approval.ChoiceTurn, 4},
	} {
		t.Run(name, func(t *testing.T) {
			inUnderstanding(t, func(t *testing.T, g *gate) {
				owner := &person{takes: c.takes}
				for _, call := range c.calls {
					owner.answer(t, g, g.propose(t, call, 0), call)
					time.Sleep(time.Minute)
				}
				if t.Logf("%d calls, %d cards", len(c.calls), owner.cards); owner.cards != c.want {
					t.Errorf("%d calls took %d cards, want %d", len(c.calls), owner.cards, c.want)
				}
			})
		})
	}
}

// TestWhatWasJustAllowedIsOfferedInSight checks what the next card offers after an answer:
// it depends on answers to the same agent within the hour, also across a restart.
func TestWhatWasJustAllowedIsOfferedInSight(t *testing.T) {
	for name, c := range map[string]struct {
		between func(*testing.T, *gate)
		next    vaglio.Proposal
		offered bool
		differs int
	}{
		"the same":               {nil, push("main"), true, 0},
		"the same, spelled anew": {nil, shell("git push -v origin main"), true, 0},
		"after a restart":        {func(t *testing.T, g *gate) { restart(t, g) }, push("main"), true, 0},
		"another branch":         {nil, push("dev"), true, 1},
		"an hour later":          {func(*testing.T, *gate) { time.Sleep(time.Hour) }, push("main"), false, 0},
		"something else":         {nil, shell("npm install -g left-pad"), false, 0},
		"what nobody may grant":  {nil, shell("git push --force origin main"), false, 0},
		"after a denial of its like": {func(t *testing.T, g *gate) {
			a := g.propose(t, push("dev"), 0)
			g.decide(t, a.Approval.ID, approval.ChoiceDeny, "")
		}, push("main"), false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			inUnderstanding(t, func(t *testing.T, g *gate) {
				(&person{}).answer(t, g, g.propose(t, push("main"), 0), push("main"))
				if c.between != nil {
					c.between(t, g)
				}
				a := g.propose(t, c.next, 0)
				synctest.Wait()
				it := g.channel.card(a.Approval.ID.Ask()).Items[0]
				if (it.Again != nil) != c.offered || c.offered && len(it.Again.Differences) != c.differs {
					t.Errorf("the card says that it is again %+v", it.Again)
				}
			})
		})
	}
	inUnderstanding(t, func(t *testing.T, g *gate) {
		(&person{}).answer(t, g, g.propose(t, push("main"), 0), push("main"))
		b, err := g.Propose(t.Context(), newcomer, dispatcher.Request{Proposal: push("main")})
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if it := g.channel.card(b.Approval.ID.Ask()).Items[0]; it.Again != nil {
			t.Errorf("another agent's card says that it is again %+v", it.Again)
		}
	})
}

// restart ends the gate and begins another over the same store.
func restart(t *testing.T, g *gate) {
	t.Helper()
	g.end()
	*g = *understanding(t, g.store, g.channel)
	synctest.Wait()
}

// TestADeniedKindIsDeniedForAnHour checks what the denial of a kind covers: everything that
// one agent asks with one verb in one system, until its time is over or a person lifts it,
// also across a restart.
func TestADeniedKindIsDeniedForAnHour(t *testing.T) {
	for name, c := range map[string]struct {
		between func(*testing.T, *gate, approval.ID)
		who     string
		next    vaglio.Proposal
		want    approval.Ruling
	}{
		"a third branch":     {nil, agent, push("release/1"), approval.RulingDeny},
		"the call itself":    {nil, agent, push("dev"), approval.RulingDeny},
		"together with more": {nil, agent, shell("npm install -g left-pad && git push upstream main"), approval.RulingDeny},
		"another verb":       {nil, agent, shell("git branch -D dev"), approval.RulingPending},
		"another system":     {nil, agent, shell("npm install -g left-pad"), approval.RulingPending},
		"what is not known":  {nil, agent, shell("git push origin $(cat ref)"), approval.RulingPending},
		"of another agent":   {nil, newcomer, push("release/1"), approval.RulingPending},
		"after a restart":    {func(t *testing.T, g *gate, _ approval.ID) { restart(t, g) }, agent, push("release/1"), approval.RulingDeny},
		"59 minutes later":   {func(*testing.T, *gate, approval.ID) { time.Sleep(59 * time.Minute) }, agent, push("release/1"), approval.RulingDeny},
		"restarted at the end": {func(t *testing.T, g *gate, _ approval.ID) {
			time.Sleep(59 * time.Minute)
			restart(t, g)
		}, agent, push("release/1"), approval.RulingDeny},
		"an hour later": {func(*testing.T, *gate, approval.ID) { time.Sleep(approval.KindStands) }, agent, push("release/1"), approval.RulingPending},
		"lifted": {func(t *testing.T, g *gate, id approval.ID) {
			if _, err := g.order(t, approval.Order{Verb: approval.VerbLift, ID: string(id)}); err != nil {
				t.Error(err)
			}
		}, agent, push("release/1"), approval.RulingPending},
	} {
		t.Run(name, func(t *testing.T) {
			inUnderstanding(t, func(t *testing.T, g *gate) {
				first := g.propose(t, push("main"), 0)
				g.decide(t, first.Approval.ID, approval.ChoiceDeny, "")
				near := g.propose(t, push("dev"), 0)
				synctest.Wait()
				b := g.channel.card(near.Approval.ID.Ask()).Items[0].DenyKind
				if b == nil {
					t.Fatal("the card does not offer to deny the kind")
				}
				r, err := g.Decide(t.Context(), approval.Tap{Token: b.Token, By: owner, Channel: "fake"})
				if err != nil || !r.Won {
					t.Fatalf("denying the kind: %+v %v", r, err)
				}
				if c.between != nil {
					c.between(t, g, near.Approval.ID)
				}
				a, err := g.Propose(t.Context(), c.who, dispatcher.Request{Proposal: c.next})
				if err != nil || a.Decision != c.want {
					t.Fatalf("%+v %v, want %s", a, err, c.want)
				}
				if c.want != approval.RulingDeny {
					return
				}
				said := a.Refusal.Text()
				if a.Refusal.Standing == nil || a.Refusal.Standing.Kind == nil || !strings.Contains(said, "push in git") || !strings.Contains(said, "unless the person lifts it") {
					t.Errorf("the refusal does not say what was denied, and until when:\n%s", said)
				}
				if same := strings.Contains(said, "denied it"); same != (name == "the call itself") {
					t.Errorf("the refusal says that this very call was denied: %t:\n%s", same, said)
				}
			})
		})
	}
}

// TestWhatADeniedKindNeedsAndEnds checks that a kind can be denied only if the card says
// that the call is like one that was denied, and that the denial ends the grants for the
// kind.
func TestWhatADeniedKindNeedsAndEnds(t *testing.T) {
	inUnderstanding(t, func(t *testing.T, g *gate) {
		lone := g.propose(t, push("main"), 0)
		if _, err := g.press(t, lone.Approval.ID, approval.ChoiceDenyKind); err == nil {
			t.Error("the kind of a call was denied that is like nothing")
		}
		if a, err := g.Await(t.Context(), agent, lone.Approval.ID, 0); err != nil || a.Decision != approval.RulingPending {
			t.Fatalf("it changed something: %+v %v", a, err)
		}
		g.decide(t, lone.Approval.ID, approval.ChoiceDeny, "")
		time.Sleep(time.Second)
		granted, near := g.propose(t, push("release/1"), 0), g.propose(t, push("dev"), 0)
		if _, err := g.press(t, granted.Approval.ID, approval.ChoiceHour); err != nil {
			t.Fatal(err)
		}
		if _, err := g.press(t, near.Approval.ID, approval.ChoiceDenyKind); err != nil {
			t.Fatal(err)
		}
		if live, err := g.Granted(t.Context(), ""); err != nil || len(live) != 0 {
			t.Errorf("a grant of the kind lives on: %+v %v", live, err)
		}
		wantKinds(t, g, history.Granted, history.KindDenied, history.GrantEnded)
	})
}

// pushIn is a push of the turn.
func pushIn(turn, ref string) vaglio.Proposal {
	p := push(ref)
	p.TurnID = turn
	return p
}

// TestWhatIsNearJoinsTheOpenCard checks that a call that does the same in the same system
// as a waiting call of its turn is put on that call's card, even minutes later, and that
// the card's earlier button keeps its meaning.
func TestWhatIsNearJoinsTheOpenCard(t *testing.T) {
	for name, c := range map[string]struct {
		between func(*testing.T, *gate, approval.ID)
		next    vaglio.Proposal
		joins   bool
	}{
		"another branch":   {nil, pushIn("t-1", "dev"), true},
		"the same, unlike": {nil, inTurn("git push -v origin main", 2).Proposal, true},
		"after something else": {func(t *testing.T, g *gate, _ approval.ID) {
			g.propose(t, inTurn("npm install -g left-pad", 2).Proposal, 0)
			time.Sleep(time.Minute)
		}, pushIn("t-1", "dev"), true},
		"beside something else": {func(t *testing.T, g *gate, _ approval.ID) {
			g.propose(t, inTurn("npm install -g left-pad", 2).Proposal, 0)
		}, pushIn("t-1", "dev"), true},
		"after a restart":   {func(t *testing.T, g *gate, _ approval.ID) { restart(t, g) }, pushIn("t-1", "dev"), true},
		"something else":    {nil, inTurn("npm install -g left-pad", 2).Proposal, false},
		"another verb":      {nil, inTurn("git branch -D dev", 2).Proposal, false},
		"what is not known": {nil, inTurn("git push origin $(cat ref)", 2).Proposal, false},
		"another turn":      {nil, pushIn("t-2", "dev"), false},
		"of no turn":        {nil, push("dev"), false},
		"when little time is left": {func(*testing.T, *gate, approval.ID) {
			time.Sleep(remindAfter - time.Minute)
		}, pushIn("t-1", "dev"), false},
		"after a question": {func(t *testing.T, g *gate, id approval.ID) {
			if err := g.askBack(t, id, "why?"); err != nil {
				t.Error(err)
			}
		}, pushIn("t-1", "dev"), false},
		"after the answer": {func(t *testing.T, g *gate, id approval.ID) {
			g.decide(t, id, approval.ChoiceAllow, "")
		}, pushIn("t-1", "dev"), false},
	} {
		t.Run(name, func(t *testing.T) {
			inUnderstanding(t, func(t *testing.T, g *gate) {
				first := g.propose(t, pushIn("t-1", "main"), 0)
				synctest.Wait()
				then := g.channel.card(first.Approval.ID.Ask())
				time.Sleep(time.Minute)
				if c.between != nil {
					c.between(t, g, first.Approval.ID)
				}
				next := g.propose(t, c.next, 0)
				if joins := next.Approval.ID.Ask() == first.Approval.ID.Ask(); joins != c.joins {
					t.Fatalf("it is on the card of the first: %t", joins)
				}
				if synctest.Wait(); !c.joins {
					return
				}
				if now := g.channel.card(first.Approval.ID.Ask()); len(now.Items) != 2 || !now.ExpiresAt.Equal(then.ExpiresAt) {
					t.Fatalf("the card shows %d calls until %s", len(now.Items), now.ExpiresAt)
				}
				r, err := g.Decide(t.Context(), approval.Tap{Token: then.Buttons[0].Token, By: owner, Channel: "fake"})
				if err != nil || !r.Won || len(r.Approvals) != 1 || r.Approvals[0] != first.Approval.ID {
					t.Errorf("the button of the card with one call: %+v %v", r.Approvals, err)
				}
				if a, err := g.Await(t.Context(), agent, next.Approval.ID, 0); err != nil || a.Decision != approval.RulingPending {
					t.Errorf("what nobody had seen is %+v, %v", a, err)
				}
			})
		})
	}
}

// TestAFullCardYields checks that such calls fill one card after the other, and that none
// is lost.
func TestAFullCardYields(t *testing.T) {
	inUnderstanding(t, func(t *testing.T, g *gate) {
		asks := map[approval.AskID]int{}
		for i := range 2*approval.MaxGathered + 3 {
			asks[g.propose(t, pushIn("t-1", fmt.Sprint("release/", i)), 0).Approval.ID.Ask()]++
			time.Sleep(10 * time.Second)
		}
		if len(asks) != 3 {
			t.Errorf("%d cards: %v", len(asks), asks)
		}
	})
}
