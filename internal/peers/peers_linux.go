package peers

import "golang.org/x/sys/unix"

// ask returns the process that connected, and its user.
func ask(fd int) (Peer, error) {
	cred, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil {
		return Peer{}, err
	}
	return Peer{UID: cred.Uid, PID: int(cred.Pid)}, nil
}
