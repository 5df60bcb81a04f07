package reading

import (
	"strings"
	"testing"
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
