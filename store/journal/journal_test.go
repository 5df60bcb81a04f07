package journal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/store/keyring"
)

var day = time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)

// numbered returns the ith entry of a test: one per minute, with ten keys in turn.
func numbered(i int) *approval.JournalEntry {
	return &approval.JournalEntry{
		At: day.Add(time.Duration(i) * time.Minute), Key: fmt.Sprintf("turn-%d", i%10),
		Note: fmt.Appendf(nil, "note %d", i), Body: fmt.Appendf(nil, `{"number":%d,"text":%q}`, i, strings.Repeat("words ", i%7*10)),
	}
}

// ring encrypts the tests' journals.
var ring = newRing()

func newRing() *keyring.Ring {
	dir, err := os.MkdirTemp("", "keys")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	r, err := keyring.Make(filepath.Join(dir, "keys"), nil)
	if err != nil {
		panic(err)
	}
	return r
}

func open(t *testing.T, dir string, o Options) *Log {
	t.Helper()
	if o.Keys == nil {
		o.Keys = ring
	}
	l, err := Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

func fill(t *testing.T, l *Log, from, to int) {
	t.Helper()
	for i := from; i < to; i++ {
		if err := l.Append(numbered(i)); err != nil {
			t.Fatal(err)
		}
	}
}

// told reads a span, and returns the entries and what could not be read.
func told(t *testing.T, l *Log, s approval.Span) (all []approval.JournalEntry, unread []string) {
	t.Helper()
	for e, err := range l.Entries(t.Context(), s) {
		if u, ok := errors.AsType[*approval.UnreadError](err); ok {
			unread = append(unread, u.ID)
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, e)
	}
	return all, unread
}

// same reports whether the entries are the numbered ones, in order.
func same(t *testing.T, got []approval.JournalEntry, bodies bool, want ...int) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("got %d entries, want %d", len(got), len(want))
	}
	for i, e := range got {
		w := numbered(want[i])
		if want[0] == 0 && len(want) > 1 && want[1] == 1 && bodies && e.Seq == 0 {
			t.Fatalf("entry %d has no number", i)
		}
		if !e.At.Equal(w.At) || e.Key != w.Key || !bytes.Equal(e.Note, w.Note) || bodies && !bytes.Equal(e.Body, w.Body) {
			t.Fatalf("entry %d: got %v %q %q %q, want number %d", i, e.At, e.Key, e.Note, e.Body, want[i])
		}
	}
}

func upTo(from, to, step int) (all []int) {
	for i := from; i < to; i += step {
		all = append(all, i)
	}
	return all
}

func TestEntriesComeBack(t *testing.T) {
	for _, c := range []struct {
		name    string
		segment int64
	}{{"one segment", 1 << 20}, {"many segments", 4 << 10}} {
		t.Run(c.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "journal")
			l := open(t, dir, Options{SegmentBytes: c.segment})
			const n = 500
			fill(t, l, 0, n)
			check := func(l *Log) {
				t.Helper()
				got, unread := told(t, l, approval.Span{})
				same(t, got, true, upTo(0, n, 1)...)
				if len(unread) > 0 {
					t.Fatalf("unread: %v", unread)
				}
				got, _ = told(t, l, approval.Span{Key: "turn-3"})
				same(t, got, true, upTo(3, n, 10)...)
				got, _ = told(t, l, approval.Span{NotesOnly: true})
				same(t, got, false, upTo(0, n, 1)...)
				got, _ = told(t, l, approval.Span{From: day.Add(100 * time.Minute), To: day.Add(200 * time.Minute)})
				same(t, got, true, upTo(100, 200, 1)...)
				got, _ = told(t, l, approval.Span{Key: "turn-3", From: day.Add(100 * time.Minute)})
				same(t, got, true, upTo(103, n, 10)...)
				got, _ = told(t, l, approval.Span{Newest: true})
				slices.Reverse(got)
				same(t, got, true, upTo(0, n, 1)...)
				got, _ = told(t, l, approval.Span{Newest: true, Before: 100, Key: "turn-3"})
				slices.Reverse(got)
				same(t, got, true, upTo(3, 99, 10)...)
				if got, _ = told(t, l, approval.Span{Key: "nobody"}); len(got) > 0 {
					t.Fatalf("a key that nobody used has %d entries", len(got))
				}
			}
			check(l)
			l.SealAll()
			check(l)
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
			look := open(t, dir, Options{SegmentBytes: c.segment, ReadOnly: true})
			check(look)
			if err := look.Append(numbered(1)); !errors.Is(err, ErrClosed) {
				t.Fatalf("a look took an entry: %v", err)
			}
			l = open(t, dir, Options{SegmentBytes: c.segment})
			check(l)
			fill(t, l, n, n+1)
			got, _ := told(t, l, approval.Span{From: day.Add(n * time.Minute)})
			same(t, got, true, n)
		})
	}
}

// fourEntries writes four entries into the only segment of a journal, and returns its folder, its
// file, what that holds, and where the last entry begins.
func fourEntries(t *testing.T) (dir, path string, data []byte, last int64) {
	t.Helper()
	dir = t.TempDir()
	l := open(t, dir, Options{})
	fill(t, l, 0, 3)
	last = l.newest.size
	fill(t, l, 3, 4)
	path = l.newest.path
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return dir, path, data, last
}

func TestAnEndThatACrashLeftIsCutOff(t *testing.T) {
	dir, path, data, whole := fourEntries(t)
	for cut := whole; cut < int64(len(data)); cut++ {
		if err := os.WriteFile(path, data[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		l := open(t, dir, Options{})
		if info, err := os.Stat(path); err != nil || info.Size() != whole {
			t.Fatalf("cut at %d: the file is not of %d bytes: %v, %v", cut, whole, info, err)
		}
		got, unread := told(t, l, approval.Span{})
		same(t, got, true, 0, 1, 2)
		if len(unread) > 0 {
			t.Fatalf("cut at %d: unread %v", cut, unread)
		}
		fill(t, l, 3, 4)
		got, _ = told(t, l, approval.Span{})
		same(t, got, true, 0, 1, 2, 3)
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestAnEndThatNoCrashLeftIsDamage checks that nothing is cut off after an end in order: the entries
// before are read, and what cannot be read is told and kept.
func TestAnEndThatNoCrashLeftIsDamage(t *testing.T) {
	dir, path, data, whole := fourEntries(t)
	damaged := slices.Clone(data)
	damaged[len(data)-1]++
	for name, left := range map[string][]byte{"cut": data[:len(data)-1], "the head alone": data[:whole+4], "changed": damaged} {
		if err := os.WriteFile(path, left, 0o600); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			l := open(t, dir, Options{Clean: true})
			got, unread := told(t, l, approval.Span{})
			same(t, got, true, 0, 1, 2)
			if len(unread) != 1 {
				t.Errorf("%s: told as unread: %v", name, unread)
			}
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if kept, err := os.ReadFile(path); err != nil || !bytes.Equal(kept, left) {
			t.Errorf("%s: the file has %d bytes, want the %d that were left: %v", name, len(kept), len(left), err)
		}
	}
}

func TestADamagedEntryHidesNoOther(t *testing.T) {
	for _, sealed := range []bool{false, true} {
		t.Run(fmt.Sprintf("sealed %v", sealed), func(t *testing.T) {
			dir := t.TempDir()
			o := Options{SegmentBytes: 8 << 10}
			l := open(t, dir, o)
			fill(t, l, 0, 300)
			if sealed {
				l.SealAll()
			}
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
			ending := activeEnding
			if sealed {
				ending = sealedEnding
			}
			paths, err := filepath.Glob(filepath.Join(dir, "*"+ending))
			if err != nil || len(paths) == 0 {
				t.Fatalf("segments: %v, %v", paths, err)
			}
			path := paths[len(paths)-1] // entries still go to this one, so it is not sealed meanwhile
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			data[len(data)/2] ^= 1
			if err := os.WriteFile(path, data, 0o600); err != nil {
				t.Fatal(err)
			}
			l = open(t, dir, o)
			got, unread := told(t, l, approval.Span{})
			if len(unread) != 1 || !strings.HasPrefix(filepath.Base(path), strings.TrimSuffix(unread[0], filepath.Ext(unread[0]))) {
				t.Fatalf("unread: %v, damaged %s", unread, path)
			}
			missing := map[string]bool{}
			for i := range 300 {
				missing[numbered(i).At.String()] = true
			}
			for i := range got {
				delete(missing, got[i].At.String())
			}
			for _, s := range []approval.Span{{}, {Newest: true}} {
				for _, err := range l.Entries(t.Context(), s) {
					u, ok := errors.AsType[*approval.UnreadError](err)
					for i := range 300 {
						if at := numbered(i).At; ok && missing[at.String()] && (at.Before(u.From) || at.After(u.To)) {
							t.Errorf("the entry of %v cannot be read, and what is told is %v to %v", at, u.From, u.To)
						}
					}
					if ok && !sealed && u.To.Sub(u.From) != 2*time.Minute {
						t.Errorf("of one entry %v to %v is told", u.From, u.To)
					}
				}
			}
			if len(got) == 0 || len(got) >= 300 {
				t.Fatalf("%d entries are left of 300", len(got))
			}
			last := got[len(got)-1]
			if !last.At.Equal(numbered(299).At) {
				t.Fatalf("the newest entry is gone: %v", last.At)
			}
		})
	}
}

// TestWhatIsDamagedIsNotSealed damages segments that wait to be sealed, at any entry. The
// others are sealed, and of the damaged ones only the damaged entries are lost, which are
// named until they are old.
func TestWhatIsDamagedIsNotSealed(t *testing.T) {
	const n = 300
	for entry := range 12 {
		dir := t.TempDir()
		o := Options{SegmentBytes: 8 << 10}
		l := open(t, dir, o)
		l.sealing.Lock() // none is sealed before it is damaged
		fill(t, l, 0, n)
		l.mu.Lock()
		a := l.full[1]
		full, at := len(l.full), a.offsets[len(a.offsets)*entry/12]+frameHead+int64(entry)
		if _, err := a.file.WriteAt([]byte{^byte(entry)}, at); err != nil {
			t.Fatal(err)
		}
		l.mu.Unlock()
		damaged, err := os.ReadFile(a.path)
		if err != nil {
			t.Fatal(err)
		}
		l.sealing.Unlock()
		check := func(when string) {
			t.Helper()
			l.SealAll()
			got, unread := told(t, l, approval.Span{})
			if len(got) != n-1 || len(unread) != 1 || unread[0] != filepath.Base(a.path) {
				t.Errorf("entry %d, %s: %d entries of %d, unread %v", entry, when, len(got), n, unread)
			}
			var named []string
			for _, s := range l.Stretches() {
				if s.Unread != nil {
					named = append(named, s.Unread.ID)
				}
			}
			if !slices.Equal(named, unread) {
				t.Errorf("entry %d, %s: the stretches name %v", entry, when, named)
			}
			if sealed, err := filepath.Glob(filepath.Join(dir, "*"+sealedEnding)); err != nil || len(sealed) != full-1 {
				t.Errorf("entry %d, %s: %d of %d segments are sealed, %v", entry, when, len(sealed), full, err)
			}
			if kept, err := os.ReadFile(a.path); err != nil || !bytes.Equal(kept, damaged) {
				t.Errorf("entry %d, %s: the damaged segment is not as it was: %v", entry, when, err)
			}
		}
		check("damaged while it was open")
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		l = open(t, dir, o)
		check("opened anew")
		if err := l.Forget(day.AddDate(1, 0, 0)); err != nil {
			t.Fatal(err)
		}
		if got, unread := told(t, l, approval.Span{}); len(got)+len(unread) > 0 {
			t.Errorf("entry %d: %d entries are left of what is old, and %v", entry, len(got), unread)
		}
	}
}

// TestAStretchStaysTheSame follows stretches while segments grow, are sealed, reopened and
// dropped: stretches with the same ID and Last have the same entries.
func TestAStretchStaysTheSame(t *testing.T) {
	dir := t.TempDir()
	o := Options{SegmentBytes: 4096}
	l := open(t, dir, o)
	held := map[approval.Stretch][]approval.JournalEntry{}
	check := func(what string) {
		t.Helper()
		var joined []approval.JournalEntry
		for _, s := range l.Stretches() {
			all, unread := told(t, l, approval.Span{Stretch: s.ID})
			if len(unread) > 0 {
				t.Fatalf("%s: %v cannot be read", what, unread)
			}
			joined = append(joined, all...)
			key := approval.Stretch{ID: s.ID, Last: s.Last}
			if was, known := held[key]; known && !slices.EqualFunc(was, all, func(a, b approval.JournalEntry) bool { return a.Seq == b.Seq }) {
				t.Errorf("%s: stretch %+v had %d entries, and has %d", what, key, len(was), len(all))
			}
			held[key] = all
			if len(all) > 0 && (!s.From.Equal(all[0].At) || !s.To.Equal(all[len(all)-1].At) || s.Last != all[len(all)-1].Seq) {
				t.Errorf("%s: %+v has entries from %v to %v, number %d", what, s, all[0].At, all[len(all)-1].At, all[len(all)-1].Seq)
			}
		}
		whole, _ := told(t, l, approval.Span{})
		if len(whole) != len(joined) {
			t.Errorf("%s: %d entries in stretches, %d in all", what, len(joined), len(whole))
		}
	}
	for n := range 5 {
		fill(t, l, 100*n, 100*n+100)
		check("grown")
		l.SealAll()
		check("sealed")
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	l = open(t, dir, o)
	check("opened anew")
	if err := l.Forget(numbered(250).At); err != nil {
		t.Fatal(err)
	}
	check("dropped")
	if len(held) < 10 {
		t.Errorf("only %d stretches", len(held))
	}
}

func TestOldSegmentsGiveTheirRoomBack(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir, Options{SegmentBytes: 4 << 10})
	fill(t, l, 0, 500)
	l.SealAll()
	if err := l.Forget(day.Add(250 * time.Minute)); err != nil {
		t.Fatal(err)
	}
	got, _ := told(t, l, approval.Span{})
	first := slices.IndexFunc(upTo(0, 500, 1), func(i int) bool { return numbered(i).At.Equal(got[0].At) })
	if first == 0 || first > 250 {
		t.Fatalf("the first entry that is left is number %d", first)
	}
	same(t, got, true, upTo(first, 500, 1)...)
	if err := l.Forget(day.AddDate(1, 0, 0)); err != nil {
		t.Fatal(err)
	}
	if got, _ := told(t, l, approval.Span{}); len(got) > 0 {
		t.Fatalf("%d entries are left of what is old", len(got))
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 1 {
		t.Fatalf("files left: %v, %v", files, err)
	}
	fill(t, l, 0, 1)
	got, _ = told(t, l, approval.Span{})
	same(t, got, true, 0)
}

// TestASegmentIsOfADay checks that a segment holds the entries of one day; otherwise it
// would keep its oldest entry as long as its newest.
func TestASegmentIsOfADay(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir, Options{})
	for hour := range 24 * 10 {
		if err := l.Append(&approval.JournalEntry{At: day.Add(time.Duration(hour) * time.Hour), Key: "k", Body: []byte("x")}); err != nil {
			t.Fatal(err)
		}
	}
	l.SealAll()
	if err := l.Forget(day.AddDate(0, 0, 7)); err != nil {
		t.Fatal(err)
	}
	got, _ := told(t, l, approval.Span{})
	if len(got) != 3*24 || !got[0].At.Equal(day.AddDate(0, 0, 7)) {
		t.Errorf("%d entries are left, want those of three days", len(got))
	}
}

// TestReadingWhileSegmentsChange checks that a reader that began before segments are sealed
// continues.
func TestReadingWhileSegmentsChange(t *testing.T) {
	l := open(t, t.TempDir(), Options{SegmentBytes: 4 << 10})
	fill(t, l, 0, 300)
	n := 0
	for _, err := range l.Entries(t.Context(), approval.Span{}) {
		if err != nil {
			t.Fatal(err)
		}
		if n++; n == 5 {
			l.SealAll()
		}
	}
	if n != 300 {
		t.Fatalf("got %d entries of 300", n)
	}
}

func TestAppendRefuses(t *testing.T) {
	l := open(t, t.TempDir(), Options{})
	for field, e := range map[string]*approval.JournalEntry{
		"key": {At: day}, "note": {At: day, Key: "k", Note: make([]byte, approval.MaxNote+1)},
	} {
		err := l.Append(e)
		if r, ok := errors.AsType[*approval.RecordError](err); !ok || r.Field != field {
			t.Errorf("%s: got %v", field, err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if err := l.Append(numbered(0)); !errors.Is(err, ErrClosed) {
		t.Errorf("after the close: got %v", err)
	}
	if n, _, err := onlyUnread(context.Background(), l, approval.Span{}); n > 0 || !errors.Is(err, ErrClosed) {
		t.Errorf("reading after the close: %d entries, %v", n, err)
	}
	if err := l.Forget(day); !errors.Is(err, ErrClosed) {
		t.Errorf("forgetting after the close: got %v", err)
	}
}

// TestAppendSideBySide checks that entries appended concurrently are all there and intact.
func TestAppendSideBySide(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir, Options{SegmentBytes: 16 << 10})
	const writers, each = 8, 200
	done := make(chan error, writers)
	for w := range writers {
		go func() {
			for i := range each {
				if err := l.Append(numbered(w*each + i)); err != nil {
					done <- err
					return
				}
			}
			done <- nil
		}()
	}
	for range writers {
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	l = open(t, dir, Options{SegmentBytes: 16 << 10})
	got, unread := told(t, l, approval.Span{})
	slices.SortFunc(got, func(a, b approval.JournalEntry) int { return a.At.Compare(b.At) })
	same(t, got, true, upTo(0, writers*each, 1)...)
	if len(unread) > 0 {
		t.Fatalf("unread: %v", unread)
	}
}

// FuzzOpen opens whatever a broken disk may hold, which must never cause a panic.
func FuzzOpen(f *testing.F) {
	dir := f.TempDir()
	l, err := Open(dir, Options{SegmentBytes: 2 << 10, Keys: ring})
	if err != nil {
		f.Fatal(err)
	}
	for i := range 60 {
		if err := l.Append(numbered(i)); err != nil {
			f.Fatal(err)
		}
	}
	l.SealAll()
	if err := l.Close(); err != nil {
		f.Fatal(err)
	}
	for _, ending := range []string{activeEnding, sealedEnding} {
		paths, err := filepath.Glob(filepath.Join(dir, "*"+ending))
		if err != nil || len(paths) == 0 {
			f.Fatalf("no segment: %v", err)
		}
		data, err := os.ReadFile(paths[0])
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data, ending == sealedEnding)
	}
	f.Fuzz(func(t *testing.T, data []byte, sealed bool) {
		dir, ending := t.TempDir(), activeEnding
		if sealed {
			ending = sealedEnding
		}
		if err := os.WriteFile(segmentPath(dir, 1, ending), data, 0o600); err != nil {
			t.Fatal(err)
		}
		l, err := Open(dir, Options{Keys: ring})
		if err != nil {
			if _, newer := errors.AsType[*FormError](err); !newer {
				t.Fatal(err)
			}
			return
		}
		defer l.Close()
		for range l.Entries(t.Context(), approval.Span{}) {
		}
		for range l.Entries(t.Context(), approval.Span{Key: "turn-1", NotesOnly: true}) {
		}
		if err := l.Append(numbered(1)); err != nil {
			t.Fatal(err)
		}
	})
}

func BenchmarkAppend(b *testing.B) {
	l, err := Open(b.TempDir(), Options{Keys: ring})
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	e := &approval.JournalEntry{At: day, Key: "a key of a turn", Note: make([]byte, 60), Body: make([]byte, 1500)}
	for i := range e.Body {
		e.Body[i] = byte('a' + rand.IntN(16))
	}
	b.ReportAllocs()
	for b.Loop() {
		if err := l.Append(e); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkNotes reads the notes of a sealed segment, per entry.
func BenchmarkNotes(b *testing.B) {
	l, err := Open(b.TempDir(), Options{SegmentBytes: 8 << 20, Keys: ring})
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	n := 0
	for ; len(l.full) == 0 && len(l.sealed) == 0; n++ {
		if err := l.Append(numbered(n)); err != nil {
			b.Fatal(err)
		}
	}
	l.SealAll()
	b.ReportAllocs()
	for b.Loop() {
		for _, err := range l.Entries(b.Context(), approval.Span{NotesOnly: true}) {
			if err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/entry")
}

// TestASegmentOfWhichNothingCanBeRead is told with the times between which its entries are, is read
// past, and goes when it is old.
func TestASegmentOfWhichNothingCanBeRead(t *testing.T) {
	dir := t.TempDir()
	o := Options{SegmentBytes: 8 << 10}
	l := open(t, dir, o)
	fill(t, l, 0, 300)
	l.SealAll()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	path := segmentPath(dir, 2, sealedEnding)
	if err := os.WriteFile(path, []byte("nothing"), 0o600); err != nil {
		t.Fatal(err)
	}
	sealedAt := day.Add(24 * time.Hour)
	if err := os.Chtimes(path, sealedAt, sealedAt); err != nil {
		t.Fatal(err)
	}
	l = open(t, dir, o)
	missing := l.Stretches()[1]
	if u := missing.Unread; u == nil || !u.From.Equal(l.Stretches()[0].To) || !u.To.Equal(sealedAt) {
		t.Errorf("missing is %+v", missing.Unread)
	}
	for name, row := range map[string]struct {
		s    approval.Span
		told int
	}{
		"all": {approval.Span{}, 1}, "a turn": {approval.Span{Key: numbered(3).Key, Newest: true}, 1},
		"before": {approval.Span{To: day}, 0}, "after": {approval.Span{From: sealedAt.Add(time.Hour)}, 0},
	} {
		if _, unread := told(t, l, row.s); len(unread) != row.told {
			t.Errorf("%s: unread are %v", name, unread)
		}
	}
	for _, row := range []struct {
		before time.Time
		kept   bool
	}{{sealedAt, true}, {sealedAt.Add(time.Hour), false}} {
		if err := l.Forget(row.before); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(path); (err == nil) != row.kept {
			t.Errorf("after what is from before %v is dropped: %v", row.before, err)
		}
	}
}
