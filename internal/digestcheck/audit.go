package digestcheck

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/approval/report"
	"github.com/metnos/vaglio/internal/strictjson"
	"github.com/metnos/vaglio/vaglio"
	"github.com/metnos/vaglio/vaglio/audit"
)

// readAudit calls each for every verdict of the window in the audit log, with its file and line,
// and unread for every line that cannot be parsed.
func readAudit(dir string, window report.Window, each func(at string, v verdict), unread func(at string)) error {
	// Files are named by the local month, which may differ from ours: one more day on each side
	// covers everything.
	first := window.From.Local().AddDate(0, 0, -2)
	last := window.To.Local().AddDate(0, 0, 2)
	month := time.Date(first.Year(), first.Month(), 1, 0, 0, 0, 0, time.Local)
	for ; !month.After(last); month = month.AddDate(0, 1, 0) {
		name := month.Format("2006-01") + ".jsonl"
		err := readAuditFile(filepath.Join(dir, name), func(n int, line []byte) {
			at := fmt.Sprintf("%s:%d", name, n)
			switch v, ok := readVerdict(line); {
			case !ok && bytes.IndexByte(line, 0) >= 0:
				unread(at + ", of zeros: a power cut took what stood there")
			case !ok:
				unread(at)
			case window.Holds(approval.Instant(v.ts)):
				each(at, v)
			}
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("read the audit log: %w", err)
		}
	}
	return nil
}

// readAuditFile calls each for every line of a file that is not empty. Lines are numbered from 1.
func readAuditFile(path string, each func(n int, line []byte)) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }() // The file was only read.
	const longest = 16 << 20            // bytes: far longer than any line of ours
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, longest)
	for n := 1; lines.Scan(); n++ {
		if len(lines.Bytes()) > 0 {
			each(n, lines.Bytes())
		}
	}
	return lines.Err()
}

func readVerdict(line []byte) (verdict, bool) {
	var r audit.Record
	if err := strictjson.Unmarshal(line, &r); err != nil {
		return verdict{}, false
	}
	v := verdict{float64(r.TS), r.Executor, vaglio.PhaseNone}
	switch {
	case r.Approved:
	case r.BlockedBy != nil && *r.BlockedBy == string(vaglio.PhaseGuard):
		v.phase = vaglio.PhaseGuard
	default:
		v.phase = vaglio.PhaseJudge
	}
	return v, true
}
