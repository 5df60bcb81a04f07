package digestcheck

import (
	"fmt"
	"strings"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/approval/report"
	"github.com/metnos/vaglio/internal/terminal"
	"github.com/metnos/vaglio/vaglio/audit"
)

// lag is how long before the last sign of life a call can have been judged whose
// step was not on disk yet: its line in the audit log comes first, and a slow disk
// makes the step wait.
const lag = 10 * time.Second

// unsynced is how long before the last sign of life a line of the audit log can
// have been written that a power cut takes: a slow disk makes its sync wait, too.
const unsynced = audit.SyncEvery + lag

// crash is an end of the daemon that was not in order, and what it took.
type crash struct {
	report.Crash

	// last is the newest line that the audit log has of before it, and alive the
	// newest verdict on either side.
	last, alive time.Time
	// steps are the verdicts whose steps it took, and lines those whose lines in
	// the audit log it took.
	steps, lines places
}

// of reports whether something was in the run that crashed.
func (c *crash) of(at time.Time) bool { return at.Before(c.Noticed) && !at.Before(c.Began) }

// sign takes a verdict of the digest as a sign of life.
func (x *comparison) sign(at time.Time) {
	for _, c := range x.crashes {
		if c.of(at) && at.After(c.alive) {
			c.alive = at
		}
	}
}

// signLine takes a line of the audit log as one.
func (x *comparison) signLine(_ string, v verdict) {
	at := approval.Instant(v.ts)
	x.sign(at)
	for _, c := range x.crashes {
		if c.of(at) && at.After(c.last) {
			c.last = at
		}
	}
}

// tookStep returns the crash that can have taken the step of a verdict; nil is
// none. It was under way then, or a power cut took what was written last.
func (x *comparison) tookStep(v verdict) *crash {
	at := approval.Instant(v.ts)
	for _, c := range x.crashes {
		if c.of(at) && c.alive.Sub(at) <= lag {
			return c
		}
	}
	return nil
}

// tookLine returns the crash that can have taken the line of a verdict: one after
// which the audit log has no line of that run any more.
func (x *comparison) tookLine(at time.Time) *crash {
	for _, c := range x.crashes {
		if c.of(at) && at.After(c.last) && c.alive.Sub(at) <= unsynced {
			return c
		}
	}
	return nil
}

// writeCrashes tells what crashes took, and returns how many verdicts that are.
func (x *comparison) writeCrashes(b *strings.Builder) (n int) {
	for _, c := range x.crashes {
		when := fmt.Sprintf("lost in a crash between %s and %s", terminal.Stamp(c.alive), terminal.Stamp(c.Noticed))
		c.steps.write(b, "only in the audit log, "+when+", before it was in the turn log", "verdict", "verdicts")
		c.lines.write(b, "only in the digest, "+when+", before it was in the audit log", "verdict", "verdicts")
		n += c.steps.n + c.lines.n
	}
	return n
}
