package cardtext_test

import (
	"strings"
	"testing"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/channels/cardtext"
	"github.com/metnos/vaglio/templates"
	"github.com/metnos/vaglio/vaglio"
)

// TestReasonsOfAVeto checks a call that was refused without an ask, and so has no card: the
// reasons also say what the call was, and nothing in them looks like more than the agent's
// words.
func TestReasonsOfAVeto(t *testing.T) {
	t.Parallel()
	step := approval.Step{ID: "s", Proposal: vaglio.Proposal{Agent: "bot", Executor: "shell_exec", Args: vaglio.Args{"command": "rm -rf /\u202e"}}}
	guard := step
	guard.Verdict = &vaglio.Verdict{BlockedBy: vaglio.PhaseGuard, Rule: &vaglio.GuardRule{ID: "tree.root", Why: "it is all", Instead: "less"}}
	judge := vaglio.Verdict{BlockedBy: vaglio.PhaseJudge, Reason: "it deletes", Results: []vaglio.GradientResult{
		{Judge: "effects", Score: 0.2, Signals: []vaglio.Signal{{Category: "delete", Score: 0.2, Message: "removes all"}}},
	}}
	unasked, repeated := step, step
	unasked.Verdict, repeated.Verdict, repeated.Approval = &judge, &judge, "ask-1"
	for name, tt := range map[string]struct {
		step  approval.Step
		wants []string
	}{
		"guard":    {guard, []string{"🛑 bot: ", "rm -rf /", "refused it by its rule tree.root", "Why: ", "The agent is told: "}},
		"unasked":  {unasked, []string{"rm -rf /", "Nobody was asked", "effects: score 0.2", "removes all"}},
		"repeated": {repeated, []string{"It repeated ask-1", "removes all"}},
	} {
		for _, lang := range templates.Langs() {
			c := approval.NewVetoCard(tt.step, approval.NewMasker(approval.Secret{1}))
			title, lines := cardtext.Reasons(textsIn(t, lang), &c)
			said := title.String()
			for _, l := range lines {
				said += "\n" + l.String()
			}
			if !strings.Contains(said, string(approval.VetoID("s"))) || strings.Contains(said, "[") || strings.Contains(said, "\u202e") {
				t.Errorf("%s in %s says\n%s", name, lang, said)
			}
			for _, want := range tt.wants {
				if lang == templates.English && !strings.Contains(said, want) {
					t.Errorf("%s: %q is not in\n%s", name, want, said)
				}
			}
		}
	}
}
