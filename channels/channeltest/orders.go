package channeltest

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/metnos/vaglio/approval"
)

// Order records an order, and carries it out on the asks of the desk.
func (d *Desk) Order(ctx context.Context, o approval.Order) (approval.Done, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	done := approval.Done{Order: o}
	if err := ctx.Err(); err != nil || d.fail != nil {
		return done, d.fail
	}
	if d.may != nil && !d.may(o.By.ID) {
		return done, approval.ErrNotApprover
	}
	switch o.Verb {
	case approval.VerbStop:
		return d.stop(&o)
	case approval.VerbGo:
		if len(d.brakes) == 0 {
			return done, &approval.OrderError{Key: approval.OrderRunning, Value: o.Agent}
		}
		for i := range d.brakes {
			d.brakes[i].Released = &approval.Act{By: o.By, At: time.Now()}
		}
		done.Brakes, d.brakes = d.brakes, nil
		return done, nil
	case approval.VerbAsk:
		return d.question(&o)
	case approval.VerbSnooze, approval.VerbHand:
		return d.handle(&o)
	default:
		return d.undo(&o)
	}
}

func (d *Desk) stop(o *approval.Order) (approval.Done, error) {
	done := approval.Done{Order: *o}
	b := approval.Brake{Agent: o.Agent, By: o.By, At: time.Now(), All: o.All}
	known := o.Agent == ""
	for _, a := range d.asks {
		known = known || a.Agent == o.Agent
	}
	switch {
	case !known:
		return done, &approval.OrderError{Key: approval.OrderAgent, Value: o.Agent}
	case o.For < 0 || o.For > approval.MaxBrake:
		return done, &approval.OrderError{Key: approval.OrderTime, Value: o.For.String()}
	case o.For > 0:
		b.Until = b.At.Add(o.For)
	}
	if b.Agent == "" {
		b.Agent = approval.Everyone
	}
	for _, a := range d.asks {
		if o.Agent == "" || a.Agent == o.Agent {
			done.Denied += a.Stop(&b, b.At)
		}
	}
	d.brakes = append(d.brakes, b)
	done.Brakes = []approval.Brake{b}
	return done, nil
}

func (d *Desk) question(o *approval.Order) (approval.Done, error) {
	done := approval.Done{Order: *o}
	for _, a := range d.asks {
		if o.ID != "" && strings.HasPrefix(string(a.ID), o.ID) {
			done.Approval = &a.Approvals[0]
			return done, a.Question(approval.Question{By: o.By, Channel: o.Channel, At: time.Now(), Words: o.Words})
		}
	}
	return done, approval.ErrNotFound
}

// handle postpones a reminder, or hands an ask over to one of the desk's members.
func (d *Desk) handle(o *approval.Order) (approval.Done, error) {
	done := approval.Done{Order: *o}
	act := approval.Act{By: o.By, Channel: o.Channel, At: time.Now()}
	for _, a := range d.asks {
		if o.ID == "" || !strings.HasPrefix(string(a.ID), o.ID) {
			continue
		}
		done.Approval = &a.Approvals[0]
		if o.Verb == approval.VerbSnooze {
			span := cmp.Or(o.For, approval.DefaultSnooze)
			done.Until = act.At.Add(span)
			return done, a.Snooze(act, span)
		}
		to, _, known := d.routing.Named(o.To)
		if done.Order.To = to; !known {
			return done, &approval.OrderError{Key: approval.OrderPerson, Value: o.To}
		}
		return done, a.HandOver(act, to, approval.Everybody())
	}
	return done, approval.ErrNotFound
}

func (d *Desk) undo(o *approval.Order) (approval.Done, error) {
	done := approval.Done{Order: *o}
	if o.ID == "" {
		return done, approval.ErrNotFound
	}
	act := approval.Act{By: o.By, Channel: o.Channel, At: time.Now()}
	for _, a := range d.asks {
		for i := range a.Approvals {
			p := &a.Approvals[i]
			if !strings.HasPrefix(string(p.ID), o.ID) {
				continue
			}
			did := false
			switch o.Verb {
			case approval.VerbLift:
				a.Stand(p.EndedAt, time.Hour)
				did = a.Lift(p.ID, act)
			case approval.VerbEnd:
				did = a.EndGrant(p.ID, approval.GrantTake, o.By, act.At)
			default:
				did = a.Revoke(p.ID, act) == nil
			}
			if !did {
				return done, &approval.OrderError{Key: approval.OrderNothing, Value: o.ID}
			}
			masked := d.masker.Approval(*p)
			done.Approval = &masked
			return done, nil
		}
	}
	return done, approval.ErrNotFound
}

// Granted returns the live grants.
func (d *Desk) Granted(_ context.Context, agent string) ([]approval.Approval, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	var out []approval.Approval
	for _, a := range d.asks {
		for i := range a.Approvals {
			p := &a.Approvals[i]
			if p.Grant != nil && p.Grant.State(time.Now()) == approval.GrantLive && (agent == "" || agent == a.Agent) {
				out = append(out, d.masker.Approval(*p))
			}
		}
	}
	return out, d.fail
}

// Brakes returns the brakes that hold.
func (d *Desk) Brakes(context.Context) ([]approval.Brake, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.brakes), d.fail
}
