package main

import (
	"net/http"
	"strings"
	"testing"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/channels/telegram/telegramtest"
)

// laterPush is a call of another turn that a person is asked about.
var laterPush = strings.NewReplacer("t-81", "t-82", "origin main", "origin release").Replace(forcePush)

// allowed has a person allow [forcePush], and returns who is signed in and where the
// permit is redeemed.
func (s *served) allowed() (by *person, redeem string) {
	s.h.t.Helper()
	waits := s.propose()
	s.waiting(1)
	by = s.signIn(s.link)
	by.decide("allow", "")
	a := waits.answer(s.h.t)
	if a.Permit == nil {
		s.h.t.Fatalf("got %+v, want a permit", a)
	}
	return by, "/v1/permits/" + a.Permit.Permit + "/redeem"
}

// ended checks that neither the session nor the permit is good any more, and that
// whatever was told before verifies.
func (s *served) ended(by *person, redeem string) {
	s.h.t.Helper()
	if r := by.get("/inbox"); r.status != http.StatusUnauthorized {
		s.h.t.Errorf("the session of before gives %d", r.status)
	}
	if r := s.agent("POST", redeem, forcePush); r.status != http.StatusGone {
		s.h.t.Errorf("the permit of before gives %d %s, want 410", r.status, r.body)
	}
	if r := s.agent("POST", redeem+"x", forcePush); r.status != http.StatusNotFound {
		s.h.t.Errorf("no permit gives %d", r.status)
	}
	out := s.h.run("", "log").out
	if strings.Count(out, "keys-rotated") != 1 || strings.Count(out, "lapsed") != 1 {
		s.h.t.Errorf("the history tells:\n%s", out)
	}
	if r := s.h.run("", "log", "verify"); r.code != exitOK {
		s.h.t.Errorf("the history does not verify: %+v", r)
	}
}

// TestKeysAreRotatedWhileServing has a call allowed and another wait, and rotates.
func TestKeysAreRotatedWhileServing(t *testing.T) {
	t.Parallel()
	p := newChat(t)
	h := newHome(t, "METNOS_TELEGRAM_TOKEN="+telegramtest.Token)
	s := p.serve(h)
	p.pair(s)
	by, redeem := s.allowed()
	s.agent("POST", "/v1/proposals", laterPush)
	waiting := s.waiting(1)[0]
	unused := strings.TrimSpace(h.run("", "inbox").out)
	if r := h.run("", "rotate"); r.code != exitOK || !strings.Contains(r.out, "1 session ended, 1 permit is void.") {
		t.Fatalf("rotate: %+v", r)
	}
	s.ended(by, redeem)
	p.await("the rotation", func(m telegramtest.Message) bool { return strings.Contains(m.Text, "The gate has new keys") })
	code := unused[strings.LastIndex(unused, "=")+1:]
	if r := by.post("/inbox/login", map[string][]string{"code": {code}}); r.status == http.StatusOK {
		t.Error("a link of before signs in")
	}
	if again := s.waiting(1)[0]; again.ID != waiting.ID {
		t.Errorf("%s waits, want %s", again.ID, waiting.ID)
	}
	s.signIn(strings.TrimSpace(h.run("", "inbox").out)).decide("allow", "")
	a := s.agent("POST", "/v1/proposals?wait=55s", laterPush).answer(t)
	if a.Decision != approval.RulingAllow || a.Approval.ID != waiting.ID {
		t.Fatalf("what waited got %+v", a)
	}
	if r := s.agent("POST", "/v1/permits/"+a.Permit.Permit+"/redeem", laterPush); r.status != http.StatusNoContent {
		t.Errorf("its permit gives %d %s", r.status, r.body)
	}
}

// TestKeysAreRotatedWithoutADaemon rotates twice while nobody serves; the next start
// does the rest, once.
func TestKeysAreRotatedWithoutADaemon(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	if r := h.run("", "rotate"); r.code != exitFailed || !strings.Contains(r.err, "vaglio has not served this data folder") {
		t.Errorf("rotate before the first start: %+v", r)
	}
	s := h.serve()
	by, redeem := s.allowed()
	s.stop()
	for range 2 {
		if r := h.run("", "rotate"); r.code != exitOK || !strings.Contains(r.out, "New keys are made.") {
			t.Fatalf("rotate: %+v", r)
		}
	}
	s = h.serve()
	by.base = s.base
	s.ended(by, redeem)
	s.stop()
	s = h.serve()
	by.base = s.base
	s.ended(by, redeem)
}
