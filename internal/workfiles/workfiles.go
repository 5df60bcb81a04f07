// Package workfiles reads files in the folders in which agents work. Such folders are hostile: a
// name may be a link that leads outside, a pipe that nobody writes to, a device, or a file that
// grows while it is read.
package workfiles

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/metnos/vaglio/vaglio"
)

// Disk reads this machine's files. It implements [vaglio.Files].
type Disk struct{}

// Read returns the content of a regular file at an absolute, clean path. The file must be in one of
// the folders, also after resolving links, and have at most limit bytes. Read never waits for a
// writer.
func (Disk) Read(folders []string, name string, limit int) ([]byte, error) {
	for _, folder := range folders {
		rel, err := filepath.Rel(folder, name)
		if err == nil && filepath.IsAbs(folder) && filepath.IsLocal(rel) {
			return readIn(folder, rel, limit)
		}
	}
	return nil, vaglio.ErrAbsent
}

// Look returns what is at an absolute, clean path, and its path with all links resolved.
func (Disk) Look(name string) (string, vaglio.FileKind) {
	if !filepath.IsAbs(name) {
		return name, vaglio.NoFile
	}
	// Most paths asked about are of files that do not exist yet, and have no links to resolve.
	info, err := os.Stat(name)
	if err != nil {
		return name, unseen(err)
	}
	at, err := filepath.EvalSymlinks(name)
	switch {
	case err != nil:
		return name, unseen(err)
	case info.IsDir():
		return at, vaglio.Folder
	case info.Mode().IsRegular():
		return at, vaglio.RegularFile
	default:
		return at, vaglio.OtherFile
	}
}

// unseen returns what lies at a path that the system did not find, or did not let us see.
func unseen(err error) vaglio.FileKind {
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR), errors.Is(err, syscall.ENAMETOOLONG), errors.Is(err, syscall.EINVAL):
		return vaglio.NoFile
	default:
		return vaglio.HiddenFile
	}
}

// List returns the contents of a folder, sorted by name; links are of kind [vaglio.OtherFile]. If
// there are more than most entries, it returns any of them, and whole is false.
func (Disk) List(folder string, most int) (entries []vaglio.Entry, whole bool) {
	if !filepath.IsAbs(folder) || most < 0 {
		return nil, false
	}
	f, err := os.OpenFile(folder, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NONBLOCK, 0) //nolint:gosec // It lists folders, whichever an agent works in.
	if err != nil {
		return nil, false
	}
	defer f.Close()
	found, err := f.ReadDir(most + 1)
	if whole = len(found) <= most && (err == nil || errors.Is(err, io.EOF)); !whole {
		found = found[:min(len(found), most)]
	}
	for _, e := range found {
		kind := vaglio.OtherFile
		switch {
		case e.IsDir():
			kind = vaglio.Folder
		case e.Type().IsRegular():
			kind = vaglio.RegularFile
		}
		entries = append(entries, vaglio.Entry{Name: e.Name(), Kind: kind})
	}
	slices.SortFunc(entries, func(a, b vaglio.Entry) int { return strings.Compare(a.Name, b.Name) })
	return entries, whole
}

func readIn(folder, rel string, limit int) ([]byte, error) {
	if strings.ContainsRune(rel, 0) {
		return nil, vaglio.ErrNoName
	}
	// Most files asked about are absent, which one system call tells of a name that is directly in the folder.
	first, _, _ := strings.Cut(rel, string(filepath.Separator))
	if _, err := os.Lstat(filepath.Join(folder, first)); errors.Is(err, fs.ErrNotExist) {
		return nil, vaglio.ErrAbsent
	}
	root, err := os.OpenRoot(folder)
	switch {
	case errors.Is(err, fs.ErrPermission):
		return nil, vaglio.ErrShut
	case err != nil:
		return nil, vaglio.ErrAbsent // usually a folder of another machine
	}
	defer root.Close()
	f, err := root.OpenFile(rel, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0)
	if err != nil {
		return nil, unopened(err)
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, vaglio.ErrFailed
	case info.IsDir():
		return nil, vaglio.ErrFolder
	case !info.Mode().IsRegular():
		return nil, vaglio.ErrIrregular
	case info.Size() > int64(limit):
		return nil, tooLarge(f)
	}
	data, err := io.ReadAll(io.LimitReader(f, int64(limit)+1))
	switch {
	case err != nil:
		return nil, vaglio.ErrFailed
	case len(data) > limit:
		return nil, vaglio.ErrGrew
	}
	return data, nil
}

// unopened returns why a file in a folder could not be opened.
func unopened(err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR):
		return vaglio.ErrAbsent
	case errors.Is(err, fs.ErrPermission):
		return vaglio.ErrForbidden
	case errors.Is(err, syscall.ELOOP):
		return vaglio.ErrNowhere
	case errors.Is(err, syscall.ENXIO): // a socket
		return vaglio.ErrIrregular
	default:
		return vaglio.ErrOutside
	}
}

// tooLarge returns which error describes a file that is too large: it is often a compiled program.
func tooLarge(f io.Reader) error {
	const most = 64
	if head, err := io.ReadAll(io.LimitReader(f, most)); err == nil && vaglio.Compiled(head) {
		return vaglio.ErrCompiled
	}
	return vaglio.ErrTooLarge
}
