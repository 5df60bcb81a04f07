package bolt

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"go.etcd.io/bbolt"

	"github.com/metnos/vaglio/approval"
)

// These tests look inside: at transactions, and at the disk failures that make the writer
// stop.

func newDB(t *testing.T) *DB {
	t.Helper()
	db, err := Open(filepath.Join(t.TempDir(), "vaglio.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

func lastTx(t *testing.T, db *DB) (id int) {
	t.Helper()
	if err := db.bolt.View(func(tx *bbolt.Tx) error { id = tx.ID(); return nil }); err != nil {
		t.Fatal(err)
	}
	return id
}

func save(ctx context.Context, db *DB, id string) error {
	_, err := db.Update(ctx, approval.KindAsk, id, func(r approval.Record) (approval.Record, error) { return r, nil })
	return err
}

// hold keeps the writer busy with a change. The returned function ends the change, and
// returns its result.
func hold(t *testing.T, db *DB) (release func() error) {
	t.Helper()
	gate, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		_, err := db.Update(t.Context(), approval.KindAsk, "held", func(r approval.Record) (approval.Record, error) {
			<-gate
			return r, nil
		})
		ended <- err
	}()
	synctest.Wait()
	return func() error { close(gate); return <-ended }
}

func TestWhatIsQueuedSharesOneTransaction(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := newDB(t)
		release := hold(t, db)
		before := lastTx(t, db)
		var wg sync.WaitGroup
		for i := range 200 {
			wg.Go(func() {
				if err := save(t.Context(), db, fmt.Sprint("a", i)); err != nil {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		if err := release(); err != nil {
			t.Fatal(err)
		}
		wg.Wait()
		// One for what was held, and one for all that waited for it.
		if n := lastTx(t, db) - before; n != 2 {
			t.Errorf("%d transactions, want 2", n)
		}
	})
}

// TestTheQueueKeepsNothing checks that what a write holds can be freed once it is done: the queue
// was long for a moment, and its array stays that long.
func TestTheQueueKeepsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := newDB(t)
		release := hold(t, db)
		const writes = 20
		var wg sync.WaitGroup
		var held []weak.Pointer[[1 << 10]byte]
		for i := range writes {
			body := new([1 << 10]byte)
			held = append(held, weak.Make(body))
			wg.Go(func() {
				_, err := db.Update(t.Context(), approval.KindAsk, fmt.Sprint("a", i), func(r approval.Record) (approval.Record, error) {
					r.Body = body[:]
					return r, nil
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		if err := release(); err != nil {
			t.Fatal(err)
		}
		wg.Wait()
		runtime.GC()
		for i, w := range held {
			if w.Value() != nil {
				t.Errorf("the record of write %d is still held", i)
			}
		}
	})
}

// A write that the file does not take is not acknowledged, nor is anything that would be committed
// with it; what comes later is written.
func TestWhatCannotBePutIsNotAcknowledged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := newDB(t)
		release := hold(t, db)
		ids := []string{"before", "after"}
		var wg sync.WaitGroup
		queue := func(name string, write func() error) {
			wg.Go(func() {
				if write() == nil {
					t.Errorf("%s was acknowledged", name)
				}
			})
			synctest.Wait() // they queue in this order
		}
		queue(ids[0], func() error { return save(t.Context(), db, ids[0]) })
		queue("what has no key", func() error {
			return db.write(t.Context(), false, func(t *tables) error { t.put(t.record, nil, []byte("x")); return nil })
		})
		queue(ids[1], func() error { return save(t.Context(), db, ids[1]) })
		if err := release(); err != nil {
			t.Fatal(err)
		}
		wg.Wait()
		for _, id := range ids {
			if _, err := db.Get(t.Context(), approval.KindAsk, id); !errors.Is(err, approval.ErrNotFound) {
				t.Errorf("%s: %v", id, err)
			}
		}
		if err := save(t.Context(), db, "later"); err != nil {
			t.Error(err)
		}
	})
}

func TestWhatWritesNothingCommitsNothing(t *testing.T) {
	db := newDB(t)
	before := lastTx(t, db)
	for _, answer := range []error{approval.ErrKeep, errors.New("no")} {
		_, err := db.Update(t.Context(), approval.KindAsk, "a", func(r approval.Record) (approval.Record, error) { return r, answer })
		if (err == nil) != errors.Is(answer, approval.ErrKeep) {
			t.Errorf("got %v for %v", err, answer)
		}
	}
	if n := lastTx(t, db) - before; n != 0 {
		t.Errorf("%d transactions, want none", n)
	}
}

func TestCallThatEndedInTheQueueDoesNotHappen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := newDB(t)
		release := hold(t, db)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 2)
		go func() { ended <- save(ctx, db, "cancelled") }()
		go func() { ended <- db.Ping(ctx) }()
		synctest.Wait()
		cancel()
		for range 2 {
			if err := <-ended; !errors.Is(err, context.Canceled) {
				t.Errorf("got %v, want context.Canceled", err)
			}
		}
		if err := release(); err != nil {
			t.Fatal(err)
		}
		if _, err := db.Get(t.Context(), approval.KindAsk, "cancelled"); !errors.Is(err, approval.ErrNotFound) {
			t.Errorf("the write happened: %v", err)
		}
	})
}

func TestCallThatWasTakenUpAnswersHowItEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := newDB(t)
		ctx, cancel := context.WithCancel(t.Context())
		gate, ended := make(chan struct{}), make(chan error, 1)
		go func() {
			_, err := db.Update(ctx, approval.KindAsk, "a", func(r approval.Record) (approval.Record, error) {
				<-gate
				return r, nil
			})
			ended <- err
		}()
		synctest.Wait()
		cancel()
		synctest.Wait()
		select {
		case err := <-ended:
			t.Fatalf("answered %v before it had ended", err)
		default:
		}
		close(gate)
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if _, err := db.Get(t.Context(), approval.KindAsk, "a"); err != nil {
			t.Error(err)
		}
	})
}

// TestWhatIsTakenUpAsPartOfAGroupAnswersHowItEnded ends the context of writes whose group has begun.
func TestWhatIsTakenUpAsPartOfAGroupAnswersHowItEnded(t *testing.T) {
	for name, write := range map[string]func(context.Context, *DB) error{
		"Drop":       func(ctx context.Context, db *DB) error { return db.Drop(ctx, approval.KindAsk, nil) },
		"DropLeaves": func(ctx context.Context, db *DB) error { return db.DropLeaves(ctx, 1) },
		"Lease": func(ctx context.Context, db *DB) error {
			_, err := db.Lease(ctx, "l", "h", time.Hour)
			return err
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			db := newDB(t)
			release := hold(t, db)
			gate, ended := make(chan struct{}), make(chan error, 1)
			go func() {
				_, _ = db.Update(t.Context(), approval.KindAsk, "a", func(r approval.Record) (approval.Record, error) {
					<-gate
					return r, nil
				})
			}()
			synctest.Wait()
			ctx, cancel := context.WithCancel(t.Context())
			go func() { ended <- write(ctx, db) }()
			synctest.Wait()
			if err := release(); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			cancel()
			synctest.Wait()
			select {
			case err := <-ended:
				t.Errorf("%s answered %v before it had ended", name, err)
			default:
			}
			close(gate)
			if err := <-ended; err != nil {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
}

func TestPingDoesNotWaitForADiskThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := newDB(t)
		gate := make(chan struct{})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		// A ping that was accepted, in a group with a change that hangs.
		release := hold(t, db)
		go func() {
			db.Update(t.Context(), approval.KindAsk, "hangs", func(r approval.Record) (approval.Record, error) {
				<-gate
				return r, nil
			})
		}()
		synctest.Wait()
		go func() { ended <- db.Ping(ctx) }()
		synctest.Wait()
		if err := release(); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want context.Canceled", err)
		}
		close(gate)
	})
}

func TestCloseWritesWhatIsQueued(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := newDB(t)
		release := hold(t, db)
		ended := make(chan error, 20)
		for i := range cap(ended) {
			go func() { ended <- save(t.Context(), db, fmt.Sprint("a", i)) }()
		}
		synctest.Wait()
		closed := make(chan error, 1)
		go func() { closed <- db.Close() }()
		synctest.Wait()
		if err := save(t.Context(), db, "late"); !errors.Is(err, ErrClosed) {
			t.Errorf("a late write: got %v, want ErrClosed", err)
		}
		if err := release(); err != nil {
			t.Error(err)
		}
		if err := <-closed; err != nil {
			t.Error(err)
		}
		for range cap(ended) {
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
		again, err := Open(db.path, Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer again.Close()
		for i := range cap(ended) {
			if _, err := again.Get(t.Context(), approval.KindAsk, fmt.Sprint("a", i)); err != nil {
				t.Errorf("a%d: %v", i, err)
			}
		}
	})
}

func TestManyMoreThanAGroupAreAllWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := newDB(t)
		release := hold(t, db)
		before := lastTx(t, db)
		var wg sync.WaitGroup
		for i := range 2*groupMax + 1 {
			wg.Go(func() {
				if err := save(t.Context(), db, fmt.Sprint("a", i)); err != nil {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		if err := release(); err != nil {
			t.Fatal(err)
		}
		wg.Wait()
		if n := lastTx(t, db) - before; n != 4 {
			t.Errorf("%d transactions, want 1 and 3", n)
		}
	})
}

// TestChangeThatEndsItsGoroutineHangsNobody ends the goroutine inside a change, as a test
// does that calls Fatal there.
func TestChangeThatEndsItsGoroutineHangsNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := newDB(t)
		release := hold(t, db)
		ended := make(chan error, 3)
		go func() { ended <- save(t.Context(), db, "a") }()
		synctest.Wait()
		go func() {
			_, err := db.Update(t.Context(), approval.KindAsk, "b", func(approval.Record) (approval.Record, error) {
				runtime.Goexit()
				return approval.Record{}, nil
			})
			ended <- err
		}()
		synctest.Wait()
		go func() { ended <- save(t.Context(), db, "c") }()
		synctest.Wait()
		if err := release(); err != nil {
			t.Fatal(err)
		}
		for range cap(ended) {
			if err := <-ended; !isBroken(err) {
				t.Errorf("got %v, want a BrokenError", err)
			}
		}
		mustBeBroken(t, db)
	})
}

// TestFailureAfterTheLastPageStopsTheStore fails a commit after its last page was written:
// readers see the transaction, and nobody knows whether it would survive a power cut.
func TestFailureAfterTheLastPageStopsTheStore(t *testing.T) {
	db := newDB(t)
	if err := save(t.Context(), db, "a"); err != nil {
		t.Fatal(err)
	}
	id := lastTx(t, db)
	if err := db.failed(id+1, syscall.EIO); isBroken(err) || !errors.Is(err, syscall.EIO) {
		t.Fatalf("a transaction that left no trace: got %v, want the failure alone", err)
	}
	if err := save(t.Context(), db, "b"); err != nil {
		t.Fatal(err)
	}
	if err := db.failed(lastTx(t, db), syscall.EIO); !isBroken(err) || !errors.Is(err, syscall.EIO) {
		t.Fatalf("got %v, want a BrokenError with its cause", err)
	}
	mustBeBroken(t, db)
	select {
	case <-db.Broken():
	default:
		t.Error("nobody is told that the store stopped")
	}
	db.Close()
	again, err := Open(db.path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if err := save(t.Context(), again, "c"); err != nil {
		t.Errorf("opened anew: %v", err)
	}
}

// TestWatchHearsWhatCommitsWhileItGoesToSleep lets a change commit, and announce itself, at
// the moment when the watch asks for news. A watch that read before it asked would sleep
// through the change, which is a deadlock in the bubble.
func TestWatchHearsWhatCommitsWhileItGoesToSleep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := newDB(t)
		heard := make(chan string)
		db.mu.Lock() // asking for news has to wait
		go func() {
			for r := range db.Watch(t.Context(), approval.KindAsk, 0) {
				heard <- r.ID
				return
			}
		}()
		for range 1000 {
			runtime.Gosched()
		}
		if err := db.bolt.Update(func(tx *bbolt.Tx) error {
			_, err := newTables(tx, new(atomic.Uint64), db.keys).update(approval.KindAsk, "a", func(r approval.Record) (approval.Record, error) { return r, nil })
			return err
		}); err != nil {
			t.Fatal(err)
		}
		close(db.changed)
		db.changed = make(chan struct{})
		db.mu.Unlock()
		if id := <-heard; id != "a" {
			t.Errorf("heard of %q", id)
		}
	})
}

// TestWhatWasNotWrittenIsNotRead gives the readers numbers and lists of keys that no writer makes.
func TestWhatWasNotWrittenIsNotRead(t *testing.T) {
	for key, want := range map[string]bool{"": false, "\x00": false, "\x00\x00\x00\x00\x00\x00\x01": false, "\x00\x00\x00\x00\x00\x00\x00\x01": true, "\xff\x00\x00\x00\x00\x00\x00\x01": false, "\x00\x00\x00\x00\x00\x00\x00\x00\x01": false} {
		if n, err := leafIndex([]byte(key)); (err == nil) != want || want && n != 1 {
			t.Errorf("the leaf %q is %d, %v", key, n, err)
		}
	}
	for stored, want := range map[string]bool{strings.Repeat("\x00", 18): true, strings.Repeat("\x00", 17): false} {
		v := append([]byte{openRecord, 0, 0, 0, 0}, stored...)
		binary.BigEndian.PutUint32(v[1:], checksum([]byte("k"), v[checked:]))
		if _, ok := head([]byte("k"), v); ok != want {
			t.Errorf("%d bytes behind a valid checksum are a record: %v", len(stored), ok)
		}
		if _, ok := head([]byte("l"), v); ok {
			t.Error("the record of another key is read")
		}
		if _, err := decode(nil, []byte("l"), v); err == nil {
			t.Error("the record of another key is taken as it stands")
		}
	}
	many := binary.AppendUvarint(nil, approval.MaxKeys+1)
	for list, want := range map[string]bool{
		"": false, "\x00": true, "\x01": false, "\x01\x02a": false, "\x01\x01a": true, "\x02\x01a\x00": true, "\x02\x01a": false, "\xff": false,
		string(many) + strings.Repeat("\x00", approval.MaxKeys+1): false,
	} {
		if keys, _, ok := decodeKeys([]byte(list)); ok != want || !want && keys != nil {
			t.Errorf("the keys %.20q are %d, %v", list, len(keys), ok)
		}
	}
}

func isBroken(err error) bool {
	_, ok := errors.AsType[*BrokenError](err)
	return ok
}

// ending returns the error with which a listing ends; nil if it ends as if it were whole.
func ending[T any](listing iter.Seq2[T, error]) (last error) {
	for _, err := range listing {
		last = err
	}
	return last
}

func mustBeBroken(t *testing.T, db *DB) {
	t.Helper()
	ctx := t.Context()
	if err := save(ctx, db, "x"); !isBroken(err) {
		t.Errorf("Update: got %v, want a BrokenError", err)
	}
	if err := db.Append(ctx, &approval.JournalEntry{Key: "a", Body: []byte("{}")}); !isBroken(err) {
		t.Errorf("Append: got %v, want a BrokenError", err)
	}
	if _, err := db.Get(ctx, approval.KindAsk, "a"); !isBroken(err) {
		t.Errorf("Get: got %v, want a BrokenError", err)
	}
	if _, err := db.Lease(ctx, "l", "h", 1); !isBroken(err) {
		t.Errorf("Lease: got %v, want a BrokenError", err)
	}
	if err := db.Ping(ctx); !isBroken(err) {
		t.Errorf("Ping: got %v, want a BrokenError", err)
	}
	if err := ending(db.List(ctx, approval.Query{Kind: approval.KindAsk})); !isBroken(err) {
		t.Errorf("List: got %v, want a BrokenError", err)
	}
	if err := ending(db.Watch(ctx, approval.KindAsk, 0)); !isBroken(err) {
		t.Errorf("Watch: got %v, want a BrokenError", err)
	}
	if err := ending(db.Leaves(ctx, 0)); !isBroken(err) {
		t.Errorf("Leaves: got %v, want a BrokenError", err)
	}
}

// TestAHeartbeatTellsOfAFullDisk checks that a heartbeat reports a full disk although its
// own write would still fit.
func TestAHeartbeatTellsOfAFullDisk(t *testing.T) {
	db := newDB(t)
	if err := db.noted(db.ioError("write", syscall.ENOSPC)); !errors.Is(err, approval.ErrFull) {
		t.Fatal(err)
	}
	for range 2 {
		if err := db.Ping(t.Context()); !errors.Is(err, approval.ErrFull) {
			t.Errorf("after a write without room: %v", err)
		}
	}
	if db.lacksRoom(time.Now().Add(fullFor)) {
		t.Error("it is full for ever")
	}
	if err := db.Ping(t.Context()); err != nil {
		t.Errorf("when there is room again: %v", err)
	}
	if err := db.noted(db.ioError("write", syscall.ENOSPC)); !errors.Is(err, approval.ErrFull) {
		t.Fatal(err)
	}
	if err := save(t.Context(), db, "a"); err != nil {
		t.Fatal(err)
	}
	if err := db.Ping(t.Context()); err != nil {
		t.Errorf("after a write that found room: %v", err)
	}
	if err := db.noted(syscall.EIO); !errors.Is(err, syscall.EIO) || db.full.Load() != 0 {
		t.Errorf("another failure counts as a lack of room")
	}
}
