package dispatcher

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/metnos/vaglio/approval"
)

// remindAt returns when people are to be reminded of the ask: after quiet hours, or the
// zero time, which means never, if those outlast the ask.
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

// mustRemind reports whether a reminder of the ask is due next to the card, and did not come.
func (d *Dispatcher) mustRemind(ask *approval.Ask, shown *approval.Shown) bool {
	return !shown.Reminded && !shown.Gone && shown.Ref != "" && d.reminds(ask, now())
}

// remind reminds people of the ask on the channel, once, and once more after it escalated. A
// reminder that was sent but not recorded before a crash is sent again: no platform can
// tell, and one reminder too many is better than none.
func (d *Dispatcher) remind(ctx context.Context, ch Channel, ask approval.Ask, e *delivery) error {
	shown := ask.On(ch.Name())
	r, ok := ch.(Reminder)
	news, routes := shown.News(&ask), len(ask.Routes)
	if !ok || !news && !d.mustRemind(&ask, shown) {
		return nil
	}
	card := d.card(ask, ch)
	if news {
		card.RemindAt = ask.Routes[routes-1].Since
	}
	switch err := r.Remind(ctx, shown.Ref, card); {
	case errors.Is(err, approval.ErrRepost):
		return d.post(ctx, ch, ask, e, true) // somebody deleted the card
	case err != nil && !errors.Is(err, approval.ErrGone):
		return err
	}
	due := ask.RemindAt()
	return d.reminded(ctx, ch, ask.ID, func(ask *approval.Ask, shown *approval.Shown) error {
		switch {
		case news:
			shown.Routes = routes
		case !ask.RemindAt().Equal(due):
			return approval.ErrKeep // it was postponed, handed over, or answered in the meantime
		default:
			shown.Reminded = true
		}
		return nil
	})
}

// reminded records what people were told next to the ask's card on the channel.
func (d *Dispatcher) reminded(ctx context.Context, ch Channel, id approval.AskID, told func(*approval.Ask, *approval.Shown) error) error {
	_, err := d.update(ctx, id, func(ask *approval.Ask) error { return told(ask, ask.On(ch.Name())) })
	if err != nil {
		return fmt.Errorf("dispatcher: keep that ask %s was reminded of: %w", id, err)
	}
	return nil
}

// handle postpones the reminder of an ask, or hands the ask over. It decides nothing.
func (d *Dispatcher) handle(ctx context.Context, o *approval.Order) (approval.Done, error) {
	done := approval.Done{Order: *o}
	id, err := d.named(ctx, o.ID, func(p *approval.Approval) bool { return p.State == approval.Pending })
	if err != nil {
		return done, err
	}
	change := func(ask *approval.Ask, act approval.Act) error {
		if electorate := d.electorate(ask); !electorate.Permits(o.By.ID) {
			return approval.ErrNotApprover
		}
		span := cmp.Or(o.For, approval.DefaultSnooze)
		done.Until = act.At.Add(span)
		return ask.Snooze(act, span)
	}
	if o.Verb == approval.VerbHand {
		if change, err = d.handing(o, &done); err != nil {
			return done, err
		}
	}
	ask, err := d.update(ctx, id.Ask(), func(ask *approval.Ask) error {
		return change(ask, approval.Act{By: o.By, Channel: o.Channel, At: now()})
	})
	if err != nil {
		return done, err
	}
	p := d.masker().Approval(*ask.Find(id))
	done.Approval = &p
	return done, nil
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

// keepReminders passes asks whose reminder is due to the deliverers.
func (d *Dispatcher) keepReminders(ctx context.Context) error {
	return d.alarms.reminders.run(ctx, func(al alarm) {
		for _, c := range d.outlets.deliverers {
			c.take(al.ask, "")
		}
	})
}

// Quiet is the part of each day in which people do not want to be disturbed: cards come
// without a sound and nobody is reminded. Deadlines keep running. The zero value means no
// quiet hours.
type Quiet struct {
	// From and To are times of day, in minutes since midnight. If To is before From it is
	// on the next day; if they are equal there are no quiet hours.
	From, To int
	// Zone is where the people are, also for what ends in their evening; nil means UTC.
	Zone *time.Location
}

// at reports whether the instant is within the quiet hours. They follow the local clock, so
// on a day when it changes they are longer or shorter.
func (q Quiet) at(t time.Time) bool {
	local := t.In(q.zone())
	minute := local.Hour()*60 + local.Minute()
	switch {
	case q.From == q.To:
		return false
	case q.From < q.To:
		return q.From <= minute && minute < q.To
	default:
		return q.From <= minute || minute < q.To
	}
}

// after returns the first instant from t on that is not within the quiet hours.
func (q Quiet) after(t time.Time) time.Time {
	if !q.at(t) {
		return t
	}
	local := t.In(q.zone())
	end := time.Date(local.Year(), local.Month(), local.Day(), q.To/60, q.To%60, 0, 0, q.zone())
	if !end.After(t) {
		end = time.Date(local.Year(), local.Month(), local.Day()+1, q.To/60, q.To%60, 0, 0, q.zone())
	}
	return end
}

func (q Quiet) zone() *time.Location {
	if q.Zone == nil {
		return time.UTC
	}
	return q.Zone
}
