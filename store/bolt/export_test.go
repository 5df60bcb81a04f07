package bolt

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"

	"go.etcd.io/bbolt"

	"github.com/metnos/vaglio/approval"
)

// Audit returns what is wrong with the indexes. Each must hold exactly what the records
// say; otherwise a listing would read in vain, or miss a record.
func (db *DB) Audit() (problems []string) {
	note := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	err := db.bolt.View(func(tx *bbolt.Tx) error {
		want := map[string]map[string]string{bucketKey: {}, bucketOpen: {}, bucketBorn: {}, bucketSeq: {}}
		records := tx.Bucket([]byte(bucketRecord))
		err := records.ForEach(func(k, v []byte) error {
			r, err := decode(db.keys, k, v)
			if err != nil {
				return err
			}
			kind, id, _ := bytes.Cut(k, []byte{0})
			add := func(bucket string, key []byte) { want[bucket][string(key)] = string(id) }
			for _, key := range r.Keys {
				add(bucketKey, name(approval.Kind(kind), key))
			}
			add(bucketBorn, number(approval.Kind(kind), r.Born))
			add(bucketSeq, number(approval.Kind(kind), r.Seq))
			if r.Open {
				add(bucketOpen, number(approval.Kind(kind), r.Born))
			}
			if last := records.Sequence(); r.Seq > last {
				note("%s has seq %d, the counter is at %d", k, r.Seq, last)
			}
			return nil
		})
		if err != nil {
			return err
		}
		for bucket, entries := range want {
			n := 0
			if err := tx.Bucket([]byte(bucket)).ForEach(func(k, v []byte) error {
				n++
				if id, ok := entries[string(k)]; !ok || id != string(v) {
					note("%s: %q leads to %q, want %q", bucket, k, v, id)
				}
				return nil
			}); err != nil {
				return err
			}
			if n != len(entries) {
				note("%s has %d entries, want %d", bucket, n, len(entries))
			}
		}
		form := tx.Bucket([]byte(bucketVaglio)).Get([]byte(keyForm))
		if !slices.Equal(form, binary.BigEndian.AppendUint64(nil, fileForm)) {
			note("the form is %x", form)
		}
		return nil
	})
	if err != nil {
		note("%v", err)
	}
	return problems
}

// Spoil changes a byte of a record without updating its checksum.
func (db *DB) Spoil(kind approval.Kind, id string) error {
	return db.bolt.Update(func(tx *bbolt.Tx) error {
		records := tx.Bucket([]byte(bucketRecord))
		v := slices.Clone(records.Get(name(kind, id)))
		v[len(v)-1] ^= 0x20
		return records.Put(name(kind, id), v)
	})
}

// Inspected reports whether the file was read through when it was opened.
func (db *DB) Inspected() bool { return db.inspected }

// CleanMark returns the path of a store's clean mark.
func CleanMark(path string) string { return cleanMarkOf(path) }

// BreakDown makes the store stop as if it did not know what is on disk.
func (db *DB) BreakDown(err error) { _ = db.breakDown(err) }

// SealJournal waits until the journal has nothing to seal.
func (db *DB) SealJournal() { db.journal.SealAll() }

// At returns the key of a leaf.
func At(index int64) []byte { return leafKey(index) }

// Move puts an ask's record in place of another, with a valid checksum.
func Move(tx *bbolt.Tx, from, to string) error {
	records := tx.Bucket([]byte(bucketRecord))
	v, key := slices.Clone(records.Get(name(approval.KindAsk, from))), name(approval.KindAsk, to)
	binary.BigEndian.PutUint32(v[1:], checksum(key, v[checked:]))
	return records.Put(key, v)
}
