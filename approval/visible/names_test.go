package visible

import (
	"testing"
	"unicode"

	"golang.org/x/text/unicode/runenames"
)

// TestNamesAreUnicodes compares the packed names with those of the library, for the same
// version of Unicode as the tables of visible characters.
func TestNamesAreUnicodes(t *testing.T) {
	t.Parallel()
	for c := rune(-1); c <= unicode.MaxRune+1; c++ {
		if got, want := nameOf(c), runenames.Name(c); got != want {
			t.Fatalf("U+%04X is named %q, want %q: run go generate ./approval/visible", c, got, want)
		}
	}
}

// BenchmarkReadNames measures the cost of the first note.
func BenchmarkReadNames(b *testing.B) {
	for b.Loop() {
		readNames(packedNames)
	}
}
