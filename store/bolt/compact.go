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

// Compact rewrites the store's file without the room that dropped records left, which
// bbolt keeps for others for ever, and returns its size in bytes before and after. What is
// not encrypted with the newest key, in the journal as well, is so then. The store must
// not be open: the copy takes the file's place in one step once it is whole and on the
// disk, so that whenever the process or the power ends, the path has the one or the other.
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
		_ = os.Remove(fresh) // there is none where it took the file's place
		return 0, 0, err
	}
	return was.Size(), after, nil
}

// copied writes what the store holds to a file beside it, as densely as it goes, and
// returns its path when it is on the disk and was read through.
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

// copyInto copies every part to a new file, each value sealed with the newest key.
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

// resealed returns the value of a part as it is kept with the newest key. What does not
// read as it was written stays as it stands, and whoever reads it is told.
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

// copier puts a part's values into a new file, in transactions of a bounded size.
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

// bucket is the part in the transaction that is open, or in a new one.
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

// end sets the part's counter, and commits what is left.
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

// abort ends the open transaction where there was an error: its file goes away.
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

// succeed puts the successor in the file's place, or says in a mark how the file was
// left. The lock is held, and nothing is written any more.
func (db *DB) succeed() error {
	if db.successor == "" {
		db.leaveCleanMark()
		return nil
	}
	return errors.Join(os.Rename(db.successor, db.path), durable.SyncFolder(filepath.Dir(db.path)))
}
