//go:build unix

package bolt_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/metnos/vaglio/approval/report"
	"github.com/metnos/vaglio/internal/digestcheck"
	"github.com/metnos/vaglio/internal/strictjson"
	auditlog "github.com/metnos/vaglio/vaglio/audit"
)

// auditing writes the audit log beside a store, as the engine does. It returns what writes one line,
// and what closes the log.
func auditing(dir string) (line func(n int), end func() error, err error) {
	l, err := auditlog.Open(filepath.Join(dir, "audit"), nil)
	if err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = l.Run(ctx) // it ends without an error
	}()
	line = func(n int) {
		guard := "guard"
		r := auditlog.Record{Approved: n%3 > 0, TS: auditlog.Float(time.Now().Unix()), Executor: fmt.Sprint("line-", n), Reason: strings.Repeat("why ", n*37%200)}
		if !r.Approved {
			r.BlockedBy = &guard
		}
		l.Append(r)
	}
	return line, func() error {
		cancel()
		<-done
		return l.Close()
	}, nil
}

// zerosTold is how a line is told of which a power cut left zeros.
const zerosTold = "of zeros: a power cut took what stood there"

// auditSurvives fails the test unless the audit log of an image has every line that was there when it
// was closed, each as it was written; the rest is read past, and zeros are told as what they are. It
// returns how many lines have zeros. If the log was closed with n lines, closed is n.
func auditSurvives(t *testing.T, dir string, image map[string][]byte, closed int) (zeros int) {
	t.Helper()
	var lines, broken int
	have := map[string]bool{}
	for name, data := range image {
		if filepath.Dir(name) != "audit" {
			continue
		}
		for line := range bytes.SplitSeq(data, []byte("\n")) {
			var r auditlog.Record
			switch err := strictjson.Unmarshal(line, &r); {
			case len(line) == 0:
			case err == nil:
				lines++
				have[r.Executor] = true
			case bytes.IndexByte(line, 0) >= 0:
				zeros++
				broken++
			default:
				broken++
			}
		}
	}
	for n := range closed {
		if !have[fmt.Sprint("line-", n+1)] {
			t.Errorf("line %d of %d was in the audit log when it was closed, and is gone; files %v", n+1, closed, slices.Collect(auditFiles(image)))
		}
	}
	if zeros == 0 && (lines+broken)%7 != 0 { // reading it anew each time would take most of the time
		return zeros
	}
	now := time.Now()
	end := digestcheck.End{Digest: &report.Digest{Window: report.Window{From: now.Add(-time.Hour), To: now.Add(time.Hour)}}}
	told, err := strictjson.Marshal(end)
	if err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	err = digestcheck.Check(bytes.NewReader(append(told, '\n')), filepath.Join(dir, "audit"), &said)
	if (err != nil) != (lines > 0) || strings.Count(said.String(), zerosTold) != min(zeros, 20) || broken > 0 && !strings.Contains(said.String(), fmt.Sprint(broken, " line")) {
		t.Errorf("%d lines, %d broken, %d of them with zeros: %v\n%s", lines, broken, zeros, err, said.String())
	}
	return zeros
}

func auditFiles(image map[string][]byte) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for name := range image {
			if strings.HasPrefix(name, "audit"+string(os.PathSeparator)) && !yield(name) {
				return
			}
		}
	}
}
