// Package rows reads the built-in tables, which are text files of lines.
package rows

import (
	"iter"
	"strings"
)

// Of yields the lines of a table unchanged, with their numbers counted from 1. It leaves out empty
// lines and lines that begin with a #.
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
