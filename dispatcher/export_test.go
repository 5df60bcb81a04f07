package dispatcher

import (
	"context"
	"time"

	"github.com/metnos/vaglio/approval"
)

// SetMaxOpen changes how many asks of one agent may wait.
func (d *Dispatcher) SetMaxOpen(n int) { d.limit.most = n }

// Ring lets the alarm of a deadline ring now.
func (d *Dispatcher) Ring(ctx context.Context, id approval.AskID, deadline time.Time) error {
	return d.lapse(ctx, alarm{ask: id, deadline: deadline})
}

// DropSteps drops the turn log from before the instant, as the daily sweep does.
func (d *Dispatcher) DropSteps(ctx context.Context, before time.Time) error {
	return d.dropSteps(ctx, before)
}
