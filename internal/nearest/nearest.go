// Package nearest finds the name that was probably meant when another was written.
package nearest

import (
	"slices"
	"strings"
)

// Slip returns the name that is at most two edits away from what was written, "" if there is none.
func Slip(written string, names []string) string {
	best, least := "", 3
	for _, name := range names {
		if d := distance(strings.ToLower(written), strings.ToLower(name)); d < least && d < max(2, len(name)/2) {
			best, least = name, d
		}
	}
	return best
}

// Of returns the name with the fewest edits from what was written, however many. names must not be
// empty.
func Of(written string, names []string) string {
	return slices.MinFunc(names, func(a, b string) int { return distance(written, a) - distance(written, b) })
}

// distance returns how many bytes must be added, removed, changed or swapped with the next one to
// get from a to b.
func distance(a, b string) int {
	two, one, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		two, one, row = one, row, two
		row[0] = i + 1
		for j := range len(b) {
			change := one[j]
			if a[i] != b[j] {
				change++
			}
			row[j+1] = min(change, row[j]+1, one[j+1]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], two[j-1]+1)
			}
		}
	}
	return row[len(b)]
}
