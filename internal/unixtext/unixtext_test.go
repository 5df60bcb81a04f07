package unixtext_test

import (
	"testing"

	"github.com/metnos/vaglio/internal/unixtext"
)

func TestEscapes(t *testing.T) {
	for in, want := range map[string]string{
		`plain`: "plain", `a\tb\n`: "a\tb\n", `\x41\u00e9\101`: "AéA", `\0101`: "A", `\c[`: "\x1b", `\q\\`: `\q\`, `end\`: `end\`, `\xzz`: `\xzz`,
	} {
		if got := unixtext.ANSI(in); got != want {
			t.Errorf("%s: %q", in, got)
		}
	}
}

func TestSubstitutions(t *testing.T) {
	for script, want := range map[string][3]string{
		`s/a/b/`: {"a", "b", ""}, `s/a/b/g`: {"a", "b", "g"}, `s|/x|/y|`: {"/x", "/y", ""}, `s,a\,b,x,`: {"a,b", "x", ""},
		`s/\(a\)\(b\)/\2\1&/`: {`\(a\)\(b\)`, `\2\1&`, ""},
	} {
		pat, with, flags, rest, ok := unixtext.SedCommand(script)
		if got := [3]string{pat, with, flags}; !ok || rest != "" || got != want {
			t.Errorf("%s: %q, rest %q, %v; want %q", script, got, rest, ok, want)
		}
	}
	if _, _, _, _, ok := unixtext.SedCommand(`s/a`); ok {
		t.Error("a command without its end is read")
	}
}
