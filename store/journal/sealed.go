package journal

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"iter"
	"os"
	"slices"
	"sort"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/internal/durable"
	"github.com/metnos/vaglio/store/keyring"
)

// sealed is a segment that was full: its entries in groups, each compressed, with the notes
// of a group separate from the bodies. The file is
//
//	groups, keys, table, tail
//
// where keys are sorted pairs of a key's hash and a group; the table says where each group
// is; and the tail, of fixed length, says where keys and table are. Integers are in
// little-endian order. The parts of a group are encrypted, each bound to its segment and
// place; in the first form they are not.
type sealed struct {
	number uint64
	path   string
	form   uint32
	ring   *keyring.Ring
	// used are the ids of the keys that its groups are encrypted with; nil means unknown.
	used map[uint32]bool
	// tried says that a rewrite was attempted since the journal was opened.
	tried bool
	// from and to are the times of its earliest and latest entries.
	from, to time.Time
	// last is the number of its newest entry.
	last   uint64
	groups []group
	keys   part
	// damage is why nothing of it can be read.
	damage error
}

// part is a region of a file, with its checksum.
type part struct {
	At       uint64
	Len, Sum uint32
}

// group is where some consecutive entries are.
type group struct {
	// From and To are the times of its earliest and latest entries, First is the number of
	// its first entry.
	From, To    int64
	First       uint64
	Notes, Body part
}

const (
	sealedEnding = ".seg"
	sealedMark   = "vaglioS\n"
	sealedForm   = 2
	// groupBytes is the size of a group before compression.
	groupBytes = 128 << 10
	// groupMost is the most that a group can hold; anything larger is not one of ours.
	groupMost = approval.MaxBody + approval.MaxNote + approval.MaxName + groupBytes + 1<<20
)

// tail is the end of a sealed segment.
type tail struct {
	Keys, Table part
	From, To    int64
	Last        uint64
	Form        uint32
	Mark        [8]byte
}

// posting says that a group has entries of a key.
type posting struct {
	Key   uint64
	Group uint32
}

func keyHash(key string) uint64 {
	h := fnv.New64a()
	_, _ = io.WriteString(h, key) // a hash takes everything
	return h.Sum64()
}

// openSealed reads where a segment's groups are. It opens a damaged one too, whose readers
// are told.
func openSealed(dir string, number uint64, keys *keyring.Ring) (*sealed, error) {
	s := &sealed{number: number, path: segmentPath(dir, number, sealedEnding), ring: keys}
	f, err := os.Open(s.path)
	if err != nil {
		return nil, ioError(err)
	}
	defer f.Close()
	err = s.read(f)
	if _, newer := errors.AsType[*FormError](err); newer {
		return nil, err
	}
	if s.damage = err; err != nil {
		info, err := f.Stat()
		if err != nil {
			return nil, ioError(err)
		}
		s.from, s.to = time.Time{}, info.ModTime() // it was written when it was sealed
	}
	return s, nil
}

var errDamaged = errors.New("its bytes are not those that were written")

func (s *sealed) read(f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	var t tail
	size := int64(binary.Size(t))
	if info.Size() < size {
		return errDamaged
	}
	if err := binary.Read(io.NewSectionReader(f, info.Size()-size, size), binary.LittleEndian, &t); err != nil {
		return err
	}
	switch {
	case string(t.Mark[:]) != sealedMark:
		return errDamaged
	case t.Form < openForm || t.Form > sealedForm:
		return &FormError{s.path, t.Form, sealedForm}
	}
	s.form = t.Form
	table, err := t.Table.read(f)
	if err != nil {
		return err
	}
	s.groups = make([]group, len(table)/binary.Size(group{}))
	s.keys, s.last, s.from, s.to = t.Keys, t.Last, time.Unix(0, t.From), time.Unix(0, t.To)
	return binary.Read(bytes.NewReader(table), binary.LittleEndian, s.groups)
}

// read reads the part and verifies its checksum.
func (p part) read(f io.ReaderAt) ([]byte, error) {
	if p.Len > groupMost {
		return nil, errDamaged
	}
	b := make([]byte, p.Len)
	if _, err := f.ReadAt(b, int64(p.At)); err != nil { //nolint:gosec // A wrong place is an error of the reading.
		return nil, fmt.Errorf("%w: %w", errDamaged, err)
	}
	if checksum(b) != p.Sum {
		return nil, errDamaged
	}
	return b, nil
}

// unread returns why nothing of the segment can be read, or nil if it can.
func (s *sealed) unread() *approval.UnreadError {
	if s.damage == nil {
		return nil
	}
	return unreadError(s.path, s.damage, s.from, s.to)
}

// holding returns the groups with entries under the key.
func (s *sealed) holding(f io.ReaderAt, key string) (map[int]bool, error) {
	b, err := s.keys.read(f)
	if err != nil {
		return nil, err
	}
	wanted, size := keyHash(key), binary.Size(posting{})
	n := len(b) / size
	first := sort.Search(n, func(i int) bool { return binary.LittleEndian.Uint64(b[i*size:]) >= wanted })
	found := make(map[int]bool)
	for i := first; i < n && binary.LittleEndian.Uint64(b[i*size:]) == wanted; i++ {
		found[int(binary.LittleEndian.Uint32(b[i*size+8:]))] = true
	}
	return found, nil
}

// seal rewrites a full segment in sealed form, and returns it once it is on disk under its
// name. The old form still exists.
func (a *active) seal(dir string) (*sealed, error) {
	s := &sealed{number: a.number, path: segmentPath(dir, a.number, sealedEnding), ring: a.keys, from: a.from, to: a.to, last: a.last}
	look := a.look(a.file)
	look.room = &room{}
	fresh, err := s.write(look.all(context.Background(), a.size))
	if err != nil {
		return nil, err
	}
	if err := errors.Join(os.Rename(fresh.path, s.path), durable.SyncFolder(dir)); err != nil {
		return nil, ioError(err)
	}
	fresh.path = s.path
	return fresh, nil
}

// sealAnew rewrites a sealed segment with the newest key, into a file next to it.
func (s *sealed) sealAnew() (*sealed, error) {
	f, err := os.Open(s.path)
	if err != nil {
		return nil, ioError(err)
	}
	defer f.Close()
	return s.write(s.entries(context.Background(), f, &approval.Span{}))
}

// stale reports whether the segment is to be rewritten.
func (s *sealed) stale() bool {
	if s.damage != nil || s.tried || s.form != openForm && s.ring.Single() {
		return false
	}
	used, err := s.keysUsed()
	return err == nil && (s.form == openForm || len(used) > 1 || !used[s.ring.Newest()])
}

// keysUsed returns the ids of the keys that the segment's groups are encrypted with.
func (s *sealed) keysUsed() (map[uint32]bool, error) {
	if s.damage != nil || s.used != nil || s.form == openForm {
		return s.used, s.damage
	}
	f, err := os.Open(s.path)
	if err != nil {
		return nil, ioError(err)
	}
	defer f.Close()
	used := make(map[uint32]bool)
	for _, g := range s.groups {
		for _, p := range []part{g.Notes, g.Body} {
			var id [4]byte
			if _, err := f.ReadAt(id[:], int64(p.At)); err != nil { //nolint:gosec // A wrong place is an error of the reading.
				return nil, ioError(err)
			}
			used[keyring.KeyOf(id[:])] = true
		}
	}
	s.used = used
	return used, nil
}

// write writes the segment, with the entries, none of which may be lost, to a file next to
// its own, and returns it once it is on disk.
func (s *sealed) write(entries iter.Seq2[approval.JournalEntry, error]) (*sealed, error) {
	f, err := os.OpenFile(s.path+".new", os.O_RDWR|os.O_CREATE|os.O_TRUNC, fileMode)
	if err != nil {
		return nil, ioError(err)
	}
	fresh, err := s.writeInto(f, entries)
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, ioError(errors.Join(err, os.Remove(f.Name())))
	}
	fresh.path = f.Name()
	return fresh, nil
}

func (s *sealed) writeInto(f *os.File, entries iter.Seq2[approval.JournalEntry, error]) (*sealed, error) {
	// Nothing refers beyond a group, so the window need not be larger.
	zip, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest),
		zstd.WithLowerEncoderMem(true), zstd.WithWindowSize(2*groupBytes))
	if err != nil {
		return nil, err
	}
	w := &sealer{to: f, zip: zip, number: s.number, ring: s.ring}
	for e, err := range entries {
		if err == nil {
			err = w.add(&e)
		}
		if err != nil {
			return nil, err
		}
	}
	if err := w.finish(s); err != nil {
		return nil, err
	}
	return &sealed{
		number: s.number, form: sealedForm, ring: s.ring, from: s.from, to: s.to, last: s.last, groups: w.groups, keys: w.keysAt,
	}, f.Sync()
}

// aboutPart is what a part of a segment is bound to.
func aboutPart(segment, at uint64) []byte { return fmt.Appendf(nil, "segment %d part %d", segment, at) }

// sealer writes a sealed segment.
type sealer struct {
	to     io.Writer
	at     uint64
	zip    *zstd.Encoder
	number uint64
	ring   *keyring.Ring

	// now is the group being built; notes and bodies are its parts.
	now           group
	notes, bodies []byte
	groups        []group
	keys          []posting
	keysAt        part
}

func (w *sealer) add(e *approval.JournalEntry) error {
	at := e.At.UnixNano()
	if len(w.notes) == 0 {
		w.now = group{From: at, To: at, First: e.Seq}
	}
	w.now.From, w.now.To = min(w.now.From, at), max(w.now.To, at)
	w.notes = appendNote(w.notes, e)
	w.bodies = binary.AppendUvarint(w.bodies, uint64(len(e.Body)))
	w.bodies = append(w.bodies, e.Body...)
	w.keys = append(w.keys, posting{keyHash(e.Key), uint32(len(w.groups))}) //nolint:gosec // A segment has few groups.
	if len(w.bodies) < groupBytes {
		return nil
	}
	return w.flush()
}

func (w *sealer) flush() (err error) {
	if len(w.notes) == 0 {
		return nil
	}
	if w.now.Notes, err = w.pack(w.notes); err != nil {
		return err
	}
	if w.now.Body, err = w.pack(w.bodies); err != nil {
		return err
	}
	w.groups = append(w.groups, w.now)
	w.notes, w.bodies = w.notes[:0], w.bodies[:0]
	return nil
}

// pack writes bytes compressed and encrypted.
func (w *sealer) pack(b []byte) (part, error) {
	return w.write(w.ring.Seal(nil, w.zip.EncodeAll(b, nil), aboutPart(w.number, w.at)))
}

func (w *sealer) write(b []byte) (part, error) {
	p := part{At: w.at, Len: uint32(len(b)), Sum: checksum(b)} //nolint:gosec // Bounded by an entry's limits.
	_, err := w.to.Write(b)
	w.at += uint64(len(b))
	return p, err
}

func (w *sealer) finish(s *sealed) error {
	if err := w.flush(); err != nil {
		return err
	}
	slices.SortFunc(w.keys, func(a, b posting) int { return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.Group, b.Group)) })
	t := tail{From: s.from.UnixNano(), To: s.to.UnixNano(), Last: s.last, Form: sealedForm, Mark: [8]byte([]byte(sealedMark))}
	keys, err := binary.Append(nil, binary.LittleEndian, slices.Compact(w.keys))
	if err != nil {
		return err
	}
	if t.Keys, err = w.write(keys); err != nil {
		return err
	}
	table, err := binary.Append(nil, binary.LittleEndian, w.groups)
	if err != nil {
		return err
	}
	if t.Table, err = w.write(table); err != nil {
		return err
	}
	w.keysAt = t.Keys
	return binary.Write(w.to, binary.LittleEndian, t)
}
