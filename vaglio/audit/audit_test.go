package audit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/metnos/vaglio/internal/strictjson"
)

func record(intent string) Record {
	guard := "guard"
	return Record{
		Reason: `guard: forbidden path violated: pattern '(^|/)\\.ssh(/|$)' in args`,
		TS:     1714225863.214, JudgeKind: "rule-based-v1", BlockedBy: &guard,
		Intent: intent, Executor: "fs_read", ArgsKeys: []string{"path"}, ContextKeys: []string{"mode", "step"},
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func open(t *testing.T, dir string) *Log {
	t.Helper()
	l, err := Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func month(dir string) string { return filepath.Join(dir, time.Now().Format("2006-01")+".jsonl") }

func TestLineIsTheSeeds(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "metnos", "vaglio")
	l := open(t, dir)
	defer l.Close()
	l.Append(record("leggi <la> chiave & più \u2028 \"così\""))
	approved := Record{Approved: true, Reason: "approved", TS: 2, JudgeKind: "x", Score: 1}
	l.Append(approved)
	want := `{"approved":false,"reason":"guard: forbidden path violated: pattern '(^|/)\\\\.ssh(/|$)' in args","ts":1714225863.214,` +
		`"judge_kind":"rule-based-v1","score":0.0,"blocked_by":"guard","intent":"leggi <la> chiave & più ` + "\u2028" + ` \"così\"",` +
		`"executor":"fs_read","args_keys":["path"],"context_keys":["mode","step"]}` + "\n" +
		`{"approved":true,"reason":"approved","ts":2.0,"judge_kind":"x","score":1.0,"blocked_by":null,"intent":"","executor":"","args_keys":[],"context_keys":[]}` + "\n"
	if diff := cmp.Diff(want, read(t, month(dir))); diff != "" {
		t.Error(diff)
	}
	for name, mode := range map[string]os.FileMode{dir: 0o700, month(dir): 0o600} {
		info, err := os.Stat(name)
		if err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s: %v %v, want %v", name, info.Mode(), err, mode)
		}
	}
	if l.Failures() != 0 {
		t.Error("counted a failure")
	}
}

// TestLinesReachTheDisk checks what a power cut can take: up to a second of approved calls, and only
// those denials whose sync is in progress.
func TestLinesReachTheDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var said bytes.Buffer
		l, err := Open(t.TempDir(), slog.New(slog.NewTextHandler(&said, nil)))
		if err != nil {
			t.Fatal(err)
		}
		var syncs atomic.Int64
		var failing atomic.Bool
		bad := errors.New("a bad disk")
		l.fsync = func(*os.File) error {
			syncs.Add(1)
			if failing.Load() {
				return bad
			}
			return nil
		}
		ctx, end := context.WithCancel(t.Context())
		ran := make(chan error, 1)
		go func() { ran <- l.Run(ctx) }()
		synced := func(when string, want int64) {
			t.Helper()
			synctest.Wait()
			if n := syncs.Load(); n != want {
				t.Errorf("%s: %d syncs, want %d", when, n, want)
			}
		}
		for range 100 {
			l.Append(Record{Approved: true})
		}
		synced("approved calls", 0)
		time.Sleep(SyncEvery)
		synced("a second later", 1)
		time.Sleep(10 * SyncEvery)
		synced("with nothing new", 1)
		l.Append(record("a denial"))
		synced("a denial", 2)
		failing.Store(true)
		l.Append(record("a denial"))
		synced("a disk that fails", 3)
		time.Sleep(3 * SyncEvery)
		synced("it is tried again", 6)
		if n := strings.Count(said.String(), "a bad disk"); n != 1 {
			t.Errorf("told %d times: %s", n, said.String())
		}
		failing.Store(false)
		end()
		if err := <-ran; err != nil {
			t.Error(err)
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		synced("closed", 7)
	})
}

// TestADiskThatFailsAtOnce is reported once.
func TestADiskThatFailsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var said bytes.Buffer
		l, err := Open(t.TempDir(), slog.New(slog.NewTextHandler(&said, nil)))
		if err != nil {
			t.Fatal(err)
		}
		l.fsync = func(*os.File) error { return errors.New("a bad disk") }
		l.Append(record("a denial"))
		ctx, end := context.WithTimeout(t.Context(), 2*SyncEvery+SyncEvery/2)
		defer end()
		if err := l.Run(ctx); err != nil {
			t.Error(err)
		}
		if n := strings.Count(said.String(), "a bad disk"); n != 1 {
			t.Errorf("told %d times: %s", n, said.String())
		}
		if l.Close() == nil {
			t.Error("closing does not tell")
		}
	})
}

func TestMonthTurns(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		l := open(t, dir)
		defer l.Close()
		end := time.Date(2000, 1, 31, 23, 59, 59, 0, time.Local)
		time.Sleep(time.Until(end))
		l.Append(record("january"))
		time.Sleep(time.Second)
		l.Append(record("february"))
	})
	for name, want := range map[string]string{"2000-01.jsonl": "january", "2000-02.jsonl": "february"} {
		if text := read(t, filepath.Join(dir, name)); !strings.Contains(text, want) || strings.Count(text, "\n") != 1 {
			t.Errorf("%s: %q", name, text)
		}
	}
}

func TestConcurrentWritersKeepLinesWhole(t *testing.T) {
	dir := t.TempDir()
	const writers, each = 8, 200
	var wg sync.WaitGroup
	logs := make([]*Log, writers) // each as another process would open it
	for w := range logs {
		logs[w] = open(t, dir)
		defer logs[w].Close()
	}
	for w, l := range logs {
		for range 2 {
			wg.Go(func() {
				for i := range each {
					l.Append(record(fmt.Sprintf("%d-%d %s", w, i, strings.Repeat("x", i))))
				}
			})
		}
	}
	wg.Wait()
	lines := strings.Split(strings.TrimSuffix(read(t, month(dir)), "\n"), "\n")
	if len(lines) != 2*writers*each {
		t.Errorf("%d lines, want %d", len(lines), 2*writers*each)
	}
	for _, line := range lines {
		var r map[string]any
		if err := strictjson.UnmarshalLoose([]byte(line), &r); err != nil {
			t.Fatalf("%v: %q", err, line)
		}
	}
}

func TestFailureNeverStopsAndIsToldOnce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "vaglio")
	var told bytes.Buffer
	l, err := Open(dir, slog.New(slog.NewTextHandler(&told, nil)))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := os.Rename(dir, dir+".away"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(dir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		l.Append(record("s3cr3t"))
	}
	if said := told.String(); l.Failures() != 3 || strings.Count(said, "\n") != 1 || strings.Contains(said, "s3cr3t") || !strings.Contains(said, "folder") ||
		strings.Contains(said, os.ErrInvalid.Error()) {
		t.Errorf("%d failures, told %q", l.Failures(), told.String())
	}
	if l.Check() == nil {
		t.Error("says that it can be written")
	}
	if _, err := Open(dir, nil); err == nil {
		t.Error("opens where a file is in the way")
	}
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	l.Append(record("well again"))
	if l.Failures() != 3 || l.Check() != nil || !strings.Contains(read(t, month(dir)), "well again") {
		t.Error("does not recover")
	}
}

func TestFullDiskIsCounted(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("this system has no /dev/full")
	}
	dir := t.TempDir()
	if err := os.Symlink("/dev/full", month(dir)); err != nil {
		t.Fatal(err)
	}
	l := open(t, dir)
	defer l.Close()
	l.Append(record("x"))
	if l.Failures() != 1 || l.Check() == nil {
		t.Errorf("%d failures, want 1, and a failing check", l.Failures())
	}
	if l.torn {
		t.Error("a line of which nothing was written is torn")
	}
}

func TestTornLine(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(month(dir), []byte(`{"approved":tr`), 0o600); err != nil {
		t.Fatal(err)
	}
	l := open(t, dir)
	defer l.Close()
	l.Append(record("after the crash"))
	if lines := strings.Split(read(t, month(dir)), "\n"); len(lines) != 3 || !strings.Contains(lines[1], "after the crash") {
		t.Errorf("got %q", lines)
	}
}

// TestMovedFile checks that lines go to a new file soon after somebody moved the old one away, and
// that those in between are in the old one.
func TestMovedFile(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		l := open(t, dir)
		defer l.Close()
		l.Append(record("before"))
		moved := month(dir) + ".1"
		if err := os.Rename(month(dir), moved); err != nil {
			t.Fatal(err)
		}
		l.Append(record("a moment later"))
		time.Sleep(lookEvery)
		l.Append(record("in a new file"))
		for name, want := range map[string][]string{moved: {"before", "a moment later"}, month(dir): {"in a new file"}} {
			text := read(t, name)
			for _, line := range want {
				if !strings.Contains(text, line) || strings.Count(text, "\n") != len(want) {
					t.Errorf("%s: %q", name, text)
				}
			}
		}
		same := l.file
		time.Sleep(lookEvery)
		l.Append(record("in the same file"))
		if l.file != same {
			t.Error("a file that is where it was is opened again")
		}
		if err := os.Rename(month(dir), month(dir)+".2"); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(month(dir), []byte("of another process\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		time.Sleep(lookEvery)
		l.Append(record("behind the other's"))
		if text := read(t, month(dir)); !strings.HasPrefix(text, "of another process\n{") || !strings.Contains(text, "behind the other's") {
			t.Errorf("got %q", text)
		}
	})
}

func BenchmarkAppend(b *testing.B) {
	l, err := Open(b.TempDir(), nil)
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	r := record("x")
	b.ReportAllocs()
	for b.Loop() {
		l.Append(r)
	}
}

// TestFloats checks that floats always have a decimal point and are valid JSON numbers.
func TestFloats(t *testing.T) {
	for f, want := range map[Float]string{0: "0.0", 1: "1.0", -2: "-2.0", 0.25: "0.25", 1e21: "1000000000000000000000.0"} {
		text, err := strictjson.Marshal(f)
		more, errMore := f.AppendJSON([]byte("x."))
		lines, errLines := strictjson.MarshalIndent(f) // encoded by the library
		if err != nil || errMore != nil || errLines != nil || string(text) != want || strings.TrimSpace(string(lines)) != want || string(more) != "x."+want {
			t.Errorf("%v is %s, behind another %s; %v, %v", float64(f), text, more, err, errMore)
		}
	}
	for _, x := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		if text, err := strictjson.Marshal(Float(x)); err == nil || !strings.Contains(err.Error(), "no number of JSON") {
			t.Errorf("%v is %s", x, text)
		}
		if text, err := Float(x).AppendJSON([]byte("x")); err == nil || string(text) != "x" {
			t.Errorf("%v is %s, %v", x, text, err)
		}
	}
}

// TestWhatIsBroughtToTheDisk syncs again after a failure, unless the file is closed.
func TestWhatIsBroughtToTheDisk(t *testing.T) {
	l := open(t, t.TempDir())
	defer l.Close()
	broken := errors.New("broken")
	for _, row := range []struct{ err, want error }{{nil, nil}, {os.ErrClosed, nil}, {broken, broken}} {
		l.fsync = func(*os.File) error { return row.err }
		l.Append(record("x"))
		if err := l.sync(); !errors.Is(err, row.want) || l.unsynced != (row.want != nil) {
			t.Errorf("%v: got %v, to be brought again: %v", row.err, err, l.unsynced)
		}
	}
	if err := l.Close(); !errors.Is(err, broken) {
		t.Errorf("closing tells %v", err)
	}
	if err := errors.Join(l.Check(), l.Close()); err != nil {
		t.Errorf("a file without new lines: %v", err)
	}
	if err := errors.Join(l.sync(), l.Close()); err != nil {
		t.Errorf("of no file: %v", err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := syncFile(w); err != nil {
		t.Errorf("a pipe has no disk behind it: %v", err)
	}
	w.Close()
	if err := syncFile(w); !errors.Is(err, os.ErrClosed) {
		t.Errorf("a closed file: %v", err)
	}
}

// TestEndsTorn looks at a file's last byte.
func TestEndsTorn(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x")
	for text, want := range map[string]bool{"": false, "a\n": false, "\n": false, "a": true, "a\nb": true} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		file, err := os.OpenFile(name, os.O_RDWR|os.O_APPEND, 0)
		if err != nil {
			t.Fatal(err)
		}
		if torn, err := endsTorn(file); err != nil || torn != want {
			t.Errorf("%q ends torn: %v, %v", text, torn, err)
		}
		file.Close()
		if _, err := endsTorn(file); !errors.Is(err, os.ErrClosed) {
			t.Errorf("a closed file: %v", err)
		}
		writes, err := os.OpenFile(name, os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		if torn, err := endsTorn(writes); (err != nil) != (text != "") || torn {
			t.Errorf("%q, which cannot be read, ends torn: %v, %v", text, torn, err)
		}
		writes.Close()
	}
}

// TestAMonthThatCannotBeOpened is reported at the start, and later for each record.
func TestAMonthThatCannotBeOpened(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(month(dir), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, where := range []string{dir, filepath.Join(os.DevNull, "x")} {
		l, err := Open(where, nil)
		if err == nil {
			l.Close()
		}
		if err == nil || errors.Is(err, os.ErrInvalid) {
			t.Errorf("%s is opened, or it is not told why not: %v", where, err)
		}
	}
}
