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

// The clean mark is a file beside the store's that says how it was left when it was
// closed in order: which file it is, when it was last changed, how long it is, and the
// newest of its two heads. It is gone from the disk before the store is used, and
// whatever does not fit it to the letter is inspected: a file after a crash, one that
// was copied, put back, or written by another program.

// cleanMarkOf is the path of the clean mark that stands beside a store's file.
func cleanMarkOf(path string) string {
	return strings.TrimSuffix(path, filepath.Ext(path)) + ".clean"
}

// cleanForm begins a mark; marks of other forms fit nothing.
const cleanForm = "vaglio clean 1"

// left returns the mark that fits the file as it is now; empty where the system or
// the file does not tell enough.
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

// takeCleanMark removes the mark, and reports whether the file is as it was left when
// it was closed in order.
func takeCleanMark(f *os.File, path string) (clean bool, err error) {
	mark := cleanMarkOf(path)
	said, err := os.ReadFile(mark) //nolint:gosec // Beside the file that the owner names.
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	// One that cannot be read fits nothing; that it goes is what counts.
	clean = err == nil && len(said) > 0 && string(said) == left(f)
	if err := durable.Remove(mark); err != nil {
		return false, fmt.Errorf("store: remove the mark of a clean end: %w; the file and its folder must be writable for the user that runs vaglio", err)
	}
	return clean, nil
}

// leaveCleanMark writes the mark, while the lock is held and after the last write. That
// there is none costs time at the next start, and nothing else.
func (db *DB) leaveCleanMark() {
	if db.broken.Load() != nil || db.file.Sync() != nil {
		return
	}
	if mark := left(db.file); mark != "" {
		_ = durable.Replace(cleanMarkOf(db.path), []byte(mark), fileMode)
	}
}
