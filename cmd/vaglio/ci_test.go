package main

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/metnos/vaglio/internal/race"
)

// gatedCI runs a command behind the script for continuous integration.
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

// The script asks the running daemon, and runs the command after the click.
func TestGatedCommand(t *testing.T) {
	race.Alone(t)
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

// The agent's token is searched where every agent's is. What cannot be meant is reported.
func TestGatedCommandFindsItsToken(t *testing.T) {
	race.Alone(t)
	t.Parallel()
	h := newHome(t)
	s := h.serve()
	token, err := os.ReadFile(filepath.Join(h.dir, ".local/share/metnos/agent.token"))
	if err != nil {
		t.Fatal(err)
	}
	own := filepath.Join(h.dir, "own.token")
	if err := os.WriteFile(own, token, 0o600); err != nil {
		t.Fatal(err)
	}
	given := "METNOS_AGENT_TOKEN=" + strings.TrimSpace(string(token))
	for _, row := range []struct {
		name string
		env  []string
		want string
	}{
		{"the-data-folder's", nil, ""},
		{"given", []string{given}, ""},
		{"in-a-file", []string{"METNOS_AGENT_TOKEN_FILE=" + own}, ""},
		{"another's", []string{"METNOS_AGENT_TOKEN=" + strings.Repeat("x", 40)}, "token"},
		{"both", []string{given, "METNOS_AGENT_TOKEN_FILE=" + own}, "set one of them"},
		{"empty", []string{"METNOS_AGENT_TOKEN="}, "is set but empty"},
		{"no-such-file", []string{"METNOS_AGENT_TOKEN_FILE=/nowhere/token"}, "/nowhere/token"},
	} {
		t.Run(row.name, func(t *testing.T) {
			cmd, said := gatedCI(t, h, strings.TrimPrefix(s.base, "http://"), "--", "true")
			cmd.Env = append(cmd.Env, row.env...)
			_ = cmd.Run()
			code := cmd.ProcessState.ExitCode()
			if row.want == "" && code != 0 || row.want != "" && (code != 1 || !strings.Contains(said.String(), row.want)) {
				t.Errorf("exit code %d\n%s", code, said)
			}
			if secret := strings.TrimSpace(string(token)); strings.Contains(said.String(), secret) {
				t.Error("the token is told")
			}
		})
	}
}

// Without a daemon, the script starts one, and stops it. No answer is not permission.
func TestGatedCommandWithoutAnAnswer(t *testing.T) {
	race.Alone(t)
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
