//go:build race

package main

// buildFlags make the tests' daemon look for data races when the tests do.
var buildFlags = []string{"-race"}
