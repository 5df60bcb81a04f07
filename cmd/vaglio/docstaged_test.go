package main

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/metnos/vaglio/internal/race"
)

// staging is what a block of commands takes besides an empty home with a daemon.
type staging struct {
	// env is added to the environment, and typed is what the person types.
	env   []string
	typed string
	// before and after are commands around the block, in the same shell.
	before, after string
	// answers says that the person allows what is asked in the meantime.
	answers bool
}

// staged lists by their first line the blocks that take something of the reader's, with what stands
// for it here.
func staged(h *home) map[string]staging {
	transcript := strings.ReplaceAll(`{"type":"assistant","sessionId":"s","cwd":"/w","timestamp":"NOW","message":{"content":[`+
		`{"type":"tool_use","id":"1","name":"Bash","input":{"command":"git push --force origin main"}}]}}`, "NOW", time.Now().UTC().Format(time.RFC3339))
	h.write(".claude/projects/-w/s.jsonl", transcript+"\n")
	h.write(".codex/sessions/calls.jsonl", `{"executor":"shell_exec","args":{"command":"ls"}}`+"\n")
	h.write(".local/share/metnos/shadow/calls.ndjson", `{"executor":"shell_exec","args":{"command":"ls"}}`+"\n")
	h.write("bin/terraform", "#!/bin/sh\necho \"$@\" >terraform.txt\n")
	deploy, err := filepath.Abs("../../deploy")
	if err == nil {
		err = os.Symlink(deploy, filepath.Join(h.dir, "deploy"))
	}
	if err != nil {
		h.t.Fatal(err)
	}
	const settings, read = "set -a", "vaglio explain --command ls >settings.txt"
	telegram := []string{"METNOS_TELEGRAM_TOKEN=123456789:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"}
	return map[string]staging{
		"vaglio log key > vaglio-history.pub                      # here, once": {
			before: "vaglio log checkpoint >witness; cp ~/.local/share/metnos/vaglio.db backup.db; cp ~/.local/share/metnos/vaglio.keys backup.keys",
		},
		"vaglio replay ~/.claude/projects       # what of the last 30 days would have been asked and denied": {
			typed: "y\n", after: "grep -q 'git push --force' replay.html; grep -q shadow .claude/settings.json",
		},
		"python3 deploy/ci/gated.py --wait 1800 -- terraform apply plan.out": {
			answers: true, after: "grep -q 'apply plan.out' terraform.txt",
		},
		"METNOS_TELEGRAM_CHAT=-1001234567890     # the group that cards go to": {env: telegram, before: settings, after: read},
		"METNOS_TELEGRAM_WEBHOOK=https://vaglio.example.org/telegram":          {env: telegram, before: settings, after: read},
	}
}

// write writes a file of the home, below folders of its own. What lies in bin can be run.
func (h *home) write(name, text string) {
	h.t.Helper()
	path, mode := filepath.Join(h.dir, name), os.FileMode(0o600)
	if strings.HasPrefix(name, "bin/") {
		mode = 0o700
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		h.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		h.t.Fatal(err)
	}
}

// TestTheTelegramAtTheTerminal starts the Telegram that the documents let a person try, and types a
// line.
func TestTheTelegramAtTheTerminal(t *testing.T) {
	race.Alone(t)
	t.Parallel()
	const first = "go run ./channels/telegram/telegramtest/byhand"
	found := false
	for _, f := range fences(t) {
		found = found || f.first() == first
	}
	if !found {
		t.Fatal("no document has the line any more")
	}
	cmd := exec.CommandContext(t.Context(), "go", append(strings.Fields(first)[1:], "-listen", "127.0.0.1:0")...) // its port may be in use
	cmd.Dir = "../.."
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	said := ""
	for lines := bufio.NewScanner(out); lines.Scan(); {
		said += lines.Text() + "\n"
		if strings.Contains(lines.Text(), "fail 5") { // the end of what it explains
			if _, err := in.Write([]byte("press 12 Allow once\n")); err != nil {
				t.Error(err)
			}
			in.Close()
		}
	}
	if err := cmd.Wait(); err != nil || !strings.Contains(said, "vaglio serve --telegram-api http://127.0.0.1:") || !strings.Contains(said, "12") {
		t.Errorf("%v\n%s", err, said)
	}
}
