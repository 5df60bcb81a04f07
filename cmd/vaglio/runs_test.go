package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/metnos/vaglio/approval"
)

// TestWhatRunsIsWhatWasJudged puts what an agent would be asked about into a script and runs that.
// The real hook and daemon see what would run, and a permit is void once the script has changed.
func TestWhatRunsIsWhatWasJudged(t *testing.T) {
	t.Parallel()
	s := newHome(t).serve()
	app := filepath.Join(s.h.dir, "app")
	if err := os.Mkdir(app, 0o700); err != nil {
		t.Fatal(err)
	}
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(app, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("check.sh", "set -e\nhead -c 5 /etc/shadow\n")
	write("Makefile", "build:\n\techo done\ntest:\n\tsh check.sh\n")
	for command, want := range map[string]string{
		"sh check.sh": "check.sh, line 2", "make test": "check.sh, line 2", "cat check.sh | bash": "check.sh, line 2", "make build": "",
	} {
		call := fmt.Sprintf(`{"session_id":"s","cwd":%q,"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":%q},"tool_use_id":"u"}`, app, command)
		r := s.h.run(call, "hook", "claude-code")
		if denied := strings.Contains(r.out, `"permissionDecision":"deny"`); denied != (want != "") || !strings.Contains(r.out, want) {
			t.Errorf("%s: %s%s, want a denial that names %q", command, r.out, r.err, want)
		}
	}

	const push = "git push --force origin main\n"
	write("x.sh", push)
	call := fmt.Sprintf(`{"turn_id":"t","step":1,"intent":"deploy","executor":"shell_exec","args":{"command":"bash x.sh"},"context":{"cwd":%q}}`, app)
	waits := &proposed{done: make(chan struct{})}
	token := s.agentToken()
	go func() {
		defer close(waits.done)
		waits.reply, waits.err = trySend(context.WithoutCancel(t.Context()), http.DefaultClient,
			http.MethodPost, s.base+"/v1/proposals?wait=55s", call, "Bearer "+token)
	}()
	s.waiting(1)
	person := s.signIn(s.link)
	if page := person.get("/inbox").body; !strings.Contains(page, filepath.Join(app, "x.sh")) || !strings.Contains(page, "SHA-256") ||
		!strings.Contains(page, `dir="ltr">git push --force origin main</pre></details>`) {
		t.Errorf("the card does not name the script, with its first lines:\n%s", page)
	}
	person.decide("allow", "")
	a := waits.answer(t)
	if a.Decision != approval.RulingAllow || a.Permit == nil {
		t.Fatalf("after the click: %+v", a)
	}
	redeem := "/v1/permits/" + a.Permit.Permit + "/redeem"
	write("x.sh", "rm -rf ~/photos\n")
	if r := s.agent("POST", redeem, call); r.status != http.StatusUnprocessableEntity || !strings.Contains(r.body, "x.sh has changed") {
		t.Errorf("redeeming with another script: %d %s, want 422 that names it", r.status, r.body)
	}
	write("x.sh", push)
	if r := s.agent("POST", redeem, call); r.status != http.StatusNoContent {
		t.Errorf("redeeming what was allowed: %d %s, want 204", r.status, r.body)
	}
}

// TestASessionOfTheHook lets the client's session stop and remove what it has created, across a
// restart of the daemon, and work in the folder that the user opened, whatever cd it ran.
func TestASessionOfTheHook(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	s := h.serve()
	app := filepath.Join(h.dir, "app")
	if err := os.MkdirAll(filepath.Join(app, "assets"), 0o700); err != nil {
		t.Fatal(err)
	}
	h.env = append(h.env, "CLAUDE_PROJECT_DIR="+app)
	calls := 0
	passes := func(session, cwd, tool, input string, want bool) {
		t.Helper()
		calls++
		call := fmt.Sprintf(`{"session_id":%q,"prompt_id":"p%d","cwd":%q,"hook_event_name":"PreToolUse","tool_name":%q,"tool_input":%s,"tool_use_id":"u%d"}`,
			session, calls, cwd, tool, input, calls)
		r := h.run(call, "hook", "claude-code", "--limit", "4s")
		if denied := strings.Contains(r.out, `"permissionDecision":"deny"`); denied == want {
			t.Errorf("%s in %s: denied is %v: %s%s", input, cwd, denied, r.out, r.err)
		}
	}
	passes("a", app, "Bash", `{"command":"npm run dev -- --port 3000","run_in_background":true}`, true)
	passes("a", app, "Write", fmt.Sprintf(`{"file_path":%q,"content":"x"}`, filepath.Join(app, "notes.txt")), true)
	passes("a", filepath.Join(app, "assets"), "Bash", `{"command":"echo x > ../other.txt"}`, true)
	s.stop()
	h.serve()
	passes("a", app, "Bash", `{"command":"lsof -ti:3000 | xargs kill -9; rm notes.txt"}`, true)
	passes("b", app, "Bash", `{"command":"lsof -ti:3000 | xargs kill -9"}`, false)
	if err := os.WriteFile(filepath.Join(app, "notes.txt"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	passes("b", app, "Bash", `{"command":"rm notes.txt"}`, false)
	passes("b", "/etc", "Bash", `{"command":"echo x >> hosts"}`, false)
}
