package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/metnos/vaglio/internal/race"
)

func TestTogetherEndsWhenOneFails(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	ended := false
	err := together(t.Context(),
		func(ctx context.Context) error { <-ctx.Done(); ended = true; return errors.New("a consequence") },
		func(context.Context) error { return broken },
		func(context.Context) error { return nil },
	)
	if !errors.Is(err, broken) || !ended {
		t.Errorf("got %v, the others ended: %v; want the first failure, after all ended", err, ended)
	}
}

// TestATrialIsSaidToBeOne checks what the daemon, the doctor and the page say while agents run as
// the daemon's user.
func TestATrialIsSaidToBeOne(t *testing.T) {
	t.Parallel()
	const want = "stops mistakes, not malice"
	h := newHome(t)
	before := h.run("", "doctor")
	s := h.serve()
	beside := h.run("", "doctor")
	s.stop()
	if said := s.out.String(); !strings.Contains(said, want) {
		t.Errorf("the greeting does not say so:\n%s", said)
	}
	for when, r := range map[string]result{"before the start": before, "beside the daemon": beside} {
		if r.code != 0 || !strings.Contains(r.out, "note     boundary") || !strings.Contains(r.out, want) {
			t.Errorf("the doctor %s: %d\n%s%s", when, r.code, r.out, r.err)
		}
	}
	group := strconv.Itoa(os.Getgid())
	if g, err := user.LookupGroupId(group); err == nil {
		group = g.Name
	}
	h.env = append(h.env, "METNOS_AGENT_SOCKET="+filepath.Join(h.dir, "agent.sock"), "METNOS_AGENT_GROUP="+group)
	s = h.serve()
	s.stop()
	if said := s.out.String(); strings.Contains(said, want) {
		t.Errorf("a daemon whose agents are other users' calls itself a trial:\n%s", said)
	}
}

// TestTheDaemonsMemoryIsItsOwn checks how the kernel treats a process that may not be dumped: its
// files in /proc belong to root, and it cannot write a core file.
func TestTheDaemonsMemoryIsItsOwn(t *testing.T) {
	race.Alone(t)
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("reads /proc")
	}
	h := newHome(t)
	s := h.start(func(cmd *exec.Cmd) {
		if os.Geteuid() == 0 { // Root owns its files in /proc anyway.
			if err := os.Chown(h.dir, nobody, nobody); err != nil {
				t.Fatal(err)
			}
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
		}
	})
	proc := fmt.Sprintf("/proc/%d/", s.cmd.Process.Pid)
	info, err := os.Stat(proc + "mem")
	if err != nil {
		t.Fatal(err)
	}
	if stat, ok := info.Sys().(*syscall.Stat_t); !ok || stat.Uid != 0 {
		t.Errorf("%smem belongs to user %+v: other processes of the user can read it", proc, info.Sys())
	}
	limits, err := os.ReadFile(proc + "limits")
	if err != nil {
		t.Fatal(err)
	}
	if !regexp.MustCompile(`(?m)^Max core file size +1 +1 `).Match(limits) {
		t.Errorf("a core file may be written:\n%s", limits)
	}
}

// nobody is a user who owns nothing here.
const nobody = 64002
