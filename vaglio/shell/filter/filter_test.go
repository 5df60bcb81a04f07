package filter_test

import (
	"strings"
	"testing"

	"github.com/metnos/vaglio/vaglio/shell/filter"
)

// TestApply compares what is said of a program's output with what the program
// prints; "?" is for what is not followed.
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
cut -d: -f2|a:b:c\nd|b\nd\n
cut -sd: -f2-|a:b:c\nd|b:c\n
cut -c2-3|abcd|bc\n
cut -b 1 --complement|abc|bc\n
cut -z -f1|a|?
head -2|a\nb\nc\n|a\nb\n
head -n -1|a\nb\n|a\n
head -c 2|abc|ab
tail -1|a\nb\n|b\n
tail +2|a\nb\nc|b\nc\n
tail -c 2|abc|bc
tail -f|a|?
paste -sd,|a\nb\n|a,b\n
paste -s|a\nb\n|a\tb\n
sort|b\na\n|a\nb\n
sort -u|b\na\nb\n|a\nb\n
sort -n|2\n|?
uniq|a\na\nb\n|a\nb\n
rev|abc\nde\n|cba\ned\n
tac|a\nb\n|b\na\n
fold -w 80|short\n|short\n
grep b|a\nb\n|b\n
grep -v b|a\nb\n|a\n
grep -o b.|abcbd|bc\nbd\n
grep -wi B|ab\nb\n|b\n
grep -Fx a.|a.\nab\n|a.\n
egrep (a)+|aa\n|aa\n
grep -c a|a|?
sed s/a/b/|aa|ba
sed s/a/b/g;y/b/c/|aa|cc
sed -n 2p|a\nb\n|b\n
sed 1d|a\nb\n|b\n
sed $!d|a\nb\n|b\n
sed 1,2d|a\nb\nc\n|c\n
sed 2,$d|a\nb\nc\n|a\n
sed 1q|a\nb\n|a\n
sed /a\/b/d|a/b\nc\n|c\n
sed -n s/a/b/p|a\nc\n|b\n
sed -E s/(a)(b)/\2\1/|ab|ba
sed -e s/a/b/ -e s/b/c/|a|c
sed -i s/a/b/|a|?
sed N|a|?
base64|a|YQ==\n
base64 -d|YQ=\n=|a
base64 --dec|YQ|a
base32 -d|ME======|a
openssl base64 -d|YQ==|a
openssl enc -d|YQ==|?
xxd -r -p|61 62\n|ab
xxd -r|00000000: 6162 63  abc|abc
xxd -p|ab|6162\n
od -An -tx1|ab| 61 62\n
od -c|a|?
zcat|\x00packed\x00a|a
gzip -d|plain|?
jq -r .a[1].b|{"a":[0,{"b":"c"}]}|c\n
jq .a|{"a":"b"}|"b"\n
jq -rn "YQ=="@base64d||?
jq -r .a@base64d||?
jq -n ["a","b"]||["a","b"]\n
jq map(.)|[]|?
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

// TestFiles looks at which operands name what is read.
func TestFiles(t *testing.T) {
	t.Parallel()
	for call, want := range map[string]string{
		"cat a - b": "a - b", "sed -n 1p f": "f", "sed -e 1p f": "f", "grep -e x f g": "f g", "grep --unknown x f": "f", "head -n 3 f": "f", "head -3 f": "f",
		"tr a b": "", "tee f": "", "dd if=f of=g": "f", "dd of=g": "", "cut -d : -f 1 f": "f", "nl f": "f", "zcat f": "f", "jq -r .a f": "f",
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

// FuzzApply reads hostile calls and texts.
func FuzzApply(f *testing.F) {
	for _, call := range []string{"tr a-\xff b", "sed s", "sed y/a", "cut -f 9-1", "head -c -9", "jq .[", "xxd -r", "tail +", "paste -sd\\", "grep [", "base64 -d", "fold -w"} {
		f.Add(call, "text\x00\xff\n1: 2")
	}
	f.Fuzz(func(_ *testing.T, call, text string) {
		words := strings.Split(call, " ")
		if f := filter.New(words[0], words[1:]); f != nil {
			_, _ = f.Apply(text)
		}
	})
}
