package main

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// gatedCI starts the script for continuous integration in front of a command.
func gatedCI(t *testing.T, h *home, listen string, args ...string) (*exec.Cmd, *buffer) {
	t.Helper()
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("python3 is not found")
	}
	script, err := filepath.Abs("../../deploy/ci/gated.py")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "python3", append([]string{script, "--vaglio", binary}, args...)...)
	cmd.Dir, cmd.Env = h.dir, []string{"HOME=" + h.dir, "PATH=" + os.Getenv("PATH"), "METNOS_LISTEN=" + listen}
	said := &buffer{}
	cmd.Stdout, cmd.Stderr = said, said
	return cmd, said
}

// The script asks the daemon that runs, and runs the command after the click.
func TestGatedCommand(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	s := h.serve()
	if err := os.WriteFile(filepath.Join(h.dir, "git"), []byte("#!/bin/sh\necho \"$@\" >ran.txt\nexit 3\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	p := s.signIn(s.link)
	for _, choice := range []string{"deny", "allow"} {
		cmd, said := gatedCI(t, h, strings.TrimPrefix(s.base, "http://"), "--", "./git", "push", "--force", "origin", choice)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		s.waiting(1)
		p.decide(choice, "")
		_ = cmd.Wait()
		_, err := os.Stat(filepath.Join(h.dir, "ran.txt"))
		want := map[string]int{"deny": 1, "allow": 3}[choice]
		if code := cmd.ProcessState.ExitCode(); code != want || (err == nil) != (choice == "allow") {
			t.Errorf("%s: exit code %d, want %d; ran: %v\n%s", choice, code, want, err == nil, said)
		}
	}
}

// Without a daemon it starts one, and ends it; nobody's answer is no permission.
func TestGatedCommandWithoutAnAnswer(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	h := newHome(t)
	cmd, said := gatedCI(t, h, l.Addr().String(), "--wait", "1", "--", "git", "push", "--force", "origin", "main")
	_ = cmd.Run()
	if code := cmd.ProcessState.ExitCode(); code != 1 || !strings.Contains(said.String(), "nobody has answered") {
		t.Errorf("exit code %d\n%s", code, said)
	}
	if r := h.run("", "pending"); r.code == 0 {
		t.Error("its daemon still runs")
	}
}
