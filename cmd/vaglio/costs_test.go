package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// figure prints something measured beside what it should be; goal is empty if there is none.
func figure(t *testing.T, what, measured, goal string) {
	t.Helper()
	if goal != "" {
		goal = "; goal " + goal
	}
	t.Logf("%-34s %10s%s", what, measured, goal)
}

// ofJudge prints the processor time that `vaglio judge` takes for n lines.
func (h *home) ofJudge(t *testing.T, n int) {
	t.Helper()
	var lines strings.Builder
	for i := range n {
		fmt.Fprintf(&lines, `{"intent":"read %d","executor":"read_file","args":{"path":"notes/%d.md"}}`+"\n", i, i)
	}
	cmd := h.command(t.Context(), "judge")
	cmd.Stdin = strings.NewReader(lines.String())
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	used := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	figure(t, fmt.Sprintf("vaglio judge, %d lines", n), fmt.Sprintf("%10.1f s of processor time", used.Seconds()), "4 s for 100,000")
}

// ofHook prints what the hook's small program takes for a call that the running daemon approves, and
// beside it what a program that does nothing takes: on some machines a start alone is over the goal.
func (h *home) ofHook(t *testing.T) {
	t.Helper()
	nothing := filepath.Join(h.dir, "nothing.go")
	if err := os.WriteFile(nothing, []byte("package main\n\nfunc main() {}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	h.ofProcess(t, "process that does nothing", "", nothing)
	h.ofProcess(t, "hook process", "3 ms, p99 5 ms", "../vaglio-hook")
}

// ofProcess builds a program and prints what running it as a hook takes.
func (h *home) ofProcess(t *testing.T, name, goal, source string) {
	t.Helper()
	const runs = 200
	program := filepath.Join(h.dir, "program")
	if said, err := exec.CommandContext(t.Context(), "go", "build", "-ldflags=-s -w", "-o", program, source).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	var used time.Duration
	var took []time.Duration
	for range runs {
		cmd := h.command(t.Context(), "hook")
		cmd.Path, cmd.Args = program, []string{program, "claude-code"}
		cmd.Stdin = strings.NewReader(strings.Replace(hookCall, "git push --force origin main", "git status", 1))
		began := time.Now()
		if out, err := cmd.Output(); err != nil || strings.Contains(string(out), "deny") {
			t.Fatalf("%v: %s", err, out)
		}
		took = append(took, time.Since(began))
		used += cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	}
	slices.Sort(took)
	figure(t, name, fmt.Sprintf("%10.1f ms of processor time, p50 %.1f, p99 %.1f ms", float64((used/runs).Microseconds())/1000,
		float64(took[runs/2].Microseconds())/1000, float64(took[runs*99/100].Microseconds())/1000), goal)
}

// ofWaiters parks requests that wait for a person, one on each connection, and prints what each holds
// of the daemon's memory.
func (h *home) ofWaiters(t *testing.T, n int) {
	t.Helper()
	s := h.serve()
	h.atRest(t, s, "without waiters", "")
	const call = `{"turn_id":"t","step":1,"intent":"publish","executor":"shell_exec","args":{"command":"git push --force origin main"},"context":{"cwd":"/srv/app"}}`
	all, files := h.resident(s)
	idle := all - files
	var conns []net.Conn
	defer func() {
		for _, c := range conns {
			_ = c.Close()
		}
	}()
	for range n {
		var c net.Conn
		var err error
		if _, dialed := until(time.Minute, func() bool { // the daemon accepts more slowly than we dial
			c, err = net.Dial("unix", h.data("agent.sock"))
			return !errors.Is(err, syscall.EAGAIN)
		}); !dialed || err != nil {
			t.Fatalf("after %d waiters: %v", len(conns), err)
		}
		conns = append(conns, c)
		if _, err := fmt.Fprintf(c, "POST /v1/proposals?wait=10m HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(call), call); err != nil {
			t.Fatal(err)
		}
	}
	h.atRest(t, s, fmt.Sprintf("with %d waiters", n), "")
	if got := h.waiting(t); got != n {
		t.Errorf("%d of %d wait", got, n)
	}
	all, files = h.resident(s)
	figure(t, fmt.Sprintf("waiter over HTTP/1.1, of %d", n), fmt.Sprintf("%10.1f KiB", float64(all-files-idle)/float64(n)), "16 KiB of 10,000")
}

// waiting returns how many requests wait for people.
func (h *home) waiting(t *testing.T) (n int) {
	t.Helper()
	c := h.agents()
	defer c.CloseIdleConnections()
	res, err := c.Get("http://vaglio/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	all, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(all)) {
		_, _ = fmt.Sscanf(line, "vaglio_waiters %d", &n) // most lines are about something else
	}
	return n
}

// ofBenchmark prints a figure of one of the dispatcher's benchmarks.
func ofBenchmark(t *testing.T, what, name, unit, goal string) {
	t.Helper()
	said, err := exec.CommandContext(t.Context(), "go", "test", "-run=^$", "-bench=^"+name+"$", "../../dispatcher").CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	words := strings.Fields(string(said))
	i := slices.Index(words, unit)
	if i < 1 {
		t.Fatalf("%s prints no %s: %s", name, unit, said)
	}
	figure(t, what, fmt.Sprintf("%10s %s", words[i-1], unit), goal)
}

// ofMemory prints what is resident of a daemon.
func (h *home) ofMemory(t *testing.T, s *served, when, goal string) {
	t.Helper()
	all, ofFiles := h.resident(s)
	figure(t, "resident "+when, fmt.Sprintf("%10d KiB, %d of them of files", all, ofFiles), goal)
}

// atRest waits until a daemon has nothing left to do and has given its memory back, and prints what
// stays.
func (h *home) atRest(t *testing.T, s *served, when, goal string) {
	t.Helper()
	const enough = 25 * time.Second // longer than two of the daemon's looks whether it is idle
	for before := time.Duration(-1); ; {
		now := processorTime(t, s.cmd.Process.Pid)
		if now == before {
			break
		}
		before = now
		until(2*time.Second, func() bool { return false })
	}
	until(enough, func() bool { return false })
	h.ofMemory(t, s, when, goal)
}
