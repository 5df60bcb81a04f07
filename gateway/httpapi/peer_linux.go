package httpapi

import (
	"errors"
	"net"

	"golang.org/x/sys/unix"
)

// uidOf asks the kernel which user connected.
func uidOf(c *net.UnixConn) (uid uint32, err error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return 0, err
	}
	var failed error
	err = raw.Control(func(fd uintptr) {
		cred, err := unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
		if failed = err; err == nil {
			uid = cred.Uid
		}
	})
	return uid, errors.Join(err, failed)
}
