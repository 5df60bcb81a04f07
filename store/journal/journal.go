// Package journal keeps what happened and will not change: an append-only log of
// segments in a folder of its own, beside the store of one process.
//
// An entry is one write to the end of the newest segment before it is
// acknowledged, so that it survives a crash of the process at any instant; it is
// on the disk within 10 ms of that, with the others of those milliseconds. A power
// cut may take these last entries, and nothing older.
//
// A segment that is full is sealed: written anew, compressed, with an index of the
// keys at its end, and never changed again, but for being written anew under a newer key.
// Notes and bodies are encrypted; names and instants, by which entries are found, are not. Old segments are unlinked whole, which
// gives their room back. At the start only the segment that was not sealed is read.
// One that is damaged is told of and never written anew: its bytes stay as they are until
// they are old. Everything else serves.
//
// Kept logs were looked at first. tidwall/wal numbers its entries and nothing else,
// holds a segment in memory to read it, rewrites files to drop the oldest, and does
// not open when an entry is damaged. The logs of etcd and of Prometheus belong to
// their programs: they keep records of raft, or of samples, and come with the
// modules of a database. None finds entries by key or time, compresses what is old,
// or passes over what is damaged.
package journal

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/internal/durable"
	"github.com/metnos/vaglio/store/keyring"
)

// Log is an open journal. Its methods may be called from any goroutine. One
// process has it open for writing at a time: the store that it stands beside
// holds the lock.
type Log struct {
	dir     string
	options Options

	// sealing is held while a segment is sealed.
	sealing sync.Mutex

	mu     sync.Mutex
	newest *active
	// full are segments that are to be sealed, oldest first.
	full []*active
	// sealed are the others, oldest first.
	sealed []*sealed
	// unsynced are segments with bytes that may not be on the disk.
	unsynced []*active
	// room is where frames are written.
	room   room
	closed bool
	// failed is why nothing can be appended until the journal is opened anew.
	failed error

	dirty, toSeal chan struct{} // hold one token while there is something to do
	closing       chan struct{}
	workers       sync.WaitGroup
}

// Options are the settings of [Open]. The zero value is right for a service.
type Options struct {
	// SegmentBytes is how long a segment grows before it is sealed; 0 means 16 MiB.
	SegmentBytes int64
	// Seq returns the number of the next entry, greater than all before it; nil
	// counts on from the newest entry.
	Seq func() uint64
	// Keys encrypt notes and bodies, and are needed but for a look at a journal from
	// before there were keys.
	Keys *keyring.Ring
	// ReadOnly opens for a look: nothing is made, mended or written.
	ReadOnly bool
}

const (
	segmentBytes = 16 << 20
	// segmentSpan is how long a segment takes entries: it goes whole, so one that
	// grew for months would keep its oldest entries as long as its newest.
	segmentSpan = 24 * time.Hour
	// syncWithin is how long an entry may wait for the disk.
	syncWithin = 10 * time.Millisecond

	fileMode = 0o600
)

// ErrClosed says that the journal was closed.
var ErrClosed = errors.New("journal is closed")

// FormError says that a newer program wrote a segment.
type FormError struct {
	File         string
	Found, Known uint32
}

func (e *FormError) Error() string {
	return fmt.Sprintf("journal %s has form %d and this vaglio reads up to %d: use the newer vaglio that wrote it", e.File, e.Found, e.Known)
}

// Open opens the journal in a folder (0700), and makes it when it does not exist.
// Half an entry at the end of the newest segment, which a crash left, is cut off.
//
// Errors: [*FormError], [approval.ErrFull], or what the file system said.
func Open(dir string, o Options) (*Log, error) {
	if o.SegmentBytes == 0 {
		o.SegmentBytes = segmentBytes
	}
	l := &Log{
		dir: dir, options: o,
		dirty: make(chan struct{}, 1), toSeal: make(chan struct{}, 1), closing: make(chan struct{}),
	}
	if err := l.load(); err != nil {
		return nil, errors.Join(err, l.closeFiles())
	}
	if l.options.Seq == nil {
		last := l.Last()
		l.options.Seq = func() uint64 { last++; return last }
	}
	if !o.ReadOnly {
		l.workers.Go(l.sync)
		l.workers.Go(l.seal)
		nudge(l.toSeal)
	}
	return l, nil
}

// load finds the segments.
func (l *Log) load() error {
	if !l.options.ReadOnly {
		if err := durable.MakeFolder(l.dir); err != nil {
			return ioError(err)
		}
	}
	found, err := segmentsIn(l.dir)
	if errors.Is(err, os.ErrNotExist) && l.options.ReadOnly {
		return nil
	}
	if err == nil && !l.options.ReadOnly {
		err = found.tidy(l.dir)
	}
	if err != nil {
		return ioError(err)
	}
	if err := l.openSegments(found); err != nil || l.options.ReadOnly {
		return err
	}
	// The newest goes on where it ends, unless it was full, or is of an older form.
	if n := len(l.full); n > 0 && l.full[n-1].takes(l.options.SegmentBytes, found.next()) {
		l.newest, l.full = l.full[n-1], l.full[:n-1]
		return nil
	}
	l.newest, err = newActive(l.dir, found.next(), l.options.Keys)
	return ioError(err)
}

func (l *Log) openSegments(found segments) error {
	for _, n := range found.sealed {
		s, err := openSealed(l.dir, n, l.options.Keys)
		if err != nil {
			return err
		}
		l.sealed = append(l.sealed, s)
	}
	for _, n := range found.active {
		a, err := openActive(l.dir, n, &l.options)
		if err != nil {
			return err
		}
		l.full = append(l.full, a)
	}
	return nil
}

// Last returns the number of the newest entry; 0 if there is none.
func (l *Log) Last() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	var last uint64
	for _, s := range l.sealed {
		last = max(last, s.last)
	}
	for _, a := range l.writable() {
		last = max(last, a.last)
	}
	return last
}

// writable are the segments that are not sealed, oldest first.
func (l *Log) writable() []*active {
	if l.newest == nil {
		return slices.Clone(l.full)
	}
	return append(slices.Clone(l.full), l.newest)
}

// Append writes the entry to the journal's end, and sets its Seq. Once it returns without an error
// the entry survives a crash of the process, and within 10 ms a power cut.
//
// Errors: [*approval.RecordError], [approval.ErrFull] (the journal works on, and
// takes entries again once there is room), [ErrClosed], or what the file system
// said, after which the journal has to be opened anew.
func (l *Log) Append(e *approval.JournalEntry) error {
	if err := e.Check(); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.ready(int64(frameLen(e)), e.At); err != nil {
		return err
	}
	e.Seq = l.options.Seq()
	frame := l.room.write(e, l.options.Keys)
	if len(frame) > groupBytes {
		l.room = room{} // a rare one need not be kept
	}
	if err := l.newest.append(e, frame); err != nil {
		err = ioError(err)
		if !errors.Is(err, approval.ErrFull) {
			l.failed = err
		}
		return err
	}
	if !l.newest.unsynced {
		l.newest.unsynced = true
		l.unsynced = append(l.unsynced, l.newest)
		nudge(l.dirty)
	}
	return nil
}

// ready makes the newest segment one that takes n more bytes of that instant.
func (l *Log) ready(n int64, at time.Time) error {
	switch {
	case l.closed || l.options.ReadOnly:
		return ErrClosed
	case l.failed != nil:
		return l.failed
	case len(l.newest.offsets) == 0,
		l.newest.size+n <= l.options.SegmentBytes && at.Sub(l.newest.from) < segmentSpan:
		return nil
	}
	next, err := newActive(l.dir, l.newest.number+1, l.options.Keys)
	if err != nil {
		return ioError(err)
	}
	l.full, l.newest = append(l.full, l.newest), next
	nudge(l.toSeal)
	return nil
}

// sync brings what was written to the disk, until the journal closes.
func (l *Log) sync() {
	for {
		select {
		case <-l.dirty:
		case <-l.closing:
			return
		}
		select {
		case <-time.After(syncWithin / 2): // what comes meanwhile goes with it
		case <-l.closing:
		}
		l.flush()
	}
}

// flush brings what was written so far to the disk.
func (l *Log) flush() {
	l.mu.Lock()
	written := l.unsynced
	l.unsynced = nil
	for _, a := range written {
		a.unsynced = false // what is written from here on needs another turn
	}
	l.mu.Unlock()
	for _, a := range written {
		if err := a.file.Sync(); err != nil && !errors.Is(err, os.ErrClosed) {
			l.mu.Lock()
			l.failed = fmt.Errorf("journal: %w", err)
			l.mu.Unlock()
		}
	}
}

// Keys returns the ids of the keys that the journal's entries are encrypted with.
func (l *Log) Keys() (map[uint32]bool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	used := make(map[uint32]bool)
	for _, a := range l.writable() {
		maps.Copy(used, a.used)
	}
	for _, s := range l.sealed {
		more, err := s.keysUsed()
		if err != nil {
			return nil, err
		}
		maps.Copy(used, more)
	}
	return used, nil
}

// Forget drops the segments of which every entry happened before the instant.
func (l *Log) Forget(before time.Time) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed || l.options.ReadOnly {
		return ErrClosed
	}
	var errs []error
	l.sealed = slices.DeleteFunc(l.sealed, func(s *sealed) bool {
		old := s.to.Before(before) && s.damage == nil
		if old {
			errs = append(errs, os.Remove(s.path))
		}
		return old
	})
	l.full = slices.DeleteFunc(l.full, func(a *active) bool {
		old := a.to.Before(before)
		if old {
			errs = append(errs, a.drop())
		}
		return old
	})
	if a := l.newest; len(a.offsets) > 0 && a.to.Before(before) {
		next, err := newActive(l.dir, a.number+1, l.options.Keys)
		if err != nil {
			return errors.Join(append(errs, ioError(err))...)
		}
		l.newest = next
		errs = append(errs, a.drop())
	}
	return errors.Join(append(errs, durable.SyncFolder(l.dir))...)
}

// Close brings what was written to the disk and lets go of the files.
func (l *Log) Close() error {
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		return nil
	}
	l.closed = true
	l.mu.Unlock()
	close(l.closing)
	l.workers.Wait()
	l.flush()
	l.mu.Lock()
	defer l.mu.Unlock()
	return errors.Join(l.failed, l.closeFiles())
}

func (l *Log) closeFiles() error {
	var errs []error
	for _, a := range l.full {
		errs = append(errs, a.file.Close())
	}
	if l.newest != nil {
		errs = append(errs, l.newest.file.Close())
	}
	return errors.Join(errs...)
}

// nudge puts a token where one is waited for.
func nudge(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
