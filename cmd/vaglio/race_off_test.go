//go:build !race

package main

// buildFlags are what the tests' daemon is built with.
var buildFlags []string
