package bolt

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
	"sync/atomic"

	"go.etcd.io/bbolt"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/store/keyring"
)

// tables are the buckets as one transaction of the writer sees them.
type tables struct {
	vaglio, record, key, open, born, seq, lease, leaf, tree *bbolt.Bucket
	// wrote says that there is something to commit.
	wrote bool
	// numbers numbers records and journal entries.
	numbers *atomic.Uint64
	// keys seal the values that are put.
	keys *keyring.Ring
	// beat says that the transaction includes a heartbeat.
	beat bool
	// err is why the transaction cannot be committed. A refused change is not a reason: it
	// is refused before anything is put.
	err error
}

func newTables(tx *bbolt.Tx, numbers *atomic.Uint64, keys *keyring.Ring) *tables {
	b := func(name string) *bbolt.Bucket { return tx.Bucket([]byte(name)) }
	return &tables{
		numbers: numbers, keys: keys,
		vaglio: b(bucketVaglio), record: b(bucketRecord), key: b(bucketKey), open: b(bucketOpen),
		born: b(bucketBorn), seq: b(bucketSeq), lease: b(bucketLease), leaf: b(bucketLeaf), tree: b(bucketTree),
	}
}

func (t *tables) put(b *bbolt.Bucket, key, value []byte) {
	if t.err == nil {
		t.wrote, t.err = true, b.Put(key, value)
	}
}

func (t *tables) remove(b *bbolt.Bucket, key []byte) {
	if t.err == nil {
		t.wrote, t.err = true, b.Delete(key)
	}
}

// next returns the next number of the bucket's counter.
func (t *tables) next(b *bbolt.Bucket) uint64 {
	n, err := b.NextSequence()
	if t.err == nil {
		t.wrote, t.err = true, err
	}
	return n
}

// number returns the number for what is written now.
func (t *tables) number() uint64 {
	n := t.numbers.Add(1)
	if t.err == nil {
		t.wrote, t.err = true, t.record.SetSequence(n)
	}
	return n
}

// update performs one Update within the writer's transaction. Everything that can refuse
// the change comes before the first put, because the transaction is shared.
func (t *tables) update(kind approval.Kind, id string, change func(approval.Record) (approval.Record, error)) (approval.Record, error) {
	old, err := load(t.keys, t.record, kind, id)
	if err != nil && !errors.Is(err, approval.ErrNotFound) {
		return approval.Record{}, err
	}
	rec, err := old.Change(id, change)
	switch {
	case errors.Is(err, approval.ErrKeep):
		return old, nil
	case err != nil:
		return approval.Record{}, err
	}
	if !rec.Drop {
		if err := t.free(kind, old, rec); err != nil {
			return approval.Record{}, err
		}
	}
	if err := t.grow(rec.Leaves); err != nil {
		return approval.Record{}, err
	}
	if rec.Drop {
		if old.Exists() {
			t.drop(kind, old)
		}
		return approval.Record{}, nil
	}
	rec.Leaves = nil
	rec.Seq = t.number()
	if !old.Exists() {
		rec.Born = rec.Seq
	}
	t.store(kind, old, rec)
	return rec, nil
}

// free returns a [*approval.KeyError] if a name of rec belongs to another record.
func (t *tables) free(kind approval.Kind, old, rec approval.Record) error {
	if !old.Exists() {
		if by := t.key.Get(name(kind, rec.ID)); by != nil {
			return &approval.KeyError{Key: rec.ID, HeldBy: string(by)}
		}
	}
	for _, k := range rec.Keys {
		if k == rec.ID || slices.Contains(old.Keys, k) {
			continue
		}
		if by := t.key.Get(name(kind, k)); by != nil {
			return &approval.KeyError{Key: k, HeldBy: string(by)}
		}
		if t.record.Get(name(kind, k)) != nil {
			return &approval.KeyError{Key: k, HeldBy: k}
		}
	}
	return nil
}

// store writes rec in place of old, and updates the indexes.
func (t *tables) store(kind approval.Kind, old, rec approval.Record) {
	id := []byte(rec.ID)
	for _, k := range old.Keys {
		if !slices.Contains(rec.Keys, k) {
			t.remove(t.key, name(kind, k))
		}
	}
	for _, k := range rec.Keys {
		if !slices.Contains(old.Keys, k) {
			t.put(t.key, name(kind, k), id)
		}
	}
	if old.Exists() {
		t.remove(t.seq, number(kind, old.Seq))
	} else {
		t.put(t.born, number(kind, rec.Born), id)
	}
	t.put(t.seq, number(kind, rec.Seq), id)
	switch {
	case rec.Open && !old.Open:
		t.put(t.open, number(kind, rec.Born), id)
	case old.Open && !rec.Open:
		t.remove(t.open, number(kind, rec.Born))
	}
	key := name(kind, rec.ID)
	t.put(t.record, key, encode(t.keys, key, rec))
}

// drop removes the record and its index entries.
func (t *tables) drop(kind approval.Kind, old approval.Record) {
	for _, k := range old.Keys {
		t.remove(t.key, name(kind, k))
	}
	if old.Open {
		t.remove(t.open, number(kind, old.Born))
	}
	t.remove(t.born, number(kind, old.Born))
	t.remove(t.seq, number(kind, old.Seq))
	t.remove(t.record, name(kind, old.ID))
}

// name is the key of an id or key within the kind.
func name(kind approval.Kind, s string) []byte {
	b := make([]byte, 0, len(kind)+1+len(s))
	return append(append(append(b, kind...), 0), s...)
}

// number is the key of a Born or Seq within the kind.
func number(kind approval.Kind, n uint64) []byte {
	b := make([]byte, 0, len(kind)+1+8)
	return binary.BigEndian.AppendUint64(append(append(b, kind...), 0), n)
}

// spoiled is the damage of one record, which does not affect the others.
type spoiled struct{ damage }

func (s *spoiled) Unwrap() error { return s.damage }

// The form of a stored record.
const (
	recordForm = 2
	// openRecord is the form in which the body is not encrypted.
	openRecord = 1
	flagOpen   = 0x01
	// checked is where the part covered by the checksum begins, after the form and the
	// checksum itself.
	checked = 5
)

// encode returns the record as stored under the key. The checksum covers the key too, so
// that one record is not mistaken for another.
func encode(keys *keyring.Ring, key []byte, r approval.Record) []byte {
	size := checked + 1 + 16 + binary.MaxVarintLen64 + keyring.Overhead + len(r.Body)
	for _, k := range r.Keys {
		size += binary.MaxVarintLen64 + len(k)
	}
	b := make([]byte, checked, size)
	b[0] = recordForm
	var flags byte
	if r.Open {
		flags |= flagOpen
	}
	b = append(b, flags)
	b = binary.BigEndian.AppendUint64(b, r.Born)
	b = binary.BigEndian.AppendUint64(b, r.Seq)
	b = binary.AppendUvarint(b, uint64(len(r.Keys)))
	for _, k := range r.Keys {
		b = binary.AppendUvarint(b, uint64(len(k)))
		b = append(b, k...)
	}
	b = keys.Seal(b, r.Body, aboutRecord(key, b[checked:]))
	binary.BigEndian.PutUint32(b[1:], checksum(key, b[checked:]))
	return b
}

// aboutRecord is what a record's body is bound to: its key, and everything stored before
// the body.
func aboutRecord(key, head []byte) []byte {
	return slices.Concat([]byte(bucketRecord+"\x00"), key, []byte{0}, head)
}

func checksum(key, value []byte) uint32 {
	table := crc32.MakeTable(crc32.Castagnoli)
	return crc32.Update(crc32.Checksum(key, table), table, value)
}

// load reads and copies a record. The error is [approval.ErrNotFound] or a damage.
func load(keys *keyring.Ring, b *bbolt.Bucket, kind approval.Kind, id string) (approval.Record, error) {
	key := name(kind, id)
	v := b.Get(key)
	if v == nil {
		return approval.Record{}, approval.ErrNotFound
	}
	r, err := decode(keys, key, v)
	if err != nil {
		return approval.Record{}, err
	}
	r.ID = id
	return r, nil
}

func decode(keys *keyring.Ring, key, v []byte) (approval.Record, error) {
	r, ok := head(key, v)
	if !ok {
		return approval.Record{}, &spoiled{damage(fmt.Sprintf("record %q does not read as it was written", key))}
	}
	// head left the stored body.
	if v[0] == openRecord {
		r.Body = bytes.Clone(r.Body)
		return r, nil
	}
	body, err := keys.Open(r.Body, aboutRecord(key, v[checked:len(v)-len(r.Body)]))
	if err != nil {
		return approval.Record{}, &spoiled{damage(fmt.Sprintf("record %q: %v", key, err))}
	}
	r.Body = body
	return r, nil
}

// head checks a stored record and reads what precedes its body, which stays as it is
// stored. It reports whether there is a record and it reads as it was written.
func head(key, v []byte) (r approval.Record, ok bool) {
	if len(v) < checked+1+16+1 || v[0] != recordForm && v[0] != openRecord || binary.BigEndian.Uint32(v[1:]) != checksum(key, v[checked:]) {
		return r, false
	}
	v = v[checked:]
	r = approval.Record{Open: v[0]&flagOpen != 0, Born: binary.BigEndian.Uint64(v[1:]), Seq: binary.BigEndian.Uint64(v[9:])}
	r.Keys, r.Body, ok = decodeKeys(v[17:])
	return r, ok
}

// decodeKeys reads a record's keys, and returns the rest.
func decodeKeys(v []byte) (keys []string, rest []byte, ok bool) {
	count, n := binary.Uvarint(v)
	if n <= 0 || count > approval.MaxKeys {
		return nil, nil, false
	}
	v = v[n:]
	if count > 0 {
		keys = make([]string, count)
	}
	for i := range keys {
		size, n := binary.Uvarint(v)
		if n <= 0 || size > uint64(len(v)-n) { //nolint:gosec // n is at most the length of v.
			return nil, nil, false
		}
		keys[i], v = string(v[n:n+int(size)]), v[n+int(size):] //nolint:gosec // Below the length of v.
	}
	return keys, v, true
}
