package journal

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"iter"
	"os"
	"slices"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/internal/durable"
	"github.com/metnos/vaglio/store/keyring"
)

// active is a segment that is not sealed: entries in the order they were appended. Its file
// begins with a mark and the form. An entry is
//
//	length of the rest, CRC-32C of the rest, seq, at, length of key, length of note, key, note, body
//
// with integers in little-endian order, of 4 bytes except for seq and at, which have 8.
// Note and body are encrypted together, bound to what precedes them; in the first form they
// are not.
type active struct {
	number uint64
	path   string
	file   *os.File
	form   uint32
	keys   *keyring.Ring
	// used are the ids of the keys that its entries are encrypted with.
	used map[uint32]bool
	// size is where the next entry begins.
	size int64
	// from and to are the times of its earliest and latest entries.
	from, to time.Time
	// last is the number of the newest entry.
	last uint64
	// offsets are where the entries begin.
	offsets []int64
	// places lists the entries of each key, by the key's hash.
	places map[uint64][]int
	// gaps are where entries cannot be read.
	gaps []gap
	// noted is what counting listings read of the entries, in the form that sealed segments
	// have, and notedAt is where each begins. They are empty for a segment that another
	// process began. Bytes in noted are never overwritten.
	noted   []byte
	notedAt []int
	// room is a buffer for reading entries that nobody keeps; nil gives each entry its own
	// memory.
	room *room
	// spoilt is why the segment is not sealed: its unreadable parts would be lost.
	spoilt *approval.UnreadError
	// unsynced says that bytes may not be on disk.
	unsynced bool
}

const (
	activeEnding = ".log"
	activeMark   = "vaglioJ\n"
	activeForm   = 2
	openForm     = 1  // the form of segments that are not encrypted
	headBytes    = 12 // mark and form

	frameHead = 8             // length and checksum
	entryHead = 8 + 8 + 4 + 4 // seq, at, length of key, length of note
)

// checksum returns the CRC-32C, for which processors have an instruction.
func checksum(b []byte) uint32 { return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)) }

// newActive creates an empty segment.
func newActive(dir string, number uint64, keys *keyring.Ring) (*active, error) {
	path := segmentPath(dir, number, activeEnding)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, fileMode) //nolint:gosec // The folder is the store's.
	if err != nil {
		return nil, err
	}
	a := &active{
		number: number, path: path, file: f, form: activeForm, keys: keys, size: headBytes,
		places: make(map[uint64][]int), used: make(map[uint32]bool),
	}
	if err := errors.Join(a.begin(), durable.SyncFolder(dir)); err != nil {
		return nil, errors.Join(err, f.Close(), os.Remove(path))
	}
	return a, nil
}

// openActive reads through a segment, and cuts off what a crash left at its end.
func openActive(dir string, number uint64, o *Options) (*active, error) {
	path := segmentPath(dir, number, activeEnding)
	mode := os.O_RDWR
	if o.ReadOnly {
		mode = os.O_RDONLY
	}
	f, err := os.OpenFile(path, mode, 0) //nolint:gosec // The folder is the store's.
	if err != nil {
		return nil, ioError(err)
	}
	a := &active{
		number: number, path: path, file: f, form: activeForm, keys: o.Keys,
		places: make(map[uint64][]int), used: make(map[uint32]bool),
	}
	if err := a.recover(o); err != nil {
		return nil, errors.Join(ioError(err), f.Close())
	}
	return a, nil
}

// recover finds the entries, and where the last complete one ends.
func (a *active) recover(o *Options) error {
	data, info, err := a.contents()
	if err != nil {
		return err
	}
	a.size = headBytes
	marked := bytes.HasPrefix(data, []byte(activeMark))
	if len(data) < headBytes || len(data) == headBytes && !marked {
		// The file was created at the moment of a crash: nothing in it was acknowledged.
		if o.ReadOnly {
			return nil
		}
		return a.begin()
	}
	if a.form = binary.LittleEndian.Uint32(data[len(activeMark):]); a.form < openForm || a.form > activeForm {
		return &FormError{a.path, a.form, activeForm}
	}
	if !marked { // The head is on the disk before the first entry: it was damaged.
		a.gaps = []gap{{from: headBytes, to: headBytes}}
		a.to = info.ModTime()
	}
	a.scan(data, o.Clean)
	a.spoil()
	if o.ReadOnly || a.size == info.Size() || !marked {
		return nil
	}
	return errors.Join(a.file.Truncate(a.size), a.file.Sync())
}

// contents reads the whole file, and returns what the file system says about it.
func (a *active) contents() ([]byte, os.FileInfo, error) {
	info, err := a.file.Stat()
	if err != nil {
		return nil, nil, err
	}
	data := make([]byte, info.Size())
	_, err = io.ReadFull(io.NewSectionReader(a.file, 0, info.Size()), data)
	return data, info, err
}

// takes reports whether a segment that may have so many bytes, and is the last before the
// next one, takes more entries. One that is damaged is left as it is.
func (a *active) takes(most int64, next uint64) bool {
	return a.size < most && a.form == activeForm && a.spoilt == nil && a.number+1 == next
}

// begin makes the file an empty segment.
func (a *active) begin() error {
	if _, err := a.file.WriteAt(binary.LittleEndian.AppendUint32([]byte(activeMark), activeForm), 0); err != nil {
		return err
	}
	return errors.Join(a.file.Truncate(headBytes), a.file.Sync())
}

// scan reads the entries after the head. Unless the last process ended in order, it leaves out an end
// that cannot be read.
func (a *active) scan(data []byte, clean bool) {
	var latest time.Time
	for a.size < int64(len(data)) {
		e, n, err := parseFrame(data[a.size:])
		if err == nil {
			if n := len(a.gaps); n > 0 && a.gaps[n-1].until.IsZero() {
				a.gaps[n-1].until = e.At
			}
			latest = e.At
			a.note(&e.JournalEntry, a.size)
			if a.form != openForm {
				a.used[keyring.KeyOf(e.sealed)] = true
			}
			a.size += n
			continue
		}
		n = resync(data[a.size:])
		switch {
		case n < 0 && clean:
			n = int64(len(data)) - a.size
		case n < 0:
			return
		}
		a.gaps = append(a.gaps, gap{from: a.size, to: a.size + n, since: latest})
		a.size += n
	}
}

// append writes an entry's frame to the end. If the disk is full, it cuts off what was
// written.
func (a *active) append(e *approval.JournalEntry, frame []byte) error {
	if _, err := a.file.WriteAt(frame, a.size); err != nil {
		return errors.Join(err, a.file.Truncate(a.size))
	}
	if len(a.notedAt) == len(a.offsets) {
		a.notedAt = append(a.notedAt, len(a.noted))
		a.noted = appendNote(a.noted, e)
	}
	a.note(e, a.size)
	a.used[a.keys.Newest()] = true
	a.size += int64(len(frame))
	return nil
}

// note records an entry at a position.
func (a *active) note(e *approval.JournalEntry, at int64) {
	if len(a.offsets) == 0 || e.At.Before(a.from) {
		a.from = e.At
	}
	if len(a.offsets) == 0 || e.At.After(a.to) {
		a.to = e.At
	}
	key := keyHash(e.Key)
	a.places[key] = append(a.places[key], len(a.offsets))
	a.offsets = append(a.offsets, at)
	a.last = max(a.last, e.Seq)
}

// notes yields the entries of the notes that begin at the given places.
func notes(places []int, noted []byte, newest bool) iter.Seq2[approval.JournalEntry, error] {
	if newest {
		slices.Reverse(places)
	}
	return func(yield func(approval.JournalEntry, error) bool) {
		for _, at := range places {
			if e, _, err := parseNote(noted[at:]); !yield(e, err) {
				return
			}
		}
	}
}

// look returns a segment for reading the current contents from a file.
func (a *active) look(f *os.File) *active {
	return &active{
		number: a.number, path: a.path, file: f, form: a.form, keys: a.keys, size: a.size, gaps: a.gaps, offsets: a.offsets, from: a.from, to: a.to,
	}
}

// behind returns where the next known entry after a position begins.
func (a *active) behind(at int64) int64 {
	i, _ := slices.BinarySearch(a.offsets, at+1)
	if i == len(a.offsets) {
		return a.size
	}
	return a.offsets[i]
}

// drop unlinks the segment's file. Its readers have it open.
func (a *active) drop() error { return errors.Join(a.file.Close(), os.Remove(a.path)) }

// frameLen returns the length of an entry's frame.
func frameLen(e *approval.JournalEntry) int {
	return frameHead + entryHead + len(e.Key) + len(e.Note) + len(e.Body) + keyring.Overhead
}

// room is a buffer in which frames are written and read, one after the other.
type room struct{ frame, said []byte }

// some returns a buffer of n bytes: part of the room, or new memory if r is nil.
func (r *room) some(part func(*room) *[]byte, n int) []byte {
	if r == nil {
		return make([]byte, n)
	}
	p := part(r)
	*p = slices.Grow((*p)[:0], n)
	return (*p)[:n]
}

func framePart(r *room) *[]byte { return &r.frame }
func saidPart(r *room) *[]byte  { return &r.said }

// write encodes an entry's frame, which is valid until the next call.
func (r *room) write(e *approval.JournalEntry, keys *keyring.Ring) []byte {
	r.said = append(append(r.said[:0], e.Note...), e.Body...)
	to := slices.Grow(r.frame[:0], frameLen(e))[:frameHead]
	to = binary.LittleEndian.AppendUint64(to, e.Seq)
	to = binary.LittleEndian.AppendUint64(to, uint64(e.At.UnixNano()))
	to = binary.LittleEndian.AppendUint32(to, uint32(len(e.Key)))  //nolint:gosec // Bounded by Check.
	to = binary.LittleEndian.AppendUint32(to, uint32(len(e.Note))) //nolint:gosec // Bounded by Check.
	to = append(to, e.Key...)
	r.frame = keys.Seal(to, r.said, to[frameHead:])
	rest := r.frame[frameHead:]
	binary.LittleEndian.PutUint32(r.frame, uint32(len(rest))) //nolint:gosec // Bounded by Check.
	binary.LittleEndian.PutUint32(r.frame[4:], checksum(rest))
	return r.frame
}

// errFrame says that there is no complete entry.
var errFrame = errors.New("there is no entry at that position")

// frame is an entry as encoded in a segment.
type frame struct {
	approval.JournalEntry // but for note and body

	// head is what note and body are bound to, sealed they themselves; in the first form
	// as they are. Both share the segment's bytes.
	head, sealed []byte
	note         int
}

// parseFrame reads the entry at the beginning of data, and returns its length. The entry
// shares data's memory.
func parseFrame(data []byte) (frame, int64, error) {
	if len(data) < frameHead {
		return frame{}, 0, errFrame
	}
	n := int64(binary.LittleEndian.Uint32(data))
	if n < entryHead || n > int64(len(data)-frameHead) {
		return frame{}, 0, errFrame
	}
	rest := data[frameHead : frameHead+n]
	if checksum(rest) != binary.LittleEndian.Uint32(data[4:]) {
		return frame{}, 0, errFrame
	}
	e, err := parseEntry(rest)
	return e, frameHead + n, err
}

// parseEntry reads the contents of a frame. The entry shares rest's memory.
func parseEntry(rest []byte) (frame, error) {
	seq, at := binary.LittleEndian.Uint64(rest), int64(binary.LittleEndian.Uint64(rest[8:])) //nolint:gosec // Written from an int64.
	key, note := int(binary.LittleEndian.Uint32(rest[16:])), int(binary.LittleEndian.Uint32(rest[20:]))
	if key > len(rest)-entryHead || note > len(rest)-entryHead-key {
		return frame{}, errFrame
	}
	head := entryHead + key
	return frame{
		JournalEntry: approval.JournalEntry{Seq: seq, At: time.Unix(0, at).UTC(), Key: string(rest[entryHead:head])},
		head:         rest[:head], sealed: rest[head:], note: note,
	}, nil
}

// entry returns the complete entry of a frame.
func (a *active) entry(f *frame) (approval.JournalEntry, error) {
	said, e := f.sealed, f.JournalEntry
	if a.form != openForm {
		var err error
		if said, err = a.keys.OpenInto(a.room.some(saidPart, len(f.sealed))[:0], f.sealed, f.head); err != nil {
			return approval.JournalEntry{}, err
		}
	}
	if f.note > len(said) {
		return approval.JournalEntry{}, errFrame
	}
	e.Note, e.Body = said[:f.note:f.note], said[f.note:]
	return e, nil
}

// ioError adds the journal to an error, and says if the disk has no room.
func ioError(err error) error {
	if err == nil {
		return nil
	}
	if durable.NoRoom(err) {
		return fmt.Errorf("journal: %w", errors.Join(approval.ErrFull, err))
	}
	return fmt.Errorf("journal: %w", err)
}
