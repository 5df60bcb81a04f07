package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/metnos/vaglio/internal/race"
)

// TestTheDoctorMissesAnAgent checks that a gate that no agent asks is noticed.
func TestTheDoctorMissesAnAgent(t *testing.T) {
	race.Alone(t)
	t.Parallel()
	h := newHome(t)
	const note = "No coding agent of this user has vaglio's hook"
	for _, serving := range []bool{false, true} {
		if serving {
			h.serve()
		}
		if r := h.run("", "doctor"); !strings.Contains(r.out, note) {
			t.Errorf("serving %v: %d %s%s", serving, r.code, r.out, r.err)
		}
	}
	if r := h.run("", "install", "claude-code", "--yes"); r.code != exitOK {
		t.Fatalf("%s%s", r.out, r.err)
	}
	if r := h.run("", "doctor"); strings.Contains(r.out, note) {
		t.Errorf("%d %s%s", r.code, r.out, r.err)
	}
}

// TestAStartThatFailsLeavesNoWarning checks that the first start signs the history that it begins,
// even where it cannot listen.
func TestAStartThatFailsLeavesNoWarning(t *testing.T) {
	race.Alone(t)
	t.Parallel()
	h := newHome(t)
	good := h.env
	h.env = append(h.env, "METNOS_AGENT_SOCKET="+h.dir+"/none/agent.sock")
	if r := h.run("", "serve"); r.code != exitFailed || !strings.Contains(r.err, "/none/agent.sock: no such file or directory; it takes a folder") {
		t.Fatalf("%d %s%s", r.code, r.out, r.err)
	}
	h.env = good
	s := h.serve()
	s.stop()
	if log := s.log.String(); strings.Contains(log, "there is no checkpoint") {
		t.Errorf("%s", log)
	}
}

// TestAWorkspaceThatIsNotThereIsNamed checks that a misspelt folder of the policy can be seen.
func TestAWorkspaceThatIsNotThereIsNamed(t *testing.T) {
	race.Alone(t)
	t.Parallel()
	h := newHome(t)
	there, none := filepath.Join(h.dir, "app"), filepath.Join(h.dir, "ap")
	file := filepath.Join(h.dir, "policy.yaml")
	if err := errors.Join(os.Mkdir(there, 0o700), os.WriteFile(file, []byte("workspaces: ["+there+", "+none+"]\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	want := "workspace  " + there + "\nworkspace  " + none + " (no folder is there)\n"
	if r := h.run("", "policy", "check", file); r.code != exitOK || !strings.Contains(r.out, want) {
		t.Errorf("%d %s%s", r.code, r.out, r.err)
	}
}
