package bolt

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"time"

	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/approval/history"
)

// Look is a store that is open read-only. Nothing is created, repaired or written, not even
// what [Open] would.
type Look struct{ db DB }

// LookInto opens the file of a store that no process holds read-only: it shares the lock
// with other Looks, and no service can start while it is open.
//
// Errors: [os.ErrNotExist], and those of [Open].
func LookInto(path string, o Options) (*Look, error) {
	f, err := os.Open(path) //nolint:gosec // The owner names the file.
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	l := &Look{DB{path: path, file: f, options: o, closed: make(chan struct{})}}
	if err := l.open(); err != nil {
		// bbolt closed the file if it got that far; a second Close does nothing.
		_ = f.Close()
		return nil, err
	}
	return l, nil
}

func (l *Look) open() (err error) {
	info, err := l.db.file.Stat()
	if err != nil {
		return fmt.Errorf("store: %w", err)
	}
	if !info.Mode().IsRegular() {
		return &ForeignError{l.db.path, "it is not a regular file"}
	}
	if err := lockShared(l.db.file); errors.Is(err, errHeld) {
		return &LockedError{l.db.path}
	} else if err != nil {
		return fmt.Errorf("store: lock %s: %w", l.db.path, err)
	}
	unborn, err := neverUsed(l.db.file, info.Size())
	if err != nil {
		return fmt.Errorf("store: %w", err)
	}
	if unborn {
		return fmt.Errorf("store: %s holds nothing yet: %w", l.db.path, os.ErrNotExist)
	}
	if err := inspect(l.db.file, info.Size(), l.db.path); err != nil {
		return err
	}
	defer func() {
		if r := recover(); r != nil {
			err = &DamagedError{l.db.path, fmt.Sprint(r)}
		}
	}()
	l.db.bolt, err = bbolt.Open(l.db.path, fileMode, &bbolt.Options{
		Timeout: time.Millisecond, ReadOnly: true, // the lock is already ours
		OpenFile: func(string, int, os.FileMode) (*os.File, error) { return l.db.file, nil },
	})
	if errors.Is(err, bolterrors.ErrTimeout) {
		return &LockedError{l.db.path}
	}
	if err != nil {
		return l.db.ioError("open", err)
	}
	return l.check()
}

// check returns an error unless the file is a store in a form that we know.
func (l *Look) check() error {
	err := l.db.bolt.View(func(tx *bbolt.Tx) error {
		b := tx.Bucket([]byte(bucketVaglio))
		if b == nil {
			return &ForeignError{l.db.path, "it is a database of another program"}
		}
		form, err := l.db.checkForm(tx, b)
		if err == nil && form > openForm {
			_, err = l.db.loadKeys(b.Get([]byte(keySealed)))
		}
		return err
	})
	if err == nil {
		err = l.db.openJournal(true)
	}
	if err != nil {
		return errors.Join(err, l.db.bolt.Close())
	}
	return nil
}

// Get is like [DB.Get].
func (l *Look) Get(ctx context.Context, kind approval.Kind, idOrKey string) (approval.Record, error) {
	return l.db.Get(ctx, kind, idOrKey)
}

// List is like [DB.List].
func (l *Look) List(ctx context.Context, q approval.Query) iter.Seq2[approval.Record, error] {
	return l.db.List(ctx, q)
}

// Entries is like [DB.Entries].
func (l *Look) Entries(ctx context.Context, s approval.Span) iter.Seq2[approval.JournalEntry, error] {
	return l.db.Entries(ctx, s)
}

// Stretches is like [DB.Stretches].
func (l *Look) Stretches(ctx context.Context) ([]approval.Stretch, error) { return l.db.Stretches(ctx) }

// TreeSize is like [DB.TreeSize].
func (l *Look) TreeSize(ctx context.Context) (int64, error) { return l.db.TreeSize(ctx) }

// Leaves is like [DB.Leaves].
func (l *Look) Leaves(ctx context.Context, from int64) iter.Seq2[history.Leaf, error] {
	return l.db.Leaves(ctx, from)
}

// TreeHashes is like [DB.TreeHashes].
func (l *Look) TreeHashes(ctx context.Context, indexes []int64) ([]tlog.Hash, error) {
	return l.db.TreeHashes(ctx, indexes)
}

// DropLeaves is not supported: a Look changes nothing.
func (l *Look) DropLeaves(context.Context, int64) error { return errors.ErrUnsupported }

// Close releases the file.
func (l *Look) Close() error { return errors.Join(l.db.journal.Close(), l.db.bolt.Close()) }
