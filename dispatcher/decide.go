package dispatcher

import (
	"context"
	"errors"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/vaglio"
)

// Decide applies a person's tap. The right to decide, the deadline and the move are checked
// inside one compare-and-swap, so of any number of taps one decides. When Decide returns,
// what the receipt says is on disk.
//
// A tap that came too late is not an error: its receipt says who decided, when and what.
// Neither is a yes that needs more people before the call may run. [approval.ErrNotFound]
// means an unknown token, [approval.ErrNotApprover] a person who may not decide,
// [*approval.ChoiceError] an answer that is neither yes nor no.
func (d *Dispatcher) Decide(ctx context.Context, t approval.Tap) (approval.Receipt, error) {
	if _, known := d.human(t.By.ID); !known {
		return approval.Receipt{}, approval.ErrNotApprover
	}
	key := string(t.Ask)
	if t.Token != "" {
		key = approval.TokenKey(t.Token)
	}
	ask, err := d.ask(ctx, key)
	if err != nil {
		return approval.Receipt{}, err
	}
	var receipt approval.Receipt
	ask, err = d.update(ctx, ask.ID, func(ask *approval.Ask) error {
		var err error
		at := now()
		receipt, err = ask.Vote(t, d.electorate(ask), at, d.deadlines.PermitFor)
		ask.Stand(at, d.deadlines.DenialStands)
		if err == nil && receipt.Replaced {
			return approval.ErrKeep
		}
		return err
	})
	if err == nil {
		d.deniedGrants(ctx, ask.Agent)
	}
	return receipt, err
}

// Withdraw ends an approval that the agent no longer wants. One that is already decided
// stays as it is: Withdraw then returns a [*approval.MoveError].
func (d *Dispatcher) Withdraw(ctx context.Context, agent string, id approval.ID) (approval.Answer, error) {
	a, err := d.move(ctx, agent, id, func(ask *approval.Ask) error {
		if ask.Find(id).State == approval.Withdrawn {
			return approval.ErrKeep
		}
		return ask.Withdraw(id, now())
	})
	if err != nil {
		return approval.Answer{}, err
	}
	return d.answer(a), nil
}

// Redeem spends a permit for exactly the call that was shown. The guard runs again first,
// over the call as it comes and as it was shown, so that the agent cannot hide anything by
// leaving it out now: no permit overrides the guard ([*GuardError]), and none is good for a
// call that can no longer be read ([*vaglio.ShapeError]). Nil means that the call may run
// now, once. [ErrSpent], [ErrLapsed], [ErrOtherCall], [*FileChangedError] and
// [approval.ErrNotFound] say why it may not.
//
//nolint:cyclop // One step after the other; each may end it.
func (d *Dispatcher) Redeem(ctx context.Context, agent, permit string, p vaglio.Proposal) error {
	id, err := d.permitted(ctx, agent, permit)
	if err != nil {
		return err
	}
	p.Agent = agent
	asked, lost := d.approvalOf(ctx, agent, id)
	if lost == nil {
		p.Session, p.TurnID = asked.Proposal.Session, asked.Proposal.TurnID
	}
	p.Facts = d.factsOf(ctx, &p)
	sources := d.engine.Sources(p)
	if err := d.guardAgain(ctx, p, id); err != nil { // says what cannot be read
		return err
	}
	fingerprint, err := d.keys.names.Fingerprint(p, sources)
	if err != nil {
		return err
	}
	if lost != nil {
		return lost
	}
	if changed := d.changedFile(p, sources, asked); changed != "" {
		return &FileChangedError{Path: changed}
	}
	shown := asked.Proposal
	shown.Facts = p.Facts
	if asked.Fingerprint == fingerprint {
		if err := d.guardAgain(ctx, shown, id); err != nil {
			return err
		}
	}
	var lapsed bool
	_, err = d.move(ctx, agent, id, func(ask *approval.Ask) error {
		at := now()
		lapsed = ask.Lapse(at) && ask.Find(id).State == approval.Lapsed
		if lapsed {
			return nil
		}
		return ask.Redeem(id, fingerprint, at)
	})
	if lapsed && err == nil {
		return ErrLapsed
	}
	if err == nil {
		d.stand.sessions.Note(&shown, now(), d.engine.Did(shown))
	}
	return redeemError(err)
}

// guardAgain returns an error if the guard denies a call whose permit is redeemed, which it
// records in the history, or if the call cannot be read.
func (d *Dispatcher) guardAgain(ctx context.Context, p vaglio.Proposal, id approval.ID) error { //nolint:gocritic // As the caller has it.
	v, denied, err := d.engine.Guard(ctx, p)
	if denied {
		return d.veto(ctx, p, id, v)
	}
	return err
}

// changedFile returns the file whose change made the call differ from the one asked about,
// or "" if there is none or more than files differs.
func (d *Dispatcher) changedFile(p vaglio.Proposal, now []vaglio.Source, asked *approval.Approval) string {
	then := asked.Verdict.Sources
	if same, err := d.keys.names.Fingerprint(p, then); err != nil || same != asked.Fingerprint {
		return ""
	}
	was := make(map[string]string, len(then))
	for _, s := range then {
		was[s.Path] = s.SHA256
	}
	for _, s := range now {
		if sum, known := was[s.Path]; !known || sum != s.SHA256 {
			return s.Path
		}
		delete(was, s.Path)
	}
	for _, s := range then {
		if _, gone := was[s.Path]; gone {
			return s.Path
		}
	}
	return ""
}

// FileChangedError says that a file that the call runs is not the one the person saw. The
// call may be proposed again.
type FileChangedError struct{ Path string }

func (e *FileChangedError) Error() string {
	return e.Path + " has changed since the call was judged: propose the call again, so that what it would run now is judged"
}

// redeemError maps the reasons for which a permit is invalid to errors of their own.
func redeemError(err error) error {
	if errors.Is(err, approval.ErrOtherCall) {
		return ErrOtherCall
	}
	moved, ok := errors.AsType[*approval.MoveError](err)
	if !ok {
		return err
	}
	switch moved.State {
	case approval.Spent, approval.Succeeded, approval.Failed, approval.Unknown:
		return ErrSpent
	case approval.Lapsed:
		return ErrLapsed
	default:
		return err
	}
}

// Report records how the run of a permitted call ended, as the agent reports it. A repeated
// report returns a [*approval.MoveError]: the first one stands.
func (d *Dispatcher) Report(ctx context.Context, agent string, id approval.ID, o approval.Outcome) error {
	o.At = now()
	_, err := d.move(ctx, agent, id, func(ask *approval.Ask) error { return ask.Report(id, o) })
	return err
}

// move changes one approval of the agent and returns it.
func (d *Dispatcher) move(ctx context.Context, agent string, id approval.ID, change func(*approval.Ask) error) (*approval.Approval, error) {
	ask, err := d.update(ctx, id.Ask(), func(ask *approval.Ask) error {
		if ask.Agent != agent || ask.Find(id) == nil {
			return approval.ErrNotFound
		}
		return change(ask)
	})
	if err != nil {
		return nil, err
	}
	return ask.Find(id), nil
}

// permitted returns the approval that a permit is for. A permit from before a key rotation
// is void, whatever the state of its approval.
func (d *Dispatcher) permitted(ctx context.Context, agent, permit string) (approval.ID, error) {
	id, void, err := d.keys.permits.Load().Parse(permit)
	if err != nil || !void {
		return id, err
	}
	a, err := d.approvalOf(ctx, agent, id)
	if err != nil {
		return "", err
	}
	if a.State == approval.Allowed {
		return "", ErrLapsed
	}
	return "", redeemError(&approval.MoveError{ID: id, State: a.State, Event: approval.Redeem})
}

// answer returns what the agent is told about an approval.
func (d *Dispatcher) answer(a *approval.Approval) approval.Answer {
	permit := ""
	if a.Permit != nil {
		permit = d.keys.permits.Load().Of(a.ID)
	}
	answer := approval.AnswerFor(*a, permit)
	if answer.Refusal != nil {
		refusal := d.discreet(*answer.Refusal, a.Proposal)
		answer.Refusal, answer.Verdict = &refusal, d.masker().Verdict(answer.Verdict)
	}
	return answer
}
