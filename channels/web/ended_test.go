package web_test

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/metnos/vaglio/channels/web"
)

// endings is a memory of ended sessions that can fail.
type endings struct {
	mu   sync.Mutex
	by   map[string]int64
	fail error
}

// load puts what was saved into a configuration.
func (e *endings) load(c web.Config) web.Config {
	e.mu.Lock()
	defer e.mu.Unlock()
	c.Ended, c.KeepEnded = maps.Clone(e.by), e.save
	return c
}

func (e *endings) save(_ context.Context, by map[string]int64) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.fail == nil {
		e.by = maps.Clone(by)
	}
	return e.fail
}

func (e *endings) fails(err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.fail = err
}

// Who signs out is signed out also where a copy of the cookie is, and stays so
// over a restart. Others stay signed in.
func TestSigningOutEndsEveryCopy(t *testing.T) {
	memory, d := new(endings), newDesk()
	c := config(d)
	in := inboxOf(t, d, memory.load(c)).signIn()
	ended := in.cookie
	other := inboxOf(t, d, memory.load(c)).signIn()
	if rec := in.post("/inbox/logout", nil); rec.Code != http.StatusSeeOther {
		t.Fatalf("got %d", rec.Code)
	}
	restarted := inboxOf(t, d, memory.load(c))
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
	memory, d := new(endings), newDesk()
	c := config(d)
	in := inboxOf(t, d, memory.load(c)).signIn()
	memory.fails(errors.New("disk is full"))
	rec := in.post("/inbox/logout", nil)
	if rec.Code != http.StatusInternalServerError || !strings.Contains(rec.Body.String(), "until vaglio restarts") ||
		len(rec.Result().Cookies()) != 1 || rec.Result().Cookies()[0].MaxAge >= 0 {
		t.Errorf("got %d %s", rec.Code, rec.Body)
	}
	if rec := in.get("/inbox"); rec.Code != http.StatusUnauthorized {
		t.Errorf("the old cookie gets %d", rec.Code)
	}
}
