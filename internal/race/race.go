// Package race tells tests whether the race detector is on. Under it, a page takes ten times as
// long, and memory figures say nothing about the program itself.
package race

import "testing"

// Alone skips a test without concurrency when the race detector is on: a function's result, or a
// daemon that is asked one thing after another.
func Alone(tb testing.TB) {
	tb.Helper()
	if Detector {
		tb.Skip("one thing after the other has no races, and is slow to look for them; 'make test' runs it")
	}
}
