package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/channels/telegram/telegramtest"
	"github.com/metnos/vaglio/internal/datafolder"
	"github.com/metnos/vaglio/internal/race"
)

// laterPush is a call in another turn that a person is asked about.
var laterPush = strings.NewReplacer("t-81", "t-82", "origin main", "origin release").Replace(forcePush)

// allowed has a person allow [forcePush], and returns the signed-in person and the path at which the
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

// ended checks that the session and the permit are no longer valid, and that the history still
// verifies.
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

// TestKeysAreRotatedWhileServing rotates when one call has been allowed and another waits.
func TestKeysAreRotatedWhileServing(t *testing.T) {
	t.Parallel()
	p := newChat(t)
	h := newHome(t, "METNOS_TELEGRAM_TOKEN="+telegramtest.Token)
	s := p.serve(h)
	by, redeem := s.allowed() // before there is a chat, whose digits would be required
	p.pair(s)
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
	if r := s.signIn(strings.TrimSpace(h.run("", "inbox").out)).get("/inbox"); r.status != http.StatusOK {
		t.Errorf("a session of afterwards gives %d", r.status)
	}
	card := p.await("that can be allowed", func(m telegramtest.Message) bool { return len(m.Buttons()) > 0 })
	if _, err := p.press(card.ID, "Allow once"); err != nil {
		t.Fatal(err)
	}
	a := s.agent("POST", "/v1/proposals?wait=55s", laterPush).answer(t)
	if a.Decision != approval.RulingAllow || a.Approval.ID != waiting.ID {
		t.Fatalf("what waited got %+v", a)
	}
	if r := s.agent("POST", "/v1/permits/"+a.Permit.Permit+"/redeem", laterPush); r.status != http.StatusNoContent {
		t.Errorf("its permit gives %d %s", r.status, r.body)
	}
}

// TestKeysAreRotatedWithoutADaemon rotates twice while no daemon runs. The next start completes it,
// once.
func TestKeysAreRotatedWithoutADaemon(t *testing.T) {
	race.Alone(t)
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

// TestKilledWhileKeysAreRotated kills the daemon while it creates new keys: at once, when the key
// file has changed, and after each further change of the store. The keys on disk must then open the
// store without loss: either everything is as before, or the next start completes the rotation. An
// acknowledged rotation is never undone.
func TestKilledWhileKeysAreRotated(t *testing.T) {
	race.Alone(t)
	t.Parallel()
	h := newHome(t)
	s := h.serve()
	told, ended := 0, 0
	points := 8
	if testing.Short() {
		points = 2
	}
	for point := range points {
		call := strings.NewReplacer("t-81", fmt.Sprint("allowed-", point), "origin main", fmt.Sprint("origin a", point)).Replace(forcePush)
		waits := strings.NewReplacer("t-81", fmt.Sprint("waits-", point), "origin main", fmt.Sprint("origin w", point)).Replace(forcePush)
		s.agent("POST", "/v1/proposals", call)
		s.waiting(1)
		by := s.signIn(strings.TrimSpace(h.run("", "inbox").out))
		by.decide("allow", "")
		a := s.agent("POST", "/v1/proposals?wait=55s", call).answer(t)
		if a.Permit == nil {
			t.Fatalf("point %d: got %+v, want a permit", point, a)
		}
		s.agent("POST", "/v1/proposals", waits)
		waiting := s.waiting(1)[0]

		done := s.killedRotating(point)
		if r := h.run("", "log", "verify"); r.code != exitOK {
			t.Errorf("point %d: the history does not verify: %+v", point, r)
		}
		s = h.serve()
		by.base = s.base
		session := by.get("/inbox").status
		permit := s.agent("POST", "/v1/permits/"+a.Permit.Permit+"/redeem", call).status
		now := strings.Count(h.run("", "log").out, "keys-rotated")
		t.Logf("point %d: acknowledged %t, the session gives %d, the permit %d, the rotation was told %d times", point, done, session, permit, now-told)
		switch {
		case session == http.StatusUnauthorized && permit == http.StatusGone && now > told:
			ended++
		case session == http.StatusOK && permit == http.StatusNoContent && now == told && !done:
		default:
			t.Errorf("point %d: neither as before nor rotated", point)
		}
		told = now
		if again := s.waiting(1)[0]; again.ID != waiting.ID {
			t.Errorf("point %d: %s waits, want %s", point, again.ID, waiting.ID)
		}
		s.signIn(strings.TrimSpace(h.run("", "inbox").out)).decide("deny", "")
	}
	if ended == 0 {
		t.Error("no kill met a rotation that had begun")
	}
	if r := h.run("", "rotate"); r.code != exitOK {
		t.Errorf("rotating in the end: %+v", r)
	}
}

// killedRotating lets the daemon create new keys and kills it: at point 0 at once, at point 1 when
// the key file has changed, at point n after n-1 further changes of the store. It reports whether
// the rotation was acknowledged first.
func (s *served) killedRotating(point int) (done bool) {
	s.h.t.Helper()
	stamp := func(file string) time.Time {
		info, err := os.Stat(s.h.data(file))
		if err != nil {
			s.h.t.Fatal(err)
		}
		return info.ModTime()
	}
	file, last := "vaglio.keys", stamp("vaglio.keys")
	acknowledged := make(chan bool, 1)
	go func() { acknowledged <- s.h.command(s.h.t.Context(), "rotate").Run() == nil }()
	for point > 0 {
		select {
		case done = <-acknowledged:
			s.kill()
			return done
		default:
		}
		if now := stamp(file); !now.Equal(last) {
			point--
			file = datafolder.StoreFile
			last = stamp(file)
		}
		runtime.Gosched()
	}
	s.kill()
	return <-acknowledged
}

// TestTheFilesOfAServedStoreTellNothing has one call asked about, answered, run and reported, and
// another approved, and searches all files of the data folder for their texts. The audit log is
// meant to be read by people and programs: it contains the intent, masked, and no values.
func TestTheFilesOfAServedStoreTellNothing(t *testing.T) {
	race.Alone(t)
	t.Parallel()
	h := newHome(t)
	s := h.serve()
	by := s.signIn(s.link)
	asked := strings.NewReplacer("clean up the history", "canary-intent", "origin main", "origin canary-asked").Replace(forcePush)
	s.agent("POST", "/v1/proposals", asked)
	id := string(s.waiting(1)[0].ID)
	by.decide("allow", "")
	a := s.agent("POST", "/v1/proposals?wait=55s", asked).answer(t)
	if a.Permit == nil {
		t.Fatalf("got %+v, want a permit", a)
	}
	if r := s.agent("POST", "/v1/permits/"+a.Permit.Permit+"/redeem", asked); r.status != http.StatusNoContent {
		t.Fatalf("redeeming: %d %s", r.status, r.body)
	}
	if r := s.agent("POST", "/v1/approvals/"+id+"/outcome", `{"succeeded":true,"detail":"canary-outcome"}`); r.status >= 300 {
		t.Fatalf("the outcome: %d %s", r.status, r.body)
	}
	s.agent("POST", "/v1/proposals", strings.NewReplacer("t-81", "t-82", "canary-asked", "canary-denied").Replace(asked))
	s.waiting(1)
	by.decide("deny", "canary-words")
	const passes = `{"turn_id":"t-83","intent":"read the notes","executor":"read_file","args":{"path":"canary-passed.md"}}`
	if a := s.agent("POST", "/v1/proposals?wait=55s", passes).answer(t); !a.Verdict.Approved {
		t.Fatalf("got %+v, want allow", a)
	}
	why := h.run("", "why", id).out + h.run("", "log").out
	for _, want := range []string{"canary-intent", "canary-asked", "canary-words", "canary-outcome"} {
		if !strings.Contains(why, want) {
			t.Errorf("%s is not told:\n%s", want, why)
		}
	}
	tells := func(when string) {
		t.Helper()
		seen := 0
		if err := filepath.WalkDir(h.data(""), func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			seen++
			b, err := os.ReadFile(path)
			if filepath.Ext(path) == ".jsonl" {
				b = bytes.ReplaceAll(b, []byte("canary-intent"), nil)
			}
			if i := bytes.Index(b, []byte("canary")); i >= 0 {
				t.Errorf("%s, %s tells %q", when, path, b[i:min(i+40, len(b))])
			}
			return err
		}); err != nil || seen < 3 {
			t.Errorf("%s: looked into %d files: %v", when, seen, err)
		}
	}
	tells("while it serves")
	s.stop()
	tells("when it has ended")
	// Without the keys nobody can read it, and nothing is lost.
	keys := h.data("vaglio.keys")
	if err := os.Rename(keys, keys+".away"); err != nil {
		t.Fatal(err)
	}
	if r := h.run("", "serve"); r.code != exitFailed || strings.Count(strings.TrimSpace(r.err), "\n") > 0 || !strings.Contains(r.err, keys+": is not there") {
		t.Errorf("serving without keys: %d %q", r.code, r.err)
	}
	if wrong := strings.Join(h.doctor(), "\n"); !strings.Contains(wrong, keys+": is not there") {
		t.Errorf("the doctor tells: %s", wrong)
	}
	if err := os.Rename(keys+".away", keys); err != nil {
		t.Fatal(err)
	}
	if r := h.run("", "log", "verify"); r.code != exitOK {
		t.Errorf("the history does not verify: %+v", r)
	}
}
