//go:build darwin || freebsd || linux

package bolt_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/store/bolt"
)

// closed makes a store with some records and closes it properly.
func closed(t *testing.T) string {
	t.Helper()
	path := newFile(t)
	db := open(t, path)
	fill(t, db, 100)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestCleanStoreIsNotReadThrough opens a properly closed store several times: it is not
// read through, and its mark is not on disk while it is open.
func TestCleanStoreIsNotReadThrough(t *testing.T) {
	path := closed(t)
	for i := range 3 {
		db := open(t, path)
		if db.Inspected() {
			t.Errorf("start %d reads the file through", i)
		}
		if _, err := os.Stat(bolt.CleanMark(path)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("start %d leaves the mark while the store is open: %v", i, err)
		}
		if _, err := db.Get(t.Context(), approval.KindAsk, "n00099"); err != nil {
			t.Error(err)
		}
		if i > 0 { // the first time it is closed without having written anything
			if err := put(t.Context(), db, approval.Record{ID: "later", Body: []byte{byte(i)}}); err != nil {
				t.Error(err)
			}
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestMarkThatDoesNotFitIsNotTrusted changes the file or its mark after the store was
// closed properly: the store is read through, and opens.
func TestMarkThatDoesNotFitIsNotTrusted(t *testing.T) {
	read := func(t *testing.T, path string) []byte {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	write := func(t *testing.T, path string, b []byte) {
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, change := range map[string]func(t *testing.T, path string){
		"no_mark": func(t *testing.T, path string) {
			if err := os.Remove(bolt.CleanMark(path)); err != nil {
				t.Fatal(err)
			}
		},
		"empty_mark": func(t *testing.T, path string) { write(t, bolt.CleanMark(path), nil) },
		"cut_mark": func(t *testing.T, path string) {
			b := read(t, bolt.CleanMark(path))
			write(t, bolt.CleanMark(path), b[:len(b)-2])
		},
		"newer_mark": func(t *testing.T, path string) {
			write(t, bolt.CleanMark(path), bytes.Replace(read(t, bolt.CleanMark(path)), []byte("clean 1"), []byte("clean 2"), 1))
		},
		"anothers_mark": func(t *testing.T, path string) { write(t, bolt.CleanMark(path), read(t, bolt.CleanMark(closed(t)))) },
		"longer":        func(t *testing.T, path string) { write(t, path, append(read(t, path), make([]byte, 4096)...)) },
		"copied_with_its_times": func(t *testing.T, path string) {
			info, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			fresh := path + ".copy"
			write(t, fresh, read(t, path))
			if err := errors.Join(os.Rename(fresh, path), os.Chtimes(path, info.ModTime(), info.ModTime())); err != nil {
				t.Fatal(err)
			}
		},
		"written_in_place_with_its_times": func(t *testing.T, path string) {
			info, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			b := read(t, path)
			f, err := os.OpenFile(path, os.O_WRONLY, 0)
			if err != nil {
				t.Fatal(err)
			}
			_, err = f.WriteAt(b[len(b)-4096:], int64(len(b)-4096))
			if err := errors.Join(err, f.Close(), os.Chtimes(path, info.ModTime(), info.ModTime())); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := closed(t)
			change(t, path)
			db := open(t, path)
			if !db.Inspected() {
				t.Error("the mark was trusted")
			}
			if _, err := db.Get(t.Context(), approval.KindAsk, "n00099"); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestOnlyAnEndInOrderLeavesAMark closes a store that does not know what is on disk, and
// copies one that is in use, as if after a crash: neither has a mark.
func TestOnlyAnEndInOrderLeavesAMark(t *testing.T) {
	path := closed(t)
	db := open(t, path)
	in := filepath.Join(t.TempDir(), "copy")
	if err := os.CopyFS(in, os.DirFS(filepath.Dir(path))); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(bolt.KeyFileOf(filepath.Join(in, filepath.Base(path))), 0o600); err != nil {
		t.Fatal(err)
	}
	if crashed := open(t, filepath.Join(in, filepath.Base(path))); !crashed.Inspected() {
		t.Error("a store that was not closed was not read through")
	}
	db.BreakDown(errors.New("the disk does not answer"))
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(bolt.CleanMark(path)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a broken store left a mark: %v", err)
	}
}

// TestDamageBehindACleanMarkIsFound damages pages of a properly closed store: the change of
// the file is noticed, and the store is refused as it is without a mark.
func TestDamageBehindACleanMarkIsFound(t *testing.T) {
	path := closed(t)
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	clear(b[2*os.Getpagesize() : 16*os.Getpagesize()])
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = bolt.Open(path, bolt.Options{})
	if _, ok := errors.AsType[*bolt.DamagedError](err); !ok {
		t.Errorf("got %v", err)
	}
}
