//go:build unix

package jsonrpc

import (
	"io"
	"os"
	"slices"
	"syscall"

	"golang.org/x/sys/unix"
)

// Awaited is in, read so that whoever waits for it holds up no thread: a pipe or a socket
// that blocks keeps the one that the message just read is to be handled on. Whoever holds
// the other end sees nothing of it. done makes it what it was. Where one of the outputs is
// the same socket, in is left as it is: what that has no room for would be lost.
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

// blocking says of each output whether it is a file that blocks.
func blocking(outputs []io.Writer) (all []bool) {
	for _, o := range outputs {
		is := false
		if f, ok := o.(*os.File); ok {
			if conn, err := f.SyscallConn(); err == nil { // Fd would have it block.
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
