package cardtext_test

import (
	"strings"
	"testing"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/approval/report"
	"github.com/metnos/vaglio/channels/cardtext"
	"github.com/metnos/vaglio/templates"
	"github.com/metnos/vaglio/vaglio"
)

// TestWhyTheRulesAsk checks that neither a score nor what speaks for a call is given as the
// reason for asking: the reason is what speaks against the call, or else that the threshold
// asks anyway.
func TestWhyTheRulesAsk(t *testing.T) {
	t.Parallel()
	signal := func(score float64, message string) vaglio.Signal {
		return vaglio.Signal{Score: score, Message: message}
	}
	named, calm := signal(1, "intent matches executor"), signal(1, "the executor is declared not critical")
	climbs, odd := signal(0, "possible path traversal ('..' in path)"), signal(0, "anomalous args key: 'a-b'")
	for name, tt := range map[string]struct {
		notes   string
		signals []vaglio.Signal
		en, it  string
	}{
		"nothing":        {"base score", nil, "", ""},
		"named":          {named.Message, []vaglio.Signal{named}, "", ""},
		"not critical":   {"base score", []vaglio.Signal{calm}, "", ""},
		"both in favour": {named.Message, []vaglio.Signal{named, calm}, "", ""},
		"climbs": {
			climbs.Message,
			[]vaglio.Signal{climbs},
			"a path seems to climb out of its folder (it contains “..”)", "un percorso sembra uscire dalla sua cartella (contiene «..»)",
		},
		"named and odd": {
			named.Message + "; " + odd.Message,
			[]vaglio.Signal{named, odd},
			"an argument has an unusual name: 'a-b'", "un argomento ha un nome insolito: 'a-b'",
		},
		"climbs and odd": {
			climbs.Message + "; " + odd.Message,
			[]vaglio.Signal{climbs, odd},
			"a path seems to climb out of its folder (it contains “..”); an argument has an unusual name: 'a-b'",
			"un percorso sembra uscire dalla sua cartella (contiene «..»); un argomento ha un nome insolito: 'a-b'",
		},
	} {
		p := vaglio.Proposal{Executor: "fs_read"}
		g := vaglio.GradientResult{Judge: "rule-based-v1", Score: 0.7, Confidence: 1, MinScore: 0.99, Reasoning: tt.notes, Signals: tt.signals}
		v := vaglio.Verdict{BlockedBy: vaglio.PhaseJudge, JudgeKind: g.Judge, Score: g.Score, Results: []vaglio.GradientResult{g}}
		it := approval.Item{Executor: p.Executor, State: approval.Pending, Verdict: v, Refusal: approval.Refuse(p, v)}
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
		if got := cardtext.Why(textsIn(t, templates.English), &it); !strings.HasPrefix(got, "a judge gave no valid answer: ") {
			t.Errorf("%s: of a judge that failed it says %q", name, got)
		}
	}
}

// TestWhyIsSaidOnce checks that calls of one card that wait for the same reason say it once, and that
// another reason, or that of a call which no longer waits, is said again.
func TestWhyIsSaidOnce(t *testing.T) {
	t.Parallel()
	item := func(against string, state approval.State) approval.Item {
		p := vaglio.Proposal{Executor: "fs_read"}
		g := vaglio.GradientResult{Judge: "j", Score: 0.1, Confidence: 1, MinScore: 0.5, Reasoning: against}
		v := vaglio.Verdict{BlockedBy: vaglio.PhaseJudge, JudgeKind: g.Judge, Score: g.Score, Results: []vaglio.GradientResult{g}}
		return approval.Item{Executor: p.Executor, State: state, Verdict: v, Refusal: approval.Refuse(p, v)}
	}
	wait, denied := approval.Pending, approval.Denied
	for name, tt := range map[string]struct {
		items []approval.Item
		says  int
	}{
		"one reason":        {[]approval.Item{item("it is odd", wait), item("it is odd", wait), item("it is odd", wait)}, 1},
		"two reasons":       {[]approval.Item{item("it is odd", wait), item("it is far", wait), item("it is odd", wait)}, 2},
		"the first is over": {[]approval.Item{item("it is odd", denied), item("it is odd", wait)}, 1},
	} {
		texts := textsIn(t, templates.English)
		card := cardtext.Read(approval.Card{Ask: "abc", Agent: "bot", Items: tt.items}, texts)
		all := ""
		for i := range tt.items {
			all += card.Call(i, cardtext.Everything, 0).String()
		}
		if got := strings.Count(all, "it is odd") + strings.Count(all, "it is far"); got != tt.says {
			t.Errorf("%s: said %d times, want %d:\n%s", name, got, tt.says, all)
		}
	}
}

// TestADecidedCardKeepsWhyItAsked checks that a card says why a call was asked about, however
// it ended, in one line, and of several calls that were asked for one reason once; that the
// message beside a card does not repeat it; and that a short budget keeps the start of it.
func TestADecidedCardKeepsWhyItAsked(t *testing.T) {
	t.Parallel()
	fault := func(why string) vaglio.Verdict {
		g := vaglio.GradientResult{Judge: "model", Score: 0.2, Confidence: 1, MinScore: 0.75, Reasoning: why, Signals: []vaglio.Signal{{Score: 0.2, Message: why}}}
		return vaglio.Verdict{BlockedBy: vaglio.PhaseJudge, JudgeKind: "model", Results: []vaglio.GradientResult{g}}
	}
	ends := []approval.State{
		approval.Pending, approval.Allowed, approval.Denied, approval.Expired, approval.Withdrawn, approval.Superseded, approval.Spent, approval.Lapsed,
		approval.Succeeded, approval.Failed, approval.Unknown,
	}
	long := strings.Repeat("nobody has seen it. ", 40)
	for _, state := range ends {
		for lang, want := range map[templates.Lang][2]string{
			templates.English: {"Why it asks: it writes to a strange place", "Why it asked: it writes to a strange place"},
			templates.Italian: {"Perché te lo chiedo: it writes to a strange place", "Perché te l’ho chiesto: it writes to a strange place"},
		} {
			card := plan(state, state, state)
			card.Items[0].Verdict, card.Items[1].Verdict, card.Items[2].Verdict = fault("it writes to a strange place"), fault("it writes to a strange place"), fault(long)
			c := cardtext.Read(card, textsIn(t, lang))
			text, says := all(c).String(), want[1]
			if state == approval.Pending {
				says = want[0]
			}
			if strings.Count(text, says+"\n") != 1 {
				t.Errorf("%s in %s: %q is not there once:\n%s", state, lang, says, text)
			}
			if state == approval.Pending {
				continue
			}
			for budget, most := range map[int]int{cardtext.Everything: 200, 200: 200, 60: 60} {
				_, line, _ := strings.Cut(c.Call(2, cardtext.Everything, budget).String(), strings.TrimSuffix(says, "it writes to a strange place"))
				line, _, _ = strings.Cut(line, "\n")
				if n := len([]rune(line)); n > most+1 || n < most/2 {
					t.Errorf("%s in %s: of the reason %d characters are said with a budget of %d: %s", state, lang, n, budget, line)
				}
			}
			if told := c.Told(&report.Counts{}).String(); strings.Contains(told, "strange") {
				t.Errorf("%s in %s: beside the card it says %q", state, lang, told)
			}
		}
	}
}
