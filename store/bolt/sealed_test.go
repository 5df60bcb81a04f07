package bolt_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/approval/history"
	"github.com/metnos/vaglio/store/bolt"
	"github.com/metnos/vaglio/store/keyring"
)

// canary begins every value of these tests.
const canary = "canary"

// old unpacks a store from before values were encrypted: records n0 to n39 with a leaf
// each, and entries 0 to 34, 30 of them in a sealed segment.
func old(t *testing.T) (path string) {
	t.Helper()
	dir := t.TempDir()
	f, err := os.Open("testdata/form3.tar.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return filepath.Join(dir, "vaglio.db")
		}
		if err != nil {
			t.Fatal(err)
		}
		to := filepath.Join(dir, h.Name)
		if h.Typeflag == tar.TypeDir {
			err = os.MkdirAll(to, 0o700)
		} else {
			b, errRead := io.ReadAll(r)
			err = errors.Join(errRead, os.WriteFile(to, b, 0o600))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// shown returns the files of the directory that contain the canary.
func shown(t *testing.T, dir string) (found []string) {
	t.Helper()
	if err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(path)
		if bytes.Contains(b, []byte(canary)) {
			found = append(found, filepath.Base(path))
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return found
}

// reader reads the contents of the old store.
type reader interface {
	List(ctx context.Context, q approval.Query) iter.Seq2[approval.Record, error]
	Leaves(ctx context.Context, from int64) iter.Seq2[history.Leaf, error]
	Entries(ctx context.Context, s approval.Span) iter.Seq2[approval.JournalEntry, error]
}

// holdsOld checks that everything of the old store is there.
func holdsOld(t *testing.T, db reader) {
	t.Helper()
	n := 0
	for r, err := range db.List(t.Context(), approval.Query{Kind: approval.KindAsk}) {
		id := fmt.Sprint("n", n)
		if err != nil || r.ID != id || string(r.Body) != "canary body of "+id || r.Open != (n%2 == 0) || !slices.Equal(r.Keys, []string{"key-" + id}) {
			t.Fatalf("record %d: %+v, %v", n, r, err)
		}
		n++
	}
	leaves := 0
	for l, err := range db.Leaves(t.Context(), 0) {
		if err != nil || string(l.Value) != fmt.Sprintf(`{"canary leaf":%d}`, leaves) || len(l.Hashes) == 0 {
			t.Fatalf("leaf %d: %+v, %v", leaves, l, err)
		}
		leaves++
	}
	entries := 0
	for e, err := range db.Entries(t.Context(), approval.Span{}) {
		if err != nil || string(e.Body) != fmt.Sprintf("canary step %d of what was called", entries) || string(e.Note) != fmt.Sprint("note ", entries) {
			t.Fatalf("entry %d: %+v, %v", entries, e, err)
		}
		entries++
	}
	if n != 40 || leaves != 40 || entries != 35 {
		t.Errorf("%d records, %d leaves, %d entries", n, leaves, entries)
	}
}

// TestAStoreFromBeforeThereWereKeys looks into such a store and opens it, after which none
// of its values can be read from its files.
func TestAStoreFromBeforeThereWereKeys(t *testing.T) {
	t.Parallel()
	path := old(t)
	if got := shown(t, filepath.Dir(path)); len(got) == 0 {
		t.Fatal("nothing of it can be seen before")
	}
	look, err := bolt.LookInto(path, bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	holdsOld(t, look)
	if err := look.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(bolt.KeyFileOf(path)); !errors.Is(err, fs.ErrNotExist) {
		t.Error("a look made keys")
	}
	db, err := bolt.Open(path, bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	holdsOld(t, db)
	db.SealJournal()
	holdsOld(t, db)
	if problems := db.Audit(); len(problems) > 0 {
		t.Error(problems)
	}
	if _, err := db.Lease(t.Context(), "serve", "another", time.Hour); err != nil {
		t.Errorf("the lease of before, which is over: %v", err)
	}
	if got := shown(t, filepath.Dir(path)); len(got) > 0 {
		t.Errorf("in the open store a canary stands in %v", got)
	}
	if err := put(t.Context(), db, approval.Record{ID: "later", Body: []byte(canary)}); err != nil {
		t.Fatal(err)
	}
	if r, err := db.Get(t.Context(), approval.KindAsk, "later"); err != nil || r.Born != 76 {
		t.Errorf("%+v, %v: the numbers of before go on", r, err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if got := shown(t, filepath.Dir(path)); len(got) > 0 {
		t.Errorf("a canary stands in %v", got)
	}
}

// TestACopiedStoreTellsNothing removes the key file, or replaces it with others.
func TestACopiedStoreTellsNothing(t *testing.T) {
	t.Parallel()
	path := old(t)
	if err := open(t, path).Close(); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	keys := bolt.KeyFileOf(path)
	mine, err := os.ReadFile(keys)
	if err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(t.TempDir(), "keys")
	if _, err := keyring.Make(other, nil); err != nil {
		t.Fatal(err)
	}
	foreign, err := os.ReadFile(other)
	if err != nil {
		t.Fatal(err)
	}
	// The right id alone does not make a key.
	forged := strings.Replace(string(foreign), strings.Fields(string(foreign))[4], strings.Fields(string(mine))[4], 1)
	for name, tt := range map[string]struct {
		keys []byte
		mode fs.FileMode
		want string
	}{
		"missing":    {nil, 0, "is not there"},
		"another's":  {foreign, 0o600, "is not that of the store"},
		"forged":     {[]byte(forged), 0o600, "is not that of the store"},
		"torn":       {mine[:len(mine)-5], 0o600, "line 2 holds a key of 30 bytes"},
		"wide open":  {mine, 0o644, "run chmod 600 " + keys},
		"it is good": {mine, 0o600, ""},
	} {
		_ = os.Remove(keys)
		if tt.keys != nil {
			if err := errors.Join(os.WriteFile(keys, tt.keys, 0o600), os.Chmod(keys, tt.mode)); err != nil {
				t.Fatal(err)
			}
		}
		look, err := bolt.LookInto(path, bolt.Options{})
		if err == nil {
			holdsOld(t, look)
			err = look.Close()
		}
		if tt.want == "" {
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		db, errOpen := bolt.Open(path, bolt.Options{})
		if errOpen == nil {
			t.Fatal(name, "it opens", db.Close())
		}
		for _, err := range []error{err, errOpen} {
			if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s: %v", name, err)
			}
		}
		if now, err := os.ReadFile(path); err != nil || !bytes.Equal(now, whole) {
			t.Errorf("%s: the store was changed: %v", name, err)
		}
		if now, err := os.ReadFile(keys); tt.keys == nil != errors.Is(err, fs.ErrNotExist) || !bytes.Equal(now, tt.keys) {
			t.Errorf("%s: the key file was changed: %v", name, err)
		}
	}
}

// TestRotatedKeysGo rotates the keys, and checks that the old key is gone once nothing
// needs it.
func TestRotatedKeysGo(t *testing.T) {
	t.Parallel()
	path := old(t)
	count := func() int {
		b, err := os.ReadFile(bolt.KeyFileOf(path))
		if err != nil {
			t.Fatal(err)
		}
		return bytes.Count(b, []byte("\n")) - 1
	}
	db := open(t, path)
	if err := db.RotateKeys(); err != nil {
		t.Fatal(err)
	}
	holdsOld(t, db)
	if err := db.Close(); err != nil || count() != 2 {
		t.Fatal(err, count())
	}
	for _, want := range []int{2, 1} { // the first start rewrites the journal, which the second notices
		db = open(t, path)
		holdsOld(t, db)
		db.SealJournal()
		if err := db.Close(); err != nil || count() > want {
			t.Errorf("%v; %d keys, at most %d are needed", err, count(), want)
		}
	}
	db = open(t, path)
	holdsOld(t, db)
}

// TestNoKeyGoesWhileTheJournalCannotBeRead rotates the keys and cuts off the journal's segments: nobody
// knows which keys they need, so all stay, and what is put back can be read.
func TestNoKeyGoesWhileTheJournalCannotBeRead(t *testing.T) {
	t.Parallel()
	path := old(t)
	db := open(t, path)
	db.SealJournal()
	if err := errors.Join(db.RotateKeys(), db.Close()); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(bolt.KeyFileOf(path))
	if err != nil {
		t.Fatal(err)
	}
	segments, err := filepath.Glob(filepath.Join(strings.TrimSuffix(path, ".db")+".journal", "*"))
	whole := map[string][]byte{}
	for _, s := range segments {
		b, errRead := os.ReadFile(s)
		whole[s] = b
		err = errors.Join(err, errRead, os.Truncate(s, int64(len(b)/2)))
	}
	if err != nil || len(whole) == 0 {
		t.Fatal(err, segments)
	}
	if err := open(t, path).Close(); err != nil {
		t.Fatal(err)
	}
	if now, err := os.ReadFile(bolt.KeyFileOf(path)); err != nil || !bytes.Equal(now, before) {
		t.Errorf("a key is gone: %v", err)
	}
	for s, b := range whole {
		if err := os.WriteFile(s, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	holdsOld(t, open(t, path))
}

// TestAKeyThatCannotBeKeptIsNotUsed rotates the keys where their file cannot be written: the
// caller is told, and what is written then can be read with the keys of before.
func TestAKeyThatCannotBeKeptIsNotUsed(t *testing.T) {
	t.Parallel()
	path, keys := newFile(t), filepath.Join(t.TempDir(), "apart", "keys")
	o := bolt.Options{KeyFile: keys}
	folder, away := filepath.Dir(keys), filepath.Dir(keys)+".away"
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	db, err := bolt.Open(path, o)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(folder, away); err != nil {
		t.Fatal(err)
	}
	if err := db.RotateKeys(); err == nil {
		t.Error("nobody is told")
	}
	if err := errors.Join(put(t.Context(), db, approval.Record{ID: "a", Body: []byte(canary)}), db.Close(), os.Rename(away, folder)); err != nil {
		t.Fatal(err)
	}
	db, err = bolt.Open(path, o)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if r, err := db.Get(t.Context(), approval.KindAsk, "a"); err != nil || string(r.Body) != canary {
		t.Errorf("%q, %v", r.Body, err)
	}
}

// TestAValueIsBoundToItsPlace puts the record of one name under another, and a leaf in
// place of another, with all checksums correct.
func TestAValueIsBoundToItsPlace(t *testing.T) {
	t.Parallel()
	path := old(t)
	if err := open(t, path).Close(); err != nil {
		t.Fatal(err)
	}
	raw, err := bbolt.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := raw.Update(func(tx *bbolt.Tx) error {
		leaf := tx.Bucket([]byte("leaf"))
		return errors.Join(bolt.Move(tx, "n3", "n4"), leaf.Put(bolt.At(5), leaf.Get(bolt.At(6))))
	}); err != nil {
		t.Fatal(err)
	}
	if err := raw.Close(); err != nil {
		t.Fatal(err)
	}
	db := open(t, path)
	_, err = db.Get(t.Context(), approval.KindAsk, "n4")
	if _, ok := errors.AsType[*approval.UnreadError](err); !ok {
		t.Errorf("the moved record: %v", err)
	}
	if r, err := db.Get(t.Context(), approval.KindAsk, "n3"); err != nil || string(r.Body) != "canary body of n3" {
		t.Errorf("the one that was copied: %v", err)
	}
	for l, err := range db.Leaves(t.Context(), 5) {
		if err != nil || strings.Contains(string(l.Value), canary) {
			t.Errorf("the moved leaf tells %q, %v", l.Value, err)
		}
		break
	}
}

// TestKeysAreBoundToTheServicesCredential opens a store with a credential, and then
// without.
func TestKeysAreBoundToTheServicesCredential(t *testing.T) {
	t.Parallel()
	path, with := old(t), bolt.Options{Credential: []byte("sixteen or more!")}
	for range 2 {
		db, err := bolt.Open(path, with)
		if err != nil {
			t.Fatal(err)
		}
		holdsOld(t, db)
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := bolt.Open(path, bolt.Options{}); err == nil || !strings.Contains(err.Error(), "LoadCredential=vaglio.key:PATH") {
		t.Errorf("without: %v", err)
	}
	if _, _, err := bolt.Compact(path, with); err != nil {
		t.Error(err)
	}
}
