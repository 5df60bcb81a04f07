// Package archtest checks the project's structure: which package may import which, which
// external modules each may use, and what only the command may do. The tests parse the source
// files themselves, so that the test cache notices every edit; a test that runs `go list` would
// get stale results.
package archtest
