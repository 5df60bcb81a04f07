package agents

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/internal/datafolder"
	"github.com/metnos/vaglio/store/storetest"
)

const own = 1000 // the user who serves

// begun are the agents of a store after a start.
func begun(t *testing.T, s Store, chosen datafolder.Secret, dir string) *Agents {
	t.Helper()
	a, err := Load(t.Context(), s, Self{UID: own})
	if err == nil {
		err = a.Begin(t.Context(), chosen, dir, slog.New(slog.DiscardHandler))
	}
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestTheDefaultAgentFollowsItsToken(t *testing.T) {
	t.Parallel()
	s, dir := storetest.NewMemory(), t.TempDir()
	fromFile := func() string {
		t.Helper()
		token, err := datafolder.ReadSecret(filepath.Join(dir, datafolder.TokenFile))
		if err != nil {
			t.Fatal(err)
		}
		return string(token)
	}
	is := func(a *Agents, token string, want bool) {
		t.Helper()
		if name, ok := a.Agent(token); ok != want || want && name != Default {
			t.Errorf("the token is %q, %t; want %t", name, ok, want)
		}
	}
	a := begun(t, s, "", dir)
	first := fromFile()
	is(a, first, true)
	is(a, "", false)
	is(a, first+"x", false)
	is(begun(t, s, "", dir), first, true)
	const chosen = "chosen-by-the-operator-0123456789"
	a = begun(t, s, chosen, dir)
	is(a, chosen, true)
	is(a, first, false)
	is(begun(t, s, "", dir), first, true)
	if err := os.Remove(filepath.Join(dir, datafolder.TokenFile)); err != nil {
		t.Fatal(err)
	}
	a = begun(t, s, "", dir)
	is(a, fromFile(), true)
	is(a, first, false)
	if err := a.Remove(t.Context(), Default); err != nil {
		t.Fatal(err)
	}
	a = begun(t, s, "", dir)
	is(a, fromFile(), false)
	if _, ok := a.Peer(own); ok {
		t.Error("a removed default agent is still the user who serves")
	}
	is(begun(t, s, chosen, dir), chosen, true)
}

// A token of one agent cannot become another's.
func TestATokenIsOneAgents(t *testing.T) {
	t.Parallel()
	s, dir := storetest.NewMemory(), t.TempDir()
	a := begun(t, s, "", dir)
	token, err := a.Add(t.Context(), Agent{Name: "coder"})
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Begin(t.Context(), token, dir, slog.New(slog.DiscardHandler)); err == nil || strings.Contains(err.Error(), string(token)) {
		t.Errorf("got %v", err)
	}
}

func TestUsers(t *testing.T) {
	t.Parallel()
	s := storetest.NewMemory()
	a := begun(t, s, "", t.TempDir())
	four := uint32(4)
	if _, err := a.Add(t.Context(), Agent{Name: "coder", UID: &four}); err != nil {
		t.Fatal(err)
	}
	for _, all := range []*Agents{a, begun(t, s, "", t.TempDir())} {
		for uid, want := range map[uint32]string{own: Default, 4: "coder", 5: "", 0: ""} {
			if name, ok := all.Peer(uid); name != want || ok != (want != "") {
				t.Errorf("user %d is %q, want %q", uid, name, want)
			}
		}
	}
	if err := a.Remove(t.Context(), "coder"); err != nil {
		t.Fatal(err)
	}
	if name, ok := a.Peer(4); ok {
		t.Errorf("after its removal the user is %q", name)
	}
}

// TestWhatTheStoreRefusesIsNotAnswered fails a write, and looks whether the agents
// are those before it.
func TestWhatTheStoreRefusesIsNotAnswered(t *testing.T) {
	t.Parallel()
	m := storetest.NewMemory()
	a := begun(t, m, "", t.TempDir())
	broken := errors.New("full")
	a.store = failing{m, broken}
	token, err := a.Add(t.Context(), Agent{Name: "coder"})
	if !errors.Is(err, broken) || token != "" {
		t.Errorf("got a token: %t, %v", token != "", err)
	}
	if all := a.List(); len(all) != 1 {
		t.Errorf("the agents are %v", all)
	}
}

func TestWorkspaces(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	work := filepath.Join(dir, "work")
	if err := errors.Join(os.Mkdir(work, 0o700), os.Symlink(work, filepath.Join(dir, "link")), os.Symlink("/", filepath.Join(dir, "top"))); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{work: work, filepath.Join(dir, "link"): work, filepath.Join(dir, "top"): "", "work": "", "/home": "", "/root": "", "/": "", dir: ""} {
		got, err := workspace(path, filepath.Join(dir, "home", "me"))
		if bad, ok := errors.AsType[*MistakeError](err); got != want || (want == "") != ok || ok && bad.Field != "--workspace" {
			t.Errorf("%s leads to %q, %v; want %q", path, got, err, want)
		}
	}
}

func TestHomesAreReadFromTheUsers(t *testing.T) {
	t.Parallel()
	got := homesIn("root:x:0:0:root:/root:/bin/sh\nwww:x:999:999::/srv/www:/bin/false\nann:x:1000:1000:Ann:/srv/ann:/bin/sh\n" +
		"bob:x:1001:1001::data/bob:/bin/sh\nshort:x:1002:1002::/srv/short\n# a comment\neve:x:10000:1::/people/eve:/bin/sh")
	if want := []string{"/srv/ann", "/people/eve"}; !slices.Equal(got, want) {
		t.Errorf("homes are %q, want %q", got, want)
	}
}

// TestAnAgentIsKnownByName asks for the first, the last and none.
func TestAnAgentIsKnownByName(t *testing.T) {
	t.Parallel()
	s := storetest.NewMemory()
	a, err := Load(t.Context(), s, Self{UID: own})
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range []Agent{{Name: "first", Route: "careful"}, {Name: "last", Route: "quick"}} {
		if _, err := a.Add(t.Context(), one); err != nil {
			t.Fatal(err)
		}
	}
	for name, route := range map[string]string{"first": "careful", "last": "quick", "none": "", "": ""} {
		if got, known := a.Route(name), a.Known(name); got != route || known != (route != "") {
			t.Errorf("%q has the route %q and is known: %t", name, got, known)
		}
	}
}

// TestARecordThatCannotBeReadIsNoRecord has the store hold something else.
func TestARecordThatCannotBeReadIsNoRecord(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{`{"v":1,`: "cannot be read", `{"v":2,"agents":[]}`: "is from a newer vaglio", `{"v":1,"agents":[],"more":1}`: "cannot be read", `{"v":1,"agents":[]}`: ""} {
		s := storetest.NewMemory()
		_, err := s.Update(t.Context(), approval.KindMeta, record, func(r approval.Record) (approval.Record, error) {
			r.Body = []byte(text)
			return r, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Load(t.Context(), s, Self{}); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// TestATokenIsMadeOnce reads the token's file where there is none, and again.
func TestATokenIsMadeOnce(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "token")
	first, made, err := fileToken(path)
	if err != nil || !made || len(first) < 52 {
		t.Fatalf("%d characters, made %t, %v", len(first), made, err)
	}
	if again, made, err := fileToken(path); err != nil || made || again != first {
		t.Errorf("the same again: %t, made %t, %v", again == first, made, err)
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if token, made, err := fileToken(path); err == nil || made || token != "" {
		t.Errorf("one that all can read: made %t, %v", made, err)
	}
}

// TestWhoIsNobodyIsNoAgent adds agents whose user could be anybody.
func TestWhoIsNobodyIsNoAgent(t *testing.T) {
	t.Parallel()
	a := begun(t, storetest.NewMemory(), "", t.TempDir())
	who := uint32(nobody)
	_, err := a.Add(t.Context(), Agent{Name: "coder", UID: &who})
	if bad, ok := errors.AsType[*MistakeError](err); !ok || bad.Field != "--uid" {
		t.Errorf("nobody: %v", err)
	}
	_, err = a.Add(t.Context(), Agent{Name: "coder", Workspaces: []string{"relative"}})
	if bad, ok := errors.AsType[*MistakeError](err); !ok || bad.Field != "--workspace" || a.Known("coder") {
		t.Errorf("no folder: %v", err)
	}
}
