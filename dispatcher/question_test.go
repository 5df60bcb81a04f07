package dispatcher_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/approval/history"
	"github.com/metnos/vaglio/dispatcher"
	"github.com/metnos/vaglio/vaglio"
)

// askBack asks the agent something about an approval.
func (g *gate) askBack(t *testing.T, id approval.ID, words string) error {
	t.Helper()
	_, err := g.order(t, approval.Order{Verb: approval.VerbAsk, ID: string(id), Words: words})
	return err
}

func TestAQuestionIsNotANo(t *testing.T) {
	inUnderstanding(t, func(t *testing.T, g *gate) {
		p := push("main")
		first := g.propose(t, p, 0)
		id, until := first.Approval.ID, first.Approval.ExpiresAt
		told := make(chan approval.Answer, 1)
		go func() {
			a, err := g.Await(t.Context(), agent, id, time.Hour)
			if err != nil {
				t.Error(err)
			}
			told <- a
		}()
		synctest.Wait()
		if err := g.askBack(t, id, " why main? "); err != nil {
			t.Fatal(err)
		}
		a := <-told
		if a.Decision != approval.RulingPending || a.Question == nil || a.Question.Words != "why main?" || a.Question.Repeated || !a.Approval.ExpiresAt.Equal(until) {
			t.Fatalf("the waiting agent is told %+v", a)
		}
		text := a.Told().Text
		for _, want := range []string{"has not run yet", `"why main?"`, "git push origin main", "again"} {
			if !strings.Contains(text, want) {
				t.Errorf("the question's text lacks %q:\n%s", want, text)
			}
		}
		if bad, ok := errors.AsType[*approval.OrderError](g.askBack(t, id, "and?")); !ok || bad.Key != approval.OrderAsked {
			t.Errorf("a second question before the answer: %v", bad)
		}
		again, err := g.Await(t.Context(), agent, id, time.Minute)
		if err != nil || again.Question == nil || !again.Question.Repeated {
			t.Errorf("told again: %+v %v", again, err)
		}
		answered, err := g.Propose(t.Context(), agent, dispatcher.Request{Proposal: p, Answer: "the release needs it, token ghp_0123456789abcdefghijklmnopqrstuvwxyz"})
		if err != nil || answered.Approval.ID != id || answered.Question != nil || !answered.Approval.ExpiresAt.Equal(until) {
			t.Fatalf("the repeat with an answer: %+v %v", answered, err)
		}
		synctest.Wait()
		card := g.channel.card(id.Ask())
		if n := len(card.Questions); n != 1 || !strings.HasPrefix(card.Questions[0].Answer, "the release needs it") || strings.Contains(card.Questions[0].Answer, "ghp_0123") {
			t.Fatalf("the card has %+v", card.Questions)
		}
		if err := g.askBack(t, id, "who says so?"); err != nil {
			t.Fatal(err)
		}
		if _, err := g.Propose(t.Context(), agent, dispatcher.Request{Proposal: p, Answer: "the user"}); err != nil {
			t.Fatal(err)
		}
		if bad, ok := errors.AsType[*approval.OrderError](g.askBack(t, id, "a third")); !ok || bad.Key != approval.OrderRounds {
			t.Errorf("a third question: %v", bad)
		}
		g.decide(t, id, approval.ChoiceAllow, "")
		if a, err := g.Await(t.Context(), agent, id, 0); err != nil || a.Decision != approval.RulingAllow || a.Question != nil {
			t.Errorf("allowed after questions: %+v %v", a, err)
		}
		wantKinds(t, g, history.Questioned, history.Replied, history.Questioned, history.Replied)
	})
}

// wantKinds checks which leaves of these kinds the history has, in order.
func wantKinds(t *testing.T, g *gate, want ...history.Kind) {
	t.Helper()
	var got []history.Kind
	for _, e := range g.events(t, want...) {
		got = append(got, e.Kind)
	}
	if !slices.Equal(got, want) {
		t.Errorf("the history tells %v, want %v", got, want)
	}
}

// events returns what the history tells about the kinds.
func (g *gate) events(t *testing.T, kinds ...history.Kind) (all []history.Event) {
	t.Helper()
	for leaf, err := range g.store.Leaves(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		e, err := history.Decode(leaf.Value)
		if err != nil {
			t.Fatal(err)
		}
		if slices.Contains(kinds, e.Kind) {
			all = append(all, e)
		}
	}
	return all
}

func TestAQuestionThatCannotBe(t *testing.T) {
	inUnderstanding(t, func(t *testing.T, g *gate) {
		id := g.propose(t, push("main"), 0).Approval.ID
		for name, tc := range map[string]struct {
			by    approval.Person
			words string
			fits  func(error) bool
		}{
			"no-words": {owner, "  ", func(err error) bool {
				e, ok := errors.AsType[*approval.OrderError](err)
				return ok && e.Key == approval.OrderWords
			}},
			"too-long":  {owner, strings.Repeat("x", approval.MaxWords+1), func(err error) bool { _, ok := errors.AsType[*approval.WordsError](err); return ok }},
			"a-strange": {approval.Person{ID: "fake:eve"}, "why?", func(err error) bool { return errors.Is(err, approval.ErrNotApprover) }},
		} {
			_, err := g.Order(t.Context(), approval.Order{Verb: approval.VerbAsk, ID: string(id), Words: tc.words, By: tc.by, Channel: "fake"})
			if !tc.fits(err) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if _, err := g.Withdraw(t.Context(), agent, id); err != nil {
			t.Fatal(err)
		}
		if bad, ok := errors.AsType[*approval.OrderError](g.askBack(t, id, "why?")); !ok || bad.Key != approval.OrderNothing {
			t.Errorf("an agent that went: %v", bad)
		}
		// Without a question, an answer is ignored.
		a, err := g.Propose(t.Context(), agent, dispatcher.Request{Proposal: push("dev"), Answer: "because"})
		if err != nil || a.Decision != approval.RulingPending {
			t.Errorf("an answer that nobody asked for: %+v %v", a, err)
		}
	})
}

func TestAQuestionEndsTheWaitOfAPlan(t *testing.T) {
	inUnderstanding(t, func(t *testing.T, g *gate) {
		p := func(ref string) dispatcher.Request {
			return dispatcher.Request{Proposal: vaglio.Proposal{Executor: "shell_exec", Args: vaglio.Args{"command": "git push origin " + ref}, TurnID: "t", Context: push(ref).Context}, Wait: time.Hour}
		}
		told := make(chan []approval.Answer, 1)
		start := time.Now()
		go func() {
			answers, err := g.ProposePlan(t.Context(), agent, []dispatcher.Request{p("main"), p("--force dev")})
			if err != nil {
				t.Error(err)
			}
			told <- answers
		}()
		synctest.Wait()
		if err := g.askBack(t, g.pendingOn(t, "fake").Items[0].Approval, "in which order?"); err != nil {
			t.Fatal(err)
		}
		for i, a := range <-told {
			if a.Question == nil || a.Question.Repeated != (i > 0) {
				t.Errorf("call %d is told %+v", i, a.Question)
			}
		}
		if took := time.Since(start); took != 0 {
			t.Errorf("it took %s", took)
		}
	})
}
