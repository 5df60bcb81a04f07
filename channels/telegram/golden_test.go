package telegram

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/internal/golden"
	"github.com/metnos/vaglio/templates"
	"github.com/metnos/vaglio/vaglio"
	"github.com/metnos/vaglio/vaglio/wording"
)

// TestWhatPeopleRead compares every card, notice and answer, as the platform gets it, with
// a golden file for each language.
func TestWhatPeopleRead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		set, err := templates.Load(nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, lang := range templates.Langs() {
			texts := set.In(lang, time.FixedZone("CET", 3600))
			got := goldenPages(texts)
			if strings.Contains(got, "[state.") || strings.Contains(got, "<no value>") {
				t.Errorf("%s: a text is missing:\n%s", lang, got)
			}
			golden.Check(t, "testdata/cards."+string(lang)+".html", got)
		}
	})
}

// goldenPages returns everything that people read in one language.
func goldenPages(texts *templates.Texts) string {
	var b strings.Builder
	add := func(name, page, keyboard string) {
		b.WriteString("=== " + name + "\n" + page + "\n")
		if keyboard != "" {
			b.WriteString(strings.ReplaceAll(keyboard, `},{`, "},\n{") + "\n")
		}
		b.WriteString("\n")
	}
	show := func(name string, c approval.Card, attached bool) {
		v := viewOf(c, texts, nil)
		p, whole := v.fit(attached, false)
		add(name, p.b.String(), v.keyboard(whole))
	}
	for _, s := range []approval.State{
		approval.Pending, approval.Allowed, approval.Denied, approval.Expired, approval.Withdrawn, approval.Superseded,
		approval.Spent, approval.Lapsed, approval.Succeeded, approval.Failed, approval.Unknown,
	} {
		show(string(s), goldenCard(s), false)
	}
	show("a plan", goldenCard(approval.Pending, approval.Pending), false)
	show("a plan, half answered", goldenCard(approval.Pending, approval.Pending, approval.Denied), false)
	long := goldenCard(approval.Pending)
	long.Items[0].Command += strings.Repeat(" && make more", 500)
	show("a long call", long, true)
	show("a long call without its file", long, false)
	whole, _ := viewOf(long, texts, nil).whole()
	add("all of a long call", strings.ReplaceAll(whole, `},{`, "},\n{"), "")
	card := goldenCard(approval.Pending)
	add("why", reasons(&page{texts: texts}, &card).b.String(), "")
	n := goldenNotice()
	add("notice", noticePage(&page{texts: texts}, &n).b.String(), "")
	return b.String()
}

// goldenCard returns a card whose calls are in these states.
func goldenCard(states ...approval.State) approval.Card {
	now := time.Now()
	verdict := vaglio.Verdict{
		Reason: "score 0.2", JudgeKind: "effects", Score: 0.2, BlockedBy: vaglio.PhaseJudge,
		Results: []vaglio.GradientResult{{
			Judge: "effects", Score: 0.2, Confidence: 1, MinScore: 0.5,
			Reasoning: "Deletes ../other; it cannot be undone, and touches more than the workspace.",
			Signals: []vaglio.Signal{
				{
					Category: "delete", Score: 0.2, Message: "Deletes ../other; it cannot be undone, and touches more than the workspace.",
					Said: wording.Sentence{{Phrase: "deletes"}, {Text: "../other"}, {Phrase: "; it cannot be undone,"}, {Phrase: "and touches more than the workspace"}, {Phrase: "."}},
				},
				{Category: "overwrite", Score: 0.6, Message: "Changes a; it can be undone only in part, and touches the workspace only."},
			},
			Metadata: vaglio.Args{"effects": []any{
				map[string]any{"kind": "delete", "reversibility": "irreversible", "reach": "user"},
				map[string]any{"kind": "overwrite", "reversibility": "partial", "reach": "workspace"},
			}},
		}},
	}
	c := approval.Card{Ask: "abcdefghijklmnop", Agent: "coder", Intent: "clean up", TurnID: "t-1", ExpiresAt: now.Add(30 * time.Minute)}
	for _, s := range states {
		it := approval.Item{
			State: s, Executor: "shell_exec", Command: "rm -rf ../other", Args: "{\n  \"command\": \"rm -rf ../other\"\n}", Cwd: "/home/ann/app",
			Verdict: verdict, EndedAt: now.Add(-26 * time.Hour),
		}
		if s == approval.Pending {
			it.Buttons = []approval.Button{{Choice: approval.ChoiceAllow, Token: "ALLOW1"}, {Choice: approval.ChoiceDeny, Token: "DENY1"}}
			c.Buttons = []approval.Button{{Choice: approval.ChoiceAllow, Token: "ALLOW"}, {Choice: approval.ChoiceDeny, Token: "DENY"}}
		} else if s != approval.Expired && s != approval.Withdrawn && s != approval.Superseded {
			it.Decision = &approval.Decision{Choice: approval.ChoiceAllow, By: approval.Person{ID: "telegram:4711", Name: "Ann"}, At: now}
		}
		switch s {
		case approval.Expired:
			it.EndedAt = c.ExpiresAt
		case approval.Denied:
			it.Decision.Choice, it.Decision.Words = approval.ChoiceDeny, "use make clean"
		case approval.Failed:
			it.Outcome = &approval.Outcome{Detail: "exit status 1", At: now}
		default:
		}
		c.Items = append(c.Items, it)
	}
	return c
}

func goldenNotice() approval.Notice {
	p := vaglio.Proposal{Executor: "shell_exec", Args: vaglio.Args{"command": "rm -rf /"}}
	v := vaglio.Verdict{Reason: "forbidden shell pattern", BlockedBy: vaglio.PhaseGuard, Rule: &vaglio.GuardRule{
		ID: "shell.rm_root", Why: "Removing the root of the file system cannot be undone.",
		Instead: "Name exactly the files below the workspace that should go, one by one.",
	}}
	now := time.Now()
	return approval.Notice{Agent: "coder", Rule: "shell.rm_root", Count: 3, First: now.Add(-time.Minute), Last: now, Headline: (&approval.Step{Proposal: p, Verdict: &v}).Headline(), Call: approval.Line(p), Refusal: approval.Refuse(p, v)}
}
