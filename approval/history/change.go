package history

import (
	"slices"
	"time"
	"unicode/utf8"

	"github.com/metnos/vaglio/approval"
)

// Writer turns what happens into leaves.
type Writer struct {
	mask func(string) string
}

// NewWriter returns a Writer that masks free text with mask.
func NewWriter(mask func(string) string) Writer { return Writer{mask} }

// Before is what must be remembered of an ask to tell what changed.
type Before struct {
	approvals []approval.Approval
	routes    int
	intent    string
	questions []approval.Question
	snoozed   *approval.Snoozed
	handed    int
	revealed  *approval.Act
}

// Remember records the state of an ask before a change. The change may modify the ask
// itself.
func Remember(a *approval.Ask) Before {
	return Before{slices.Clone(a.Approvals), len(a.Routes), a.Intent, slices.Clone(a.Questions), a.Snoozed, len(a.Handed), a.Revealed}
}

// maxText is the most bytes of each foreign text in a leaf. An agent chooses the length of
// its turn's name, and must not be able to keep an event out of the history with it.
const maxText = 4 << 10

// text returns text that somebody wrote, masked and cut to maxText.
func (w Writer) text(s string) string {
	if s = w.mask(s); len(s) <= maxText {
		return s
	}
	cut := maxText
	for !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}

// Change returns the leaves of everything that happened to an ask since before, or none if
// nothing that belongs in the history did. at is the time of whatever the ask itself does
// not date. The seed must be random and used for this change only.
func (w Writer) Change(before Before, after *approval.Ask, at time.Time, seed string) ([][]byte, error) {
	l := leaves{salts: salts{seed: seed}}
	if n := len(after.Routes); n > before.routes && before.approvals != nil {
		l.add(Event{Kind: Escalated, At: at, Agent: after.Agent, Turn: w.text(after.TurnID), Ask: after.ID, Route: after.Routes[n-1].Route}, nil)
	}
	w.talked(&l, before.questions, after)
	w.handled(&l, &before, after)
	for i := range after.Approvals {
		p := &after.Approvals[i]
		if i >= len(before.approvals) {
			e := w.about(after, p, Opened, after.OpenedAt)
			if before.approvals != nil {
				e.Kind, e.At = Joined, at
			}
			e.To, e.Fingerprint, e.Route = approval.Pending, p.Fingerprint, routeOf(after)
			e.Judge, e.Score = p.Verdict.JudgeKind, p.Verdict.Score
			l.add(e, sealOf(after, p))
			if p.State != approval.Pending { // a grant or a brake answered it at once
				e := w.moved(after, p, at)
				e.From, e.To = approval.Pending, p.State
				l.add(e, sealOf(after, p))
			}
			continue
		}
		w.acted(&l, after, &before.approvals[i], p, at)
		w.voted(&l, after, before.approvals[i].Votes, p, at)
		if from := before.approvals[i].State; from != p.State {
			e := w.moved(after, p, at)
			e.From, e.To = from, p.State
			l.add(e, sealOf(after, p))
		}
		w.emptied(&l, &before, after, i, at)
	}
	return l.all, l.err
}

// emptied adds that the values of an approval were dropped, with the sum of the old record,
// which older leaves contain, and that of the new one.
func (w Writer) emptied(l *leaves, before *Before, a *approval.Ask, i int, at time.Time) {
	was, p := before.approvals[i], &a.Approvals[i]
	if p.ValuesDropped.IsZero() || !was.ValuesDropped.IsZero() || l.err != nil {
		return
	}
	whole := *a
	whole.Intent = before.intent
	stood, err := standingOf(&whole, &was)
	if err != nil {
		l.err = err
		return
	}
	e := w.about(a, p, ValuesDropped, at)
	e.From, e.Content, e.Fingerprint = p.State, stood.content, p.Fingerprint
	l.add(e, sealOf(a, p))
}

// Veto returns the leaves of a denial by the guard at the given time, for the step itself
// or for a repeat. A veto at the redemption of a permit names the approval and has no step
// in the turn log.
func (w Writer) Veto(s *approval.Step, at time.Time, seed string) ([][]byte, error) {
	e := Event{
		Kind: Vetoed, At: at, Agent: s.Proposal.Agent, Turn: w.text(s.Proposal.TurnID), Step: s.ID,
		Approval: s.Approval, Executor: w.text(s.Proposal.Executor),
	}
	if s.Verdict != nil && s.Verdict.Rule != nil {
		e.Rule = s.Verdict.Rule.ID
	}
	l := leaves{salts: salts{seed: seed}}
	if s.ID == "" {
		l.add(e, nil)
	} else {
		l.add(e, s)
	}
	return l.all, l.err
}

// Note returns an event about the history itself as a leaf.
func (w Writer) Note(e Event, seed string) ([][]byte, error) { //nolint:gocritic // It is rare, and its own.
	l := leaves{salts: salts{seed: seed}}
	l.add(e, nil)
	return l.all, l.err
}

// about returns an event about one approval.
func (w Writer) about(a *approval.Ask, p *approval.Approval, k Kind, at time.Time) Event {
	return Event{
		Kind: k, At: at, Agent: a.Agent, Turn: w.text(a.TurnID), Approval: p.ID, Executor: w.text(p.Proposal.Executor),
	}
}

// voted adds the votes that were added and those that are gone.
func (w Writer) voted(l *leaves, a *approval.Ask, before []approval.Vote, p *approval.Approval, at time.Time) {
	tell := func(k Kind, v *approval.Vote, at time.Time) {
		e := w.about(a, p, k, at)
		e.By, e.Name, e.Channel, e.Words, e.Route = v.By.ID, w.text(v.By.Name), v.Channel, w.text(v.Words), v.Route
		l.add(e, nil)
	}
	for i := range before {
		if !slices.Contains(p.Votes, before[i]) {
			tell(Unvote, &before[i], at)
		}
	}
	for i := range p.Votes {
		if !slices.Contains(before, p.Votes[i]) {
			tell(Vote, &p.Votes[i], p.Votes[i].At)
		}
	}
}

// moved returns the event of an approval that entered its state.
func (w Writer) moved(a *approval.Ask, p *approval.Approval, at time.Time) Event {
	e := w.about(a, p, Kind(p.State), at)
	switch p.State {
	case approval.Allowed, approval.Denied:
		if d := p.Decision; d != nil {
			e.At, e.By, e.Name, e.Channel, e.Words = d.At, d.By.ID, w.text(d.By.Name), d.Channel, w.text(d.Words)
			e.Grant, e.Brake = d.Grant, d.Brake
		}
	case approval.Succeeded, approval.Failed:
		if o := p.Outcome; o != nil {
			e.At, e.Detail = o.At, w.text(o.Detail)
		}
	case approval.Spent:
		if p.Permit != nil {
			e.At = p.Permit.SpentAt
		}
	case approval.Expired, approval.Withdrawn, approval.Superseded:
		e.At = p.EndedAt
	case approval.Lapsed:
		if p.Permit != nil && p.Permit.Revoked != nil {
			e.by(p.Permit.Revoked)
		}
	case approval.Pending, approval.Unknown:
	}
	return e
}

// routeOf returns the first route that the ask went to.
func routeOf(a *approval.Ask) string {
	if len(a.Routes) == 0 {
		return ""
	}
	return a.Routes[0].Route
}

// seal is everything about an approval that may change only by an event: all except the
// names under which it is found, and its votes, which have events of their own. A change of
// its encoding requires a new form of leaves.
type seal struct {
	Agent    string            `json:"agent"`
	Intent   string            `json:"intent"`
	TurnID   string            `json:"turn_id"`
	OpenedAt time.Time         `json:"opened_at"`
	Approval approval.Approval `json:"approval"`
}

func sealOf(a *approval.Ask, p *approval.Approval) *seal {
	s := &seal{a.Agent, a.Intent, a.TurnID, a.OpenedAt, *p}
	s.Approval.Key, s.Approval.Settled, s.Approval.Votes = "", false, nil
	s.Approval.Grant, s.Approval.Lifted = nil, nil
	return s
}

// leaves collects the leaves of one change.
type leaves struct {
	salts salts
	all   [][]byte
	err   error
}

// add encodes an event, with the sum of the record if there is one.
func (l *leaves) add(e Event, record any) {
	if l.err != nil {
		return
	}
	e.Version, e.Salt, e.At = form, l.salts.next(), e.At.UTC()
	if record != nil {
		if e.Sum, l.err = sum(e.Salt, record); l.err != nil {
			return
		}
	}
	value, err := Encode(&e)
	l.all, l.err = append(l.all, value), err
}
