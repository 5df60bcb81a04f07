package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/channels/telegram/telegramtest"
	"github.com/metnos/vaglio/gateway/owner"
	"github.com/metnos/vaglio/internal/strictjson"
)

// TestASignInIsToldAndEnds signs in a second browser, finds that in the chat and in the history, and
// signs it out across a restart.
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

// TestWhatTheOwnersOwnProgramsDoIsTold repeats what an agent did to a gate that ran as its own user.
// Whatever succeeds is recorded in the history and shown in the chat, and a copy of the data folder
// cannot decide anything.
func TestWhatTheOwnersOwnProgramsDoIsTold(t *testing.T) {
	t.Parallel()
	p := newChat(t)
	h := newHome(t, "METNOS_TELEGRAM_TOKEN="+telegramtest.Token, "METNOS_JUDGE_THRESHOLD=0.75")
	s := p.serve(h)
	p.pair(s)
	told := func(what, text string) {
		t.Helper()
		p.await(what, func(m telegramtest.Message) bool { return strings.Contains(m.Text, text) })
	}
	const call = `{"intent":"x","executor":"shell_exec","args":{"command":"ls %s"},"context":{"capability":"code:exec","cwd":"/srv"}}`
	propose := func(folder string) approval.Answer {
		t.Helper()
		return s.agent("POST", "/v1/proposals", fmt.Sprintf(call, folder)).answer(t)
	}

	// F14: what the journal has signs nobody in.
	if said := s.out.String() + s.log.String(); strings.Contains(said, "code=") {
		t.Errorf("what the journal has holds a link that signs in:\n%s", said)
	}
	// F2: a program calls the owner's socket, signs in and answers.
	asked := propose("one")
	admin := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", h.data("admin.sock"))
	}}}
	link := s.send(admin, "POST", "http://vaglio/inbox-link", "", "")
	found := regexp.MustCompile(`http://[^"\s]+code=[^"\s]+`).FindString(link.body)
	if found == "" {
		t.Fatalf("the owner's socket gives no link: %d %s", link.status, link.body)
	}
	began := time.Now()
	by := s.signIn(found)
	told("of the sign-in", "A browser signed in to the inbox")
	t.Logf("the sign-in stands in the chat %v after the link was opened", time.Since(began))
	by.decide("allow", "")
	told("of the answer", "Allowed")
	saidAt(t, h.run("", "log").out, "signed-in", "allowed    "+string(asked.Approval.ID))

	// F5: the cookie alone, as a page on another port receives it.
	asked = propose("two")
	thief := &person{t: t, base: s.base, http: by.http}
	if r := thief.post("/inbox/decide", buttons(t, by.get("/inbox").body)["allow"]); r.status == http.StatusOK {
		t.Errorf("a stolen cookie decides: %d", r.status)
	}
	s.logs("the page that signed in did not send it")

	// F3: a copy of the whole data folder is served elsewhere, and somebody answers there.
	clone := newHome(t, "METNOS_JUDGE_THRESHOLD=0.75")
	if said, err := exec.CommandContext(t.Context(), "cp", "-r", filepath.Join(h.dir, ".local"), clone.dir).CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, said)
	}
	c := clone.serve()
	c.signIn(c.link).decide("allow", "")
	permit := c.agent("GET", "/v1/approvals/"+string(asked.Approval.ID), "").answer(t).Permit
	if permit == nil {
		t.Fatal("the copy gives no permit, so this proves nothing")
	}
	if r := s.agent("POST", "/v1/permits/"+permit.Permit+"/redeem", fmt.Sprintf(call, "two")); r.status < http.StatusBadRequest {
		t.Errorf("the copy's permit is good: %d", r.status)
	}
	if r := s.agent("GET", "/v1/approvals/"+string(asked.Approval.ID), "").answer(t); r.Decision != approval.RulingPending {
		t.Errorf("it is %s", r.Decision)
	}
	if left := s.waiting(1); left[0].ID != asked.Approval.ID {
		t.Errorf("something else waits: %+v", left)
	}
}
