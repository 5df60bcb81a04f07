package unasked_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/metnos/vaglio/internal/unasked"
	"github.com/metnos/vaglio/vaglio"
)

const session = "40ce4c76-c4b6-4b82-8aec-3b241ab7d2ab"

// transcript writes a session's file as Claude Code does.
type transcript struct {
	t    *testing.T
	path string
	n    int
}

func newTranscript(t *testing.T, home string) *transcript {
	t.Helper()
	path := filepath.Join(home, ".claude", "projects", "-home-u-shop", session+".jsonl")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	return &transcript{t: t, path: path}
}

func (r *transcript) line(kind, part string) {
	r.t.Helper()
	f, err := os.OpenFile(r.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		r.t.Fatal(err)
	}
	defer f.Close()
	if _, err := fmt.Fprintf(f, `{"type":%q,"sessionId":%q,"cwd":"/home/u/shop","timestamp":%q,"message":{"role":%[1]q,"content":[%[4]s]}}`+"\n",
		kind, session, time.Now().Format(time.RFC3339Nano), part); err != nil {
		r.t.Fatal(err)
	}
}

// calls writes a call, and ends how it ended.
func (r *transcript) calls(tool string) string {
	r.n++
	id := fmt.Sprintf("toolu_%d", r.n)
	r.line("assistant", fmt.Sprintf(`{"type":"tool_use","id":%q,"name":%q,"input":{"command":"ls"}}`, id, tool))
	return id
}

func (r *transcript) ends(id, answer string) {
	r.line("user", fmt.Sprintf(`{"type":"tool_result","tool_use_id":%q,"is_error":%t,"content":%q}`, id, answer != "ok", answer))
}

func asks(w *unasked.Watch, tool string) {
	w.Asked("claude", &vaglio.Proposal{Executor: tool, Session: session, Context: vaglio.Context{Client: "claude-code"}})
}

// TestASilence follows a session: while its calls come to the gate, nothing is told; once they run
// without that, it is told once, until the session asks again.
func TestASilence(t *testing.T) {
	home := t.TempDir()
	r := newTranscript(t, home)
	synctest.Test(t, func(t *testing.T) {
		w := unasked.New(home)
		var told []string
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go func() {
			_ = w.Run(ctx, slog.New(slog.DiscardHandler), func(_ context.Context, s unasked.Silence) error {
				told = append(told, s.Agent+" "+s.Session+" "+s.Tools())
				return nil
			})
		}()
		pass := func(what, want string) {
			t.Helper()
			time.Sleep(2 * time.Minute)
			synctest.Wait()
			if got := strings.Join(told, "\n"); got != want {
				t.Fatalf("%s: %q, want %q", what, got, want)
			}
			told = nil
		}
		id := r.calls("Bash")
		time.Sleep(time.Second)
		asks(w, "Bash")
		time.Sleep(30 * time.Minute) // a person thinks about it
		r.ends(id, "ok")
		pass("a call that was asked about", "")
		refused := r.calls("Bash")
		r.ends(refused, "The user doesn't want to proceed with this tool use")
		running := r.calls("Bash")
		r.ends(r.calls("TodoWrite"), "ok")
		pass("a call that was refused, one that runs, and one of a tool that never asks", "")
		r.ends(running, "ok")
		r.ends(r.calls("Bash"), "ok")
		pass("two calls that ran", "claude "+session+" Bash ×2")
		r.ends(r.calls("Bash"), "ok")
		pass("another one", "")
		if got := w.Found(); len(got) != 1 || !strings.Contains(got[0], "claude goes on without asking") || !strings.Contains(got[0], "Bash ×3") {
			t.Errorf("what is found: %q", got)
		}
		asks(w, "Bash")
		pass("it asks again", "")
		if got := w.Found(); len(got) != 0 {
			t.Errorf("after it asked again: %q", got)
		}
		r.ends(r.calls("Bash"), "ok")
		pass("and stops asking again", "claude "+session+" Bash ×1")
		cancel()
	})
}

// TestWhoIsNotWatched checks that no id that an agent states leads out of the transcripts.
func TestWhoIsNotWatched(t *testing.T) {
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, "x.jsonl"), []byte("{}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		w := unasked.New(home)
		for _, id := range []string{"", "../../../x", "*", "[a-z]", strings.Repeat("a", 65)} {
			w.Asked("claude", &vaglio.Proposal{Executor: "Bash", Session: id, Context: vaglio.Context{Client: "claude-code"}})
		}
		for i := range 1500 {
			w.Asked("claude", &vaglio.Proposal{Executor: fmt.Sprint("t", i), Session: fmt.Sprint("s", i), Context: vaglio.Context{Client: "claude-code"}})
		}
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
		defer cancel()
		if err := w.Run(ctx, slog.New(slog.DiscardHandler), func(_ context.Context, s unasked.Silence) error {
			t.Errorf("told: %+v", s)
			return nil
		}); err != nil || len(w.Found()) != 0 {
			t.Errorf("%v %q", err, w.Found())
		}
	})
}
