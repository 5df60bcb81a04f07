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
sed s/a/b/;d|a|
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
	})
}
