package approval_test

import (
	"strings"
	"testing"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/internal/strictjson"
	"github.com/metnos/vaglio/vaglio"
)

// ended returns an ask that was allowed or denied at the instant, in which every text that
// others wrote says "value".
func ended(t *testing.T, choice approval.Choice, at time.Time) approval.Ask {
	t.Helper()
	denial, err := approval.JudgeDenial(vaglio.Verdict{
		Reason: "a value", JudgeKind: "effects", BlockedBy: vaglio.PhaseJudge, Score: 0.2,
		Sources: []vaglio.Source{{Path: "/srv/value.sh", SHA256: "ab12", Lines: 3, Head: "echo value"}, {Path: "/srv/value", Unread: "is a value"}},
		Results: []vaglio.GradientResult{{
			Judge: "effects", Reasoning: "value", Metadata: vaglio.Args{"saw": "value"},
			Signals: []vaglio.Signal{{Category: "destructive", Score: 0.2, Message: "deletes value"}},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	ask, err := approval.Open(approval.Opening{
		Agent: "coder", Intent: "the value", TurnID: "t-1", Channels: []string{"web"}, At: at.Add(-time.Minute), ExpiresAt: at.Add(time.Hour),
		Calls: []approval.Call{{
			Proposal: vaglio.Proposal{
				Agent: "coder", TurnID: "t-1", Step: 3, Intent: "the value", Executor: "shell_exec",
				Args: vaglio.Args{"command": "rm value"}, Context: vaglio.Context{Cwd: "/srv/value"},
			},
			Denial: denial, Fingerprint: "f00d", Key: "k-1", Effect: "deletes value",
			About: approval.Subjects{{System: "files", Verb: "delete", Object: []approval.Fact{{Name: "path", Value: "value"}}}},
			Like:  &approval.Likeness{Differences: []approval.Difference{{Name: "path", Was: "value", Now: "other value"}}},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	q := approval.Question{By: approval.Person{ID: "web:owner"}, Channel: "web", At: at.Add(-time.Minute), Words: "which one?"}
	if err := ask.Question(q); err != nil || !ask.AnswerQuestion("this value", at) {
		t.Fatal(err)
	}
	_, err = ask.Decide(approval.Tap{Choice: choice, By: approval.Person{ID: "web:owner"}, Channel: "web", Words: "as you wish"}, at, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if choice == approval.ChoiceAllow {
		id := ask.Approvals[0].ID
		if err := ask.Redeem(id, "f00d", at); err != nil {
			t.Fatal(err)
		}
		if err := ask.Report(id, approval.Outcome{Succeeded: true, Detail: "removed value", At: at}); err != nil {
			t.Fatal(err)
		}
	}
	return ask
}

func TestValuesAreDropped(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 1, 8, 0, 0, 0, time.UTC)
	for _, choice := range []approval.Choice{approval.ChoiceAllow, approval.ChoiceDeny} {
		ask := ended(t, choice, at)
		keys, view, state := ask.Keys(), ask.View(), ask.Approvals[0].State
		if ask.DropValues(at, at.Add(time.Hour)) {
			t.Errorf("%s: what ended at the instant itself was dropped", choice)
		}
		day := at.AddDate(0, 0, 30)
		if !ask.DropValues(day, day) {
			t.Fatalf("%s: nothing was dropped", choice)
		}
		body, err := approval.EncodeAsk(ask)
		if err != nil || strings.Contains(strings.ReplaceAll(string(body), "values_dropped_at", ""), "value") {
			t.Errorf("%s: values are left: %s, %v", choice, body, err)
		}
		p := &ask.Approvals[0]
		switch {
		case p.State != state || p.Fingerprint != "f00d" || p.Proposal.Executor != "shell_exec" || p.Decision.Words != "as you wish" || !p.ValuesDropped.Equal(day):
			t.Errorf("%s: what should stay did not: %s", choice, body)
		case len(p.Verdict.Sources) != 1 || p.Verdict.Sources[0].SHA256 != "ab12" || p.Verdict.Results[0].Signals[0].Category != "destructive":
			t.Errorf("%s: the verdict is %+v", choice, p.Verdict)
		case ask.View() != view || strings.Join(ask.Keys(), " ") != strings.Join(keys, " "):
			t.Errorf("%s: keys or view changed", choice)
		}
		if ask.DropValues(day.AddDate(0, 0, 1), day.AddDate(0, 0, 1)) {
			t.Errorf("%s: they were dropped again", choice)
		}
		card := approval.NewCard(ask, "web", approval.NewMasker(approval.Secret{1}))
		if it := card.Items[0]; it.Args != "" || it.Command != "" || it.Refusal.Wanted != "shell_exec" || !it.ValuesDropped.Equal(day) {
			t.Errorf("%s: the card has %+v", choice, it)
		}
		if text := approval.AnswerFor(*p, "").Told().Text; !strings.Contains(text, "Wanted: shell_exec\n") {
			t.Errorf("%s: the agent is told %q", choice, text)
		}
	}
}

// TestValuesStayUntilTheEnd checks that what can still happen, or still answers a call,
// keeps its values.
func TestValuesStayUntilTheEnd(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 1, 8, 0, 0, 0, time.UTC)
	late := at.AddDate(1, 0, 0)
	for name, change := range map[string]func(*approval.Ask){
		"pending":         func(a *approval.Ask) { a.Approvals[0].State = approval.Pending },
		"allowed":         func(a *approval.Ask) { a.Approvals[0].State = approval.Allowed },
		"spent":           func(a *approval.Ask) { a.Approvals[0].State = approval.Spent },
		"standing denial": func(a *approval.Ask) { a.Approvals[0].StandsUntil = late.Add(time.Second) },
		"late outcome":    func(a *approval.Ask) { a.Approvals[0].Outcome.At = late.Add(time.Second) },
		"another call waits": func(a *approval.Ask) {
			a.Approvals = append(a.Approvals, approval.Approval{State: approval.Pending})
		},
	} {
		ask := ended(t, approval.ChoiceAllow, at)
		change(&ask)
		before, err := strictjson.Marshal(ask)
		if err != nil {
			t.Fatal(err)
		}
		after := ask.DropValues(late, late)
		if now, err := strictjson.Marshal(ask); after || err != nil || string(now) != string(before) {
			t.Errorf("%s: values were dropped", name)
		}
	}
}
