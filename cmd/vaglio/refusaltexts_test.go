package main

import (
	"strings"
	"testing"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/templates"
	"github.com/metnos/vaglio/vaglio"
	"github.com/metnos/vaglio/vaglio/guard"
	"github.com/metnos/vaglio/vaglio/judge"
	"github.com/metnos/vaglio/vaglio/operation"
)

// TestRefusalsAreSaidInEveryLanguage checks the texts against what the guard and the refusals say
// in English: no card is half in another language, and the English texts are those that agents are
// told.
func TestRefusalsAreSaidInEveryLanguage(t *testing.T) {
	t.Parallel()
	set, err := templates.Load(nil)
	if err != nil {
		t.Fatal(err)
	}
	english, italian := set.In(templates.English, time.UTC), set.In(templates.Italian, time.UTC)
	say := func(sentence, where string) {
		en, known := english.Told(sentence)
		it, _ := italian.Told(sentence)
		if !known || en != sentence || it == sentence || it == "" {
			t.Errorf("%s: %q is told as %q and %q (known: %t)", where, sentence, en, it, known)
		}
	}
	rules := guard.Rules()
	for _, d := range rules {
		en, it := english.Guard(d.ID), italian.Guard(d.ID)
		if !strings.HasSuffix(en, d.Why) || it == "" || it == en {
			t.Errorf("the rule %s is %q, and told as %q and %q", d.ID, d.Why, en, it)
		}
		rule := &vaglio.GuardRule{ID: d.ID, Why: d.Why, Instead: d.Instead}
		for _, s := range approval.Refuse(vaglio.Proposal{}, vaglio.Verdict{BlockedBy: vaglio.PhaseGuard, Reason: d.Reason, Rule: rule}).Alternatives {
			say(s, d.ID)
		}
	}
	if len(rules) < 40 {
		t.Errorf("the guard has %d rules", len(rules))
	}
	for _, s := range approval.Refuse(vaglio.Proposal{}, vaglio.Verdict{BlockedBy: vaglio.PhaseGuard}).Alternatives {
		say(s, "a guard without a rule")
	}
	for _, s := range approval.Refuse(vaglio.Proposal{}, vaglio.Verdict{}).Alternatives {
		say(s, "a verdict that makes no sense")
	}
	for _, kind := range operation.Kinds() {
		v := vaglio.Verdict{BlockedBy: vaglio.PhaseJudge, JudgeKind: "effects", Results: []vaglio.GradientResult{{
			Judge: "effects", Signals: []vaglio.Signal{{Category: string(kind)}},
		}}}
		said := approval.Refuse(vaglio.Proposal{}, v).Alternatives
		if len(said) < 3 {
			t.Errorf("nothing is told to do instead of an effect %q", kind)
		}
		for _, s := range said {
			say(s, string(kind))
		}
	}
}

// TestRulesAreSaidInEveryLanguage checks that everything the rules can say has a text in each
// language, with calls that make them say it.
func TestRulesAreSaidInEveryLanguage(t *testing.T) {
	t.Parallel()
	set, err := templates.Load(nil)
	if err != nil {
		t.Fatal(err)
	}
	english, italian := set.In(templates.English, time.UTC), set.In(templates.Italian, time.UTC)
	said := map[string]bool{}
	for _, p := range []vaglio.Proposal{
		{Executor: "read_file"},
		{
			Executor: "read_file", Intent: "read it", Args: vaglio.Args{"path": "a/../b", "a-b": 1},
			Context: vaglio.Context{Critical: new(bool)},
		},
	} {
		g, err := judge.Rules().Grade(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		sentences := []string{g.Reasoning}
		for _, s := range g.Signals {
			said[s.Category] = true
			sentences = append(sentences, s.Message)
		}
		for _, s := range sentences {
			en, known := english.Judged(s)
			it, _ := italian.Judged(s)
			if !known || it == s || it == en {
				t.Errorf("%q is said as %q and %q (known: %t)", s, en, it, known)
			}
			if strings.Contains(s, "a-b") != strings.Contains(it, "a-b") {
				t.Errorf("%q is said as %q: the argument's name is gone", s, it)
			}
		}
	}
	if len(said) != 4 {
		t.Errorf("the rules noticed only %v", said)
	}
	const theirs = "intent matches executor; and more"
	if it, known := italian.Judged(theirs); known || it != theirs {
		t.Errorf("what no rule says became %q", it)
	}
}

// TestEveryCategoryHasAName checks that no category of the built-in judges stands on a page
// as the word that programs use: neither a kind of effect, nor a concern of a gateway, nor
// what the rules notice.
func TestEveryCategoryHasAName(t *testing.T) {
	t.Parallel()
	set, err := templates.Load(nil)
	if err != nil {
		t.Fatal(err)
	}
	categories := []string{"unread", "sandbox"} // of the judges effects and agent
	for _, kind := range operation.Kinds() {
		categories = append(categories, string(kind))
	}
	for _, c := range vaglio.Concerns() {
		categories = append(categories, string(c))
	}
	g, err := judge.Rules().Grade(t.Context(), vaglio.Proposal{
		Executor: "read_file", Intent: "read it", Args: vaglio.Args{"path": "a/../b", "a-b": 1}, Context: vaglio.Context{Critical: new(bool)},
	})
	if err != nil || len(g.Signals) != 4 {
		t.Fatalf("the rules noticed %v: %v", g.Signals, err)
	}
	for _, s := range g.Signals {
		categories = append(categories, s.Category)
	}
	named := map[string]string{}
	for _, category := range categories {
		en, it := set.In(templates.English, time.UTC).EffectName(category), set.In(templates.Italian, time.UTC).EffectName(category)
		if en == category || it == category || it == en || !strings.Contains(en, " ") && en != "reads" {
			t.Errorf("%s is named %q and %q", category, en, it)
		}
		for _, name := range []string{en, it} {
			if other, taken := named[name]; taken && other != category {
				t.Errorf("%s and %s are both named %q", category, other, name)
			}
			named[name] = category
		}
		if word, known := set.In(templates.Italian, time.UTC).Word("effect." + category); word != it || !known {
			t.Errorf("in a digest %s is named %q, %t", category, word, known)
		}
	}
}
