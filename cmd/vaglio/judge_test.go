package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/metnos/vaglio/internal/race"
)

const (
	approvedLine   = `{"intent":"read the notes","executor":"read_file","args":{"path":"notes.md"}}` + "\n"
	deniedLine     = `{"intent":"x","executor":"read_file","args":{"path":"/etc/shadow"}}` + "\n"
	unreadableLine = `{"executor":` + "\n"
)

func TestJudgeTellsByItsExitCode(t *testing.T) {
	race.Alone(t)
	t.Parallel()
	h := newHome(t)
	policy := filepath.Join(h.dir, "policy.yaml")
	if err := os.WriteFile(policy, []byte("closed: true\nexecutors: [{name: other}]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		stdin string
		args  []string
		code  int
		want  string
	}{
		"NothingToJudge": {"", nil, 0, ""},
		"AllApproved":    {approvedLine + approvedLine, nil, 0, `"approved":true`},
		"SomeDenied":     {approvedLine + deniedLine, nil, 1, `"blocked_by":"guard"`},
		"SomeUnreadable": {deniedLine + unreadableLine + approvedLine, nil, 2, `"line":2`},
		"NotInThePolicy": {approvedLine, []string{"--policy", policy}, 1, `"unknown_executor"`},
		"NoSuchPolicy":   {approvedLine, []string{"--policy", "/nowhere.yaml"}, 3, "/nowhere.yaml: no such file"},
	} {
		t.Run(name, func(t *testing.T) {
			r := h.run(c.stdin, append([]string{"judge"}, c.args...)...)
			if r.code != c.code || !strings.Contains(r.out+r.err, c.want) {
				t.Errorf("exit code %d, want %d and %q; got\n%s%s", r.code, c.code, c.want, r.out, r.err)
			}
			if r.code != exitJudgeUsage && strings.Count(r.out, "\n") != strings.Count(c.stdin, "\n") {
				t.Errorf("%d lines for %d proposals:\n%s", strings.Count(r.out, "\n"), strings.Count(c.stdin, "\n"), r.out)
			}
		})
	}
	if _, err := os.Stat(filepath.Join(h.dir, ".local")); !os.IsNotExist(err) {
		t.Errorf("judging left something behind: %v", err)
	}
}

func TestJudgeKeepsALogWhenAsked(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	if r := h.run(approvedLine+deniedLine, "judge", "--log"); r.code != exitDenied {
		t.Fatalf("exit code %d: %s", r.code, r.err)
	}
	if log := h.auditLog(); strings.Count(log, "\n") != 2 || strings.Contains(log, "notes.md") {
		t.Errorf("the log holds\n%s\nwant two lines without values", log)
	}
}

// auditLog returns the content of the audit log, which must be one month's file.
func (h *home) auditLog() string {
	h.t.Helper()
	files, err := filepath.Glob(h.data("vaglio/????-??.jsonl"))
	if err != nil || len(files) != 1 {
		h.t.Fatalf("the log is in %q, %v; want one file", files, err)
	}
	b, err := os.ReadFile(files[0])
	if err != nil {
		h.t.Fatal(err)
	}
	return string(b)
}

// P8: the built-in judges' log contains no argument's value, and no secret from the user's words.
func TestTheLogIsDiscreet(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	line := `{"intent":"log in with password=hunter2secret and push","executor":"shell_exec",` +
		`"args":{"command":"git push --force https://me:s3cr3tpw@host.example/repo main"},"context":{"capability":"code:exec","cwd":"/srv/app"}}` + "\n"
	if r := h.run(line, "judge", "--log"); r.code != exitDenied || !strings.Contains(r.out, "host.example") {
		t.Fatalf("exit code %d: %s%s", r.code, r.out, r.err)
	}
	log := h.auditLog()
	if !strings.Contains(log, "log in with password=‹masked 13 chars") {
		t.Errorf("the log holds %s; want the intent, masked", log)
	}
	for _, value := range []string{"host.example", "s3cr3tpw", "hunter2secret"} {
		if strings.Contains(log, value) {
			t.Errorf("the log holds %q:\n%s", value, log)
		}
	}
}

func TestJudgeAnswersLineByLine(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := h.command(ctx, "judge")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	answers := bufio.NewReader(out)
	for range 3 {
		if _, err := io.WriteString(in, approvedLine); err != nil {
			t.Fatal(err)
		}
		if line, err := answers.ReadString('\n'); err != nil || !strings.Contains(line, `"approved":true`) {
			t.Fatalf("while the input was open: %q, %v", line, err)
		}
	}
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

// TestJudgeStreamsInConstantMemory compares the memory used for a hundred thousand proposals with
// that for a thousand.
func TestJudgeStreamsInConstantMemory(t *testing.T) {
	calls := 100_000
	if testing.Short() {
		calls = 25_000 // A kilobyte that is kept of each shows.
	}
	if race.Detector {
		t.Skip("the race detector keeps a history, which grows")
	}
	t.Parallel()
	h := newHome(t)
	peak := func(calls int) (kib int64) {
		cmd := h.command(t.Context(), "judge")
		r, w := io.Pipe()
		cmd.Stdin = r
		go func() {
			for i := range calls {
				if _, err := fmt.Fprintf(w, `{"intent":"read %d","executor":"read_file","args":{"path":"notes/%d.md"}}`+"\n", i, i); err != nil {
					return
				}
			}
			_ = w.Close() // the end of the input
		}()
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		n := 0
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			n++
		}
		if err := cmd.Wait(); err != nil || n != calls {
			t.Fatalf("%d answers to %d proposals, %v", n, calls, err)
		}
		return int64(cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss)
	}
	few, many := peak(1_000), peak(calls)
	t.Logf("1,000 proposals: %d KiB, %d: %d KiB", few, calls, many)
	if many > few+16<<10 {
		t.Errorf("1,000 proposals took %d KiB, %d took %d KiB: want no growth", few, calls, many)
	}
}
