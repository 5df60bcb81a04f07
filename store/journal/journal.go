// Package journal keeps what happened and will not change: an append-only log of segments
// in a folder of its own, next to the store of one process.
//
// Before an entry is acknowledged it is written to the end of the newest segment, so that
// it survives a crash of the process at any instant. Within 10 ms it is on disk, together
// with the other entries of that time. A power cut may take these last entries, and nothing
// older.
//
// A full segment is sealed: rewritten in compressed form, with an index of the keys at its
// end, and never changed again, except to be rewritten under a newer key. Notes and bodies
// are encrypted; the keys and times by which entries are found are not. Old segments are
// unlinked as a whole, which frees their space. At the start only segments that are not
// sealed are read. A damaged segment is reported and never rewritten: its bytes stay as
// they are until its retention ends. Everything else keeps working.
//
// We looked at existing logs first. tidwall/wal gives its entries numbers and nothing else,
// holds a segment in memory to read it, rewrites files to drop the oldest entries, and does
// not open if an entry is damaged. The logs of etcd and Prometheus belong to their
// programs: they hold raft records or samples, and come with the modules of a database.
// None of them finds entries by key or time, compresses old ones, or skips damaged ones.
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

// Log is an open journal. It is safe for concurrent use. Only one process has it open for
// writing at a time: the store next to it holds the lock.
type Log struct {
	dir     string
	options Options

	// sealing is held while a segment is sealed, and while segments are dropped, so that none
	// is dropped that is being sealed. It is locked before mu.
	sealing sync.Mutex

	mu     sync.Mutex
	newest *active
	// full are segments that are to be sealed, oldest first.
	full []*active
	// sealed are the sealed segments, oldest first.
	sealed []*sealed
	// unsynced are segments with bytes that may not be on disk.
	unsynced []*active
	// room is the buffer in which frames are encoded.
	room   room
	closed bool
	// failed is why nothing can be appended until the journal is reopened.
	failed error

	dirty, toSeal chan struct{} // hold one token while there is something to do
	closing       chan struct{}
	workers       sync.WaitGroup
}

// Options are the settings of [Open]. The zero value is right for a service.
type Options struct {
	// SegmentBytes is the size at which a segment is sealed; 0 means 16 MiB.
	SegmentBytes int64
	// Seq returns the number of the next entry, greater than all earlier ones; nil
	// continues from the newest entry.
	Seq func() uint64
	// Keys encrypt notes and bodies. They are required, except to look at a journal that
	// predates keys.
	Keys *keyring.Ring
	// Failed, if not nil, is told why nothing can be appended any more, although entries were
	// acknowledged that may not be on disk.
	Failed func(error)
	// Clean says that the last process that appended ended in order: an end that cannot be read
	// is damage then. Otherwise it is what a crash left, and cut off.
	Clean bool
	// ReadOnly opens for reading only: nothing is created, repaired or written.
	ReadOnly bool
}

const (
	segmentBytes = 16 << 20
	// segmentSpan is how long a segment takes entries. It is dropped as a whole, so one
	// that grew for months would keep its oldest entries as long as its newest.
	segmentSpan = 24 * time.Hour
	// syncWithin is the longest time until an entry is on disk.
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

// Open opens the journal in a folder (0700), and creates it if it does not exist. After a crash
// it cuts off an incomplete entry at the end of the newest segment.
//
// Errors: [*FormError], [approval.ErrFull], or an error of the file system.
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
	// Appending continues in the newest segment, unless that is full or in an older form.
	if n := len(l.full); n > 0 && l.full[n-1].takes(l.options.SegmentBytes, found.next()) {
		l.newest, l.full = l.full[n-1], l.full[:n-1]
		return nil
	}
	l.newest, err = newActive(l.dir, found.next(), l.options.Keys)
	return ioError(err)
}

func (l *Log) openSegments(found segments) error {
	var latest time.Time
	for _, n := range found.sealed {
		s, err := openSealed(l.dir, n, l.options.Keys)
		if err != nil {
			return err
		}
		if s.damage != nil {
			s.from = latest // entries are appended in about the order of their times
		}
		latest = s.to
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

// writable returns the segments that are not sealed, oldest first.
func (l *Log) writable() []*active {
	if l.newest == nil {
		return slices.Clone(l.full)
	}
	return append(slices.Clone(l.full), l.newest)
}

// Append writes the entry to the journal's end and sets its Seq. Once it returns without an
// error the entry survives a crash of the process and, 10 ms later, a power cut.
//
// Errors: [*approval.RecordError], [approval.ErrFull] (the journal keeps working, and takes
// entries again once there is room), [ErrClosed], or an error of the file system, after
// which the journal must be reopened.
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
		l.room = room{} // a rare large one need not be kept
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

// ready makes sure that the newest segment can take n more bytes at the given time.
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

// sync brings to disk what was written, until the journal closes.
func (l *Log) sync() {
	for {
		select {
		case <-l.dirty:
		case <-l.closing:
			return
		}
		select {
		case <-time.After(syncWithin / 2): // what arrives in the meantime is included
		case <-l.closing:
		}
		l.flush()
	}
}

// flush brings to disk what has been written so far.
func (l *Log) flush() {
	l.mu.Lock()
	written := l.unsynced
	l.unsynced = nil
	for _, a := range written {
		a.unsynced = false // what is written from here on needs another flush
	}
	l.mu.Unlock()
	for _, a := range written {
		err := a.file.Sync()
		if err == nil {
			err = l.displaced(a)
		}
		if err != nil && !errors.Is(err, os.ErrClosed) {
			l.fail(err)
		}
	}
}

func (l *Log) fail(err error) {
	err = fmt.Errorf("journal: %w", err)
	l.mu.Lock()
	l.failed = err
	l.mu.Unlock()
	if l.options.Failed != nil {
		l.options.Failed(err)
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

// Forget drops the segments whose entries are all from before the instant.
func (l *Log) Forget(before time.Time) error {
	l.sealing.Lock()
	defer l.sealing.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed || l.options.ReadOnly {
		return ErrClosed
	}
	var errs []error
	l.sealed = slices.DeleteFunc(l.sealed, func(s *sealed) bool {
		old := s.to.Before(before)
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

// Close brings to disk what was written and closes the files.
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

// nudge puts a token into the channel unless it has one.
func nudge(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
