package visible

import (
	"testing"
	"unicode"

	"golang.org/x/text/unicode/runenames"
)

// TestNamesAreUnicodes holds the packed names to the library's, of the same
// version of Unicode as the tables that say what is seen.
func TestNamesAreUnicodes(t *testing.T) {
	t.Parallel()
	for c := rune(-1); c <= unicode.MaxRune+1; c++ {
		if got, want := nameOf(c), runenames.Name(c); got != want {
			t.Fatalf("U+%04X is named %q, want %q: run go generate ./approval/visible", c, got, want)
		}
	}
}

// BenchmarkReadNames measures what the first note costs.
func BenchmarkReadNames(b *testing.B) {
	for b.Loop() {
		readNames(packedNames)
	}
}
