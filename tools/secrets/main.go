// Command secrets imports the rules for secrets from gitleaks as data, and uses gitleaks itself as
// the oracle for what they should find. It is a module of its own, so that gitleaks's sixty
// dependencies stay out of ours.
//
//	go run . rules   writes the rules that the masker is built with
//	go run . golden  writes samples of every rule with what gitleaks finds
//	go run . judge   reads texts, a JSON string a line, and writes its findings
package main

import (
	"fmt"
	"os"
)

func main() {
	commands := map[string]func() error{"rules": func() error { return writeRules(os.Stdout) }, "golden": writeGolden, "judge": judge}
	if len(os.Args) != 2 || commands[os.Args[1]] == nil {
		fmt.Fprintln(os.Stderr, "usage: secrets rules|golden|judge")
		os.Exit(2)
	}
	if err := commands[os.Args[1]](); err != nil {
		fmt.Fprintln(os.Stderr, "secrets:", err)
		os.Exit(1)
	}
}
