package digestcheck

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/approval/report"
	"github.com/metnos/vaglio/dispatcher"
	"github.com/metnos/vaglio/internal/strictjson"
	"github.com/metnos/vaglio/internal/terminal"
	"github.com/metnos/vaglio/store/storetest"
	"github.com/metnos/vaglio/vaglio"
	"github.com/metnos/vaglio/vaglio/audit"
	"github.com/metnos/vaglio/vaglio/judge"
	"github.com/metnos/vaglio/vaglio/judge/effects"
)

// day is the inside of a daemon with its own audit log, on the day before a digest.
type day struct {
	t    *testing.T
	d    *dispatcher.Dispatcher
	logs string
}

// onADay runs a test in a bubble, starting at noon.
func onADay(t *testing.T, test func(d *day)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		log, err := audit.Open(dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		secret := approval.Secret{1}
		reader, err := effects.New(effects.Options{Home: "/home/u"})
		if err != nil {
			t.Fatal(err)
		}
		engine, err := vaglio.New(vaglio.Config{
			Judges: []vaglio.Gate{{Judge: judge.Rules(), MinScore: 0.3, Discreet: true}, {Judge: reader, MinScore: effects.Threshold, Reads: true}},
			Kind:   judge.KindRules, Log: log, Home: "/home/u",
		})
		if err != nil {
			t.Fatal(err)
		}
		d := dispatcher.New(dispatcher.Config{Store: storetest.NewMemory(), Engine: engine, Secret: secret, Log: slog.New(slog.DiscardHandler)})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- d.Run(ctx) }()
		time.Sleep(12 * time.Hour)
		test(&day{t, d, dir})
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if err := log.Close(); err != nil {
			t.Error(err)
		}
	})
}

// propose proposes the calls of one plan, whatever the answers.
func (d *day) propose(ps ...vaglio.Proposal) {
	d.t.Helper()
	rs := make([]dispatcher.Request, len(ps))
	for i := range ps {
		rs[i].Proposal = ps[i]
	}
	if _, err := d.d.ProposePlan(d.t.Context(), "bot", rs); err != nil {
		if _, ok := errors.AsType[*dispatcher.PlanError](err); ok {
			d.t.Fatal(err)
		}
	}
	time.Sleep(time.Minute)
}

func runs(turn string, step int, command string) vaglio.Proposal {
	return vaglio.Proposal{
		TurnID: turn, Step: step, Executor: "shell_exec", Args: vaglio.Args{"command": command},
		Context: vaglio.Context{Capability: vaglio.Capabilities{"code:exec"}, Cwd: "/home/u"},
	}
}

// check compares the last digest with the audit log.
func (d *day) check() (string, error) {
	d.t.Helper()
	return d.checkAfter(nil, func(report.Judgement) bool { return false })
}

// checkAfter does the same after crashes that lost steps of the turn log.
func (d *day) checkAfter(crashes []report.Crash, took func(report.Judgement) bool) (string, error) {
	d.t.Helper()
	synctest.Wait()
	var told bytes.Buffer
	taken := 0
	digest, err := d.d.Judgements(d.t.Context(), "", func(j report.Judgement) {
		if took(j) {
			taken++
			return
		}
		if err := terminal.JSON(&told, j); err != nil {
			d.t.Error(err)
		}
	})
	if err != nil {
		d.t.Fatal(err)
	}
	digest.Counts.Judged -= taken
	digest.Counts.Approved -= taken
	if err := terminal.JSON(&told, End{&digest, crashes}); err != nil {
		d.t.Fatal(err)
	}
	var b strings.Builder
	err = Check(&told, d.logs, &b)
	return b.String(), err
}

// file returns the audit log's file of the first month.
func (d *day) file() string {
	d.t.Helper()
	all, err := filepath.Glob(filepath.Join(d.logs, "*.jsonl"))
	if err != nil || len(all) != 1 {
		d.t.Fatal(all, err)
	}
	return all[0]
}

// busy is a day on which everything happens that can.
func (d *day) busy() {
	d.t.Helper()
	for n := range 5 {
		d.propose(runs("t1", n, fmt.Sprintf("ls %d", n)))                                          // passes
		d.propose(runs("t2", n, "rm -rf /"))                                                       // the guard
		d.propose(runs("t3", n, fmt.Sprintf("rm -rf ./a%d && git push -f origin main", n)))        // a judge
		d.propose(runs("t4", n, fmt.Sprintf("rm -rf ./a%d && git push -f origin main", n)))        // joins it
		d.propose(runs("", 0, "cat /etc/shadow"))                                                  // no turn
		d.propose(runs("t5", 1, "ls a"), runs("t5", 2, "rm -rf /"), vaglio.Proposal{TurnID: "t5"}) // a plan with a mistake
	}
	for range 3 { // exactly the same steps
		d.propose(runs("t1", 1, "ls 1"))
		d.propose(runs("t2", 1, "rm -rf /"))
		d.propose(runs("t3", 1, "rm -rf ./a1 && git push -f origin main"))
	}
}

// Everything that was judged is in both, and repeats make no difference.
func TestTheDigestEqualsTheAuditLog(t *testing.T) {
	onADay(t, func(d *day) {
		d.busy()
		time.Sleep(24 * time.Hour)
		for range dispatcherRepeats { // in the next window: repeats of yesterday's steps make no difference, either
			d.propose(runs("t2", 1, "rm -rf /"))
		}
		said, err := d.check()
		if err != nil || strings.Contains(said, "only in") || !strings.Contains(said, "of steps that an agent repeated") {
			d.t.Errorf("%v\n%s", err, said)
		}
		time.Sleep(24 * time.Hour)
		if said, err := d.check(); err != nil || !strings.Contains(said, "judged                 digest      0, audit log      0") {
			d.t.Errorf("the day after: %v\n%s", err, said)
		}
	})
}

// dispatcherRepeats is more than the number of times that a step stores.
const dispatcherRepeats = approval.MaxAgain + 50

// What is missing on either side is listed with its place.
func TestTheCheckNamesWhatDiffers(t *testing.T) {
	onADay(t, func(d *day) {
		d.busy()
		time.Sleep(24 * time.Hour)
		whole, err := os.ReadFile(d.file())
		if err != nil {
			d.t.Fatal(err)
		}
		lines := bytes.SplitAfter(whole, []byte("\n"))
		for name, tt := range map[string]struct {
			change func() [][]byte
			wants  []string
		}{
			"a line is removed": {
				func() [][]byte { return append(append([][]byte{}, lines[:1]...), lines[2:]...) },
				[]string{"1 verdict only in the digest:\n  turn t2, step 0, agent bot  ", "shell_exec: refused by the guard\n", "refused by the guard   digest     11, audit log     10  <- differs"},
			},
			"a line is put in": {
				func() [][]byte {
					return append(append([][]byte{}, lines...), bytes.Replace(lines[0], []byte(`"executor":"shell_exec"`), []byte(`"executor":"other\u001b"`), 1))
				},
				[]string{"1 verdict only in the audit log:\n  2000-01.jsonl:", "other⟨U+001B⟩: approved\n", "approved               digest"},
			},
			"a verdict is turned round": {
				func() [][]byte {
					return append([][]byte{bytes.Replace(bytes.Replace(lines[0], []byte(`"approved":true`), []byte(`"approved":false`), 1), []byte(`"blocked_by":null`), []byte(`"blocked_by":"guard"`), 1)}, lines[1:]...)
				},
				[]string{"1 verdict only in the audit log:\n  2000-01.jsonl:1  ", "1 verdict only in the digest:\n  turn t1, step 0"},
			},
			"a line is cut in two": {
				func() [][]byte { return append([][]byte{lines[0][20:]}, lines[1:]...) },
				[]string{"1 line cannot be read in the audit log:\n  2000-01.jsonl:1\n", "1 verdict only in the digest:\n  turn t1, step 0"},
			},
			"a power cut left zeros": {
				func() [][]byte {
					return append([][]byte{append(bytes.Repeat([]byte{0}, len(lines[0])-1), '\n')}, lines[1:]...)
				},
				[]string{"1 line cannot be read in the audit log:\n  2000-01.jsonl:1, of zeros: a power cut took what stood there\n", "1 verdict only in the digest:\n  turn t1, step 0"},
			},
			"nothing is left": {
				func() [][]byte { return nil },
				[]string{"verdicts only in the digest:", "… and ", "no turn, agent bot"},
			},
		} {
			if err := os.WriteFile(d.file(), bytes.Join(tt.change(), nil), 0o600); err != nil {
				d.t.Fatal(err)
			}
			said, err := d.check()
			if err == nil {
				d.t.Errorf("%s: no difference\n%s", name, said)
			}
			for _, want := range tt.wants {
				if !strings.Contains(said, want) {
					d.t.Errorf("%s: %q is not in\n%s", name, want, said)
				}
			}
		}
	})
}

// An answer that breaks off is not taken for a complete one.
func TestACheckNeedsTheWholeAnswer(t *testing.T) {
	t.Parallel()
	for _, answer := range []string{"", `{"ts":1,"executor":"x"}`, `{"ts":1,"exec`} {
		if err := newComparison().expect(strings.NewReader(answer)); err == nil {
			t.Errorf("%q is an answer", answer)
		}
	}
}

// What was lost in a crash is reported with the crash only. What the crash cannot have lost is
// still a difference.
func TestACrashIsNamedAsTheReason(t *testing.T) {
	onADay(t, func(d *day) {
		began := time.Now()
		d.propose(runs("t1", 1, "ls 1"))
		time.Sleep(time.Hour)
		d.propose(runs("t1", 2, "ls 2"))
		d.propose(runs("t1", 3, "rm -rf /"))
		d.propose(runs("t1", 4, "ls 4"))
		noticed := time.Now()
		d.propose(runs("t2", 1, "ls 5"))
		time.Sleep(24 * time.Hour)
		whole, err := os.ReadFile(d.file())
		if err != nil {
			d.t.Fatal(err)
		}
		lines := bytes.SplitAfter(whole, []byte("\n"))
		crash := []report.Crash{{Began: began, Noticed: noticed}}
		const other, alone = "the digest and the audit log differ: a log", "differ by 1 verdict that a crash took, and by nothing else"
		for name, tt := range map[string]struct {
			crashes []report.Crash
			step    int    // missing in the turn log; 0 is none
			line    int    // missing in the audit log; 0 is none
			err     string // returned by the check
			want    string
		}{
			"nothing is missing":       {crash, 0, 0, "", "judged                 digest      5, audit log      5"},
			"the last step":            {crash, 4, 0, alone, "1 verdict only in the audit log, lost in a crash between "},
			"the last line":            {crash, 0, 4, alone, "1 verdict only in the digest, lost in a crash between "},
			"a step long before":       {crash, 1, 0, other, "1 verdict only in the audit log:"},
			"a denial a minute before": {crash, 3, 0, other, "1 verdict only in the audit log:"},
			"a line before the last":   {crash, 0, 3, other, "1 verdict only in the digest:"},
			"without a crash":          {nil, 4, 0, other, "1 verdict only in the audit log:"},
			"after the crash":          {[]report.Crash{{Began: began, Noticed: began.Add(time.Second)}}, 4, 0, other, "1 verdict only in the audit log:"},
		} {
			left := append([][]byte{}, lines...)
			if tt.line > 0 {
				left = slices.Delete(left, tt.line-1, tt.line)
			}
			if err := os.WriteFile(d.file(), bytes.Join(left, nil), 0o600); err != nil {
				d.t.Fatal(err)
			}
			said, err := d.checkAfter(tt.crashes, func(j report.Judgement) bool { return j.Turn == "t1" && j.Step == tt.step })
			if (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
				d.t.Errorf("%s: %v, want %q", name, err, tt.err)
			}
			if !strings.Contains(said, tt.want) {
				d.t.Errorf("%s: %q is not in\n%s", name, tt.want, said)
			}
		}
	})
}

// TestWhatTheDigestLacksIsNamed compares a digest of which a part of the turn log cannot be read: what the
// audit log alone has of its times is explained by that, and nothing else.
func TestWhatTheDigestLacksIsNamed(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, time.November, 20, 9, 0, 0, 0, time.UTC)
	d := report.Digest{Window: report.Window{From: at, To: at.Add(24 * time.Hour)}, Unread: approval.UnreadParts{{Part: "1.seg", From: at, To: at.Add(time.Hour)}}}
	told, err := strictjson.Marshal(End{Digest: &d})
	if err != nil {
		t.Fatal(err)
	}
	named := fmt.Sprintf("The digest lacks calls that passed between %s and %s: 1.seg cannot be read.", terminal.Stamp(at), terminal.Stamp(at.Add(time.Hour)))
	for name, tt := range map[string]struct {
		after []time.Duration
		err   string
	}{
		"nothing else": {},
		"its calls":    {[]time.Duration{time.Minute, 59 * time.Minute}, "differ by 2 verdicts of which the turn log's part cannot be read, and by nothing else"},
		"others, too":  {[]time.Duration{time.Minute, 2 * time.Hour}, "a change by hand"},
	} {
		dir := t.TempDir()
		var lines strings.Builder
		for _, after := range tt.after {
			fmt.Fprintf(&lines, `{"ts":%d,"executor":"fs_read","approved":true,"blocked_by":null}`+"\n", at.Add(after).Unix())
		}
		if err := os.WriteFile(filepath.Join(dir, "2026-11.jsonl"), []byte(lines.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		var said strings.Builder
		err := Check(bytes.NewReader(append(slices.Clone(told), '\n')), dir, &said)
		if (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) || !strings.Contains(said.String(), named) {
			t.Errorf("%s: %v, want %q: %s", name, err, tt.err, said.String())
		}
	}
}
