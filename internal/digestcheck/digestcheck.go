// Package digestcheck compares a digest with the audit log: every verdict in the digest's window
// must be in both.
package digestcheck

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/approval/report"
	"github.com/metnos/vaglio/internal/strictjson"
	"github.com/metnos/vaglio/internal/terminal"
	"github.com/metnos/vaglio/vaglio"
)

// maxDiffering is how many differing verdicts are listed for each side.
const maxDiffering = 20

// End is the last line of the daemon's answer about a window, after one line for each verdict. If
// it is missing, so are some verdicts.
type End struct {
	Digest *report.Digest `json:"digest"`
	// Crashes are all of the daemon's crashes, inside and outside the window.
	Crashes []report.Crash `json:"crashes"`
}

// verdict is what the digest and the audit log both record about a verdict.
type verdict struct {
	ts       float64
	executor string
	phase    vaglio.Phase
}

// comparison compares a digest with the audit log.
type comparison struct {
	digest *report.Digest
	// due holds the verdicts of the digest's window whose line has not been seen yet, first the
	// counted ones and then repeats. unlisted counts repeats whose times the digest does not
	// know.
	due      map[verdict][]report.Judgement
	unlisted map[verdict]int
	// logged counts the lines by phase, without those that repeat a step; repeats counts those.
	logged  map[vaglio.Phase]int
	repeats int
	// alien are the places of lines that the digest knows nothing about, and unread of lines that
	// cannot be parsed, such as one that a crash cut off.
	alien, unread places
	// crashes may explain verdicts that are missing on one side, and damaged those that the turn log
	// lacks.
	crashes []*crash
	damaged []*damage
}

func newComparison() *comparison {
	return &comparison{due: map[verdict][]report.Judgement{}, unlisted: map[verdict]int{}, logged: map[vaglio.Phase]int{}}
}

// Check compares the verdicts that the daemon reports with the audit log in auditDir, and writes
// the result. It returns an error if they differ or cannot be compared.
func Check(told io.Reader, auditDir string, w io.Writer) error {
	x := newComparison()
	if err := x.expect(told); err != nil {
		return err
	}
	if len(x.crashes) > 0 {
		if err := readAudit(auditDir, x.digest.Window, x.signLine, func(string) {}); err != nil {
			return err
		}
	}
	if err := readAudit(auditDir, x.digest.Window, x.line, x.unread.add); err != nil {
		return err
	}
	return x.report(w)
}

// expect reads the daemon's answer.
func (x *comparison) expect(r io.Reader) error {
	in := bufio.NewReader(r)
	for x.digest == nil {
		text, err := in.ReadBytes('\n')
		if err != nil {
			return errors.New("ask the daemon: it broke off; its log says why")
		}
		var line struct {
			report.Judgement
			End
		}
		if err := strictjson.Unmarshal(text, &line); err != nil {
			return fmt.Errorf("ask the daemon: its answer is from another version: %w", err)
		}
		if line.Digest != nil {
			x.digest = line.Digest
			for _, u := range line.Digest.Unread {
				x.damaged = append(x.damaged, &damage{Unread: u})
			}
			for _, c := range line.Crashes {
				x.crashes = append(x.crashes, &crash{Crash: c})
			}
			break
		}
		x.want(line.Judgement)
	}
	for key := range x.due {
		x.sign(approval.Instant(key.ts))
		slices.SortFunc(x.due[key], func(a, b report.Judgement) int { return cmp.Compare(again(a), again(b)) })
	}
	return nil
}

func again(j report.Judgement) int {
	if j.Again {
		return 1
	}
	return 0
}

func (x *comparison) want(j report.Judgement) {
	key := verdict{j.TS, j.Executor, j.Phase}
	if j.Unlisted > 0 {
		x.unlisted[key] += j.Unlisted
		return
	}
	x.due[key] = append(x.due[key], j)
}

// line takes in one line of the audit log.
func (x *comparison) line(at string, v verdict) {
	timeless := verdict{0, v.executor, v.phase}
	switch left := x.due[v]; {
	case len(left) > 0:
		if x.due[v] = left[1:]; !left[0].Again {
			x.logged[v.phase]++
			return
		}
		x.repeats++
	case x.unlisted[timeless] > 0:
		x.unlisted[timeless]--
		x.repeats++
	default:
		x.logged[v.phase]++
		said := at + "  " + describe(v.ts, v.executor, v.phase)
		if c := x.tookStep(v); c != nil {
			c.steps.add(said)
			return
		}
		if d := x.mayHold(v); d != nil {
			d.steps.add(said)
			return
		}
		x.alien.add(said)
	}
}

// missing returns the verdicts without a line in the audit log, oldest first. A missing line of a
// repeat does not change the counts, but is listed anyway.
func (x *comparison) missing() (all places) {
	var left []report.Judgement
	for _, due := range x.due {
		left = append(left, due...)
	}
	slices.SortFunc(left, func(a, b report.Judgement) int {
		return cmp.Or(cmp.Compare(a.TS, b.TS), cmp.Compare(a.Turn, b.Turn), cmp.Compare(a.Step, b.Step))
	})
	for _, j := range left {
		turn := "no turn"
		if j.Turn != "" {
			turn = fmt.Sprintf("turn %s, step %d", terminal.OneLine(j.Turn, 60), j.Step)
		}
		said := fmt.Sprintf("%s, agent %s  %s", turn, terminal.OneLine(j.Agent, 60), describe(j.TS, j.Executor, j.Phase))
		if c := x.tookLine(approval.Instant(j.TS)); c != nil {
			c.lines.add(said)
			continue
		}
		all.add(said)
	}
	return all
}

func describe(ts float64, executor string, phase vaglio.Phase) string {
	outcome := map[vaglio.Phase]string{
		vaglio.PhaseNone: "approved", vaglio.PhaseGuard: "refused by the guard", vaglio.PhaseJudge: "refused by judges",
	}[phase]
	return terminal.Stamp(approval.Instant(ts)) + "  " + terminal.OneLine(executor, 60) + ": " + outcome
}

// report writes the result of the comparison. It returns an error if the two differ.
func (x *comparison) report(w io.Writer) error {
	var b strings.Builder
	differ := 0
	c, sum := &x.digest.Counts, 0
	for _, n := range x.logged {
		sum += n
	}
	for _, row := range []struct {
		name            string
		digest, inAudit int
	}{
		{"judged", c.Judged, sum},
		{"approved", c.Approved, x.logged[vaglio.PhaseNone]},
		{"refused by the guard", c.Guard, x.logged[vaglio.PhaseGuard]},
		{"refused by judges", c.Vetoed, x.logged[vaglio.PhaseJudge]},
	} {
		note := ""
		if row.digest != row.inAudit {
			note = "  <- differs"
			differ++
		}
		fmt.Fprintf(&b, "%-22s digest %6d, audit log %6d%s\n", row.name, row.digest, row.inAudit, note)
	}
	if x.repeats > 0 {
		fmt.Fprintf(&b, "Besides, the audit log has %s of steps that an agent repeated; the digest counts each step once.\n", terminal.Counted(x.repeats, "line", "lines"))
	}
	missing := x.missing()
	x.unread.write(&b, "cannot be read in the audit log", "line", "lines")
	x.alien.write(&b, "only in the audit log", "verdict", "verdicts")
	missing.write(&b, "only in the digest", "verdict", "verdicts")
	unread := x.writeDamaged(&b)
	taken := x.writeCrashes(&b)
	if _, err := io.WriteString(w, b.String()); err != nil {
		return err
	}
	if x.alien.n+missing.n > 0 || differ > 0 && taken+unread == 0 {
		return errors.New("the digest and the audit log differ: a log or a turn log that could not be written, 'vaglio judge --log', another daemon of this user, or a change by hand")
	}
	var known []string
	if unread > 0 {
		known = append(known, terminal.Counted(unread, "verdict", "verdicts")+" of which the turn log's part cannot be read")
	}
	if taken > 0 {
		known = append(known, terminal.Counted(taken, "verdict", "verdicts")+" that a crash took")
	}
	if len(known) > 0 {
		return fmt.Errorf("the digest and the audit log differ by %s, and by nothing else", strings.Join(known, " and by "))
	}
	return nil
}

// places holds the first few places to be listed, and their total number.
type places struct {
	first []string
	n     int
}

func (p *places) add(one string) {
	if p.n++; p.n <= maxDiffering {
		p.first = append(p.first, one)
	}
}

func (p *places) write(b *strings.Builder, what, one, many string) {
	if p.n == 0 {
		return
	}
	fmt.Fprintf(b, "\n%s %s:\n", terminal.Counted(p.n, one, many), what)
	for _, place := range p.first {
		b.WriteString("  " + place + "\n")
	}
	if more := p.n - len(p.first); more > 0 {
		fmt.Fprintf(b, "  … and %d more\n", more)
	}
}
