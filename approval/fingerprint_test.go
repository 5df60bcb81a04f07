package approval_test

import (
	"bytes"
	"encoding/json" //nolint:depguard // The test asks every encoder whether it prints the secret.
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/internal/strictjson"
	"github.com/metnos/vaglio/vaglio"
)

func TestFingerprintCoversTheCall(t *testing.T) {
	base := func() vaglio.Proposal {
		return vaglio.Proposal{
			Agent: "local", TurnID: "t", Step: 1, Intent: "i", Executor: "fs_write",
			Args: vaglio.Args{
				"path": "a", "n": strictjson.Number("1"), "big": strictjson.Number("9007199254740992"),
				"deep": map[string]any{"list": []any{"x", nil, true}},
			},
			Context: vaglio.Context{Cwd: "/w", Mounts: []string{"/w", "/r"}},
		}
	}
	of := func(t *testing.T, s approval.Secret, change func(*vaglio.Proposal)) approval.Fingerprint {
		t.Helper()
		p := base()
		change(&p)
		f, err := s.Fingerprint(p, nil)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	want := of(t, secret, func(*vaglio.Proposal) {})
	if len(want) != 64 {
		t.Errorf("the fingerprint is %q", want)
	}
	for name, change := range map[string]func(*vaglio.Proposal){
		"Turn":        func(p *vaglio.Proposal) { p.TurnID, p.Step, p.Intent = "u", 9, "other words" },
		"Mode":        func(p *vaglio.Proposal) { p.Context.Mode, p.Context.Capability = "m", vaglio.Capabilities{"c"} },
		"NumberForm":  func(p *vaglio.Proposal) { p.Args["n"] = strictjson.Number("1") },
		"FractionOne": func(p *vaglio.Proposal) { p.Args["n"] = strictjson.Number("1.0") },
	} {
		if got := of(t, secret, change); got != want {
			t.Errorf("%s: the same call has another fingerprint", name)
		}
	}
	seen := map[approval.Fingerprint]string{want: "Base"}
	for name, change := range map[string]func(*vaglio.Proposal){
		"Agent":        func(p *vaglio.Proposal) { p.Agent = "other" },
		"Executor":     func(p *vaglio.Proposal) { p.Executor = "fs_read" },
		"Value":        func(p *vaglio.Proposal) { p.Args["path"] = "b" },
		"Space":        func(p *vaglio.Proposal) { p.Args["path"] = "a " },
		"Normal":       func(p *vaglio.Proposal) { p.Args["path"] = "\u00e9" },
		"Decomposed":   func(p *vaglio.Proposal) { p.Args["path"] = "e\u0301" },
		"Key":          func(p *vaglio.Proposal) { p.Args["Path"] = p.Args["path"]; delete(p.Args, "path") },
		"MoreArgs":     func(p *vaglio.Proposal) { p.Args["x"] = nil },
		"Text":         func(p *vaglio.Proposal) { p.Args["n"] = "1" },
		"LastDigit":    func(p *vaglio.Proposal) { p.Args["big"] = strictjson.Number("9007199254740993") },
		"Deep":         func(p *vaglio.Proposal) { p.Args["deep"] = map[string]any{"list": []any{"x", nil, false}} },
		"ListOrder":    func(p *vaglio.Proposal) { p.Args["deep"] = map[string]any{"list": []any{nil, "x", true}} },
		"NoArgs":       func(p *vaglio.Proposal) { p.Args = nil },
		"Cwd":          func(p *vaglio.Proposal) { p.Context.Cwd = "/w/" },
		"NoCwd":        func(p *vaglio.Proposal) { p.Context.Cwd = "" },
		"Mounts":       func(p *vaglio.Proposal) { p.Context.Mounts = []string{"/w"} },
		"MountsSplit":  func(p *vaglio.Proposal) { p.Context.Mounts = []string{"/w,/r"} },
		"MountsOrder":  func(p *vaglio.Proposal) { p.Context.Mounts = []string{"/r", "/w"} },
		"CwdAndMounts": func(p *vaglio.Proposal) { p.Context.Cwd, p.Context.Mounts = "", []string{"/w", "/w", "/r"} },
	} {
		got := of(t, secret, change)
		if twin, ok := seen[got]; ok {
			t.Errorf("%s and %s have one fingerprint", name, twin)
		}
		seen[got] = name
	}
	if of(t, approval.Secret{8}, func(*vaglio.Proposal) {}) == want {
		t.Error("another instance has the same fingerprint")
	}
	if a, b := of(t, secret, func(p *vaglio.Proposal) { p.Args = nil }), of(t, secret, func(p *vaglio.Proposal) { p.Args = vaglio.Args{} }); a != b {
		t.Error("no arguments and empty arguments differ")
	}
	if a, b := of(t, secret, func(p *vaglio.Proposal) { p.Context.Mounts = nil }), of(t, secret, func(p *vaglio.Proposal) { p.Context.Mounts = []string{} }); a != b {
		t.Error("no mounts and an empty list of mounts differ")
	}
	p := base()
	p.Args["path"] = "\xff"
	if f, err := secret.Fingerprint(p, nil); err == nil || f != "" {
		t.Errorf("a text that is not UTF-8 has the fingerprint %q", f)
	}
}

func TestPermit(t *testing.T) {
	id := approval.ID("abcdefghij234567-1")
	permit := secret.Permit(id)
	if got, err := secret.ParsePermit(permit); err != nil || got != id {
		t.Fatalf("ParsePermit(%q) = %q, %v", permit, got, err)
	}
	if !strings.HasPrefix(permit, string(id)+".") || len(permit) != len(id)+1+32 {
		t.Errorf("the permit is %q", permit)
	}
	other := secret.Permit("abcdefghij234567-2")
	wrong := []string{
		"", ".", string(id), string(id) + ".", permit + "a", permit[:len(permit)-1], strings.ToUpper(permit), " " + permit, permit + "\n",
		"." + permit[len(id)+1:], string(id) + other[len(id):], approval.Secret{8}.Permit(id), secret.Permit(""), permit + "." + permit,
		strings.Replace(permit, "-1.", "-1..", 1), "\xff." + permit,
	}
	for i := range permit {
		flipped := []byte(permit)
		flipped[i] ^= 1
		wrong = append(wrong, string(flipped))
	}
	for _, text := range wrong {
		if got, err := secret.ParsePermit(text); !errors.Is(err, approval.ErrNotFound) || got != "" {
			t.Errorf("ParsePermit(%q) = %q, %v", text, got, err)
		}
	}
}

func TestSecretCannotBePrinted(t *testing.T) {
	s := approval.Secret([]byte("the secret of 32 bytes, in ASCII"))
	var out bytes.Buffer
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%c", "% x", "%08b", "%T %v"} {
		fmt.Fprintf(&out, verb+"\n", s, s)
		fmt.Fprintf(&out, verb+"\n", struct{ S approval.Secret }{s}, &s)
	}
	log := slog.New(slog.NewJSONHandler(&out, nil))
	log.Info("m", "secret", s, "in", struct{ S approval.Secret }{s})
	slog.New(slog.NewTextHandler(&out, nil)).Info("m", "secret", s, "p", &s)
	v1, err1 := json.Marshal(map[string]any{"s": s, "p": &s})
	v2, err2 := strictjson.Marshal(struct{ S approval.Secret }{s})
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	out.Write(v1)
	out.Write(v2)
	text := strings.ToLower(out.String())
	for _, leak := range []string{"the secret of", "746865", "116 104", "74 68 65", "0x74", "1110100"} {
		if strings.Contains(text, leak) {
			t.Errorf("%q is printed in:\n%s", leak, text)
		}
	}
	if !strings.Contains(text, "[secret]") {
		t.Error("nothing says that a secret was left out")
	}
}

// TestPermitsOfBeforeAreVoid checks that a permit from before a rotation is recognized as
// void. A permit from the rotation before that is unknown, as is every permit if nothing
// was rotated.
func TestPermitsOfBeforeAreVoid(t *testing.T) {
	t.Parallel()
	const id = approval.ID("abcdefghijklmnop-1")
	first, second, third := approval.Permits{Secret: approval.Secret{1}}, approval.Permits{Secret: approval.Secret{2}, Former: approval.Secret{1}}, approval.Permits{Secret: approval.Secret{3}, Former: approval.Secret{2}}
	for name, tt := range map[string]struct {
		by         approval.Permits
		text       string
		void, none bool
	}{
		"its own":           {first, first.Of(id), false, false},
		"rotated":           {second, first.Of(id), true, false},
		"new":               {second, second.Of(id), false, false},
		"rotated twice":     {third, first.Of(id), false, true},
		"not rotated":       {first, second.Of(id), false, true},
		"keyed by nothing":  {first, approval.Secret{}.Permit(id), false, true},
		"no permit":         {second, string(id), false, true},
		"of another's name": {second, "x" + first.Of(id), false, true},
	} {
		got, void, err := tt.by.Parse(tt.text)
		if void != tt.void || errors.Is(err, approval.ErrNotFound) != tt.none || !tt.none && got != id {
			t.Errorf("%s: %q, %t, %v", name, got, void, err)
		}
	}
}
