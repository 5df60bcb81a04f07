package history

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/vaglio"
)

// records checks the story against the records: each approval must have the state and
// content that its last leaf left it with, and each must have its leaves.
func (v *verification) records(ctx context.Context) error {
	c := comparison{
		v: v, story: v.told, lives: maps.Clone(v.told.approvals),
		base: v.told.baseline(v.firstKept()), sum: newSummer(),
	}
	for ask, err := range decoded(ctx, v.c.Records, approval.KindAsk, approval.DecodeAsk) {
		if u, unread := errors.AsType[*approval.UnreadError](err); unread {
			v.found(-1, "the record of ask %s cannot be read: %v", u.ID, u.Err)
			continue
		}
		if err != nil {
			return fmt.Errorf("history: read the asks: %w", err)
		}
		if err := c.ask(&ask); err != nil {
			return err
		}
	}
	c.finish()
	return c.steps(ctx)
}

// firstKept returns the first leaf whose value may still exist.
func (v *verification) firstKept() int64 {
	var first int64
	for _, s := range v.missing {
		if s.from == first {
			first = s.to
		}
	}
	return first
}

// baseline returns the event that says how the approvals stood before the first leaf that
// was kept, or the zero event if there is none.
func (s *story) baseline(first int64) baseEvent {
	for _, b := range s.base {
		if b.through >= first {
			return b
		}
	}
	return baseEvent{leaf: -1}
}

// comparison is one comparison of the story with the records.
type comparison struct {
	v     *verification
	story *story
	// lives are the approvals whose record has not been seen yet.
	lives map[approval.ID]*life
	base  baseEvent
	sum   *summer
	// begun says that an approval opened since the baseline was seen: all that follow are
	// newer, too.
	begun bool
}

func (c *comparison) ask(a *approval.Ask) error {
	for i := range a.Approvals {
		if err := c.approval(a, &a.Approvals[i]); err != nil {
			return err
		}
	}
	return nil
}

func (c *comparison) approval(a *approval.Ask, p *approval.Approval) error {
	l := c.lives[p.ID]
	if l == nil {
		return c.untold(a, p)
	}
	delete(c.lives, p.ID)
	c.begun = c.begun || l.opened
	if l.from != "" && !c.base.baseline.leavesOut(a.ID) {
		c.sum.add(standing{id: p.ID, state: l.from, content: l.content})
	}
	found := len(c.v.Findings) + c.v.More
	c.match(a, p, l)
	if found == len(c.v.Findings)+c.v.More {
		c.v.Approvals++
	}
	return nil
}

// match compares an approval with what the leaves say about it.
func (c *comparison) match(a *approval.Ask, p *approval.Approval, l *life) {
	if p.State != l.state {
		c.v.found(l.last.leaf, "approval %s is %s in the records, and %s by its last leaf, %d: the record was changed, or a leaf was left out",
			p.ID, p.State, l.state, l.last.leaf)
		return
	}
	if s, err := sum(l.last.salt, sealOf(a, p)); err != nil || s != l.last.sum {
		c.v.found(l.last.leaf, "the record of approval %s was changed: it is not what leaf %d (%s) left", p.ID, l.last.leaf, p.State)
		return
	}
	if l.from != "" {
		return // votes may be older than the leaves
	}
	for i := range p.Votes {
		if of := (vote{p.Votes[i].By.ID, p.Votes[i].Route}); l.votes[of] {
			delete(l.votes, of)
		} else {
			c.v.found(l.last.leaf, "approval %s has a vote of %s in the records that no leaf tells of", p.ID, of.by)
		}
	}
	for of := range l.votes {
		c.v.found(l.last.leaf, "approval %s lacks the vote of %s in the records that a leaf tells of", p.ID, of.by)
	}
}

// untold handles an approval that no leaf mentions: it is older, or its leaves were left
// out.
func (c *comparison) untold(a *approval.Ask, p *approval.Approval) error {
	if c.base.baseline.leavesOut(a.ID) {
		return nil
	}
	if c.base.baseline.Approvals == 0 || c.begun {
		c.v.found(-1, "approval %s (%s, asked %s) is in the records, and no leaf tells of it: its leaves were left out, or the record was put in",
			p.ID, p.State, stamp(a.OpenedAt))
		return nil
	}
	s, err := standingOf(a, p)
	if err != nil {
		return err
	}
	c.sum.add(s)
	c.v.Approvals++
	return nil
}

// finish reports what is missing in the records.
func (c *comparison) finish() {
	ids := make([]approval.ID, 0, len(c.lives))
	for id := range c.lives {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for _, id := range ids {
		l := c.lives[id]
		c.v.found(l.last.leaf, "leaf %d tells of approval %s (%s), and the records have none: the record was taken out, or the leaf was put in",
			l.last.leaf, id, l.state)
	}
	b := c.sum.baseline()
	switch named := c.base.baseline; {
	case c.base.leaf < 0 && b.Approvals == 0, b.agrees(named):
	case c.base.leaf == 0 && named.Approvals == 0: // reported already, for each of their leaves
	case c.base.leaf < 0:
		c.v.found(-1, "%d approvals are older than the leaves, and no leaf says how they stood", b.Approvals)
	case b.Approvals != named.Approvals:
		c.v.found(c.base.leaf, "%d approvals are older than leaf %d, which names %d of them: a record was taken out or put in", b.Approvals, c.base.through, named.Approvals)
	default:
		c.v.found(c.base.leaf, "the records of approvals that are older than leaf %d are not as leaf %d found them: one was changed", c.base.through, c.base.leaf)
	}
}

// steps checks the guard's vetoes in the turn log against their leaves. The turn log is
// kept for less time than the history, so a leaf without a step is fine.
func (c *comparison) steps(ctx context.Context) error {
	for s, err := range decoded(ctx, c.v.c.Records, approval.KindStep, approval.DecodeStep) {
		if u, unread := errors.AsType[*approval.UnreadError](err); unread {
			c.v.found(-1, "the record of step %s cannot be read: %v", u.ID, u.Err)
			continue
		}
		if err != nil {
			return fmt.Errorf("history: read the turn log: %w", err)
		}
		told, ok := c.story.vetoes[s.ID]
		switch {
		case ok:
			if have, err := sum(told.salt, &s); err != nil || have != told.sum {
				c.v.found(told.leaf, "the record of %s (a call of %s, %s), which the guard denied, was changed: it is not what leaf %d left",
					approval.VetoID(s.ID), s.Proposal.Agent, stamp(s.At), told.leaf)
			}
		case s.Verdict == nil || s.Verdict.BlockedBy != vaglio.PhaseGuard:
		case !s.At.After(c.v.Since): // its leaf may have been dropped at the same instant as the first that is left
		default:
			c.v.found(-1, "%s (a call of %s, %s), which the guard denied, is in the turn log, and no leaf tells of it: it was left out",
				approval.VetoID(s.ID), s.Proposal.Agent, stamp(s.At))
		}
	}
	return nil
}
