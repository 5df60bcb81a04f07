package cardtext_test

import (
	"strings"
	"testing"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/channels/cardtext"
	"github.com/metnos/vaglio/templates"
	"github.com/metnos/vaglio/vaglio"
)

// TestReasonsDoNotContradictTheConsequence checks that what is said under Why never says
// anything else than the consequence does of whether a call can be undone.
func TestReasonsDoNotContradictTheConsequence(t *testing.T) {
	t.Parallel()
	j, set := effectsJudge(t), textSet(t)
	tool := func(executor string, args vaglio.Args) row {
		return row{name: executor, call: vaglio.Proposal{Executor: executor, Args: args, Context: vaglio.Context{Cwd: "/srv/app"}}}
	}
	account := vaglio.Args{"amount": 1250, "currency": "EUR", "to_account": "DE89370400440532013000"}
	rows := append(table(t, "testdata/headlines.txt"),
		tool("create_transfer", account), tool("wise_create_transfer", account), tool("schedule_job", account), tool("create_standing_order", account),
		tool("grant_role", vaglio.Args{"role": "admin", "user": "bob"}), tool("delete_issue", vaglio.Args{"issue": "42"}),
		tool("shell_exec", vaglio.Args{"command": "rm -rf /srv/app/uploads; git tag v1; sudo systemctl restart shop"}),
	)
	for _, r := range rows {
		g, err := j.Grade(t.Context(), r.call)
		if err != nil {
			t.Fatal(err)
		}
		g.MinScore = 1
		v := vaglio.Verdict{BlockedBy: vaglio.PhaseJudge, JudgeKind: "effects", Score: g.Score, Results: []vaglio.GradientResult{g}}
		before := g.Reasoning
		it := approval.NewItem(approval.Approval{ID: "a1", State: approval.Pending, Proposal: r.call, Verdict: v}, approval.NewMasker(approval.Secret{1}))
		card := approval.Card{Ask: "one", Items: []approval.Item{it}}
		for _, lang := range templates.Langs() {
			texts := set.In(lang, time.UTC)
			follows := cardtext.Consequence(texts, &it.Headline.Consequence)
			_, lines := cardtext.Reasons(texts, &card)
			said := make([]string, len(lines))
			for i := range lines {
				said[i] = lines[i].String()
			}
			if why := strings.Join(said, "\n"); undoneIn(why) != 0 && undoneIn(why) != undoneIn(follows) {
				t.Errorf("%s: it follows %q, and under Why stands %q", r.name, follows, why)
			}
		}
		if g.Reasoning != before {
			t.Errorf("%s: the verdict was changed: %q", r.name, g.Reasoning)
		}
	}
}

// undoneIn returns the most that a text says of what cannot be undone: 0 if nothing, 1 if
// all of it can be undone, 2 if it can in part, 3 if it cannot.
func undoneIn(text string) int {
	text = strings.NewReplacer("whether it can be undone", "", "se si può annullare", "").Replace(strings.ToLower(text))
	for i, words := range [][]string{
		{"cannot be undone", "non si può annullare"},
		{"can be undone in part", "can be undone only in part", "si può annullare in parte", "si può annullare solo in parte"},
		{"can be undone", "si può annullare"},
	} {
		for _, w := range words {
			if strings.Contains(text, w) {
				return 3 - i
			}
		}
	}
	return 0
}
