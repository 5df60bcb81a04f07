package journal

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/metnos/vaglio/internal/durable"
)

// segments are the numbers of a folder's segments, in order.
type segments struct {
	active, sealed []uint64
	// stray are files of a sealing that a crash left behind.
	stray []string
}

func segmentsIn(dir string) (found segments, err error) {
	files, err := os.ReadDir(dir)
	if err != nil {
		return found, err
	}
	for _, f := range files {
		name := f.Name()
		number, err := strconv.ParseUint(strings.TrimSuffix(strings.TrimSuffix(name, activeEnding), sealedEnding), 16, 64)
		switch {
		case strings.HasSuffix(name, sealedEnding+".new"):
			found.stray = append(found.stray, name)
		case err != nil:
		case strings.HasSuffix(name, activeEnding):
			found.active = append(found.active, number)
		case strings.HasSuffix(name, sealedEnding):
			found.sealed = append(found.sealed, number)
		}
	}
	// A segment that exists in both forms was sealed: only its unlinking was cut short.
	found.active = slices.DeleteFunc(found.active, func(n uint64) bool {
		both := slices.Contains(found.sealed, n)
		if both {
			found.stray = append(found.stray, filepath.Base(segmentPath(dir, n, activeEnding)))
		}
		return both
	})
	slices.Sort(found.active)
	slices.Sort(found.sealed)
	return found, nil
}

// tidy unlinks what crashes left behind.
func (s segments) tidy(dir string) error {
	var errs []error
	for _, name := range s.stray {
		errs = append(errs, os.Remove(filepath.Join(dir, name)))
	}
	if len(errs) > 0 {
		errs = append(errs, durable.SyncFolder(dir))
	}
	return errors.Join(errs...)
}

// next returns the number of a new segment.
func (s segments) next() uint64 {
	return max(0, slices.Max(append(slices.Concat(s.active, s.sealed), 0))) + 1
}

// segmentPath returns the path of a segment.
func segmentPath(dir string, number uint64, ending string) string {
	return filepath.Join(dir, fmt.Sprintf("%016x%s", number, ending))
}
