package unixtext_test

import (
	"strings"
	"testing"

	"github.com/metnos/vaglio/internal/unixtext"
)

func TestBrackets(t *testing.T) {
	for in, want := range map[string]string{
		`[ab]c`: "[ab]", `[!]a]]`: "[!]a]", `[^a-z]`: "[^a-z]", `[[:alpha:]_]x`: "[[:alpha:]_]", `[a[b]`: "[a[b]", `[[.a.][=b=]]`: "[[.a.][=b=]]",
		`[`: "", `[]`: "", `[a`: "", `[a/b]`: "", `[[:alpha]`: "", "[" + strings.Repeat("a", unixtext.MaxBracket) + "]": "",
	} {
		if got := in[:unixtext.Bracket(in)]; got != want {
			t.Errorf("%q begins with the bracket %q, want %q", in, got, want)
		}
	}
}

func TestItems(t *testing.T) {
	for in, want := range map[string]string{
		"a  b\tc": "a|b|c", `'a b' "c'd"`: "a b|c'd", `a\ b \'`: `a b|'`, `x"y z"'w'`: "xy zw", `"" a`: "|a", `"open end`: "open end", `a\`: `a\`, `"a\"b"`: `a\b`, "": "",
	} {
		if got := strings.Join(unixtext.Items(in), "|"); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestUnescape(t *testing.T) {
	for in, want := range map[string]string{`a`: "a", `\$\"\\\` + "`": "$\"\\`", `\a\`: `\a\`, "a\\\nb": "ab"} {
		if got := unixtext.Unescape(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
