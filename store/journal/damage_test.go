package journal

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/internal/race"
)

// segmentOf is a segment with some entries, as bytes, and the entries.
func segmentOf(t *testing.T, ending string) ([]byte, []approval.JournalEntry) {
	t.Helper()
	dir := t.TempDir()
	l := open(t, dir, Options{SegmentBytes: 2 << 10})
	fill(t, l, 0, 40)
	if ending == sealedEnding {
		l.SealAll()
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	paths, err := filepath.Glob(filepath.Join(dir, "*"+ending))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no segment, %v", err)
	}
	data, err := os.ReadFile(paths[0])
	if err != nil {
		t.Fatal(err)
	}
	l, err = lookAt(t, data, ending)
	if err != nil {
		t.Fatal(err)
	}
	all, unread := told(t, l, approval.Span{})
	if len(all) < 5 || len(unread) > 0 {
		t.Fatalf("%d entries, unread %v", len(all), unread)
	}
	return data, all
}

// lookAt looks at a journal of one segment.
func lookAt(t *testing.T, data []byte, ending string) (*Log, error) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(segmentPath(dir, 1, ending), data, 0o600); err != nil {
		t.Fatal(err)
	}
	return Open(dir, Options{Keys: ring, ReadOnly: true})
}

// spans are the ways to read a segment.
var spans = map[string]approval.Span{"all": {}, "of a key": {Key: numbered(3).Key}, "newest first": {Newest: true}, "notes": {NotesOnly: true}}

// selected are the entries as a span has them.
func selected(all []approval.JournalEntry, s *approval.Span) (want []approval.JournalEntry) {
	for _, e := range all {
		if !s.Holds(&e) {
			continue
		}
		if s.NotesOnly {
			e.Body = nil
		}
		want = append(want, e)
	}
	if s.Newest {
		slices.Reverse(want)
	}
	return want
}

// TestAnyByteMayBeDamaged changes each byte of a segment in turn, and cuts it there: what
// comes back is what was appended, whole and in order, and where something is missing the
// segment is named. What is missing at the end of one that was written to may be what a
// crash left. A short run takes every eleventh byte.
func TestAnyByteMayBeDamaged(t *testing.T) {
	race.Alone(t)
	step := 1
	if testing.Short() {
		step = 11
	}
	for _, ending := range []string{activeEnding, sealedEnding} {
		data, all := segmentOf(t, ending)
		check := func(cut bool, at int, damaged []byte) {
			l, err := lookAt(t, damaged, ending)
			if err != nil {
				if _, newer := errors.AsType[*FormError](err); !newer {
					t.Errorf("%s at %d: %v", ending, at, err)
				}
				return
			}
			defer l.Close()
			for name, span := range spans {
				got, unread := told(t, l, span)
				if span.NotesOnly {
					for i := range got {
						got[i].Body = nil
					}
				}
				want := selected(all, &span)
				lost := len(want) - len(got)
				for _, e := range got {
					i := slices.IndexFunc(want, func(one approval.JournalEntry) bool { return reflect.DeepEqual(one, e) })
					if i < 0 {
						t.Fatalf("%s at %d, %s: %q was never appended, or not in this order", ending, at, name, e.Note)
					}
					want = want[i+1:]
				}
				if crash := ending == activeEnding && (cut || lost == 1); lost > 0 && len(unread) == 0 && !crash {
					t.Errorf("%s at %d, %s: %d entries are missing, and nothing is named", ending, at, name, lost)
				}
			}
		}
		for at := 0; at < len(data); at += step {
			changed := slices.Clone(data)
			changed[at] ^= 1 << (at % 8)
			check(false, at, changed)
			check(true, at, data[:at])
		}
	}
}

// TestASegmentOfANewerVaglio is not read, and says so.
func TestASegmentOfANewerVaglio(t *testing.T) {
	for ending, form := range map[string]uint32{activeEnding: activeForm, sealedEnding: sealedForm} {
		data, _ := segmentOf(t, ending)
		at := len(activeMark)
		if ending == sealedEnding {
			at = len(data) - len(sealedMark) - 4
		}
		if data[at] != byte(form) {
			t.Fatalf("%s: the form does not stand at %d", ending, at)
		}
		data[at] = byte(form + 1)
		files := [][]byte{data}
		if ending == activeEnding {
			files = append(files, data[:headBytes]) // which the newer one has just begun
		}
		for _, data := range files {
			_, err := lookAt(t, data, ending)
			if e, newer := errors.AsType[*FormError](err); !newer || e.Found != form+1 || e.Known != form {
				t.Errorf("%s, %d bytes: %v", ending, len(data), err)
			}
		}
	}
}

// TestAFileThatShrinksIsTold cuts a segment behind the back of a journal that has it open.
func TestAFileThatShrinksIsTold(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir, Options{})
	fill(t, l, 0, 8)
	offsets := slices.Clone(l.newest.offsets)
	for n, at := range slices.Backward(offsets) {
		for _, more := range []int64{frameHead + 1, 1} { // in the entry, in its head
			if err := os.Truncate(l.newest.path, at+more); err != nil {
				t.Fatal(err)
			}
			for name, span := range map[string]approval.Span{"all": {}, "of a key": {Key: numbered(n).Key}} {
				got, unread := told(t, l, span)
				if len(unread) == 0 || name == "all" && len(got) != n || name != "all" && len(got) > 0 {
					t.Errorf("%s, cut at entry %d: %d entries, unread %v", name, n, len(got), unread)
				}
			}
		}
	}
}

// TestADamagedHeadHidesNothing changes the mark at the beginning of the segment that was
// written to: its entries are there, it is named and left as it is, and others follow.
func TestADamagedHeadHidesNothing(t *testing.T) {
	for _, spoil := range []func([]byte){
		func(data []byte) { data[0] ^= 1 },
		func(data []byte) { data[0] ^= 1; clear(data[headBytes:]) },
	} {
		dir, path, data, _ := fourEntries(t)
		spoil(data)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		for n := 4; n < 6; n++ {
			l := open(t, dir, Options{})
			fill(t, l, n, n+1)
			l.SealAll()
			got, unread := told(t, l, approval.Span{})
			whole := data[headBytes] != 0
			if whole && len(got) != n+1 || !whole && len(got) != n-3 || len(unread) != 1 || l.Stretches()[0].Unread == nil {
				t.Errorf("%d entries, unread %v, stretches %+v", len(got), unread, l.Stretches())
			}
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if kept, err := os.ReadFile(path); err != nil || !slices.Equal(kept, data) {
			t.Errorf("the damaged segment was changed: %v", err)
		}
	}
}

// TestReadingEndsWhereItIsEnded stops after each entry in turn, and ends what it reads for,
// which is told.
func TestReadingEndsWhereItIsEnded(t *testing.T) {
	dir, o := t.TempDir(), Options{SegmentBytes: 2 << 10}
	l := open(t, dir, o)
	fill(t, l, 0, 30)
	l.SealAll()
	l.mu.Lock()
	a := l.newest
	if _, err := a.file.WriteAt([]byte{0xff}, a.offsets[0]+frameHead+9); err != nil { // one of the last segment is damaged
		t.Fatal(err)
	}
	l.mu.Unlock()
	readingEnds(t, l)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	readingEnds(t, open(t, dir, o))
}

func readingEnds(t *testing.T, l *Log) {
	t.Helper()
	for name, span := range spans {
		readingStops(t, l, span)
		ctx, cancel := context.WithCancel(t.Context())
		var last error
		for _, err := range l.Entries(ctx, span) {
			cancel()
			last = err
		}
		cancel()
		if !errors.Is(last, context.Canceled) {
			t.Errorf("%s: ended at the first entry, and the last says %v", name, last)
		}
	}
}

// readingStops breaks the loop at each entry in turn, and at each part that cannot be read.
func readingStops(t *testing.T, l *Log, span approval.Span) {
	t.Helper()
	all, unread := told(t, l, span)
	for stop := 1; stop <= len(all)+len(unread); stop++ {
		n := 0
		for range l.Entries(t.Context(), span) {
			if n++; n == stop {
				break
			}
		}
	}
}

// TestWhatACrashLeftOfSealingIsTidied has a segment in both forms, and one half written.
func TestWhatACrashLeftOfSealingIsTidied(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir, Options{SegmentBytes: 2 << 10})
	l.sealing.Lock()
	fill(t, l, 0, 30)
	l.mu.Lock()
	path := l.full[0].path
	l.mu.Unlock()
	data, err := os.ReadFile(path)
	l.sealing.Unlock()
	if err != nil {
		t.Fatal(err)
	}
	l.SealAll()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	half := segmentPath(dir, 1, sealedEnding) + ".new"
	if err := errors.Join(os.WriteFile(path, data, 0o600), os.WriteFile(half, data[:9], 0o600)); err != nil {
		t.Fatal(err)
	}
	for _, readOnly := range []bool{true, false} {
		l = open(t, dir, Options{ReadOnly: readOnly})
		got, unread := told(t, l, approval.Span{})
		same(t, got, true, upTo(0, 30, 1)...)
		if err := l.Close(); err != nil || len(unread) > 0 {
			t.Errorf("unread %v, %v", unread, err)
		}
		for _, left := range []string{path, half} {
			if _, err := os.Stat(left); (err == nil) != readOnly {
				t.Errorf("looked at only: %t; %s: %v", readOnly, filepath.Base(left), err)
			}
		}
	}
}

// TestAFileThatFailsIsOpenedAnew takes the file from a journal: nothing is appended until it
// is opened anew, and what was appended is there.
func TestAFileThatFailsIsOpenedAnew(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir, Options{})
	fill(t, l, 0, 2)
	l.mu.Lock()
	file := l.newest.file
	_ = file.Close()
	l.mu.Unlock()
	first := l.Append(numbered(2))
	if second := l.Append(numbered(2)); first == nil || second == nil || second.Error() != first.Error() {
		t.Errorf("%v, then %v", first, second)
	}
	_ = l.Close()
	l = open(t, dir, Options{})
	fill(t, l, 2, 3)
	got, _ := told(t, l, approval.Span{})
	same(t, got, true, 0, 1, 2)
}
