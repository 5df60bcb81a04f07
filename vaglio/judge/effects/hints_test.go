package effects_test

import (
	"strings"
	"testing"

	"github.com/metnos/vaglio/vaglio"
	"github.com/metnos/vaglio/vaglio/catalog"
	"github.com/metnos/vaglio/vaglio/judge/effects"
	"github.com/metnos/vaglio/vaglio/reading"
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

// TestUnknownExecutor checks that an unknown tool is judged by its command, if it is given nothing
// else.
func TestUnknownExecutor(t *testing.T) {
	t.Parallel()
	type A = vaglio.Args
	declared := &catalog.Executor{Name: "frobnicate", ArgsSchema: map[string]any{"properties": map[string]any{"id": map[string]any{}}}}
	j := newJudge(t)
	for _, tt := range []struct {
		name  string
		args  A
		known *catalog.Executor
		asked bool
	}{
		{"frobnicate", A{"command": "git status"}, nil, false},
		{"frobnicate", A{"command": "git status", "timeout": 5}, nil, false},
		{"frobnicate", A{"command": "git push --force"}, nil, true},
		{"frobnicate", A{}, nil, true},
		{"frobnicate", A{"command": "git status", "id": 5}, nil, true},
		{"frobnicate", A{"command": "git status"}, declared, true},
		{"delete_repository", A{"command": "git status"}, nil, true},
		{"run_payroll", A{"command": "git status"}, nil, true},
		{"helper", A{"command": "git status"}, &catalog.Executor{Name: "helper", Shell: true}, false},
	} {
		p := vaglio.Proposal{Executor: tt.name, Args: tt.args, Context: vaglio.Context{Cwd: testCwd, Known: tt.known}}
		if got := score(t, j, p); (got < effects.Threshold) != tt.asked {
			t.Errorf("%s %v: score %.2f, want asked %t", tt.name, tt.args, got, tt.asked)
		}
	}
}

// TestClaims checks that an agent's claim to change nothing counts only if the executor declares
// such a parameter.
func TestClaims(t *testing.T) {
	t.Parallel()
	type A = vaglio.Args
	schema := map[string]any{"properties": map[string]any{"dry_run": map[string]any{}, "mode": map[string]any{}, "id": map[string]any{}}}
	known := &catalog.Executor{Name: "delete_user", ArgsSchema: schema}
	j := newJudge(t)
	for _, tt := range []struct {
		args  A
		known *catalog.Executor
		asked bool
	}{
		{A{"dry_run": true}, nil, true},
		{A{"dry_run": true}, &catalog.Executor{Name: "delete_user"}, true},
		{A{"dry_run": true}, known, false},
		{A{"dry_run": "true"}, known, false},
		{A{"dry_run": false}, known, true},
		{A{"dry_run": "none"}, known, true},
		{A{"dryRun": true}, known, true},
		{A{"mode": "plan"}, known, false},
		{A{"mode": "apply"}, known, true},
		{A{"preview": true}, known, true},
		{A{"options": map[string]any{"dry_run": true}}, known, true},
	} {
		p := vaglio.Proposal{Executor: "delete_user", Args: tt.args, Context: vaglio.Context{Cwd: testCwd, Known: tt.known}}
		if got := score(t, j, p); (got < effects.Threshold) != tt.asked {
			t.Errorf("%v with %v: score %.2f, want asked %t", tt.args, tt.known, got, tt.asked)
		}
	}
}

// TestServersMayKeepFilesElsewhere deletes what is not there: only a server that works on the client's files says that.
func TestServersMayKeepFilesElsewhere(t *testing.T) {
	t.Parallel()
	j := newJudge(t)
	for name, asked := range map[string]bool{
		"delete_file": false, "mcp__filesystem__delete_file": false,
		"mcp__nextcloud__delete_file": true, "mcp__imap__delete_folder": true, "mcp__acme__delete_directory": true,
	} {
		for _, path := range []string{"notes/a.txt", "build"} {
			p := vaglio.Proposal{Executor: name, Args: vaglio.Args{"path": path}, Context: vaglio.Context{Cwd: testCwd}}
			p.Context.Reading = reading.NewReader(reading.Options{Arguments: true}).Read(p.Call())
			p.Context.Reading.Means.Absent = func(string) bool { return true }
			if got := score(t, j, p); (got < effects.Threshold) != asked {
				t.Errorf("%s %s: score %.2f, want asked %t", name, path, got, asked)
			}
		}
	}
}
