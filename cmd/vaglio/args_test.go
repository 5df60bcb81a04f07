package main

import (
	"bytes"
	"strings"
	"testing"
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
		{"--version", "vaglio ", exitOK},
	} {
		var out bytes.Buffer
		code := run(t.Context(), strings.Fields(tt.args), stdio{in: strings.NewReader(""), out: &out, err: &out})
		if code != tt.code || !strings.Contains(out.String(), tt.want) {
			t.Errorf("vaglio %s: exit code %d, %q; want %d and %q", tt.args, code, out.String(), tt.code, tt.want)
		}
	}
}
