package main

import (
	"net/http"
	"strings"
	"testing"

	"github.com/metnos/vaglio/channels/telegram/telegramtest"
	"github.com/metnos/vaglio/gateway/owner"
	"github.com/metnos/vaglio/internal/strictjson"
)

// TestASignInIsToldAndEnds signs a second browser in, reads of it in the chat and in
// the history, and signs it out over a restart.
func TestASignInIsToldAndEnds(t *testing.T) {
	t.Parallel()
	p := newChat(t)
	h := newHome(t, "METNOS_TELEGRAM_TOKEN="+telegramtest.Token)
	s := p.serve(h)
	p.pair(s)
	one := s.signIn(s.link)
	p.await("the sign-in", func(m telegramtest.Message) bool {
		return strings.Contains(m.Text, "A browser signed in to the inbox: 127.0.0.1, Go-http-client") && len(m.Buttons()) == 0
	})
	if r := h.run("", "agent", "add", "coder"); r.code != exitOK {
		t.Fatalf("%+v", r)
	}
	p.await("the agent", func(m telegramtest.Message) bool { return strings.Contains(m.Text, "The agent coder was added.") })
	var list owner.SessionList
	r := h.run("", "session", "list", "--json")
	if err := strictjson.Unmarshal([]byte(r.out), &list); err != nil || len(list.Sessions) != 1 || list.Sessions[0].From != "127.0.0.1" {
		t.Fatalf("%v in %s%s", err, r.out, r.err)
	}
	if r := one.get("/inbox"); r.status != http.StatusOK {
		t.Errorf("the session gives %d", r.status)
	}
	id := list.Sessions[0].ID[:12]
	for _, tt := range []struct {
		arg  string
		code int
		want string
	}{
		{"short", exitUsage, "first 8 characters"}, {"00000000", exitFailed, "no browser"}, {id, exitOK, "1 session ended"}, {id, exitFailed, "no browser"},
	} {
		if r := h.run("", "session", "end", tt.arg); r.code != tt.code || !strings.Contains(r.out+r.err, tt.want) {
			t.Errorf("session end %s: %+v", tt.arg, r)
		}
	}
	if r := one.get("/inbox"); r.status != http.StatusUnauthorized {
		t.Errorf("the ended session gives %d", r.status)
	}
	out := h.run("", "log").out
	for _, want := range []string{"signed-in", "agent-added", "sessions-ended"} {
		if !strings.Contains(out, want) {
			t.Errorf("the history does not tell of %q:\n%s", want, out)
		}
	}
	s.stop()
	if r := h.run("", "log", "verify"); r.code != exitOK {
		t.Errorf("the history does not verify: %+v", r)
	}
}
