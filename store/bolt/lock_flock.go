//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package bolt

import (
	"errors"
	"os"
	"syscall"
)

// lock takes the same lock that bbolt takes, on the same open file, so bbolt finds that it
// already has it. The kernel releases it when the process ends.
func lock(f *os.File) error { return flock(f, syscall.LOCK_EX) }

// lockShared takes the lock that readers share.
func lockShared(f *os.File) error { return flock(f, syscall.LOCK_SH) }

func flock(f *os.File, how int) error {
	err := syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return errHeld
	}
	return err
}
