//go:build !unix

package realpath

import (
	"os"
	"path/filepath"
)

// Readlink asks the system.
func (Here) Readlink(name string) (string, Kind) {
	if target, err := os.Readlink(name); err == nil {
		return filepath.ToSlash(target), Link
	}
	if _, err := os.Lstat(name); err != nil {
		return "", Missing
	}
	return "", Other
}
