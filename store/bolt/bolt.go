// Package bolt is the default store: it keeps records in a single file for one process.
// Things that happened and will not change go into a journal next to the file: vaglio.db
// has vaglio.journal. While no process has the store open, vaglio.clean may say that it was
// closed in order.
//
// All writes go through one goroutine that puts whatever is queued into one transaction and
// answers after its fsync, so a lone caller waits for nobody and many callers share the
// disk. Nothing is yielded and no callback is called while a transaction is open.
//
// The file is a bbolt database. Its buckets, with integers in big-endian order:
//
//	vaglio   "form" → the form of the file, "ping" → the last heartbeat,
//	         "sealed" → a value under the key that the whole file was written with
//	record   kind 0x00 id   → the record: form, checksum, flags, born, seq, keys, body (sealed)
//	key      kind 0x00 key  → id
//	open     kind 0x00 born → id, for records marked open
//	born     kind 0x00 born → id
//	seq      kind 0x00 seq  → id
//	lease    name           → holder, end and fencing token
//	leaf     index          → the value of a leaf of the history (sealed), until it is dropped
//	tree     index          → the hashes that the leaf added to the history's tree
//
// Sealed values are encrypted with the keys in vaglio.keys next to the file. A file that is
// not sealed with the newest key, such as one that predates keys, is rewritten when it is
// opened, as by Compact.
//
// The counter behind Seq and Born is the sequence of the bucket "record", or the number of
// the journal's newest entry if that is greater; the one behind fencing tokens is the
// sequence of the bucket "lease".
package bolt

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/store/journal"
	"github.com/metnos/vaglio/store/keyring"
)

// DB is an open store. It is safe for concurrent use. It fulfills the contract that package
// storetest tests.
type DB struct {
	path string
	file *os.File // closed by bbolt
	bolt *bbolt.DB
	// journal keeps the entries; seq numbers them and the records.
	journal *journal.Log
	seq     atomic.Uint64
	// keys seal the values. They are nil in a Look at a file that predates keys.
	keys    *keyring.Ring
	options Options
	writer  writer
	closed  chan struct{}
	close   sync.Once
	err     error // what Close returns
	// broken says why the file cannot be trusted until it is reopened.
	broken atomic.Pointer[BrokenError]
	down   chan struct{} // closed when broken is set
	// successor is the path of the file that replaces this one when it is closed; empty for
	// none.
	successor string
	// inspected says that the file was read through when it was opened.
	inspected bool
	// full is when a write last found no room, in nanoseconds since 1970; 0 if a later one
	// found some.
	full atomic.Int64

	mu      sync.Mutex
	changed chan struct{} // closed and replaced by every commit
}

// Options are the settings of [Open]. The zero value is right for a service.
type Options struct {
	// LockWait is how long to wait for another process to release the file; 0 means not at
	// all.
	LockWait time.Duration
	// KeyFile is the file with the keys that encrypt values; empty means next to the
	// store's file: vaglio.db has vaglio.keys.
	KeyFile string
	// Credential is a secret of the service that keys are bound to; empty means none.
	Credential []byte
}

// The names of the buckets; the package comment says what is in them.
const (
	bucketVaglio = "vaglio"
	bucketRecord = "record"
	bucketKey    = "key"
	bucketOpen   = "open"
	bucketBorn   = "born"
	bucketSeq    = "seq"
	bucketLease  = "lease"
	bucketLeaf   = "leaf"
	bucketTree   = "tree"

	keyForm   = "form"
	keyPing   = "ping"
	keySealed = "sealed"
)

// Open opens the store in the file at path, and creates the file (0600) and its folder
// (0700) if they do not exist. It locks the file before reading it, and reads through its
// structure before using it, because bbolt would crash the process on an invalid page. That
// takes time in proportion to the file; it is skipped if the file was closed in order and
// has not changed since.
//
// Errors: [*LockedError], [*ForeignError], [*DamagedError], [*FormError],
// [*keyring.FileError], [*KeyError], [approval.ErrFull], or an error of the file system.
func Open(path string, o Options) (*DB, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	db, stale, err := openFile(path, o)
	if err == nil && stale {
		db, err = db.sealAnew()
	}
	if err != nil {
		return nil, err
	}
	if err := db.openJournal(false); err != nil {
		return nil, errors.Join(err, db.bolt.Close())
	}
	if err := db.tidyKeys(); err != nil {
		return nil, errors.Join(err, db.journal.Close(), db.bolt.Close())
	}
	db.writer.start(db)
	return db, nil
}

// openFile opens the store except for its journal. stale says that some of its values are
// not encrypted with the newest key.
func openFile(path string, o Options) (_ *DB, stale bool, err error) {
	f, err := acquire(path, o.LockWait)
	if err != nil {
		return nil, false, err
	}
	db := &DB{path: path, file: f, options: o, closed: make(chan struct{}), changed: make(chan struct{}), down: make(chan struct{})}
	if stale, err = db.open(); err != nil {
		// bbolt closed the file if it got that far; a second Close does nothing.
		_ = f.Close()
		return nil, false, err
	}
	return db, stale, nil
}

// open passes the locked file to bbolt.
func (db *DB) open() (stale bool, err error) {
	if err := db.inspectFile(); err != nil {
		return false, err
	}
	defer func() {
		if r := recover(); r != nil {
			err = &DamagedError{db.path, fmt.Sprint(r)}
		}
	}()
	db.bolt, err = bbolt.Open(db.path, fileMode, &bbolt.Options{
		Timeout:         time.Millisecond, // the lock is already ours
		FreelistType:    bbolt.FreelistMapType,
		InitialMmapSize: mapSize,
		OpenFile:        func(string, int, os.FileMode) (*os.File, error) { return db.file, nil },
	})
	if errors.Is(err, bolterrors.ErrTimeout) {
		return false, &LockedError{db.path}
	}
	if err != nil {
		return false, db.ioError("open", err)
	}
	if stale, err = db.setUp(); err != nil {
		return false, errors.Join(err, db.bolt.Close())
	}
	return stale, nil
}

// mapSize is how much address space the file gets at once: growing the map waits for every
// reader. It takes no memory.
const mapSize = 1 << (20 + 10*(^uint(0)>>63)) // 1 GiB, or 1 MiB on 32-bit systems

// Path returns the path of the store's file.
func (db *DB) Path() string { return db.path }

// Close lets queued writes finish, refuses later ones with [ErrClosed], ends watches, and
// releases the file. It returns after the store's goroutine and every transaction have
// ended.
func (db *DB) Close() error {
	db.close.Do(func() {
		db.writer.stop()
		close(db.closed)
		err := db.journal.Close()
		if err == nil {
			err = db.succeed()
		}
		if err := errors.Join(err, db.bolt.Close()); err != nil {
			db.err = fmt.Errorf("store: close %s: %w", db.path, err)
		}
	})
	return db.err
}

// Ping writes a heartbeat and returns when it is on disk, or when ctx ends: if it succeeds,
// the store can record a decision. A heartbeat needs no room of its own, so after a write
// that found no room Ping returns [approval.ErrFull] until there may be room again.
func (db *DB) Ping(ctx context.Context) error {
	err := db.write(ctx, true, func(t *tables) error {
		now := uint64(time.Now().UnixNano())
		t.put(t.vaglio, []byte(keyPing), binary.BigEndian.AppendUint64(nil, now))
		t.beat = true
		return nil
	})
	if err == nil && db.lacksRoom(time.Now()) {
		return fmt.Errorf("store: %s: %w", db.path, approval.ErrFull)
	}
	return err
}

const (
	// fullFor is how long a write without room counts, and leastRoom is what the file
	// system must have free after that; other kinds of limits cannot be queried.
	fullFor   = 10 * time.Second
	leastRoom = 1 << 20
)

// lacksRoom reports whether writes fail for lack of room.
func (db *DB) lacksRoom(now time.Time) bool {
	full := db.full.Load()
	if full == 0 {
		return false
	}
	free, known := roomFor(db.file)
	if now.Sub(time.Unix(0, full)) < fullFor || known && free < leastRoom {
		return true
	}
	db.full.CompareAndSwap(full, 0)
	return false
}

// Broken returns a channel that is closed if the store stops because it cannot know what is
// on disk; [DB.Ping] then returns a [*BrokenError]. The process should then exit, so that
// the next one reopens the file.
func (db *DB) Broken() <-chan struct{} { return db.down }

// Backup writes to w a copy of the store's file as it is when the call begins, without the
// journal, and returns its size in bytes. Writing to the store continues; because the file
// cannot reuse pages that are being copied, w should be a local file.
func (db *DB) Backup(w io.Writer) (int64, error) {
	var n int64
	err := db.view(func(tx *bbolt.Tx) error {
		var err error
		n, err = tx.WriteTo(w)
		return err
	})
	if err != nil {
		return n, fmt.Errorf("store: back up %s: %w", db.path, err)
	}
	return n, nil
}

// view runs f in a read transaction. f must copy what it keeps.
func (db *DB) view(f func(*bbolt.Tx) error) error {
	if b := db.broken.Load(); b != nil {
		return b
	}
	select {
	case <-db.closed:
		return ErrClosed
	default:
	}
	err := db.bolt.View(f)
	if errors.Is(err, bolterrors.ErrDatabaseNotOpen) {
		return ErrClosed
	}
	return err
}

// news returns a channel that the next commit closes.
func (db *DB) news() <-chan struct{} {
	db.mu.Lock()
	defer db.mu.Unlock()
	return db.changed
}

// tell wakes everybody who waits for news.
func (db *DB) tell() {
	db.mu.Lock()
	defer db.mu.Unlock()
	close(db.changed)
	db.changed = make(chan struct{})
}
