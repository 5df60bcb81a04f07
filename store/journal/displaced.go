package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
)

// Displaced reports whether the newest segment is no longer where it was opened.
func (l *Log) Displaced() error {
	l.mu.Lock()
	a := l.newest
	l.mu.Unlock()
	if a == nil {
		return nil
	}
	if err := l.displaced(a); err != nil && !errors.Is(err, os.ErrClosed) {
		return fmt.Errorf("journal: %w", err)
	}
	return nil
}

// displaced reports whether a segment's path no longer leads to its file, because somebody removed the
// folder or put another there, such as a backup. What is written to the open file would be gone with the
// process. A segment that was dropped, or sealed, is where nobody looks for it.
func (l *Log) displaced(a *active) error {
	ours, err := a.file.Stat()
	if err != nil {
		return err
	}
	there, err := os.Stat(a.path)
	if err == nil && os.SameFile(ours, there) || l.over(a) {
		return nil
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s was removed while it was in use", a.path)
	case err != nil:
		return err
	default:
		return fmt.Errorf("another folder was put in the place of %s while it was in use: stop vaglio before you put a backup back", l.dir)
	}
}

// over reports whether a segment takes no more entries and may have been unlinked.
func (l *Log) over(a *active) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return a != l.newest && !slices.Contains(l.full, a)
}
