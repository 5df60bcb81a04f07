package passkey_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/metnos/vaglio/channels/web/passkey"
	"github.com/metnos/vaglio/channels/web/webtest"
)

const origin = "http://localhost:8787"

func here() passkey.Site { return passkey.Site{Host: "localhost", Origin: origin} }

func challenge(text string) []byte {
	h := sha256.Sum256([]byte(text))
	return h[:]
}

// memory stores passkeys as a store does, and fails on request.
type memory struct {
	all  []passkey.Passkey
	fail error
}

func (m *memory) Load(context.Context) ([]passkey.Passkey, error) { return m.all, m.fail }

func (m *memory) Save(_ context.Context, all []passkey.Passkey) error {
	if m.fail == nil {
		m.all = all
	}
	return m.fail
}

func quiet(context.Context) error { return nil }

// ring returns a ring with one passkey, which the authenticator holds.
func ring(t *testing.T) (*passkey.Ring, *webtest.Authenticator, *memory) {
	t.Helper()
	m := new(memory)
	r, err := passkey.Open(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	a := webtest.NewAuthenticator("localhost", origin)
	if err := r.Add(t.Context(), here(), challenge("add"), a.Create(challenge("add")), "YubiKey", quiet); err != nil {
		t.Fatal(err)
	}
	return r, a, m
}

func TestAnAssertionHoldsForItsChallengeAlone(t *testing.T) {
	other := func(change func(a *webtest.Authenticator)) func(*webtest.Authenticator) []byte {
		return func(a *webtest.Authenticator) []byte {
			change(a)
			return a.Assert(challenge("allow"))
		}
	}
	for name, row := range map[string]struct {
		answer func(a *webtest.Authenticator) []byte
		want   error
	}{
		"as asked":        {other(func(*webtest.Authenticator) {}), nil},
		"other challenge": {func(a *webtest.Authenticator) []byte { return a.Assert(challenge("deny")) }, passkey.ErrUnfit},
		"other origin":    {other(func(a *webtest.Authenticator) { a.Origin = "https://evil.example" }), passkey.ErrUnfit},
		"other port":      {other(func(a *webtest.Authenticator) { a.Origin = "http://localhost:9999" }), passkey.ErrUnfit},
		"other scheme":    {other(func(a *webtest.Authenticator) { a.Origin = "https://localhost:8787" }), passkey.ErrUnfit},
		"other host":      {other(func(a *webtest.Authenticator) { a.Host = "evil.example" }), passkey.ErrUnfit},
		"in a frame":      {other(func(a *webtest.Authenticator) { a.Cross = true }), passkey.ErrUnfit},
		"unverified user": {other(func(a *webtest.Authenticator) { a.Verified = false }), passkey.ErrUnverified},
		"a clone's count": {other(func(a *webtest.Authenticator) { a.Count = 1 }), passkey.ErrCloned},
		"no count":        {other(func(a *webtest.Authenticator) { a.Count = 0 }), passkey.ErrCloned},
		"unknown": {func(*webtest.Authenticator) []byte {
			return webtest.NewAuthenticator("localhost", origin).Assert(challenge("allow"))
		}, passkey.ErrUnknown},
		"a registration": {func(a *webtest.Authenticator) []byte { return a.Create(challenge("allow")) }, passkey.ErrShape},
		"nothing":        {func(*webtest.Authenticator) []byte { return nil }, passkey.ErrShape},
		"garbage":        {func(*webtest.Authenticator) []byte { return []byte(`{"id":1}`) }, passkey.ErrShape},
		"cut short": {func(a *webtest.Authenticator) []byte {
			all := a.Assert(challenge("allow"))
			return all[:len(all)/2]
		}, passkey.ErrShape},
	} {
		t.Run(name, func(t *testing.T) {
			r, a, m := ring(t)
			was := m.all[0].Count
			err := r.Check(t.Context(), here(), challenge("allow"), row.answer(a))
			if !errors.Is(err, row.want) {
				t.Fatalf("got %v, want %v", err, row.want)
			}
			if now := m.all[0]; (now.Count > was) != (row.want == nil) || now.Used.IsZero() != (row.want != nil) {
				t.Errorf("kept is %+v", now)
			}
			if err != nil { // What failed broke nothing.
				a.Count, a.Origin, a.Host, a.Verified, a.Cross = 10, origin, "localhost", true, false
				if name == "a registration" {
					return // It created another credential.
				}
				if err := r.Check(t.Context(), here(), challenge("again"), a.Assert(challenge("again"))); err != nil {
					t.Errorf("then: %v", err)
				}
			}
		})
	}
}

// TestAnAuthenticatorWithoutACountIsTaken checks that an authenticator that keeps no count
// is accepted, although clones of it cannot be detected.
func TestAnAuthenticatorWithoutACountIsTaken(t *testing.T) {
	r, err := passkey.Open(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	a := webtest.NewAuthenticator("localhost", origin)
	a.Count = 0
	if err := r.Add(t.Context(), here(), challenge("add"), a.Create(challenge("add")), "phone", quiet); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := r.Check(t.Context(), here(), challenge("allow"), a.Assert(challenge("allow"))); err != nil {
			t.Error(err)
		}
	}
}

// TestACloneIsNoticed uses two copies of an authenticator: the count reveals the clone.
func TestACloneIsNoticed(t *testing.T) {
	r, a, _ := ring(t)
	clone := a.Clone()
	for range 3 {
		if err := r.Check(t.Context(), here(), challenge("x"), a.Assert(challenge("x"))); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Check(t.Context(), here(), challenge("x"), clone.Assert(challenge("x"))); !errors.Is(err, passkey.ErrCloned) {
		t.Errorf("got %v", err)
	}
}

func TestRegistering(t *testing.T) {
	for name, row := range map[string]struct {
		as     string
		change func(a *webtest.Authenticator)
		want   error
	}{
		"another":                  {"phone", nil, nil},
		"a name as long as may be": {strings.Repeat("x", passkey.MaxName), nil, nil},
		"taken name":               {"YubiKey", nil, passkey.ErrTaken},
		"no name":                  {"", nil, passkey.ErrName},
		"a long name":              {strings.Repeat("x", passkey.MaxName+1), nil, passkey.ErrName},
		"an unseen name":           {"Yubi\u200bKey", nil, passkey.ErrName},
		"two lines":                {"a\nb", nil, passkey.ErrName},
		"no text":                  {"\xff", nil, passkey.ErrName},
		"other origin":             {"phone", func(a *webtest.Authenticator) { a.Origin = "https://evil.example" }, passkey.ErrUnfit},
		"other port":               {"phone", func(a *webtest.Authenticator) { a.Origin = "http://localhost:9999" }, passkey.ErrUnfit},
		"other host":               {"phone", func(a *webtest.Authenticator) { a.Host = "evil.example" }, passkey.ErrUnfit},
		"unverified user":          {"phone", func(a *webtest.Authenticator) { a.Verified = false }, passkey.ErrUnverified},
	} {
		t.Run(name, func(t *testing.T) {
			r, _, m := ring(t)
			a := webtest.NewAuthenticator("localhost", origin)
			if row.change != nil {
				row.change(a)
			}
			told := false
			err := r.Add(t.Context(), here(), challenge("new"), a.Create(challenge("new")), row.as, func(context.Context) error { told = true; return nil })
			if !errors.Is(err, row.want) || told != (row.want == nil) || (len(m.all) == 2) != (row.want == nil) {
				t.Errorf("got %v, told %t, kept %d", err, told, len(m.all))
			}
		})
	}
	r, a, m := ring(t)
	if err := r.Add(t.Context(), here(), challenge("new"), a.Create(challenge("old")), "phone", quiet); !errors.Is(err, passkey.ErrUnfit) {
		t.Errorf("for another challenge: %v", err)
	}
	if err := r.Add(t.Context(), here(), challenge("new"), a.Create(challenge("new")), "phone", quiet); !errors.Is(err, passkey.ErrTaken) {
		t.Errorf("the same again: %v", err)
	}
	if err := r.Add(t.Context(), here(), challenge("new"), []byte("{}"), "phone", quiet); !errors.Is(err, passkey.ErrShape) || !strings.HasPrefix(err.Error(), passkey.ErrShape.Error()+": ") {
		t.Errorf("nothing, and why: %v", err)
	}
	if err := r.Add(t.Context(), passkey.Site{Host: "%", Origin: origin}, challenge("new"), webtest.NewAuthenticator("%", origin).Create(challenge("new")), "phone", quiet); err == nil || len(m.all) != 1 {
		t.Errorf("at no host: %v, kept %d", err, len(m.all))
	}
	for i := range passkey.Most {
		a := webtest.NewAuthenticator("localhost", origin)
		err := r.Add(t.Context(), here(), challenge("new"), a.Create(challenge("new")), strings.Repeat("x", i+1), quiet)
		if errors.Is(err, passkey.ErrMany) != (i == passkey.Most-1) || len(m.all) > passkey.Most {
			t.Errorf("the %d. further: %v", i+1, err)
		}
	}
}

// TestWhatIsKept checks that a change that cannot be announced or stored does not happen,
// and that what is stored is there after a restart.
func TestWhatIsKept(t *testing.T) {
	r, a, m := ring(t)
	fault := errors.New("the disk is full")
	untold := func(context.Context) error { return fault }
	other := webtest.NewAuthenticator("localhost", origin)
	if err := r.Add(t.Context(), here(), challenge("new"), other.Create(challenge("new")), "phone", untold); !errors.Is(err, fault) || len(r.List()) != 1 {
		t.Errorf("untold: %v", err)
	}
	if err := r.Remove(t.Context(), "YubiKey", untold); !errors.Is(err, fault) || !r.Any() {
		t.Errorf("untold: %v", err)
	}
	m.fail = fault
	for what, err := range map[string]error{
		"add":    r.Add(t.Context(), here(), challenge("new"), other.Create(challenge("new")), "phone", quiet),
		"remove": r.Remove(t.Context(), "YubiKey", quiet),
		"check":  r.Check(t.Context(), here(), challenge("x"), a.Assert(challenge("x"))),
	} {
		if !errors.Is(err, fault) || len(r.List()) != 1 || !r.List()[0].Used.IsZero() {
			t.Errorf("%s unkept: %v", what, err)
		}
	}
	if _, err := passkey.Open(t.Context(), m); !errors.Is(err, fault) {
		t.Errorf("unread: %v", err)
	}
	m.fail = nil
	again, err := passkey.Open(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Check(t.Context(), here(), challenge("x"), a.Assert(challenge("x"))); err != nil {
		t.Errorf("after a restart: %v", err)
	}
	if len(again.At("localhost")) != 1 || len(again.At("vaglio.example.org")) != 0 {
		t.Error("it is at another host")
	}
	if err := again.Check(t.Context(), passkey.Site{Host: "vaglio.example.org", Origin: "https://vaglio.example.org"}, challenge("x"), a.Assert(challenge("x"))); !errors.Is(err, passkey.ErrUnknown) {
		t.Errorf("at another host: %v", err)
	}
	if err := again.Remove(t.Context(), "phone", quiet); !errors.Is(err, passkey.ErrNone) {
		t.Errorf("got %v", err)
	}
	if err := again.Remove(t.Context(), "YubiKey", quiet); err != nil || again.Any() || len(m.all) != 0 {
		t.Errorf("got %v", err)
	}
	if err := again.Check(t.Context(), here(), challenge("x"), a.Assert(challenge("x"))); !errors.Is(err, passkey.ErrUnknown) {
		t.Errorf("removed: %v", err)
	}
}

// FuzzCheck checks that whatever is sent as an answer, only what the passkey signed is
// accepted.
func FuzzCheck(f *testing.F) {
	r, err := passkey.Open(f.Context(), nil)
	if err != nil {
		f.Fatal(err)
	}
	a := webtest.NewAuthenticator("localhost", origin)
	if err := r.Add(f.Context(), here(), challenge("add"), a.Create(challenge("add")), "YubiKey", quiet); err != nil {
		f.Fatal(err)
	}
	signed := a.Assert(challenge("other"))
	f.Add(signed)
	f.Add(a.Create(challenge("other")))
	f.Add([]byte(`{"id":"","rawId":"","type":"public-key","response":{}}`))
	f.Add(slices.Concat(signed, signed))
	f.Fuzz(func(t *testing.T, answer []byte) {
		if r.Check(t.Context(), here(), challenge("allow"), answer) == nil {
			t.Errorf("%q was taken", answer)
		}
		if r.Add(t.Context(), here(), challenge("allow"), answer, "other", quiet) == nil {
			t.Errorf("%q was registered", answer)
		}
	})
}
