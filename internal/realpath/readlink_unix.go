//go:build unix

package realpath

import (
	"errors"
	"syscall"
)

// readlink asks the kernel once: a name that is no link answers EINVAL.
func readlink(name string) (string, kind) {
	var buf [maxLength]byte
	n, err := syscall.Readlink(name, buf[:])
	switch {
	case err == nil:
		return string(buf[:n]), link
	case errors.Is(err, syscall.EINVAL):
		return "", other
	default:
		return "", missing
	}
}
