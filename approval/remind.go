package approval

import "time"

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
