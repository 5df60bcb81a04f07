//go:build unix

package bolt_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/store/bolt"
)

// room takes room away from the store's file, and gives it back.
type room interface {
	end(path string) error
	begin() error
}

// limit keeps the process from writing beyond a position in a file.
type limit struct{ was syscall.Rlimit }

func (l *limit) end(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &l.was); err != nil {
		return err
	}
	return syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: uint64(info.Size()), Max: l.was.Max})
}

func (l *limit) begin() error { return syscall.Setrlimit(syscall.RLIMIT_FSIZE, &l.was) }

// small is a file system of a few MiB with a file that takes up the remaining room.
type small struct{ dir string }

func (s small) ballast() string { return filepath.Join(s.dir, "ballast") }

func (s small) end(string) error {
	f, err := os.Create(s.ballast())
	if err != nil {
		return err
	}
	defer f.Close()
	for {
		if _, err := f.Write(make([]byte, 4096)); errors.Is(err, syscall.ENOSPC) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

func (s small) begin() error { return os.Remove(s.ballast()) }

// TestFullDiskRefusesAndRecovers runs the test in a process of its own, because a limit
// applies to a whole process.
func TestFullDiskRefusesAndRecovers(t *testing.T) {
	t.Run("file_limit", func(t *testing.T) {
		runFull(t, exec.CommandContext(t.Context(), executable(t), "-full="+newFile(t)))
	})
	t.Run("full_file_system", func(t *testing.T) {
		dir := t.TempDir()
		cmd := exec.CommandContext(t.Context(), executable(t), "-full=mount:"+dir)
		if !ownMounts(cmd) {
			t.Skip("needs Linux")
		}
		runFull(t, cmd)
	})
}

func runFull(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	out, err := cmd.CombinedOutput()
	switch {
	case strings.Contains(string(out), "cannot mount"), errors.Is(err, syscall.EPERM):
		t.Skipf("no mounts of our own here: %s", out)
	case err != nil:
		t.Fatalf("%v: %s", err, out)
	}
}

// writeUntilFull runs in that process.
func writeUntilFull(path string) error {
	var r room = &limit{}
	if dir, ok := strings.CutPrefix(path, "mount:"); ok {
		if err := mountSmall(dir); err != nil {
			return fmt.Errorf("cannot mount: %w", err)
		}
		r, path = small{dir}, filepath.Join(dir, "vaglio.db")
	}
	db, err := bolt.Open(path, bolt.Options{})
	if err != nil {
		return err
	}
	defer db.Close()
	kept, entries := map[string]int{}, map[uint64]int{}
	if err := fillUp(db, r, kept, entries); err != nil {
		return err
	}
	return rotateWithoutRoom(db, r, kept, entries)
}

const fullRecords = 50

// fillUp takes the room away and gives it back three times, and records the sizes of the
// records and of the journal's entries that were acknowledged.
func fillUp(db *bolt.DB, r room, kept map[string]int, entries map[uint64]int) error {
	ctx := context.Background()
	write := func(id string, size int) error {
		err := put(ctx, db, approval.Record{ID: id, Keys: []string{"k" + id}, Open: size%2 == 0, Body: make([]byte, size)})
		if err == nil {
			kept[id] = size
		}
		return err
	}
	for i := range fullRecords {
		if err := write(fmt.Sprint("r", i), 1000+i); err != nil {
			return fmt.Errorf("with room: %w", err)
		}
	}
	for round := range 3 {
		if err := r.end(db.Path()); err != nil {
			return err
		}
		if err := untilRefused(write, round); err != nil {
			return err
		}
		if err := db.Ping(ctx); err != nil && !errors.Is(err, approval.ErrFull) {
			return fmt.Errorf("ping: got %w, want ErrFull or room", err)
		}
		if _, whole := r.(small); whole { // limiting a single file leaves the journal its room
			if err := entriesUntilRefused(db, entries); err != nil {
				return err
			}
		}
		if err := errors.Join(same(db, kept), sameEntries(db, entries)); err != nil {
			return fmt.Errorf("while full: %w", err)
		}
		if err := r.begin(); err != nil {
			return err
		}
		if err := appendEntry(db, entries, 300_000); err != nil {
			return fmt.Errorf("the journal with room again: %w", err)
		}
		if err := write(fmt.Sprint("again", round), 300_000); err != nil {
			return fmt.Errorf("with room again: %w", err)
		}
		if err := errors.Join(same(db, kept), sameEntries(db, entries)); err != nil {
			return fmt.Errorf("with room again: %w", err)
		}
	}
	return nil
}

// appendEntry appends an entry to the journal, and records its size if it was accepted.
func appendEntry(db *bolt.DB, sizes map[uint64]int, size int) error {
	e := approval.JournalEntry{At: time.Now(), Key: "turn", Note: []byte("note"), Body: make([]byte, size)}
	err := db.Append(context.Background(), &e)
	if err == nil {
		sizes[e.Seq] = size
	}
	return err
}

// entriesUntilRefused appends until the disk is full: the error says so, and nothing is
// broken.
func entriesUntilRefused(db *bolt.DB, sizes map[uint64]int) error {
	for range 4000 {
		if err := appendEntry(db, sizes, 3000); err == nil {
			continue
		} else if _, broken := errors.AsType[*bolt.BrokenError](err); broken || !errors.Is(err, approval.ErrFull) {
			return fmt.Errorf("the journal: got %w, want ErrFull", err)
		}
		return nil
	}
	return errors.New("there is no end of room for the journal")
}

// sameEntries compares the journal's entries with those that were acknowledged.
func sameEntries(db *bolt.DB, sizes map[uint64]int) error {
	n := 0
	for e, err := range db.Entries(context.Background(), approval.Span{}) {
		if err != nil {
			return err
		}
		if n++; sizes[e.Seq] != len(e.Body) {
			return fmt.Errorf("entry %d has %d bytes, acknowledged were %d", e.Seq, len(e.Body), sizes[e.Seq])
		}
	}
	if n != len(sizes) {
		return fmt.Errorf("the journal has %d entries, %d were acknowledged", n, len(sizes))
	}
	return nil
}

// untilRefused makes larger and larger writes until one is refused, which must say why.
func untilRefused(write func(id string, size int) error, round int) error {
	for i := range 4000 {
		err := write(fmt.Sprint("big", round, "-", i), 200_000)
		if err == nil {
			continue
		}
		if !errors.Is(err, approval.ErrFull) || strings.Contains(err.Error(), "\n") {
			return fmt.Errorf("got %w, want ErrFull in one line", err)
		}
		if _, ok := errors.AsType[*bolt.BrokenError](err); ok {
			return fmt.Errorf("the store gave up: %w", err)
		}
		return nil
	}
	return errors.New("there is no end of room")
}

// same compares everything stored with what was acknowledged.
func same(db *bolt.DB, kept map[string]int) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	n := 0
	for r, err := range db.List(ctx, approval.Query{Kind: approval.KindAsk}) {
		if err != nil {
			return err
		}
		n++
		size, ok := kept[r.ID]
		if !ok || size != len(r.Body) {
			return fmt.Errorf("%s has %d bytes, acknowledged were %d", r.ID, len(r.Body), size)
		}
		if got, err := db.Get(ctx, approval.KindAsk, "k"+r.ID); err != nil || got.Seq != r.Seq {
			return fmt.Errorf("the key of %s leads to %q: %w", r.ID, got.ID, err)
		}
	}
	if problems := db.Audit(); len(problems) > 0 {
		return fmt.Errorf("%q", problems)
	}
	if n != len(kept) {
		return fmt.Errorf("%d are stored, %d were acknowledged", n, len(kept))
	}
	return nil
}

// rotateWithoutRoom rotates the keys and opens the store where there is no room to write it
// anew: it stays readable with its old key, however often it is opened, until there is room.
func rotateWithoutRoom(db *bolt.DB, r room, kept map[string]int, entries map[uint64]int) error {
	path := db.Path()
	if err := errors.Join(db.RotateKeys(), db.Close(), r.end(bolt.KeyFileOf(path))); err != nil {
		return err
	}
	for range 2 {
		if err := reopen(path, kept, entries); err != nil {
			return fmt.Errorf("with new keys and no room: %w", err)
		}
	}
	if err := errors.Join(r.begin(), reopen(path, kept, entries)); err != nil {
		return fmt.Errorf("with new keys and room again: %w", err)
	}
	return nil
}

// reopen checks that the file and the journal are intact.
func reopen(path string, kept map[string]int, entries map[uint64]int) error {
	db, err := bolt.Open(path, bolt.Options{})
	if err != nil {
		return err
	}
	return errors.Join(same(db, kept), sameEntries(db, entries), db.Close())
}
