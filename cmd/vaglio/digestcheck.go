package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/internal/strictjson"
	"github.com/metnos/vaglio/vaglio"
	"github.com/metnos/vaglio/vaglio/audit"
)

// verdicts are what the audit log tells of a window.
type verdicts struct {
	approved, guard, judge int
	// unread are lines that are none of ours, such as one that a crash cut off.
	unread int
}

// checkDigest counts the window's verdicts in the audit log and says where the
// digest differs.
func checkDigest(w io.Writer, d *approval.Digest) error {
	var m mistakes
	c := config{Home: m.home()}
	if err := m.err(); err != nil {
		return err
	}
	logged, err := countAudit(c.auditDir(), d.Window)
	if err != nil {
		return err
	}
	differ := false
	for _, b := range []struct {
		name            string
		digest, inAudit int
	}{
		{"judged", d.Counts.Judged, logged.approved + logged.guard + logged.judge},
		{"approved", d.Counts.Approved, logged.approved},
		{"refused by the guard", d.Counts.Guard, logged.guard},
		{"refused by judges", d.Counts.Vetoed, logged.judge},
	} {
		note := ""
		if b.digest != b.inAudit {
			differ, note = true, "  <- differs"
		}
		if _, err := fmt.Fprintf(w, "%-22s digest %6d, audit log %6d%s\n", b.name, b.digest, b.inAudit, note); err != nil {
			return err
		}
	}
	if logged.unread > 0 {
		if _, err := fmt.Fprintf(w, "%d lines of the audit log cannot be read\n", logged.unread); err != nil {
			return err
		}
	}
	if differ {
		return errors.New("the digest and the audit log differ: a step that an agent repeated, a log that could not be written, or a change by hand")
	}
	return nil
}

// countAudit reads the log's files of the window's months.
func countAudit(dir string, window approval.Window) (verdicts, error) {
	var all verdicts
	// The files are named by the local month, which may be another than ours: one
	// more on each side has all of it.
	first := window.From.Local().AddDate(0, 0, -2)
	last := window.To.Local().AddDate(0, 0, 2)
	month := time.Date(first.Year(), first.Month(), 1, 0, 0, 0, 0, time.Local)
	for ; !month.After(last); month = month.AddDate(0, 1, 0) {
		err := countFile(filepath.Join(dir, month.Format("2006-01")+".jsonl"), window, &all)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return all, fmt.Errorf("read the audit log: %w", err)
		}
	}
	return all, nil
}

func countFile(path string, window approval.Window, into *verdicts) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }() // It was only read.
	const longest = 16 << 20            // bytes: far beyond any line of ours
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, longest)
	for lines.Scan() {
		if len(lines.Bytes()) > 0 {
			into.count(lines.Bytes(), window)
		}
	}
	return lines.Err()
}

func (v *verdicts) count(line []byte, window approval.Window) {
	var r audit.Record
	if err := strictjson.Unmarshal(line, &r); err != nil {
		v.unread++
		return
	}
	switch {
	case !window.Holds(approval.Instant(float64(r.TS))):
	case r.Approved:
		v.approved++
	case r.BlockedBy != nil && *r.BlockedBy == string(vaglio.PhaseGuard):
		v.guard++
	default:
		v.judge++
	}
}
