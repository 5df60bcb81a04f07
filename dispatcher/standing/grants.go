package standing

import (
	"slices"
	"sync"
	"time"

	"github.com/metnos/vaglio/approval"
)

// Grants are the grants that live, by agent. They say where to look; whether one
// covers a call is decided by the record, where each use is counted before the
// call is allowed.
type Grants struct {
	mu sync.Mutex
	by map[string][]Granted
}

// Granted is a grant that may live.
type Granted struct {
	// ID is the approval on which it hangs, and Key what it covers.
	ID    approval.ID
	Key   string
	About approval.Subjects
	At    time.Time
}

// Keep follows an ask.
func (g *Grants) Keep(ask *approval.Ask) {
	g.mu.Lock()
	defer g.mu.Unlock()
	kept := slices.DeleteFunc(slices.Clone(g.by[ask.Agent]), func(o Granted) bool { return o.ID.Ask() == ask.ID })
	for i := range ask.Approvals {
		if p := &ask.Approvals[i]; p.Grant != nil && p.Grant.State(time.Now()) == approval.GrantLive {
			kept = append(kept, Granted{p.ID, p.Grant.Key, p.About, p.Grant.At})
		}
	}
	if g.by == nil {
		g.by = make(map[string][]Granted)
	}
	if g.by[ask.Agent] = kept; len(kept) == 0 {
		delete(g.by, ask.Agent)
	}
}

// Of returns the agent's grants that fit; those of every agent where it is
// [approval.Everyone].
func (g *Grants) Of(agent string, fits func(*Granted) bool) []approval.ID {
	g.mu.Lock()
	defer g.mu.Unlock()
	var out []approval.ID
	for name, list := range g.by {
		if name != agent && agent != approval.Everyone {
			continue
		}
		for i := range list {
			if fits(&list[i]) {
				out = append(out, list[i].ID)
			}
		}
	}
	slices.Sort(out)
	return out
}
