package bolt

import (
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
// bbolt keeps for others for ever, and returns its size in bytes before and after. The
// journal needs none of it. The store must not be open: the copy takes the file's place
// in one step once it is whole and on the disk, so that whenever the process or the power
// ends, the path has the one or the other.
//
// Errors: [os.ErrNotExist], and those of [Open].
func Compact(path string) (before, after int64, err error) {
	if _, err := os.Stat(path); err != nil {
		return 0, 0, fmt.Errorf("store: %w", err)
	}
	db, err := Open(path, Options{})
	if err != nil {
		return 0, 0, err
	}
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
	if err := errors.Join(bbolt.Compact(to, db.bolt, compactBatch), to.Sync(), to.Close()); err != nil {
		return path, 0, err
	}
	size, err = look(path)
	return path, size, err
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
