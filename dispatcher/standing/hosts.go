package standing

import (
	"slices"
	"sync"

	"github.com/metnos/vaglio/approval"
)

// Hosts are the asks that further calls of their turn may join, by agent. A call that
// would do the same in the same system as one that waits is put on its card, so that
// people see both and are asked once.
type Hosts struct {
	mu sync.Mutex
	by map[string][]approval.Ask
}

// Keep follows an ask.
func (h *Hosts) Keep(ask *approval.Ask) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.by == nil {
		h.by = make(map[string][]approval.Ask)
	}
	kept := slices.DeleteFunc(h.by[ask.Agent], func(a approval.Ask) bool { return a.ID == ask.ID })
	if ask.TakesMore() {
		kept = append(kept, host(ask))
	}
	if h.by[ask.Agent] = kept; len(kept) == 0 {
		delete(h.by, ask.Agent)
	}
}

// host keeps of an ask what tells whether a call is akin to it.
func host(ask *approval.Ask) approval.Ask {
	kept := approval.Ask{ID: ask.ID, TurnID: ask.TurnID, Intent: ask.Intent, Routes: ask.Routes}
	for i := range ask.Approvals {
		kept.Approvals = append(kept.Approvals, approval.Approval{About: ask.Approvals[i].About})
	}
	return kept
}

// Akin are the asks of the calls' turn that show what is akin to each of them, the
// newest first. Whether the calls can join them is theirs to say.
func (h *Hosts) Akin(o *approval.Opening) (ids []approval.AskID) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, a := range slices.Backward(h.by[o.Agent]) {
		if a.TurnID == o.TurnID && a.Intent == o.Intent && a.RoutedTo() == o.Route.Name &&
			!slices.ContainsFunc(o.Calls, func(c approval.Call) bool { return !a.Akin(c.About) }) {
			ids = append(ids, a.ID)
		}
	}
	return ids
}
