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

// endWithin is how long a program may take to end when its input is closed, and again
// when it is told to.
const endWithin = 5 * time.Second

// Run starts a program, has pass handle what it writes and reads until it ends its
// side, and returns its exit code. When ctx ends, the program is told to end, at last
// by force. A failure of pass ends it, too.
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
	// What the server itself started may hold its output open beyond its own end.
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
	if passed != nil { // It is still there, and nobody reads it.
		_ = cmd.Process.Kill()
	}
	err = cmd.Wait()
	if _, exited := errors.AsType[*exec.ExitError](err); exited || errors.Is(err, exec.ErrWaitDelay) {
		err = nil
	}
	return cmd.ProcessState.ExitCode(), errors.Join(passed, err)
}
