package standing

import (
	"slices"

	"github.com/metnos/vaglio/approval"
)

// Hosts are the asks that further calls of their turn may join, by agent. A call that would
// do the same in the same system as one that waits is put on its card, so that people see
// both and are asked once.
type Hosts struct{ by byAgent[approval.Ask] }

// Keep updates the hosts from an ask.
func (h *Hosts) Keep(ask *approval.Ask) {
	var more []approval.Ask
	if ask.TakesMore() {
		more = []approval.Ask{host(ask)}
	}
	h.by.keep(ask.Agent, func(a approval.Ask) bool { return a.ID == ask.ID }, more)
}

// host keeps the part of an ask that tells whether a call is akin to it.
func host(ask *approval.Ask) approval.Ask {
	kept := approval.Ask{ID: ask.ID, TurnID: ask.TurnID, Intent: ask.Intent, Routes: ask.Routes}
	for i := range ask.Approvals {
		kept.Approvals = append(kept.Approvals, approval.Approval{About: ask.Approvals[i].About})
	}
	return kept
}

// Akin returns the asks of the calls' turn that show something akin to each of the calls,
// newest first. Whether the calls can join is up to the ask.
func (h *Hosts) Akin(o *approval.Opening) (ids []approval.AskID) {
	for _, a := range slices.Backward(h.by.of(o.Agent)) {
		if a.TurnID == o.TurnID && a.Intent == o.Intent && a.RoutedTo() == o.Route.Name &&
			!slices.ContainsFunc(o.Calls, func(c approval.Call) bool { return !a.Akin(c.About) }) {
			ids = append(ids, a.ID)
		}
	}
	return ids
}
