package approval

import "time"

// Telling says how far people were told, beside a card, how its ask ended.
type Telling string

// The steps of telling. A card on a channel that tells nothing has none of them.
const (
	// TellDue: it is to be told when the ask is over.
	TellDue Telling = "due"
	// TellBegun: the telling was begun, and nobody knows whether people can read
	// it. The channel looks before it tells again.
	TellBegun Telling = "begun"
	// Told: people can read it, or nobody can be told.
	Told Telling = "told"
)

// Over reports whether nothing can happen to the ask's approvals any more.
func (a *Ask) Over() bool {
	for i := range a.Approvals {
		if !a.Approvals[i].State.Final() {
			return false
		}
	}
	return true
}

// Owes reports whether people are still to be told, beside the card, how the ask
// ended.
func (s *Shown) Owes(a *Ask) bool {
	return (s.Tell == TellDue || s.Tell == TellBegun) && !s.Gone && s.Ref != "" && a.Over()
}

const (
	// remindShare is the part of an ask's time that is left when people are
	// reminded: late enough that most asks are answered without, early enough
	// to come back to the phone.
	remindShare = 3
	// remindLeast is the least time that a reminder must leave. An ask that is
	// too short for it is over before a reminder is of use.
	remindLeast = 5 * time.Minute
)

// RemindAt returns when people are to be reminded that the ask waits, or the
// zero time when they are not: somebody has answered a part of it, it waits no
// more, or its time is too short.
func (a *Ask) RemindAt() time.Time {
	left := a.ExpiresAt.Sub(a.OpenedAt) / remindShare
	if left < remindLeast || !a.Waiting() {
		return time.Time{}
	}
	for i := range a.Approvals {
		if a.Approvals[i].Decision != nil {
			return time.Time{}
		}
	}
	return a.ExpiresAt.Add(-left)
}
