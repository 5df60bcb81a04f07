// Package race tells tests of the race detector, under which a page takes ten times
// as long and memory says nothing of the program's own.
package race

// Alone is why a test of one goroutine is left out where races are looked for.
const Alone = "one goroutine has no races, and is slow to look for them; 'make test' runs it"
