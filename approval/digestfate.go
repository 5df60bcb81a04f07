package approval

import (
	"slices"
	"time"

	"github.com/metnos/vaglio/vaglio"
)

// stateAt returns in which state an approval was at an instant. Its times tell;
// what came later is left out.
func stateAt(p *Approval, at time.Time) State {
	switch {
	case p.EndedAt.IsZero() || !p.EndedAt.Before(at):
		return Pending
	case slices.Contains([]State{Denied, Expired, Withdrawn, Superseded}, p.State):
		return p.State
	case p.Permit == nil:
		return Allowed
	default:
		return ranAt(p, at)
	}
}

// ranAt is stateAt of an approval that a person allowed before the instant.
func ranAt(p *Approval, at time.Time) State {
	spent := p.Permit.SpentAt
	if !spent.IsZero() && spent.Before(at) {
		return endedAt(p, at)
	}
	if spent.IsZero() && p.State == Lapsed && p.Permit.LapsesAt.Before(at) {
		return Lapsed
	}
	return Allowed
}

// endedAt is stateAt of an approval whose permit was spent before the instant.
func endedAt(p *Approval, at time.Time) State {
	if o := p.Outcome; o != nil && o.At.Before(at) {
		if o.Succeeded {
			return Succeeded
		}
		return Failed
	}
	if p.State == Unknown && p.Permit.SpentAt.Add(ReportWithin).Before(at) {
		return Unknown
	}
	return Spent
}

// over reports whether nothing more happens to an approval in the state.
func over(s State) bool { return s != Pending && s != Allowed && s != Spent }

// add counts an approval in the state.
func (f *Fates) add(s State) {
	switch s {
	case Pending:
		f.Waiting++
	case Denied:
		f.Denied++
	case Expired:
		f.Expired++
	case Withdrawn:
		f.Withdrawn++
	case Superseded:
		f.Superseded++
	case Allowed, Spent, Lapsed, Succeeded, Failed, Unknown:
		f.Allowed++
		f.Runs.add(s)
	}
}

// add counts an allowed call in the state.
func (r *Runs) add(s State) {
	switch s {
	case Allowed:
		r.Unused++
	case Spent:
		r.Running++
	case Lapsed:
		r.Lapsed++
	case Succeeded:
		r.Succeeded++
	case Failed:
		r.Failed++
	case Unknown:
		r.Unknown++
	case Pending, Denied, Expired, Withdrawn, Superseded:
	}
}

// asked counts an approval that was asked at an instant before the window's end,
// in the state that it had at that end.
func (c *Counts) asked(w Window, p *Approval, at time.Time) {
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

// summed returns the counts with their sums.
func (c Counts) summed() Counts {
	c.Vetoed = c.Fates.Sum()
	c.Judged = c.Approved + c.Guard + c.Vetoed
	return c
}

// judgedAt returns when a verdict was given; otherwise is for one that states
// no time.
func judgedAt(v vaglio.Verdict, otherwise time.Time) time.Time {
	if v.TS > 0 {
		return Instant(v.TS)
	}
	return otherwise
}

// judged returns when the step was judged.
func (s *Step) judged() time.Time {
	if s.Verdict == nil {
		return s.At
	}
	return judgedAt(*s.Verdict, s.At)
}

// Instant is the time of a verdict, which is kept in seconds since 1970. The
// audit log has the same number, so both tell the same window.
func Instant(ts float64) time.Time {
	whole := int64(ts)
	return time.Unix(whole, int64((ts-float64(whole))*1e9)).UTC()
}
