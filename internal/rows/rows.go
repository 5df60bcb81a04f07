// Package rows reads the tables that are built in, which are texts of lines.
package rows

import (
	"iter"
	"strings"
)

// Of gives the lines of a table as they stand, by their numbers from 1, without those
// that are empty or begin with a #.
func Of(text string) iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		n := 0
		for line := range strings.Lines(text) {
			n++
			if s := strings.TrimSpace(line); s != "" && s[0] != '#' && !yield(n, line) {
				return
			}
		}
	}
}
