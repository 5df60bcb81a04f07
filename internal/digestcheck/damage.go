package digestcheck

import (
	"fmt"
	"strings"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/internal/terminal"
	"github.com/metnos/vaglio/vaglio"
)

// damage is a part of the turn log that cannot be read, and the verdicts whose steps it may hold.
type damage struct {
	approval.Unread

	steps places
}

// mayHold returns the damaged part that may hold the step of a verdict, nil if there is none. Parts
// hold what passed. A verdict's time comes before that of its step.
func (x *comparison) mayHold(v verdict) *damage {
	if v.phase != vaglio.PhaseNone {
		return nil
	}
	at := approval.Instant(v.ts)
	for _, d := range x.damaged {
		if !at.After(d.To) && !at.Before(d.From.Add(-lag)) {
			return d
		}
	}
	return nil
}

// writeDamaged reports what cannot be read, and returns the number of verdicts.
func (x *comparison) writeDamaged(b *strings.Builder) (n int) {
	for _, d := range x.damaged {
		fmt.Fprintf(b, "\nThe digest lacks calls that passed between %s and %s: %s cannot be read.\n", terminal.Stamp(d.From), terminal.Stamp(d.To), d.Part)
		d.steps.write(b, "only in the audit log, of these times", "verdict", "verdicts")
		n += d.steps.n
	}
	return n
}
