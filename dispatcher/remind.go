package dispatcher

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/metnos/vaglio/approval"
)

// remindAt returns when people are to be reminded of the ask: not in quiet
// hours, and not when those outlast it. The zero time means never.
func (d *Dispatcher) remindAt(ask *approval.Ask) time.Time {
	at := ask.RemindAt()
	if at.IsZero() {
		return at
	}
	if at = d.hours.Quiet.after(at); !at.Before(ask.ExpiresAt) {
		return time.Time{}
	}
	return at
}

// reminds reports whether a reminder of the ask is due.
func (d *Dispatcher) reminds(ask *approval.Ask, at time.Time) bool {
	due := d.remindAt(ask)
	return !due.IsZero() && !at.Before(due) && !d.hours.Quiet.at(at)
}

// remind reminds people of the ask on the channel, once. What was sent and not
// recorded before a crash is sent again: a platform that could tell does not
// exist, and a reminder too many is better than none.
func (d *Dispatcher) remind(ctx context.Context, ch Channel, ask approval.Ask) error {
	shown := ask.On(ch.Name())
	r, ok := ch.(Reminder)
	if !ok || shown.Reminded || shown.Gone || shown.Ref == "" || !d.reminds(&ask, now()) {
		return nil
	}
	if err := r.Remind(ctx, shown.Ref, d.card(ask, ch)); err != nil && !errors.Is(err, approval.ErrGone) {
		return err
	}
	_, err := d.update(ctx, ask.ID, func(ask *approval.Ask) error {
		ask.On(ch.Name()).Reminded = true
		return nil
	})
	if err != nil {
		return fmt.Errorf("dispatcher: keep that ask %s was reminded of: %w", ask.ID, err)
	}
	return nil
}

// setReminder sets the alarm for the ask's reminder, if one is to come.
func (d *Dispatcher) setReminder(ask *approval.Ask) {
	at := d.remindAt(ask)
	if at.IsZero() {
		return
	}
	for i := range ask.Cards {
		c := d.outlets.deliverers[ask.Cards[i].Channel]
		if c == nil || ask.Cards[i].Reminded {
			continue
		}
		if _, ok := c.channel.(Reminder); ok {
			d.alarms.reminders.set(ask.ID, at)
			return
		}
	}
}

// keepReminders hands the asks whose reminder is due to the deliverers.
func (d *Dispatcher) keepReminders(ctx context.Context) error {
	return d.alarms.reminders.run(ctx, func(al alarm) {
		for _, c := range d.outlets.deliverers {
			c.take(al.ask)
		}
	})
}
