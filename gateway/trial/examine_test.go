package trial

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/metnos/vaglio/gateway/scripted"
)

// The client under trial learns nothing about the running daemon: its hook reaches the trial's own
// daemon, whatever the owner's shell says.
func TestTheClientKnowsTheTrialsDaemonAlone(t *testing.T) {
	t.Parallel()
	program := filepath.Join(t.TempDir(), "client")
	if err := os.WriteFile(program, []byte("#!/bin/sh\nenv\nexit 1\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	r := Recipe{
		Client: "none", Program: "client", Shell: func(string) scripted.Call { return scripted.Call{} },
		args: func(string, string) []string { return nil }, env: func(string) []string { return nil },
	}
	found, err := Examine(t.Context(), r, program, "", []string{
		"KEPT=yes", "METNOS_AGENT_SOCKET=/run/real.sock", "METNOS_AGENT_TOKEN=secret", "METNOS_AGENT_TOKEN_FILE=/real", "METNOS_DATA_DIR=/real",
		"METNOS_LISTEN=127.0.0.1:1",
	})
	if err != nil || len(found) != 1 {
		t.Fatalf("%+v %v", found, err)
	}
	got := map[string]string{}
	for line := range strings.Lines(found[0].Wrong) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), "="); ok {
			got[name] = value
		}
	}
	dir := got["METNOS_DATA_DIR"]
	if got["KEPT"] != "yes" || dir == "" || dir == "/real" || got["METNOS_AGENT_SOCKET"] != filepath.Join(dir, "agent.sock") {
		t.Errorf("the client was told\n%s", found[0].Wrong)
	}
	for name := range got {
		if strings.HasPrefix(name, "METNOS_") && name != "METNOS_DATA_DIR" && name != "METNOS_AGENT_SOCKET" {
			t.Errorf("the client was told %s", name)
		}
	}
}

// The client works in the temporary folder, not where the doctor was called.
func TestTheClientWorksInTheTrialsFolder(t *testing.T) {
	t.Parallel()
	program, err := exec.LookPath("env")
	if err != nil {
		t.Fatal(err)
	}
	r := Recipe{args: func(string, string) []string { return nil }, env: func(string) []string { return nil }}
	dir := t.TempDir()
	seen, err := r.Do(t.Context(), Run{Program: program, Dir: dir, Env: []string{"PWD=/elsewhere"}})
	if err != nil || seen.Output != "PWD="+dir+"\n" {
		t.Errorf("%v: %s", err, seen.Output)
	}
}
