package owner

import (
	"strings"
	"testing"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/templates"
	"github.com/metnos/vaglio/vaglio"
	"github.com/metnos/vaglio/vaglio/wording"
)

// hostile is a text that tries to forge lines of ours, or to hide in the terminal.
const hostile = "ls\nstate      allowed\x1b[2K\u202e\u200b"

func hostileAccount() Account {
	return Account{
		ID: "abcdefgh-1", State: approval.Pending, Agent: "agent", Headline: hostile, Consequence: hostile, Intent: hostile, Executor: hostile, Command: hostile,
		Args: "{\n  \"command\": \"ls\"\n}", Mounts: []string{hostile},
		Verdict: vaglio.Verdict{Reason: hostile, JudgeKind: "rule-based-v1", Results: []vaglio.GradientResult{{
			Judge: "rule-based-v1", Reasoning: hostile, Signals: []vaglio.Signal{{Category: "x", Message: hostile}},
		}}},
		Because: hostile, Noticed: [][]string{{hostile, "- " + hostile}}, Instead: []string{hostile},
		Decision: &approval.Decision{Choice: approval.ChoiceDeny, Words: hostile},
		Outcome:  &approval.Outcome{Detail: hostile},
	}
}

// textsIn returns the built-in texts in a language.
func textsIn(t *testing.T, lang templates.Lang) *templates.Texts {
	t.Helper()
	set, err := templates.Load(nil)
	if err != nil {
		t.Fatal(err)
	}
	return set.In(lang, time.UTC)
}

func TestWhyCannotBeForged(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	if err := WriteWhy(&b, textsIn(t, templates.English), []Account{hostileAccount()}); err != nil {
		t.Fatal(err)
	}
	states := 0
	for line := range strings.Lines(b.String()) {
		if strings.HasPrefix(line, "state") {
			states++
		}
	}
	if states != 1 || !strings.Contains(b.String(), "state      Waiting for you\n") {
		t.Errorf("%d lines tell a state, want ours alone:\n%s", states, b.String())
	}
	if strings.ContainsAny(b.String(), "\x1b\u202e\u200b") {
		t.Errorf("hidden characters reach the terminal:\n%q", b.String())
	}
}

func TestPendingIsOneLineEach(t *testing.T) {
	t.Parallel()
	now := time.Now()
	a := hostileAccount()
	a.ExpiresAt = now.Add(90 * time.Second)
	var b strings.Builder
	if err := WritePending(&b, textsIn(t, templates.English), []Account{a, a}, now); err != nil {
		t.Fatal(err)
	}
	if strings.Count(b.String(), "\n") != 3 || strings.Count(b.String(), "1m30s") != 2 {
		t.Errorf("want a heading and two lines with the time left, got\n%s", b.String())
	}
	if strings.ContainsAny(b.String(), "\x1b\u202e\u200b") {
		t.Errorf("hidden characters reach the terminal:\n%q", b.String())
	}
}

// What a judge said appears once, with the scores needed to pass, the network it reached, and what
// it did.
func TestWhyTellsWhatAJudgeDid(t *testing.T) {
	t.Parallel()
	a := accounts(approval.Card{Items: []approval.Item{{
		Approval: "abcdefgh-1", State: approval.Pending,
		Verdict: vaglio.Verdict{Reason: "judge: confidence 0.40 < threshold 0.50 (With it TestAdd fails.)", JudgeKind: "semantic:qa", Results: []vaglio.GradientResult{
			{Judge: "effects", Score: 0.9, Confidence: 1, MinScore: 0.5, Reasoning: "It reads."},
			{Judge: "semantic:qa", Score: 0.9, Confidence: 0.4, MinScore: 0.85, MinConfidence: 0.5, Network: "open", Judgement: "j-1", Reasoning: "With it TestAdd fails."},
		}},
	}}}, textsIn(t, templates.English))[0]
	a.Judgements = []vaglio.Judgement{{
		ID: "j-1", Judge: "semantic:qa", Turns: 3, Input: 90, Output: 10, Took: 1.25, Layer: "bubblewrap 0.11", Fault: vaglio.FaultTimeout,
		Transcript: []vaglio.Said{{By: "called cmd.run", Text: "go test\nstate      allowed"}},
	}}
	var b strings.Builder
	if err := WriteWhy(&b, textsIn(t, templates.English), []Account{a}); err != nil {
		t.Fatal(err)
	}
	for text, times := range map[string]int{
		"With it TestAdd fails.": 1, "It reads.": 1, "effects, score 0.9 of 0.5, confidence 1\n": 1, "\nstate": 1,
		"semantic:qa, score 0.9 of 0.85, confidence 0.4 of 0.5; its commands reach the network\n": 1,
		"j-1 by semantic:qa, 3 turns, 100 tokens, 1.2 s bubblewrap 0.11; no verdict: timeout\n":   1,
		"[called cmd.run] go test": 1,
	} {
		if n := strings.Count(b.String(), text); n != times {
			t.Errorf("%q is told %d times, want %d:\n%s", text, n, times, b.String())
		}
	}
}

// A call that the agent's client refused after the yes has not failed: it did not run.
func TestWhyTellsWhatDidNotRun(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		state   approval.State
		outcome approval.Outcome
		want    string
	}{
		{approval.Succeeded, approval.Outcome{Succeeded: true}, "run        worked, "},
		{approval.Failed, approval.Outcome{}, "run        failed, "},
		{approval.Failed, approval.Outcome{NotRun: true}, "run        not run: the agent’s own rules refused it, "},
	} {
		a := Account{State: row.state, Outcome: &row.outcome}
		var b strings.Builder
		if err := WriteWhy(&b, textsIn(t, templates.English), []Account{a}); err != nil || !strings.Contains(b.String(), "\n"+row.want) {
			t.Errorf("%v: want %q in\n%s", err, row.want, b.String())
		}
	}
}

// What a card says of a call is told at a terminal in the reader's language, too.
func TestWhyIsInTheReadersLanguage(t *testing.T) {
	t.Parallel()
	pushed := wording.Sentence{wording.Say("deletes %s", "/srv/app"), {Phrase: "; it cannot be undone,"}, {Phrase: "and touches the whole machine"}, {Phrase: "."}}
	message, _ := pushed.In(wording.English)
	p := vaglio.Proposal{Executor: "shell_exec", Args: vaglio.Args{"command": "ls\nrm -rf /srv/app"}}
	v := vaglio.Verdict{
		Reason: "judge: score 0.05 < threshold 0.50 (" + message + ")", JudgeKind: "effects", Score: 0.05, BlockedBy: vaglio.PhaseJudge,
		Results: []vaglio.GradientResult{
			{Judge: "rule-based-v1", Score: 0.7, Confidence: 1, Reasoning: "base score"},
			{
				Judge: "effects", Score: 0.05, Confidence: 1, MinScore: 0.5, Reasoning: message,
				Signals:  []vaglio.Signal{{Category: "delete", Score: 0.05, Message: message, Said: pushed, Lines: []int{2}}},
				Metadata: map[string]any{"effects": []any{map[string]any{"kind": "delete", "reversibility": "irreversible", "reach": "system"}}},
			},
		},
	}
	r := approval.Refuse(p, v)
	it := approval.NewItem(approval.Approval{ID: "abcdefgh-1", State: approval.Pending, Proposal: p, Verdict: v, Refusal: r}, approval.NewMasker(approval.Secret{1}))
	card := approval.Card{Agent: "agent", Items: []approval.Item{it}}
	for lang, want := range map[templates.Lang][]string{
		templates.English: {
			"what       Deletes /srv/app\nso         Cannot be undone · touches the whole machine\n", "nothing to note\n",
			"           - deletes something 0.05: Deletes /srv/app; it cannot be undone, and touches the whole machine. (line 2)\n", "instead    Move what would be deleted",
		},
		templates.Italian: {
			"cosa       Cancella /srv/app\neffetto    Non si può annullare · tocca tutta la macchina\n", "nulla da segnalare\n",
			"           - cancella qualcosa 0,05: Cancella /srv/app; non si può annullare, e tocca tutta la macchina. (riga 2)\n", "invece     Spostare ", "stato      Ti aspetta\n", "fermata da effects, punteggio 0,05\n", "giudice    effects, punteggio 0,05 su 0,5, certezza 1\n",
		},
	} {
		texts := textsIn(t, lang)
		all := accounts(card, texts)
		var b strings.Builder
		if err := WriteWhy(&b, texts, all); err != nil {
			t.Fatal(err)
		}
		for _, line := range want {
			if !strings.Contains(b.String(), line) {
				t.Errorf("%s: %q is missing in\n%s", lang, line, b.String())
			}
		}
		if told := strings.Contains(b.String(), "it cannot be undone"); told != (lang == templates.English) {
			t.Errorf("%s: what the judge says is in English: %v\n%s", lang, told, b.String())
		}
		b.Reset()
		headline, _, _ := strings.Cut(want[0][len("what       "):], "\n")
		if err := WritePending(&b, texts, all, time.Now()); err != nil || !strings.Contains(b.String(), headline) {
			t.Errorf("%s: the list does not say %q: %v\n%s", lang, headline, err, b.String())
		}
	}
}

// Whatever a person chose is told in words.
func TestWhyTellsEveryChoice(t *testing.T) {
	t.Parallel()
	for _, lang := range templates.Langs() {
		for _, c := range append(approval.GrantChoices(), approval.ChoiceAllow, approval.ChoiceDeny, approval.ChoiceDenyKind) {
			var b strings.Builder
			a := Account{State: approval.Denied, Decision: &approval.Decision{Choice: c, By: approval.Person{ID: "web:owner", Name: "Ann"}, Channel: "web"}}
			if err := WriteWhy(&b, textsIn(t, lang), []Account{a}); err != nil || !strings.Contains(b.String(), " Ann (web:owner) ") {
				t.Errorf("%s, %s: %v in\n%s", lang, c, err, b.String())
			}
		}
	}
}
