package dispatcher

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/dispatcher/read"
	"github.com/metnos/vaglio/vaglio"
)

// Request is one call that an agent proposes.
type Request struct {
	Proposal vaglio.Proposal
	// Key is the idempotency key. If empty, the turn and the step serve as the key if both
	// are given.
	Key string
	// Wait is how long to wait for a person if a judge denies.
	Wait time.Duration
	// Apart says that whoever proposes the call waits for the person with
	// [Dispatcher.Await] instead: only judges that take long are waited for.
	Apart bool
	// Answer is the agent's answer to a question that a person asked about the call; it is
	// ignored if there is none.
	Answer string
}

// call is a request on its way through Propose.
type call struct {
	Request
	print   approval.Fingerprint
	effect  string
	about   approval.About
	route   approval.Route
	verdict vaglio.Verdict
	// step is the call's step for the turn log.
	step approval.Step
	// answer is set once it is known without asking a person.
	answer *approval.Answer
	// asked is the approval that the call waits for: its own, or one it joined.
	asked approval.ID
	// repeats says that asked is a denial of a call that would do the same.
	repeats bool
}

// Propose judges one call and answers at once if it is approved or finally refused. If a
// judge denies it, a person is asked: the answer is theirs if they decide within r.Wait,
// otherwise it is pending.
//
// A repeat under the same key, or an equal call while one waits, joins the existing
// approval. A changed call under the same key voids the old one. Errors: [*catalog.Error],
// [*vaglio.ShapeError], [ErrStopping], ctx's, and the store's.
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

// ProposePlan is [Dispatcher.Propose] for several calls of one plan. Each call has its own
// verdict and answer; those that a judge denied are asked on one card. A call with a
// mistake of shape or scope refuses the whole plan with a [*CallError], and none of it is
// asked. The calls of a plan belong to one turn and one request of the user, which the card
// shows once: a call of another one is a [*PlanError].
func (d *Dispatcher) ProposePlan(ctx context.Context, agent string, rs []Request) ([]approval.Answer, error) {
	if d.stopped() {
		return nil, ErrStopping
	}
	start := time.Now()
	calls, judged, err := d.judgePlan(ctx, agent, rs)
	switch {
	case err != nil:
		return nil, err
	case !judged:
		return d.unjudged(calls), nil
	}
	return d.collect(ctx, agent, calls, start)
}

// judgePlan judges the calls of a plan, asks about those that need a person, and records
// the result of each. It reports false if slow judges have not answered yet.
func (d *Dispatcher) judgePlan(ctx context.Context, agent string, rs []Request) (calls []call, judged bool, err error) {
	defer d.underway.begin(now())()
	if rs, err = onePlan(rs); err != nil {
		return nil, false, err
	}
	calls = make([]call, len(rs))
	slow := false
	for i, r := range rs {
		r.Proposal.Agent = agent
		r.Key = r.key(i, len(rs))
		calls[i].Request = r
		slow = slow || d.slow(&calls[i])
	}
	if judged, err = d.judgeAll(ctx, calls, slow); err != nil || !judged {
		return calls, false, err
	}
	if err := d.put(ctx, agent, calls); err != nil {
		return nil, false, d.noteFailed(ctx, calls, err)
	}
	for i := range calls {
		if err := d.note(ctx, &calls[i]); err != nil {
			return nil, false, err
		}
		if err := d.reply(ctx, &calls[i]); err != nil {
			return nil, false, err
		}
	}
	return calls, true, nil
}

// judgeAll gives each call of a plan its verdict.
func (d *Dispatcher) judgeAll(ctx context.Context, calls []call, slow bool) (judged bool, err error) {
	if slow {
		return d.judgeSlowly(ctx, calls)
	}
	for i := range calls {
		if err := d.judge(ctx, &calls[i]); err != nil {
			return false, d.noteFailed(ctx, calls[:i], &CallError{Index: i, Err: err})
		}
	}
	return true, nil
}

// put asks people about the calls that judges denied.
func (d *Dispatcher) put(ctx context.Context, agent string, calls []call) error {
	if err := d.tellApart(calls); err != nil {
		return err
	}
	if err := d.replace(ctx, agent, calls); err != nil {
		return err
	}
	return d.open(ctx, agent, calls)
}

// noteFailed writes the steps of calls that were judged even if nothing came of them, because
// the audit log has their verdicts too. It returns the failure.
func (d *Dispatcher) noteFailed(ctx context.Context, calls []call, failure error) error {
	ctx = context.WithoutCancel(ctx)
	for i := range calls {
		if err := d.note(ctx, &calls[i]); err != nil {
			d.log.ErrorContext(ctx, "a step is missing from the turn log", "executor", calls[i].Proposal.Executor, "error", err)
		}
	}
	return failure
}

// key returns the call's idempotency key, or "" if it has none.
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

// onePlan returns the calls as those of one plan: a turn or intent that one call leaves out
// is taken from the others. Calls that contradict each other cannot share a card.
func onePlan(rs []Request) ([]Request, error) {
	if len(rs) == 1 {
		return rs, nil
	}
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

// tellApart gives calls of one plan that share a key separate keys: parallel calls may
// carry the same step, and none of them is a changed form of another.
func (d *Dispatcher) tellApart(calls []call) error {
	if len(calls) == 1 {
		return nil
	}
	first := make(map[string]approval.Fingerprint, len(calls))
	shared := make(map[string]bool)
	for i := range calls {
		c := &calls[i]
		if err := d.printed(c); err != nil {
			return err
		}
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
	return nil
}

// printed sets the call's fingerprint. A single call that the judges let through usually
// needs none.
func (d *Dispatcher) printed(c *call) (err error) {
	if c.print == "" {
		c.print, err = d.keys.names.Fingerprint(c.Proposal, c.verdict.Sources)
	}
	return err
}

// replace voids what waits under the key of a changed call that needs no person.
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
		if a == nil {
			continue
		}
		if err := d.printed(c); err != nil {
			return err
		}
		if a.Fingerprint != c.print {
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

// judge gives the call its verdict, and either its fingerprint, if a person is needed, or
// its answer. It judges again if a call of the session came in between that it must be judged
// with.
func (d *Dispatcher) judge(ctx context.Context, c *call) error {
	for {
		if err := d.judgeOnce(ctx, c); !errors.Is(err, errMet) {
			return err
		}
	}
}

func (d *Dispatcher) judgeOnce(ctx context.Context, c *call) error {
	var err error
	c.Proposal.Facts = d.factsOf(ctx, &c.Proposal)
	c.step = approval.Step{At: now(), Proposal: c.Proposal}
	if err = d.facts(ctx, &c.Proposal); err != nil {
		return err
	}
	c.verdict, err = d.engine.Judge(ctx, c.Proposal)
	c.Proposal.Context.Turn = nil
	if err != nil {
		c.step.Error, c.step.Route = err.Error(), d.routeOf(c.Proposal).Name
		id, unnamed := read.StepID(&c.step)
		if unnamed != nil {
			return errors.Join(err, unnamed)
		}
		c.step.ID = id
		return errors.Join(err, d.keepStep(ctx, c.step))
	}
	c.step.Verdict = &c.verdict
	switch {
	case c.verdict.Approved:
		return d.pass(ctx, c)
	case c.verdict.BlockedBy == vaglio.PhaseJudge && !slices.Contains(c.Proposal.Context.Concerns, vaglio.ConcernFinal):
		d.nameCall(c)
		c.route = d.routeOf(c.Proposal)
		c.step.Route = c.route.Name
		return d.printed(c)
	default:
		refusal := d.discreet(approval.Refuse(c.Proposal, c.verdict), c.Proposal)
		a := approval.Refused(d.masker().Verdict(c.verdict), refusal)
		c.answer, c.step.Refusal, c.step.Route = &a, &refusal, d.routeOf(c.Proposal).Name
	}
	return nil
}

// note writes the call's step, before the agent learns its verdict.
func (d *Dispatcher) note(ctx context.Context, c *call) (err error) {
	if c.verdict.Approved {
		return d.passStep(ctx, &c.step)
	}
	c.step.Approval = c.asked
	if c.step.ID, err = read.StepID(&c.step); err != nil {
		return err
	}
	if err := d.keepStep(ctx, c.step); err != nil {
		return err
	}
	d.noticed(c.step)
	return nil
}

// collect waits for the people who are asked, each call for what remains of its own wait
// since it was proposed. A question from them ends the waiting for all calls: the agent is
// to answer it.
func (d *Dispatcher) collect(ctx context.Context, agent string, calls []call, start time.Time) ([]approval.Answer, error) {
	answers, asked := make([]approval.Answer, len(calls)), false
	for i := range calls {
		c := &calls[i]
		if c.answer != nil {
			answers[i] = *c.answer
			continue
		}
		wait := max(0, c.Wait-time.Since(start))
		if asked || c.Apart {
			wait = 0
		}
		if err := d.await(ctx, agent, c.asked, wait); err != nil {
			return nil, err
		}
		if err := d.collected(ctx, agent, c, &answers[i]); err != nil {
			return nil, err
		}
		q := answers[i].Question
		asked = asked || q != nil && !q.Repeated
	}
	return answers, nil
}

// collected reads the answer to a call that was waited for.
func (d *Dispatcher) collected(ctx context.Context, agent string, c *call, into *approval.Answer) error {
	a, err := d.awaited(ctx, agent, c.asked)
	if *into = *a; err == nil && c.repeats {
		*into, err = d.repeated(ctx, agent, c)
	}
	return err
}
