package dispatcher

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/dispatcher/read"
	"github.com/metnos/vaglio/vaglio"
)

// routeOf returns the route of a call that a judge denied. It has no name if the
// configuration has no routes.
func (d *Dispatcher) routeOf(p vaglio.Proposal) approval.Route {
	if len(d.deciders.Routing.Routes) == 0 {
		return approval.Route{}
	}
	var cases []approval.Case
	for _, of := range append([]vaglio.Proposal{p}, p.Calls()...) {
		c := approval.Case{Agent: p.Agent, Executor: of.Executor}
		if d.effects.Traits != nil {
			c.Effects, c.Reaches = d.effects.Traits(of)
		}
		cases = append(cases, c)
	}
	return d.deciders.Routing.For(cases...)
}

// shownOn returns the channels of a route, or the plain ones if it names none.
func (d *Dispatcher) shownOn(r *approval.Route) []string {
	if len(r.Channels) > 0 {
		return r.Channels
	}
	all := make([]string, 0, len(d.outlets.channels))
	for name := range d.outlets.channels {
		if approval.IsPlain(name) {
			all = append(all, name)
		}
	}
	return all
}

// human returns the person behind an id, and whether they may decide anything at all.
func (d *Dispatcher) human(id string) (string, bool) {
	may := slices.Contains(d.deciders.Approvers, id) || d.deciders.MayDecide != nil && d.deciders.MayDecide(id) || d.deciders.Routing.Knows(id)
	return d.deciders.Routing.Human(id), may
}

// electorate returns who may decide the ask, by the current configuration.
func (d *Dispatcher) electorate(ask *approval.Ask) approval.Electorate {
	return d.electors(ask.Routes, ask.Agent, ask.Handed)
}

func (d *Dispatcher) electors(routes []approval.Active, agent string, handed []approval.Handed) approval.Electorate {
	e := d.deciders.Routing.Electorate(routes, agent, d.human).With(handed)
	if p := &d.deciders.Passkeys; p.Registered != nil && p.Registered() {
		e.Holder = d.deciders.Routing.Human(p.Holder)
	}
	e.Match, e.Zone = d.deciders.Match, d.hours.Quiet.zone()
	e.Match.Shows = d.outlets.shows
	e.Match.Reader, e.Match.Secret = d.deciders.Routing.Human(e.Match.Reader), d.keys.permits.Load().Secret
	return e
}

// guard removes from a card of the channel what can be allowed there only with a passkey it
// cannot take, and adds the digits that a yes on the other side requires.
func (d *Dispatcher) guard(c *approval.Card, channel string) {
	e := d.electors(c.Routes, c.Agent, c.Handed)
	c.WantPasskey(&e, channel == d.deciders.Passkeys.Channel)
	c.ShowDigits(&e, channel)
}

// Awaits reports whether the card, one of [Dispatcher.Pending], waits for the person with
// the id: whether they may decide it by its routes, as the configuration and the groups are
// now, and have not already allowed all of it. It reads nothing from disk.
func (d *Dispatcher) Awaits(c approval.Card, id string) bool {
	return c.Awaits(id, d.electors(c.Routes, c.Agent, c.Handed))
}

// prune drops an ask's votes that no longer count under the configuration with which we
// started.
func (d *Dispatcher) prune(ctx context.Context, ask *approval.Ask) {
	// The members of groups are not known yet at the start; the next vote prunes.
	if e := d.electorate(ask); e.Unsure() || !ask.Prune(e) {
		return
	}
	_, err := d.update(ctx, ask.ID, func(ask *approval.Ask) error {
		ask.Prune(d.electorate(ask))
		return nil
	})
	if err != nil && ctx.Err() == nil {
		d.log.ErrorContext(ctx, "void votes could not be dropped; they do not count", "ask", ask.ID, "error", err)
	}
}

// handing returns the change that hands an ask over to the person the order names: an
// approver, who is shown it on a channel they use.
func (d *Dispatcher) handing(o *approval.Order, done *approval.Done) (func(*approval.Ask, approval.Act) error, error) {
	to, ids, ok := d.deciders.Routing.Named(strings.TrimSpace(o.To))
	ok = ok && slices.ContainsFunc(ids, func(id string) bool { _, may := d.human(id); return may })
	if !ok {
		return nil, &approval.OrderError{Key: approval.OrderPerson, Value: o.To}
	}
	done.Order.To = to
	var channels []string
	for name := range d.outlets.channels {
		if approval.IsPlain(name) && slices.ContainsFunc(ids, func(id string) bool { return approval.Platform(id) == name }) {
			channels = append(channels, name)
		}
	}
	return func(ask *approval.Ask, act approval.Act) error {
		if err := ask.HandOver(act, to, d.electorate(ask)); err != nil {
			return err
		}
		if slices.ContainsFunc(ask.Cards, func(s approval.Shown) bool { return slices.Contains(channels, approval.Platform(s.Channel)) }) {
			return nil // they already see it
		}
		shown := len(ask.Cards)
		ask.Show(channels, approval.NewTokens(len(channels)*ask.PostTokens()))
		for i := range ask.Cards[shown:] {
			ask.Cards[shown+i].Reminded = true // the new card says it
		}
		return nil
	}, nil
}

// keepEscalations sends asks that still wait to the people of a further route.
func (d *Dispatcher) keepEscalations(ctx context.Context) error {
	return d.alarms.escalations.run(ctx, func(al alarm) {
		if err := d.escalate(ctx, al); err != nil && ctx.Err() == nil {
			d.log.ErrorContext(ctx, "an ask could not be escalated; trying again", "ask", al.ask, "error", err)
			d.alarms.escalations.hold(al)
		}
	})
}

func (d *Dispatcher) escalate(ctx context.Context, al alarm) error {
	ask, err := d.ask(ctx, string(al.ask))
	if read.Nothing(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("dispatcher: read ask %s: %w", al.ask, err)
	}
	to, ok := d.deciders.Routing.Route(ask.EscalateTo)
	if !ok {
		d.log.WarnContext(ctx, "an ask escalates to a route that no longer exists", "ask", al.ask, "route", ask.EscalateTo)
		return nil
	}
	channels := d.shownOn(&to)
	// Calls may join in the meantime.
	tokens := approval.NewTokens(len(channels) * (ask.PostTokens() + 2*approval.MaxGathered))
	_, err = d.update(ctx, ask.ID, func(ask *approval.Ask) error {
		if !ask.Escalate(to, channels, tokens, now()) {
			return approval.ErrKeep
		}
		return nil
	})
	return err
}
