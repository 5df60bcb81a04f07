package history

import (
	"time"

	"github.com/metnos/vaglio/approval"
)

// The kinds of events beside an approval's states.
const (
	// Granted says that a call was allowed for more than once, and GrantUsed that
	// the grant allowed a further one; GrantEnded that it is over.
	Granted    Kind = "granted"
	GrantUsed  Kind = "grant-used"
	GrantEnded Kind = "grant-ended"
	// Lifted says that a standing denial answers equal calls no more.
	Lifted Kind = "lifted"
	// Stopped and Resumed are the brake's.
	Stopped Kind = "stopped"
	Resumed Kind = "resumed"
)

// acted tells what people and grants did beside the approval's state.
func (w Writer) acted(l *leaves, a *approval.Ask, before, p *approval.Approval, at time.Time) {
	if p.Lifted != nil && before.Lifted == nil {
		e := w.about(a, p, Lifted, at)
		e.by(p.Lifted)
		l.add(e, nil)
	}
	g := p.Grant
	if g == nil {
		return
	}
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

// by notes who did something, and when.
func (e *Event) by(act *approval.Act) {
	e.At, e.By, e.Name, e.Channel = act.At, act.By.ID, act.By.Name, act.Channel
}

// Brake returns the leaves of a brake that was pulled, or let go.
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
