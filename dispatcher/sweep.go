package dispatcher

import (
	"context"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/dispatcher/read"
)

// sweepEvery is how often the turn log is swept.
const sweepEvery = 24 * time.Hour

// sweep drops steps that are older than the turn log keeps, and what the history
// keeps no longer, at the start and once a day.
func (d *Dispatcher) sweep(ctx context.Context) error {
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	for {
		if err := d.dropSteps(ctx, time.Now().Add(-read.StepsKept)); err != nil && ctx.Err() == nil {
			d.log.ErrorContext(ctx, "the turn log could not be swept; trying again tomorrow", "error", err)
		}
		if err := d.dropLeaves(ctx); err != nil && ctx.Err() == nil {
			d.log.ErrorContext(ctx, "old values of the history could not be dropped; trying again tomorrow", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

func (d *Dispatcher) dropSteps(ctx context.Context, before time.Time) error {
	for s, err := range d.records.Steps(ctx, approval.Query{}) {
		if err != nil {
			return err
		}
		if !s.Is.At.Before(before) {
			return nil
		}
		_, err = d.store.Update(ctx, approval.KindStep, s.ID, func(now approval.Record) (approval.Record, error) {
			if now.Seq != s.Seq {
				return now, approval.ErrKeep
			}
			now.Drop = true
			return now, nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
