//go:build unix

package jsonrpc

import (
	"io"
	"os"
	"slices"
	"syscall"

	"golang.org/x/sys/unix"
)

// Awaited returns in as a reader whose waiting blocks no thread: a blocking read from a pipe or
// a socket would hold the thread on which the message just read should be handled. Whoever has
// the other end notices nothing. done restores the former mode. If one of the outputs is the
// same socket, Awaited returns in unchanged, because a non-blocking output could lose data.
func Awaited(in io.Reader, outputs ...io.Writer) (out io.Reader, done func()) {
	asIs := func() {}
	f, ok := in.(*os.File)
	if !ok {
		return in, asIs
	}
	info, err := f.Stat()
	if err != nil || info.Mode()&(os.ModeNamedPipe|os.ModeSocket) == 0 {
		return in, asIs
	}
	fd, err := syscall.Dup(int(f.Fd()))
	if err != nil {
		return in, asIs
	}
	before := blocking(outputs)
	err = syscall.SetNonblock(fd, true)
	if err != nil || !slices.Equal(blocking(outputs), before) {
		_ = syscall.SetNonblock(fd, false)
		_ = syscall.Close(fd)
		return in, asIs
	}
	return os.NewFile(uintptr(fd), f.Name()), func() { _ = syscall.SetNonblock(int(f.Fd()), false) }
}

// blocking reports for each output whether it is a file in blocking mode.
func blocking(outputs []io.Writer) (all []bool) {
	for _, o := range outputs {
		is := false
		if f, ok := o.(*os.File); ok {
			if conn, err := f.SyscallConn(); err == nil { // Fd would set it to blocking.
				_ = conn.Control(func(fd uintptr) {
					flags, err := unix.FcntlInt(fd, unix.F_GETFL, 0)
					is = err == nil && flags&unix.O_NONBLOCK == 0
				})
			}
		}
		all = append(all, is)
	}
	return all
}
