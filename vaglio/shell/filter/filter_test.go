package filter_test

import (
	"strings"
	"testing"

	"github.com/metnos/vaglio/vaglio/shell/filter"
)

// TestApply compares the filters' output with the programs' output; "?" marks what is not
// followed.
func TestApply(t *testing.T) {
	t.Parallel()
	const rows = `
tr a-c x-z|abcd|xyzd
tr -d [:digit:]|a1b2|ab
tr -cd a-z|aB-c|ac
tr -s a|aaba|aba
tr [:upper:] [:lower:]|ABc|abc
tr -c a x|b|?
gtr a b|a|b
rev|abc\nde\n|cba\ned\n
base64|a|YQ==\n
base64 -d|YQ=\n=|a
base64 --dec|YQ|a
base32 -d|ME======|a
openssl base64 -d|YQ==|a
openssl enc -d|YQ==|?
xxd -r -p|61 62\n|ab
xxd -r|00000000: 6162 63  abc|abc
xxd -p|ab|6162\n
sed s/a/b/|a|b
sed -E s/(a)+/x/g|aab\na|xb\nx
sed -e s/a/b/ -e s/b/c/|a|c
sed -n s/a/b/p|a|?
sed s/a/b/;d|a|?
sed s/a/id/e|a|?
cat f|a|a
dd if=f|a|a
`
	unescape := strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\x00`, "\x00")
	for row := range strings.SplitSeq(strings.TrimSpace(rows), "\n") {
		columns := strings.Split(row, "|")
		words := strings.Fields(columns[0])
		got, ok := "", false
		if f := filter.New(words[0], words[1:]); f != nil {
			got, ok = f.Apply(unescape.Replace(columns[1]))
		}
		if want := unescape.Replace(columns[2]); ok != (want != "?") || ok && got != want {
			t.Errorf("%q prints %q, %v; want %q", columns[0], got, ok, want)
		}
	}
}

// TestFiles checks which operands name what a program reads.
func TestFiles(t *testing.T) {
	t.Parallel()
	for call, want := range map[string]string{
		"cat a - b": "a - b", "sed -n 1p f": "f", "sed -e 1p f": "f", "grep -e x f g": "f g", "grep --unknown x f": "f", "head -n 3 f": "f", "head -3 f": "f",
		"tr a b": "", "tee f": "", "dd if=f of=g": "f", "dd of=g": "", "cut -d : -f 1 f": "f", "nl f": "f",
	} {
		words := strings.Fields(call)
		if got := strings.Join(filter.New(words[0], words[1:]).Files, " "); got != want {
			t.Errorf("%q reads %q, want %q", call, got, want)
		}
	}
	if filter.New("make", []string{"all"}) != nil {
		t.Error("make is taken for a filter")
	}
}

// TestReplaced checks what sed's s makes of a text, with what GNU sed prints.
func TestReplaced(t *testing.T) {
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
	} {
		if got, ok := filter.Replaced(row.script, row.extended, row.text, grants); !ok || got != row.want {
			t.Errorf("%s makes %q of %q, %t; want %q", row.script, got, row.text, ok, row.want)
		}
	}
	for _, script := range []string{"d", "s/a/b/e", "s/a/b/w f", "s/a/b/p", "s/a/b/2", `s/\(a\)\1/b/`, `s/a/\U&/`, "s/a", "s", "2s/a/b/", "s/a/b/ }", "y/a/b/", "s/[/b/", "s/a/b/;p"} {
		if got, ok := filter.Replaced(script, false, "aa", grants); ok {
			t.Errorf("%s is followed: %q", script, got)
		}
	}
}

func grants(int) bool { return true }

// TestReplacedIsBounded checks that no script makes more of a text than is read, or costs more than
// it is granted.
func TestReplacedIsBounded(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("a", 1<<12)
	for name, script := range map[string]string{
		"doubled again and again": strings.Repeat("s/a/aa/g;", 40), "a long replacement": "s/a/" + strings.Repeat("b", 1<<10) + "/g",
		"the match many times": "s/.*/" + strings.Repeat("&", 1<<10) + "/", "a long pattern": "s/" + strings.Repeat("a", 1<<11) + "/b/",
	} {
		if got, ok := filter.Replaced(script, false, text, grants); ok {
			t.Errorf("%s: %d bytes", name, len(got))
		}
	}
	left := 1 << 16
	spent := func(n int) bool { left -= n; return left >= 0 }
	if _, ok := filter.Replaced(strings.Repeat("s/a/b/g;s/b/a/g;", 1000), false, text, spent); ok || left >= 0 {
		t.Errorf("two thousand commands are followed, %d steps are left", left)
	}
}

// FuzzApply checks that hostile calls and texts cause no failure.
func FuzzApply(f *testing.F) {
	for _, call := range []string{"s/[[:a/\\1/g", "tr a-\xff b", "tr [: a", "xxd -r", "base64 -d", "base32 -d", "rev", "cat"} {
		f.Add(call, "text\x00\xff\n1: 2")
	}
	f.Fuzz(func(_ *testing.T, call, text string) {
		words := strings.Split(call, " ")
		if f := filter.New(words[0], words[1:]); f != nil {
			_, _ = f.Apply(text)
		}
		_, _ = filter.Replaced(call, len(text)%2 == 0, text, grants)
	})
}
