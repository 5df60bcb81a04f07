// Package bolt keeps records in one file of one process: the default store. What
// happened and will not change, it keeps in a journal beside the file: vaglio.db
// has vaglio.journal. While nothing has it open, vaglio.clean may say that it was
// closed in order.
//
// All writes go through one goroutine that takes whatever is queued into one
// transaction and answers after its fsync, so a lone caller waits for nobody
// and many callers share the disk. Nothing is yielded and nothing is called
// out to while a transaction is open.
//
// The file is a bbolt database. Its buckets, with integers in big-endian order:
//
//	vaglio   "form" → the form of the file, "ping" → the last heartbeat,
//	         "sealed" → a value under the key that all of the file was written with
//	record   kind 0x00 id   → the record: form, checksum, flags, born, seq, keys, body (sealed)
//	key      kind 0x00 key  → id
//	open     kind 0x00 born → id, for records marked open
//	born     kind 0x00 born → id
//	seq      kind 0x00 seq  → id
//	lease    name           → holder, end and fencing token
//	leaf     index          → what a leaf of the history tells (sealed), until it is dropped
//	tree     index          → the hashes that the leaf added to the history's tree
//
// What is sealed is encrypted, by the keys of vaglio.keys beside the file. A file that is
// not sealed with the newest key, such as one from before there were keys, is written
// anew when it is opened, as Compact does.
//
// The counter behind Seq and Born is the sequence of the bucket "record", or the
// number of the journal's newest entry where that is greater; the one behind
// fencing tokens is the sequence of the bucket "lease".
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

// DB is an open store. Its methods may be called from any goroutine. It keeps
// the contract that package storetest tests.
type DB struct {
	path string
	file *os.File // bbolt's own; it closes it
	bolt *bbolt.DB
	// journal keeps the entries; seq numbers them and the records.
	journal *journal.Log
	seq     atomic.Uint64
	// keys seal what is kept. They are nil in a look at a file from before there were keys.
	keys    *keyring.Ring
	options Options
	writer  writer
	closed  chan struct{}
	close   sync.Once
	err     error // what Close answers
	// broken holds why the file cannot be trusted until it is opened anew.
	broken atomic.Pointer[BrokenError]
	down   chan struct{} // closed when broken is set
	// successor is the path of the file that takes this one's place when it is closed;
	// empty for none.
	successor string
	// inspected says that the file was read through when it was opened.
	inspected bool
	// full is when a write last found no room, in nanoseconds; 0 when one that
	// came later found some.
	full atomic.Int64

	mu      sync.Mutex
	changed chan struct{} // closed and replaced by every commit
}

// Options are the settings of [Open]. The zero value is right for a service.
type Options struct {
	// LockWait is how long to wait for another process to let go of the file;
	// 0 refuses at once.
	LockWait time.Duration
	// KeyFile is where the keys are that values are encrypted with; empty is beside the
	// store's file: vaglio.db has vaglio.keys.
	KeyFile string
	// Credential is a secret of the service, that keys are bound to; empty is none.
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

// Open opens the store in the file at path, and makes the file (0600) and its
// folder (0700) when they do not exist. The file is locked before it is read,
// and its structure is read through before it is used, because bbolt would end
// the process on a page that makes no sense. That takes time in proportion to the
// file, and is left out where it was closed in order and is the same to the instant
// of its last change.
//
// Errors: [*LockedError], [*ForeignError], [*DamagedError], [*FormError],
// [*keyring.FileError], [*KeyError], [approval.ErrFull], or what the file system said.
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

// openFile opens the store but for its journal. stale says that values of it are not
// encrypted with the newest key.
func openFile(path string, o Options) (_ *DB, stale bool, err error) {
	f, err := acquire(path, o.LockWait)
	if err != nil {
		return nil, false, err
	}
	db := &DB{path: path, file: f, options: o, closed: make(chan struct{}), changed: make(chan struct{}), down: make(chan struct{})}
	if stale, err = db.open(); err != nil {
		// bbolt closed the file if it came so far; a second Close does nothing.
		_ = f.Close()
		return nil, false, err
	}
	return db, stale, nil
}

// open hands the locked file to bbolt.
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
		Timeout:         time.Millisecond, // ours already
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

// mapSize is how much of the address space the file gets at once: growing the
// map waits for every reader. It takes no memory.
const mapSize = 1 << (20 + 10*(^uint(0)>>63)) // 1 GiB, or 1 MiB with 32 bits

// Path returns the path of the store's file.
func (db *DB) Path() string { return db.path }

// Close lets what is queued be written, refuses what comes later with
// [ErrClosed], ends watches, and lets go of the file. It returns after the
// store's goroutine and every transaction ended.
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

// Ping writes a heartbeat and returns when it is on disk, or when ctx ends: a
// store that answers it can keep a decision. A heartbeat takes no room of its own,
// so a store that could not grow says [approval.ErrFull] until it may be able to.
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
	// fullFor is how long a write without room is believed, and leastRoom what the
	// file system must offer after that: limits of other sorts cannot be asked for.
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

// Broken returns a channel that is closed when the store stopped because it cannot
// know what is on disk, and [DB.Ping] is a [*BrokenError]. The process that serves
// then ends, and the next one opens the file anew.
func (db *DB) Broken() <-chan struct{} { return db.down }

// Backup writes a copy of the store's file, without the journal, as it is when the call begins, to w, and
// returns its size in bytes. Writing goes on meanwhile; since the file cannot
// reuse what is being copied, w should be a local file.
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

// news returns a channel that is closed by the next commit.
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
