package reading

import (
	"slices"
	"strings"
	"testing"
)

// TestWordsOfNames parts names where people see words.
func TestWordsOfNames(t *testing.T) {
	for name, want := range map[string]string{
		"snake_case": "snake case", "kebab-case": "kebab case", "dotted.name": "dotted name", "camelCase": "camel case", "PascalCase": "pascal case",
		"aA": "a a", "zZ": "z z", "AzA": "az a", "URLFetch": "urlfetch", "run2Fast": "run2fast", "a0z9": "a0z9", "A__Z": "a z", "": "", "_": "", "x/y:z": "x y z",
	} {
		if got := strings.Join(slices.Collect(words(name)), " "); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
	for w := range words("one_two") { // who has seen enough stops
		if w != "one" {
			t.Error(w)
		}
		break
	}
}

// TestNamesOfPrograms tells what keys and executors name beside words.
func TestNamesOfPrograms(t *testing.T) {
	for key, want := range map[string]string{
		"kubectl_command": "kubectl", "gitCmd": "git", "NPM-ARGS": "npm", "git": "", "command": "", "rm_command": "", "git_line": "",
	} {
		if got := keyProgram(key); got != want {
			t.Errorf("%q names the program %q, want %q", key, got, want)
		}
	}
	for name, want := range map[string]string{
		"run_java_script": "run javascript", "PowerShell": "powershell", "type_script_eval": "typescript eval", "java_x_script": "java x script", "script": "script",
	} {
		if got := strings.Join(nameWords(name), " "); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}
