// Package seals detects changes of files.
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

// Watch watches the files that put the gate in front of agents. It is safe for concurrent use.
type Watch struct {
	mu    sync.Mutex
	seals []seal
}

// lookEvery is how often Run checks the files.
const lookEvery = 30 * time.Second

// mostRead is how long a file, in bytes, is read for its content. Settings are short and are often
// written again as they were; a program is long, and one that was installed anew has changed.
const mostRead = 1 << 20

// File is a file to watch.
type File struct {
	// Path is absolute. What says what the file is for, such as "it runs the hook".
	Path, What string
}

// New records the metadata of the files. Their contents are read at the first check, so that no
// start has to wait for that.
func New(files []File) *Watch {
	w := new(Watch)
	for _, f := range files {
		s := seal{File: f}
		if s.info, s.err = os.Stat(f.Path); s.err == nil && !s.info.Mode().IsRegular() {
			s.err = fmt.Errorf("%s is not a regular file", f.Path)
		}
		w.seals = append(w.seals, s)
	}
	return w
}

// Changes returns one sentence for each file that has changed.
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

// Run logs each change once, from now until ctx ends.
func (w *Watch) Run(ctx context.Context, log *slog.Logger) error {
	told := map[string]bool{}
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		for _, text := range w.Changes() {
			if !told[text] {
				told[text] = true
				log.WarnContext(ctx, "a file that puts the gate before agents has changed since the start", "change", text)
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// Files returns how many files are watched.
func (w *Watch) Files() int { return len(w.seals) }

// seal is a file as it was.
type seal struct {
	File
	info os.FileInfo
	err  error
	// sum is the digest of its content, if it has been read.
	sum  [sha256.Size]byte
	read bool
}

// contents returns the digest of the file, and the file's metadata before and after reading it.
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

// changed says in one sentence how the file has changed, "" if it has not. If the metadata is
// unchanged, the file is not read again. A file that changed before it was first read counts as
// changed, whatever it contains.
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

// same reads the file and reports whether its content is unchanged. A file that is too long or cannot
// be read, and never was, counts as unchanged as long as its metadata is.
func (s *seal) same(looksSo bool) bool {
	if s.info.Size() > mostRead {
		return looksSo
	}
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

// untouched reports whether a file's metadata is unchanged.
func untouched(now, then os.FileInfo) bool {
	return os.SameFile(now, then) && now.ModTime().Equal(then.ModTime()) && now.Size() == then.Size()
}
