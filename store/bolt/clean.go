package bolt

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/metnos/vaglio/internal/durable"
)

// The clean mark is a file next to the store's file. It says in which state that file was
// left when it was closed in order: which file it is, when it was last changed, how long it
// is, and the newest of its two meta pages. The mark is removed from disk before the store
// is used, and a file that does not match it exactly is inspected: after a crash, or if it
// was copied, restored, or written by another program.

// cleanMarkOf returns the path of the clean mark of a store's file.
func cleanMarkOf(path string) string {
	return strings.TrimSuffix(path, filepath.Ext(path)) + ".clean"
}

// cleanForm is the first line of a mark; marks in other forms match nothing.
const cleanForm = "vaglio clean 1"

// left returns the mark that matches the file as it is now, or "" if the system or the file
// does not give enough information.
func left(f *os.File) string {
	is, known := identity(f)
	info, err := f.Stat()
	if !known || err != nil {
		return ""
	}
	m, page, err := findMeta(f, info.Size())
	if err != nil {
		return ""
	}
	return fmt.Sprintf("%s: file %s, %d bytes, head %+v of %d\n", cleanForm, is, info.Size(), m, page)
}

// takeCleanMark removes the mark, and reports whether the file is as it was when it was
// closed in order.
func takeCleanMark(f *os.File, path string) (clean bool, err error) {
	mark := cleanMarkOf(path)
	said, err := os.ReadFile(mark) //nolint:gosec // Beside the file that the owner names.
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	// An unreadable mark matches nothing; what counts is that it is removed.
	clean = err == nil && len(said) > 0 && string(said) == left(f)
	if err := durable.Remove(mark); err != nil {
		return false, fmt.Errorf("store: remove the mark of a clean end: %w; the file and its folder must be writable for the user that runs vaglio", err)
	}
	return clean, nil
}

// leaveCleanMark writes the mark, with the lock held and after the last write. If it fails,
// the only cost is time at the next start.
func (db *DB) leaveCleanMark() {
	if db.broken.Load() != nil || db.file.Sync() != nil {
		return
	}
	if mark := left(db.file); mark != "" {
		_ = durable.Replace(cleanMarkOf(db.path), []byte(mark), fileMode)
	}
}
