package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// shServer is an MCP server in a few lines of shell. A call of its tool leaves a file.
const shServer = `#!/bin/sh
while IFS= read -r line; do
	id=$(printf '%s' "$line" | sed 's/.*"id":\("[^"]*"\|[0-9]*\).*/\1/')
	case $line in
	*'"method":"tools/list"'*) tools=$(cat tools.json)
		printf '{"jsonrpc":"2.0","id":%s,"result":{"tools":%s}}\n' "$id" "$tools" ;;
	*'"method":"tools/call"'*) touch ran.txt
		printf '{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"done"}]}}\n' "$id" ;;
	esac
done
exit 7
`

// mcpRun is a running proxy in front of [shServer].
type mcpRun struct {
	h   *home
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Scanner
	log buffer
}

func startMCP(t *testing.T, h *home, flags ...string) *mcpRun {
	t.Helper()
	for name, text := range map[string]string{"server.sh": shServer, "tools.json": `[{"name":"run_command","inputSchema":{"type":"object"}},{"name":"read_note","inputSchema":{"type":"object"}}]`} {
		if _, err := os.Stat(filepath.Join(h.dir, name)); err == nil {
			continue
		}
		if err := os.WriteFile(filepath.Join(h.dir, name), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	r := &mcpRun{h: h, cmd: h.command(t.Context(), append(append([]string{"mcp"}, flags...), "--", "./server.sh")...)}
	r.cmd.Stderr = &r.log
	var err error
	if r.in, err = r.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := r.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	r.out = bufio.NewScanner(out)
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *mcpRun) call(id int, tool, args string) {
	r.h.t.Helper()
	if _, err := fmt.Fprintf(r.in, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s}}`+"\n", id, tool, args); err != nil {
		r.h.t.Fatal(err)
	}
}

func (r *mcpRun) answer() string {
	r.h.t.Helper()
	if !r.out.Scan() {
		r.h.t.Fatalf("the proxy ended: %s", r.log.String())
	}
	return r.out.Text()
}

func (r *mcpRun) ran() bool {
	_, err := os.Stat(filepath.Join(r.h.dir, "ran.txt"))
	return err == nil
}

// end closes the client's side and returns the proxy's exit code.
func (r *mcpRun) end() int {
	r.h.t.Helper()
	r.in.Close()
	_ = r.cmd.Wait() // the exit code tells
	return r.cmd.ProcessState.ExitCode()
}

const (
	mcpPush  = `{"command":"git push --force origin main"}`
	mcpGuard = `{"command":"rm -rf /"}`
)

func TestMCPWholePath(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	s := h.serve()
	r := startMCP(t, h, "--name", "notes")
	r.call(1, "run_command", mcpGuard)
	if got := r.answer(); r.ran() || !strings.Contains(got, `"isError":true`) {
		t.Errorf("the guard let it through: %s", got)
	}
	r.call(2, "run_command", mcpPush)
	s.waiting(1)
	if r.ran() {
		t.Fatal("it ran while the card waited")
	}
	p := s.signIn(s.link)
	p.decide("deny", "only dist, please")
	if got := r.answer(); r.ran() || !strings.Contains(got, "only dist, please") {
		t.Errorf("the model got %s", got)
	}
	r.call(3, "run_command", strings.Replace(mcpPush, "main", "next", 1))
	id := string(s.waiting(1)[0].ID)
	p.decide("allow", "")
	if got := r.answer(); !r.ran() || got != `{"jsonrpc":"2.0","id":3,"result":{"content":[{"type":"text","text":"done"}]}}` {
		t.Errorf("the model got %s", got)
	}
	if code := r.end(); code != 7 {
		t.Errorf("exit code %d, want the server's", code)
	}
	if why := h.run("", "why", id); !strings.Contains(why.out, "mcp__notes__run_command") || !strings.Contains(why.out, "Ran: worked") {
		t.Errorf("why tells\n%s%s", why.out, why.err)
	}
}

func TestMCPApprovedAndChanged(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	s := h.serve()
	r := startMCP(t, h, "--name", "notes")
	r.call(1, "read_note", `{"path":"notes.md"}`)
	if got := r.answer(); !strings.Contains(got, `"done"`) {
		t.Errorf("the judges' approval does not pass: %s", got)
	}
	r.end()
	if err := os.WriteFile(filepath.Join(h.dir, "tools.json"), []byte(`[{"name":"read_note","description":"reads and sends","inputSchema":{"type":"object"}}]`), 0o600); err != nil {
		t.Fatal(err)
	}
	r = startMCP(t, h, "--name", "notes")
	r.call(1, "read_note", `{"path":"notes.md"}`)
	s.waiting(1)
	s.signIn(s.link).decide("allow", "")
	r.answer()
	r.call(2, "read_note", `{"path":"notes.md"}`)
	if got := r.answer(); !strings.Contains(got, `"done"`) {
		t.Errorf("it is asked twice: %s", got)
	}
	r.end()
}

// A killed client's question is withdrawn.
func TestMCPClientGone(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	s := h.serve()
	r := startMCP(t, h)
	r.call(1, "run_command", mcpPush)
	s.waiting(1)
	r.end()
	s.waiting(0)
	if r.ran() {
		t.Error("it ran")
	}
}

// The connection that a proxy keeps ends with its daemon; the next call finds the next daemon.
func TestMCPDaemonComesBack(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	s := h.serve()
	r := startMCP(t, h, "--name", "notes")
	for id := range 3 {
		r.call(id, "read_note", `{"path":"notes.md"}`)
		if got := r.answer(); !strings.Contains(got, `"done"`) {
			t.Errorf("call %d got %s", id, got)
		}
		s.kill()
		s = h.serve()
	}
	r.end()
}

func TestMCPWithoutADaemon(t *testing.T) {
	t.Parallel()
	r := startMCP(t, newHome(t))
	r.call(1, "read_note", `{}`)
	if got := r.answer(); r.ran() || !strings.Contains(got, "not running") {
		t.Errorf("got %s", got)
	}
	r.end()
}

func TestMCPCommandLine(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	for line, want := range map[string]string{
		"mcp":                           "needs the server's command behind --",
		"mcp wrp":                       `did you mean "wrap"?`,
		"mcp --listen 127.0.0.1:0":      "--listen and --upstream go together",
		"mcp --limit 1ms -- true":       "--limit must be a second or more",
		"mcp -- no-such-server-program": "could not be started",
		"mcp --listen 0.0.0.0:0 --upstream http://127.0.0.1:1/mcp":      "--listen must be a loopback address",
		"mcp --listen 127.0.0.1:0 --upstream ftp://x":                   "--upstream must be a URL",
		"mcp --listen 127.0.0.1:0 --upstream http://127.0.0.1:1 -- cat": "with --upstream no server is started",
	} {
		if r := h.run("", strings.Fields(line)...); r.code == 0 || !strings.Contains(r.err, want) {
			t.Errorf("vaglio %s: %d %s, want %q", line, r.code, r.err, want)
		}
	}
}

// A configuration is wrapped, gates its server, and is restored.
func TestMCPWrap(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	const config = `{"mcpServers": {"notes": {"command": "./server.sh"}}}`
	file := filepath.Join(h.dir, ".mcp.json")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := h.run("n\n", "mcp", "wrap", ".mcp.json"); r.code != 1 || !strings.Contains(r.out, `+{"mcpServers": {"notes": {"command": "`) {
		t.Errorf("without a yes: %d\n%s%s", r.code, r.out, r.err)
	}
	if r := h.run("y\n", "mcp", "wrap", ".mcp.json"); r.code != 0 {
		t.Errorf("%d\n%s%s", r.code, r.out, r.err)
	}
	if got, _ := os.ReadFile(file); !strings.Contains(string(got), `"args": ["mcp", "--name", "notes", "--", "./server.sh"]`) {
		t.Errorf("%s", got)
	}
	if r := h.run("", "mcp", "unwrap", ".mcp.json", "--yes"); r.code != 0 {
		t.Errorf("%d\n%s%s", r.code, r.out, r.err)
	}
	if got, _ := os.ReadFile(file); string(got) != config {
		t.Errorf("%s", got)
	}
	if r := h.run("", "install", "claude-code", "--yes"); r.code != 0 {
		t.Fatalf("%d\n%s%s", r.code, r.out, r.err)
	}
	if r := h.run("", "mcp", "wrap", ".mcp.json", "--yes"); r.code != 1 || !strings.Contains(r.err, "asked twice") {
		t.Errorf("beside a hook: %d\n%s%s", r.code, r.out, r.err)
	}
}

func TestMCPApprove(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.serve()
	const call = `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"approve","arguments":{"tool_name":"Bash","input":{"command":%q}}}}` + "\n"
	r := h.run(fmt.Sprintf(call, 1, "ls")+fmt.Sprintf(call, 2, "rm -rf /"), "mcp", "approve")
	if r.code != 0 || !strings.Contains(r.out, `{\"behavior\":\"allow\",\"updatedInput\":{\"command\":\"ls\"}}`) || !strings.Contains(r.out, `\"behavior\":\"deny\"`) {
		t.Errorf("%d\n%s%s", r.code, r.out, r.err)
	}
}
