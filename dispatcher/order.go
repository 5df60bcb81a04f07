package dispatcher

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/dispatcher/standing"
)

// Order does what a person asks of the gate other than answering a card. None of it allows
// a call. When it returns, what it says is on disk. Errors: [approval.ErrNotApprover],
// [approval.ErrNotFound], an [*approval.OrderError] for an order that cannot be followed,
// and the store's.
func (d *Dispatcher) Order(ctx context.Context, o approval.Order) (approval.Done, error) {
	human, may := d.human(o.By.ID)
	if !may {
		return approval.Done{}, approval.ErrNotApprover
	}
	switch o.Verb {
	case approval.VerbStop, approval.VerbGo:
		if !d.deciders.Routing.MayStop(human, o.Agent) {
			return approval.Done{}, approval.ErrNotApprover
		}
		if o.Verb == approval.VerbGo {
			return d.release(ctx, &o)
		}
		return d.stop(ctx, &o)
	case approval.VerbLift, approval.VerbEnd, approval.VerbRevoke:
		return d.undo(ctx, &o)
	case approval.VerbAsk:
		return d.question(ctx, &o)
	case approval.VerbSnooze, approval.VerbHand:
		return d.handle(ctx, &o)
	default:
		return approval.Done{}, &approval.OrderError{Key: approval.OrderNothing, Value: string(o.Verb)}
	}
}

// undo takes back an answer for future calls: a denial, a grant, a permit.
func (d *Dispatcher) undo(ctx context.Context, o *approval.Order) (approval.Done, error) {
	done := approval.Done{Order: *o}
	fits := map[approval.Verb]func(*approval.Approval) bool{
		approval.VerbLift:   func(p *approval.Approval) bool { return p.Answers(now()) },
		approval.VerbEnd:    func(p *approval.Approval) bool { return p.Grant != nil && p.Grant.State(now()) == approval.GrantLive },
		approval.VerbRevoke: func(p *approval.Approval) bool { return p.State == approval.Allowed },
	}[o.Verb]
	id, err := d.named(ctx, o.ID, fits)
	if err != nil {
		return done, err
	}
	ask, err := d.update(ctx, id.Ask(), func(ask *approval.Ask) error {
		electorate := d.electorate(ask)
		if !electorate.Permits(o.By.ID) {
			return approval.ErrNotApprover
		}
		over := &approval.OrderError{Key: approval.OrderNothing, Value: o.ID}
		act := approval.Act{By: o.By, Channel: o.Channel, At: now()}
		switch o.Verb {
		case approval.VerbLift:
			return unless(ask.Lift(id, act), over)
		case approval.VerbEnd:
			return unless(ask.EndGrant(id, approval.GrantTake, o.By, act.At), over)
		default:
			return unless(ask.Revoke(id, act) == nil, over)
		}
	})
	if err != nil {
		return done, err
	}
	switch o.Verb {
	case approval.VerbEnd:
		done.Ended = 1
	case approval.VerbRevoke:
		done.Revoked = 1
	default:
	}
	p := d.masker().Approval(*ask.Find(id))
	done.Approval = &p
	return done, nil
}

// changeBrake stores what change makes of an agent's brake, and records it in the history. An error
// of change is returned, and nothing is stored.
func (d *Dispatcher) changeBrake(ctx context.Context, agent string, change func(known approval.Brake) (approval.Brake, error)) error {
	return d.stand.brakes.Change(ctx, agent, func(known approval.Brake) (approval.Brake, error) {
		b, err := change(known)
		if err != nil {
			return known, err
		}
		body, err := approval.EncodeBrake(b)
		if err != nil {
			return known, err
		}
		leaves, err := d.leaves.Brake(&b, rand.Text())
		if err != nil {
			return known, err
		}
		_, err = d.store.Update(ctx, approval.KindBrake, agent, func(r approval.Record) (approval.Record, error) {
			r.Body, r.Leaves = body, leaves
			return r, nil
		})
		if err != nil {
			return known, &storeError{err}
		}
		for _, h := range d.outlets.notifiers {
			h.wake()
		}
		return b, nil
	})
}

// tellBrakes tells one channel about the brakes that it has not been told about: that an
// agent is stopped, or goes on. The brake's record says who was told, so a restart tells
// what is missing, and a crash may tell twice.
func (d *Dispatcher) tellBrakes(ctx context.Context, name string, channel Notifier) error {
	all, err := d.stand.brakes.All(ctx)
	if err != nil {
		return err
	}
	for i := range all {
		b := &all[i]
		if slices.Contains(b.Told, name) || !b.Until.IsZero() && b.Released == nil && !b.Holds(now()) {
			continue
		}
		err := channel.Notify(ctx, approval.Notice{Agent: b.Agent, Brake: b, Silent: d.hours.Quiet.at(now())})
		if err != nil && !errors.Is(err, approval.ErrGone) {
			return err
		}
		if err := d.keepTellingOf(ctx, b, name); err != nil {
			return err
		}
	}
	return nil
}

// keepTellingOf records that a channel was told about a brake.
func (d *Dispatcher) keepTellingOf(ctx context.Context, b *approval.Brake, name string) error {
	return d.stand.brakes.Change(ctx, b.Agent, func(told approval.Brake) (approval.Brake, error) {
		_, err := d.store.Update(ctx, approval.KindBrake, b.Agent, func(r approval.Record) (approval.Record, error) {
			kept, err := approval.DecodeBrake(r.Body)
			if err != nil {
				return r, err
			}
			if told = kept; !kept.Same(b) || slices.Contains(kept.Told, name) {
				return r, approval.ErrKeep // it was pulled or released again in the meantime
			}
			told.Told = append(slices.Clone(kept.Told), name)
			r.Body, err = approval.EncodeBrake(told)
			return r, err
		})
		return told, err
	})
}

// Brakes returns the brakes that hold now, oldest first.
func (d *Dispatcher) Brakes(ctx context.Context) ([]approval.Brake, error) {
	return d.stand.brakes.Holding(ctx)
}

// stop pulls a brake. It is on disk before anything that waits is denied, so that nothing
// slips through in between.
func (d *Dispatcher) stop(ctx context.Context, o *approval.Order) (approval.Done, error) {
	done := approval.Done{Order: *o}
	b := approval.Brake{Agent: o.Agent, By: o.By, Channel: o.Channel, At: now(), All: o.All, Words: o.Words}
	if o.For != 0 {
		if o.For < 0 || o.For > approval.MaxBrake {
			return done, &approval.OrderError{Key: approval.OrderTime, Value: o.For.String()}
		}
		b.Until = b.At.Add(o.For)
	}
	if b.Agent == "" {
		b.Agent = approval.Everyone
	} else if known, err := d.heardOf(ctx, b.Agent); err != nil || !known {
		return done, errors.Join(err, unless(known, &approval.OrderError{Key: approval.OrderAgent, Value: b.Agent}))
	}
	err := d.changeBrake(ctx, b.Agent, func(approval.Brake) (approval.Brake, error) { return b, nil })
	if err != nil {
		return done, err
	}
	done.Brakes = []approval.Brake{b}
	if done.Ended, err = d.endGrants(ctx, b.Agent, approval.GrantStopped, b.By, func(*standing.Granted) bool { return true }); err != nil {
		return done, err
	}
	err = d.stopOpen(ctx, &b, &done)
	d.watchers.tick()
	return done, err
}

// unless returns err unless the condition holds.
func unless(holds bool, err *approval.OrderError) error {
	if holds {
		return nil
	}
	return err
}

// stopOpen denies what waits, and takes back permits if the brake has All set.
func (d *Dispatcher) stopOpen(ctx context.Context, b *approval.Brake, done *approval.Done) error {
	for ask, err := range d.records.Asks(ctx, approval.Query{Open: true}) {
		if err != nil {
			return fmt.Errorf("dispatcher: stop what waits: %w", err)
		}
		if ask.Is.Agent != b.Agent && b.Agent != approval.Everyone {
			continue
		}
		denied, revoked, err := d.stopAsk(ctx, ask.Is.ID, b)
		if err != nil {
			return err
		}
		done.Denied, done.Revoked = done.Denied+denied, done.Revoked+revoked
	}
	return nil
}

// stopAsk denies what waits in one ask.
func (d *Dispatcher) stopAsk(ctx context.Context, id approval.AskID, b *approval.Brake) (denied, revoked int, err error) {
	_, err = d.update(ctx, id, func(ask *approval.Ask) error {
		at := now()
		if denied, revoked = ask.Stop(b, at), 0; b.All {
			revoked = revokeAll(ask, approval.Act{By: b.By, Channel: b.Channel, At: at})
		}
		if denied+revoked == 0 {
			return approval.ErrKeep
		}
		return nil
	})
	return denied, revoked, err
}

// revokeAll takes back an ask's unused permits and returns how many there were.
func revokeAll(ask *approval.Ask, by approval.Act) (n int) {
	for i := range ask.Approvals {
		if p := &ask.Approvals[i]; p.State == approval.Allowed && ask.Revoke(p.ID, by) == nil {
			n++
		}
	}
	return n
}

// VoidPermits takes back every unused permit and returns how many there were. It redraws
// the cards of what waits: they may show digits made with the old secret.
func (d *Dispatcher) VoidPermits(ctx context.Context, by approval.Person, channel string) (n int, err error) {
	for ask, err := range d.records.Asks(ctx, approval.Query{Open: true}) {
		if err != nil {
			return n, fmt.Errorf("dispatcher: void the permits: %w", err)
		}
		revoked := 0
		_, err := d.update(ctx, ask.Is.ID, func(a *approval.Ask) error {
			revoked = revokeAll(a, approval.Act{By: by, Channel: channel, At: now()})
			if waits := a.Waiting(); !waits && revoked == 0 {
				return approval.ErrKeep
			} else if waits {
				a.Outdate()
			}
			return nil
		})
		if err != nil {
			return n, err
		}
		n += revoked
	}
	d.watchers.tick()
	return n, nil
}

// release lets a stopped agent go on; without a name, it releases every brake that holds. A brake
// that somebody else has released in the meantime is not released again.
func (d *Dispatcher) release(ctx context.Context, o *approval.Order) (approval.Done, error) {
	done := approval.Done{Order: *o}
	held, err := d.Brakes(ctx)
	if err := errors.Join(err, d.stoppedGrants(ctx)); err != nil {
		return done, err
	}
	for i := range held {
		if o.Agent != "" && held[i].Agent != o.Agent {
			continue
		}
		var released approval.Brake
		err := d.changeBrake(ctx, held[i].Agent, func(b approval.Brake) (approval.Brake, error) {
			at := now()
			if !b.Holds(at) {
				return b, approval.ErrKeep
			}
			b.Released, b.Told = &approval.Act{By: o.By, Channel: o.Channel, At: at}, nil
			released = b
			return b, nil
		})
		switch {
		case errors.Is(err, approval.ErrKeep):
		case err != nil:
			return done, err
		default:
			done.Brakes = append(done.Brakes, released)
		}
	}
	if len(done.Brakes) == 0 {
		return done, &approval.OrderError{Key: approval.OrderRunning, Value: o.Agent}
	}
	d.watchers.tick()
	return done, nil
}

// heardOf reports whether there is such an agent, or anything that it once proposed is
// still known.
func (d *Dispatcher) heardOf(ctx context.Context, agent string) (bool, error) {
	if known := d.deciders.Known; known != nil && known(agent) {
		return true, nil
	}
	const pages = 100
	f := approval.Filter{Agent: agent, Limit: 1}
	for range pages {
		page, err := d.History(ctx, f)
		if err != nil || len(page.Entries) > 0 {
			return err == nil, err
		}
		if f.Before = page.Older; f.Before == 0 {
			break
		}
	}
	return false, nil
}

// named finds the approval that a person names by its id, that of its ask, or a prefix of
// one.
func (d *Dispatcher) named(ctx context.Context, id string, fits func(*approval.Approval) bool) (approval.ID, error) {
	id = approval.Typed(id)
	ask, err := d.Find(ctx, id)
	if err != nil {
		return "", err
	}
	for i := range ask.Approvals {
		p := &ask.Approvals[i]
		if fits(p) && (string(p.ID) == id || !strings.Contains(id, "-")) {
			return p.ID, nil
		}
	}
	return "", &approval.OrderError{Key: approval.OrderNothing, Value: id}
}

// question puts a person's question to the agent whose ask waits. It decides nothing.
func (d *Dispatcher) question(ctx context.Context, o *approval.Order) (approval.Done, error) {
	done := approval.Done{Order: *o}
	id, err := d.named(ctx, o.ID, func(p *approval.Approval) bool { return p.State == approval.Pending })
	if err != nil {
		return done, err
	}
	ask, err := d.update(ctx, id.Ask(), func(ask *approval.Ask) error {
		electorate := d.electorate(ask)
		if !electorate.Permits(o.By.ID) {
			return approval.ErrNotApprover
		}
		return ask.Question(approval.Question{By: o.By, Channel: o.Channel, At: now(), Words: o.Words})
	})
	if err != nil {
		return done, err
	}
	p := d.masker().Approval(*ask.Find(id))
	done.Approval = &p
	return done, nil
}

// toldQuestion records that the agent is given the open question.
func (d *Dispatcher) toldQuestion(ctx context.Context, id approval.AskID) error {
	_, err := d.update(ctx, id, func(ask *approval.Ask) error {
		if !ask.TellQuestion() {
			return approval.ErrKeep
		}
		return nil
	})
	return err
}

// reply records the agent's answer to the question about its call.
func (d *Dispatcher) reply(ctx context.Context, c *call) error {
	if c.Answer == "" || c.asked == "" || c.repeats {
		return nil
	}
	_, err := d.update(ctx, c.asked.Ask(), func(ask *approval.Ask) error {
		if !ask.AnswerQuestion(c.Answer, now()) {
			return approval.ErrKeep
		}
		return nil
	})
	return err
}
