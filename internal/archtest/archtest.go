// Package archtest holds the project's shape: which package may import which,
// which outside modules each may use, and what only the command may do. The
// test beside it reads the source files itself, so that the test cache sees
// every edit; a test that asks `go list` is served stale answers.
package archtest
