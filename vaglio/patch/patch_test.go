package patch

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/metnos/vaglio/vaglio/shell"
)

// row is one patch of testdata/patches.txt.
type row struct {
	name, text, want string
	o                Options
}

// rows reads testdata/patches.txt: a title, the patch, its options, and what is read of it,
// separated by lines that begin with ====.
func rows(tb testing.TB) []row {
	tb.Helper()
	data, err := os.ReadFile("testdata/patches.txt")
	if err != nil {
		tb.Fatal(err)
	}
	var out []row
	part := ""
	for line := range strings.Lines(string(data)) {
		head, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "==== ")
		switch {
		case ok && head == "want":
			part = head
		case ok && strings.HasPrefix(head, "options "):
			r := &out[len(out)-1]
			for f := range strings.FieldsSeq(head[len("options "):]) {
				r.option(tb, f)
			}
		case ok:
			part = ""
			out = append(out, row{name: head, o: Options{Strip: StripGit}})
		case part == "want":
			out[len(out)-1].want += line
		default:
			out[len(out)-1].text += line
		}
	}
	return out
}

func (r *row) option(tb testing.TB, f string) {
	tb.Helper()
	key, value, _ := strings.Cut(f, "=")
	switch {
	case f == "R":
		r.o.Reverse = true
	case f == "crlf":
		r.text = strings.ReplaceAll(r.text, "\n", "\r\n")
	case f == "p=base":
		r.o.Strip = StripBase
	case key == "p":
		n, err := strconv.Atoi(value)
		if err != nil {
			tb.Fatal(err)
		}
		r.o.Strip = n
	case key == "file":
		r.o.File = value
	default:
		tb.Fatalf("option %q", f)
	}
}

func printed(list []Change, err error) string {
	var b strings.Builder
	for _, c := range list {
		line := fmt.Sprintf("%d %v %s", c.Line, c.Verb, c.Path)
		if c.Verb == shell.VerbMove || c.Verb == shell.VerbCopy || c.Verb == shell.VerbLink {
			line += " > " + c.To
		}
		if c.Mode != 0 {
			line += fmt.Sprintf(" %o", c.Mode)
		}
		if n := strings.Count(c.Added, "\n"); n > 0 {
			line += fmt.Sprintf(" +%d", n)
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	if e := (*Error)(nil); errors.As(err, &e) {
		fmt.Fprintf(&b, "error %d %s\n", e.Line, e.Why)
	}
	return b.String()
}

func TestParse(t *testing.T) {
	t.Parallel()
	for _, r := range rows(t) {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			if got := printed(Parse(r.text, r.o)); got != r.want {
				t.Errorf("Parse read\n%s\nwant\n%s", got, r.want)
			}
		})
	}
}

func TestLooks(t *testing.T) {
	t.Parallel()
	for _, r := range rows(t) {
		if r.name == "error: hunk of no file" || strings.HasPrefix(r.name, "error: no patch") {
			if Looks(r.text) {
				t.Errorf("%s looks like a patch", r.name)
			}
		}
		if !strings.HasPrefix(r.name, "error") && !strings.Contains(r.name, "behind text") && !Looks(r.text) {
			t.Errorf("%s does not look like a patch", r.name)
		}
	}
	for _, text := range []string{"", "# A title\n---\ntext\n", "+++\ntitle = 1\n+++\n", "a *** b", "--- a\n+++ b\n"} {
		if Looks(text) {
			t.Errorf("%q looks like a patch", text)
		}
	}
}

// FuzzParse checks what holds for every text: no panic, no silence, no line number beyond the
// text, no more added than the patch contains, and no change lost because of text before the
// patch.
func FuzzParse(f *testing.F) {
	for _, r := range rows(f) {
		f.Add(r.text, r.o.Strip, r.o.Reverse)
	}
	f.Fuzz(func(t *testing.T, text string, strip int, reverse bool) {
		o := Options{Strip: min(strip, 100), Reverse: reverse}
		list, err := Parse(text, o)
		if len(list) == 0 && err == nil {
			t.Fatal("nothing was read and nothing said")
		}
		lines := strings.Count(text, "\n") + 1
		if e := (*Error)(nil); errors.As(err, &e) && (e.Line < 1 || e.Line > lines) {
			t.Fatalf("line %d of %d", e.Line, lines)
		}
		for _, c := range list {
			if c.Path == "" && c.To == "" {
				t.Fatal("a change of no file")
			}
			if c.Line < 1 || c.Line > lines || len(c.Added) > len(text)+1 {
				t.Fatalf("%+v is not of this text", c)
			}
		}
		if again, _ := Parse("some words\n\n"+text, o); len(again) != len(list) {
			t.Fatalf("%d changes, %d behind a text", len(list), len(again))
		}
	})
}
