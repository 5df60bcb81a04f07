package bolt

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"go.etcd.io/bbolt"

	"github.com/metnos/vaglio/internal/durable"
)

// compactBatch is how many bytes of records are copied in one transaction.
const compactBatch = 1 << 20

// Compact rewrites the store's file without the space of dropped records, which bbolt never
// returns, and returns its size in bytes before and after. It also re-encrypts everything
// that is not encrypted with the newest key, including the journal. The store must not be
// open. The copy replaces the file in one step once it is complete and on disk, so that the
// path always has one or the other, whenever the process or the power ends.
//
// Errors: [os.ErrNotExist], and those of [Open].
func Compact(path string, o Options) (before, after int64, err error) {
	if _, err := os.Stat(path); err != nil {
		return 0, 0, fmt.Errorf("store: %w", err)
	}
	db, err := Open(path, o)
	if err != nil {
		return 0, 0, err
	}
	db.journal.SealAll()
	was, err := db.file.Stat()
	if err == nil {
		db.successor, after, err = db.copied()
	}
	if err != nil {
		err = db.ioError("compact", err)
		return 0, 0, errors.Join(err, db.Close())
	}
	fresh := db.successor
	if err := db.Close(); err != nil {
		_ = os.Remove(fresh) // it does not exist if it replaced the file
		return 0, 0, err
	}
	return was.Size(), after, nil
}

// copied writes the contents of the store to a file next to it, as densely as possible, and
// returns the file's path once it is on disk and was read through.
func (db *DB) copied() (path string, size int64, err error) {
	dir, name := filepath.Split(db.path)
	f, err := os.CreateTemp(filepath.Clean(dir), durable.Unfinished+name+"-*") // mode 0600
	if err != nil {
		return "", 0, err
	}
	path = f.Name()
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(path))
		}
	}()
	if err := f.Close(); err != nil {
		return path, 0, err
	}
	to, err := bbolt.Open(path, fileMode, &bbolt.Options{Timeout: time.Millisecond, FreelistType: bbolt.FreelistMapType, NoSync: true})
	if err != nil {
		return path, 0, err
	}
	if err := errors.Join(db.copyInto(to), to.Sync(), to.Close()); err != nil {
		return path, 0, err
	}
	size, err = look(path)
	return path, size, err
}

// copyInto copies every bucket to a new file, with each value sealed with the newest key.
func (db *DB) copyInto(to *bbolt.DB) error {
	return db.bolt.View(func(from *bbolt.Tx) error {
		return from.ForEach(func(part []byte, b *bbolt.Bucket) error {
			c := copier{to: to, part: part}
			err := b.ForEach(func(k, v []byte) error { return c.put(k, db.resealed(string(part), k, v)) })
			if err == nil {
				err = c.end(b.Sequence())
			}
			if err == nil && string(part) == bucketVaglio {
				err = to.Update(func(tx *bbolt.Tx) error { return errors.Join(putForm(tx, fileForm), db.putSealed(tx)) })
			}
			return err
		})
	})
}

// resealed returns the value of a bucket in the form sealed with the newest key. A value
// that cannot be read stays as it is, and its readers are told.
func (db *DB) resealed(part string, k, v []byte) []byte {
	switch part {
	case bucketRecord:
		if r, err := decode(db.keys, k, v); err == nil {
			return encode(db.keys, k, r)
		}
	case bucketLeaf:
		if value, whole := openLeaf(db.keys, k, v); whole {
			return sealLeaf(db.keys, k, value)
		}
	}
	return v
}

// copier puts a bucket's values into a new file, in transactions of limited size.
type copier struct {
	to   *bbolt.DB
	part []byte
	tx   *bbolt.Tx
	size int
}

// copyFill is how full the pages of a copy are: values come in order.
const copyFill = 0.9

func (c *copier) put(k, v []byte) error {
	b, err := c.bucket()
	if err == nil {
		err = b.Put(bytes.Clone(k), bytes.Clone(v))
	}
	if c.size += len(k) + len(v); err != nil || c.size < compactBatch {
		return errors.Join(err, c.abort(err))
	}
	return c.commit()
}

// bucket returns the bucket in the open transaction, or in a new one.
func (c *copier) bucket() (b *bbolt.Bucket, err error) {
	if c.tx == nil {
		if c.tx, err = c.to.Begin(true); err != nil {
			return nil, err
		}
	}
	if b, err = c.tx.CreateBucketIfNotExists(c.part); err == nil {
		b.FillPercent = copyFill
	}
	return b, err
}

// end sets the bucket's counter, and commits the rest.
func (c *copier) end(sequence uint64) error {
	b, err := c.bucket()
	if err == nil {
		err = b.SetSequence(sequence)
	}
	if err != nil {
		return errors.Join(err, c.abort(err))
	}
	return c.commit()
}

func (c *copier) commit() error {
	tx := c.tx
	c.tx, c.size = nil, 0
	return tx.Commit()
}

// abort ends the open transaction after an error: its file is deleted.
func (c *copier) abort(err error) error {
	if err == nil || c.tx == nil {
		return nil
	}
	return c.tx.Rollback()
}

// look inspects a file, and returns its size in bytes.
func look(path string) (int64, error) {
	f, err := os.Open(path) //nolint:gosec // It was made here.
	if err != nil {
		return 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), inspect(f, info.Size(), path)
}

// succeed replaces the file with its successor, or writes the clean mark. The lock is held,
// and nothing is written any more.
func (db *DB) succeed() error {
	if db.successor == "" {
		db.leaveCleanMark()
		return nil
	}
	return errors.Join(os.Rename(db.successor, db.path), durable.SyncFolder(filepath.Dir(db.path)))
}
