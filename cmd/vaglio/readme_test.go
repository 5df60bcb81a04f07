package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/metnos/vaglio/internal/race"
)

// blocks returns the README's shell commands.
func blocks(t *testing.T, readme string) []string {
	t.Helper()
	var all []string
	for _, m := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(readme, -1) {
		all = append(all, m[1])
	}
	if len(all) != 6 {
		t.Fatalf("the README has %d blocks of commands; this test knows what 6 of them mean", len(all))
	}
	return all
}

// visitor is a program that does in a real browser what a person would. It belongs to a separate
// module, the only one that can drive a browser.
type visitor struct{ program string }

// browser builds it. Without Chromium on the machine, the test is skipped, except in CI.
func browser(t *testing.T) visitor {
	t.Helper()
	program := filepath.Join(t.TempDir(), "visit")
	build := exec.CommandContext(t.Context(), "go", "build", "-C", filepath.Join("..", "..", "internal", "browser"), "-o", program, "./visit")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", build, err, out)
	}
	const none = 3
	out, err := exec.CommandContext(t.Context(), program, "find").CombinedOutput()
	var ended *exec.ExitError
	if errors.As(err, &ended) && ended.ExitCode() == none && os.Getenv("CI") == "" {
		t.Skipf("%s", out)
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return visitor{program}
}

// do runs the program with a fresh browser.
func (v visitor) do(t *testing.T, args ...string) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, v.program, append([]string{"-home", t.TempDir()}, args...)...)
	// It stops its browser before it exits.
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = patience
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	return nil
}

// toolEnv returns what the Go tool needs if HOME is empty.
func toolEnv(t *testing.T) []string {
	t.Helper()
	var env []string
	for _, name := range []string{"GOCACHE", "GOMODCACHE", "GOPROXY", "GOSUMDB", "GOTOOLCHAIN"} {
		out, err := exec.Command("go", "env", name).Output()
		if err != nil {
			t.Fatal(err)
		}
		env = append(env, name+"="+strings.TrimSpace(string(out)))
	}
	return env
}

// console is a shell in which README commands run.
type console struct {
	out  buffer
	done chan error
}

// openTerminal runs the script with bash, in a folder, with an environment.
func openTerminal(t *testing.T, dir, script string, env []string) *console {
	t.Helper()
	term := &console{done: make(chan error, 1)}
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), "bash", "-eu", "-c", script)
	cmd.Dir, cmd.Env = dir, env
	cmd.Stdout, cmd.Stderr = &term.out, &term.out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { term.done <- cmd.Wait(); close(ended) }()
	t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) // the shell and what it started
		<-ended
	})
	return term
}

// until waits until the output matches the expression.
func (term *console) until(t *testing.T, expression string, limit time.Duration) []string {
	t.Helper()
	re := regexp.MustCompile(expression)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	end := time.After(limit)
	for {
		if m := re.FindStringSubmatch(term.out.String()); m != nil {
			return m
		}
		select {
		case err := <-term.done:
			t.Fatalf("the terminal ended (%v) before it showed %s:\n%s", err, expression, term.out.String())
		case <-end:
			t.Fatalf("the terminal did not show %s:\n%s", expression, term.out.String())
		case <-tick.C:
		}
	}
}

// TestTheReadmeToTheLetter follows the README's instructions for newcomers, in an empty home, with a
// real browser. Only the port differs, because a daemon on this machine may use the usual one.
func TestTheReadmeToTheLetter(t *testing.T) {
	race.Alone(t)
	t.Parallel()
	page := browser(t)
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	sh := blocks(t, string(readme))
	h := newHome(t)
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(root, "bin"), filepath.Join(h.dir, "bin")); err != nil {
		t.Fatal(err)
	}
	env := slices.Concat(toolEnv(t), []string{"HOME=" + h.dir, "PATH=" + os.Getenv("PATH"), "METNOS_LISTEN=127.0.0.1:0"})
	if testing.Short() {
		env = append(env, "STATIC=", "TRIM=") // what the tests are built of is built already
	}

	first := openTerminal(t, root, sh[0], env)
	link := first.until(t, `inbox\s+(http://(\S+)/inbox)\n`, 5*patience)
	// This is not a terminal, and only a terminal is shown a link that signs in.
	link[1] = strings.TrimSpace(h.run("", "inbox").out)
	there := func(script string) string { return strings.ReplaceAll(script, "127.0.0.1:8787", link[2]) }

	second := openTerminal(t, h.dir, there(sh[1]+sh[2]+sh[3]+sh[4]), env)
	if err := page.do(t, "allow", link[1]); err != nil {
		t.Fatalf("in the browser: %v\n%s\n%s", err, first.out.String(), second.out.String())
	}
	if err := <-second.done; err != nil {
		t.Fatalf("the second terminal: %v\n%s", err, second.out.String())
	}
	for _, want := range []string{"a person would be asked", `"decision":"allow"`, "422\n204\n409\n", `"decision":"deny"`, `"final":true`} {
		if !strings.Contains(second.out.String(), want) {
			t.Errorf("the second terminal does not show %q:\n%s", want, second.out.String())
		}
	}
	cmd := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", sh[5])
	cmd.Dir, cmd.Env = h.dir, env
	if out, err := cmd.CombinedOutput(); err != nil || !bytes.Contains(out, []byte(`"PreToolUse"`)) {
		t.Errorf("%s: %v, want a hook in\n%s", sh[5], err, out)
	}
}
