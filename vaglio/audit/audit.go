// Package audit writes the decision log: one JSON object a line, one file a
// month. It holds the keys of arguments and never their values.
//
// The log is fail-safe. An error while writing never holds a decision up; it
// is counted, and reported once until writing works again.
package audit

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Record is one decision, with the fields of a line in their order.
type Record struct {
	Approved bool `json:"approved"`
	// Reason explains the outcome in one line.
	Reason string `json:"reason"`
	// TS is the moment of the decision, in seconds since the Unix epoch.
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

// Float is a number that is written with a decimal point even when it is
// whole, so that readers with typed numbers find one type in a column.
type Float float64

// MarshalJSONTo writes the number.
func (f Float) MarshalJSONTo(enc *jsontext.Encoder) error {
	text := strconv.FormatFloat(float64(f), 'f', -1, 64)
	if !strings.Contains(text, ".") {
		text += ".0"
	}
	return enc.WriteValue(jsontext.Value(text))
}

// Log appends records to the month's file. It is safe for concurrent use, also
// by other processes: a line is one write at the file's end.
type Log struct {
	dir    string
	logger *slog.Logger

	mu       sync.Mutex
	file     *os.File
	torn     bool // the file's last line has no end
	failures uint64
	failing  bool
}

// New gives a log in a folder, which is made when the first record comes.
// Failures are reported to logger; nil reports them nowhere.
func New(dir string, logger *slog.Logger) *Log {
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	return &Log{dir: dir, logger: logger}
}

// Append writes one record into the file of the current local month.
func (l *Log) Append(r Record) {
	line, err := json.Marshal(r, jsontext.AllowInvalidUTF8(true))
	l.mu.Lock()
	defer l.mu.Unlock()
	if err == nil {
		err = l.write(append(line, '\n'))
	}
	switch {
	case err == nil:
		l.failing = false
	default:
		l.failures++
		if !l.failing {
			l.failing = true
			l.logger.LogAttrs(context.Background(), slog.LevelError, "the audit log cannot be written; decisions go on",
				slog.String("folder", l.dir), slog.Any("err", err))
		}
	}
}

// Failures counts the records that could not be written.
func (l *Log) Failures() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.failures
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
	err := l.file.Close()
	l.file = nil
	return err
}

// write appends one line with one system call.
func (l *Log) write(line []byte) error {
	if err := l.ensure(filepath.Join(l.dir, time.Now().Format("2006-01")+".jsonl")); err != nil {
		return err
	}
	if l.torn {
		line = append([]byte{'\n'}, line...)
	}
	n, err := l.file.Write(line)
	if n > 0 {
		l.torn = n < len(line)
	}
	return err
}

// ensure makes the open file the one that has this name now. The name changes
// with the month; and somebody may have moved the file away.
func (l *Log) ensure(name string) error {
	if l.file != nil {
		open, errOpen := l.file.Stat()
		there, errThere := os.Stat(name)
		if errOpen == nil && errThere == nil && os.SameFile(open, there) {
			return nil
		}
		// Each line went out with its own write, so closing can lose nothing.
		_ = l.closeFile()
	}
	if err := os.MkdirAll(l.dir, 0o700); err != nil {
		return err
	}
	file, err := os.OpenFile(name, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600) //nolint:gosec // the folder is the operator's, the name is a month
	if err != nil {
		return err
	}
	torn, err := endsTorn(file)
	if err != nil {
		return errors.Join(err, file.Close())
	}
	l.file, l.torn = file, torn
	return nil
}

// endsTorn says whether a crash or a full disk left half a line at the end.
func endsTorn(file *os.File) (bool, error) {
	info, err := file.Stat()
	if err != nil || info.Size() == 0 || !info.Mode().IsRegular() {
		return false, err
	}
	var last [1]byte
	if _, err := file.ReadAt(last[:], info.Size()-1); err != nil && !errors.Is(err, io.EOF) {
		return false, err
	}
	return last[0] != '\n', nil
}
