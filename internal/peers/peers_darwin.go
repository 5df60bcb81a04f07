package peers

import "golang.org/x/sys/unix"

// ask returns the user who connected. It does not report the process, because its ancestors cannot
// be determined on this system.
func ask(fd int) (Peer, error) {
	cred, err := unix.GetsockoptXucred(fd, unix.SOL_LOCAL, unix.LOCAL_PEERCRED)
	if err != nil {
		return Peer{}, err
	}
	return Peer{UID: cred.Uid}, nil
}
