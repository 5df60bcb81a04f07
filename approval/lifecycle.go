package approval

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

const (
	// ReportWithin is how long a spent permit waits for the agent's report before its
	// outcome counts as unknown.
	ReportWithin = 24 * time.Hour
	// MaxWords is the largest length of a person's words, in characters.
	MaxWords = 2000
	// maxDetail is how many characters of an agent's report are kept.
	maxDetail = 2000
	// maxPerson is how many characters of a display name are kept.
	maxPerson = 100
	// setBack is how far the clock may be behind a time that it gave earlier. Beyond that
	// it was set back, and no deadline can be trusted.
	setBack = time.Minute
)

// ErrNobody says that a decision does not name the person who made it.
var ErrNobody = errors.New("a decision needs the id of the person who made it")

// ErrOtherCall says that a call is not the one that was shown and allowed.
var ErrOtherCall = errors.New("this is not the call that was allowed")

// ChoiceError says that an answer is neither allow nor deny.
type ChoiceError struct{ Choice Choice }

func (e *ChoiceError) Error() string {
	return fmt.Sprintf("choice %s is not an answer: it must be %q or %q", quote(string(e.Choice), 40), ChoiceAllow, ChoiceDeny)
}

// WordsError says what is wrong with a person's words.
type WordsError struct {
	Problem string
	// Have is their length in characters if they are too long, else 0.
	Have int
}

func (e *WordsError) Error() string { return "the words " + e.Problem }

// Decide applies a person's tap where any one person may decide. The caller checks who that
// may be; [Ask.Vote] covers all other cases.
func (a *Ask) Decide(t Tap, at time.Time, permitFor time.Duration) (Receipt, error) {
	return a.Vote(t, Everybody(), at, permitFor)
}

// Vote applies a person's tap. A denial moves every approval that the tap stands for and
// that still waits. An allowance does so too if it completes the number of people required;
// otherwise it is kept as a vote. The receipt says which happened. Whatever is overdue by
// then expires first, so a tap at or after the deadline never wins. An allowed approval
// gets a permit that lapses after permitFor.
//
// Vote may change the ask even if the tap did not win. If it returns an error it changes
// nothing: [ErrNotApprover], [ErrNotFound] for an unknown token, ask or approval,
// [ErrOtherChoice], [ErrNobody], a [*ChoiceError], a [*WordsError], [ErrObscured] for an
// allowance of something not revealed, [ErrPasskey] for one that needs a passkey, a
// [*MatchError] for one that needs digits, or [ErrNotAskable] for an approval that holds
// anything but a judge's denial.
func (a *Ask) Vote(t Tap, e Electorate, at time.Time, permitFor time.Duration) (Receipt, error) {
	m, err := a.meaning(t)
	if err != nil {
		return Receipt{}, err
	}
	d, err := t.decision(m.choice, at)
	if err != nil {
		return Receipt{}, err
	}
	if err := a.answerable(&m, &t); err != nil {
		return Receipt{}, err
	}
	human, under, err := e.voter(a, &t, &m)
	if wrong := a.mismatched(err); wrong != nil {
		return Receipt{Approvals: m.ids, Ask: *a, Mismatch: wrong}, nil
	}
	if err != nil {
		return Receipt{}, err
	}
	a.Lapse(at)
	r := Receipt{Approvals: m.ids, Replaced: m.replaced}
	b := ballot{e: &e, human: human, under: under, d: d, permitFor: permitFor, grant: m.grant, kind: m.kind, turn: a.TurnID}
	for _, id := range m.ids {
		if p := a.Find(id); p.State == Pending && !m.replaced {
			won, kept, err := b.cast(p)
			if err != nil {
				return Receipt{}, err
			}
			r.Won, r.Voted = r.Won || won, r.Voted || kept
		}
	}
	r.Ask = *a
	r.Ask.Approvals = slices.Clone(a.Approvals)
	return r, nil
}

// answerable returns an error if the meant calls may not be answered this way by anyone.
func (a *Ask) answerable(m *meaning, t *Tap) error {
	if m.choice == ChoiceAllow {
		if err := a.seen(m, t); err != nil {
			return err
		}
	}
	if m.grant != "" && (!a.grantable(m.ids) || !slices.Contains(a.grants(), m.grant)) {
		return ErrNoGrant
	}
	if m.kind && slices.ContainsFunc(m.ids, func(id ID) bool { return a.Find(id).DenialOf() == nil }) {
		return &ChoiceError{ChoiceDenyKind}
	}
	if m.choice == ChoiceAllow && !a.askable(m.ids) {
		return ErrNotAskable
	}
	return nil
}

// seen returns an error if the person who allows the calls was not shown all of them.
func (a *Ask) seen(m *meaning, t *Tap) error {
	if t.Seen != "" && t.Seen != a.View() && a.Waiting() {
		return ErrOtherView
	}
	if !t.Revealed && !m.replaced && a.obscured(m.ids) {
		return ErrObscured
	}
	return nil
}

// grantable reports whether a grant may be given for all of the calls.
func (a *Ask) grantable(ids []ID) bool {
	return !slices.ContainsFunc(ids, func(id ID) bool { return a.Find(id).Grantable == "" })
}

// askable reports whether a person may overrule the denials of all of the calls.
func (a *Ask) askable(ids []ID) bool {
	return !slices.ContainsFunc(ids, func(id ID) bool { return !askable(a.Find(id).Verdict) })
}

// meaning is which calls a tap is about, and what it answers.
type meaning struct {
	ids    []ID
	choice Choice
	// grant is how long the call is granted, if it is allowed more than once.
	grant Choice
	// kind says that the tap also denies everything of the call's kind.
	kind bool
	// replaced says that the tap's button was replaced by a newer one.
	replaced bool
}

// meaning returns what a tap means. A tap for several calls is about those that wait among
// the calls that the person saw or, if none waits, about all of them.
func (a *Ask) meaning(t Tap) (meaning, error) {
	id, m, calls := t.Approval, meaning{choice: t.Choice}, 0
	if t.Token != "" {
		c, err := a.pressed(t)
		if err != nil {
			return meaning{}, err
		}
		id, m.choice, m.replaced, calls = c.Approval, c.Choice, c.Replaced, c.Calls
	} else if t.Ask != "" && t.Ask != a.ID {
		return meaning{}, ErrNotFound
	} else if s := a.On(t.Channel); s != nil {
		calls = cmp.Or(s.View, s.Begun).calls()
	}
	if m.choice.Grants() {
		m.grant, m.choice = m.choice, ChoiceAllow
	}
	if m.choice == ChoiceDenyKind {
		m.kind, m.choice = true, ChoiceDeny
	}
	if m.choice != ChoiceAllow && m.choice != ChoiceDeny {
		return meaning{}, &ChoiceError{m.choice}
	}
	if id != "" {
		if a.Find(id) == nil {
			return meaning{}, ErrNotFound
		}
		m.ids = []ID{id}
		return m, nil
	}
	m.ids = a.first(calls)
	return m, nil
}

// first returns the waiting ones among the first calls or, if none waits, all of them. 0
// means all calls of the ask.
func (a *Ask) first(calls int) []ID {
	n := len(a.Approvals)
	if calls != 0 {
		n = min(n, calls)
	}
	var waiting, all []ID
	for i := range a.Approvals[:n] {
		all = append(all, a.Approvals[i].ID)
		if a.Approvals[i].State == Pending {
			waiting = append(waiting, a.Approvals[i].ID)
		}
	}
	if len(waiting) > 0 {
		return waiting
	}
	return all
}

// pressed returns what the tap's button means, or an error if the tap says otherwise.
func (a *Ask) pressed(t Tap) (Callback, error) {
	c, ok := a.callback(t.Token)
	switch {
	case !ok || t.Ask != "" && t.Ask != a.ID:
		return Callback{}, ErrNotFound
	case t.Choice != "" && t.Choice != c.Choice:
		return Callback{}, ErrOtherChoice
	default:
		return c, nil
	}
}

func (a *Ask) callback(t Token) (Callback, bool) {
	for i := range a.Cards {
		if c, ok := a.Cards[i].Callbacks[t]; ok {
			return c, true
		}
	}
	return Callback{}, false
}

// decision checks who taps and what they say, and returns it as a decision.
func (t Tap) decision(choice Choice, at time.Time) (Decision, error) {
	if t.By.ID == "" || !utf8.ValidString(t.By.ID) {
		return Decision{}, ErrNobody
	}
	words, err := checkWords(t.Words)
	if err != nil {
		return Decision{}, err
	}
	by := Person{ID: t.By.ID, Name: clip(strings.ToValidUTF8(t.By.Name, "�"), maxPerson)}
	return Decision{Choice: choice, By: by, Channel: t.Channel, At: at, Words: words}, nil
}

func (p *Approval) decide(d Decision, permitFor time.Duration) error {
	event := Deny
	if d.Choice == ChoiceAllow {
		event = Allow
	}
	if err := p.Move(event); err != nil {
		return err
	}
	p.Decision, p.EndedAt = &d, d.At
	if event == Allow {
		p.Permit = &Permit{IssuedAt: d.At, LapsesAt: d.At.Add(permitFor)}
	}
	return nil
}

// Lapse ends what is overdue at the given time: approvals that wait for a person, permits
// that nobody redeemed, runs that nobody reported. It reports whether it changed anything.
// A clock that was set back makes things overdue: trouble with the clock must never give
// anybody more time.
func (a *Ask) Lapse(at time.Time) bool {
	moved := false
	for i := range a.Approvals {
		p := &a.Approvals[i]
		moved = a.lapseGrant(p, at) || moved
		from, until, event := a.term(p)
		if until.IsZero() || at.Before(until) && !at.Before(from.Add(-setBack)) {
			continue
		}
		if p.Move(event) != nil {
			continue
		}
		moved = true
		if event == Expire {
			p.EndedAt = at
		}
	}
	return moved
}

// NextDeadline returns when [Ask.Lapse] next has something to end, or the zero time if
// nothing is due any more.
func (a *Ask) NextDeadline() time.Time {
	var next time.Time
	for i := range a.Approvals {
		_, until, _ := a.term(&a.Approvals[i])
		for _, at := range []time.Time{until, a.Approvals[i].grantTerm()} {
			if !at.IsZero() && (next.IsZero() || at.Before(next)) {
				next = at
			}
		}
	}
	return next
}

// term returns the period in which the approval may stay in its state, and the event that
// ends it. until is zero for a state that may last.
func (a *Ask) term(p *Approval) (from, until time.Time, end Event) {
	switch {
	case p.State == Pending:
		return a.OpenedAt, a.ExpiresAt, Expire
	case p.State == Allowed && p.Permit != nil:
		return p.Permit.IssuedAt, p.Permit.LapsesAt, Lapse
	case p.State == Spent && p.Permit != nil:
		return p.Permit.SpentAt, p.Permit.SpentAt.Add(ReportWithin), Lose
	default:
		return time.Time{}, time.Time{}, ""
	}
}

// Withdraw ends a waiting approval that its agent no longer wants.
func (a *Ask) Withdraw(id ID, at time.Time) error { return a.end(id, Withdraw, at) }

// Supersede ends a waiting approval whose idempotency key now names another call.
func (a *Ask) Supersede(id ID, at time.Time) error { return a.end(id, Supersede, at) }

func (a *Ask) end(id ID, e Event, at time.Time) error {
	p := a.Find(id)
	if p == nil {
		return ErrNotFound
	}
	if err := p.Move(e); err != nil {
		return err
	}
	p.EndedAt = at
	return nil
}

// Redeem spends the approval's permit for the call with the fingerprint. [ErrOtherCall]
// says that a different call was allowed. A [*MoveError] says that the permit cannot be
// spent in the approval's state, which is one after [Allowed] or has just become [Lapsed].
func (a *Ask) Redeem(id ID, f Fingerprint, at time.Time) error {
	p := a.Find(id)
	switch {
	case p == nil:
		return ErrNotFound
	case f == "" || p.Fingerprint != f:
		return ErrOtherCall
	case !askable(p.Verdict):
		return ErrNotAskable
	}
	a.Lapse(at)
	if p.Permit == nil || p.Decision == nil || p.Decision.Choice != ChoiceAllow {
		return &MoveError{p.ID, p.State, Redeem}
	}
	if err := p.Move(Redeem); err != nil {
		return err
	}
	p.Permit.SpentAt = at
	return nil
}

// Report records how the run of a spent permit ended. The first report stands: another one
// returns a [*MoveError].
func (a *Ask) Report(id ID, o Outcome) error {
	p := a.Find(id)
	if p == nil {
		return ErrNotFound
	}
	event := Fail
	if o.Succeeded {
		event = Succeed
	}
	if err := p.Move(event); err != nil {
		return err
	}
	o.Detail = clip(strings.ToValidUTF8(o.Detail, "�"), maxDetail)
	p.Outcome = &o
	return nil
}
