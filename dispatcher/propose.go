package dispatcher

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/vaglio"
)

// Request is one call that an agent proposes.
type Request struct {
	Proposal vaglio.Proposal
	// Key is the idempotency key. Left empty, the turn and the step are the
	// key, where both are given.
	Key string
	// Wait is how long to wait for a person when a judge denies.
	Wait time.Duration
}

// call is a request on its way through Propose.
type call struct {
	Request
	print   approval.Fingerprint
	effect  string
	verdict vaglio.Verdict
	// step is where the call stands in the turn log.
	step approval.Step
	// answer is set as soon as it is known without a person.
	answer *approval.Answer
	// asked is the approval that the call waits for, its own or a joined one.
	asked approval.ID
}

// Propose judges one call and answers at once when it is approved or refused
// for good. When a judge denies, a person is asked: the answer is theirs if
// they decide within r.Wait, otherwise it is pending.
//
// A repeat under the same key, and an equal call while one waits, joins the
// approval that is there. A changed call under the same key voids the old one.
// Errors: [*catalog.Error], [ErrStopping], ctx's, and the store's.
func (d *Dispatcher) Propose(ctx context.Context, agent string, r Request) (approval.Answer, error) {
	answers, err := d.ProposePlan(ctx, agent, []Request{r})
	if err != nil {
		if wrong, ok := errors.AsType[*CallError](err); ok {
			err = wrong.Err
		}
		return approval.Answer{}, err
	}
	return answers[0], nil
}

// ProposePlan is [Dispatcher.Propose] for several calls of one plan. Each call
// has a verdict and an answer of its own; those that a judge denied are asked
// on one card. A call with a mistake of shape or scope refuses the plan with a
// [*CallError], and nothing of it is asked. The calls of a plan belong to one
// turn and one request of the user, which the card shows once: a call of
// another is a [*PlanError].
func (d *Dispatcher) ProposePlan(ctx context.Context, agent string, rs []Request) ([]approval.Answer, error) {
	if d.stopped() {
		return nil, ErrStopping
	}
	rs, err := onePlan(rs)
	if err != nil {
		return nil, err
	}
	calls := make([]call, len(rs))
	for i, r := range rs {
		r.Proposal.Agent = agent
		r.Key = r.key(i, len(rs))
		calls[i].Request = r
		if err := d.judge(ctx, &calls[i]); err != nil {
			return nil, &CallError{Index: i, Err: err}
		}
	}
	tellApart(calls)
	if err := d.replace(ctx, agent, calls); err != nil {
		return nil, err
	}
	if err := d.open(ctx, agent, calls); err != nil {
		return nil, err
	}
	for i := range calls {
		if err := d.note(ctx, &calls[i]); err != nil {
			return nil, err
		}
	}
	return d.collect(ctx, agent, calls)
}

// key returns the call's idempotency key, or nothing when it has none.
func (r Request) key(i, of int) string {
	switch {
	case r.Key != "" && of > 1:
		return "plan:" + strconv.Itoa(i+1) + ":" + r.Key
	case r.Key != "":
		return "key:" + r.Key
	case r.Proposal.TurnID != "" && r.Proposal.Step > 0:
		return "turn:" + r.Proposal.TurnID + "#" + strconv.Itoa(r.Proposal.Step)
	}
	return ""
}

// onePlan returns the calls as those of one plan: what a call leaves out of the
// turn and the intent is what the others say. Calls that contradict each other
// cannot stand on one card.
func onePlan(rs []Request) ([]Request, error) {
	rs = slices.Clone(rs)
	for field, of := range map[string]func(*vaglio.Proposal) *string{
		"intent":  func(p *vaglio.Proposal) *string { return &p.Intent },
		"turn_id": func(p *vaglio.Proposal) *string { return &p.TurnID },
	} {
		said := ""
		for i := range rs {
			if said == "" {
				said = *of(&rs[i].Proposal)
			}
		}
		for i := range rs {
			switch at := of(&rs[i].Proposal); *at {
			case "", said:
				*at = said
			default:
				return nil, &PlanError{Index: i, Field: field}
			}
		}
	}
	return rs, nil
}

// tellApart gives the calls of one plan that share a key keys of their own:
// calls that run side by side may bear the same step, and none of them is a
// changed form of another.
func tellApart(calls []call) {
	first := make(map[string]approval.Fingerprint, len(calls))
	shared := make(map[string]bool)
	for i := range calls {
		c := &calls[i]
		if _, ok := first[c.Key]; !ok {
			first[c.Key] = c.print
		}
		shared[c.Key] = shared[c.Key] || first[c.Key] != c.print
	}
	for i := range calls {
		if c := &calls[i]; c.Key != "" && shared[c.Key] {
			c.Key = "part:" + string(c.print) + ":" + c.Key
		}
	}
}

// replace voids what waits under the key of a changed call that needs nobody.
func (d *Dispatcher) replace(ctx context.Context, agent string, calls []call) error {
	for i := range calls {
		c := &calls[i]
		if c.answer == nil || c.Key == "" {
			continue
		}
		a, err := d.keyed(ctx, agent, c)
		if err != nil {
			return err
		}
		if a != nil && a.Fingerprint != c.print {
			if err := d.void(ctx, a.ID); err != nil {
				return err
			}
		}
	}
	return nil
}

// keyed returns the approval that was asked under the call's key, or nil.
func (d *Dispatcher) keyed(ctx context.Context, agent string, c *call) (*approval.Approval, error) {
	return d.heldBy(ctx, approval.IdempotencyKey(agent, c.Key), func(a *approval.Approval) bool { return a.Key == c.Key })
}

// judge gives the call its fingerprint and its verdict, and the answer where
// no person is needed.
func (d *Dispatcher) judge(ctx context.Context, c *call) error {
	var err error
	if c.print, err = d.secret.Fingerprint(c.Proposal); err != nil {
		return err
	}
	c.step = approval.Step{At: now(), Proposal: c.Proposal}
	if c.verdict, err = d.engine.Judge(ctx, c.Proposal); err != nil {
		c.step.Error = err.Error()
		c.step.ID, _ = stepID(c) // a call with a fingerprint has one
		return errors.Join(err, d.keepStep(ctx, c.step))
	}
	c.step.Verdict = &c.verdict
	switch {
	case c.verdict.Approved:
		a := approval.Approved(c.verdict)
		c.answer = &a
	case c.verdict.BlockedBy == vaglio.PhaseJudge:
		if d.effect != nil {
			c.effect, _ = d.effect(c.Proposal)
		}
	default:
		refusal := approval.Refuse(c.Proposal, c.verdict)
		a := approval.Refused(c.verdict, refusal)
		c.answer, c.step.Refusal = &a, &refusal
	}
	return nil
}

// attempts bounds how often opening an ask is begun anew because an equal call
// came first. Each time somebody else made progress.
const attempts = 8

// open finds or opens the approval of every call that a judge denied. It is
// done when a round finds nothing left to open.
func (d *Dispatcher) open(ctx context.Context, agent string, calls []call) error {
	for range attempts {
		ask, fresh, err := d.draft(ctx, agent, calls)
		if err != nil || len(fresh) == 0 {
			return err
		}
		err = d.create(ctx, ask)
		if _, taken := errors.AsType[*approval.KeyError](err); taken {
			continue
		}
		if err != nil {
			return fmt.Errorf("dispatcher: open an approval: %w", err)
		}
		for i, c := range fresh {
			c.asked = ask.Approvals[i].ID
			refusal := ask.Approvals[i].Refusal
			c.step.Refusal = &refusal
		}
	}
	return fmt.Errorf("dispatcher: open an approval: equal calls kept coming first, %d times", attempts)
}

// draft joins the calls that are asked already and drafts one ask of the rest.
func (d *Dispatcher) draft(ctx context.Context, agent string, calls []call) (approval.Ask, []*call, error) {
	var fresh []*call
	at := now()
	o := approval.Opening{Agent: agent, At: at, ExpiresAt: at.Add(d.deadlines.AskFor)}
	seen := make(map[approval.Fingerprint]bool)
	for i := range calls {
		c := &calls[i]
		if c.answer != nil || c.asked != "" {
			continue
		}
		joined, err := d.join(ctx, agent, c)
		if err != nil {
			return approval.Ask{}, nil, err
		}
		// The same call twice in one plan is asked once; the second finds the
		// first's approval on the next round.
		if joined || seen[c.print] {
			continue
		}
		seen[c.print] = true
		denial, err := approval.JudgeDenial(c.verdict)
		if err != nil {
			return approval.Ask{}, nil, err
		}
		o.Intent, o.TurnID = c.Proposal.Intent, c.Proposal.TurnID
		o.Calls = append(o.Calls, approval.Call{
			Proposal: c.Proposal, Denial: denial, Fingerprint: c.print, Key: c.Key, Effect: c.effect,
		})
		fresh = append(fresh, c)
	}
	if len(fresh) == 0 {
		return approval.Ask{}, nil, nil
	}
	for name := range d.channels {
		o.Channels = append(o.Channels, name)
	}
	ask, err := approval.Open(o)
	return ask, fresh, err
}

// join looks for an approval that this call may share: the one under its key,
// or the one of an equal call. It frees keys whose time is over.
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
		id, denied := d.denials.find(agent, c.effect)
		c.asked = id
		return denied, nil
	}
	if a.State == approval.Denied && time.Since(a.EndedAt) >= d.deadlines.DenialStands {
		return false, d.forget(ctx, a.ID)
	}
	c.asked = a.ID
	return true, nil
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

// void supersedes an approval whose key is used for another call, and frees
// the key.
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

// forget frees an old denial's hold on its call, which may be asked again.
func (d *Dispatcher) forget(ctx context.Context, id approval.ID) error {
	_, err := d.update(ctx, id.Ask(), func(ask *approval.Ask) error {
		ask.Find(id).Settled = true
		return nil
	})
	return err
}

// note writes the call's step. A denial is on disk before the agent hears of
// it; an approval by the judges may follow.
func (d *Dispatcher) note(ctx context.Context, c *call) error {
	c.step.Approval = c.asked
	id, err := stepID(c)
	if err != nil {
		return err
	}
	c.step.ID = id
	if c.verdict.Approved {
		return d.queueStep(ctx, c.step)
	}
	return d.keepStep(ctx, c.step)
}

// collect waits for the people who are asked, each call within what is left of
// its own wait.
func (d *Dispatcher) collect(ctx context.Context, agent string, calls []call) ([]approval.Answer, error) {
	start := time.Now()
	answers := make([]approval.Answer, len(calls))
	for i := range calls {
		c := &calls[i]
		if c.answer != nil {
			answers[i] = *c.answer
			continue
		}
		wait := max(0, c.Wait-time.Since(start))
		a, err := d.Await(ctx, agent, c.asked, wait)
		if err != nil {
			return nil, err
		}
		answers[i] = a
	}
	return answers, nil
}
