package reading

import (
	"slices"
	"strings"
	"testing"
)

// TestWordsOfNames checks that names are split where people see words.
func TestWordsOfNames(t *testing.T) {
	for name, want := range map[string]string{
		"snake_case": "snake case", "kebab-case": "kebab case", "dotted.name": "dotted name", "camelCase": "camel case", "PascalCase": "pascal case",
		"aA": "a a", "zZ": "z z", "AzA": "az a", "URLFetch": "url fetch", "run2Fast": "run2 fast", "listPRs": "list prs", "APIUseX": "api use x", "IFTTTSearchApplets": "ifttt search applets", "getAPIKey": "get api key", "löscheDatei": "lösche datei", "a\xffb": "a b", "a0z9": "a0z9", "A__Z": "a z", "": "", "_": "", "x/y:z": "x y z",
	} {
		if got := strings.Join(slices.Collect(EachWord(name)), " "); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
	for w := range EachWord("one_two") { // the caller may stop early
		if w != "one" {
			t.Error(w)
		}
		break
	}
}

// TestNamesOfPrograms checks which programs keys and executors name beside words.
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
		"run_terminal_command_v2": "run terminal command", "v2": "v2", "deleteFileV2": "delete file", "vacuum_v": "vacuum v", "push_v2_tag": "push v2 tag",
	} {
		if got := strings.Join(nameWords(name), " "); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

// TestInterpreters checks that an interpreter's name is told apart from a command line.
func TestInterpreters(t *testing.T) {
	for text, want := range map[string]bool{
		"bash": true, "/bin/bash": true, "python3": true, `C:\\x\\cmd.exe`: true, "CMD": true, "ls": false, "": false, "bash -c x": false, "ls x/bash": false, "ls;bash": false,
		"ls;/bin/bash": false, "$X/bash": false,
	} {
		if isInterpreter(text) != want {
			t.Errorf("%q names an interpreter: %v", text, !want)
		}
	}
}
