package bolt

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/metnos/vaglio/approval"
)

// TestAFileThatCannotBeWrittenIsNotDamaged opens a file that bbolt cannot set up.
func TestAFileThatCannotBeWrittenIsNotDamaged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "vaglio.db")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	_, err = (&DB{path: path, file: f}).open()
	if err == nil || isDamaged(err) {
		t.Errorf("got %v", err)
	}
}

// TestAPanicOfTheLibraryIsDamage opens a damaged file whose mark says that it was closed like this,
// so that nobody reads it through before the library does.
func TestAPanicOfTheLibraryIsDamage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "vaglio.db")
	db, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(save(t.Context(), db, "a"), db.Close()); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	from := int64(2 * os.Getpagesize()) // behind the two meta pages
	_, err = f.WriteAt(make([]byte, info.Size()-from), from)
	if err := errors.Join(err, os.WriteFile(cleanMarkOf(path), []byte(left(f)), 0o600), f.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path, Options{}); !isDamaged(err) {
		t.Errorf("got %v", err)
	}
}

func isDamaged(err error) bool {
	_, ok := errors.AsType[*DamagedError](err)
	return ok
}

// TestAFileThatClosesBeneathAReaderIsClosed closes the file between a reader's look at the store
// and its transaction.
func TestAFileThatClosesBeneathAReaderIsClosed(t *testing.T) {
	db := newDB(t)
	if err := db.bolt.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Get(t.Context(), approval.KindAsk, "a"); !errors.Is(err, ErrClosed) {
		t.Errorf("got %v, want ErrClosed", err)
	}
}
