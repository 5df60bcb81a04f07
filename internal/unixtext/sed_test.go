package unixtext_test

import (
	"strings"
	"testing"

	"github.com/metnos/vaglio/internal/unixtext"
)

// TestSedEdited checks what a sed script makes of a text, with what GNU sed prints.
func TestSedEdited(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		script     string
		extended   bool
		text, want string
	}{
		{`s/a/b/`, false, `banana`, `bbnana`},
		{`s/a/b/g`, false, `banana`, `bbnbnb`},
		{`s/A/b/gI`, false, `banana`, `bbnbnb`},
		{`s#/usr#/opt#`, false, `/usr/bin /usr`, `/opt/bin /usr`},
		{`s/(a)/[\1]/g`, true, `banana`, `b[a]n[a]n[a]`},
		{`s/\(an\)/<\1>/`, false, `banana`, `b<an>ana`},
		{`s/a+/x/`, false, `a+b aa`, `xb aa`},
		{`s/a\+/x/`, false, `caab`, `cxb`},
		{`s/^b/&&/`, false, "b\nab", "bb\nab"},
		{`s/[^[:space:]]*$/end/`, false, `one two`, `one end`},
		{`s/[]]/x/`, false, `a]b`, `axb`},
		{`s/[a\]/x/g`, false, `a\b`, `xxb`},
		{`s/a$/\n/`, false, `ba`, "b\n"},
		{`s/$x/y$1/`, false, `$x`, `y$1`},
		{`s/\<an/X/g`, false, `an ban an`, `X ban X`},
		{`s/a/b/; s/b/c/`, false, `ab`, `cb`},
		{`s/a/\//`, false, `a`, `/`},
		{`s|a\|b|c|g`, false, `a|b`, `c`},
		{`s/.*/$0/`, false, `x`, `$0`},
		{`s/\t/ /g`, false, "a\tb", `a b`},
		{`s/{x}/y/`, false, `{x}`, `y`},
		{`s/a{2}/y/`, true, `aa`, `y`},
		{`s/x*/-/g`, false, `abc`, `-a-b-c-`},
		{`s/a^b/x/`, false, `a^b`, `x`},
		{`s/\(^a\|b$\)/x/g`, false, `ab b`, `xb x`},
		{"2s/a/b/", false, "a\na\na\n", "a\nb\na\n"},
		{"$d", false, "a\nb\n", "a\n"},
		{"/x/d", false, "a\nx\nb\n", "a\nb\n"},
		{"1a two", false, "one\nthree\n", "one\ntwo\nthree\n"},
		{"1i\\\nzero", false, "one\n", "zero\none\n"},
		{"$a\\end", false, "one\n", "one\nend\n"},
		{"/b/c new", false, "a\nb\nc\n", "a\nnew\nc\n"},
		{"2i x\\\ny", false, "a\nb\n", "a\nx\ny\nb\n"},
		{"1d;s/b/c/", false, "b\nb\n", "c\n"},
		{"/a/s/b/c/g;$s/c/d/", false, "ab\nb\nc\n", "ac\nb\nd\n"},
		{"/a\\/b/d", false, "a/b\nc\n", "c\n"},
		{"1a\\  in", false, "x\n", "x\n  in\n"},
		{"1c\\\na\\\nb", false, "x\ny\n", "a\nb\ny\n"},
	} {
		if got, ok := unixtext.SedEdited(row.script, row.extended, row.text, grants); !ok || got != row.want {
			t.Errorf("%s makes %q of %q, %t; want %q", row.script, got, row.text, ok, row.want)
		}
	}
	for _, script := range []string{"s/a/b/e", "s/a/b/w f", "s/a/b/p", "s/a/b/2", `s/\(a\)\1/b/`, `s/a/\U&/`, "s/a", "s", "s/a/b/ }", "2", "/a", "0d", "1,d", "1~2d", "N", "1{d", "dp", "2!d", "1,2d", "1a x\ns/x/y/", "1a x\n1d", "y/a/b/", "s/[/b/", "s/a/b/;p"} {
		if got, ok := unixtext.SedEdited(script, false, "aa", grants); ok {
			t.Errorf("%s is followed: %q", script, got)
		}
	}
}

func grants(int) bool { return true }

// TestSedEditedIsBounded checks that no script makes more of a text than is read, or costs more than
// it is granted.
func TestSedEditedIsBounded(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("a", 1<<12)
	for name, script := range map[string]string{
		"doubled again and again": strings.Repeat("s/a/aa/g;", 40), "a long replacement": "s/a/" + strings.Repeat("b", 1<<10) + "/g",
		"the match many times": "s/.*/" + strings.Repeat("&", 1<<10) + "/", "a long pattern": "s/" + strings.Repeat("a", 1<<11) + "/b/",
	} {
		if got, ok := unixtext.SedEdited(script, false, text, grants); ok {
			t.Errorf("%s: %d bytes", name, len(got))
		}
	}
	lines := strings.Repeat(strings.Repeat("a", 1<<5)+"\n", 1<<13)
	for name, script := range map[string]string{
		"many lines": strings.Repeat("s/a/aaaaaaaa/g;", 4), "a text behind each": strings.Repeat("a\\\n"+strings.Repeat("b", 1<<10)+"\n", 8),
	} {
		if got, ok := unixtext.SedEdited(script, false, lines, grants); ok || len(got) > 0 {
			t.Errorf("%s: %d bytes", name, len(got))
		}
	}
	left := 1 << 16
	spent := func(n int) bool { left -= n; return left >= 0 }
	if _, ok := unixtext.SedEdited(strings.Repeat("s/a/b/g;s/b/a/g;", 1000), false, text, spent); ok || left >= 0 {
		t.Errorf("two thousand commands are followed, %d steps are left", left)
	}
}

// FuzzSedEdited checks that hostile scripts and texts cause no failure.
func FuzzSedEdited(f *testing.F) {
	for _, script := range []string{"s/[[:a/\\1/g", "1a x", "/a/d;$c y", "s"} {
		f.Add(script, "text\x00\xff\n1: 2")
	}
	f.Fuzz(func(_ *testing.T, script, text string) {
		_, _ = unixtext.SedEdited(script, len(text)%2 == 0, text, grants)
	})
}

// TestSedDoes checks what a script does besides to edit.
func TestSedDoes(t *testing.T) {
	t.Parallel()
	for script, want := range map[string]string{
		"e": "e:", "1,3e p x": "e:p x", "/x/e p": "e:p", "2d;e p": "e:p", "s/a/p b/e;e": "s:p b e:", `s/a/\/b/e`: "s:/b", "w o": "w:o",
		"s/a/b/w o": "w:o", "a\\\ne p": "", "i\\\nx\ne p": "e:p", "aX\ne p": "e:p", "y/a/b/": "", "s": "", "w": "", "s/a": "",
	} {
		var got []string
		unixtext.SedDoes(script, func(verb byte, text string) { got = append(got, string(verb)+":"+text) })
		if strings.Join(got, " ") != want {
			t.Errorf("%q does %q, want %q", script, got, want)
		}
	}
}
