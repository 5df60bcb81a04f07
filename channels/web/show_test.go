package web

import (
	"strings"
	"testing"
	"time"
	"unicode"

	"golang.org/x/net/html"

	"github.com/metnos/vaglio/approval/visible"
	"github.com/metnos/vaglio/templates"
)

// FuzzShow checks that a browser reads from the markup exactly the text that Runs made
// visible, and no element but the marks.
func FuzzShow(f *testing.F) {
	for _, s := range []string{
		"", "rm -rf ./build", "</pre><script>", "\u202ea\u202c", "a\x00\xffb", "⟨U+202E⟩", "&amp;&#60;", strings.Repeat(" ", 99), "a\n\n\n\n\n\nb\r\n\t",
		"pаypal", "a\u0301\u0301",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		n, err := html.Parse(strings.NewReader("<!doctype html><body><div>" + string(show(s))))
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		read(t, n, &b)
		if got, want := b.String(), visible.Text(s); got != want {
			t.Errorf("%q is read as %q, want %q", s, got, want)
		}
		if l := []rune(plain(s)); len(l) > maxLabel+1 {
			t.Errorf("a label of %d characters", len(l))
		}
		for _, c := range plain(s) {
			if unicode.IsControl(c) {
				t.Errorf("a label holds U+%04X", c)
			}
		}
	})
}

// read collects what is written, except the notes.
func read(t *testing.T, n *html.Node, b *strings.Builder) {
	t.Helper()
	for c := range n.ChildNodes() {
		switch {
		case c.Type == html.TextNode:
			b.WriteString(c.Data)
		case c.Type != html.ElementNode || c.Data == "span":
		case c.Data == "html" || c.Data == "head" || c.Data == "body" || c.Data == "div" || c.Data == "mark":
			read(t, c, b)
		default:
			t.Errorf("the markup holds <%s>", c.Data)
		}
	}
}

func TestSize(t *testing.T) {
	set, err := templates.Load(nil)
	if err != nil {
		t.Fatal(err)
	}
	en := set.In(templates.English, time.UTC)
	for text, want := range map[string]string{
		"": "", "a": "", strings.Repeat("x", 81): "1 line, 81 characters", "ü\nb": "2 lines, 3 characters",
		strings.Repeat("x", 1234567): "1 line, 1,234,567 characters", strings.Repeat("\n", 999): "1,000 lines, 999 characters",
	} {
		if got := size(en, text); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestEnds(t *testing.T) {
	text := strings.Repeat("ü", 10_000)
	head, tail := ends(text)
	if !strings.HasPrefix(text, head) || !strings.HasSuffix(text, tail) || len(head) < headShown-4 || len(tail) < tailShown || strings.Contains(head+tail, "\uFFFD") {
		t.Errorf("got %d and %d bytes", len(head), len(tail))
	}
	if head, tail = ends("short"); head != "short" || tail != "" {
		t.Errorf("got %q and %q", head, tail)
	}
}

// BenchmarkShow measures the cost of a card of ordinary length, and of a long one.
func BenchmarkShow(b *testing.B) {
	for name, s := range map[string]string{"command": "rm -rf ./build", "file": strings.Repeat("a line of a file that is written\n", 1000)} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(s)))
			for b.Loop() {
				show(s)
			}
		})
	}
}
