package web_test

import (
	"context"

	"github.com/metnos/vaglio/approval"
)

// Order keeps what was ordered.
func (d *desk) Order(_ context.Context, o approval.Order) (approval.Done, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.fail != nil {
		return approval.Done{}, d.fail
	}
	if o.Agent == "nobody" {
		return approval.Done{}, &approval.OrderError{Key: approval.OrderAgent, Value: o.Agent}
	}
	d.orders = append(d.orders, o)
	return approval.Done{Order: o}, nil
}

// Granted are none.
func (d *desk) Granted(context.Context, string) ([]approval.Approval, error) { return nil, d.failed() }

// Brakes are those of the desk.
func (d *desk) Brakes(context.Context) ([]approval.Brake, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.brakes, d.fail
}

func (d *desk) failed() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.fail
}
