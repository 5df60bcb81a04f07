package unixtext_test

import (
	"regexp"
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
	for _, row := range []struct{ script, line, want string }{
		{`s/a/b/`, "aa", "ba"},
		{`s/a/b/g`, "aa", "bb"},
		{`s|/x|/y|`, "/x", "/y"},
		{`s/\(a\)\(b\)/\2\1&/`, "ab", "baab"},
		{`s/a+/x/`, "a+", "x"},
		{`s,a\,b,x,`, "a,b", "x"},
	} {
		pat, with, flags, rest, ok := unixtext.SedCommand(row.script)
		if !ok || rest != "" {
			t.Fatalf("%s: rest %q, %v", row.script, rest, ok)
		}
		re := regexp.MustCompile(unixtext.Regexp(pat, false, false))
		if got := unixtext.SedReplace(re, row.line, with, flags == "g"); got != row.want {
			t.Errorf("%s on %s: %q", row.script, row.line, got)
		}
	}
	if _, _, _, _, ok := unixtext.SedCommand(`s/a`); ok {
		t.Error("a command without its end is read")
	}
}
