package report_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/approval/headline"
	"github.com/metnos/vaglio/approval/report"
	"github.com/metnos/vaglio/vaglio/wording"
)

// told returns lines as texts: a plus begins a part, values follow in the order of their names.
func told(lines []report.DigestLine) (all []string) {
	for _, l := range lines {
		text := strings.Repeat("+", map[bool]int{true: 1}[l.Head]) + l.Key
		for _, name := range slices.Sorted(maps.Keys(l.Values)) {
			v := l.Values[name]
			if at, ok := v.(time.Time); ok {
				v = at.Format("02T15")
			}
			text += fmt.Sprintf(" %s=%v", name, v)
		}
		all = append(all, text)
	}
	return all
}

// TestTheLinesOfADigest checks what a person reads: every number once, nothing that is
// zero, the most important first.
func TestTheLinesOfADigest(t *testing.T) {
	t.Parallel()
	w := report.Window{From: digestAt(0), To: digestAt(24)}
	full := report.Digest{
		Window: w, Routes: []string{"a", "b"}, Late: true, Checkpoint: "origin\n3\nhash",
		Counts: report.Counts{
			Judged: 40, Approved: 7, Guard: 5, Vetoed: 28, Errors: 6,
			Fates: report.Fates{
				Allowed: 21, Denied: 1, Expired: 1, Withdrawn: 1, Superseded: 1, Waiting: 1, Repeated: 1, Unasked: 1,
				Runs: report.Runs{Succeeded: 1, Failed: 2, Unknown: 3, Running: 4, Unused: 5, Lapsed: 6},
			},
			Carried: report.Fates{Expired: 2}, Settled: report.Runs{Lapsed: 3},
		},
		WeekAgo: report.Counts{Judged: 9, Guard: 2, Vetoed: 3},
		Waiting: []report.Waiting{{ID: "w-1", Agent: "bot", Wanted: "rm", Until: digestAt(25)}}, WaitingMore: 2,
		Rules: []report.Tally{{Name: "root", Count: 3, New: true}, {Name: "auth", Count: 2}, {Count: 4}},
		Groups: []report.VetoGroup{
			{Rule: "root", Count: 3, New: true, Actions: []report.Veto{{ID: "v-1", At: digestAt(1), Agent: "bot", Wanted: "rm -rf /"}}},
			{Effect: "delete", Count: 1, New: true, Actions: []report.Veto{{ID: "a-1", At: digestAt(2), Agent: "bot", Wanted: "rm", State: approval.Pending}}},
			{Effect: "send", Count: 1, Actions: []report.Veto{{ID: "a-2", At: digestAt(3), Agent: "bot", Wanted: "mail", State: approval.Denied, By: "Ann", After: 61.4, Words: "not now"}}},
			{Count: 8},
		},
		Spares:      []report.Tally{{Name: "ls", Count: 4}, {Name: "sh", Effect: "delete", Count: 3}, {Count: 9}},
		Workarounds: []report.Workaround{{ID: "a-2", Agent: "bot", Wanted: "mail", Tries: 2}, {Tries: 7}},
		People: []report.Habit{
			{Person: "web:ann", Name: "Ann", Surface: "web", Allows: 2, Denies: 1, Hasty: 1}, {Person: "x", Name: "Bob"}, {Allows: 5, Hasty: 5},
		},
	}
	quiet := report.Digest{Window: w, Waiting: full.Waiting[:1]}
	empty := report.Digest{Window: w, Routes: []string{"a"}, Checkpoint: "c"}
	first := report.Digest{Window: w, Counts: report.Counts{Judged: 1, Guard: 1}, Rules: full.Rules[:1], Groups: full.Groups[1:2]}
	for name, tt := range map[string]struct {
		digest report.Digest
		want   []string
	}{
		"everything": {full, []string{
			"+title from=01T08 to=02T08", "late", "routes routes=a, b",
			"+waiting n=3", "waiting.line agent=bot id=w-1 wanted=rm when=02T09", "more n=2",
			"+judged approved=7 guard=5 n=40 vetoed=28", "errors n=6", "rules rules=root 3, auth 2", "rule.more n=4", "rules.new rules=root",
			"+vetoed n=28", "fate.allowed n=21",
			"run.succeeded n=1", "run.failed n=2", "run.unknown n=3", "run.running n=4", "run.unused n=5", "run.lapsed n=6",
			"fate.denied n=1", "fate.expired n=1", "fate.withdrawn n=1", "fate.superseded n=1", "fate.waiting n=1", "fate.repeated n=1", "fate.unasked n=1",
			"+carried n=2", "fate.expired n=2", "+settled n=3", "run.lapsed n=3", "+week guard=2 n=9 vetoed=3", "+checkpoint checkpoint=origin 3 hash",
			"+group.rule n=3 rule=root", "action.final agent=bot id=v-1 wanted=rm -rf / when=01T09", "more n=2",
			"+group.new effect=effect.delete n=1", "action agent=bot id=a-1 state=digest.state.pending wanted=rm when=01T10",
			"+group effect=effect.send n=1", "action.by after=1m1s agent=bot by=Ann id=a-2 state=digest.state.denied wanted=mail when=01T11", "action.words words=not now",
			"+group.other n=8", "+spare n=4 what=ls", "+spare.effect effect=effect.delete n=3 what=sh", "+workaround agent=bot id=a-2 n=2 wanted=mail",
			"+person n=3 share=66 who=Ann (web)", "person.hasty n=1", "+person n=0 share=0 who=Bob",
		}},
		// Without a week to compare with, everything would be new.
		"first week": {first, []string{
			"+title from=01T08 to=02T08", "+judged approved=0 guard=1 n=1 vetoed=0", "rules rules=root 3", "+week.none",
			"+group effect=effect.delete n=1", "action agent=bot id=a-1 state=digest.state.pending wanted=rm when=01T10",
		}},
		"waiting alone": {quiet, []string{"+title from=01T08 to=02T08", "+waiting n=1", "waiting.line agent=bot id=w-1 wanted=rm when=02T09", "+none"}},
		"empty":         {empty, []string{"+title.empty from=01T08 to=02T08", "routes routes=a", "+checkpoint checkpoint=c"}},
	} {
		if diff := cmp.Diff(tt.want, told(tt.digest.Lines())); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if got := told(full.Counts.Fated()); got[0] != "fate.allowed n=21" || len(got) != 14 {
		t.Errorf("what became of the vetoes is %q", got)
	}
	if got := (&report.Counts{Approved: 1}).Fated(); got != nil {
		t.Errorf("of no veto became %v", got)
	}
}

// TestLinesAreFilled checks whose text is set apart, what is copied in full, and what
// stands for a word that no text explains.
func TestLinesAreFilled(t *testing.T) {
	t.Parallel()
	line := report.DigestLine{Values: map[string]any{
		"n": 3, "theirs": report.Foreign("x"), "copy": report.Copied("y"), "deed": report.Deed{Said: wording.Sentence{wording.Say("deletes %s", "z")}}, "known": report.DigestWord("effect.delete"), "unknown": report.DigestWord("effect.a.b"),
	}}
	got := line.Fill(
		func(key string) (string, bool) { return "Löscht", key == "effect.delete" }, func(h headline.Headline) any { return h.Said.String() },
		func(s string, whole bool) any { return fmt.Sprint("«", s, "» ", whole) })
	want := map[string]any{"n": 3, "theirs": "«x» false", "copy": "«y» true", "deed": "deletes z", "known": "Löscht", "unknown": "«a.b» false"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
