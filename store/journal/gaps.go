package journal

import (
	"cmp"
	"encoding/binary"
	"path/filepath"
	"slices"
	"time"

	"github.com/metnos/vaglio/approval"
)

// gap is a part of a file; to is exclusive. The entries beside it are of the given times.
type gap struct {
	from, to     int64
	since, until time.Time
}

// spoil marks a segment with gaps as damaged.
func (a *active) spoil() {
	if n := len(a.gaps); n > 0 {
		a.spoilt = a.unread(&gap{since: a.gaps[0].since, until: a.gaps[n-1].until})
	}
}

// unread says that a gap cannot be read.
func (a *active) unread(g *gap) *approval.UnreadError {
	e := unreadError(a.path, errDamaged, a.from, a.to)
	if !g.since.IsZero() {
		e.From = g.since
	}
	if !g.until.IsZero() {
		e.To = g.until
	}
	return e
}

// resyncTries limits the work of searching for entries after a damaged one.
const resyncTries = 10_000

// resync returns the number of bytes before the next complete entry, or -1 if there is
// none.
func resync(data []byte) int64 {
	tries := 0
	for at := 1; at+frameHead+entryHead <= len(data) && tries < resyncTries; at++ {
		n := int64(binary.LittleEndian.Uint32(data[at:]))
		if n < entryHead || n > int64(len(data)-at-frameHead) {
			continue
		}
		tries++
		if _, _, err := parseFrame(data[at:]); err == nil {
			return int64(at)
		}
	}
	return -1
}

// unreadError says that a part of the segment in a file, between two times, cannot be read.
func unreadError(path string, err error, from, to time.Time) *approval.UnreadError {
	return &approval.UnreadError{Kind: approval.KindStep, ID: filepath.Base(path), From: from, To: to, Err: err}
}

// chosen returns where the entries begin that the span may select, in its order, and among
// them where the gaps begin, as negative numbers.
func (a *active) chosen(s *approval.Span) []int64 {
	var at []int64
	if s.Key == "" {
		at = slices.Clone(a.offsets)
	} else {
		for _, i := range a.places[keyHash(s.Key)] {
			at = append(at, a.offsets[i])
		}
	}
	for i := range a.gaps {
		at = append(at, -a.gaps[i].from)
	}
	slices.SortStableFunc(at, func(a, b int64) int { return cmp.Compare(max(a, -a), max(b, -b)) })
	if s.Newest {
		slices.Reverse(at)
	}
	return at
}
