package dispatcher

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/metnos/vaglio/approval"
)

// denials are the people's denials that still stand, by what the denied call
// would have done. A call that would do the same to the same targets, in
// whatever spelling, gets the old answer: an agent cannot reword its way past
// a no. Nothing is decided here: what a denial says is read from the store.
type denials struct {
	mu    sync.Mutex
	by    map[sameEffect]denied
	sweep time.Time
}

// sameEffect names what an agent's call would do.
type sameEffect struct{ agent, effect string }

// denied is a denial that stands until an instant.
type denied struct {
	id    approval.ID
	until time.Time
}

// keep follows an ask: its standing denials are kept, until each ends.
func (n *denials) keep(ask *approval.Ask, standFor time.Duration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.by == nil {
		n.by = make(map[sameEffect]denied)
	}
	now := time.Now()
	if now.After(n.sweep) {
		for key, d := range n.by {
			if !now.Before(d.until) {
				delete(n.by, key)
			}
		}
		n.sweep = now.Add(standFor)
	}
	for i := range ask.Approvals {
		a := &ask.Approvals[i]
		if a.Effect == "" || a.State != approval.Denied {
			continue
		}
		if until := a.EndedAt.Add(standFor); now.Before(until) {
			n.by[sameEffect{ask.Agent, a.Effect}] = denied{a.ID, until}
		}
	}
}

// find returns the standing denial of a call with the effect.
func (n *denials) find(agent, effect string) (approval.ID, bool) {
	if effect == "" {
		return "", false
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	d, ok := n.by[sameEffect{agent, effect}]
	return d.id, ok && time.Now().Before(d.until)
}

// recall takes up the denials that an earlier process left standing.
func (d *Dispatcher) recall(ctx context.Context) error {
	oldest := time.Now().Add(-d.deadlines.AskFor - d.deadlines.DenialStands)
	for ask, err := range d.records.Asks(ctx, approval.Query{Newest: true}) {
		if err != nil {
			return fmt.Errorf("dispatcher: recall denials: %w", err)
		}
		if ask.Is.OpenedAt.Before(oldest) {
			return nil
		}
		d.denials.keep(&ask.Is, d.deadlines.DenialStands)
	}
	return nil
}
