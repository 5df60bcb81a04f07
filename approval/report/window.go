package report

import (
	"fmt"
	"time"

	"github.com/metnos/vaglio/approval/visible"
)

// Window is the half-open period [From, To) that a digest covers.
type Window struct {
	From time.Time `json:"from"`
	To   time.Time `json:"to"`
}

// Holds reports whether the instant is in the window.
func (w Window) Holds(t time.Time) bool { return !t.Before(w.From) && t.Before(w.To) }

// Hours say when a day's digest is due.
type Hours struct {
	// Minute is the time of day, in minutes since midnight.
	Minute int
	// Zone is where the people are; nil means UTC.
	Zone *time.Location
}

// Window returns the window of the digest that is due on a calendar date. It begins when
// the digest of the day before was due, so windows adjoin; on a day when clocks change it
// is an hour longer or shorter. If the change skips the time of day, the digest is due that
// much later.
func (h Hours) Window(year int, month time.Month, day int) Window {
	return Window{h.due(year, month, day-1), h.due(year, month, day)}
}

// Parse returns the window of a day such as "2026-11-21".
func (h Hours) Parse(day string) (Window, error) {
	t, err := time.Parse(time.DateOnly, day)
	if err != nil {
		return Window{}, &DayError{Day: day}
	}
	return h.Window(t.Date()), nil
}

// Last returns the last window that was over at an instant.
func (h Hours) Last(at time.Time) Window {
	year, month, day := at.In(h.zone()).Date()
	w := h.Window(year, month, day)
	for w.To.After(at) || !w.From.Before(w.To) {
		day--
		w = h.Window(year, month, day)
	}
	return w
}

// Week returns the six adjoining windows before a window, earliest first.
func (h Hours) Week(w Window) []Window {
	week := make([]Window, 6)
	for i, to := len(week)-1, w.From; i >= 0; i-- {
		// If the time of day was changed, so that a window ends at another time, the window
		// before it is shorter than a day.
		from := h.Last(to.Add(-1)).To
		week[i], to = Window{from, to}, from
	}
	return week
}

// After returns the end of the first window that ends after an instant.
func (h Hours) After(at time.Time) time.Time {
	year, month, day := at.In(h.zone()).Date()
	for day--; ; day++ {
		if due := h.due(year, month, day); due.After(at) {
			return due
		}
	}
}

// Day returns the date on which the window's digest is due.
func (h Hours) Day(w Window) string { return w.To.In(h.zone()).Format(time.DateOnly) }

func (h Hours) due(year int, month time.Month, day int) time.Time {
	t := time.Date(year, month, day, h.Minute/60, h.Minute%60, 0, 0, h.zone())
	// A skipped time may have become one before the change, possibly on the previous day,
	// which has its own digest.
	_, offset := t.Zone()
	local := t.Add(time.Duration(offset) * time.Second).UTC()
	if early := time.Date(year, month, day, h.Minute/60, h.Minute%60, 0, 0, time.UTC).Sub(local); early > 0 {
		t = t.Add(early)
	}
	return t.UTC()
}

func (h Hours) zone() *time.Location {
	if h.Zone == nil {
		return time.UTC
	}
	return h.Zone
}

// DayError says that there is no digest for a day.
type DayError struct {
	Day string
	// Early says that the day's digest is not due yet.
	Early bool
	// Kept is how many days back digests exist, if the day is further back; 0 otherwise.
	Kept int
}

func (e *DayError) Error() string {
	if e.Early {
		return fmt.Sprintf("the digest of %s is not due yet", visible.Quote(e.Day, 40))
	}
	if e.Kept > 0 {
		return fmt.Sprintf("the digest of %s cannot be made any more: calls that passed are forgotten after %d days", visible.Quote(e.Day, 40), e.Kept)
	}
	return fmt.Sprintf("%s is not a day such as 2026-11-21", visible.Quote(e.Day, 40))
}
