package approval

import (
	"slices"
	"time"

	"github.com/metnos/vaglio/vaglio"
)

// DropValues drops the values of an ask's calls, if all of them ended before the given
// time: arguments, folders, the user's intent, what judges and the agent said about them.
// What stays is who asked for which tool, how each call was judged and answered, by whom
// and when, and the hashes of the call and of the files that it ran. It reports whether it
// dropped anything.
func (a *Ask) DropValues(before, at time.Time) bool {
	if !a.endedBefore(before) {
		return false
	}
	dropped := false
	for i := range a.Approvals {
		if p := &a.Approvals[i]; p.ValuesDropped.IsZero() {
			p.dropValues(at)
			dropped = true
		}
	}
	if !dropped {
		return false
	}
	a.Intent = ""
	a.Questions = slices.Clone(a.Questions)
	for i := range a.Questions {
		a.Questions[i].Answer = ""
	}
	return true
}

// endedBefore reports whether nothing more can happen to the ask's approvals, and nothing
// has happened since the given time.
func (a *Ask) endedBefore(at time.Time) bool {
	if !a.Over() {
		return false
	}
	for i := range a.Approvals {
		p := &a.Approvals[i]
		switch {
		case !p.EndedAt.Before(at), p.StandsUntil.After(at):
			return false
		case p.Permit != nil && (p.Permit.LapsesAt.After(at) || p.Permit.SpentAt.After(at)):
			return false
		case p.Outcome != nil && p.Outcome.At.After(at):
			return false
		}
	}
	return true
}

func (p *Approval) dropValues(at time.Time) {
	was := &p.Proposal
	p.Proposal = vaglio.Proposal{Agent: was.Agent, Session: was.Session, TurnID: was.TurnID, Step: was.Step, Executor: was.Executor}
	p.Verdict, p.Heads = withoutValues(&p.Verdict), nil
	p.Refusal.Wanted, p.Refusal.Why = clip(was.Executor, maxName), ""
	p.Effect, p.About, p.Like, p.Again = "", nil, nil, nil
	if e := copied(p.Edit); e != nil {
		e.Changed = nil
		p.Edit = e
	}
	if o := copied(p.Outcome); o != nil {
		o.Detail = ""
		p.Outcome = o
	}
	p.ValuesDropped = at
}

// withoutValues returns the verdict without what judges said about the call: it keeps who
// judged it, for what, and how.
func withoutValues(v *vaglio.Verdict) vaglio.Verdict {
	w := *v
	w.Reason, w.Sources, w.Results = "", nil, slices.Clone(v.Results)
	for _, s := range v.Sources {
		if s.SHA256 != "" {
			w.Sources = append(w.Sources, vaglio.Source{Kind: s.Kind, SHA256: s.SHA256, Lines: s.Lines, Bytes: s.Bytes})
		}
	}
	for i := range w.Results {
		g := &w.Results[i]
		g.Reasoning, g.Metadata, g.Signals = "", nil, slices.Clone(g.Signals)
		for j := range g.Signals {
			g.Signals[j] = vaglio.Signal{Category: g.Signals[j].Category, Score: g.Signals[j].Score}
		}
	}
	return w
}
