package replay

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/metnos/vaglio/internal/policyfile"
	"github.com/metnos/vaglio/vaglio"
	"github.com/metnos/vaglio/vaglio/judge/effects"
)

const home = "/home/u"

// replayed replays files in a temporary folder, by name, under a policy.
func replayed(t *testing.T, policy string, files map[string]string) *Result {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r, err := Run(t.Context(), options(t, dir, policy))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func options(t *testing.T, path, policy string) Options {
	t.Helper()
	p := policyfile.Default()
	if policy != "" {
		var err error
		if p, err = policyfile.Parse("policy.yaml", []byte(policy), home); err != nil {
			t.Fatal(err)
		}
	}
	return Options{
		Path: path, Since: day, Policy: p, Home: home, Mask: func(s string) string { return strings.ReplaceAll(s, "hunter2", "***") },
		Build: func(p policyfile.Policy) (*vaglio.Engine, *effects.Judge, error) {
			j, err := effects.New(effects.Options{Home: home, Programs: p.Programs})
			if err != nil {
				return nil, nil, err
			}
			e, err := vaglio.New(vaglio.Config{Judges: []vaglio.Gate{{Judge: j, MinScore: 0.5}}, Home: home, Workspaces: p.Workspaces})
			return e, j, err
		},
	}
}

// day is the time from which the tests' calls count.
var day = time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)

// claude writes lines of Claude Code's transcript.
type claude struct {
	strings.Builder
	calls int
	at    time.Time
}

func (c *claude) line(kind, more, content string) {
	c.at = c.at.Add(time.Second)
	fmt.Fprintf(c, `{"type":%q,"sessionId":"s","cwd":"/w/shop","timestamp":%q%s,"message":{"role":%q,"content":%s}}`+"\n",
		kind, day.Add(c.at.Sub(time.Time{})).Format(time.RFC3339Nano), more, kind, content)
}

// call adds a call and its answer; "" means no answer.
func (c *claude) call(tool, input, answer string) {
	c.calls++
	c.line("assistant", "", fmt.Sprintf(`[{"type":"text","text":"so"},{"type":"tool_use","id":"t%d","name":%q,"input":%s}]`, c.calls, tool, input))
	if answer != "" {
		c.line("user", `,"toolUseResult":{}`, fmt.Sprintf(`[{"type":"tool_result","tool_use_id":"t%d","is_error":%t,"content":%q}]`, c.calls, answer != "ok", answer))
	}
}

const (
	push    = `{"command":"git push --force origin main # hunter2"}`
	refused = "The user doesn't want to proceed with this tool use. The tool use was rejected"
)

func TestClaudeCode(t *testing.T) {
	t.Parallel()
	var c claude
	c.line("user", "", `"publish it"`)
	c.call("Bash", `{"command":"ls"}`, "ok")
	c.call("Bash", `{"command":"ls src"}`, refused)
	c.call("Bash", push, "ok")
	c.call("Bash", push, refused)
	c.call("Bash", push, "") // It was never answered.
	c.call("Bash", `{"command":"rm -rf /"}`, "Permission to use Bash has been denied.")
	c.call("Bash", `{"command":"false"}`, "Exit code 1")
	c.call("Write", `{"file_path":"/w/shop/a.txt","content":"x"}`, "ok")
	text := c.String()
	r := replayed(t, "", map[string]string{
		"p/s.jsonl": text,
		// The session continued in another file, which begins with a copy of this one.
		"p/resumed.jsonl": text + `{"type":"assist`,
		"p/notes.txt":     text,
		"p/old.jsonl":     strings.ReplaceAll(strings.ReplaceAll(text, "2026-11-01", "2026-09-01"), `id":"t`, `id":"old`),
	})
	want := Result{
		Files: 3, Sessions: 1, Unread: 1, UnreadAt: []Unread{{"p/resumed.jsonl", 17, "is not a JSON object of a form that is known"}}, From: r.From, To: r.To,
		Older: 8, Newest: time.Date(2026, 9, 1, 0, 0, 15, 0, time.UTC), Calls: 8, Passed: 4, Asked: 3, Denied: 1, Ran: 1, Missed: 1,
		Groups: []Group{
			{Asked, "publish shared", 3, 1, "git push --force origin main # ***", ""},
			{Denied, "shell.rm_root", 1, 0, "rm -rf /", ""},
			{Missed, "refused then", 1, 0, "ls src", ""},
		},
	}
	if !strings.Contains(r.Groups[0].Reason, "cannot be undone") {
		t.Errorf("%+v", r.Groups[0])
	}
	for i := range r.Groups {
		r.Groups[i].Reason = ""
	}
	if p := r.Proposal; p.Diff != "" || p.Spares != 0 {
		t.Errorf("%+v", p)
	}
	r.Proposal = Proposal{}
	if diff := cmp.Diff(want, *r); diff != "" {
		t.Error(diff)
	}
	if said := r.Text(); strings.Contains(said, "hunter2") || !strings.Contains(said, "3 would be asked") || !strings.Contains(said, "1 of the asked and the denied ran then") {
		t.Error(said)
	}
}

func TestCodex(t *testing.T) {
	t.Parallel()
	lines := []string{
		`{"timestamp":"2026-11-20T10:00:00Z","type":"session_meta","payload":{"id":"c","cwd":"/w/shop"}}`,
		`{"timestamp":"2026-11-20T10:00:01Z","type":"turn_context","payload":{"cwd":"/w/shop","turn_id":"1"}}`,
		`{"timestamp":"2026-11-20T10:00:02Z","type":"response_item","payload":{"type":"function_call","name":"exec_command","arguments":"{\"cmd\":\"git push --force origin main\"}","call_id":"a"}}`,
		`{"timestamp":"2026-11-20T10:00:03Z","type":"response_item","payload":{"type":"function_call_output","call_id":"a","output":"exec_command failed: rejected by user"}}`,
		`{"timestamp":"2026-11-20T10:00:04Z","type":"response_item","payload":{"type":"local_shell_call","call_id":"b","action":{"type":"exec","command":["ls","-l"]}}}`,
		`{"timestamp":"2026-11-20T10:00:05Z","type":"response_item","payload":{"type":"local_shell_call_output","call_id":"b","output":"x"}}`,
		`{"timestamp":"2026-11-20T10:00:06Z","type":"response_item","payload":{"type":"custom_tool_call","name":"apply_patch","input":"*** Begin Patch\n*** Delete File: /etc/hosts\n*** End Patch","call_id":"d"}}`,
		`{"timestamp":"2026-11-20T10:00:06Z","type":"response_item","payload":{"type":"function_call","name":"exec_command","arguments":"{\"cmd\":","call_id":"e"}}`,
		`{"timestamp":"2026-11-20T10:00:07Z","type":"event_msg","payload":{"type":"token_count"}}`,
	}
	r := replayed(t, "", map[string]string{"2026/rollout-1.jsonl": strings.Join(lines, "\n") + "\n"})
	if r.Calls != 3 || r.Unread != 1 || r.Passed != 1 || r.Asked+r.Denied != 2 || r.Ran != 0 || r.Missed != 0 {
		t.Errorf("%+v", r)
	}
	if !strings.Contains(r.Text(), "git push --force") || !strings.Contains(r.Text(), "/etc/hosts") {
		t.Error(r.Text())
	}
}

func TestProposals(t *testing.T) {
	t.Parallel()
	r := replayed(t, "", map[string]string{"calls.ndjson": strings.Join([]string{
		`{"executor":"shell_exec","args":{"command":"git push --force origin main"},"context":{"capability":"code:exec","cwd":"/w"},"session_id":"a"}`,
		`{"timestamp":"2026-11-03T00:00:00Z","executor":"read_file","args":{"path":"notes.md"},"session_id":"b"}`,
		`{"timestamp":"2026-10-03T00:00:00Z","executor":"read_file","args":{"path":"too-old.md"},"session_id":"b"}`,
		`{"executor":"read_file","args":7}`,
		`{"other":"line"}`,
	}, "\n")})
	if r.Calls != 2 || r.Sessions != 2 || r.Unread != 1 || r.Asked != 1 || r.Passed != 1 || r.Ran != 1 {
		t.Errorf("%+v", r)
	}
}

// What is proposed avoids as many questions as it says, is a valid policy, and keeps the existing
// one.
func TestThePolicyThatWouldSpareQuestions(t *testing.T) {
	t.Parallel()
	var c claude
	for range 4 {
		c.call("Bash", `{"command":"frobnicate --sync db"}`, "ok")
		c.call("Bash", `{"command":"once-refused --sync db"}`, refused)
	}
	c.call("Bash", `{"command":"rarely --sync db"}`, "ok")
	c.call("Bash", push, "ok")
	const mine = "# mine\nprograms: # ours\n  bd: user\n"
	r := replayed(t, mine, map[string]string{"s.jsonl": c.String()})
	if diff := cmp.Diff([]string{"frobnicate"}, r.Proposal.Programs); diff != "" || r.Proposal.Spares != 4 || r.Asked != 10 {
		t.Fatalf("%+v\n%s", r, diff)
	}
	if want := " # mine\n programs: # ours\n+  frobnicate: workspace\n   bd: user\n"; !strings.Contains(r.Proposal.Diff, want) {
		t.Errorf("%s", r.Proposal.Diff)
	}
	again := replayed(t, "programs:\n  frobnicate: workspace\n", map[string]string{"s.jsonl": c.String()})
	if again.Asked != r.Asked-r.Proposal.Spares || again.Proposal.Diff != "" {
		t.Errorf("%+v", again)
	}
	// A form that cannot be extended is left to a person.
	r = replayed(t, "programs: {bd: user}\n", map[string]string{"s.jsonl": c.String()})
	if !strings.HasPrefix(r.Proposal.Diff, "# by hand") || !strings.HasSuffix(r.Proposal.Diff, "programs:\n  frobnicate: workspace\n") {
		t.Errorf("%s", r.Proposal.Diff)
	}
}

// A folder in which an agent worked for long, but which its client did not report, is proposed as a
// workspace.
func TestTheWorkspaceThatWouldSpareQuestions(t *testing.T) {
	t.Parallel()
	var lines strings.Builder
	lines.WriteString(`{"type":"session_meta","payload":{"id":"c","cwd":"/srv/shop"}}` + "\n")
	for i := range 5 {
		fmt.Fprintf(&lines, `{"type":"response_item","payload":{"type":"function_call","name":"exec_command","arguments":"{\"cmd\":\"touch f%d\"}","call_id":"k%d"}}`+"\n", i, i)
		fmt.Fprintf(&lines, `{"type":"response_item","payload":{"type":"function_call_output","call_id":"k%d","output":"ok"}}`+"\n", i)
	}
	const elsewhere = "workspaces:\n  - /srv/other\n"
	r := replayed(t, elsewhere, map[string]string{"s.jsonl": lines.String()})
	if diff := cmp.Diff([]string{"/srv/shop"}, r.Proposal.Workspaces); diff != "" || !strings.Contains(r.Proposal.Diff, `+  - "/srv/shop"`) {
		t.Errorf("%+v\n%s", r, diff)
	}
}

func TestWhatCannotBeRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if _, err := Run(t.Context(), options(t, filepath.Join(dir, "none"), "")); !os.IsNotExist(err) {
		t.Errorf("%v", err)
	}
	fifo := filepath.Join(dir, "x.jsonl")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Run(t.Context(), options(t, fifo, "")); err == nil {
		t.Error("a pipe was read")
	}
	r, err := Run(t.Context(), options(t, dir, ""))
	if err != nil || r.Calls != 0 || r.Groups == nil {
		t.Errorf("%+v %v", r, err)
	}
}

func FuzzLines(f *testing.F) {
	f.Add(`{"executor":"x","args":{}}`)
	f.Add(`{"type":"assistant","sessionId":"s","message":{"content":[{"type":"tool_use","id":"1","name":"Bash","input":{"command":"ls"}}]}}`)
	f.Add(`{"type":"response_item","payload":{"type":"function_call","name":"shell","arguments":"{\"command\":[\"ls\"]}","call_id":"1"}}`)
	f.Add(`{"type":"response_item","payload":{"type":"x_call_output","call_id":"1","output":7}}`)
	f.Fuzz(func(t *testing.T, line string) {
		s := script{tape: &tape{calls: map[string]*call{}}}
		s.line([]byte(line))
		s.line([]byte(line))
		for _, c := range s.all {
			if c.proposal.Executor == "" || c.proposal.Args == nil {
				t.Errorf("a call of nothing: %+v", c.proposal)
			}
		}
	})
}
