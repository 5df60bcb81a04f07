// Package standing tracks which of people's answers still hold: denials that answer equal
// calls, grants that cover some, allowances after which a grant is offered, brakes that
// stop agents, and open asks that similar calls join. It says where to look; what each of
// them says, and whether it still does, is in its record.
package standing

import (
	"slices"
	"time"

	"github.com/metnos/vaglio/approval"
)

// Denials are the people's denials that still stand, by agent. A call that would do the
// same as a denied one, in whatever spelling, gets the old answer: an agent cannot reword
// its way past a no. A call that is only similar is asked, and its card says so. Nothing is
// decided here: what a denial says is read from the store.
type Denials struct{ by byAgent[Denied] }

// Denied is a denial that stands until a given time.
type Denied struct {
	// ID is the approval that was denied, Effect the key of what it is about, and Kind what
	// was denied with it, whatever the object.
	ID     approval.ID
	Effect string
	About  approval.Subjects
	Kind   *approval.CallKind
	// At is when it was denied, and By who denied it; Until is when it stops answering.
	At, Until time.Time
	By        approval.Person
}

// Keep updates the denials from an ask: its standing denials are kept until each ends or is
// lifted.
func (n *Denials) Keep(ask *approval.Ask) {
	now := time.Now()
	var more []Denied
	for i := range ask.Approvals {
		if a := &ask.Approvals[i]; a.Answers(now) && a.Effect != "" {
			more = append(more, Denied{a.ID, a.Effect, a.About, a.Kind, a.EndedAt, a.StandsUntil, a.Decision.By})
		}
	}
	n.by.keep(ask.Agent, func(d Denied) bool { return !now.Before(d.Until) || d.ID.Ask() == ask.ID }, more)
}

// of reports whether the denial is of everything of a kind, and one of the subjects is of
// that kind.
func (d *Denied) of(about approval.Subjects) bool { return d.Kind != nil && about.Of(*d.Kind) }

// Covers reports whether it denies what the subjects say, or something like it.
func (d *Denied) Covers(about approval.Subjects) bool {
	_, _, near := about.Near(d.About)
	return near || about.Key() == d.Effect || d.of(about)
}

// Find returns the newest standing denial of a call with the effect, or of a kind that the
// call belongs to.
func (n *Denials) Find(agent, effect string, about approval.Subjects) (approval.ID, bool) {
	for _, d := range slices.Backward(n.by.of(agent)) {
		if (d.Effect == effect || d.of(about)) && time.Now().Before(d.Until) {
			return d.ID, true
		}
	}
	return "", false
}

// Like returns the standing denial that a call resembles most, or nil.
func (n *Denials) Like(agent string, about approval.Subjects) *approval.Likeness {
	var best *approval.Likeness
	for _, d := range slices.Backward(n.by.of(agent)) {
		if !time.Now().Before(d.Until) {
			continue
		}
		best = nearer(best, about, approval.Likeness{Approval: d.ID, At: d.At}, d.About)
	}
	return best
}

// nearer returns answer if a call is similar to the others it is about, and closer to those
// than to the best one so far; otherwise it returns best.
func nearer(best *approval.Likeness, about approval.Subjects, answer approval.Likeness, others approval.Subjects) *approval.Likeness {
	kind, differences, near := about.Near(others)
	if !near || best != nil && len(differences) >= len(best.Differences) {
		return best
	}
	answer.Kind, answer.Differences = kind, differences
	return &answer
}

// Of returns the agent's standing denials.
func (n *Denials) Of(agent string) []Denied { return n.by.of(agent) }

// Agents returns the agents with a standing denial.
func (n *Denials) Agents() []string { return n.by.agents() }
