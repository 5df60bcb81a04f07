package dispatcher

import (
	"context"

	"github.com/metnos/vaglio/approval"
)

// question puts a person's question to the agent whose ask waits. Nothing is decided
// by it.
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

// toldQuestion keeps that the agent is given the question that is open.
func (d *Dispatcher) toldQuestion(ctx context.Context, id approval.AskID) error {
	_, err := d.update(ctx, id, func(ask *approval.Ask) error {
		if !ask.TellQuestion() {
			return approval.ErrKeep
		}
		return nil
	})
	return err
}

// reply keeps what the agent says to the question about its call.
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
