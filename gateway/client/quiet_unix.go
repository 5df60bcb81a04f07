//go:build unix

package client

import (
	"errors"
	"net"
	"syscall"
)

// quiet reports whether a connection is still there and the other side has said
// nothing on it.
func quiet(c net.Conn) bool {
	u, ok := c.(*net.UnixConn)
	if !ok {
		return false
	}
	raw, err := u.SyscallConn()
	if err != nil {
		return false
	}
	silent := false
	err = raw.Read(func(fd uintptr) bool {
		_, err := syscall.Read(int(fd), make([]byte, 1)) // The connection does not block.
		silent = errors.Is(err, syscall.EAGAIN)
		return true
	})
	return err == nil && silent
}
