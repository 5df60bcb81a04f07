package regular

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// TrustError says who, besides root and the user of this process, could change a file or a folder,
// and how to stop that.
type TrustError struct {
	// Path is what they could change: the file, or a folder on the way to it.
	Path string
	// Problem completes a sentence about the path, such as "can be written by others (mode 0666)".
	Problem string
	// Cure is the command that fixes it.
	Cure string
}

func (e *TrustError) Error() string { return e.Path + " " + e.Problem + "; run " + e.Cure }

// The permission bits that others must not have.
const (
	// NotWritten means that nobody but the owner may write the file.
	NotWritten fs.FileMode = 0o022
	// NotRead means in addition that at most the group may read it.
	NotRead fs.FileMode = 0o027
)

// mostLinks is the maximum number of links on the way to a file.
const mostLinks = 40

// OpenTrusted opens a regular file for reading. Root or the user of this process must own it, and
// others must not have the permissions in forbidden. Each link and each folder on the way must be
// owned likewise, and nobody else may write the folders. A [*TrustError] says what is wrong.
// OpenTrusted follows links itself, and opens the result without following another one.
func OpenTrusted(name string, forbidden fs.FileMode) (*os.File, error) {
	path, err := lead(name)
	if err != nil {
		return nil, asAsked(name, err)
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOCTTY|syscall.O_NOFOLLOW, 0) //nolint:gosec // The operator names the file.
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	switch {
	case err != nil:
	case !info.Mode().IsRegular():
		err = &os.PathError{Op: "open", Path: name, Err: ErrIrregular}
	default:
		err = trusted(path, info, forbidden)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// ReadTrusted returns the content of a file that nobody else can write, as [Read] does.
func ReadTrusted(name string, limit int64) (data []byte, whole bool, err error) {
	f, err := OpenTrusted(name, NotWritten)
	if err != nil {
		return nil, false, err
	}
	defer f.Close()
	data, err = io.ReadAll(io.LimitReader(f, limit+1))
	return data, int64(len(data)) <= limit, err
}

// CheckFolder returns an error if anybody but root and the user of this process could change what is
// in a folder, or replace the folder.
func CheckFolder(name string) error {
	path, err := lead(name)
	if err != nil {
		return asAsked(name, err)
	}
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	return trusted(path, info, NotWritten)
}

// asAsked turns an error about a part of a path into one about the path that was asked for.
func asAsked(name string, err error) error {
	if pe, ok := errors.AsType[*os.PathError](err); ok {
		return &os.PathError{Op: pe.Op, Path: name, Err: pe.Err}
	}
	return err
}

// lead follows every link of a path and returns where it leads. It checks each folder and each link
// on the way, but not the final file.
func lead(name string) (string, error) {
	name, err := filepath.Abs(name)
	if err != nil {
		return "", err
	}
	at, links := "/", 0
	for rest := strings.Split(name, "/"); len(rest) > 0; {
		part := rest[0]
		rest = rest[1:]
		switch part {
		case "", ".":
			continue
		case "..":
			at = filepath.Dir(at)
			continue
		}
		next, to, err := step(at, part)
		if err != nil {
			return "", err
		}
		if to == "" {
			at = next
			continue
		}
		if links++; links > mostLinks {
			return "", &os.PathError{Op: "open", Path: name, Err: syscall.ELOOP}
		}
		if filepath.IsAbs(to) {
			at = "/"
		}
		rest = append(strings.Split(to, "/"), rest...)
	}
	return at, nil
}

// step looks up a name in a folder, after checking the folder. If the name is a link, to is its
// target.
func step(folder, name string) (next, to string, err error) {
	info, err := os.Lstat(folder)
	if err != nil {
		return "", "", err
	}
	if err := trustedFolder(folder, info); err != nil {
		return "", "", err
	}
	next = filepath.Join(folder, name)
	if info, err = os.Lstat(next); err != nil || info.Mode().Type() != fs.ModeSymlink {
		return next, "", err
	}
	if err := trusted(next, info, 0); err != nil {
		return "", "", err
	}
	to, err = os.Readlink(next)
	return next, to, err
}

// trustedFolder returns an error if somebody else could replace a file in a folder. With the sticky
// bit, only a file's owner can.
func trustedFolder(path string, info fs.FileInfo) error {
	forbidden := NotWritten
	if info.Mode()&fs.ModeSticky != 0 {
		forbidden = 0
	}
	return trusted(path, info, forbidden)
}

// trusted returns an error if somebody else could change what is at a path.
func trusted(path string, info fs.FileInfo, forbidden fs.FileMode) error {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return &os.PathError{Op: "stat", Path: path, Err: errors.ErrUnsupported}
	}
	self := os.Geteuid()
	if owner := int64(stat.Uid); owner != 0 && owner != int64(self) {
		return &TrustError{
			path, fmt.Sprintf("belongs to user %d, who is neither root nor the user who reads it (%d)", owner, self),
			fmt.Sprintf("chown %d %s", self, path),
		}
	}
	mode := info.Mode().Perm()
	switch {
	case mode&forbidden == 0:
		return nil
	case forbidden == NotRead:
		return &TrustError{path, fmt.Sprintf("can be read or written by others (mode %04o)", mode), "chmod 600 " + path}
	default:
		return &TrustError{path, fmt.Sprintf("can be written by others (mode %04o)", mode), "chmod go-w " + path}
	}
}
