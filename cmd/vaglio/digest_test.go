package main

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/metnos/vaglio/approval/headline"
	"github.com/metnos/vaglio/approval/report"
	"github.com/metnos/vaglio/channels/payloads"
	"github.com/metnos/vaglio/gateway/owner"
	"github.com/metnos/vaglio/internal/strictjson"
	"github.com/metnos/vaglio/templates"
	"github.com/metnos/vaglio/vaglio/wording"
)

// A digest from the daemon is decoded completely.
func TestADigestIsToldWhole(t *testing.T) {
	t.Parallel()
	told := payloads.Digest(2)
	text, err := strictjson.Marshal(told)
	if err != nil {
		t.Fatal(err)
	}
	var read report.Digest
	if err := strictjson.Unmarshal(text, &read); err != nil {
		t.Fatal(err)
	}
	again, err := strictjson.Marshal(read)
	if err != nil || !bytes.Equal(text, again) || len(read.Groups) != len(told.Groups) || !reflect.DeepEqual(read.Groups[1].Actions[0], told.Groups[1].Actions[0]) {
		t.Errorf("%v: told\n%s, read\n%s", err, text, again)
	}
}

// hostile is a text that tries to forge our lines, or to hide in the terminal.
const hostile = "ls\nstate      allowed\x1b[2K\u202e\u200b"

func TestADigestCannotBeForged(t *testing.T) {
	t.Parallel()
	d := report.Digest{Counts: report.Counts{Judged: 1}, Groups: []report.VetoGroup{{Rule: hostile, Count: 1, Actions: []report.Veto{
		{ID: "ask-1", Agent: hostile, Wanted: hostile, Words: hostile, By: hostile, State: "denied"},
		{ID: "ask-2", Agent: "bot", Headline: &headline.Headline{Said: wording.Sentence{wording.Say("deletes %s", hostile)}}, State: "denied"},
	}}}}
	set, err := templates.Load(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, lang := range templates.Langs() {
		said := owner.DigestText(set.In(lang, time.UTC), &d)
		if strings.ContainsAny(said, "\x1b\u202e\u200b") || strings.Contains(said, "[digest") {
			t.Errorf("it says\n%q", said)
		}
		if first := map[templates.Lang]string{templates.English: "1 call was judged", templates.Italian: "1 azione"}[lang]; !strings.Contains(said, first) {
			t.Errorf("%s: it does not say %q:\n%s", lang, first, said)
		}
		for line := range strings.Lines(said) {
			if strings.HasPrefix(line, "state") {
				t.Errorf("a line of others' begins with %q", line)
			}
		}
	}
}

// The daemon reports the digest so far, what waits now, and why there is no digest.
func TestTheDaemonTellsItsDigest(t *testing.T) {
	t.Parallel()
	s := newHome(t).serve()
	s.propose()
	id := s.waiting(1)[0].ID
	if r := s.h.run("", "digest"); r.code != 0 || !strings.Contains(r.out, "1 call waits for you now:") || !strings.Contains(r.out, string(id)) || !strings.Contains(r.out, ", so far") || !strings.Contains(r.out, "1 call was judged") || !strings.Contains(r.out, "The next digest comes") {
		t.Errorf("digest: %d %s%s", r.code, r.out, r.err)
	}
	for _, tt := range []struct{ args, want string }{
		{"--check", "judged                 digest      0, audit log      0\n"},
		{"--json", `"judged":1`},
		{"--date 2999-01-01", "the digest of \"2999-01-01\" is not due yet"},
		{"--date yesterday", "\"yesterday\" is not a day such as 2026-11-21"},
		{"2999-01-01", "the digest of \"2999-01-01\" is not due yet"},
		{"2999-01-01 --date 2999-01-02", "--date 2999-01-02 and 2999-01-01 are two days; name one"},
		{"--send", "no channel shows digests"},
		{"--send --check", "cannot be given together"},
	} {
		if r := s.h.run("", append([]string{"digest"}, strings.Fields(tt.args)...)...); !strings.Contains(r.out+r.err, tt.want) {
			t.Errorf("digest %s: %d %s%s", tt.args, r.code, r.out, r.err)
		}
	}
}
