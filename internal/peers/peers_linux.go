package peers

import (
	"errors"
	"net"

	"golang.org/x/sys/unix"
)

// of asks the kernel which process of which user connected.
func of(c *net.UnixConn) (p Peer, err error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return p, err
	}
	var failed error
	err = raw.Control(func(fd uintptr) {
		cred, err := unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
		if failed = err; err == nil {
			p = Peer{UID: cred.Uid, PID: int(cred.Pid)}
		}
	})
	return p, errors.Join(err, failed)
}
