// Package audit writes the decision log: one JSON object per line, one file per month. It contains
// the keys of arguments and never their values.
//
// The log is fail-safe. A write error never delays a decision; it is counted, and logged once until
// writing works again.
//
// A line is in the file before the decision is answered, so that it survives the process. [Log.Run]
// syncs it to disk soon after.
package audit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/metnos/vaglio/internal/durable"
	"github.com/metnos/vaglio/internal/strictjson"
)

// Record is one decision, with the fields of a line in order.
type Record struct {
	Approved bool `json:"approved"`
	// Reason explains the outcome in one line.
	Reason string `json:"reason"`
	// TS is the time of the decision, in seconds since the Unix epoch.
	TS        Float  `json:"ts"`
	JudgeKind string `json:"judge_kind"`
	// Score is in [0,1]; 0 when the guard denied.
	Score Float `json:"score"`
	// BlockedBy is "guard", "judge" or null.
	BlockedBy *string `json:"blocked_by"`
	// Intent is the turn's query in the user's words.
	Intent   string `json:"intent"`
	Executor string `json:"executor"`
	// ArgsKeys and ContextKeys are sorted names, without values.
	ArgsKeys    []string `json:"args_keys"`
	ContextKeys []string `json:"context_keys"`
}

// Float is a number that is always written with a decimal point, so that readers with typed numbers
// find one type in a column.
type Float float64

// MarshalJSONTo writes the number.
func (f Float) MarshalJSONTo(enc *strictjson.Encoder) error {
	text, err := f.AppendJSON(nil)
	if err != nil {
		return err
	}
	return enc.WriteValue(text)
}

// AppendJSON appends the number to dst.
func (f Float) AppendJSON(dst []byte) ([]byte, error) {
	if x := float64(f); math.IsNaN(x) || math.IsInf(x, 0) {
		return dst, errors.New("audit: no number of JSON")
	}
	text := strconv.AppendFloat(dst, float64(f), 'f', -1, 64)
	if !bytes.ContainsRune(text[len(dst):], '.') {
		text = append(text, ".0"...)
	}
	return text, nil
}

// Log appends records to the month's file. It is safe for concurrent use, even by several
// processes: a line is a single write at the end of the file.
type Log struct {
	dir    string
	logger *slog.Logger

	// denied wakes Run: a denial is synced at once.
	denied chan struct{}
	// fsync syncs a file to disk; tests count the calls.
	fsync func(*os.File) error

	mu       sync.Mutex
	file     *os.File
	is       os.FileInfo // identifies the open file
	looked   time.Time   // when it was last checked to be the month's file
	torn     bool        // the file's last line has no newline
	unsynced bool        // the file has lines that a power cut could destroy
	unnamed  bool        // a power cut could take the file's name, and with it all lines
	failures uint64
	failing  error // error of the last record, nil if it was written
}

// SyncEvery is how often lines are synced to disk, and so the longest time whose lines a power cut
// can destroy. Denials are synced at once.
const SyncEvery = time.Second

// Open creates the folder and opens the file of the current month, so that an unwritable place is
// noticed at the start. Later failures are logged to logger, which may be nil.
func Open(dir string, logger *slog.Logger) (*Log, error) {
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	l := &Log{dir: dir, logger: logger, denied: make(chan struct{}, 1), fsync: syncFile}
	if err := l.Check(); err != nil {
		return nil, err
	}
	return l, nil
}

// Check returns an error unless a record could be written now: it must be possible to open the
// month's file, and the last record must have been written. Check writes nothing itself.
func (l *Log) Check() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.ensure(l.name()); err != nil {
		return fmt.Errorf("audit: open the log: %w", err)
	}
	if l.failing != nil {
		return fmt.Errorf("audit: write the log: %w", l.failing)
	}
	return nil
}

// name returns the path of the file for the current local month.
func (l *Log) name() string { return filepath.Join(l.dir, time.Now().Format("2006-01")+".jsonl") }

// Append appends one record to the file of the current local month.
func (l *Log) Append(r Record) {
	line, _ := lines.Get().(*[]byte)
	if line == nil {
		line = new([]byte)
	}
	text, err := strictjson.AppendLossy((*line)[:0], r)
	if *line = append(text, '\n'); cap(*line) <= mostLine {
		defer lines.Put(line)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err == nil {
		err = l.write(*line)
	}
	wasFailing := l.failing != nil
	l.failing = err
	if err == nil && !r.Approved {
		select {
		case l.denied <- struct{}{}:
		default: // Run has been woken already.
		}
	}
	if err != nil {
		l.failures++
		if !wasFailing {
			l.logger.LogAttrs(context.Background(), slog.LevelError, "the audit log cannot be written; decisions go on",
				slog.String("folder", l.dir), slog.Any("err", err))
		}
	}
}

// lines holds buffers for lines, none larger than mostLine.
var lines sync.Pool //nolint:gochecknoglobals // It holds nothing that is anything to anybody.

const mostLine = 16 << 10

// Failures returns how many records could not be written.
func (l *Log) Failures() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.failures
}

// Run syncs appended lines to disk, in batches, until ctx ends. It then returns nil. Append never
// waits for it.
func (l *Log) Run(ctx context.Context) error {
	tick := time.NewTicker(SyncEvery)
	defer tick.Stop()
	failing := false
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		case <-l.denied:
		}
		err := l.sync()
		if err != nil && !failing {
			l.logger.LogAttrs(ctx, slog.LevelError, "the audit log is not brought to the disk: a power cut would take its newest lines",
				slog.String("folder", l.dir), slog.Any("err", err))
		}
		failing = err != nil
	}
}

// sync syncs the file's lines to disk. Others may append meanwhile.
func (l *Log) sync() error {
	l.mu.Lock()
	file, unsynced, unnamed := l.file, l.unsynced, l.unnamed
	if unsynced {
		l.unsynced, l.unnamed = false, false
	}
	l.mu.Unlock()
	if file == nil || !unsynced {
		return nil
	}
	err := l.bringToDisk(file, unnamed)
	if errors.Is(err, os.ErrClosed) {
		return nil // Its month is over: it was synced before it was closed.
	}
	if err != nil {
		l.mu.Lock()
		l.unsynced, l.unnamed = true, unnamed
		l.mu.Unlock()
	}
	return err
}

// bringToDisk syncs a file, and its name if that may not be on disk.
func (l *Log) bringToDisk(file *os.File, unnamed bool) error {
	if err := l.fsync(file); err != nil || !unnamed {
		return err
	}
	return durable.SyncFolder(l.dir)
}

// syncFile syncs a file's content to disk, if it is on one.
func syncFile(file *os.File) error {
	err := file.Sync()
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, syscall.EINVAL) {
		return nil // A device or a pipe has no disk behind it.
	}
	return err
}

// Close closes the file. A later Append opens it again.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.closeFile()
}

func (l *Log) closeFile() error {
	if l.file == nil {
		return nil
	}
	var err error
	if l.unsynced {
		err = l.bringToDisk(l.file, l.unnamed)
	}
	err = errors.Join(err, l.file.Close())
	l.file, l.unsynced, l.unnamed = nil, false, false
	return err
}

// lookEvery is how often to check whether somebody moved the open file away. What is written in
// that time goes with it.
const lookEvery = 100 * time.Millisecond

// isOpen reports whether the month's file is open, according to the last check.
func (l *Log) isOpen(now time.Time) bool {
	return l.file != nil && now.Sub(l.looked) < lookEvery && now.Month() == l.looked.Month()
}

// write appends one line with a single system call.
func (l *Log) write(line []byte) error {
	if now := time.Now(); !l.isOpen(now) {
		if err := l.ensure(l.name()); err != nil {
			return err
		}
		l.looked = now
	}
	if l.torn {
		line = append([]byte{'\n'}, line...)
	}
	n, err := l.file.Write(line)
	if n > 0 {
		l.torn, l.unsynced = n < len(line), true
	}
	return err
}

// ensure makes sure that the open file is the one with this name. The name changes with the month,
// and somebody may have moved the file away.
func (l *Log) ensure(name string) error {
	if l.file != nil {
		if there, err := os.Stat(name); err == nil && os.SameFile(l.is, there) {
			return nil
		}
		// Each line had its own write. If the sync fails, so does the disk, and the next line reports
		// that.
		_ = l.closeFile()
	}
	if err := durable.MakeFolder(l.dir); err != nil {
		return err
	}
	file, err := os.OpenFile(name, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600) //nolint:gosec // the folder is the operator's, the name is a month
	if err != nil {
		return err
	}
	is, errIs := file.Stat()
	torn, err := endsTorn(file)
	if err = errors.Join(err, errIs); err != nil {
		return errors.Join(err, file.Close())
	}
	l.file, l.is, l.torn, l.unnamed = file, is, torn, true
	return nil
}

// endsTorn reports whether a crash or a full disk left a partial line at the end. A line that
// another process is writing right now can look the same, hence the second and third look; if it
// still does, the only cost is an empty line.
func endsTorn(file *os.File) (bool, error) {
	const looks = 3
	for range looks {
		info, err := file.Stat()
		if err != nil || info.Size() == 0 || !info.Mode().IsRegular() {
			return false, err
		}
		var last [1]byte
		if _, err := file.ReadAt(last[:], info.Size()-1); err != nil && !errors.Is(err, io.EOF) {
			return false, err
		}
		if last[0] == '\n' {
			return false, nil
		}
	}
	return true, nil
}
