// Package durable does what a file needs to survive a power cut besides being
// written: its name is on the disk, and so are the folders above it.
package durable

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// folderMode keeps others out of the folders that are made.
const folderMode = 0o700

// MakeFolder makes the folder and those above it, and sees to it that they
// survive a power cut.
func MakeFolder(dir string) error {
	var made []string
	for d := dir; ; d = filepath.Dir(d) {
		if _, err := os.Stat(d); !errors.Is(err, fs.ErrNotExist) || d == filepath.Dir(d) {
			break
		}
		made = append(made, d)
	}
	if err := os.MkdirAll(dir, folderMode); err != nil {
		return err
	}
	for _, d := range made {
		if err := SyncFolder(filepath.Dir(d)); err != nil {
			return err
		}
	}
	return nil
}

// SyncFolder puts the names in the folder on disk.
func SyncFolder(dir string) error {
	d, err := os.Open(dir) //nolint:gosec // The owner names the folder.
	if err != nil {
		return err
	}
	defer d.Close()
	// Some file systems keep names without being asked, and refuse to be.
	if err := d.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	return nil
}

// NoRoom reports whether an error says that there is no room for what was to be
// written.
func NoRoom(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG)
}
