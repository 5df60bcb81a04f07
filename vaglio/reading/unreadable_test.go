package reading

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// TestExcerpts checks that an excerpt shows what a shell acts on but no words, of forty bytes on
// either side.
func TestExcerpts(t *testing.T) {
	long := strings.Repeat("a;", 60)
	for _, tt := range []struct {
		line string
		at   int
		want string
	}{
		{"if secret; then", 3, "if …; then"},
		{"token=x|do done", 0, "…|do done"},
		{"", 0, ""},
		{"fi", 2, "fi"},
		{strings.Repeat("x", 39) + " fi", 0, "… "},
		{strings.Repeat("x", 37) + " fi", 0, "… fi"},
		{strings.Repeat("x", 37) + " fix", 0, "… …"}, // cut off: it may be another word
		{"fi" + strings.Repeat(" ", 40), 41, "…" + strings.Repeat(" ", 40)},
		{"if" + strings.Repeat(" ", 39), 41, "…" + strings.Repeat(" ", 39)},
		{"if" + strings.Repeat(" ", 39), 40, "if" + strings.Repeat(" ", 39)},
		{"xfi" + strings.Repeat(" ", 40), 41, "…" + strings.Repeat(" ", 40)}, // the beginning is cut off
		{long, 60, strings.Repeat("…;", 40)},
	} {
		if got := excerpt(tt.line, tt.at); got != tt.want {
			t.Errorf("%q at %d: %q, want %q", tt.line, tt.at, got, tt.want)
		}
	}
}

// TestPositions finds the line and the column of every byte of a text, and of its end; none
// outside of it.
func TestPositions(t *testing.T) {
	for _, text := range []string{"a", "if é; then\n\n fi\n", "\n"} {
		line, col := 1, 1
		for at := range len(text) + 1 {
			if got := locate("k", text, at, "x"); utf8.ValidString(text[at:]) && (got.Line != line || got.Col != col) {
				t.Errorf("byte %d of %q stands in line %d, column %d, not in %d, %d", at, text, line, col, got.Line, got.Col)
			}
			switch {
			case at == len(text) || !utf8.ValidString(text[:at+1]):
			case text[at] == '\n':
				line, col = line+1, 1
			default:
				col++
			}
		}
		for _, at := range []int{-1, len(text) + 1} {
			if got := locate("k", text, at, "x"); *got != (Unreadable{Key: "k", What: "x"}) {
				t.Errorf("place %d of %q is %v", at, text, got)
			}
		}
	}
}
