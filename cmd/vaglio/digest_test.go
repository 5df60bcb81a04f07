package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/vaglio/audit"
)

// auditOf writes an audit log below a home of its own and returns its window.
func auditOf(t *testing.T) (home string, w approval.Window) {
	t.Helper()
	home = t.TempDir()
	dir := (&config{Home: home}).auditDir()
	log, err := audit.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	w = approval.Window{From: now.Add(-24 * time.Hour), To: now}
	guard, judge := "guard", "judge"
	for i := range 30 {
		r := audit.Record{TS: audit.Float(now.Add(-time.Duration(i)*time.Hour-time.Minute).UnixMilli()) / 1000, Executor: "x"}
		switch i % 3 {
		case 0:
			r.Approved = true
		case 1:
			r.BlockedBy = &guard
		case 2:
			r.BlockedBy = &judge
		}
		log.Append(r)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	return home, w
}

func TestTheDigestIsHeldAgainstTheAuditLog(t *testing.T) {
	home, w := auditOf(t)
	t.Setenv("HOME", home)
	d := approval.Digest{Window: w, Counts: approval.Counts{Judged: 24, Approved: 8, Guard: 8, Vetoed: 8}}
	var b strings.Builder
	if err := checkDigest(&b, &d); err != nil || strings.Contains(b.String(), "differs") {
		t.Errorf("%v\n%s", err, b.String())
	}
	// A line that somebody cut in two is told, and missed.
	files, err := filepath.Glob(filepath.Join((&config{Home: home}).auditDir(), "*.jsonl"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	body, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(files[0], body[20:], 0o600); err != nil {
		t.Fatal(err)
	}
	b.Reset()
	err = checkDigest(&b, &d)
	if err == nil || strings.Count(b.String(), "differs") != 2 || !strings.Contains(b.String(), "1 lines of the audit log cannot be read") {
		t.Errorf("%v\n%s", err, b.String())
	}
	// Without a log everything differs.
	t.Setenv("HOME", t.TempDir())
	b.Reset()
	if err := checkDigest(&b, &d); err == nil || strings.Count(b.String(), "differs") != 4 {
		t.Errorf("%v\n%s", err, b.String())
	}
}

func TestADigestCannotBeForged(t *testing.T) {
	t.Parallel()
	d := approval.Digest{Counts: approval.Counts{Judged: 1}, Groups: []approval.VetoGroup{{Rule: hostile, Count: 1, Actions: []approval.Veto{
		{ID: "ask-1", Agent: hostile, Wanted: hostile, Words: hostile, By: hostile, State: "denied"},
	}}}}
	var b strings.Builder
	if err := writeDigest(&b, &d); err != nil {
		t.Fatal(err)
	}
	if strings.ContainsAny(b.String(), "\x1b\u202e\u200b") || strings.Contains(b.String(), "[digest") {
		t.Errorf("it says\n%q", b.String())
	}
	for line := range strings.Lines(b.String()) {
		if strings.HasPrefix(line, "state") {
			t.Errorf("a line of others' begins with %q", line)
		}
	}
}

// The daemon tells the last digest, what waits now, and why there is none.
func TestTheDaemonTellsItsDigest(t *testing.T) {
	t.Parallel()
	s := newHome(t).serve()
	s.propose()
	id := s.waiting(1)[0].ID
	if r := s.h.run("", "digest"); r.code != 0 || !strings.Contains(r.out, "1 call waits for you now:") || !strings.Contains(r.out, string(id)) || !strings.Contains(r.out, "Nothing was proposed.") {
		t.Errorf("digest: %d %s%s", r.code, r.out, r.err)
	}
	for _, tt := range []struct{ args, want string }{
		{"--check", "judged                 digest      0, audit log      0\n"},
		{"--json", `"judged":0`},
		{"--date 2999-01-01", "the digest of \"2999-01-01\" is not due yet"},
		{"--date yesterday", "\"yesterday\" is not a day such as 2026-11-21"},
		{"--send", "no channel shows digests"},
		{"--send --check", "none of the others can be"},
	} {
		if r := s.h.run("", append([]string{"digest"}, strings.Fields(tt.args)...)...); !strings.Contains(r.out+r.err, tt.want) {
			t.Errorf("digest %s: %d %s%s", tt.args, r.code, r.out, r.err)
		}
	}
}
