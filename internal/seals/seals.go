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

// New remembers the files of a list as they are.
func New(files []File) *Watch {
	w := new(Watch)
	for _, f := range files {
		w.seals = append(w.seals, sealed(f))
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

// Run tells the log of each change once, until ctx ends.
func (w *Watch) Run(ctx context.Context, log *slog.Logger) error {
	told := map[string]bool{}
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		for _, text := range w.Changes() {
			if !told[text] {
				told[text] = true
				log.WarnContext(ctx, "what puts the gate before agents is another than at the start", "change", text)
			}
		}
	}
}

// Files is how many files are looked after.
func (w *Watch) Files() int { return len(w.seals) }

// seal is a file as it was.
type seal struct {
	File
	info os.FileInfo
	sum  [sha256.Size]byte
	err  error
}

// sealed remembers a file.
func sealed(file File) seal {
	s := seal{File: file}
	f, err := regular.Open(file.Path)
	if err != nil {
		s.err = err
		return s
	}
	defer f.Close()
	sum := sha256.New()
	if s.info, s.err = f.Stat(); s.err == nil {
		_, s.err = io.Copy(sum, f)
	}
	sum.Sum(s.sum[:0])
	return s
}

// changed says in one sentence how the file differs from what it was, "" if it
// does not. A file that looks untouched is not read again.
func (s *seal) changed() string {
	info, err := os.Stat(s.Path)
	switch {
	case s.err != nil:
		return ""
	case err != nil:
		return fmt.Sprintf("%s is gone: %s.", s.Path, s.What)
	case os.SameFile(info, s.info) && info.ModTime().Equal(s.info.ModTime()) && info.Size() == s.info.Size():
		return ""
	}
	if now := sealed(s.File); now.err == nil && now.sum == s.sum {
		s.info = now.info
		return ""
	}
	return fmt.Sprintf("%s changed after the daemon started: %s.", s.Path, s.What)
}
