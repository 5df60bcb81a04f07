package history

import (
	"time"

	"github.com/metnos/vaglio/approval"
)

// The kinds of events other than an approval's states.
const (
	// Granted says that a call was allowed for more than once, GrantUsed that the grant
	// allowed another one, GrantEnded that the grant is over.
	Granted    Kind = "granted"
	GrantUsed  Kind = "grant-used"
	GrantEnded Kind = "grant-ended"
	// KindDenied says that a person denied everything of a call's kind along with it.
	KindDenied Kind = "kind-denied"
	// Lifted says that a standing denial no longer answers equal calls.
	Lifted Kind = "lifted"
	// Edited says that a person denied a call as it was and wants it changed.
	Edited Kind = "edited"
	// Questioned says that a person asked the agent something, Replied what it answered.
	Questioned Kind = "questioned"
	Replied    Kind = "replied"
	// Snoozed says that a person postponed a reminder, HandedOver that one handed an ask
	// over.
	Snoozed    Kind = "snoozed"
	HandedOver Kind = "handed-over"
	// Revealed says that a person was shown the masked values of an ask's calls.
	Revealed Kind = "revealed"
	// ValuesDropped says that the values of an approval's call were dropped from its
	// record, as configured. Its sum covers what stays.
	ValuesDropped Kind = "values-dropped"
	// Stopped and Resumed are about a brake.
	Stopped Kind = "stopped"
	Resumed Kind = "resumed"
)

// acted adds what people and grants did apart from the approval's state.
func (w Writer) acted(l *leaves, a *approval.Ask, before, p *approval.Approval, at time.Time) {
	if p.Kind != nil && before.Kind == nil && p.Decision != nil {
		e := w.about(a, p, KindDenied, p.Decision.At)
		e.by(&approval.Act{By: p.Decision.By, Channel: p.Decision.Channel, At: p.Decision.At})
		e.Until, e.Detail = p.StandsUntil.UTC(), w.text(p.Kind.Verb+" in "+p.Kind.System)
		l.add(e, nil)
	}
	if p.Edit != nil && before.Edit == nil && p.Decision != nil {
		e := w.about(a, p, Edited, p.Decision.At)
		e.by(&approval.Act{By: p.Decision.By, Channel: p.Decision.Channel, At: p.Decision.At})
		e.Form = p.Edit.Approval
		l.add(e, nil)
	}
	if p.Lifted != nil && before.Lifted == nil {
		e := w.about(a, p, Lifted, at)
		e.by(p.Lifted)
		l.add(e, nil)
	}
	if p.Grant != nil {
		w.granted(l, a, before, p)
	}
}

// granted adds what became of a grant.
func (w Writer) granted(l *leaves, a *approval.Ask, before, p *approval.Approval) {
	g := p.Grant
	uses, live := 0, true
	if before.Grant != nil {
		uses, live = len(before.Grant.Uses), before.Grant.Ended == nil
	} else {
		e := w.about(a, p, Granted, g.At)
		e.By, e.Name, e.Channel, e.Until = g.By.ID, w.text(g.By.Name), g.Channel, g.Until.UTC()
		e.Uses = g.Most
		l.add(e, nil)
	}
	for i := uses; i < len(g.Uses); i++ {
		e := w.about(a, p, GrantUsed, g.Uses[i].At)
		e.Ask, e.Uses = g.Uses[i].Ask, i+2
		l.add(e, nil)
	}
	if g.Ended != nil && live {
		e := w.about(a, p, GrantEnded, g.Ended.At)
		e.By, e.Name, e.Detail = g.Ended.By.ID, w.text(g.Ended.By.Name), string(g.Ended.Event)
		l.add(e, nil)
	}
}

// talked adds what people asked an agent about an ask, and its answers.
func (w Writer) talked(l *leaves, before []approval.Question, a *approval.Ask) {
	for i := range a.Questions {
		q, e := &a.Questions[i], Event{Agent: a.Agent, Turn: w.text(a.TurnID), Ask: a.ID}
		if i >= len(before) {
			e.Kind, e.At, e.By, e.Name, e.Channel, e.Words = Questioned, q.At, q.By.ID, w.text(q.By.Name), q.Channel, w.text(q.Words)
			l.add(e, nil)
		}
		if !q.Open() && (i >= len(before) || before[i].Open()) {
			l.add(Event{Kind: Replied, At: q.AnsweredAt, Agent: a.Agent, Turn: e.Turn, Ask: a.ID, Detail: w.text(q.Answer)}, nil)
		}
	}
}

// handled adds what people did to an ask as a whole: postponed a reminder, handed it over,
// looked at what is masked.
func (w Writer) handled(l *leaves, before *Before, a *approval.Ask) {
	about := func(k Kind, act *approval.Act) Event {
		e := Event{Kind: k, Agent: a.Agent, Turn: w.text(a.TurnID), Ask: a.ID}
		e.by(act)
		e.Name = w.text(e.Name)
		return e
	}
	if s := a.Snoozed; s != nil && (before.snoozed == nil || *before.snoozed != *s) {
		e := about(Snoozed, &s.Act)
		e.Until = s.Until.UTC()
		l.add(e, nil)
	}
	for i := before.handed; i < len(a.Handed); i++ {
		e := about(HandedOver, &a.Handed[i].Act)
		e.Detail = w.text(a.Handed[i].To)
		l.add(e, nil)
	}
	if r := a.Revealed; r != nil && (before.revealed == nil || *before.revealed != *r) {
		l.add(about(Revealed, r), nil)
	}
}

// by records who did something, and when.
func (e *Event) by(act *approval.Act) {
	e.At, e.By, e.Name, e.Channel = act.At, act.By.ID, act.By.Name, act.Channel
}

// Brake returns the leaves of a brake that was pulled or released.
func (w Writer) Brake(b *approval.Brake, seed string) ([][]byte, error) {
	e := Event{
		Kind: Stopped, At: b.At, Agent: b.Agent, By: b.By.ID, Name: w.text(b.By.Name), Channel: b.Channel, Words: w.text(b.Words), Until: b.Until.UTC(),
	}
	if b.Released != nil {
		e.Kind, e.Words = Resumed, ""
		e.by(b.Released)
	}
	return w.Note(e, seed)
}
