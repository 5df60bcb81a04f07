package peers

import (
	"errors"
	"net"

	"golang.org/x/sys/unix"
)

// of asks the kernel which user connected. Of the process nothing is known here: there
// is no way to look at what is above it.
func of(c *net.UnixConn) (p Peer, err error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return p, err
	}
	var failed error
	err = raw.Control(func(fd uintptr) {
		cred, err := unix.GetsockoptXucred(int(fd), unix.SOL_LOCAL, unix.LOCAL_PEERCRED)
		if failed = err; err == nil {
			p.UID = cred.Uid
		}
	})
	return p, errors.Join(err, failed)
}
