package sandbox

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

const orphanMaker = "make-orphans"

// makeOrphans is a daemon to be killed: it keeps creating sandboxes with copies, and runs in some of
// them a command that ignores signals.
func makeOrphans(args []string) {
	ctx := context.Background()
	root, ws, scratch, programs := args[0], args[1], args[2], args[3]
	host, err := Find(ctx, HostConfig{Scratch: scratch, Programs: []string{programs}})
	if err != nil || host.Layer().Name != LayerBubblewrap {
		fmt.Fprintln(os.Stdout, err, host.Layer())
		os.Exit(1)
	}
	fmt.Fprintln(os.Stdout, "ready")
	for range 3 {
		go func() {
			for i := 0; ; i++ {
				s, err := Open(ctx, Config{
					Host: host, Roots: []string{root}, Mounts: []string{ws}, Hide: isSecret, Scratch: CopyScratch,
					Allow: []string{attackerName, "true"}, Limits: Limits{Time: time.Hour},
				})
				if err != nil {
					fmt.Fprintln(os.Stdout, err)
					os.Exit(1)
				}
				argv := []string{"true"}
				if i%4 == 3 {
					argv = []string{attackerName, "deadline", ws}
				}
				if _, err := s.Run(ctx, RunRequest{Argv: argv}); err != nil {
					fmt.Fprintln(os.Stdout, err)
					os.Exit(1)
				}
				s.Close()
			}
		}()
	}
	select {}
}

// TestKilledDaemonLeavesNobody kills a process with running sandboxes at random moments. All that
// it started must be gone within two seconds, and its copies at the next start; those of a living
// process stay.
func TestKilledDaemonLeavesNobody(t *testing.T) {
	w := newWorld(t)
	programs := filepath.Dir(filepath.Dir(w.suid))
	scratch := filepath.Dir(w.root) + "/killed"
	// A dead process's children become ours.
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		t.Fatal(err)
	}
	defer unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)
	rounds := 60
	if testing.Short() {
		rounds = 20
	}
	slowest := time.Duration(0)
	for range rounds {
		slowest = max(slowest, killOnce(t, w, scratch, programs))
	}
	t.Logf("the last of %d rounds' processes was gone after %s at most", rounds, slowest)

	living := w.config()
	host, err := Find(t.Context(), HostConfig{Scratch: scratch})
	if err != nil {
		t.Fatal(err)
	}
	living.Host, living.Scratch = host, CopyScratch
	s := w.open(t, living)
	if _, err := Find(t.Context(), HostConfig{Scratch: scratch}); err != nil {
		t.Fatal(err)
	}
	left, err := filepath.Glob(scratch + "/*")
	if err != nil || len(left) != 2 || left[0] != s.scratch.dir {
		t.Errorf("after a start, %v is left, not only %s and its lock", left, s.scratch.dir)
	}
}

// killOnce kills one process, and returns how long its children lived.
func killOnce(t *testing.T, w *world, scratch, programs string) time.Duration {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(self, orphanMaker, w.root, w.ws, scratch, programs)
	c.Stderr = os.Stderr
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	line, _ := bufio.NewReader(out).ReadString('\n')
	if line != "ready\n" {
		t.Fatalf("it says %q", line)
	}
	time.Sleep(rand.N(80 * time.Millisecond)) // a random moment, not a wait for something
	_ = c.Process.Kill()
	_ = c.Wait()
	dead := time.Now()
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		for {
			if _, err := unix.Wait4(-1, nil, 0, nil); err == unix.ECHILD {
				return
			}
		}
	}()
	select {
	case <-gone:
	case <-time.After(2 * time.Second):
		for _, pid := range descendants(os.Getpid())[1:] {
			line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
			t.Errorf("process %d is left: %q", pid, strings.ReplaceAll(string(line), "\x00", " "))
			_ = unix.Kill(pid, unix.SIGKILL)
		}
		<-gone
	}
	return time.Since(dead)
}
