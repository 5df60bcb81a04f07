package journal

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"maps"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/internal/race"
	"github.com/metnos/vaglio/store/keyring"
)

// onlyUnread reads a span until an error that is none of a damaged part.
func onlyUnread(ctx context.Context, l *Log, s approval.Span) (n, unread int, err error) {
	for _, err := range l.Entries(ctx, s) {
		if _, is := errors.AsType[*approval.UnreadError](err); is {
			unread++
		} else if err != nil {
			return n, unread, err
		} else {
			n++
		}
	}
	return n, unread, nil
}

// instead puts another file in the place of the one that a journal appends to, once that is
// on the disk, and returns it. It runs in a bubble.
func instead(t *testing.T, l *Log, f *os.File) *os.File {
	t.Helper()
	time.Sleep(2 * syncWithin)
	synctest.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	was := l.newest.file
	l.newest.file = f
	return was
}

func device(t *testing.T, name string) *os.File {
	t.Helper()
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

// TestAFullDiskIsNotTheEnd refuses an entry while the disk is full, says why, and takes the
// next one.
func TestAFullDiskIsNotTheEnd(t *testing.T) {
	full, dir := device(t, "/dev/full"), t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		l := open(t, dir, Options{})
		fill(t, l, 0, 2)
		own := instead(t, l, full)
		for range 2 {
			if err := l.Append(numbered(2)); !errors.Is(err, approval.ErrFull) {
				t.Errorf("got %v", err)
			}
		}
		instead(t, l, own)
		fill(t, l, 2, 3)
		got, unread := told(t, l, approval.Span{})
		same(t, got, true, 0, 1, 2)
		if err := l.Close(); err != nil || len(unread) > 0 {
			t.Errorf("unread %v, %v", unread, err)
		}
	})
}

// TestWhatDoesNotReachTheDiskEndsTheJournal has a file that takes bytes and cannot be
// synced: no later entry is acknowledged.
func TestWhatDoesNotReachTheDiskEndsTheJournal(t *testing.T) {
	null, dir := device(t, "/dev/null"), t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		l := open(t, dir, Options{})
		own := instead(t, l, null)
		fill(t, l, 0, 1)
		time.Sleep(2 * syncWithin)
		synctest.Wait()
		if err := l.Append(numbered(1)); err == nil || errors.Is(err, ErrClosed) {
			t.Errorf("got %v", err)
		}
		if err := l.Close(); err == nil {
			t.Error("the close says nothing")
		}
		if err := errors.Join(l.Close(), own.Close()); err != nil {
			t.Errorf("the second close: %v", err)
		}
	})
}

// TestWhatIsInTheWay puts something else where a journal needs a file. It is told, nothing
// is lost, and once it is out of the way everything goes on.
func TestWhatIsInTheWay(t *testing.T) {
	folder := func(path string) error {
		return errors.Join(os.Mkdir(path, 0o700), os.WriteFile(path+"/x", nil, 0o600))
	}
	for _, c := range []struct {
		name, at string
		put      func(string) error
		goes     bool // with the first attempt
	}{
		{name: "a folder where a segment is rewritten", at: "0000000000000001.seg.new", put: folder},
		{name: "a full disk where a segment is rewritten", at: "0000000000000001.seg.new", put: func(path string) error { return os.Symlink("/dev/full", path) }, goes: true},
		{name: "a folder where a sealed segment belongs", at: "0000000000000001.seg", put: folder},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			o := Options{SegmentBytes: 2 << 10}
			l := open(t, dir, o)
			l.sealing.Lock()
			fill(t, l, 0, 30)
			path := filepath.Join(dir, c.at)
			if err := c.put(path); err != nil {
				t.Fatal(err)
			}
			l.sealing.Unlock()
			check := func(sealed bool) {
				t.Helper()
				l.SealAll()
				got, unread := told(t, l, approval.Span{})
				same(t, got, true, upTo(0, 30, 1)...)
				info, err := os.Lstat(segmentPath(dir, 1, sealedEnding))
				if is := err == nil && info.Mode().IsRegular(); is != sealed && !c.goes || len(unread) > 0 {
					t.Errorf("sealed: %t, unread %v", is, unread)
				}
			}
			check(false)
			if err := os.RemoveAll(path); err != nil {
				t.Fatal(err)
			}
			check(true)
		})
	}
	t.Run("the next segment is there already", func(t *testing.T) {
		dir := t.TempDir()
		l := open(t, dir, Options{SegmentBytes: 200})
		fill(t, l, 0, 1)
		path := segmentPath(dir, 2, activeEnding)
		if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := l.Append(numbered(9)); !errors.Is(err, os.ErrExist) {
			t.Errorf("appended: %v", err)
		}
		if err := l.Forget(day.AddDate(1, 0, 0)); !errors.Is(err, os.ErrExist) {
			t.Errorf("forgot: %v", err)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		fill(t, l, 1, 2)
		got, _ := told(t, l, approval.Span{})
		same(t, got, true, 0, 1)
	})
}

// TestAFolderThatCannotBeOpened says so.
func TestAFolderThatCannotBeOpened(t *testing.T) {
	for name, spoil := range map[string]func(dir string) error{
		"a file":                              func(dir string) error { return os.WriteFile(dir, nil, 0o600) },
		"a segment that is a folder":          func(dir string) error { return os.MkdirAll(segmentPath(dir, 1, activeEnding), 0o700) },
		"a segment that leads nowhere":        func(dir string) error { return linkIn(dir, activeEnding, "nowhere") },
		"a segment on a full disk":            func(dir string) error { return linkIn(dir, activeEnding, "/dev/full") },
		"a sealed segment that leads nowhere": func(dir string) error { return linkIn(dir, sealedEnding, "nowhere") },
		"a leftover that stays":               func(dir string) error { return os.MkdirAll(segmentPath(dir, 1, sealedEnding)+".new/x", 0o700) },
	} {
		dir := filepath.Join(t.TempDir(), "journal")
		if err := spoil(dir); err != nil {
			t.Fatal(err)
		}
		l, err := Open(dir, Options{Keys: ring})
		if err == nil {
			_ = l.Close()
			t.Errorf("%s: opened", name)
		}
		if full := errors.Is(err, approval.ErrFull); full != strings.Contains(name, "full") {
			t.Errorf("%s: %v", name, err)
		}
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(file, Options{Keys: ring, ReadOnly: true}); err == nil {
		t.Error("a file can be looked at")
	}
	l := open(t, filepath.Join(t.TempDir(), "none"), Options{ReadOnly: true})
	if got, _ := told(t, l, approval.Span{}); len(got) > 0 || l.Last() != 0 {
		t.Error("what is not there has entries")
	}
}

func linkIn(dir, ending, to string) error {
	return errors.Join(os.Mkdir(dir, 0o700), os.Symlink(to, segmentPath(dir, 1, ending)))
}

// TestALookWritesNothing opens for reading what a crash left, which stays as it is.
func TestALookWritesNothing(t *testing.T) {
	data, _ := segmentOf(t, activeEnding)
	for name, left := range map[string][]byte{"nothing": {}, "half a head": data[:5], "half an entry": data[:len(data)-3], "no mark": make([]byte, headBytes)} {
		dir := t.TempDir()
		path := segmentPath(dir, 1, activeEnding)
		if err := os.WriteFile(path, left, 0o600); err != nil {
			t.Fatal(err)
		}
		l := open(t, dir, Options{ReadOnly: true})
		if _, err := l.full[0].file.WriteAt([]byte("x"), 0); err == nil {
			t.Errorf("%s: the file was opened for writing", name)
		}
		if err := l.Forget(day.AddDate(9, 0, 0)); !errors.Is(err, ErrClosed) {
			t.Errorf("%s: forgot: %v", name, err)
		}
		l.SealAll()
		if err := l.Close(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if now, err := os.ReadFile(path); err != nil || !bytes.Equal(now, left) {
			t.Errorf("%s: changed, %v", name, err)
		}
	}
}

// TestAGarbledEndIsCutOff has an end of the right length that a power cut filled with
// anything: it was never acknowledged as being on disk, and is not reported as damaged.
func TestAGarbledEndIsCutOff(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir, Options{})
	fill(t, l, 0, 3)
	path, whole := l.newest.path, l.newest.size
	fill(t, l, 3, 4)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for at := whole + 4; at < int64(len(data)); at += 7 { // its length may be right
		changed := slices.Clone(data)
		clear(changed[at:])
		if changed[len(data)-1] == data[len(data)-1] {
			changed[len(data)-1] ^= 1
		}
		if err := os.WriteFile(path, changed, 0o600); err != nil {
			t.Fatal(err)
		}
		l := open(t, dir, Options{})
		got, unread := told(t, l, approval.Span{})
		same(t, got, true, 0, 1, 2)
		if len(unread) > 0 || l.newest.size != whole {
			t.Fatalf("zeros from %d: unread %v, %d bytes, want %d", at, unread, l.newest.size, whole)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestBehindALargeDamageEntriesAreFound damages an entry of more bytes than the search looks
// at as beginnings.
func TestBehindALargeDamageEntriesAreFound(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir, Options{})
	fill(t, l, 0, 1)
	from := l.newest.size
	if err := l.Append(&approval.JournalEntry{At: day, Key: "k", Body: make([]byte, 5*resyncTries)}); err != nil {
		t.Fatal(err)
	}
	to, path := l.newest.size, l.newest.path
	fill(t, l, 1, 3)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	for _, with := range []byte{0x00, 0x11, 0xff} {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		copy(data[from:to], bytes.Repeat([]byte{with}, int(to-from)))
		dir := t.TempDir()
		if err := os.WriteFile(segmentPath(dir, 1, activeEnding), data, 0o600); err != nil {
			t.Fatal(err)
		}
		got, unread := told(t, open(t, dir, Options{}), approval.Span{})
		same(t, got, true, 0, 1, 2)
		if len(unread) != 1 {
			t.Errorf("%x: unread %v", with, unread)
		}
	}
}

// TestDamagesBesideEachOther has entries that were damaged before a journal was opened, and
// others afterwards: each is named and the rest is read, also when reading stops at any.
func TestDamagesBesideEachOther(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir, Options{})
	fill(t, l, 0, 12)
	path, at := l.newest.path, slices.Clone(l.newest.offsets)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	spoil := func(entry int) {
		t.Helper()
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if _, err := f.WriteAt([]byte{0xff, 0xff, 0xff}, at[entry]+frameHead+10); err != nil {
			t.Fatal(err)
		}
	}
	spoil(3)
	spoil(7)
	l = open(t, dir, Options{})
	spoil(2)
	spoil(6)
	got, unread := told(t, l, approval.Span{})
	same(t, got, true, 0, 1, 4, 5, 8, 9, 10, 11)
	if len(unread) != 4 {
		t.Errorf("unread %v", unread)
	}
	for _, span := range spans {
		readingStops(t, l, span)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var errs []error
	for _, err := range l.Entries(ctx, approval.Span{}) {
		errs = append(errs, err)
	}
	if len(errs) != 1 || !errors.Is(errs[0], context.Canceled) {
		t.Errorf("canceled: %v", errs)
	}
}

// TestWhatIsCanceledReadsNoFurther cancels at the first entry of a segment.
func TestWhatIsCanceledReadsNoFurther(t *testing.T) {
	l := open(t, t.TempDir(), Options{})
	fill(t, l, 0, 30)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	l = open(t, l.dir, Options{ReadOnly: true})
	for name, span := range spans {
		ctx, cancel := context.WithCancel(t.Context())
		n := 0
		var last error
		for _, err := range l.Entries(ctx, span) {
			cancel()
			n++
			last = err
		}
		cancel()
		if n != 2 || !errors.Is(last, context.Canceled) {
			t.Errorf("%s: %d, %v", name, n, last)
		}
	}
}

// TestFilesThatAreGone are told, wherever they are needed.
func TestFilesThatAreGone(t *testing.T) {
	for _, seal := range []bool{false, true} {
		dir := t.TempDir()
		l := open(t, dir, Options{SegmentBytes: 2 << 10})
		fill(t, l, 0, 30)
		if seal {
			l.SealAll()
		}
		ending := map[bool]string{true: sealedEnding, false: activeEnding}[seal]
		paths, err := filepath.Glob(filepath.Join(dir, "0*"+ending))
		if err != nil || len(paths) == 0 {
			t.Fatalf("%v, %v", paths, err)
		}
		if !seal { // the others are sealed at this moment
			paths = paths[len(paths)-1:]
		}
		for _, path := range paths {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
		}
		if _, _, err := onlyUnread(t.Context(), l, approval.Span{Newest: true}); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("sealed: %t: got %v", seal, err)
		}
		if _, err := l.Keys(); seal && !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the keys: %v", err)
		}
		if err := l.Forget(day.AddDate(1, 0, 0)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("sealed: %t: forgot: %v", seal, err)
		}
	}
}

// TestWhatIsCutShortTellsNoKeys cuts a sealed segment behind its beginning, once it is known.
func TestWhatIsCutShortTellsNoKeys(t *testing.T) {
	l := open(t, t.TempDir(), Options{SegmentBytes: 2 << 10})
	fill(t, l, 0, 30)
	l.SealAll()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	l = open(t, l.dir, Options{ReadOnly: true})
	if err := os.Truncate(l.sealed[0].path, headBytes); err != nil {
		t.Fatal(err)
	}
	if used, err := l.Keys(); err == nil {
		t.Errorf("keys %v", used)
	}
}

// TestALengthThatNobodyWritesIsNotRead has no memory taken for what a damaged table says.
func TestALengthThatNobodyWritesIsNotRead(t *testing.T) {
	if _, err := (part{Len: groupMost + 1}).read(unasked{t}); !errors.Is(err, errDamaged) {
		t.Errorf("got %v", err)
	}
}

// unasked is a file that nobody should read.
type unasked struct{ t *testing.T }

func (f unasked) ReadAt(b []byte, at int64) (int, error) {
	f.t.Errorf("%d bytes are read at %d", len(b), at)
	return 0, errDamaged
}

// TestAChangedFrameIsNoEntry reads a frame whose checksum is wrong, also where nothing is
// encrypted.
func TestAChangedFrameIsNoEntry(t *testing.T) {
	data, _ := segmentOf(t, activeEnding)
	frame := slices.Clone(data[headBytes:])
	frame[frameHead] ^= 1
	for form := uint32(openForm); form <= activeForm; form++ {
		a := &active{form: form, keys: ring}
		if e, n, err := a.readFrame(bufio.NewReader(bytes.NewReader(frame)), int64(len(frame))); !errors.Is(err, errFrame) {
			t.Errorf("form %d: %v of %d bytes, %v", form, e, n, err)
		}
	}
}

// TestLengthsThatLieAreNoEntry has lengths that lead beyond the frame.
func TestLengthsThatLieAreNoEntry(t *testing.T) {
	const size = 10 // of the key and what follows
	for _, c := range []struct {
		key, note uint32
		ok        bool
	}{
		{0, 0, true},
		{size, 0, true},
		{0, size, true},
		{4, size - 4, true},
		{size + 1, 0, false},
		{0, size + 1, false},
		{4, size - 3, false},
		{math.MaxUint32, 0, false},
		{0, math.MaxUint32, false},
	} {
		rest := make([]byte, entryHead+size)
		binary.LittleEndian.PutUint32(rest[16:], c.key)
		binary.LittleEndian.PutUint32(rest[20:], c.note)
		if _, err := parseEntry(rest); (err == nil) != c.ok {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// TestTheNextEntryIsFound behind any number of damaged bytes, and the first of several.
func TestTheNextEntryIsFound(t *testing.T) {
	data, _ := segmentOf(t, activeEnding)
	for n := 1; n < 50; n++ {
		if got := resync(append(bytes.Repeat([]byte{0xff}, n), data[headBytes:]...)); got != int64(n) {
			t.Errorf("behind %d bytes: found at %d", n, got)
		}
	}
}

// TestWithoutItsKeyNothingIsBelieved opens a journal with a ring that did not encrypt it:
// neither its entries nor those of a few bytes are yielded.
func TestWithoutItsKeyNothingIsBelieved(t *testing.T) {
	for _, seal := range []bool{false, true} {
		l := open(t, t.TempDir(), Options{Keys: newKeys(t), SegmentBytes: 200})
		for i := range 5 {
			if err := l.Append(&approval.JournalEntry{At: day.Add(time.Duration(i)), Key: "k"}); err != nil {
				t.Fatal(err)
			}
		}
		if seal {
			l.SealAll()
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		l, err := Open(l.dir, Options{Keys: newKeys(t), ReadOnly: true})
		if err != nil {
			continue
		}
		for name, span := range spans {
			if name == "of a key" {
				span.Key = "k"
			}
			for e, err := range l.Entries(t.Context(), span) {
				if err == nil {
					t.Errorf("sealed: %t, %s: believed %+v", seal, name, e)
				}
			}
		}
		_ = l.Close()
	}
}

// TestNobodyElseReadsTheFiles of a journal, whatever form they have.
func TestNobodyElseReadsTheFiles(t *testing.T) {
	l := open(t, t.TempDir(), Options{SegmentBytes: 2 << 10})
	fill(t, l, 0, 30)
	l.SealAll()
	fill(t, l, 30, 31)
	files, err := os.ReadDir(l.dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if info, err := f.Info(); err != nil || info.Mode() != 0o600 {
			t.Errorf("%s: %v, %v", f.Name(), info, err)
		}
	}
}

// TestReadingLeavesNoFileOpen reads in every way, and stops early.
func TestReadingLeavesNoFileOpen(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir, Options{SegmentBytes: 2 << 10})
	fill(t, l, 0, 30)
	l.SealAll()
	before := opened(t, dir)
	for _, span := range spans {
		for range l.Entries(t.Context(), span) {
		}
		for range l.Entries(t.Context(), span) {
			break
		}
	}
	if _, err := l.Keys(); err != nil {
		t.Fatal(err)
	}
	if now := opened(t, dir); now > before { // fewer, if one that was sealed is closed only now
		t.Errorf("%d files are open, %d were", now, before)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if now := opened(t, dir); now != 0 {
		t.Errorf("%d files are open after the close", now)
	}
}

// opened returns how many files below the folder the process has open.
func opened(t *testing.T, dir string) (n int) {
	t.Helper()
	open, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip(err)
	}
	for _, f := range open {
		if to, err := os.Readlink("/proc/self/fd/" + f.Name()); err == nil && strings.HasPrefix(to, dir) {
			n++
		}
	}
	return n
}

// TestSegmentsAreSealedByThemselves seals what is full although a damaged one is among it,
// without being told more than once.
func TestSegmentsAreSealedByThemselves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		l := open(t, dir, Options{SegmentBytes: 2 << 10})
		synctest.Wait()
		l.sealing.Lock()
		fill(t, l, 0, 80)
		l.mu.Lock()
		full := len(l.full)
		a := l.full[0]
		if _, err := a.file.WriteAt([]byte{0xff, 0xff}, a.offsets[1]+frameHead+9); err != nil {
			t.Fatal(err)
		}
		l.mu.Unlock()
		select {
		case <-l.toSeal:
		default:
		}
		l.sealing.Unlock()
		synctest.Wait()
		sealed, err := filepath.Glob(filepath.Join(dir, "*"+sealedEnding))
		if err != nil || len(sealed) != full-1 || full < 3 {
			t.Errorf("%d of %d are sealed, %v", len(sealed), full, err)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

// TestAFailureIsTheEnd has a file that fails once and then works: whether what was written
// is whole is not known, so nothing follows it.
func TestAFailureIsTheEnd(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		l := open(t, dir, Options{})
		fill(t, l, 0, 1)
		reads, err := os.Open(l.newest.path)
		if err != nil {
			t.Fatal(err)
		}
		defer reads.Close()
		own := instead(t, l, reads)
		first := l.Append(numbered(1))
		instead(t, l, own)
		if second := l.Append(numbered(1)); first == nil || !errors.Is(second, first) {
			t.Errorf("%v, then %v", first, second)
		}
		if err := l.Close(); !errors.Is(err, first) {
			t.Errorf("the close: %v", err)
		}
	})
}

// TestALengthThatLiesTakesNoMemory damages the length of an entry under an open journal.
func TestALengthThatLiesTakesNoMemory(t *testing.T) {
	l := open(t, t.TempDir(), Options{})
	fill(t, l, 0, 3)
	if _, err := l.newest.file.WriteAt([]byte{0xff, 0xff, 0xff, 0x7f}, l.newest.offsets[1]); err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for name, span := range map[string]approval.Span{"all": {}, "newest first": {Newest: true}} {
		if got, unread := told(t, l, span); len(got) != 2 || len(unread) != 1 {
			t.Errorf("%s: %d entries, unread %v", name, len(got), unread)
		}
	}
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > 64<<20 {
		t.Errorf("%d bytes were taken", took)
	}
}

// TestWhatCannotBeRewrittenIsTriedOnce rotates the keys of a journal with a damaged segment:
// the others are rewritten, it stays as it is, and its key stays in use.
func TestWhatCannotBeRewrittenIsTriedOnce(t *testing.T) {
	dir, keys := t.TempDir(), newKeys(t)
	o := Options{SegmentBytes: 2 << 10, Keys: keys}
	l := open(t, dir, o)
	fill(t, l, 0, 60)
	l.SealAll()
	first := l.sealed[0]
	data, err := os.ReadFile(first.path)
	if err != nil {
		t.Fatal(err)
	}
	data[first.groups[0].Body.At+20] ^= 1
	if err := os.WriteFile(first.path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	older := keys.Newest()
	if err := keys.Rotate(); err != nil {
		t.Fatal(err)
	}
	fill(t, l, 60, 61)
	for range 2 {
		l.SealAll()
		l.mu.Lock()
		for i, s := range l.sealed {
			want := map[uint32]bool{keys.Newest(): true}
			if i == 0 {
				want = map[uint32]bool{older: true}
			}
			if used, err := s.keysUsed(); err != nil || !maps.Equal(used, want) {
				t.Errorf("segment %d: keys %v, want %v, %v", i, used, want, err)
			}
		}
		l.mu.Unlock()
		if now, err := os.ReadFile(first.path); err != nil || !bytes.Equal(now, data) {
			t.Errorf("the damaged segment was changed: %v", err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	l = open(t, dir, o)
	if used, err := l.Keys(); err != nil || !maps.Equal(used, map[uint32]bool{older: true, keys.Newest(): true}) {
		t.Errorf("opened anew: keys %v, %v", used, err)
	}
}

// TestWhichKeysAnOpenSegmentNeeds is known after a restart, too.
func TestWhichKeysAnOpenSegmentNeeds(t *testing.T) {
	dir, keys := t.TempDir(), newKeys(t)
	want := map[uint32]bool{}
	for i := range 3 {
		l := open(t, dir, Options{Keys: keys})
		if used, err := l.Keys(); err != nil || !maps.Equal(used, want) {
			t.Errorf("keys %v, want %v, %v", used, want, err)
		}
		fill(t, l, i, i+1)
		want[keys.Newest()] = true
		if used, err := l.Keys(); err != nil || !maps.Equal(used, want) {
			t.Errorf("keys %v, want %v, %v", used, want, err)
		}
		if err := errors.Join(l.Close(), keys.Rotate()); err != nil {
			t.Fatal(err)
		}
	}
}

// TestEntriesOfOneTimeAreSyncedOnce appends several entries before they are brought to the
// disk: their file is waiting once, and no longer when they are there.
func TestEntriesOfOneTimeAreSyncedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := open(t, t.TempDir(), Options{})
		waiting := func() int {
			l.mu.Lock()
			defer l.mu.Unlock()
			return len(l.unsynced)
		}
		for range 2 {
			fill(t, l, 0, 5)
			if n := waiting(); n != 1 {
				t.Errorf("%d files are waiting", n)
			}
			time.Sleep(syncWithin) // of the bubble
			synctest.Wait()
			if n := waiting(); n != 0 {
				t.Errorf("after %v %d files are waiting", syncWithin, n)
			}
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

// TestWhatIsForgottenWhileItIsSealedStaysForgotten drops segments while they are rewritten.
func TestWhatIsForgottenWhileItIsSealedStaysForgotten(t *testing.T) {
	dir := t.TempDir()
	o := Options{SegmentBytes: 2 << 10, Keys: newKeys(t)}
	l := open(t, dir, o)
	for range 6 {
		fill(t, l, 0, 60)
		done := make(chan struct{})
		go func() {
			defer close(done)
			l.SealAll()
		}()
		if err := l.Forget(day.AddDate(1, 0, 0)); err != nil {
			t.Fatal(err)
		}
		<-done
		fill(t, l, 0, 60)
		l.SealAll()
		if err := o.Keys.Rotate(); err != nil {
			t.Fatal(err)
		}
		done = make(chan struct{})
		go func() {
			defer close(done)
			l.SealAll()
		}()
		if err := l.Forget(day.AddDate(1, 0, 0)); err != nil {
			t.Fatal(err)
		}
		<-done
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if left, err := filepath.Glob(filepath.Join(dir, "*"+sealedEnding+"*")); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

func newKeys(t *testing.T) *keyring.Ring {
	t.Helper()
	keys, err := keyring.Make(filepath.Join(t.TempDir(), "keys"), nil)
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

// TestASegmentIsFilledToItsSize takes what fits exactly, and begins another for a byte more.
func TestASegmentIsFilledToItsSize(t *testing.T) {
	e := numbered(1)
	exactly := int64(headBytes + 2*frameLen(e))
	for most, want := range map[int64]int{exactly: 1, exactly - 1: 2} {
		dir := t.TempDir()
		l := open(t, dir, Options{SegmentBytes: most})
		for range 2 {
			if err := l.Append(numbered(1)); err != nil {
				t.Fatal(err)
			}
		}
		if got := len(l.Stretches()); got != want {
			t.Errorf("of %d bytes: %d segments, want %d", most, got, want)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		// What is full when it is opened takes no more.
		l = open(t, dir, Options{SegmentBytes: most})
		if got := len(l.Stretches()); got != 2 {
			t.Errorf("of %d bytes, opened anew: %d segments", most, got)
		}
	}
}

// failing is a writer that fails once, when it has no room, and then finds some.
type failing struct {
	room  int
	again bool
}

func (f *failing) Write(b []byte) (int, error) {
	if f.room -= len(b); f.room < 0 && !f.again {
		f.again = true
		return 0, errors.New("no room")
	}
	return len(b), nil
}

// TestASegmentIsSealedWholeOrNot fails at any byte of what is written.
func TestASegmentIsSealedWholeOrNot(t *testing.T) {
	race.Alone(t)
	l := open(t, t.TempDir(), Options{})
	fill(t, l, 0, 30)
	s := &sealed{number: 1, from: day, to: day}
	zip := newZip(t)
	write := func(w *failing) error {
		to := &sealer{to: w, zip: zip, number: 1, ring: ring}
		for e, err := range l.Entries(t.Context(), approval.Span{}) {
			if err == nil {
				e.Body = bytes.Repeat(e.Body, 200) // several groups
				err = to.add(&e)
			}
			if err != nil {
				return err
			}
		}
		return to.finish(s)
	}
	all := &failing{room: 1 << 30}
	if err := write(all); err != nil {
		t.Fatal(err)
	}
	size := 1<<30 - all.room
	for room := range size {
		if room%211 == 0 || room > size-250 {
			if err := write(&failing{room: room}); err == nil {
				t.Fatalf("of %d bytes %d were written, and nothing is told", size, room)
			}
		}
	}
}

// TestWhatIsNotWrittenIsNotSealed has a file that can be synced, and takes nothing.
func TestWhatIsNotWrittenIsNotSealed(t *testing.T) {
	l := open(t, t.TempDir(), Options{})
	fill(t, l, 0, 3)
	f, err := os.Open(l.newest.path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s := &sealed{number: 1, ring: ring}
	if _, err := s.writeInto(f, l.Entries(t.Context(), approval.Span{})); err == nil {
		t.Error("it counts as sealed")
	}
}

// TestSegmentsThatLie are sealed with the right key and checksums, but say what is not
// so: they are named, never believed, and nothing panics.
func TestSegmentsThatLie(t *testing.T) {
	race.Alone(t)
	one := appendNote(nil, numbered(3))
	body := func(e *approval.JournalEntry) []byte {
		return append(binary.AppendUvarint(nil, uint64(len(e.Body))), e.Body...)
	}
	whole := body(numbered(3))
	zip := newZip(t)
	zipped := func(b []byte) []byte { return zip.EncodeAll(b, nil) }
	type lie struct {
		name           string
		notes, body    []byte
		notesCanBeRead bool
	}
	lies := []lie{
		{name: "notes that are not compressed", notes: one, body: zipped(whole)},
		{name: "bodies that are not compressed", notes: zipped(one), body: whole, notesCanBeRead: true},
		{name: "no bodies", notes: zipped(one), body: zipped(nil), notesCanBeRead: true},
		{name: "half a number", notes: zipped([]byte{0x80}), body: zipped(whole)},
		{name: "a number that is too long", notes: zipped(bytes.Repeat([]byte{0xff}, 12)), body: zipped(whole)},
	}
	for cut := 1; cut < len(one); cut++ {
		lies = append(lies, lie{name: "notes that are cut", notes: zipped(one[:cut]), body: zipped(whole)})
	}
	for cut := 1; cut < len(whole); cut++ {
		lies = append(lies, lie{name: "bodies that are cut", notes: zipped(one), body: zipped(whole[:cut]), notesCanBeRead: true})
	}
	for _, c := range lies {
		for _, lying := range []bool{true, false} {
			dir := t.TempDir()
			s := &sealed{number: 1, path: segmentPath(dir, 1, sealedEnding), from: day, to: day.AddDate(0, 0, 1), last: 3}
			f, err := os.Create(s.path)
			if err != nil {
				t.Fatal(err)
			}
			w := &sealer{to: f, zip: zip, number: 1, ring: ring, keys: []posting{{keyHash(numbered(3).Key), 0}}}
			if !lying {
				c.notes, c.body = zipped(one), zipped(whole)
			}
			g := group{From: numbered(3).At.UnixNano(), To: numbered(3).At.UnixNano(), First: 3}
			g.Notes, err = w.write(ring.Seal(nil, c.notes, aboutPart(1, w.at)))
			if err == nil {
				g.Body, err = w.write(ring.Seal(nil, c.body, aboutPart(1, w.at)))
			}
			w.groups = []group{g}
			if err := errors.Join(err, w.finish(s), f.Close()); err != nil {
				t.Fatal(err)
			}
			l := open(t, dir, Options{ReadOnly: true})
			for name, span := range spans {
				n, unread, err := onlyUnread(t.Context(), l, span)
				believed := !lying || span.NotesOnly && c.notesCanBeRead
				if err != nil || believed != (n == 1) || believed == (unread == 1) {
					t.Errorf("%s, lying %t, %s: %d entries, %d unread, %v", c.name, lying, name, n, unread, err)
				}
			}
			_ = l.Close()
		}
	}
}

// TestDamagedBodiesLeaveTheNotes damages each body of a sealed segment of several groups:
// those who only count are told all notes, those who read lose one group, and a segment
// whose table is damaged is named at any time that is asked for.
func TestDamagedBodiesLeaveTheNotes(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir, Options{SegmentBytes: 600 << 10})
	const n = 12
	for i := range n {
		e := numbered(i)
		e.Body = bytes.Repeat([]byte{byte(i)}, groupBytes/2)
		if err := l.Append(e); err != nil {
			t.Fatal(err)
		}
	}
	l.SealAll()
	s := l.sealed[0]
	data, err := os.ReadFile(s.path)
	if err != nil || len(s.groups) < 3 {
		t.Fatalf("%d groups, %v", len(s.groups), err)
	}
	last := int(s.last)
	for i, g := range s.groups {
		lost := last + 1 - int(g.First)
		if i+1 < len(s.groups) {
			lost = int(s.groups[i+1].First - g.First)
		}
		changed := slices.Clone(data)
		changed[g.Body.At+uint64(g.Body.Len)/2] ^= 1
		l, err := lookAt(t, changed, sealedEnding)
		if err != nil {
			t.Fatal(err)
		}
		if got, unread := told(t, l, approval.Span{NotesOnly: true}); len(got) != last || len(unread) > 0 {
			t.Errorf("%d notes of %d, unread %v", len(got), last, unread)
		}
		for _, span := range []approval.Span{{}, {Newest: true}} {
			got, unread := told(t, l, span)
			if len(got) != last-lost || len(unread) != 1 {
				t.Errorf("%d entries of %d, unread %v", len(got), last, unread)
			}
		}
		for _, span := range spans {
			readingStops(t, l, span)
		}
		_ = l.Close()
	}
	changed := slices.Clone(data)
	changed[s.keys.At] ^= 1 // where entries of a key are is not known
	l, err = lookAt(t, changed, sealedEnding)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if got, unread := told(t, l, approval.Span{Key: numbered(1).Key}); len(got) > 0 || len(unread) != 1 {
		t.Errorf("of a key: %d entries, unread %v", len(got), unread)
	}
	if got, unread := told(t, l, approval.Span{}); len(got) != last || len(unread) > 0 {
		t.Errorf("of all: %d entries, unread %v", len(got), unread)
	}
	changed = slices.Clone(data)
	changed[len(data)-1] ^= 1
	l, err = lookAt(t, changed, sealedEnding)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, span := range []approval.Span{{}, {From: day}, {To: day}, {Key: "k"}, {Stretch: 1}} {
		if got, unread := told(t, l, span); len(got) > 0 || len(unread) != 1 {
			t.Errorf("%+v: %d entries, unread %v", span, len(got), unread)
		}
	}
	if _, err := l.Keys(); err == nil {
		t.Error("nobody can tell which keys a damaged segment needs")
	}
}

// TestEntriesShareAGroup until it is large enough, and no empty one follows.
func TestEntriesShareAGroup(t *testing.T) {
	small := open(t, t.TempDir(), Options{SegmentBytes: 4 << 10})
	fill(t, small, 0, 40)
	small.SealAll()
	if got := len(small.sealed[0].groups); got != 1 {
		t.Errorf("small entries: %d groups", got)
	}
	l := open(t, t.TempDir(), Options{SegmentBytes: 1 << 10})
	for range 2 {
		if err := l.Append(&approval.JournalEntry{At: day, Key: "k", Body: make([]byte, groupBytes)}); err != nil {
			t.Fatal(err)
		}
	}
	l.SealAll()
	if got := len(l.sealed[0].groups); got != 1 {
		t.Errorf("a large entry: %d groups", got)
	}
}

func newZip(t *testing.T) *zstd.Encoder {
	t.Helper()
	zip, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(2*groupBytes))
	if err != nil {
		t.Fatal(err)
	}
	return zip
}
