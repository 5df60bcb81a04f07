// Package race tells tests of the race detector, under which a page takes ten times
// as long and memory says nothing of the program's own.
package race

import "testing"

// Alone skips a test in which nothing happens side by side, where races are looked
// for: a function's result, or a daemon that is asked one thing after the other.
func Alone(tb testing.TB) {
	tb.Helper()
	if Detector {
		tb.Skip("one thing after the other has no races, and is slow to look for them; 'make test' runs it")
	}
}
