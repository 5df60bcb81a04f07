package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/metnos/vaglio/internal/race"
)

// A client's recorded calls are judged without a daemon. Nothing is stored, and no secret is
// printed.
func TestReplay(t *testing.T) {
	race.Alone(t)
	t.Parallel()
	h := newHome(t)
	now := time.Now().UTC().Format(time.RFC3339)
	const key = "AKIAQ3EGUVFOVKFYX2SD"
	transcript := strings.ReplaceAll(`{"type":"assistant","sessionId":"s","cwd":"/w","timestamp":"NOW","message":{"content":[{"type":"tool_use","id":"1","name":"Bash","input":{"command":"git push --force origin main # `+key+`"}}]}}
{"type":"user","sessionId":"s","cwd":"/w","timestamp":"NOW","toolUseResult":{},"message":{"content":[{"type":"tool_result","tool_use_id":"1","content":"ok"}]}}
{"type":"assistant","sessionId":"s","cwd":"/w","timestamp":"NOW","message":{"content":[{"type":"tool_use","id":"2","name":"Bash","input":{"command":"rm -rf /"}}]}}
`, "NOW", now)
	folder := filepath.Join(h.dir, ".claude/projects/-w")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "s.jsonl"), []byte(transcript), 0o600); err != nil {
		t.Fatal(err)
	}
	before := h.contents()
	r := h.run("", "replay", filepath.Join(h.dir, ".claude"))
	if r.code != exitOK || !strings.Contains(r.out, "1 would be asked") || !strings.Contains(r.out, "denied: shell.rm_root") || !strings.Contains(r.out, "1 of the asked and the denied ran then") {
		t.Errorf("%d\n%s%s", r.code, r.out, r.err)
	}
	j := h.run("", "replay", "--json", filepath.Join(folder, "s.jsonl"))
	if j.code != exitOK || !strings.Contains(j.out, `"asked":1`) || !strings.Contains(j.out, `"denied":1`) {
		t.Errorf("%d\n%s%s", j.code, j.out, j.err)
	}
	if strings.Contains(r.out+j.out, key) {
		t.Error("a secret is told")
	}
	if after := h.contents(); after != before {
		t.Errorf("something was kept: %s, before %s", after, before)
	}
	page := filepath.Join(h.dir, "page.html")
	h.env = append(h.env, "METNOS_LANG=it")
	if r := h.run("", "replay", "--html", page, folder); r.code != exitOK {
		t.Errorf("%d\n%s%s", r.code, r.out, r.err)
	}
	if text, err := os.ReadFile(page); err != nil || !strings.Contains(string(text), "Che cosa sarebbe stato chiesto") || strings.Contains(string(text), key) {
		t.Errorf("%v %s", err, text)
	}
	for _, args := range [][]string{{"replay"}, {"replay", "/nowhere"}, {"replay", "--html", "", folder}, {"replay", "--html", h.dir, folder}, {"replay", "--days", "0", folder}} {
		if r := h.run("", args...); r.code != exitUsage || r.err == "" {
			t.Errorf("%v: %d %s%s", args, r.code, r.out, r.err)
		} else if strings.Count(r.err, "/nowhere") > 1 {
			t.Errorf("the path is named twice: %s", r.err)
		}
	}
}

// A shadow hook watches without a daemon: the call runs and can be replayed, and the client is
// listed as one that is only watched.
func TestShadow(t *testing.T) {
	race.Alone(t)
	t.Parallel()
	h := newHome(t)
	settings := filepath.Join(h.dir, ".claude/settings.json")
	if r := h.run("", "install", "claude-code", "--shadow", "--approve-allows", "--yes"); r.code != exitUsage {
		t.Errorf("both: %d %s%s", r.code, r.out, r.err)
	}
	if r := h.run("", "install", "claude-code", "--shadow", "--yes"); r.code != exitOK {
		t.Fatalf("%d %s%s", r.code, r.out, r.err)
	}
	if text, err := os.ReadFile(settings); err != nil || !strings.Contains(string(text), `"--shadow"`) {
		t.Fatalf("%v %s", err, text)
	}
	if r := h.run("", "status"); r.code != exitOK || !strings.Contains(r.out, "shadow") {
		t.Errorf("%d %s%s", r.code, r.out, r.err)
	}
	const event = `{"session_id":"s","cwd":"/w","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"git push --force"},"tool_use_id":"u"}`
	for _, in := range []string{event, "not an event"} {
		if r := h.run(in, "hook", "claude-code", "--limit", "1h", "--shadow"); r.code != exitOK || r.out+r.err != "" {
			t.Errorf("%q: %d %s%s", in, r.code, r.out, r.err)
		}
	}
	if r := h.run("", "replay", filepath.Dir(h.data("shadow/x"))); r.code != exitOK || !strings.Contains(r.out, "1 call of 1 session") || !strings.Contains(r.out, "1 would be asked") {
		t.Errorf("%d %s%s", r.code, r.out, r.err)
	}
	if r := h.run("", "install", "claude-code", "--yes"); r.code != exitOK {
		t.Fatalf("%d %s%s", r.code, r.out, r.err)
	}
	if text, err := os.ReadFile(settings); err != nil || strings.Contains(string(text), "--shadow") {
		t.Errorf("%v %s", err, text)
	}
}
