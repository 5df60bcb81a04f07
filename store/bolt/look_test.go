package bolt_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/store/bolt"
)

func TestALookChangesNothing(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db")
	db, err := bolt.Open(path, bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.Update(t.Context(), approval.KindMeta, "one", func(r approval.Record) (approval.Record, error) {
		r.ID, r.Body = "one", []byte(`{"a":1}`)
		return r, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	var locked *bolt.LockedError
	if _, err := bolt.LookInto(path, bolt.Options{}); !errors.As(err, &locked) {
		t.Errorf("while a service holds it: %v, want a LockedError", err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	look, err := bolt.LookInto(path, bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if r, err := look.Get(t.Context(), approval.KindMeta, "one"); err != nil || string(r.Body) != `{"a":1}` {
		t.Errorf("got %s, %v", r.Body, err)
	}
	if _, err := look.Get(t.Context(), approval.KindMeta, "two"); !errors.Is(err, approval.ErrNotFound) {
		t.Errorf("what is not there: %v", err)
	}
	if _, err := bolt.Open(path, bolt.Options{}); !errors.As(err, &locked) {
		t.Errorf("a service during a look: %v, want a LockedError", err)
	}
	if err := look.Close(); err != nil {
		t.Fatal(err)
	}
	after, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(before, after) {
		t.Errorf("the file changed, %v", err)
	}
}

func TestALookAtWhatIsNoStore(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if _, err := bolt.LookInto(filepath.Join(dir, "none", "store.db"), bolt.Options{}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	if names, _ := os.ReadDir(dir); len(names) != 0 {
		t.Errorf("the look made %v", names)
	}
	empty, foreign := filepath.Join(dir, "empty"), filepath.Join(dir, "foreign")
	for name, body := range map[string][]byte{empty: nil, foreign: bytes.Repeat([]byte("not a store "), 5000)} {
		if err := os.WriteFile(name, body, 0o640); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := bolt.LookInto(empty, bolt.Options{}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("an empty file: %v", err)
	}
	var other *bolt.ForeignError
	if _, err := bolt.LookInto(foreign, bolt.Options{}); !errors.As(err, &other) {
		t.Errorf("another file: %v", err)
	}
	if info, err := os.Stat(empty); err != nil || info.Mode().Perm() != 0o640 || info.Size() != 0 {
		t.Errorf("the look changed the file: %v %v", info, err)
	}
}
