package bolt

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"sync"
	"time"

	"go.etcd.io/bbolt"

	"github.com/metnos/vaglio/approval"
)

// writer is the one goroutine that writes. It puts whatever is queued into one transaction
// and answers when that is on disk.
type writer struct {
	mu      sync.Mutex
	queue   []*op
	stopped bool
	wake    chan struct{} // holds one token while there is something to do
	done    sync.WaitGroup
}

// op is one queued write.
type op struct {
	// run does the work within the shared transaction. Its error goes to its caller alone,
	// and means that it has put nothing.
	run  func(*tables) error
	done chan struct{}
	err  error // valid once done is closed
}

// groupMax is the most writes that share a transaction, which limits how long the first of
// them waits for the others.
const groupMax = 1024

// errNothing rolls back a transaction that wrote nothing.
var errNothing = errors.New("nothing to write")

// Update runs change on the record with the id and stores what it returns, as one atomic
// step. What it returns is on disk.
//
// If ctx ends before the write is started, it does not happen and the error is that of ctx.
// A write that was started is waited for, so that the caller knows how it ended.
//
// change must be pure: it runs in another goroutine and may run again. A panic in it
// becomes a [*approval.PanicError]. If the disk is full the error is [approval.ErrFull],
// and nothing was written.
func (db *DB) Update(ctx context.Context, kind approval.Kind, id string, change func(approval.Record) (approval.Record, error)) (approval.Record, error) {
	if err := cmp.Or(kind.Check(), approval.CheckName("id", id)); err != nil {
		return approval.Record{}, err
	}
	var out approval.Record
	err := db.write(ctx, false, func(t *tables) (err error) {
		out, err = t.update(kind, id, change)
		return err
	})
	if err != nil {
		return approval.Record{}, db.unread(kind, id, err)
	}
	return out, nil
}

// Drop deletes the records that are still as they were read, as one atomic step: what
// changed, does not exist or is damaged is left alone. Many records are dropped faster
// than by one Update each. The errors are those of Update.
func (db *DB) Drop(ctx context.Context, kind approval.Kind, read []approval.Version) error {
	if err := kind.Check(); err != nil {
		return err
	}
	return db.write(ctx, false, func(t *tables) error {
		for _, v := range read {
			key := name(kind, v.ID)
			if r, ok := head(key, t.record.Get(key)); ok && r.Seq == v.Seq {
				r.ID = v.ID
				t.drop(kind, r)
			}
		}
		return nil
	})
}

// Lease takes or renews the named lease for the holder until ttl from now, and returns its
// fencing token. Renewing keeps the token. A lease that lapsed is taken anew, even by its
// last holder, with a higher token than any lease had before. A ttl of 0 gives up the
// lease. A [*approval.LeaseError] says who else holds it until when.
func (db *DB) Lease(ctx context.Context, lease, holder string, ttl time.Duration) (uint64, error) {
	if err := cmp.Or(approval.CheckName("lease", lease), approval.CheckName("holder", holder)); err != nil {
		return 0, err
	}
	if ttl < 0 {
		return 0, &approval.RecordError{Field: "ttl", Problem: "is negative"}
	}
	var token uint64
	err := db.write(ctx, false, func(t *tables) (err error) {
		token, err = t.lend(lease, holder, ttl)
		return err
	})
	if err != nil {
		return 0, db.damaged(err)
	}
	return token, nil
}

// write queues run and waits for its result. With giveUp it stops waiting when ctx ends,
// although the write may still happen.
func (db *DB) write(ctx context.Context, giveUp bool, run func(*tables) error) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("store: not written: %w", err)
	}
	o := &op{run: run, done: make(chan struct{})}
	if !db.writer.submit(o) {
		if b := db.broken.Load(); b != nil {
			return b
		}
		return ErrClosed
	}
	select {
	case <-o.done:
	case <-ctx.Done():
		if db.writer.abandon(o) || giveUp {
			return fmt.Errorf("store: not written: %w", ctx.Err())
		}
		<-o.done
	}
	return o.err
}

func (w *writer) start(db *DB) {
	w.wake = make(chan struct{}, 1)
	w.done.Go(func() { w.loop(db) })
}

// stop lets queued writes finish and returns when the goroutine has ended.
func (w *writer) stop() {
	w.mu.Lock()
	w.stopped = true
	w.mu.Unlock()
	w.nudge()
	w.done.Wait()
}

func (w *writer) nudge() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

func (w *writer) submit(o *op) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stopped {
		return false
	}
	w.queue = append(w.queue, o)
	w.nudge()
	return true
}

// abandon takes o out of the queue, or reports false if it was already started.
func (w *writer) abandon(o *op) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i, q := range w.queue {
		if q == o {
			w.queue = append(w.queue[:i:i], w.queue[i+1:]...)
			return true
		}
	}
	return false
}

// take returns the writes of the next group, and whether to go on at all.
func (w *writer) take() (group []*op, more bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := min(len(w.queue), groupMax)
	// The queue's own array must not keep writes that were taken: they hold records, and the calls
	// that wait for people.
	group = slices.Clone(w.queue[:n])
	w.queue = slices.Delete(w.queue, 0, n)
	if len(w.queue) > 0 || w.stopped {
		w.nudge()
	}
	return group, n > 0 || !w.stopped
}

func (w *writer) loop(db *DB) {
	var group []*op
	defer func() {
		// A change may end this goroutine with runtime.Goexit, which cannot be prevented.
		// Nobody must wait for ever because of it.
		w.refuse(db, group)
	}()
	for range w.wake {
		var more bool
		if group, more = w.take(); !more {
			return
		}
		err := db.commit(group)
		for _, o := range group {
			if err != nil {
				o.err = err
			}
			close(o.done)
		}
		group = nil
	}
}

// refuse answers all who still wait if the goroutine ends prematurely.
func (w *writer) refuse(db *DB, group []*op) {
	w.mu.Lock()
	defer w.mu.Unlock()
	group = append(group, w.queue...)
	w.queue = nil
	if !w.stopped || len(group) > 0 {
		w.stopped = true
		_ = db.breakDown(errors.New("a change ended the writer"))
	}
	for _, o := range group {
		o.err = db.broken.Load()
		close(o.done)
	}
}

// commit runs the group in one transaction. Its error goes to every write of the group:
// each may have seen what another one wrote.
func (db *DB) commit(group []*op) (err error) {
	if len(group) == 0 {
		return nil
	}
	if b := db.broken.Load(); b != nil {
		return b
	}
	defer func() {
		if r := recover(); r != nil {
			err = db.breakDown(fmt.Errorf("panic while writing: %v", r))
		}
	}()
	id, beat := 0, false
	err = db.bolt.Update(func(tx *bbolt.Tx) error {
		id = tx.ID()
		t := newTables(tx, &db.seq, db.keys)
		for _, o := range group {
			if o.err = o.run(t); t.err != nil {
				return t.err
			}
		}
		if !t.wrote {
			return errNothing
		}
		beat = t.beat
		return nil
	})
	switch {
	case errors.Is(err, errNothing):
		return nil
	case err != nil:
		return db.noted(db.failed(id, err))
	}
	if err := db.displaced(); err != nil {
		return db.breakDown(err)
	}
	if !beat {
		db.full.Store(0)
	}
	db.tell()
	return nil
}

// displaced reports whether the file at the store's path, or the journal beside it, is no longer the one
// that is open, because somebody removed it or put another there, such as a backup. What is written to
// the open one would be gone with the process.
func (db *DB) displaced() error {
	ours, err := db.file.Stat()
	if err != nil {
		return err
	}
	there, err := os.Stat(db.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return errors.New("the file was removed while it was in use")
	case err != nil:
		return err
	case !os.SameFile(ours, there):
		return errors.New("another file was put in its place while it was in use: stop vaglio before you put a backup back")
	}
	return db.journal.Displaced()
}

// failed distinguishes a transaction that left no trace from one whose last page was
// written but not confirmed: readers already see that one, although a power cut could undo
// it, and repeating the fsync would not tell. In the second case nothing that is read can
// be relied on, and the store stops.
func (db *DB) failed(id int, err error) error {
	err = db.ioError("write", err)
	now := id
	if viewErr := db.bolt.View(func(tx *bbolt.Tx) error { now = tx.ID(); return nil }); viewErr != nil {
		return db.breakDown(errors.Join(err, viewErr))
	}
	if now == id {
		return db.breakDown(err)
	}
	return err
}

// noted remembers that a write found no room.
func (db *DB) noted(err error) error {
	if errors.Is(err, approval.ErrFull) {
		db.full.Store(time.Now().UnixNano())
	}
	return err
}

// breakDown makes every later call fail.
func (db *DB) breakDown(err error) error {
	b := &BrokenError{db.path, err}
	if db.broken.CompareAndSwap(nil, b) {
		close(db.down)
	}
	db.tell()
	return b
}

// unread names the record that cannot be read.
func (db *DB) unread(kind approval.Kind, id string, err error) error {
	if _, ok := errors.AsType[*spoiled](err); !ok {
		return db.damaged(err)
	}
	return &approval.UnreadError{Kind: kind, ID: id, Err: db.damaged(err)}
}

// damaged names the file in which something is invalid.
func (db *DB) damaged(err error) error {
	if d, ok := errors.AsType[damage](err); ok {
		return &DamagedError{db.path, string(d)}
	}
	return err
}
