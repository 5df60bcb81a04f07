package cardtext_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/approval/headline"
	"github.com/metnos/vaglio/channels/cardtext"
	"github.com/metnos/vaglio/internal/strictjson"
	"github.com/metnos/vaglio/templates"
	"github.com/metnos/vaglio/vaglio"
	"github.com/metnos/vaglio/vaglio/judge/effects"
)

// row is a call of the table, with what its card should say according to a person.
type row struct {
	name string
	// wanting reports that the engine does not know enough yet to say it.
	wanting bool
	call    vaglio.Proposal
	says    map[templates.Lang]string
}

// table reads a file of rows. A row is a name, and indented below it the call, and the
// headline and the consequence in English and in Italian. A question mark before the name
// means that the card does not say it yet.
func table(t *testing.T, file string) []row {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var rows []row
	for block := range strings.SplitSeq(strings.TrimSpace(string(raw)), "\n\n") {
		lines := strings.Split(block, "\n")
		const name, call, english, italian, all = 0, 1, 2, 3, 4
		if len(lines) != all {
			t.Fatalf("%s: a row has %d lines, not %d: %q", file, len(lines), all, block)
		}
		executor, args, _ := strings.Cut(strings.TrimSpace(lines[call]), " ")
		title, wanting := strings.CutPrefix(lines[name], "? ")
		r := row{name: title, wanting: wanting, call: vaglio.Proposal{Executor: executor, Context: vaglio.Context{Cwd: "/srv/app"}}}
		if err := strictjson.Unmarshal([]byte(args), &r.call.Args); err != nil {
			t.Fatalf("%s: %s: %v", file, r.name, err)
		}
		r.says = map[templates.Lang]string{templates.English: strings.TrimSpace(lines[english]), templates.Italian: strings.TrimSpace(lines[italian])}
		rows = append(rows, r)
	}
	return rows
}

func effectsJudge(t *testing.T) *effects.Judge {
	t.Helper()
	j, err := effects.New(effects.Options{Home: "/home/ann"})
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// TestHeadlines compares what cards say first with what a person wrote for the same calls
// before cards had headlines.
func TestHeadlines(t *testing.T) {
	t.Parallel()
	j, set := effectsJudge(t), textSet(t)
	m := approval.NewMasker(approval.Secret{1})
	for _, r := range table(t, "testdata/headlines.txt") {
		g, err := j.Grade(t.Context(), r.call)
		if err != nil {
			t.Fatal(err)
		}
		g.MinScore = effects.Threshold
		v := vaglio.Verdict{JudgeKind: "effects", Score: g.Score, Results: []vaglio.GradientResult{g}}
		h := headline.Of(m.Judged(r.call, v))
		differs := false
		for _, lang := range templates.Langs() {
			texts := set.In(lang, time.UTC)
			got := cardtext.Headline(texts, &h).String() + " | " + cardtext.Consequence(texts, &h.Consequence)
			differs = differs || got != r.says[lang]
			if got != r.says[lang] && !r.wanting {
				t.Errorf("%s:\n got %s\nwant %s", r.name, got, r.says[lang])
			}
		}
		if r.wanting && !differs {
			t.Errorf("%s: its card says what it should: take the question mark away", r.name)
		}
	}
}

// TestWhatIsNotToldIsTheWorstStill checks that a yes takes as much if a card can only name
// a tool's call as if it says what the judge takes the call for.
func TestWhatIsNotToldIsTheWorstStill(t *testing.T) {
	t.Parallel()
	j := effectsJudge(t)
	for name, c := range map[string]struct {
		executor string
		args     vaglio.Args
		unknown  bool
		worst    bool
	}{
		"told":              {"mcp__acme__delete_user", vaglio.Args{"id": "u1"}, false, true},
		"guessed":           {"mcp__acme__update_user", vaglio.Args{}, true, true},
		"published":         {"mcp__acme__push_topic", vaglio.Args{"status": "Hello all"}, true, true},
		"by an argument":    {"mcp__acme__ticket", vaglio.Args{"action": "delete", "id": "x1"}, false, true},
		"nothing is known":  {"mcp__acme__frobnicate", vaglio.Args{"id": "x1"}, true, false},
		"told otherwise":    {"mcp__acme__open_channel", vaglio.Args{"action": "delete", "id": "x1"}, false, true},
		"both at once":      {"mcp__acme__unlock_group", vaglio.Args{"action": "delete", "id": "x1"}, false, true},
		"a payment to come": {"schedule_transaction", vaglio.Args{"recipient": "US1", "amount": 50.0, "recurring": true}, false, true},
		"undone in part":    {"mcp__acme__unlock_contact", vaglio.Args{"id": "x1"}, false, false},
		"of the user alone": {"write_file", vaglio.Args{"path": "/home/ann/x", "content": "y"}, false, false},
	} {
		p := vaglio.Proposal{Executor: c.executor, Args: c.args}
		g, err := j.Grade(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		h := headline.Of(p, vaglio.Verdict{JudgeKind: "effects", Score: g.Score, Results: []vaglio.GradientResult{g}})
		if got := h.Consequence; got.Unknown != c.unknown || approval.Worst(&got) != c.worst {
			t.Errorf("%s: %s, %+v, the worst: %v", name, h.Said, got, approval.Worst(&got))
		}
	}
}
