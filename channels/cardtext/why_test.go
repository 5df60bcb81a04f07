package cardtext_test

import (
	"strings"
	"testing"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/channels/cardtext"
	"github.com/metnos/vaglio/templates"
	"github.com/metnos/vaglio/vaglio"
	"github.com/metnos/vaglio/vaglio/judge"
)

// A score is no reason that a person understands, and what speaks for a call is none to
// ask about it: what speaks against it is said, or that the threshold asks even so.
func TestWhyTheRulesAsk(t *testing.T) {
	t.Parallel()
	no := false
	for name, tt := range map[string]struct {
		p      vaglio.Proposal
		en, it string
	}{
		"nothing":        {vaglio.Proposal{Executor: "fs_read", Args: vaglio.Args{"path": "a"}}, "", ""},
		"named":          {vaglio.Proposal{Executor: "fs_read", Intent: "read it"}, "", ""},
		"not critical":   {vaglio.Proposal{Executor: "fs_read", Context: vaglio.Context{Critical: &no}}, "", ""},
		"both in favour": {vaglio.Proposal{Executor: "fs_read", Intent: "read it", Context: vaglio.Context{Critical: &no}}, "", ""},
		"climbs": {
			vaglio.Proposal{Executor: "fs_read", Args: vaglio.Args{"path": "../a"}},
			"a path seems to climb out of its folder (it contains “..”)", "un percorso sembra uscire dalla sua cartella (contiene «..»)",
		},
		"named and odd": {
			vaglio.Proposal{Executor: "fs_read", Intent: "read it", Args: vaglio.Args{"a-b": "c"}},
			"an argument has an unusual name: 'a-b'", "un argomento ha un nome insolito: 'a-b'",
		},
		"climbs and odd": {
			vaglio.Proposal{Executor: "fs_read", Args: vaglio.Args{"a-b": "../c"}},
			"a path seems to climb out of its folder (it contains “..”); an argument has an unusual name: 'a-b'",
			"un percorso sembra uscire dalla sua cartella (contiene «..»); un argomento ha un nome insolito: 'a-b'",
		},
	} {
		g, err := judge.Rules().Grade(t.Context(), tt.p)
		if err != nil {
			t.Fatal(err)
		}
		g.MinScore = 0.99
		v := vaglio.Verdict{BlockedBy: vaglio.PhaseJudge, JudgeKind: g.Judge, Score: g.Score, Results: []vaglio.GradientResult{g}}
		it := approval.Item{Executor: tt.p.Executor, State: approval.Pending, Verdict: v, Refusal: approval.Refuse(tt.p, v)}
		for lang, want := range map[templates.Lang]string{templates.English: tt.en, templates.Italian: tt.it} {
			texts := textsIn(t, lang)
			if want == "" {
				want = texts.Plain("why.threshold", nil)
			}
			if got := cardtext.Why(texts, &it); got != want {
				t.Errorf("%s in %s: it asks because %q, want %q", name, lang, got, want)
			}
			card := approval.Card{Ask: "abc", Agent: "bot", Items: []approval.Item{it}}
			_, lines := cardtext.Reasons(texts, &card)
			for _, l := range lines {
				if strings.Contains(l.String(), "base score") || strings.Contains(l.String(), "The judge said") {
					t.Errorf("%s in %s says %q", name, lang, l)
				}
			}
		}
		g.Fault = vaglio.FaultTimeout
		it.Verdict.Results = []vaglio.GradientResult{g}
		if got := cardtext.Why(textsIn(t, templates.English), &it); !strings.HasPrefix(got, "a judge gave no answer that counts: ") {
			t.Errorf("%s: of a judge that failed it says %q", name, got)
		}
	}
}
