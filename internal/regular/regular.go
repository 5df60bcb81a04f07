// Package regular opens only regular files and never blocks, as opening a pipe would until somebody
// writes to it. Files that the gate relies on are opened only if nobody but root and the user who
// runs the process can change them.
package regular

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// ErrIrregular means that a name is that of a folder, a pipe, a device or a socket.
var ErrIrregular = errors.New("is not a regular file")

// Open opens a regular file for reading. Its errors are of type [*os.PathError].
func Open(name string) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0) //nolint:gosec // The operator names the file.
	if err != nil {
		return nil, err
	}
	if err := check(f); err != nil {
		return nil, errors.Join(&os.PathError{Op: "open", Path: name, Err: err}, f.Close())
	}
	return f, nil
}

// Read returns the content of a regular file. If the file has more than limit bytes, it returns the
// first limit+1 of them, and whole is false.
func Read(name string, limit int64) (data []byte, whole bool, err error) {
	f, err := Open(name)
	if err != nil {
		return nil, false, err
	}
	defer f.Close()
	data, err = io.ReadAll(io.LimitReader(f, limit+1))
	return data, int64(len(data)) <= limit, err
}

func check(f *os.File) error {
	info, err := f.Stat()
	switch {
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return ErrIrregular
	default:
		return nil
	}
}

// Folder is a folder as a file system, in which only regular files and folders can be opened, and
// only those that [OpenTrusted] and [CheckFolder] trust.
type Folder string

// Open opens a file or a folder below it.
func (d Folder) Open(name string) (fs.File, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	path := filepath.Join(string(d), filepath.FromSlash(name))
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		return OpenTrusted(path, NotWritten)
	}
	if err := CheckFolder(path); err != nil {
		return nil, err
	}
	return os.Open(path) //nolint:gosec // The operator names the folder.
}
