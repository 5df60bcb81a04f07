package report

import (
	"fmt"
	"strings"
	"time"

	"github.com/metnos/vaglio/approval/visible"
)

// Range is what a person asks statistics of: the last days, or those from one
// day of the calendar to another.
type Range struct {
	// Days is how many days, today the last; 0 means From and To.
	Days int
	// From and To are the first and the last day, such as "2026-11-21". Without
	// To it is until today.
	From, To string
}

// MaxRange is the most days of a range: ten years, of which a chart of months
// can still be read.
const MaxRange = 3660

// Window returns the range's window: from the first day's midnight to the one
// after the last day. A range that is none is a [*RangeError].
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

// begin returns the first instant of a day. That is not midnight where the clock
// is changed at midnight.
func (h Hours) begin(year int, month time.Month, day int) time.Time {
	at := time.Date(year, month, day, 0, 0, 0, 0, h.zone())
	_, offset := at.Zone()
	if at.Add(time.Duration(offset) * time.Second).Before(time.Date(year, month, day, 0, 0, 0, 0, time.UTC)) {
		_, at = at.ZoneBounds()
	}
	return at.UTC()
}

// days reads the first and the last day.
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
	RangeFrom  RangeFault = "from"  // its first day is none
	RangeTo    RangeFault = "to"    // its last day is none
	RangeOrder RangeFault = "order" // it ends before it begins
	RangeAhead RangeFault = "ahead" // it begins in days to come
	RangeLong  RangeFault = "long"  // it has more than [MaxRange] days
)

// RangeError says why there are no statistics of a range.
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

// Grain is how long the parts are into which a window is cut.
type Grain string

// The grains. A week begins on Monday.
const (
	Hourly  Grain = "hour"
	Daily   Grain = "day"
	Weekly  Grain = "week"
	Monthly Grain = "month"
)

// Grain returns the finest grain in which the window has no more parts than a
// chart can show on a phone: about sixty, a hundred and twenty months at most.
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

// Cut cuts the window into parts that join. They begin where the clocks of the
// zone begin an hour, a day, a week or a month, but the first, which begins with
// the window. A day on which the clock is changed has an hour more or less.
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

// next returns the beginning of the first hour, day, week or month that begins
// after an instant.
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
	// A zone may have left out the day that comes next.
	for {
		if begin := h.begin(year, month, day); begin.After(at) {
			return begin
		}
		step()
	}
}
