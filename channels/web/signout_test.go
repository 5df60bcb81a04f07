package web_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/metnos/vaglio/channels/web"
)

// memory stores sessions, and can fail.
type memory struct {
	mu   sync.Mutex
	all  []web.Session
	fail error
}

// on puts the memory into a configuration.
func (m *memory) on(c web.Config) web.Config {
	c.Sessions = m
	return c
}

func (m *memory) Load(context.Context) ([]web.Session, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.all), m.fail
}

func (m *memory) Save(_ context.Context, all []web.Session) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fail == nil {
		m.all = slices.Clone(all)
	}
	return m.fail
}

func (m *memory) fails(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.fail = err
}

// TestSigningOutEndsEveryCopy checks that signing out also ends every copy of the cookie,
// across a restart, and leaves others signed in.
func TestSigningOutEndsEveryCopy(t *testing.T) {
	kept, d := new(memory), newDesk()
	c := config(d)
	in := inboxOf(t, d, kept.on(c)).signIn()
	ended := in.cookie
	other := (&inbox{T: t, desk: d, web: in.web, h: in.h}).signIn()
	if rec := in.post("/inbox/logout", nil); rec.Code != http.StatusSeeOther {
		t.Fatalf("got %d", rec.Code)
	}
	restarted := inboxOf(t, d, kept.on(c))
	for name, at := range map[string]*inbox{"here": in, "after a restart": restarted} {
		at.cookie = ended
		if rec := at.get("/inbox"); rec.Code != http.StatusUnauthorized {
			t.Errorf("%s the old cookie gets %d", name, rec.Code)
		}
	}
	restarted.cookie = other.cookie
	if rec := restarted.get("/inbox"); rec.Code != http.StatusOK {
		t.Errorf("somebody else's session gets %d", rec.Code)
	}
}

func TestSigningOutThatCannotBeKept(t *testing.T) {
	kept, d := new(memory), newDesk()
	c := config(d)
	in := inboxOf(t, d, kept.on(c)).signIn()
	kept.fails(errors.New("disk is full"))
	rec := in.post("/inbox/logout", nil)
	if rec.Code != http.StatusInternalServerError || !strings.Contains(rec.Body.String(), "until vaglio restarts") ||
		len(rec.Result().Cookies()) != 1 || rec.Result().Cookies()[0].MaxAge >= 0 {
		t.Errorf("got %d %s", rec.Code, rec.Body)
	}
	if rec := in.get("/inbox"); rec.Code != http.StatusUnauthorized {
		t.Errorf("the old cookie gets %d", rec.Code)
	}
}

// TestEndingSessionsByName checks that the owner can end sessions by name, including those
// that another process began.
func TestEndingSessionsByName(t *testing.T) {
	kept, d := new(memory), newDesk()
	one, two := inboxOf(t, d, kept.on(config(d))).signIn(), inboxOf(t, d, kept.on(config(d)))
	two.signIn()
	all := two.web.Sessions()
	if len(all) != 2 || all[0].ID == one.cookie.Value {
		t.Fatalf("the sessions are %+v", all)
	}
	two.cookie = one.cookie
	if n, err := two.web.EndSessions(t.Context(), all[0].ID[:12]); n != 1 || err != nil {
		t.Fatalf("ended %d, %v", n, err)
	}
	if rec := two.get("/inbox"); rec.Code != http.StatusUnauthorized {
		t.Errorf("the ended session gets %d", rec.Code)
	}
	if n, err := two.web.EndSessions(t.Context(), ""); n != 1 || err != nil || len(kept.all) != 0 {
		t.Errorf("ended %d, %v; kept are %v", n, err, kept.all)
	}
}

// TestASignInIsToldFirst checks that a sign-in that cannot be announced does not happen.
func TestASignInIsToldFirst(t *testing.T) {
	d := newDesk()
	c := config(d)
	var told []web.Session
	var fail error
	c.SignedIn = func(_ context.Context, one web.Session) error {
		told = append(told, one)
		return fail
	}
	in := inboxOf(t, d, c)
	r := in.request(http.MethodPost, "/inbox/login", in.code())
	r.Header.Set("User-Agent", "Firefox\x1b[31m/1\u202e")
	r.RemoteAddr = "192.0.2.7:4711"
	if rec := in.do(r); rec.Code != http.StatusSeeOther || len(told) != 1 || told[0].From != "192.0.2.7" || told[0].Browser != "Firefox[31m/1" {
		t.Errorf("got %d, told %+v", rec.Code, told)
	}
	fail = errors.New("disk is full")
	if rec := in.post("/inbox/login", in.code()); rec.Code != http.StatusInternalServerError || len(rec.Result().Cookies()) != 0 {
		t.Errorf("got %d and %v", rec.Code, rec.Result().Cookies())
	}
	if n := len(in.web.Sessions()); n != 1 {
		t.Errorf("%d browsers are signed in", n)
	}
}

// TestASignInThatCannotBeKept checks that a sign-in that cannot be stored does not happen.
func TestASignInThatCannotBeKept(t *testing.T) {
	kept, d := new(memory), newDesk()
	in := inboxOf(t, d, kept.on(config(d)))
	kept.fails(errors.New("disk is full"))
	rec := in.post("/inbox/login", in.code())
	if rec.Code != http.StatusInternalServerError || len(rec.Result().Cookies()) != 0 || len(in.web.Sessions()) != 0 {
		t.Errorf("got %d and %v; %d browsers are signed in", rec.Code, rec.Result().Cookies(), len(in.web.Sessions()))
	}
}
