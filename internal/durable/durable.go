// Package durable makes changes to files that survive a power cut: a file is complete, and its
// name and the folders above it are on disk.
package durable

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// folderMode keeps others out of the folders that are created.
const folderMode = 0o700

// Unfinished is the prefix of files that [Replace] has not moved into place yet. One that a crash
// left behind is of no use.
const Unfinished = ".new-"

// Replace writes a new file next to path and renames it to path: whenever the power fails, readers
// find either the old file or the new one, complete. If it returns an error, the old file is still
// there. The mode is exactly the given one.
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

// Remove removes a file so that it does not come back after a power cut.
func Remove(path string) error {
	if err := os.Remove(path); err != nil {
		return err
	}
	return SyncFolder(filepath.Dir(path))
}

// MakeFolder creates the folder and those above it, for their owner alone, so that they survive a
// power cut.
func MakeFolder(dir string) error { return MakeFolderAs(dir, folderMode) }

// MakeFolderAs is MakeFolder with the given mode, regardless of the process's umask.
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

// missing returns those of dir and the folders above it that do not exist, the deepest first.
func missing(dir string) []string {
	var all []string
	for d := dir; ; d = filepath.Dir(d) {
		if _, err := os.Stat(d); !errors.Is(err, fs.ErrNotExist) {
			return all
		}
		all = append(all, d)
	}
}

// SyncFolder syncs the names in the folder to disk.
func SyncFolder(dir string) error {
	d, err := os.Open(dir) //nolint:gosec // The owner names the folder.
	if err != nil {
		return err
	}
	defer d.Close()
	return unlessRefused(d.Sync())
}

// unlessRefused returns err, or nil if the file system does not support syncing folders. Such file
// systems keep names without being asked.
func unlessRefused(err error) error {
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	return err
}

// NoRoom reports whether err means that there was not enough space to write.
func NoRoom(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG)
}
