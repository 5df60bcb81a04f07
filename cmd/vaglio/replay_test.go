package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// What a client has written down is judged without a daemon; nothing is kept, and no
// secret is told.
func TestReplay(t *testing.T) {
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
	for _, args := range [][]string{{"replay"}, {"replay", "/nowhere"}, {"replay", "--days", "0", folder}} {
		if r := h.run("", args...); r.code != exitUsage || r.err == "" {
			t.Errorf("%v: %d %s%s", args, r.code, r.out, r.err)
		}
	}
}
