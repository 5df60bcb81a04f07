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

// lag is how long before the last sign of life a call may have been judged without its step being
// on disk: its line in the audit log comes first, and a slow disk delays the step.
const lag = 10 * time.Second

// unsynced is how long before the last sign of life a line of the audit log may have been written
// that a power cut still destroys: a slow disk delays the sync, too.
const unsynced = audit.SyncEvery + lag

// crash is an unclean end of the daemon, and what was lost in it.
type crash struct {
	report.Crash

	// last is the time of the newest line in the audit log from before the crash, alive that of
	// the newest verdict on either side.
	last, alive time.Time
	// steps are the verdicts whose steps were lost, lines those whose lines in the audit log were
	// lost.
	steps, lines places
}

// of reports whether at falls into the run that crashed.
func (c *crash) of(at time.Time) bool { return at.Before(c.Noticed) && !at.Before(c.Began) }

// sign takes a verdict's time as a sign of life.
func (x *comparison) sign(at time.Time) {
	for _, c := range x.crashes {
		if c.of(at) && at.After(c.alive) {
			c.alive = at
		}
	}
}

// signLine takes a line of the audit log as a sign of life.
func (x *comparison) signLine(_ string, v verdict) {
	at := approval.Instant(v.ts)
	x.sign(at)
	for _, c := range x.crashes {
		if c.of(at) && at.After(c.last) {
			c.last = at
		}
	}
}

// tookStep returns the crash in which the step of a verdict may have been lost, nil if there is
// none. The step was being written then, or a power cut destroyed it.
func (x *comparison) tookStep(v verdict) *crash {
	at := approval.Instant(v.ts)
	for _, c := range x.crashes {
		if c.of(at) && c.alive.Sub(at) <= lag {
			return c
		}
	}
	return nil
}

// tookLine returns the crash in which the line of a verdict may have been lost: the audit log has
// no later line from that run.
func (x *comparison) tookLine(at time.Time) *crash {
	for _, c := range x.crashes {
		if c.of(at) && at.After(c.last) && c.alive.Sub(at) <= unsynced {
			return c
		}
	}
	return nil
}

// writeCrashes reports what was lost in crashes, and returns the number of verdicts.
func (x *comparison) writeCrashes(b *strings.Builder) (n int) {
	for _, c := range x.crashes {
		when := fmt.Sprintf("lost in a crash between %s and %s", terminal.Stamp(c.alive), terminal.Stamp(c.Noticed))
		c.steps.write(b, "only in the audit log, "+when+", before it was in the turn log", "verdict", "verdicts")
		c.lines.write(b, "only in the digest, "+when+", before it was in the audit log", "verdict", "verdicts")
		n += c.steps.n + c.lines.n
	}
	return n
}
