package sandbox

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// gateScript is what bubblewrap starts. It reports that it is running, waits for permission to go
// on, and becomes the command through prlimit. If we die meanwhile, its read fails and it exits.
const gateScript = `echo >&4; read -r _ <&3 || exit 125; exec "$@" 3<&- 4>&-`

const (
	// patience bounds how long bubblewrap may take to set up, on a busy machine.
	patience = 30 * time.Second
	// drain bounds how long output is read from pipes that somebody still holds after the end.
	drain = 10 * time.Second
)

// execute runs a program in a folder of the sandbox.
func (s *Sandbox) execute(ctx context.Context, program string, argv []string, dir string) (RunResult, error) {
	type answer struct {
		r   RunResult
		err error
	}
	done := make(chan answer, 1)
	go func() {
		// Bubblewrap dies with the thread that started it, so that thread must outlive
		// it.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		r, err := s.start(ctx, program, argv, dir)
		done <- answer{r, err}
	}()
	a := <-done
	return a.r, a.err
}

// running is a bubblewrap process in progress.
type running struct {
	cmd    *exec.Cmd
	gate   *os.File // opens the gate when written to
	ready  *os.File // where the script reports that it is running
	stdout excerpt
	stderr excerpt
}

// start starts bubblewrap and waits for it to exit.
func (s *Sandbox) start(parent context.Context, program string, argv []string, dir string) (RunResult, error) {
	ctx, end := context.WithCancelCause(parent)
	defer end(nil)
	ctx, cancel := context.WithTimeoutCause(ctx, s.limits.Time, limitError(fmt.Sprintf("it took longer than %s", s.limits.Time)))
	defer cancel()
	began := time.Now()
	run, err := s.spawn(ctx, program, argv, dir)
	if err != nil {
		return RunResult{}, err
	}
	defer run.gate.Close()
	watched := make(chan struct{})
	stop := make(chan struct{})
	go func() {
		defer close(watched)
		s.letGo(ctx, run, end, stop)
	}()
	err = run.cmd.Wait()
	close(stop)
	<-watched
	_ = run.ready.Close()
	r := RunResult{ExitCode: run.cmd.ProcessState.ExitCode(), Stdout: run.stdout.output(), Stderr: run.stderr.output(), Duration: time.Since(began)}
	return r, run.verdict(parent, ctx, &r, err)
}

// limitError is a limit that was reached.
type limitError string

func (e limitError) Error() string { return string(e) }

// setupError is why a sandbox could not be created.
type setupError string

func (e setupError) Error() string { return string(e) }

// verdict determines how a command ended. It records in r that a limit was reached.
func (run *running) verdict(parent, ctx context.Context, r *RunResult, err error) error {
	var limit limitError
	var setup setupError
	var exit *exec.ExitError
	cause := context.Cause(ctx)
	switch {
	case parent.Err() != nil:
		return context.Cause(parent)
	case errors.As(cause, &limit):
		r.ExitCode, r.Ended = -1, string(limit)
		return nil
	case errors.As(cause, &setup):
		return fmt.Errorf("the sandbox could not be made: %w %s", setup, strings.TrimSpace(r.Stderr.Text))
	case err != nil && !errors.As(err, &exit):
		return err
	case r.ExitCode < 0:
		// Bubblewrap itself was killed from outside.
		return errors.New("the sandbox was ended from outside")
	}
	return nil
}

// spawn starts bubblewrap, whose script then waits at the gate.
func (s *Sandbox) spawn(ctx context.Context, program string, argv []string, dir string) (_ *running, err error) {
	gateR, gateW, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer gateR.Close()
	readyR, readyW, err := os.Pipe()
	if err != nil {
		_ = gateW.Close()
		return nil, err
	}
	defer readyW.Close()
	defer func() {
		if err != nil {
			_ = gateW.Close()
			_ = readyR.Close()
		}
	}()
	b, err := s.newBox(gateR, readyW, dir)
	if err != nil {
		return nil, err
	}
	defer b.close()
	words := append(b.args, "/bin/sh", "-c", gateScript, "sh")
	words = append(append(words, s.limits.prlimit(s.host.prlimit)...), program)
	run := &running{
		cmd:    exec.CommandContext(ctx, s.host.bwrap, append(words, argv[1:]...)...), //nolint:gosec // that is its purpose
		gate:   gateW,
		ready:  readyR,
		stdout: excerpt{most: s.limits.Output},
		stderr: excerpt{most: s.limits.Output},
	}
	run.cmd.Env = []string{}
	run.cmd.Dir = "/"
	run.cmd.Stdout, run.cmd.Stderr = &run.stdout, &run.stderr
	run.cmd.ExtraFiles = b.files
	run.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if user := sandboxUser(); user >= 0 {
		run.cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(user), Gid: uint32(user)} //nolint:gosec // a constant
	}
	run.cmd.WaitDelay = drain
	// Descriptors that our own parent left open are not for a sandbox.
	if err := unix.CloseRange(3, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC); err != nil {
		return nil, err
	}
	return run, run.cmd.Start()
}
