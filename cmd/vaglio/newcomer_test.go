package main

import (
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
