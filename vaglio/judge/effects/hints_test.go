package effects_test

import (
	"strings"
	"testing"

	"github.com/metnos/vaglio/vaglio"
	"github.com/metnos/vaglio/vaglio/catalog"
	"github.com/metnos/vaglio/vaglio/judge/effects"
)

func TestHints(t *testing.T) {
	t.Parallel()
	yes := new(bool)
	*yes = true
	type A = vaglio.Args
	readOnly, destructive := catalog.Annotations{ReadOnlyHint: yes}, catalog.Annotations{DestructiveHint: yes}
	both := catalog.Annotations{ReadOnlyHint: yes, DestructiveHint: yes}
	tests := []struct {
		name  string
		args  A
		hints catalog.Annotations
		asked bool
	}{
		{"frobnicate", A{"a": "b"}, catalog.Annotations{}, true},
		{"frobnicate", A{"a": "b"}, readOnly, false},
		{"frobnicate", A{"a": "b"}, both, true},
		{"frobnicate", A{"a": "b"}, catalog.Annotations{Title: "Delete everything", ReadOnlyHint: yes}, true},
		{"frobnicate", A{"a": "b"}, catalog.Annotations{Title: "Show the weather", ReadOnlyHint: yes}, false},
		{"send_email", A{"to": "a@b.c"}, readOnly, true},
		{"widget", A{"action": "delete"}, readOnly, true},
		{"vault_token", A{}, readOnly, true},
		{"execute_sql", A{"query": "drop table t"}, readOnly, true},
		{"Bash", A{"command": "git push -f"}, readOnly, true},
		{"delete_file", A{"path": "src"}, readOnly, true},
		{"list_widgets", A{}, catalog.Annotations{}, false},
		{"list_widgets", A{}, destructive, true},
		{"draft_note", A{}, destructive, true},
		{"write_file", A{"path": "src/a.ts", "content": "x"}, destructive, false},
		{"execute_sql", A{"query": "select 1"}, destructive, false},
	}
	j := newJudge(t)
	for _, tt := range tests {
		p := vaglio.Proposal{Executor: tt.name, Args: tt.args, Context: vaglio.Context{Cwd: testCwd, Known: &catalog.Executor{Name: tt.name, Annotations: &tt.hints}}}
		got, err := j.Grade(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		if (got.Score < effects.Threshold) != tt.asked {
			t.Errorf("%s %v with %+v: score %.2f, want asked %t: %s", tt.name, tt.args, tt.hints, got.Score, tt.asked, got.Reasoning)
		}
		if plain := score(t, j, vaglio.Proposal{Executor: tt.name, Args: tt.args, Context: vaglio.Context{Cwd: testCwd}}); tt.name != "frobnicate" && got.Score > plain {
			t.Errorf("%s %v: a hint raises what is known from %.2f to %.2f", tt.name, tt.args, plain, got.Score)
		}
		if !tt.asked && tt.name == "frobnicate" && (got.Confidence > 0.5 || !strings.Contains(got.Signals[0].Message, "its maker says")) {
			t.Errorf("confidence %.2f, %q: want half a confidence, and whose word it is", got.Confidence, got.Signals[0].Message)
		}
	}
}

func TestShellByCatalog(t *testing.T) {
	t.Parallel()
	p := vaglio.Proposal{Executor: "helper", Args: vaglio.Args{"command": "git status"}, Context: vaglio.Context{Cwd: testCwd}}
	j := newJudge(t)
	if got := score(t, j, p); got >= effects.Threshold {
		t.Errorf("an executor of which nothing is known scores %.2f", got)
	}
	p.Context.Known = &catalog.Executor{Name: "helper", Shell: true}
	if got := score(t, j, p); got < effects.Threshold {
		t.Errorf("git status by a shell of the catalog scores %.2f", got)
	}
}
