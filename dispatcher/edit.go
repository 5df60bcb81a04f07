package dispatcher

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/vaglio"
)

// Edit shows what a waiting call would become if a person edited it, judged again. If the
// person has seen exactly that, it denies the call as proposed and allows it in the new
// form, which the waiting agent is given and proposes. When Edit says that this is done, it
// is on disk. On an error nothing changes: the errors are those of [approval.Ask.Edit], an
// [*approval.OrderError] if guard, schema or shape refuse it, and the store's.
func (d *Dispatcher) Edit(ctx context.Context, e approval.Editing) (approval.Edited, error) {
	ask, err := d.toEdit(ctx, &e)
	if err != nil {
		return approval.Edited{}, err
	}
	p := ask.Find(e.ID)
	now, changed, err := e.Change(p.Proposal, d.masker())
	if err != nil {
		return approval.Edited{}, err
	}
	judge := d.engine.Judge // a real edit is judged with an audit entry, a preview without
	if e.Seen == "" {
		judge = d.engine.Weigh
	}
	c, err := d.reform(ctx, now, judge, ask)
	if c == nil || err != nil && e.Seen == "" {
		return approval.Edited{}, err
	}
	if err != nil {
		return approval.Edited{}, d.noteFailed(ctx, []call{*c}, err)
	}
	m := d.masker()
	edited := approval.Edited{
		Was: approval.NewItem(*p, m), Now: approval.NewItem(approval.Approval{Proposal: c.Proposal, Verdict: c.verdict, Refusal: approval.Refuse(c.Proposal, c.verdict)}, m),
		Changed: changed, Print: c.print, Passes: c.verdict.Approved,
	}
	if e.Seen == "" {
		return edited, nil
	}
	if e.Seen != c.print {
		return edited, d.noteFailed(ctx, []call{*c}, &approval.OrderError{Key: approval.OrderShown, Value: string(e.ID)})
	}
	edited.Done = true
	return edited, d.keepEdit(ctx, &e, c, changed)
}

// toEdit returns the ask with the waiting call that the person may change.
func (d *Dispatcher) toEdit(ctx context.Context, e *approval.Editing) (*approval.Ask, error) {
	if _, may := d.human(e.By.ID); !may {
		return nil, approval.ErrNotApprover
	}
	ask, err := d.ask(ctx, string(e.ID.Ask()))
	if err != nil {
		return nil, err
	}
	p := ask.Find(e.ID)
	if p == nil {
		return nil, approval.ErrNotFound
	}
	if electorate := d.electorate(&ask); !electorate.Permits(e.By.ID) {
		return nil, approval.ErrNotApprover
	}
	if p.State != approval.Pending {
		return nil, &approval.OrderError{Key: approval.OrderNothing, Value: string(e.ID)}
	}
	return &ask, nil
}

// reform reads and judges a call of the ask in the form that a person gave it.
func (d *Dispatcher) reform(
	ctx context.Context, p vaglio.Proposal, judge func(context.Context, vaglio.Proposal) (vaglio.Verdict, error), of *approval.Ask,
) (*call, error) {
	c := &call{Request: Request{Proposal: p}}
	c.Proposal.Facts = d.factsOf(ctx, &c.Proposal)
	c.step = approval.Step{At: now(), Proposal: c.Proposal}
	if err := d.facts(ctx, &c.Proposal); err != nil {
		return nil, err
	}
	var err error
	c.verdict, err = judge(ctx, c.Proposal)
	if c.Proposal.Context.Turn = nil; err != nil {
		return nil, unread(err)
	}
	c.step.Verdict = &c.verdict
	if c.verdict.BlockedBy == vaglio.PhaseGuard {
		refusal := d.discreet(approval.Refuse(c.Proposal, c.verdict), c.Proposal)
		c.step.Refusal = &refusal
		why := c.verdict.Reason
		if r := c.verdict.Rule; r != nil {
			why = cmp.Or(r.Why, why)
		}
		return c, &approval.OrderError{Key: approval.OrderGuard, Value: strings.TrimSuffix(d.masker().Mask(why), ".")}
	}
	d.nameCall(c)
	c.route = d.routeOf(c.Proposal)
	c.step.Route = c.route.Name
	if !c.verdict.Approved && !of.WentTo(c.route.Name) {
		return c, &approval.OrderError{Key: approval.OrderElsewhere, Value: string(of.ID)}
	}
	return c, d.printed(c)
}

// unread says of a call without a verdict what mistake the person made.
func unread(err error) error {
	if vaglio.Mistake(err) == nil {
		return err
	}
	what := err.Error()
	if shape, ok := errors.AsType[*vaglio.ShapeError](err); ok {
		if what = shape.What; shape.Line > 0 {
			what = fmt.Sprintf("line %d, column %d: %s", shape.Line, shape.Col, what)
		}
	}
	return &approval.OrderError{Key: approval.OrderUnread, Value: what}
}

// keepEdit commits the edit with the changed call's verdict, and writes its step. Once the edit is
// on disk it is done, even if the step is not.
func (d *Dispatcher) keepEdit(ctx context.Context, e *approval.Editing, c *call, changed []approval.Difference) error {
	err := d.commitEdit(ctx, e, c, changed)
	return d.noteFailed(ctx, []call{*c}, err)
}

// commitEdit puts the edit into the ask.
func (d *Dispatcher) commitEdit(ctx context.Context, e *approval.Editing, c *call, changed []approval.Difference) error {
	var form *approval.Call
	if !c.verdict.Approved {
		o, err := d.opening(c.Proposal.Agent, c)
		if err != nil {
			return err
		}
		form = &o.Calls[0]
		form.Like, form.Again = nil, nil // it is answered immediately
	}
	ask, err := d.update(ctx, e.ID.Ask(), func(ask *approval.Ask) error {
		at := now()
		err := ask.Edit(e, changed, form, d.electorate(ask), approval.NewTokens(ask.JoinTokens(1)), at, d.deadlines.PermitFor)
		ask.Stand(at, d.deadlines.DenialStands)
		return err
	})
	if _, taken := errors.AsType[*approval.KeyError](err); taken {
		return &approval.OrderError{Key: approval.OrderSame, Value: string(e.ID)}
	}
	if err != nil {
		return err
	}
	c.asked = ask.Find(e.ID).Edit.Approval
	d.deniedGrants(ctx, ask.Agent)
	return nil
}
