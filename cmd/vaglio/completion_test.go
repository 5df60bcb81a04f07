package main

import (
	"strings"
	"testing"
)

// TestIdsAreCompleted makes the request that a shell makes when somebody presses Tab.
func TestIdsAreCompleted(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	if r := h.run("", "__complete", "why", ""); r.code != exitOK || strings.Contains(r.out, "-1\t") {
		t.Errorf("without a daemon: %d %s%s", r.code, r.out, r.err)
	}
	if r := h.run("", "__complete", "texts", ""); !strings.Contains(r.out, "en\n") || !strings.Contains(r.out, "it\n") || !strings.Contains(r.out, "check\t") {
		t.Errorf("of texts: %s", r.out)
	}
	s := h.serve()
	s.agent("POST", "/v1/proposals", forcePush)
	id := string(s.waiting(1)[0].ID)
	if r := h.run("", "__complete", "why", ""); !strings.HasPrefix(r.out, id+"\tgit push --force") {
		t.Errorf("with a call that waits, %s: %s%s", id, r.out, r.err)
	}
	if r := h.run("", "__complete", "why", id, ""); strings.Contains(r.out, id) {
		t.Errorf("a second id is completed: %s", r.out)
	}
}

// TestWithoutADaemonTheCureIsNamed runs the commands that read the history, in an empty home.
func TestWithoutADaemonTheCureIsNamed(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	for _, args := range [][]string{{"log"}, {"log", "verify"}, {"log", "key"}, {"log", "checkpoint"}, {"pending"}, {"why", "abcd"}, {"digest"}} {
		if r := h.run("", args...); r.code != exitFailed || !strings.Contains(r.err, "'vaglio serve'") || strings.Count(r.err, "\n") != 1 {
			t.Errorf("%v: %d %s%s", args, r.code, r.out, r.err)
		}
	}
}
