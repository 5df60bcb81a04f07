package dispatcher

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/metnos/vaglio/approval"
)

// attempts is how often opening an ask is retried because another call came first. Each
// retry means that somebody else made progress: calls that a turn makes in parallel fill
// one ask after the other, and each call loses a round or two per ask.
const attempts = 64

// MaxAsked is the most calls of a plan on one card: a longer plan is spread over several
// cards, in order.
const MaxAsked = 50

// open finds or opens the approval of every call that a judge denied. It is done when a
// round finds nothing left to open. It starts over if another call took a key first.
func (d *Dispatcher) open(ctx context.Context, agent string, calls []call) error {
	for range attempts {
		o, fresh, err := d.draft(ctx, agent, calls)
		if err == nil && len(fresh) == 0 {
			return nil
		}
		var ask approval.Ask
		var ids []approval.ID
		if err == nil {
			ask, ids, err = d.place(ctx, o)
		}
		if _, taken := errors.AsType[*approval.KeyError](err); taken {
			continue // another call came first; the next round joins it
		}
		if err != nil {
			return fmt.Errorf("dispatcher: open an approval: %w", err)
		}
		for i, c := range fresh {
			c.asked = ids[i]
			refusal := ask.Find(ids[i]).Refusal
			c.step.Refusal = &refusal
		}
		if err := d.braked(ctx, agent, ask.ID); err != nil {
			return err
		}
	}
	return fmt.Errorf("dispatcher: open an approval: other calls got in first, %d times", attempts)
}

// braked applies a brake that was pulled while the ask was being stored, and may have missed
// it.
func (d *Dispatcher) braked(ctx context.Context, agent string, id approval.AskID) error {
	b, err := d.stand.brakes.Of(ctx, agent)
	if err != nil || b == nil {
		return err
	}
	_, _, err = d.stopAsk(ctx, id, b)
	return err
}

// draft joins the calls that are already asked and drafts one ask from the others.
func (d *Dispatcher) draft(ctx context.Context, agent string, calls []call) (approval.Opening, []*call, error) {
	var fresh []*call
	o := approval.Opening{Agent: agent, At: now()}
	seen := make(map[approval.Fingerprint]bool)
	for i := range calls {
		c := &calls[i]
		if c.answer != nil || c.asked != "" {
			continue
		}
		joined, err := d.join(ctx, agent, c)
		if err != nil {
			return o, nil, err
		}
		// The same call twice in one plan is asked once; the second finds the first one's
		// approval in the next round.
		if joined || seen[c.print] || len(fresh) == MaxAsked || len(fresh) > 0 && c.route.Name != o.Route.Name {
			continue // so does a call that goes to other people, or no longer fits on the card
		}
		seen[c.print] = true
		one, err := d.opening(agent, c)
		if err != nil {
			return o, nil, err
		}
		o.Intent, o.TurnID, o.Route = one.Intent, one.TurnID, one.Route
		o.Calls = append(o.Calls, one.Calls...)
		fresh = append(fresh, c)
	}
	o.Channels = d.shownOn(&o.Route)
	o.ExpiresAt = o.At.Add(cmp.Or(o.Route.Deadline, d.deadlines.AskFor))
	return o, fresh, nil
}

// opening drafts the ask for one call.
func (d *Dispatcher) opening(agent string, c *call) (approval.Opening, error) {
	denial, err := approval.JudgeDenial(c.verdict)
	if err != nil {
		return approval.Opening{}, err
	}
	at := now()
	ask := approval.Call{
		Proposal: c.Proposal, Denial: denial, Fingerprint: c.print, Key: c.Key, Effect: c.effect, About: c.about.Subjects,
		Like: d.stand.denials.Like(agent, c.about.Subjects), Grantable: d.grantable(c),
		Obscured: c.about.Obscured,
	}
	if ask.Like == nil { // who denied something similar is not urged to grant it
		ask.Again, ask.Most = d.stand.allowances.Again(agent, ask.Grantable, c.about.Subjects)
	}
	return approval.Opening{
		Agent: agent, At: at, ExpiresAt: at.Add(cmp.Or(c.route.Deadline, d.deadlines.AskFor)),
		Intent: c.Proposal.Intent, TurnID: c.Proposal.TurnID, Route: c.route,
		Calls: []approval.Call{ask},
	}, nil
}

// place puts the calls on the card that their turn opened a moment ago, or opens an ask of
// their own. It returns a [*approval.KeyError] if another call came first.
func (d *Dispatcher) place(ctx context.Context, o approval.Opening) (approval.Ask, []approval.ID, error) {
	ask, ids, err := d.gather(ctx, &o)
	if !errors.Is(err, approval.ErrNoJoining) {
		return ask, ids, err
	}
	ask, err = approval.Open(o)
	if err != nil {
		return ask, nil, err
	}
	for i := range ask.Approvals {
		ids = append(ids, ask.Approvals[i].ID)
	}
	if !d.limit.enter(ask.Agent, ask.ID) {
		return ask, nil, &LimitError{Max: d.limit.most}
	}
	if err = d.create(ctx, ask); err != nil {
		// If it was stored after all, the store's feed brings it back.
		d.limit.leave(ask.Agent, ask.ID)
	}
	return ask, ids, err
}

// gather puts the calls on a card of their turn: one that shows something akin or, shortly
// after its opening, the newest one. If that is not possible it returns
// [approval.ErrNoJoining], and the turn is free for a new ask.
func (d *Dispatcher) gather(ctx context.Context, o *approval.Opening) (approval.Ask, []approval.ID, error) {
	if o.TurnID == "" || len(o.Calls) >= approval.MaxGathered {
		return approval.Ask{}, nil, approval.ErrNoJoining
	}
	for _, id := range d.stand.hosts.Akin(o) {
		if host, ids, err := d.joinTo(ctx, string(id), o, false); !errors.Is(err, approval.ErrNoJoining) {
			return host, ids, err
		}
	}
	return d.joinTo(ctx, approval.TurnKey(o.Agent, o.TurnID, o.Intent, o.Route.Name), o, true)
}

// joinTo puts the calls on the card of the ask with the id or key. If they cannot join it
// returns [approval.ErrNoJoining]; with yields, the ask then leaves the turn's next calls
// to another ask.
func (d *Dispatcher) joinTo(ctx context.Context, idOrKey string, o *approval.Opening, yields bool) (approval.Ask, []approval.ID, error) {
	host, err := d.ask(ctx, idOrKey)
	if errors.Is(err, approval.ErrNotFound) {
		return host, nil, approval.ErrNoJoining
	}
	if err != nil {
		return host, nil, err
	}
	tokens := approval.NewTokens(host.JoinTokens(len(o.Calls)))
	var ids []approval.ID
	host, err = d.update(ctx, host.ID, func(ask *approval.Ask) error {
		var err error
		ids, err = ask.Join(o.Calls, o.Channels, tokens, now())
		if errors.Is(err, approval.ErrNoJoining) && yields && !ask.Yielded {
			ask.Yielded = true
			return nil
		}
		return err
	})
	if err == nil && len(ids) == 0 {
		err = approval.ErrNoJoining
	}
	return host, ids, err
}

// join looks for an approval that this call may share: the one under its key, or that of an
// equal call. It frees keys whose time is over.
func (d *Dispatcher) join(ctx context.Context, agent string, c *call) (bool, error) {
	if c.Key != "" {
		a, err := d.keyed(ctx, agent, c)
		switch {
		case err != nil:
			return false, err
		case a != nil && a.Fingerprint == c.print:
			c.asked = a.ID
			return true, nil
		case a != nil:
			if err := d.void(ctx, a.ID); err != nil {
				return false, err
			}
		}
	}
	a, err := d.heldBy(ctx, approval.FingerprintKey(agent, c.print), func(a *approval.Approval) bool {
		return a.Fingerprint == c.print && a.Stands()
	})
	if err != nil {
		return false, err
	}
	if a == nil {
		return d.answered(ctx, agent, c)
	}
	if a.State == approval.Denied && !a.Answers(now()) {
		return false, d.forget(ctx, a.ID)
	}
	c.asked, c.repeats = a.ID, a.State == approval.Denied
	return true, nil
}

// answered answers a call that nobody was asked about from what stands: a brake, a denial
// of something that does the same, a grant.
func (d *Dispatcher) answered(ctx context.Context, agent string, c *call) (bool, error) {
	b, err := d.stand.brakes.Of(ctx, agent)
	if err != nil {
		return false, err
	}
	if b != nil {
		return true, d.stopCall(ctx, agent, b, c)
	}
	if id, denied := d.stand.denials.Find(agent, c.effect, c.about.Subjects); denied {
		c.asked, c.repeats = id, true
		return true, nil
	}
	return d.grant(ctx, agent, c)
}

// heldBy returns the approval that fits in the ask that holds the key, or nil.
func (d *Dispatcher) heldBy(ctx context.Context, key string, fits func(*approval.Approval) bool) (*approval.Approval, error) {
	ask, err := d.ask(ctx, key)
	if errors.Is(err, approval.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("dispatcher: look for an equal call: %w", err)
	}
	for i := range ask.Approvals {
		if fits(&ask.Approvals[i]) {
			return &ask.Approvals[i], nil
		}
	}
	return nil, nil
}

// void supersedes an approval whose key is now used for another call, and frees the key.
func (d *Dispatcher) void(ctx context.Context, id approval.ID) error {
	_, err := d.update(ctx, id.Ask(), func(ask *approval.Ask) error {
		a := ask.Find(id)
		a.Key = ""
		if a.State == approval.Pending {
			return ask.Supersede(id, now())
		}
		return nil
	})
	return err
}

// forget frees the call that an old denial holds, so that it may be asked again.
func (d *Dispatcher) forget(ctx context.Context, id approval.ID) error {
	_, err := d.update(ctx, id.Ask(), func(ask *approval.Ask) error {
		ask.Find(id).Settled = true
		return nil
	})
	return err
}
