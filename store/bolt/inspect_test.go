package bolt

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/fnv"
	"path/filepath"
	"testing"

	"go.etcd.io/bbolt"
)

// FuzzInspect searches for a file that the inspector itself cannot cope with.
func FuzzInspect(f *testing.F) {
	path := filepath.Join(f.TempDir(), "seed.db")
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{PageSize: 1024})
	if err != nil {
		f.Fatal(err)
	}
	var seed bytes.Buffer
	err = db.Update(func(tx *bbolt.Tx) error {
		for _, name := range []string{"a", "b"} {
			b, err := tx.CreateBucket([]byte(name))
			if err != nil {
				return err
			}
			for i := range 40 {
				if err := b.Put([]byte{name[0], byte(i)}, make([]byte, 30)); err != nil || name == "b" && i == 2 {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		f.Fatal(err)
	}
	if err := db.View(func(tx *bbolt.Tx) error { _, err := tx.WriteTo(&seed); return err }); err != nil {
		f.Fatal(err)
	}
	db.Close()
	if err := inspect(bytes.NewReader(seed.Bytes()), int64(seed.Len()), "seed"); err != nil {
		f.Fatalf("a good file is refused: %v", err)
	}
	f.Add(seed.Bytes())
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, file []byte) {
		// A meta page with a wrong checksum ends the inspection, so the checksums are
		// corrected.
		for _, at := range []int{0, 1024} {
			if len(file) >= at+metaSize {
				h := fnv.New64a()
				b := file[at+headerSize : at+metaSize]
				h.Write(b[:56])
				binary.NativeEndian.PutUint64(b[56:], h.Sum64())
			}
		}
		err := inspect(bytes.NewReader(file), int64(len(file)), "file")
		if err == nil {
			return
		}
		_, foreign := errors.AsType[*ForeignError](err)
		_, damaged := errors.AsType[*DamagedError](err)
		if !foreign && !damaged {
			t.Errorf("got %T: %v", err, err)
		}
	})
}
