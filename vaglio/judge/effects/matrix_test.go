package effects_test

import (
	"strings"
	"testing"

	"github.com/metnos/vaglio/vaglio"
	"github.com/metnos/vaglio/vaglio/judge/effects"
)

// TestGuardAndJudgeReadTheSame checks, for many executors and keys, that either both the guard and
// the judge read a text as a command line or neither does. Under a key that names a command both
// always do.
func TestGuardAndJudgeReadTheSame(t *testing.T) {
	t.Parallel()
	executors := strings.Fields("Bash shell_exec run_command Monitor read_file mcp__x__get list_items task agent query spawn notebook evaluate kubectl_exec process_run ansible_run jupyter " +
		"repl execute_code mcp__ide__executeCode web_search save_command send_input PowerShell frobnicate")
	keys := strings.Fields("command cmd commands cmds script argv shell_command command_line commandLine cli_command bash sh run exec shell bash_command COMMAND pre_command code input stdin " +
		"text keystrokes source query")
	if len(executors)*len(keys) != 625 {
		t.Fatalf("%d executors and %d keys", len(executors), len(keys))
	}
	j := newJudge(t)
	e, err := vaglio.New(vaglio.Config{Judges: []vaglio.Gate{{Judge: j, MinScore: effects.Threshold}}, Home: testHome})
	if err != nil {
		t.Fatal(err)
	}
	sure := map[string]bool{}
	for _, k := range keys[:18] {
		sure[k] = true
	}
	read := 0
	for _, executor := range executors {
		for _, key := range keys {
			p := vaglio.Proposal{Executor: executor, Args: vaglio.Args{key: "find / -xdev -type f -delete"}, Context: vaglio.Context{Cwd: testCwd}}
			_, denied, err := e.Guard(t.Context(), p)
			if err != nil {
				t.Fatal(err)
			}
			p.Args = vaglio.Args{key: "git push --force origin main"}
			seen := false
			for _, found := range j.Read(p).Effects {
				seen = seen || strings.HasPrefix(found.Why.String(), "force-pushes main")
			}
			if denied != seen {
				t.Errorf("%s {%s}: the guard reads a command: %t, the judge: %t", executor, key, denied, seen)
			}
			if sure[key] && !denied {
				t.Errorf("%s {%s}: no command was read", executor, key)
			}
			if denied && seen {
				read++
			}
			if v, err := e.Judge(t.Context(), p); err != nil || seen && v.Approved {
				t.Errorf("%s {%s}: approved: %v, %v", executor, key, v.Approved, err)
			}
		}
	}
	if read < 18*len(executors) {
		t.Errorf("%d of 625 are read as commands by both", read)
	}
}
