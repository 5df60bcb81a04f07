package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/metnos/vaglio/internal/strictjson"
)

// These tests run real coding agents, offline, behind the gate. `make agents`
// installs them and names their folder in VAGLIO_AGENTS.

// model is a scripted model server: it answers the first request of a turn with
// one call of the tool Bash, and the request that brings the tool's result with
// a closing line. It keeps the results, which are what the model sees.
type model struct {
	command string
	mu      sync.Mutex
	results []string
}

// ServeHTTP answers as the Messages API does.
func (m *model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost || r.URL.Path != "/v1/messages" {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"input_tokens":1}`)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	var req map[string]any
	if err := strictjson.Unmarshal(body, &req); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	tools, _ := req["tools"].([]any)
	messages, _ := req["messages"].([]any)
	seen := m.keep(messages)
	if len(tools) == 0 || seen {
		m.say(w)
		return
	}
	m.call(w)
}

// keep notes the tool's results among the messages.
func (m *model) keep(messages []any) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.results = nil
	for _, raw := range messages {
		msg, _ := raw.(map[string]any)
		parts, _ := msg["content"].([]any)
		for _, p := range parts {
			part, _ := p.(map[string]any)
			if part["type"] == "tool_result" {
				m.results = append(m.results, fmt.Sprint(part["content"]))
			}
		}
	}
	return len(m.results) > 0
}

// saw returns what the model saw of its calls.
func (m *model) saw() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return strings.Join(m.results, "\n")
}

const opening = `{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"scripted",` +
	`"content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":1}}}`

func (m *model) call(w io.Writer) {
	input, _ := strictjson.Marshal(map[string]any{"command": m.command, "description": "scripted"})
	part, _ := strictjson.Marshal(map[string]any{
		"type": "content_block_delta", "index": 0,
		"delta": map[string]any{"type": "input_json_delta", "partial_json": string(input)},
	})
	events(w, opening,
		`{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"toolu_1","name":"Bash","input":{}}}`,
		string(part), `{"type":"content_block_stop","index":0}`,
		`{"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":1}}`,
		`{"type":"message_stop"}`)
}

func (m *model) say(w io.Writer) {
	events(w, opening,
		`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"done"}}`,
		`{"type":"content_block_stop","index":0}`,
		`{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":1}}`,
		`{"type":"message_stop"}`)
}

// events writes server-sent events, each named by its type.
func events(w io.Writer, all ...string) {
	for _, e := range all {
		_, rest, _ := strings.Cut(e, `"type":"`)
		if i := strings.Index(e, `"type":"content_block_delta"`); i >= 0 {
			rest = e[i+len(`"type":"`):]
		}
		name, _, _ := strings.Cut(rest, `"`)
		fmt.Fprintf(w, "event: %s\ndata: %s\n\n", name, e)
	}
}

// claude is one run of Claude Code in a home, with the hook as its settings.
type claude struct {
	h     *home
	model *model
	work  string
	out   bytes.Buffer
	done  chan error
}

// startClaude runs one turn whose model calls Bash with the command.
func startClaude(t *testing.T, h *home, command string) *claude {
	t.Helper()
	folder := os.Getenv("VAGLIO_AGENTS")
	if folder == "" {
		t.Skip("VAGLIO_AGENTS is not set; make agents sets it")
	}
	settings := h.run("", "hook", "claude-code", "--print-settings")
	if settings.code != 0 {
		t.Fatalf("print the settings: %d %s", settings.code, settings.err)
	}
	c := &claude{h: h, model: &model{command: command}, work: filepath.Join(h.dir, "work"), done: make(chan error, 1)}
	for _, dir := range []string{c.work, filepath.Join(h.dir, ".claude")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(h.dir, ".claude", "settings.json"), []byte(settings.out), 0o600); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(c.model)
	t.Cleanup(server.Close)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, filepath.Join(folder, "claude"),
		"-p", "clean up after the build", "--model", "scripted", "--allowedTools", "Bash")
	cmd.Dir = c.work
	cmd.Env = append([]string{
		"HOME=" + h.dir, "PATH=" + os.Getenv("PATH"), "ANTHROPIC_BASE_URL=" + server.URL, "ANTHROPIC_API_KEY=fake",
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1",
	}, h.env...)
	cmd.Stdout, cmd.Stderr = &c.out, &c.out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { c.done <- cmd.Wait() }()
	t.Cleanup(func() { cancel(); server.CloseClientConnections() })
	return c
}

// end waits for the end of the turn and returns what the model saw.
func (c *claude) end() string {
	c.h.t.Helper()
	if err := <-c.done; err != nil {
		c.h.t.Fatalf("claude: %v\n%s", err, c.out.String())
	}
	return c.model.saw()
}

// ran tells whether the command left its mark.
func (c *claude) ran() bool {
	_, err := os.Stat(filepath.Join(c.work, "ran.txt"))
	return err == nil
}

func TestAgentClaudeCodeWaitsForTheClick(t *testing.T) {
	h := newHome(t)
	s := h.serve()
	c := startClaude(t, h, "touch ran.txt; git push --force origin main; echo it-really-ran")
	asked := s.waiting(1)[0]
	if asked.Command != c.model.command {
		t.Errorf("the card shows the command %q, want %q", asked.Command, c.model.command)
	}
	if c.ran() {
		t.Fatal("the command ran while the card waited")
	}
	s.signIn(s.link).decide("allow", "")
	if saw := c.end(); !c.ran() || !strings.Contains(saw, "it-really-ran") {
		t.Errorf("after the click the model saw %q and the file is there: %v\n%s", saw, c.ran(), c.out.String())
	}
}

func TestAgentClaudeCodeHearsTheWordsOfADenial(t *testing.T) {
	h := newHome(t)
	s := h.serve()
	c := startClaude(t, h, "touch ran.txt; git push --force origin main")
	s.waiting(1)
	s.signIn(s.link).decide("deny", "leave that folder alone")
	if saw := c.end(); c.ran() || !strings.Contains(saw, "leave that folder alone") {
		t.Errorf("the model saw %q, ran: %v", saw, c.ran())
	}
}

func TestAgentClaudeCodeIsStoppedByTheGuard(t *testing.T) {
	h := newHome(t)
	s := h.serve()
	c := startClaude(t, h, "touch ran.txt; cat ~/.ssh/id_rsa")
	saw := c.end()
	if c.ran() || saw == "" || !strings.Contains(strings.ToLower(saw), "guard") {
		t.Errorf("the model saw %q, ran: %v", saw, c.ran())
	}
	s.waiting(0)
}

func TestAgentClaudeCodeIsDeniedWithoutADaemon(t *testing.T) {
	h := newHome(t)
	c := startClaude(t, h, "touch ran.txt; git push --force origin main")
	if saw := c.end(); c.ran() || saw == "" {
		t.Errorf("the model saw %q, ran: %v", saw, c.ran())
	}
}
