package standing

import (
	"slices"
	"time"

	"github.com/metnos/vaglio/approval"
)

// Allowances are what people allowed a moment ago, by agent. They allow nothing: the card
// of a call that equals or resembles one offers, in sight, the grant that would save the
// next question.
type Allowances struct{ by byAgent[Allowed] }

// Allowed is a call that a person allowed.
type Allowed struct {
	// ID is its approval, and Key what a grant for it covers.
	ID    approval.ID
	Key   string
	About approval.Subjects
	// At is when a person allowed it or, if its grant is used up, when that happened.
	At     time.Time
	UsedUp bool
}

// Lately is how long an allowance counts as recent.
const Lately = time.Hour

// Keep updates the allowances from an ask.
func (l *Allowances) Keep(ask *approval.Ask) {
	var more []Allowed
	for i := range ask.Approvals {
		if a, ok := allowed(&ask.Approvals[i]); ok {
			more = append(more, a)
		}
	}
	l.by.keep(ask.Agent, func(a Allowed) bool { return a.ID.Ask() == ask.ID || a.over() }, more)
}

// over reports whether it was given too long ago.
func (a *Allowed) over() bool { return time.Since(a.At) >= Lately }

// allowed returns what a person allowed, if they may allow more of it.
func allowed(p *approval.Approval) (Allowed, bool) {
	d := p.Decision
	if d == nil || d.Choice != approval.ChoiceAllow || d.Grant != "" || p.Grantable == "" {
		return Allowed{}, false
	}
	a := Allowed{ID: p.ID, Key: p.Grantable, About: p.About, At: d.At}
	if g := p.Grant; g != nil && len(g.Uses) > 0 && g.Used() >= g.Most {
		a.At, a.UsedUp = g.Uses[len(g.Uses)-1].At, true
	}
	return a, true
}

// Again returns the newest allowance of an equal call or, without one, of a similar call;
// nil if there is none. If the person used up a grant, a larger one is worth offering: most
// is then how many calls it covers, else 0.
func (l *Allowances) Again(agent, key string, about approval.Subjects) (like *approval.Likeness, most int) {
	if key == "" {
		return nil, 0
	}
	late := slices.DeleteFunc(l.by.of(agent), func(a Allowed) bool { return a.over() })
	slices.SortStableFunc(late, func(a, b Allowed) int { return b.At.Compare(a.At) })
	for i := range late {
		a := &late[i]
		if a.Key != key {
			continue
		}
		if like == nil {
			like = &approval.Likeness{Approval: a.ID, At: a.At}
		}
		if a.UsedUp {
			return like, approval.MaxUses
		}
	}
	for i := range late { // none is closer than an equal one
		like = nearer(like, about, approval.Likeness{Approval: late[i].ID, At: late[i].At}, late[i].About)
	}
	return like, 0
}
