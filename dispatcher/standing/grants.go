package standing

import (
	"slices"
	"time"

	"github.com/metnos/vaglio/approval"
)

// Grants are the live grants, by agent. They say where to look; whether one covers a call
// is decided by the record, where each use is counted before the call is allowed.
type Grants struct{ by byAgent[Granted] }

// Granted is a grant that may be live.
type Granted struct {
	// ID is the approval that it belongs to, and Key what it covers.
	ID    approval.ID
	Key   string
	About approval.Subjects
	At    time.Time
}

// Keep updates the grants from an ask.
func (g *Grants) Keep(ask *approval.Ask) {
	var more []Granted
	for i := range ask.Approvals {
		if p := &ask.Approvals[i]; p.Grant != nil && p.Grant.State(time.Now()) == approval.GrantLive {
			more = append(more, Granted{p.ID, p.Grant.Key, p.About, p.Grant.At})
		}
	}
	g.by.keep(ask.Agent, func(o Granted) bool { return o.ID.Ask() == ask.ID }, more)
}

// Of returns the agent's grants that fit, or those of every agent for [approval.Everyone].
func (g *Grants) Of(agent string, fits func(*Granted) bool) []approval.ID {
	agents := []string{agent}
	if agent == approval.Everyone {
		agents = g.by.agents()
	}
	var out []approval.ID
	for _, name := range agents {
		for _, o := range g.by.of(name) {
			if fits(&o) {
				out = append(out, o.ID)
			}
		}
	}
	slices.Sort(out)
	return out
}
