//go:build unix

package realpath

import (
	"errors"
	"syscall"
)

// Readlink asks the kernel once: for a name that is not a link, it returns EINVAL.
func (Here) Readlink(name string) (string, Kind) {
	var buf [maxLength]byte
	n, err := syscall.Readlink(name, buf[:])
	switch {
	case err == nil:
		return string(buf[:n]), Link
	case errors.Is(err, syscall.EINVAL):
		return "", Other
	default:
		return "", Missing
	}
}
