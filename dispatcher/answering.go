package dispatcher

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/dispatcher/standing"
	"github.com/metnos/vaglio/vaglio"
)

// nameCall determines what a denied call is about.
func (d *Dispatcher) nameCall(c *call) {
	switch {
	case d.effects.About != nil:
		c.about = d.effects.About(c.Proposal)
		c.effect = c.about.Subjects.Key()
	case d.effects.Name != nil:
		c.effect, _ = d.effects.Name(d.engine.Seen(c.Proposal))
	}
}

// errMet says that a call made at the same time waits for what a call writes, or writes what it
// waits for.
var errMet = errors.New("dispatcher: another call of the session came in between")

// pass answers a call that the judges let through. A brake with All stops it nevertheless.
// Its error is errMet if the call must be judged again.
func (d *Dispatcher) pass(ctx context.Context, c *call) error {
	a := approval.Approved(c.verdict)
	b, err := d.stand.brakes.Of(ctx, c.Proposal.Agent)
	if err != nil {
		return err
	}
	if b != nil && b.All {
		refusal := approval.Stopped(approval.Refusal{Wanted: approval.Wanted(d.masker().Proposal(c.Proposal))}, b)
		a = approval.Refused(c.verdict, refusal)
		c.step.Refusal = &refusal
	} else {
		c.step.Did = c.verdict.Did
		if d.stand.sessions.NoteUnlessMet(&c.Proposal, c.step.At, c.verdict.Did) {
			return errMet
		}
	}
	c.answer = &a
	return nil
}

// repeated answers a call that would do what a person denied: with the old answer, about
// the new call.
func (d *Dispatcher) repeated(ctx context.Context, agent string, c *call) (approval.Answer, error) {
	ask, err := d.askOf(ctx, agent, c.asked)
	if err != nil {
		return approval.Answer{}, err
	}
	a := ask.Find(c.asked)
	if a.State != approval.Denied {
		return d.answer(a), nil
	}
	answer := d.answer(a).Edited(ask, c.asked)
	masked := d.masker().Approval(*a)
	refusal := d.discreet(approval.Repeated(masked, d.masker().Proposal(c.Proposal), a.Effect == c.effect), c.Proposal)
	answer.Refusal = &refusal
	return answer, nil
}

// discreet masks what a refusal says: it ends up in an agent's transcript, where secrets of
// the call do not belong.
func (d *Dispatcher) discreet(r approval.Refusal, p vaglio.Proposal) approval.Refusal {
	m := d.masker()
	r = m.Refusal(r)
	r.Who = m.Mask(r.Who)
	r.Wanted = approval.Wanted(m.Proposal(p))
	return r
}

// grant allows a call by a grant that covers it, as an approval of its own. The use is
// counted first: a crash in between costs a use and allows nothing.
func (d *Dispatcher) grant(ctx context.Context, agent string, c *call) (bool, error) {
	key := d.grantable(c)
	if key == "" {
		return false, nil
	}
	for _, id := range d.stand.grants.Of(agent, func(g *standing.Granted) bool { return g.Key == key }) {
		o, err := d.opening(agent, c)
		if err != nil {
			return false, err
		}
		o.Channels = nil
		use, err := approval.Open(o)
		if err != nil {
			return false, err
		}
		given, covered, err := d.spend(ctx, id, key, c, use.ID)
		if err != nil {
			return false, err
		}
		if !covered {
			continue
		}
		if err := use.Granted(id, given, o.At, d.deadlines.PermitFor); err != nil {
			return false, err
		}
		if err := d.create(ctx, use); err != nil {
			return false, err
		}
		c.asked = use.Approvals[0].ID
		return true, d.braked(ctx, agent, use.ID)
	}
	return false, nil
}

// spend counts a use of a grant, if it covers the call and those who gave it could still give it for
// a call that goes where this one would be asked.
func (d *Dispatcher) spend(ctx context.Context, id approval.ID, key string, c *call, use approval.AskID) (*approval.Grant, bool, error) {
	var given *approval.Grant
	_, err := d.update(ctx, id.Ask(), func(ask *approval.Ask) error {
		given = nil
		e := d.electorate(ask)
		if !e.Upholds(ask, id, c.route.Name) || !ask.Spend(id, key, c.Proposal.TurnID, use, now()) {
			return approval.ErrKeep
		}
		given = ask.Find(id).Grant
		return nil
	})
	return given, given != nil, err
}

// grantable returns the name of the calls that a grant for this one would cover.
func (d *Dispatcher) grantable(c *call) string {
	return approval.Grantable(c.Proposal, c.verdict, c.about, d.masker())
}

// endGrants ends the agent's grants that fit, and returns how many it ended.
func (d *Dispatcher) endGrants(ctx context.Context, agent string, e approval.GrantEvent, by approval.Person, fits func(*standing.Granted) bool) (int, error) {
	ended := 0
	for _, id := range d.stand.grants.Of(agent, fits) {
		done := false
		_, err := d.update(ctx, id.Ask(), func(ask *approval.Ask) error {
			if done = ask.EndGrant(id, e, by, now()); !done {
				return approval.ErrKeep
			}
			return nil
		})
		if err != nil {
			return ended, err
		}
		if done {
			ended++
		}
	}
	return ended, nil
}

// stoppedGrants ends the grants that were given before a person stopped their agent, if that was
// interrupted.
func (d *Dispatcher) stoppedGrants(ctx context.Context) error {
	brakes, err := d.stand.brakes.All(ctx)
	for i := range brakes {
		b := &brakes[i]
		_, ended := d.endGrants(ctx, b.Agent, approval.GrantStopped, b.By, func(g *standing.Granted) bool { return !g.At.After(b.At) })
		err = errors.Join(err, ended)
	}
	return err
}

// deniedGrants ends an agent's grants that were given before a person denied what they
// cover, or something like it.
func (d *Dispatcher) deniedGrants(ctx context.Context, agent string) {
	for _, n := range d.stand.denials.Of(agent) {
		_, err := d.endGrants(ctx, agent, approval.GrantDenied, n.By, func(g *standing.Granted) bool {
			return !g.At.After(n.At) && n.Covers(g.About)
		})
		if err != nil && ctx.Err() == nil {
			d.log.ErrorContext(ctx, "a grant for a call that was then denied could not be ended", "approval", n.ID, "error", err)
		}
	}
}

// Granted returns the approvals whose grants are live, oldest first; an empty name means
// every agent. Secrets are masked.
func (d *Dispatcher) Granted(ctx context.Context, agent string) ([]approval.Approval, error) {
	if agent == "" {
		agent = approval.Everyone
	}
	var out []approval.Approval
	for _, id := range d.stand.grants.Of(agent, func(*standing.Granted) bool { return true }) {
		ask, err := d.ask(ctx, string(id.Ask()))
		if err != nil {
			return nil, err
		}
		if p := ask.Find(id); p != nil && p.Grant != nil && p.Grant.State(now()) == approval.GrantLive {
			out = append(out, d.masker().Approval(*p))
		}
	}
	slices.SortFunc(out, func(a, b approval.Approval) int { return a.Grant.At.Compare(b.Grant.At) })
	return out, nil
}

// stopCall denies a call at once because a brake holds: as an approval of its own, without
// a card.
func (d *Dispatcher) stopCall(ctx context.Context, agent string, b *approval.Brake, c *call) error {
	o, err := d.opening(agent, c)
	if err != nil {
		return err
	}
	o.Channels = nil
	ask, err := approval.Open(o)
	if err != nil {
		return err
	}
	ask.Stop(b, o.At)
	if err := d.create(ctx, ask); err != nil {
		return err
	}
	c.asked = ask.Approvals[0].ID
	return nil
}

// keepStanding updates the standing answers from an ask's committed state.
func (d *Dispatcher) keepStanding(ask *approval.Ask) {
	d.stand.denials.Keep(ask)
	d.stand.grants.Keep(ask)
	d.stand.allowances.Keep(ask)
	d.stand.hosts.Keep(ask)
}

// recall loads the denials that an earlier process left standing, and what people allowed
// lately. An ask waits for as long as its route says, and the answer to it holds for a
// while after that.
func (d *Dispatcher) recall(ctx context.Context) error {
	waited := d.deadlines.AskFor
	for i := range d.deciders.Routing.Routes {
		waited = max(waited, d.deciders.Routing.Routes[i].Deadline)
	}
	oldest := time.Now().Add(-waited - max(d.deadlines.DenialStands, approval.KindStands, standing.Lately))
	for ask, err := range d.records.Asks(ctx, approval.Query{Newest: true}) {
		if err != nil {
			return fmt.Errorf("dispatcher: recall denials: %w", err)
		}
		if ask.Is.OpenedAt.Before(oldest) {
			return nil
		}
		d.stand.newest.Wrote(ask.Is.ID, ask.Seq, func() { d.keepStanding(&ask.Is) })
	}
	return nil
}
