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

const own = 1000 // the user who runs the daemon

// begun returns the agents in a store after a start.
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

// An agent's token cannot become another agent's.
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
	if _, err := a.Add(t.Context(), Agent{Name: "writer"}); err != nil {
		t.Fatal(err)
	}
	if err := a.Remove(t.Context(), Default); err != nil {
		t.Fatal(err)
	}
	if name, ok := a.Peer(own); ok {
		t.Errorf("without the default agent the user who serves is %q", name)
	}
	if _, err := a.Add(t.Context(), Agent{Name: Default, UID: &four}); err != nil {
		t.Fatal(err)
	}
	if name, ok := a.Peer(own); ok {
		t.Errorf("with a default agent of another user the user who serves is %q", name)
	}
}

// TestWhatTheStoreRefusesIsNotAnswered checks that after a failed write the agents are as before.
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
	if token, err := a.Rotate(t.Context(), Default); !errors.Is(err, broken) || token != "" {
		t.Errorf("got a new token: %t, %v", token != "", err)
	}
	const chosen = "chosen-by-the-operator-0123456789"
	if err := a.Begin(t.Context(), chosen, t.TempDir(), slog.New(slog.DiscardHandler)); !errors.Is(err, broken) {
		t.Errorf("it began with another token: %v", err)
	}
	a.store = unread{m, broken}
	if err := a.Begin(t.Context(), chosen, t.TempDir(), slog.New(slog.DiscardHandler)); !errors.Is(err, broken) {
		t.Errorf("it began without what the store has: %v", err)
	}
	if _, err := Load(t.Context(), a.store, Self{}); !errors.Is(err, broken) {
		t.Errorf("loaded: %v", err)
	}
	if all, err := Read(t.Context(), a.store); !errors.Is(err, broken) || all != nil {
		t.Errorf("read: %v, %v", all, err)
	}
}

// TestWhoIsReadWithoutServing reads a store that was never served, and one that was.
func TestWhoIsReadWithoutServing(t *testing.T) {
	t.Parallel()
	s := storetest.NewMemory()
	names := func() []string {
		t.Helper()
		all, err := Read(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		return Names(all, "owner")
	}
	if got := names(); !slices.Equal(got, []string{"owner", Default}) {
		t.Errorf("before all: %q", got)
	}
	a := begun(t, s, "", t.TempDir())
	if _, err := a.Add(t.Context(), Agent{Name: "coder"}); err != nil {
		t.Fatal(err)
	}
	if got := names(); !slices.Equal(got, []string{"owner", "coder", Default}) {
		t.Errorf("with another: %q", got)
	}
	if err := errors.Join(a.Remove(t.Context(), Default), a.Remove(t.Context(), "coder")); err != nil {
		t.Fatal(err)
	}
	if got := names(); !slices.Equal(got, []string{"owner"}) {
		t.Errorf("without any: %q", got)
	}
}

// TestWhatIsToldOfATokenThatChanged checks what each start logs.
func TestWhatIsToldOfATokenThatChanged(t *testing.T) {
	t.Parallel()
	s, dir := storetest.NewMemory(), t.TempDir()
	const missing, changed = "the agents' token file was missing", "the agents' token changed"
	for _, start := range []struct {
		name   string
		chosen datafolder.Secret
		lose   bool
		want   string
	}{
		{"first", "", false, ""},
		{"again", "", false, ""},
		{"without the file", "", true, missing},
		{"chosen", "chosen-by-the-operator-0123456789", false, changed},
		{"chosen again", "chosen-by-the-operator-0123456789", false, ""},
		{"from the file", "", false, changed},
	} {
		if start.lose {
			if err := os.Remove(filepath.Join(dir, datafolder.TokenFile)); err != nil {
				t.Fatal(err)
			}
		}
		a, err := Load(t.Context(), s, Self{UID: own})
		if err != nil {
			t.Fatal(err)
		}
		var log strings.Builder
		if err := a.Begin(t.Context(), start.chosen, dir, slog.New(slog.NewTextHandler(&log, nil))); err != nil {
			t.Fatal(err)
		}
		if text := log.String(); strings.Contains(text, missing) != (start.want == missing) || strings.Contains(text, changed) != (start.want == changed) {
			t.Errorf("%s: %s; want %q", start.name, text, start.want)
		}
	}
	path := filepath.Join(dir, datafolder.TokenFile)
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	a := begun(t, s, "chosen-by-the-operator-0123456789", dir)
	if err := a.Begin(t.Context(), "", dir, slog.New(slog.DiscardHandler)); err == nil || !strings.Contains(err.Error(), "can be read or written by others") {
		t.Errorf("with a file that all can read: %v", err)
	}
}

// TestAMistakeIsOneSentence checks the errors about invalid agents.
func TestAMistakeIsOneSentence(t *testing.T) {
	t.Parallel()
	a := begun(t, storetest.NewMemory(), "", t.TempDir())
	four, mine := uint32(4), uint32(own)
	if _, err := a.Add(t.Context(), Agent{Name: "coder", UID: &four}); err != nil {
		t.Fatal(err)
	}
	add := func(one Agent) func() error {
		return func() error {
			token, err := a.Add(t.Context(), one)
			if token != "" {
				t.Errorf("%+v got a token", one)
			}
			return err
		}
	}
	for want, do := range map[string]func() error{
		`name: there is an agent "coder"; 'vaglio agent rotate coder' gives it a new token`: add(Agent{Name: "coder"}),
		`name: "Coder" is not lower-case letters`:                                           add(Agent{Name: "Coder"}),
		`--uid: user 4 is the agent "coder"; a user is one agent`:                           add(Agent{Name: "writer", UID: &four}),
		`--uid: user 1000 is the agent "default"; a user is one agent`:                      add(Agent{Name: "writer", UID: &mine}),
		`name: no agent is named "writer"; known: coder, default`:                           func() error { return a.Remove(t.Context(), "writer") },
		`name: no agent is named "reader"; known: coder, default`:                           func() error { _, err := a.Rotate(t.Context(), "reader"); return err },
	} {
		if err := do(); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if len(a.List()) != 2 {
		t.Errorf("the agents are %v", a.List())
	}
	none, err := Load(t.Context(), storetest.NewMemory(), Self{})
	if err != nil {
		t.Fatal(err)
	}
	if err := none.Remove(t.Context(), "coder"); err == nil || err.Error() != `name: no agent is named "coder"; known: none` {
		t.Errorf("of none: %v", err)
	}
}

// TestARecordIsNotWrittenOver checks that changes fail if the stored record is damaged.
func TestARecordIsNotWrittenOver(t *testing.T) {
	t.Parallel()
	s := storetest.NewMemory()
	a := begun(t, s, "", t.TempDir())
	_, err := s.Update(t.Context(), approval.KindMeta, record, func(r approval.Record) (approval.Record, error) {
		r.Body = []byte(`{"v":2}`)
		return r, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if token, err := a.Add(t.Context(), Agent{Name: "coder"}); err == nil || token != "" || !strings.HasPrefix(err.Error(), "agents: ") {
		t.Errorf("added: %v", err)
	}
	if r, err := s.Get(t.Context(), approval.KindMeta, record); err != nil || string(r.Body) != `{"v":2}` {
		t.Errorf("it holds %s, %v", r.Body, err)
	}
}

// TestNames checks valid and invalid names.
func TestNames(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"deployer": "", "a": "", "z": "", "az09": "", "0": "", "9": "", "deployer-2": "", "a_b.c": "", strings.Repeat("a", 40): "",
		"": "is empty", strings.Repeat("a", 41): "has 41 characters; at most 40", "-a": "is not lower-case", "_a": "is not lower-case", ".a": "is not lower-case",
		"A": "is not lower-case", "Z": "is not lower-case", "a b": "is not lower-case", "a/b": "is not lower-case", "a:b": "is not lower-case",
		"a`b": "is not lower-case", "a{b": "is not lower-case", "é": "is not lower-case", "a\n": "is not lower-case",
		"owner": "is not for an agent", "local": "is not for an agent", "vaglio": "is not for an agent",
	} {
		err := CheckName(name)
		if (err != nil) != (want != "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", name, err, want)
		}
	}
}

// TestHomesAreNobodysWorkspace checks folders on systems with and without an accounts file.
func TestHomesAreNobodysWorkspace(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "passwd")
	if err := os.WriteFile(file, []byte("ann:x:1000:1000:Ann:/srv/people/ann:/bin/sh\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		dir, own, accounts string
		home               bool
	}{
		{"/srv/people/ann", "", file, true},
		{"/srv/people", "", file, true},
		{"/srv/people/ann/work", "", file, false},
		{"/srv/people/an", "", file, false},
		{"/srv/people/ann", "", file + "x", false},
		{"/srv/people/ann", "/srv/people/ann/", file + "x", true},
		{"/", "", file + "x", true},
		{"/root", "", file + "x", true},
		{"/home", "", file + "x", true},
		{"/Users", "", file + "x", true},
		{"/home/x/work", "", file + "x", false},
	} {
		if got := IsHome(tt.dir, tt.own, tt.accounts); got != tt.home {
			t.Errorf("%s, where the own home is %q and the accounts are in %s: %t", tt.dir, tt.own, filepath.Base(tt.accounts), got)
		}
	}
	for path, want := range map[string]string{".": "is not an absolute path", filepath.Join(dir, "none"): filepath.Join(dir, "none") + ": no such file", file: "is not a folder"} {
		if led, err := workspace(path, ""); led != "" || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s leads to %q, %v; want %q", path, led, err, want)
		}
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

// TestAnAgentIsKnownByName looks up the first and the last agent, and one that does not exist.
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

// TestARecordThatCannotBeReadIsNoRecord checks records that cannot be decoded.
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

// TestATokenIsMadeOnce reads the token file before it exists and again afterwards.
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
	if token, made, err := fileToken(filepath.Join(path, "below")); err == nil || made || token != "" {
		t.Errorf("one below a file: made %t, %v", made, err)
	}
	if token, made, err := fileToken(filepath.Join(filepath.Dir(path), "none", "token")); err == nil || made || token != "" {
		t.Errorf("one in no folder: made %t, %v", made, err)
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if token, made, err := fileToken(path); err == nil || made || token != "" {
		t.Errorf("one that all can read: made %t, %v", made, err)
	}
}

// TestWhoIsNobodyIsNoAgent checks that an agent cannot run as the overflow user, who may be anybody.
func TestWhoIsNobodyIsNoAgent(t *testing.T) {
	t.Parallel()
	a := begun(t, storetest.NewMemory(), "", t.TempDir())
	who := uint32(65534)
	_, err := a.Add(t.Context(), Agent{Name: "coder", UID: &who})
	if bad, ok := errors.AsType[*MistakeError](err); !ok || bad.Field != "--uid" {
		t.Errorf("nobody: %v", err)
	}
	_, err = a.Add(t.Context(), Agent{Name: "coder", Workspaces: []string{"relative"}})
	if bad, ok := errors.AsType[*MistakeError](err); !ok || bad.Field != "--workspace" || a.Known("coder") {
		t.Errorf("no folder: %v", err)
	}
}
