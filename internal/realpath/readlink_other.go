//go:build !unix

package realpath

import (
	"os"
	"path/filepath"
)

func readlink(name string) (string, kind) {
	if target, err := os.Readlink(name); err == nil {
		return filepath.ToSlash(target), link
	}
	if _, err := os.Lstat(name); err != nil {
		return "", missing
	}
	return "", other
}
