package jsonrpc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"syscall"
	"time"
)

// endWithin is how long a program may take to exit after its input is closed, and again after
// SIGTERM.
const endWithin = 5 * time.Second

// Run starts a program and lets pass handle its output and input until the program ends its
// side. It returns the program's exit code. When ctx ends, Run sends the program SIGTERM and
// kills it if it does not exit. It also kills the program if pass fails.
func Run(ctx context.Context, args []string, stderr io.Writer, pass func(from io.Reader, to io.WriteCloser) error) (code int, err error) {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...) //nolint:gosec // It is what the owner wrote behind "--".
	cmd.Stderr = stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = endWithin
	to, err := cmd.StdinPipe()
	if err != nil {
		return 0, fmt.Errorf("jsonrpc: open the program's input: %w", err)
	}
	from, err := cmd.StdoutPipe()
	if err != nil {
		return 0, fmt.Errorf("jsonrpc: open the program's output: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return 0, fmt.Errorf("%s could not be started: %w", args[0], err)
	}
	// A process that the program started may keep its output open after it has exited.
	late, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	context.AfterFunc(ctx, func() {
		select {
		case <-time.After(endWithin):
			_ = from.Close()
		case <-late.Done():
		}
	})
	passed := pass(from, to)
	if passed != nil { // The program is still running, and nobody reads its output.
		_ = cmd.Process.Kill()
	}
	err = cmd.Wait()
	if _, exited := errors.AsType[*exec.ExitError](err); exited || errors.Is(err, exec.ErrWaitDelay) {
		err = nil
	}
	return cmd.ProcessState.ExitCode(), errors.Join(passed, err)
}
