package report

import (
	"slices"
	"time"

	"github.com/metnos/vaglio/approval"
)

// Fate is what became of a call that judges vetoed. Code that counts goes through
// [EveryFate], so that nothing is computed as the remainder of the others.
type Fate int

// The fates.
const (
	FateAllowed Fate = iota
	FateDenied
	FateExpired
	FateWithdrawn
	FateSuperseded
	FateWaiting
	FateRepeated
	FateUnasked
)

// EveryFate returns all fates, in the order in which they are shown.
func EveryFate() []Fate {
	return []Fate{FateAllowed, FateDenied, FateExpired, FateWithdrawn, FateSuperseded, FateWaiting, FateRepeated, FateUnasked}
}

// String returns the fate's word in the keys of texts.
func (f Fate) String() string {
	return map[Fate]string{
		FateAllowed: "allowed", FateDenied: "denied", FateExpired: "expired", FateWithdrawn: "withdrawn",
		FateSuperseded: "superseded", FateWaiting: "waiting", FateRepeated: "repeated", FateUnasked: "unasked",
	}[f]
}

// Of returns how many calls had the fate.
func (f *Fates) Of(fate Fate) int { return *f.count(fate) }

func (f *Fates) count(fate Fate) *int {
	return [...]*int{
		FateAllowed: &f.Allowed, FateDenied: &f.Denied, FateExpired: &f.Expired, FateWithdrawn: &f.Withdrawn,
		FateSuperseded: &f.Superseded, FateWaiting: &f.Waiting, FateRepeated: &f.Repeated, FateUnasked: &f.Unasked,
	}[fate]
}

// stateAt returns the state that an approval had at an instant, derived from its times.
// What came later is left out.
func stateAt(p *approval.Approval, at time.Time) approval.State {
	switch {
	case p.EndedAt.IsZero() || !p.EndedAt.Before(at):
		return approval.Pending
	case slices.Contains([]approval.State{approval.Denied, approval.Expired, approval.Withdrawn, approval.Superseded}, p.State):
		return p.State
	case p.Permit == nil:
		return approval.Allowed
	default:
		return ranAt(p, at)
	}
}

// ranAt is stateAt for an approval that a person allowed before the instant.
func ranAt(p *approval.Approval, at time.Time) approval.State {
	spent := p.Permit.SpentAt
	if !spent.IsZero() && spent.Before(at) {
		return endedAt(p, at)
	}
	if spent.IsZero() && p.State == approval.Lapsed && p.Permit.LapsesAt.Before(at) {
		return approval.Lapsed
	}
	return approval.Allowed
}

// endedAt is stateAt for an approval whose permit was spent before the instant.
func endedAt(p *approval.Approval, at time.Time) approval.State {
	if o := p.Outcome; o != nil && o.At.Before(at) {
		if o.Succeeded {
			return approval.Succeeded
		}
		return approval.Failed
	}
	if p.State == approval.Unknown && p.Permit.SpentAt.Add(approval.ReportWithin).Before(at) {
		return approval.Unknown
	}
	return approval.Spent
}

// over reports whether nothing more happens to an approval in this state.
func over(s approval.State) bool {
	return s != approval.Pending && s != approval.Allowed && s != approval.Spent
}

// add counts an approval by its state.
func (f *Fates) add(s approval.State) {
	switch s {
	case approval.Pending:
		f.Waiting++
	case approval.Denied:
		f.Denied++
	case approval.Expired:
		f.Expired++
	case approval.Withdrawn:
		f.Withdrawn++
	case approval.Superseded:
		f.Superseded++
	case approval.Allowed, approval.Spent, approval.Lapsed, approval.Succeeded, approval.Failed, approval.Unknown:
		f.Allowed++
		f.Runs.add(s)
	}
}

// join adds the other's counts.
func (f *Fates) join(o *Fates) {
	for _, fate := range EveryFate() {
		*f.count(fate) += o.Of(fate)
	}
	r, runs := &f.Runs, &o.Runs
	r.Succeeded, r.Failed, r.Unknown = r.Succeeded+runs.Succeeded, r.Failed+runs.Failed, r.Unknown+runs.Unknown
	r.Running, r.Unused, r.Lapsed = r.Running+runs.Running, r.Unused+runs.Unused, r.Lapsed+runs.Lapsed
}

// add counts an allowed call by its state.
func (r *Runs) add(s approval.State) {
	switch s {
	case approval.Allowed:
		r.Unused++
	case approval.Spent:
		r.Running++
	case approval.Lapsed:
		r.Lapsed++
	case approval.Succeeded:
		r.Succeeded++
	case approval.Failed:
		r.Failed++
	case approval.Unknown:
		r.Unknown++
	case approval.Pending, approval.Denied, approval.Expired, approval.Withdrawn, approval.Superseded:
	}
}

// asked counts an approval that was asked at the given time, before the window's end, by
// its state at that end.
func (c *Counts) asked(w Window, p *approval.Approval, at time.Time) {
	state := stateAt(p, w.To)
	switch ended := p.EndedAt; {
	case w.Holds(at):
		c.Fates.add(state)
	case ended.IsZero() || !ended.Before(w.From):
		c.Carried.add(state)
	case !over(stateAt(p, w.From)):
		c.Settled.add(state)
	}
}

// summed returns the counts with their sums filled in.
func (c Counts) summed() Counts {
	c.Vetoed = c.Fates.Sum()
	c.Judged = c.Approved + c.Guard + c.Vetoed
	return c
}
