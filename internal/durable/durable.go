// Package durable does what a file needs to survive a power cut besides being
// written: it is whole, its name is on the disk, and so are the folders above it.
package durable

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// folderMode keeps others out of the folders that are made.
const folderMode = 0o700

// Unfinished begins the names of files that [Replace] has not moved into their place
// yet. One that a crash left is of no use.
const Unfinished = ".new-"

// Replace writes a file beside the path and moves it there in one step: what reads
// the path finds the old file or the new one, whole, whenever the power fails. Where
// it returns an error, the old one is there. The mode is exactly the one given.
func Replace(path string, data []byte, mode fs.FileMode) error {
	dir, name := filepath.Split(path)
	f, err := os.CreateTemp(filepath.Clean(dir), Unfinished+strings.TrimPrefix(name, ".")+"-*") // mode 0600
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Chmod(mode), f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return SyncFolder(filepath.Dir(path))
}

// Remove removes a file, and sees to it that it does not come back after a power
// cut.
func Remove(path string) error {
	if err := os.Remove(path); err != nil {
		return err
	}
	return SyncFolder(filepath.Dir(path))
}

// MakeFolder makes the folder and those above it, for their owner alone, and sees to
// it that they survive a power cut.
func MakeFolder(dir string) error { return MakeFolderAs(dir, folderMode) }

// MakeFolderAs is MakeFolder with a mode of its own, whatever the process's mask takes.
func MakeFolderAs(dir string, mode fs.FileMode) error {
	made := missing(dir)
	if err := os.MkdirAll(dir, mode); err != nil {
		return err
	}
	var errs []error
	for _, d := range made {
		errs = append(errs, os.Chmod(d, mode), SyncFolder(filepath.Dir(d)))
	}
	return errors.Join(errs...)
}

// missing are the folder and those above it that there are not, the deepest first.
func missing(dir string) []string {
	var all []string
	for d := dir; ; d = filepath.Dir(d) {
		if _, err := os.Stat(d); !errors.Is(err, fs.ErrNotExist) {
			return all
		}
		all = append(all, d)
	}
}

// SyncFolder puts the names in the folder on disk.
func SyncFolder(dir string) error {
	d, err := os.Open(dir) //nolint:gosec // The owner names the folder.
	if err != nil {
		return err
	}
	defer d.Close()
	return unlessRefused(d.Sync())
}

// unlessRefused is an error of asking a file system to keep names on disk. Some keep
// them without being asked, and refuse to be: that is none.
func unlessRefused(err error) error {
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	return err
}

// NoRoom reports whether an error says that there is no room for what was to be
// written.
func NoRoom(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG)
}
