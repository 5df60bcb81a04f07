// Package seals notices when files are no longer what they were.
package seals

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/metnos/vaglio/internal/regular"
)

// Watch looks after the files that put the gate before agents. It is safe for
// concurrent use.
type Watch struct {
	mu    sync.Mutex
	seals []seal
}

// lookEvery is how often the daemon looks after them by itself.
const lookEvery = 30 * time.Second

// File is a file to look after.
type File struct {
	// Path is absolute, What says what the file is for, as a sentence part such
	// as "it runs the hook".
	Path, What string
}

// New remembers the files of a list as they look: what they hold is read when they are
// looked at for the first time, so that nobody's start waits for it.
func New(files []File) *Watch {
	w := new(Watch)
	for _, f := range files {
		s := seal{File: f}
		if s.info, s.err = os.Stat(f.Path); s.err == nil && !s.info.Mode().IsRegular() {
			s.err = fmt.Errorf("%s is no regular file", f.Path)
		}
		w.seals = append(w.seals, s)
	}
	return w
}

// Changes are what is no longer as it was, one sentence each.
func (w *Watch) Changes() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var all []string
	for i := range w.seals {
		if text := w.seals[i].changed(); text != "" {
			all = append(all, text)
		}
	}
	return all
}

// Run tells the log of each change once, from now until ctx ends.
func (w *Watch) Run(ctx context.Context, log *slog.Logger) error {
	told := map[string]bool{}
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		for _, text := range w.Changes() {
			if !told[text] {
				told[text] = true
				log.WarnContext(ctx, "what puts the gate before agents is another than at the start", "change", text)
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// Files is how many files are looked after.
func (w *Watch) Files() int { return len(w.seals) }

// seal is a file as it was.
type seal struct {
	File
	info os.FileInfo
	err  error
	// sum is of what it held, as far as that was read.
	sum  [sha256.Size]byte
	read bool
}

// contents reads what the file holds, and how it looked before and after that.
func (s *seal) contents() (sum [sha256.Size]byte, before, after os.FileInfo, err error) {
	f, err := regular.Open(s.Path)
	if err != nil {
		return sum, nil, nil, err
	}
	defer f.Close()
	h := sha256.New()
	if before, err = f.Stat(); err != nil {
		return sum, nil, nil, err
	}
	if _, err = io.Copy(h, f); err != nil {
		return sum, nil, nil, err
	}
	after, err = f.Stat()
	h.Sum(sum[:0])
	return sum, before, after, err
}

// changed says in one sentence how the file differs from what it was, "" if it
// does not. A file that looks untouched is not read again. One that changed before it
// was read at all counts as another, whatever it holds.
func (s *seal) changed() string {
	info, err := os.Stat(s.Path)
	switch {
	case s.err != nil:
		return ""
	case err != nil:
		return fmt.Sprintf("%s is gone: %s.", s.Path, s.What)
	case untouched(info, s.info) && s.read, s.same(untouched(info, s.info)):
		return ""
	}
	return fmt.Sprintf("%s changed after the daemon started: %s.", s.Path, s.What)
}

// same reads the file, and reports whether it holds what it held. One that cannot be read
// and never was is taken for the same while it looks so.
func (s *seal) same(looksSo bool) bool {
	sum, before, after, err := s.contents()
	switch {
	case err != nil || !untouched(before, after):
		return looksSo && !s.read
	case s.read && sum == s.sum:
		s.info = after
		return true
	case !s.read && untouched(before, s.info):
		s.sum, s.read = sum, true
		return true
	default:
		return false
	}
}

// untouched reports whether a file looks as it did.
func untouched(now, then os.FileInfo) bool {
	return os.SameFile(now, then) && now.ModTime().Equal(then.ModTime()) && now.Size() == then.Size()
}
