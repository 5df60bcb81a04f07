package approval

import (
	"fmt"
	"time"
)

// State is where an approval stands in its life.
type State string

// The states of an approval; the picture is in the package comment.
const (
	Pending    State = "pending"    // waits for a person
	Allowed    State = "allowed"    // a person allowed it; the permit is not yet spent
	Denied     State = "denied"     // a person denied it
	Expired    State = "expired"    // nobody answered in time; not the same as denied
	Withdrawn  State = "withdrawn"  // the agent gave up, or its turn ended
	Superseded State = "superseded" // a changed call under the same idempotency key voided it
	Spent      State = "spent"      // the permit was redeemed; the call may be running
	Lapsed     State = "lapsed"     // the permit was not redeemed in its window
	Succeeded  State = "succeeded"  // the agent reported that the call worked
	Failed     State = "failed"     // the agent reported that the call failed
	Unknown    State = "unknown"    // how the call ended will not be known
)

// Event moves an approval from one state to the next.
type Event string

// The events of an approval's life.
const (
	Allow     Event = "allow"
	Deny      Event = "deny"
	Expire    Event = "expire"
	Withdraw  Event = "withdraw"
	Supersede Event = "supersede"
	Redeem    Event = "redeem"
	Lapse     Event = "lapse"
	Succeed   Event = "succeed"
	Fail      Event = "fail"
	Lose      Event = "lose"
)

// lifecycle is the state table. A pair that is not listed is refused.
var lifecycle = map[State]map[Event]State{
	Pending: {Allow: Allowed, Deny: Denied, Expire: Expired, Withdraw: Withdrawn, Supersede: Superseded},
	Allowed: {Redeem: Spent, Lapse: Lapsed},
	Spent:   {Succeed: Succeeded, Fail: Failed, Lose: Unknown},
}

// MoveError says that an event is not possible in a state.
type MoveError struct {
	ID    ID
	State State
	Event Event
}

func (e *MoveError) Error() string {
	return fmt.Sprintf("approval %s is %s: %s is not possible", e.ID, e.State, e.Event)
}

// Move applies e to the approval's state, or returns a [*MoveError] and
// changes nothing.
func (a *Approval) Move(e Event) error {
	to, ok := lifecycle[a.State][e]
	if !ok {
		return &MoveError{a.ID, a.State, e}
	}
	a.State = to
	return nil
}

// Final reports whether no event leads out of s.
func (s State) Final() bool { return len(lifecycle[s]) == 0 }

// Leads reports whether some event leads from s to the state.
func (s State) Leads(to State) bool {
	for _, next := range lifecycle[s] {
		if next == to {
			return true
		}
	}
	return false
}

// The fates that people tell apart where the states do not.
const (
	// FateUnrun is a call that the agent's own client refused, and did not fail.
	FateUnrun = string(Failed) + ".unrun"
	// FateRevoked is a call whose permit was taken back, and did not lapse by itself.
	FateRevoked = string(Lapsed) + ".revoked"
	// FateSetBack is a call that expired before its deadline, because the clock was set back
	// and could no longer tell it.
	FateSetBack = string(Expired) + ".clock"
)

// Fate names how a call stands for people. ended is when it left the pending state.
func Fate(s State, o *Outcome, p *Permit, ended, deadline time.Time) string {
	switch {
	case s == Failed && o != nil && o.NotRun:
		return FateUnrun
	case s == Lapsed && p != nil && p.Revoked != nil:
		return FateRevoked
	case s == Expired && !ended.IsZero() && ended.Before(deadline):
		return FateSetBack
	}
	return string(s)
}
