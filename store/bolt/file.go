package bolt

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"go.etcd.io/bbolt"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/internal/durable"
)

const (
	fileMode = 0o600
	// lockPause is the time between two attempts to lock the file.
	lockPause = 20 * time.Millisecond
)

// acquire opens the file at path, creating it if it does not exist, and locks it.
func acquire(path string, wait time.Duration) (*os.File, error) {
	if err := durable.MakeFolder(filepath.Dir(path)); err != nil {
		return nil, fmt.Errorf("store: %w; the folder must be writable for the user that runs vaglio", err)
	}
	for {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, fileMode) //nolint:gosec // The owner names the file.
		if err != nil {
			return nil, fmt.Errorf("store: %w; the file and its folder must be writable for the user that runs vaglio", err)
		}
		if err := prepare(f, path, wait); err != nil {
			_ = f.Close()
			return nil, err
		}
		if stands(f, path) {
			return f, nil
		}
		_ = f.Close() // another process replaced the file before we had the lock
	}
}

// stands reports whether the open file is the one at the path.
func stands(f *os.File, path string) bool {
	is, err := f.Stat()
	at, errAt := os.Stat(path)
	return err == nil && errAt == nil && os.SameFile(is, at)
}

// prepare locks the open file, then removes other users' rights to it.
func prepare(f *os.File, path string, wait time.Duration) error {
	for end := time.Now().Add(wait); ; time.Sleep(lockPause) {
		err := lock(f)
		if err == nil {
			break
		}
		if !errors.Is(err, errHeld) {
			return fmt.Errorf("store: lock %s: %w", path, err)
		}
		if !time.Now().Before(end) {
			return &LockedError{path}
		}
	}
	info, err := f.Stat()
	if err != nil {
		return fmt.Errorf("store: %w", err)
	}
	if !info.Mode().IsRegular() {
		return &ForeignError{path, "it is not a regular file"}
	}
	if info.Mode().Perm()&^fileMode != 0 {
		if err := f.Chmod(fileMode); err != nil {
			return fmt.Errorf("store: %w", err)
		}
	}
	return nil
}

// errHeld says that another process holds the lock.
var errHeld = errors.New("locked")

// inspectFile empties a file whose creation was cut short, and returns an error if bbolt
// cannot safely use the file. It does not read through a file that was closed in order and
// not touched since.
func (db *DB) inspectFile() error {
	f, path := db.file, db.path
	clean, err := takeCleanMark(f, path)
	if err != nil || clean {
		return err
	}
	db.inspected = true
	info, err := f.Stat()
	if err != nil {
		return fmt.Errorf("store: %w", err)
	}
	if info.Size() > 0 {
		unborn, err := neverUsed(f, info.Size())
		if err != nil {
			return fmt.Errorf("store: %w", err)
		}
		if !unborn {
			return inspect(f, info.Size(), path)
		}
		if err := f.Truncate(0); err != nil {
			return fmt.Errorf("store: %w", err)
		}
	}
	// The file is new: its name must be on disk before anything in it counts.
	if err := durable.SyncFolder(filepath.Dir(path)); err != nil {
		return fmt.Errorf("store: %w", err)
	}
	return nil
}

// neverUsed reports whether the file is what a crash or power cut left while bbolt wrote
// the four pages of a new file: every part of it is either as bbolt writes it or zero.
func neverUsed(r io.ReaderAt, size int64) (bool, error) {
	pages := int64(4 * os.Getpagesize())
	if size > pages {
		return false, nil
	}
	buf := make([]byte, size)
	if _, err := r.ReadAt(buf, 0); err != nil && !errors.Is(err, io.EOF) {
		return false, err
	}
	if len(bytes.Trim(buf, "\x00")) == 0 {
		return true, nil
	}
	fresh, err := newborn()
	if err != nil || bytes.Equal(buf, fresh) {
		return false, nil // it is inspected like any other
	}
	const sector = 512
	for from := 0; from < len(buf); from += sector {
		part := buf[from:min(from+sector, len(buf))]
		if len(bytes.Trim(part, "\x00")) > 0 && !bytes.HasPrefix(fresh[from:], part) {
			return false, nil
		}
	}
	return true, nil
}

// newborn returns what bbolt writes into a new file.
func newborn() (pages []byte, err error) {
	f, err := os.CreateTemp("", "")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.Remove(f.Name())) }()
	if err := f.Close(); err != nil {
		return nil, err
	}
	db, err := bbolt.Open(f.Name(), fileMode, &bbolt.Options{NoSync: true})
	if err != nil {
		return nil, err
	}
	if err := db.Close(); err != nil {
		return nil, err
	}
	return os.ReadFile(f.Name())
}

// ioError describes what the system refused, and marks a lack of room as
// [approval.ErrFull].
func (db *DB) ioError(what string, err error) error {
	if !durable.NoRoom(err) {
		// bbolt drops the cause if it cannot grow the file, so probe again.
		if probe := db.probe(); durable.NoRoom(probe) {
			err = fmt.Errorf("%w (%w)", err, probe)
		}
	}
	if durable.NoRoom(err) {
		return fmt.Errorf("store: %s %s: %w: %w", what, db.path, approval.ErrFull, err)
	}
	return fmt.Errorf("store: %s %s: %w", what, db.path, err)
}

// probe asks the system for a little more room, as bbolt does when it grows the file. A
// longer file does no harm: bbolt records the number of pages elsewhere.
func (db *DB) probe() error {
	info, err := db.file.Stat()
	if err != nil {
		return err
	}
	if err := db.file.Truncate(info.Size() + int64(os.Getpagesize())); err != nil {
		return err
	}
	return db.file.Sync()
}
