package dispatcher

import "time"

// Quiet is the part of each day in which people do not want to be disturbed:
// cards come without a sound and nobody is reminded. Deadlines run on. The zero
// value is none.
type Quiet struct {
	// From and To are times of the day, in minutes since midnight. To before
	// From is on the next day; To equal to From is no quiet at all.
	From, To int
	// Zone is where the people are; nil means UTC.
	Zone *time.Location
}

// at reports whether the instant is within the quiet hours. They are read off
// the clock on the wall, so a day with a change of the clock has them longer or
// shorter.
func (q Quiet) at(t time.Time) bool {
	local := t.In(q.zone())
	minute := local.Hour()*60 + local.Minute()
	switch {
	case q.From == q.To:
		return false
	case q.From < q.To:
		return q.From <= minute && minute < q.To
	default:
		return q.From <= minute || minute < q.To
	}
}

// after returns the first instant from t on that is not within the quiet hours.
func (q Quiet) after(t time.Time) time.Time {
	if !q.at(t) {
		return t
	}
	local := t.In(q.zone())
	end := time.Date(local.Year(), local.Month(), local.Day(), q.To/60, q.To%60, 0, 0, q.zone())
	if !end.After(t) {
		end = time.Date(local.Year(), local.Month(), local.Day()+1, q.To/60, q.To%60, 0, 0, q.zone())
	}
	return end
}

func (q Quiet) zone() *time.Location {
	if q.Zone == nil {
		return time.UTC
	}
	return q.Zone
}
