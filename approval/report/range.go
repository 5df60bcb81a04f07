package report

import (
	"fmt"
	"strings"
	"time"

	"github.com/metnos/vaglio/approval/visible"
)

// Range is the period that a person wants statistics for: the last days, or the days from
// one calendar date to another.
type Range struct {
	// Days is the number of days up to and including today; 0 means From and To.
	Days int
	// From and To are the first and the last day, such as "2026-11-21". An empty To means
	// today.
	From, To string
}

// MaxRange is the most days of a range: ten years, for which a chart of months is still
// readable.
const MaxRange = 3660

// Window returns the range's window, from midnight of the first day to midnight after the
// last. It returns a [*RangeError] for an invalid range.
func (r Range) Window(now time.Time, zone *time.Location) (Window, error) {
	h := Hours{Zone: zone}
	year, month, day := now.In(h.zone()).Date()
	today := time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
	from, to := today.AddDate(0, 0, 1-r.Days), today
	if r.Days < 0 || r.Days > MaxRange {
		return Window{}, &RangeError{r, RangeLong}
	}
	if r.Days == 0 {
		var err error
		if from, to, err = r.days(today); err != nil {
			return Window{}, err
		}
	}
	return Window{h.begin(from.Date()), h.begin(to.AddDate(0, 0, 1).Date())}, nil
}

// begin returns the first instant of a day. It is not midnight if clocks change at
// midnight.
func (h Hours) begin(year int, month time.Month, day int) time.Time {
	at := time.Date(year, month, day, 0, 0, 0, 0, h.zone())
	_, offset := at.Zone()
	if at.Add(time.Duration(offset) * time.Second).Before(time.Date(year, month, day, 0, 0, 0, 0, time.UTC)) {
		_, at = at.ZoneBounds()
	}
	return at.UTC()
}

// days parses the first and the last day.
func (r Range) days(today time.Time) (from, to time.Time, err error) {
	to = today
	if text := strings.TrimSpace(r.From); text == "" {
		return from, to, &RangeError{r, RangeOpen}
	} else if from, err = time.Parse(time.DateOnly, text); err != nil {
		return from, to, &RangeError{r, RangeFrom}
	}
	if text := strings.TrimSpace(r.To); text != "" {
		if to, err = time.Parse(time.DateOnly, text); err != nil {
			return from, to, &RangeError{r, RangeTo}
		}
	}
	switch {
	case from.After(today):
		return from, to, &RangeError{r, RangeAhead}
	case to.Before(from):
		return from, to, &RangeError{r, RangeOrder}
	case to.Sub(from) >= MaxRange*24*time.Hour:
		return from, to, &RangeError{r, RangeLong}
	}
	return from, to, nil
}

// RangeFault is what is wrong with a range.
type RangeFault string

// The faults of a range.
const (
	RangeOpen  RangeFault = "open"  // it has no first day
	RangeFrom  RangeFault = "from"  // its first day is not a date
	RangeTo    RangeFault = "to"    // its last day is not a date
	RangeOrder RangeFault = "order" // it ends before it begins
	RangeAhead RangeFault = "ahead" // it begins in the future
	RangeLong  RangeFault = "long"  // it has more than [MaxRange] days
)

// RangeError says why there are no statistics for a range.
type RangeError struct {
	Range Range
	Fault RangeFault
}

func (e *RangeError) Error() string {
	const most = 40
	switch e.Fault {
	case RangeOpen:
		return "a range needs its first day"
	case RangeFrom:
		return fmt.Sprintf("%s is not a day such as 2026-11-21", visible.Quote(e.Range.From, most))
	case RangeTo:
		return fmt.Sprintf("%s is not a day such as 2026-11-21", visible.Quote(e.Range.To, most))
	case RangeOrder:
		return fmt.Sprintf("%s is before %s", visible.Quote(e.Range.To, most), visible.Quote(e.Range.From, most))
	case RangeAhead:
		return fmt.Sprintf("%s has not come yet", visible.Quote(e.Range.From, most))
	default:
		return fmt.Sprintf("a range has at most %d days", MaxRange)
	}
}

// Grain is the length of the parts into which a window is cut.
type Grain string

// The grains. A week begins on Monday.
const (
	Hourly  Grain = "hour"
	Daily   Grain = "day"
	Weekly  Grain = "week"
	Monthly Grain = "month"
)

// Grain returns the finest grain that gives no more parts than a chart can show on a phone:
// about sixty, or at most a hundred and twenty months.
func (w Window) Grain() Grain {
	switch days := w.To.Sub(w.From).Hours() / 24; {
	case days < 2.5:
		return Hourly
	case days < 62.5:
		return Daily
	case days < 380:
		return Weekly
	default:
		return Monthly
	}
}

// Cut cuts the window into contiguous parts. They begin where an hour, a day, a week or a
// month begins in the zone, except for the first one, which begins with the window. A day
// on which clocks change is an hour longer or shorter.
func (w Window) Cut(g Grain, zone *time.Location) []Window {
	h := Hours{Zone: zone}
	var parts []Window
	for from := w.From; from.Before(w.To); {
		to := h.next(from, g)
		if to.After(w.To) {
			to = w.To
		}
		parts = append(parts, Window{from, to})
		from = to
	}
	return parts
}

// next returns the start of the first hour, day, week or month that begins after an
// instant.
func (h Hours) next(at time.Time, g Grain) time.Time {
	local := at.In(h.zone())
	year, month, day := local.Date()
	step := func() { day++ }
	switch g {
	case Hourly:
		past := time.Duration(local.Minute())*time.Minute + time.Duration(local.Second())*time.Second + time.Duration(local.Nanosecond())
		return at.Add(time.Hour - past).UTC()
	case Weekly:
		day, step = day+7-(int(local.Weekday())+6)%7, func() { day += 7 }
	case Monthly:
		day, month, step = 1, month+1, func() { month++ }
	case Daily:
		day++
	}
	// A zone may have skipped the next day.
	for {
		if begin := h.begin(year, month, day); begin.After(at) {
			return begin
		}
		step()
	}
}
