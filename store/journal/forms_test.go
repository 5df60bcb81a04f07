package journal

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"os"
	"testing"

	"github.com/metnos/vaglio/approval"
)

// openFrame is an entry of the first form, in which nothing is encrypted.
func openFrame(e *approval.JournalEntry) []byte {
	rest := binary.LittleEndian.AppendUint64(nil, e.Seq)
	rest = binary.LittleEndian.AppendUint64(rest, uint64(e.At.UnixNano()))
	rest = binary.LittleEndian.AppendUint32(rest, uint32(len(e.Key)))
	rest = binary.LittleEndian.AppendUint32(rest, uint32(len(e.Note)))
	return framed(append(append(append(rest, e.Key...), e.Note...), e.Body...))
}

// framed puts length and checksum before the contents of an entry.
func framed(rest []byte) []byte {
	to := binary.LittleEndian.AppendUint32(nil, uint32(len(rest)))
	return append(binary.LittleEndian.AppendUint32(to, checksum(rest)), rest...)
}

// openForms is a segment of the first form.
func openForms(frames ...[]byte) []byte {
	return append(binary.LittleEndian.AppendUint32([]byte(activeMark), openForm), bytes.Join(frames, nil)...)
}

// TestSegmentsOfTheFirstForm are read, never appended to, and sealed with the newest key;
// their checksums are all that tells a damage.
func TestSegmentsOfTheFirstForm(t *testing.T) {
	var frames [][]byte
	for i := range 4 {
		e := numbered(i)
		e.Seq = uint64(i + 1)
		if i == 2 {
			e.Note, e.Body = nil, nil
		}
		frames = append(frames, openFrame(e))
	}
	data := openForms(frames...)
	dir := t.TempDir()
	if err := os.WriteFile(segmentPath(dir, 1, activeEnding), data, 0o600); err != nil {
		t.Fatal(err)
	}
	look, err := Open(dir, Options{ReadOnly: true}) // without keys
	if err != nil {
		t.Fatal(err)
	}
	if got, unread := told(t, look, approval.Span{}); len(got) != 4 || len(unread) > 0 {
		t.Errorf("looked at: %d entries, unread %v", len(got), unread)
	}
	if used, err := look.Keys(); err != nil || len(used) > 0 {
		t.Errorf("looked at: keys %v, %v", used, err)
	}
	_ = look.Close()
	l := open(t, dir, Options{})
	fill(t, l, 4, 5)
	for range 2 {
		got, unread := told(t, l, approval.Span{})
		if len(got) != 5 || len(unread) > 0 || got[4].Seq != 5 || len(got[2].Note)+len(got[2].Body) > 0 {
			t.Errorf("%d entries, unread %v", len(got), unread)
		}
		l.SealAll()
	}
	if used, err := l.Keys(); err != nil || !maps.Equal(used, map[uint32]bool{ring.Newest(): true}) {
		t.Errorf("keys %v, %v", used, err)
	}
	for at := range data[headBytes:] {
		changed := bytes.Clone(data)
		changed[headBytes+at] ^= 1 << (at % 8)
		l, err := lookAt(t, changed, activeEnding)
		if err != nil {
			t.Fatal(err)
		}
		got, _ := told(t, l, approval.Span{})
		for _, e := range got {
			if !bytes.Contains(data, openFrame(&e)) {
				t.Fatalf("byte %d: %q was never appended", at, e.Note)
			}
		}
		if len(got) != 3 {
			t.Fatalf("byte %d: %d entries", at, len(got))
		}
		_ = l.Close()
	}
}

// TestAnEmptySegmentOfTheFirstForm is sealed without an entry, and read without a complaint.
func TestAnEmptySegmentOfTheFirstForm(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(segmentPath(dir, 1, activeEnding), openForms(), 0o600); err != nil {
		t.Fatal(err)
	}
	l := open(t, dir, Options{})
	l.SealAll()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	l = open(t, dir, Options{})
	if got, unread := told(t, l, approval.Span{}); len(got)+len(unread) > 0 || len(l.sealed) != 1 {
		t.Errorf("%d entries, unread %v, %d sealed", len(got), unread, len(l.sealed))
	}
}

// TestEntriesThatLie have the right checksum, and lengths that cannot be: they are named,
// and the next one is read.
func TestEntriesThatLie(t *testing.T) {
	e := numbered(0)
	rest := openFrame(e)[frameHead:]
	for name, c := range map[string]struct {
		at    int
		value uint32
	}{
		"a key that is too long": {16, uint32(len(rest))}, "a key by one byte": {16, uint32(len(rest) - entryHead + 1)},
		"a note that is too long": {20, uint32(len(rest))}, "a note by one byte": {20, uint32(len(rest) - entryHead - len(e.Key) + 1)},
		"the longest key": {16, 1<<32 - 1}, "the longest note": {20, 1<<32 - 1},
	} {
		lying := bytes.Clone(rest)
		binary.LittleEndian.PutUint32(lying[c.at:], c.value)
		l, err := lookAt(t, openForms(framed(lying), openFrame(numbered(1))), activeEnding)
		if err != nil {
			t.Fatal(err)
		}
		got, unread := told(t, l, approval.Span{})
		if len(unread) != 1 {
			t.Errorf("%s: unread %v", name, unread)
		}
		same(t, got, true, 1)
		_ = l.Close()
	}
	// Encrypted ones say how long their note is outside of what is encrypted.
	dir := t.TempDir()
	l := open(t, dir, Options{})
	for i, tooLong := range []int{0, 1, 5} {
		e := numbered(i)
		e.Seq = uint64(i + 1)
		e.Body = nil
		head := binary.LittleEndian.AppendUint64(nil, e.Seq)
		head = binary.LittleEndian.AppendUint64(head, uint64(e.At.UnixNano()))
		head = binary.LittleEndian.AppendUint32(head, uint32(len(e.Key)))
		head = binary.LittleEndian.AppendUint32(head, uint32(len(e.Note)+tooLong))
		head = append(head, e.Key...)
		if err := l.newest.append(e, framed(ring.Seal(bytes.Clone(head), e.Note, head))); err != nil {
			t.Fatal(err)
		}
	}
	for _, span := range []approval.Span{{}, {Newest: true}} {
		if got, unread := told(t, l, span); len(got) != 1 || len(unread) != 2 {
			t.Errorf("%d entries, unread %v", len(got), unread)
		}
	}
}

// TestASegmentUnderTwoKeys was sealed while the keys were rotated: it is rewritten, so that
// the older key can go.
func TestASegmentUnderTwoKeys(t *testing.T) {
	dir, keys := t.TempDir(), newKeys(t)
	s := &sealed{number: 1, path: segmentPath(dir, 1, sealedEnding), from: day, to: day.AddDate(0, 0, 1), last: 2}
	f, err := os.Create(s.path)
	if err != nil {
		t.Fatal(err)
	}
	w := &sealer{to: f, zip: newZip(t), number: 1, ring: keys}
	for i := range 2 {
		e := numbered(i)
		e.Seq = uint64(i + 1)
		if err := w.add(e); err != nil {
			t.Fatal(err)
		}
		if err := w.flush(); err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			if err := keys.Rotate(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.finish(s); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	look := open(t, dir, Options{Keys: keys, ReadOnly: true})
	if used, err := look.Keys(); err != nil || len(used) != 2 {
		t.Fatalf("keys %v, %v", used, err)
	}
	_ = look.Close()
	l := open(t, dir, Options{Keys: keys})
	l.SealAll()
	if used, err := l.Keys(); err != nil || fmt.Sprint(used) != fmt.Sprint(map[uint32]bool{keys.Newest(): true}) {
		t.Errorf("keys %v, %v", used, err)
	}
	got, _ := told(t, l, approval.Span{})
	same(t, got, true, 0, 1)
}

// TestTheFormsOfToday are those that other versions read: whoever changes what a segment
// looks like gives it a new number, and reads the older one.
func TestTheFormsOfToday(t *testing.T) {
	written, _ := segmentOf(t, activeEnding)
	if head := "vaglioJ\n\x02\x00\x00\x00"; !bytes.HasPrefix(written, []byte(head)) {
		t.Errorf("a segment begins with %q, not %q", written[:headBytes], head)
	}
	written, _ = segmentOf(t, sealedEnding)
	if end := "\x02\x00\x00\x00vaglioS\n"; !bytes.HasSuffix(written, []byte(end)) {
		t.Errorf("a sealed segment ends with %q, not %q", written[len(written)-len(end):], end)
	}
}
