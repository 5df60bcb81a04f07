package bolt

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"strings"
	"time"

	"go.etcd.io/bbolt"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/store/journal"
)

// journalOf returns the folder of the journal of a store's file.
func journalOf(path string) string {
	return strings.TrimSuffix(path, filepath.Ext(path)) + ".journal"
}

// openJournal opens the journal, whose entries share the numbering of the records.
func (db *DB) openJournal(readOnly bool) (err error) {
	o := journal.Options{
		Clean: !readOnly && !db.inspected, ReadOnly: readOnly, Keys: db.keys,
		Seq: func() uint64 { return db.seq.Add(1) }, Failed: func(err error) { _ = db.breakDown(err) },
	}
	if db.journal, err = journal.Open(journalOf(db.path), o); err != nil {
		return fmt.Errorf("store: %w", err)
	}
	return db.bolt.View(func(tx *bbolt.Tx) error {
		db.seq.Store(max(db.journal.Last(), tx.Bucket([]byte(bucketRecord)).Sequence()))
		return nil
	})
}

// Append writes the entry to the journal and sets its Seq. The entry survives a crash of
// the process, and after 10 ms a power cut.
//
// Errors: [*approval.RecordError], [approval.ErrFull], ctx's, [ErrClosed], or a
// [*BrokenError].
func (db *DB) Append(ctx context.Context, e *approval.JournalEntry) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("store: not written: %w", err)
	}
	if b := db.broken.Load(); b != nil {
		return b
	}
	err := db.journal.Append(e)
	_, refused := errors.AsType[*approval.RecordError](err)
	switch {
	case err == nil || refused:
		return err
	case errors.Is(err, journal.ErrClosed):
		return ErrClosed
	case errors.Is(err, approval.ErrFull):
		return db.noted(fmt.Errorf("store: %w", err))
	}
	return db.breakDown(err)
}

// Entries yields the journal's entries that the span selects and that were appended before
// the call, in its order. A part that cannot be read comes as an [*approval.UnreadError],
// and the entries after it follow.
func (db *DB) Entries(ctx context.Context, s approval.Span) iter.Seq2[approval.JournalEntry, error] {
	return func(yield func(approval.JournalEntry, error) bool) {
		for e, err := range db.journal.Entries(ctx, s) {
			if errors.Is(err, journal.ErrClosed) {
				err = ErrClosed
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

// Stretches returns the stretches of the journal, oldest first.
func (db *DB) Stretches(ctx context.Context) ([]approval.Stretch, error) {
	return db.journal.Stretches(), ctx.Err()
}

// Forget drops what the journal keeps from before the instant, in units of whole segments,
// and frees their space.
func (db *DB) Forget(_ context.Context, before time.Time) error {
	err := db.journal.Forget(before)
	if errors.Is(err, journal.ErrClosed) {
		return ErrClosed
	}
	return err
}
