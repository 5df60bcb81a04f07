package bolt

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"go.etcd.io/bbolt"

	"github.com/metnos/vaglio/store/keyring"
)

// ErrClosed says that the store was closed.
var ErrClosed = errors.New("store is closed")

// LockedError says that another process holds the file.
type LockedError struct{ File string }

func (e *LockedError) Error() string {
	return fmt.Sprintf("another vaglio holds %s: stop it, or use another data folder", e.File)
}

// ForeignError says that the file is not a vaglio store. It was left unchanged.
type ForeignError struct{ File, Problem string }

func (e *ForeignError) Error() string {
	return fmt.Sprintf("%s is not a vaglio store: %s", e.File, e.Problem)
}

// DamagedError says that the file was a store but cannot be read as one.
type DamagedError struct{ File, Problem string }

func (e *DamagedError) Error() string {
	return fmt.Sprintf("store %s is damaged: %s; restore it from a backup", e.File, e.Problem)
}

// FormError says that a newer program wrote the file.
type FormError struct {
	File         string
	Found, Known uint64
}

func (e *FormError) Error() string {
	return fmt.Sprintf("store %s has form %d and this vaglio reads up to %d: use the newer vaglio that wrote it", e.File, e.Found, e.Known)
}

// KeyError says that the key file does not belong to the store. Nothing was changed.
type KeyError struct {
	File, KeyFile string
	Err           error
}

func (e *KeyError) Error() string {
	return fmt.Sprintf("key file %s is not that of the store %s: %v; put the store's own in its place", e.KeyFile, e.File, e.Err)
}

func (e *KeyError) Unwrap() error { return e.Err }

// BrokenError says that the store stopped because it cannot know what is on disk. Reopening
// the file shows what is.
type BrokenError struct {
	File string
	Err  error
}

func (e *BrokenError) Error() string {
	return fmt.Sprintf("store %s stopped and must be reopened: %v", e.File, e.Err)
}

func (e *BrokenError) Unwrap() error { return e.Err }

// fileForm is the form of the files that this program writes. Since the third form there is
// a journal next to the file: a program that does not know the journal would report only
// half of what happened. Since the fourth, values are encrypted.
const fileForm = 4

// openForm is the last form in which values are not encrypted.
const openForm = 3

// treeForm is the first form with a history. An older file gets one when it is opened for
// writing.
const treeForm = 2

// setUp creates the buckets of a new file, and checks the form of an existing one and that
// the keys fit its values. It reports whether they are encrypted with another key than the
// newest.
func (db *DB) setUp() (stale bool, err error) {
	var (
		missing []string
		form    uint64
		sealed  []byte
	)
	err = db.bolt.View(func(tx *bbolt.Tx) (err error) {
		b := tx.Bucket([]byte(bucketVaglio))
		if b == nil {
			if k, _ := tx.Cursor().First(); k != nil {
				return &ForeignError{db.path, "it is a database of another program"}
			}
			missing = append([]string{bucketVaglio}, parts(fileForm)...)
			return nil
		}
		form, err = db.checkForm(tx, b)
		missing, sealed = parts(fileForm)[len(parts(form)):], bytes.Clone(b.Get([]byte(keySealed)))
		return err
	})
	if err != nil {
		return false, err
	}
	if form > openForm {
		return db.loadKeys(sealed)
	}
	if db.keys, err = keyring.Make(db.keyFile(), db.options.Credential); err != nil {
		return false, fmt.Errorf("store: %w", err)
	}
	err = db.bolt.Update(func(tx *bbolt.Tx) error {
		for _, name := range missing {
			if _, err := tx.CreateBucket([]byte(name)); err != nil {
				return err
			}
		}
		if form != 0 {
			return putForm(tx, openForm) // its contents are not encrypted yet
		}
		return errors.Join(putForm(tx, fileForm), db.putSealed(tx))
	})
	if err != nil {
		return false, db.ioError("make", err)
	}
	return form != 0, nil
}

func putForm(tx *bbolt.Tx, form uint64) error {
	return tx.Bucket([]byte(bucketVaglio)).Put([]byte(keyForm), binary.BigEndian.AppendUint64(nil, form))
}

// parts returns the buckets of a file of the given form, except the one that holds the
// form.
func parts(form uint64) []string {
	all := []string{bucketRecord, bucketKey, bucketOpen, bucketBorn, bucketSeq, bucketLease}
	if form >= treeForm {
		all = append(all, bucketLeaf, bucketTree)
	}
	return all
}

func (db *DB) checkForm(tx *bbolt.Tx, b *bbolt.Bucket) (form uint64, err error) {
	v := b.Get([]byte(keyForm))
	if len(v) != 8 {
		return 0, &DamagedError{db.path, "its form is missing"}
	}
	switch form = binary.BigEndian.Uint64(v); {
	case form > fileForm:
		return form, &FormError{db.path, form, fileForm}
	case form == 0:
		return form, &DamagedError{db.path, "its form is 0"}
	}
	for _, name := range parts(form) {
		if tx.Bucket([]byte(name)) == nil {
			return form, &DamagedError{db.path, "the part " + name + " is missing"}
		}
	}
	return form, nil
}
