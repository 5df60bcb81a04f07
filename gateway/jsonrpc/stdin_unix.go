//go:build unix

package jsonrpc

import (
	"io"
	"os"
	"syscall"
)

// Awaited is in, read so that whoever waits for it holds up no thread: a pipe or a socket
// that blocks keeps the one that the message just read is to be handled on. Whoever holds
// the other end sees nothing of it. done makes it what it was.
func Awaited(in io.Reader) (out io.Reader, done func()) {
	f, ok := in.(*os.File)
	if !ok {
		return in, func() {}
	}
	info, err := f.Stat()
	if err != nil || info.Mode()&(os.ModeNamedPipe|os.ModeSocket) == 0 {
		return in, func() {}
	}
	fd, err := syscall.Dup(int(f.Fd()))
	if err != nil || syscall.SetNonblock(fd, true) != nil {
		return in, func() {}
	}
	return os.NewFile(uintptr(fd), f.Name()), func() { _ = syscall.SetNonblock(int(f.Fd()), false) }
}
