//go:build unix

package client

import (
	"errors"
	"net"
	"syscall"
)

// quiet reports whether the connection is still open and the other side has sent nothing on it.
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
		_, err := syscall.Read(int(fd), make([]byte, 1)) // The descriptor is in non-blocking mode.
		silent = errors.Is(err, syscall.EAGAIN)
		return true
	})
	return err == nil && silent
}
