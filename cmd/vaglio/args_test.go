package main

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
)

// TestASlipIsPointedOut mistypes commands and flags.
func TestASlipIsPointedOut(t *testing.T) {
	t.Setenv("METNOS_DATA_DIR", t.TempDir())
	t.Setenv("HOME", t.TempDir())
	for _, tt := range []struct {
		args, want string
		code       int
	}{
		{"pendng", `unknown command "pendng" for "vaglio"; did you mean "pending"?`, exitUsage},
		{"logg", `did you mean "log"?`, exitUsage},
		{"frobnicate", `unknown command "frobnicate" for "vaglio"` + "\n", exitUsage},
		{"policy chek x", `vaglio policy knows no command "chek"; did you mean "check"?`, exitUsage},
		{"log --agnt coder", `unknown flag: --agnt; did you mean "--agent"?`, exitUsage},
		{"log --colour", "unknown flag: --colour\n", exitUsage},
		{"log", "there is no history yet: no vaglio is serving this data folder; start one with 'vaglio serve'", exitFailed},
		{"stop coder 99h", `vaglio stop takes at most one [agent], and was given "99h", too; a time is given as --for 99h`, exitUsage},
		{"stop coder --for 99x", `--for: "99x" is not a time such as 30s or 5m`, exitUsage},
		{"snooze 7kq2 -5m", "-5m is less than nothing: snooze takes no negative time or number", exitUsage},
		{"stop --for", "--for needs a value: for how long, such as 30m or 8h", exitUsage},
		{"why", "vaglio why needs <id>, as in: vaglio why 7kq2", exitUsage},
		{"ask 7kq2", "vaglio ask needs <question...>, as in: vaglio ask 7kq2 which bucket is that", exitUsage},
		{"install emacs", `"emacs" is not a client with a hook; known: claude-code, `, exitUsage},
		{"install claude", `"claude" is not a client with a hook; did you mean "claude-code"?`, exitUsage},
		{"install gemini-cli", `did you mean "gemini"?`, exitUsage},
		{"hook claudecode", `did you mean "claude-code"?`, exitUsage},
		{"doctor claude", `vaglio doctor knows no command "claude"; did you mean "claude-code"?`, exitUsage},
		{"policyfile", `did you mean "policy"?`, exitUsage},
		{"texts fr", `"fr" is not a language of the texts; known: en, it`, exitUsage},
		{"completion bsh", `vaglio completion knows no command "bsh"; did you mean "bash"?`, exitUsage},
		{"help polcy", `unknown command "polcy" for "vaglio"; did you mean "policy"?`, exitUsage},
		{"help policy chek", `vaglio policy knows no command "chek"; did you mean "check"?`, exitUsage},
		{"help stop coder", `vaglio stop has no command "coder" below it`, exitUsage},
		{"help policy check", "Check a policy file", exitOK},
		{"--version", "vaglio ", exitOK},
	} {
		var out bytes.Buffer
		code := run(t.Context(), strings.Fields(tt.args), stdio{in: strings.NewReader(""), out: &out, err: &out})
		if code != tt.code || !strings.Contains(out.String(), tt.want) {
			t.Errorf("vaglio %s: exit code %d, %q; want %d and %q", tt.args, code, out.String(), tt.code, tt.want)
		}
	}
}

// TestEveryCommandSaysWhatItTakes gives every command too many arguments, none, and empty ones. The
// error must name the command, and not use the wording of the library that parses the command line.
func TestEveryCommandSaysWhatItTakes(t *testing.T) {
	t.Setenv("METNOS_DATA_DIR", t.TempDir())
	t.Setenv("HOME", t.TempDir())
	var try func(c *cobra.Command)
	try = func(c *cobra.Command) {
		for _, sub := range c.Commands() {
			try(sub)
		}
		if c.Args == nil {
			t.Errorf("%s does not say which arguments it takes", c.CommandPath())
			return
		}
		for _, args := range [][]string{{"one", "two", "three", "four"}, {}, {""}, {" ", ""}} {
			err := c.Args(c, args)
			takesAny := strings.HasSuffix(c.Use, "...]") || strings.HasSuffix(c.Use, "...>") || c.Name() == "help"
			if len(args) == 4 && err == nil && !takesAny {
				t.Errorf("%s takes %q", c.CommandPath(), args)
			}
			if strings.Contains(c.Use, "<") && !strings.Contains(c.Use, "--") && len(args) < 4 && err == nil {
				t.Errorf("%s needs an argument, and takes %q", c.CommandPath(), args)
			}
			if c.Name() == "help" {
				continue // It is about the command that it explains.
			}
			if err != nil && (!strings.Contains(err.Error(), c.Name()) && !strings.Contains(err.Error(), "is not a ") || strings.Contains(err.Error(), "arg(s)")) {
				t.Errorf("%s %q: %v", c.CommandPath(), args, err)
			}
		}
	}
	try(newRoot(stdio{}))
}

// TestAnEmptyNameIsNotEverything checks that an empty name, which a script may pass by mistake, is
// not taken for no name: it stops nobody, and lets nobody go on.
func TestAnEmptyNameIsNotEverything(t *testing.T) {
	t.Setenv("METNOS_DATA_DIR", t.TempDir())
	t.Setenv("HOME", t.TempDir())
	for _, verb := range []string{"stop", "go", "grants"} {
		var out bytes.Buffer
		code := run(t.Context(), []string{verb, ""}, stdio{in: strings.NewReader(""), out: &out, err: &out})
		if code != exitUsage || !strings.Contains(out.String(), "vaglio "+verb+" was given an empty [agent]; leave it out, or say which") {
			t.Errorf("vaglio %s '': exit code %d, %q", verb, code, out.String())
		}
	}
}

// TestEveryHelpFitsATerminal checks that the help's own lines are not cut by hand in odd places, and
// that each of our commands says what 2 means, or where that is said.
func TestEveryHelpFitsATerminal(t *testing.T) {
	t.Parallel()
	const most = 92
	var read func(c *cobra.Command)
	read = func(c *cobra.Command) {
		for _, sub := range c.Commands() {
			read(sub)
		}
		for line := range strings.Lines(c.Long) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > most && !strings.HasPrefix(line, "Clients: ") && !strings.HasPrefix(line, " ") {
				t.Errorf("%s: %d columns: %s", c.CommandPath(), n, line)
			}
		}
		if _, codes, told := strings.Cut(c.Long, "Exit codes:"); told && !strings.Contains(codes, "2") {
			t.Errorf("%s does not say what the exit code 2 means", c.CommandPath())
		}
	}
	read(newRoot(stdio{}))
}
