package bolt_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/store/bolt"
	"github.com/metnos/vaglio/store/storetest"
)

func TestOpenMakesFolderAndFileForTheOwnerAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a", "b", "vaglio.db")
	db := open(t, path)
	for name, want := range map[string]os.FileMode{path: 0o600, filepath.Dir(path): 0o700, filepath.Dir(filepath.Dir(path)): 0o700} {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != want {
			t.Errorf("%s has mode %v, want %v", filepath.Base(name), got, want)
		}
	}
	if db.Path() != path {
		t.Errorf("the path is %s", db.Path())
	}
	db.Close()
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	open(t, path)
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("others may still read the file: %v, %v", info.Mode(), err)
	}
}

func TestSecondOpenerIsRefusedAtOnce(t *testing.T) {
	path := newFile(t)
	first := open(t, path)
	_, err := bolt.Open(path, bolt.Options{})
	e, ok := errors.AsType[*bolt.LockedError](err)
	if !ok || e.File != path || !strings.HasPrefix(err.Error(), "another vaglio holds "+path) {
		t.Fatalf("got %v, want a LockedError", err)
	}
	if err := put(t.Context(), first, approval.Record{ID: "a"}); err != nil {
		t.Errorf("the first holder was disturbed: %v", err)
	}

	// One that waits gets the file when the first closes it.
	opened := make(chan error, 1)
	go func() {
		db, err := bolt.Open(path, bolt.Options{LockWait: time.Minute})
		if err == nil {
			err = db.Close()
		}
		opened <- err
	}()
	first.Close()
	if err := <-opened; err != nil {
		t.Error(err)
	}
}

func TestClosedStoreRefusesAndClosesAgain(t *testing.T) {
	db := open(t, newFile(t))
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Errorf("closing again: %v", err)
	}
	if err := put(t.Context(), db, approval.Record{ID: "a"}); !errors.Is(err, bolt.ErrClosed) {
		t.Errorf("Update: got %v, want ErrClosed", err)
	}
	if _, err := db.Get(t.Context(), approval.KindAsk, "a"); !errors.Is(err, bolt.ErrClosed) {
		t.Errorf("Get: got %v, want ErrClosed", err)
	}
	var told error
	for _, err := range db.Entries(t.Context(), approval.Span{}) {
		told = err
	}
	if !errors.Is(told, bolt.ErrClosed) {
		t.Errorf("Entries: got %v, want ErrClosed", told)
	}
	if err := db.Ping(t.Context()); !errors.Is(err, bolt.ErrClosed) {
		t.Errorf("Ping: got %v, want ErrClosed", err)
	}
	if _, err := db.Backup(&bytes.Buffer{}); !errors.Is(err, bolt.ErrClosed) {
		t.Errorf("Backup: got %v, want ErrClosed", err)
	}
}

func TestBackupIsAStore(t *testing.T) {
	db := open(t, newFile(t))
	fill(t, db, 300)
	copied := newFile(t)
	keep := bolt.Options{KeyFile: bolt.KeyFileOf(db.Path())}
	if err := os.MkdirAll(filepath.Dir(copied), 0o700); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(copied)
	if err != nil {
		t.Fatal(err)
	}
	n, err := db.Backup(f)
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	if info, err := os.Stat(copied); err != nil || info.Size() != n {
		t.Errorf("told of %d bytes, wrote %v, %v", n, info.Size(), err)
	}
	if err := put(t.Context(), db, approval.Record{ID: "later"}); err != nil {
		t.Fatal(err)
	}
	again, err := bolt.Open(copied, keep)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	storetest.Check(t, again, approval.KindAsk)
	if _, err := again.Get(t.Context(), approval.KindAsk, "n00299"); err != nil {
		t.Error(err)
	}
	if _, err := again.Get(t.Context(), approval.KindAsk, "later"); !errors.Is(err, approval.ErrNotFound) {
		t.Errorf("the copy follows the store: %v", err)
	}
}

// TestNotAStoreIsRefused opens files that are not stores. Each is refused with an error of
// the right type, whose text is one sentence that names the file, and the file is left
// unchanged.
func TestNotAStoreIsRefused(t *testing.T) {
	foreign := func(err error) bool { _, ok := errors.AsType[*bolt.ForeignError](err); return ok }
	damaged := func(err error) bool { _, ok := errors.AsType[*bolt.DamagedError](err); return ok }
	newer := func(err error) bool {
		e, ok := errors.AsType[*bolt.FormError](err)
		return ok && e.Found == 7 && e.Known == 4
	}
	database := func(change func(tx *bbolt.Tx) error) func(t *testing.T, path string) {
		return func(t *testing.T, path string) {
			db, err := bbolt.Open(path, 0o600, nil)
			if err != nil {
				t.Fatal(err)
			}
			if err := db.Update(change); err != nil {
				t.Fatal(err)
			}
			db.Close()
		}
	}
	edit := func(change func(b []byte) []byte) func(t *testing.T, path string) {
		return func(t *testing.T, path string) {
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, change(b), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, c := range map[string]struct {
		// spoil damages a store with some records.
		spoil func(t *testing.T, path string)
		is    func(error) bool
	}{
		"text":       {edit(func([]byte) []byte { return []byte(strings.Repeat("not a database\n", 9000)) }), foreign},
		"short_text": {edit(func([]byte) []byte { return []byte("x") }), foreign},
		"zeros":      {edit(func(b []byte) []byte { return make([]byte, len(b)) }), foreign},
		"no_heads":   {edit(func(b []byte) []byte { clear(b[:8192]); return b }), foreign},
		"bad_heads":  {edit(func(b []byte) []byte { b[40] ^= 1; b[4096+40] ^= 1; return b }), damaged},
		"cut":        {edit(func(b []byte) []byte { return b[:5*4096] }), damaged},
		"cut_short":  {edit(func(b []byte) []byte { return b[:3*4096] }), damaged},
		"cut_at_one": {edit(func(b []byte) []byte { return b[:4096] }), damaged},
		"holes":      {edit(func(b []byte) []byte { clear(b[8192:65536]); return b }), damaged},
		"other_program": {func(t *testing.T, path string) {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			database(func(tx *bbolt.Tx) error { _, err := tx.CreateBucket([]byte("x")); return err })(t, path)
		}, foreign},
		"newer": {database(func(tx *bbolt.Tx) error {
			return tx.Bucket([]byte("vaglio")).Put([]byte("form"), binary.BigEndian.AppendUint64(nil, 7))
		}), newer},
		"no_form":      {database(func(tx *bbolt.Tx) error { return tx.Bucket([]byte("vaglio")).Delete([]byte("form")) }), damaged},
		"part_missing": {database(func(tx *bbolt.Tx) error { return tx.DeleteBucket([]byte("seq")) }), damaged},
	} {
		t.Run(name, func(t *testing.T) {
			path := newFile(t)
			db := open(t, path)
			fill(t, db, 200)
			db.Close()
			c.spoil(t, path)
			was, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			_, err = bolt.Open(path, bolt.Options{})
			if !c.is(err) {
				t.Fatalf("got %T: %v", err, err)
			}
			if text := err.Error(); !strings.Contains(text, path) || strings.Contains(text, "\n") {
				t.Errorf("the text is not one sentence about the file: %v", err)
			}
			if is, err := os.ReadFile(path); err != nil || !bytes.Equal(was, is) {
				t.Errorf("the file was changed: %v", err)
			}
		})
	}
}

// TestUnfinishedFileIsMadeAnew opens what a crash leaves while the file is being created:
// nothing that was ever acknowledged can be in it.
func TestUnfinishedFileIsMadeAnew(t *testing.T) {
	whole := filepath.Join(t.TempDir(), "whole.db")
	db, err := bbolt.Open(whole, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	db.Close()
	made, err := os.ReadFile(whole)
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{
		"empty": {}, "one_page": made[:4096], "two_pages": made[:8192], "three_pages": made[:12288],
		"whole": made, "zeros": make([]byte, len(made)), "some_zeros": make([]byte, 5000), "torn": made[:6000],
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "vaglio.db")
			if err := os.WriteFile(path, content, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := put(t.Context(), open(t, path), approval.Record{ID: "a"}); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestUnusablePathIsOneClearSentence(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, path := range map[string]string{"below_a_file": filepath.Join(file, "vaglio.db"), "a_folder": dir} {
		t.Run(name, func(t *testing.T) {
			_, err := bolt.Open(path, bolt.Options{})
			if err == nil || !strings.HasPrefix(err.Error(), "store: ") || !strings.Contains(err.Error(), file[:len(dir)]) ||
				!strings.Contains(err.Error(), "writable") || strings.Contains(err.Error(), "\n") {
				t.Errorf("got %v", err)
			}
		})
	}
}

// TestNoStoreOpensWithoutItsJournal checks that a store whose journal cannot be opened is not
// taken for one without entries, and that it is free to be opened again.
func TestNoStoreOpensWithoutItsJournal(t *testing.T) {
	path := newFile(t)
	journal := strings.TrimSuffix(path, ".db") + ".journal"
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(journal, []byte("x"), 0o600)); err != nil {
		t.Fatal(err)
	}
	if db, err := bolt.Open(path, bolt.Options{}); err == nil {
		t.Errorf("it opened: %v", db.Close())
	}
	if err := os.Remove(journal); err != nil {
		t.Fatal(err)
	}
	db, err := bolt.Open(path, bolt.Options{})
	if err != nil {
		t.Fatalf("it did not open again: %v", err)
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
}

// TestDamageNeverEndsTheProcess changes random bytes of a store's structure. A store that
// still opens must answer every call, with or without an error.
func TestDamageNeverEndsTheProcess(t *testing.T) {
	path := newFile(t)
	db := open(t, path)
	fill(t, db, 150)
	for i := range 40 {
		if err := put(t.Context(), db, approval.Record{ID: "n00000", Body: make([]byte, 100*i)}); err != nil {
			t.Fatal(err)
		}
	}
	var buf bytes.Buffer
	if _, err := db.Backup(&buf); err != nil {
		t.Fatal(err)
	}
	good, keys := buf.Bytes(), bolt.KeyFileOf(path)
	random := rand.New(rand.NewPCG(7, 11))
	opened, refused := 0, 0
	for range 150 {
		bad := bytes.Clone(good)
		for range 1 + random.IntN(3) {
			page := random.IntN(len(bad)/4096) * 4096
			// Most of a page's structure is at its beginning.
			at := page + min(random.IntN(4096), random.IntN(4096), random.IntN(4096))
			switch random.IntN(4) {
			case 0:
				bad[at] ^= 1 << random.IntN(8)
			case 1:
				bad[at] = byte(random.Uint32())
			case 2:
				clear(bad[page : page+4096])
			default:
				from := random.IntN(len(bad)/4096) * 4096
				copy(bad[page:page+4096], good[from:])
			}
		}
		if random.IntN(8) == 0 {
			bad = bad[:random.IntN(len(bad))]
		}
		path := filepath.Join(filepath.Dir(path), "bad.db")
		if err := os.WriteFile(path, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		db, err := bolt.Open(path, bolt.Options{KeyFile: keys})
		if err != nil {
			refused++
			continue
		}
		opened++
		useAll(t, db)
		db.Close()
	}
	if opened == 0 || refused == 0 {
		t.Errorf("%d opened, %d refused: the damage is not what it should be", opened, refused)
	}
	t.Logf("%d opened, %d refused", opened, refused)
}

// useAll makes every call that a damaged store may answer with an error.
func useAll(t *testing.T, db *bolt.DB) {
	ctx := t.Context()
	for _, q := range []approval.Query{{}, {Open: true}, {Prefix: "n"}, {Newest: true}} {
		q.Kind = approval.KindAsk
		for r, err := range db.List(ctx, q) {
			if err == nil && len(r.Body) != len(body) && r.ID != "n00000" {
				t.Errorf("%s came back with %d bytes and no error", r.ID, len(r.Body))
			}
		}
	}
	n := 0
	for range db.Watch(ctx, approval.KindAsk, 0) {
		if n++; n == 150 {
			break
		}
	}
	for _, id := range []string{"n00000", "n00075", "n00149", "new1", "new2"} {
		put(ctx, db, approval.Record{ID: id, Keys: []string{"k" + id}, Body: body})
		put(ctx, db, approval.Record{ID: id, Drop: true})
	}
	db.Lease(ctx, "l", "h", time.Hour)
}

// TestTheEndOfTheJournal checks that what cannot be read at the journal's end is cut off after a
// crash, and told as damage after an end in order.
func TestTheEndOfTheJournal(t *testing.T) {
	for name, unread := range map[string]int{"crash": 0, "order": 1} {
		t.Run(name, func(t *testing.T) {
			path := newFile(t)
			db := open(t, path)
			for _, body := range []string{"kept", "lost"} {
				if err := db.Append(t.Context(), &approval.JournalEntry{Key: "t", At: time.Now(), Body: []byte(body)}); err != nil {
					t.Fatal(err)
				}
			}
			db.Close()
			segments, err := filepath.Glob(filepath.Join(filepath.Dir(path), "vaglio.journal", "*.log"))
			if err != nil || len(segments) != 1 {
				t.Fatalf("segments: %v, %v", segments, err)
			}
			info, err := os.Stat(segments[0])
			if err == nil {
				err = os.Truncate(segments[0], info.Size()-1)
			}
			if err == nil && name == "crash" {
				err = os.Remove(filepath.Join(filepath.Dir(path), "vaglio.clean"))
			}
			if err != nil {
				t.Fatal(err)
			}
			db = open(t, path)
			var read []string
			damaged := 0
			for e, err := range db.Entries(t.Context(), approval.Span{}) {
				if _, ok := errors.AsType[*approval.UnreadError](err); ok {
					damaged++
				} else if err != nil {
					t.Fatal(err)
				} else {
					read = append(read, string(e.Body))
				}
			}
			if damaged != unread || len(read) != 1 || read[0] != "kept" {
				t.Errorf("read %q, %d parts told as damaged, want %d", read, damaged, unread)
			}
		})
	}
}
