//go:build unix

package hook

import (
	"context"
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// readable waits until f can be read without blocking.
func readable(ctx context.Context, f *os.File) error {
	return poll(ctx, f, unix.POLLIN)
}

// hungUp waits until nobody reads f any more or ctx ends, and reports whether it was the
// former. A client that is killed leaves its hook running, and the hang-up is the only sign.
func hungUp(ctx context.Context, f *os.File) bool {
	return poll(ctx, f, 0) == nil
}

// poll waits for one of the events, an error or a hang-up on f. If ctx ends first, it returns
// an error.
func poll(ctx context.Context, f *os.File, events int16) error {
	fds := []unix.PollFd{{Fd: int32(f.Fd()), Events: events}} //nolint:gosec // A descriptor is a small number.
	// Input that is already there, as is usual for a client's, needs no wake-up pipe.
	if n, err := unix.Poll(fds, 0); err == nil && n > 0 {
		return nil
	}
	wake, waker, err := os.Pipe()
	if err != nil {
		return err
	}
	defer wake.Close()
	stop := context.AfterFunc(ctx, func() { _ = waker.Close() })
	defer func() {
		if stop() {
			_ = waker.Close()
		}
	}()
	fds = append(fds, unix.PollFd{Fd: int32(wake.Fd()), Events: unix.POLLIN}) //nolint:gosec // A descriptor is a small number.
	for {
		_, err := unix.Poll(fds, -1)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return err
		case fds[0].Revents != 0:
			return nil
		case fds[1].Revents != 0:
			return context.Cause(ctx)
		}
	}
}
