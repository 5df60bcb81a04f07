package dispatcher

import (
	"context"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/vaglio"
)

// SetMaxOpen changes how many asks of one agent may wait.
func (d *Dispatcher) SetMaxOpen(n int) { d.limit.most = n }

// Prepare gathers for a call what thinking judges need besides a verdict.
func (d *Dispatcher) Prepare(ctx context.Context, p *vaglio.Proposal) (slow bool, err error) {
	return d.engine.Needed(p.Executor).Slow, d.facts(ctx, p)
}

// Ring makes the alarm of a deadline ring now.
func (d *Dispatcher) Ring(ctx context.Context, id approval.AskID, deadline time.Time) error {
	return d.lapse(ctx, alarm{ask: id, deadline: deadline})
}

// DropSteps drops the turn log from before the instant, as the daily sweep does.
func (d *Dispatcher) DropSteps(ctx context.Context, before time.Time) error {
	return d.dropSteps(ctx, before)
}
