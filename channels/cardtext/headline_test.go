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

// TestToolsOfAClientAreToldWithTheirCall checks that the card of a tool of the agent's own client says what this call of
// it is about, in both languages.
func TestToolsOfAClientAreToldWithTheirCall(t *testing.T) {
	t.Parallel()
	j, set := effectsJudge(t), textSet(t)
	for _, r := range []struct {
		client, executor string
		args             vaglio.Args
		english, italian string
	}{
		{"claude-code", "Task", vaglio.Args{"description": "Audit the roles", "prompt": "List all roles."}, "Starts an agent that is gated itself: Audit the roles", "Avvia un agente controllato a sua volta: Audit the roles"},
		{"claude-code", "ExitPlanMode", vaglio.Args{"plan": "1. Stop workers\n2. Drop tables"}, "Asks its user to go ahead with its plan: 1. Stop workers …", "Chiede al suo utente di procedere con il suo piano: 1. Stop workers …"},
		{"claude-code", "AskUserQuestion", vaglio.Args{"questions": []any{map[string]any{"question": "Which one?", "header": "DB"}}}, "Asks its user: Which one?", "Fa una domanda al suo utente: Which one?"},
		{"claude-code", "KillShell", vaglio.Args{"shell_id": "bash_3"}, "Stops what the session itself started (bash_3)", "Ferma ciò che la sessione stessa ha avviato (bash_3)"},
		{"claude-code", "Skill", vaglio.Args{"skill": "release-notes"}, "Follows instructions that are installed here: release-notes", "Segue istruzioni installate qui: release-notes"},
		{"claude-code", "CronCreate", vaglio.Args{"cron": "*/5 * * * *", "prompt": "Check the mail"}, "Schedules a task (*/5 * * * *): Check the mail", "Pianifica un’attività (*/5 * * * *): Check the mail"},
		{"opencode", "plan_exit", vaglio.Args{}, "Asks its user to go ahead with its plan", "Chiede al suo utente di procedere con il suo piano"},
	} {
		call := vaglio.Proposal{Executor: r.executor, Args: r.args, Context: vaglio.Context{Client: r.client}}
		g, err := j.Grade(t.Context(), call)
		if err != nil {
			t.Fatal(err)
		}
		h := headline.Of(call, vaglio.Verdict{JudgeKind: "effects", Score: g.Score, Results: []vaglio.GradientResult{g}})
		for lang, want := range map[templates.Lang]string{templates.English: r.english, templates.Italian: r.italian} {
			if got := cardtext.Headline(set.In(lang, time.UTC), &h).String(); got != want {
				t.Errorf("%s of %s: %q, want %q", r.executor, r.client, got, want)
			}
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
