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

// TrustError says who besides root and the user who reads could change a file or a
// folder, and how to end that.
type TrustError struct {
	// Path is what they could change: the file, or a folder on the way to it.
	Path string
	// Problem is a sentence part, such as "can be written by others (mode 0666)".
	Problem string
	// Cure is the command that ends it.
	Cure string
}

func (e *TrustError) Error() string { return e.Path + " " + e.Problem + "; run " + e.Cure }

// Who besides the owner may do what with a file.
const (
	// NotWritten is that nobody else writes it.
	NotWritten fs.FileMode = 0o022
	// NotRead is besides that nobody but its group reads it.
	NotRead fs.FileMode = 0o027
)

// mostLinks is how many links lead to a file at most.
const mostLinks = 40

// OpenTrusted opens a regular file to read it that root or the user of this process
// owns and that others may not use as forbidden says. The same holds for each link
// and each folder on the way, which nobody else may write. A [*TrustError] says
// what is not so. Links are followed here, and what they led to is opened without
// following another.
func OpenTrusted(name string, forbidden fs.FileMode) (*os.File, error) {
	path, err := lead(name)
	if err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOCTTY|syscall.O_NOFOLLOW, 0)
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

// ReadTrusted returns what such a file holds, as [Read] does.
func ReadTrusted(name string, limit int64) (data []byte, whole bool, err error) {
	f, err := OpenTrusted(name, NotWritten)
	if err != nil {
		return nil, false, err
	}
	defer f.Close()
	data, err = io.ReadAll(io.LimitReader(f, limit+1))
	return data, int64(len(data)) <= limit, err
}

// CheckFolder says who besides root and the user of this process could change what
// lies in a folder, or put another in its place.
func CheckFolder(name string) error {
	path, err := lead(name)
	if err != nil {
		return err
	}
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	return trusted(path, info, NotWritten)
}

// lead follows every link of a path and returns where it leads. Each folder and
// each link on the way is trusted; the last name is not looked at.
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

// step goes from a folder, which is trusted, to what has a name in it: to is where
// that leads if it is a link.
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

// trustedFolder says who else could put another file in the place of one in a
// folder. In one with the sticky bit nobody can but the file's owner.
func trustedFolder(path string, info fs.FileInfo) error {
	forbidden := NotWritten
	if info.Mode()&fs.ModeSticky != 0 {
		forbidden = 0
	}
	return trusted(path, info, forbidden)
}

// trusted says who else could change what is at a path.
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
