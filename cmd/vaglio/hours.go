package main

import (
	"strings"
	"time"
	_ "time/tzdata" // a container may have no zones of its own

	"github.com/metnos/vaglio/dispatcher"
)

// zone reads the people's time zone; unset means the system's.
func (m *mistakes) zone(name string, t text) *time.Location {
	if !t.set {
		return time.Local
	}
	zone, err := time.LoadLocation(t.value)
	if err != nil || t.value == "" || t.value == "Local" {
		m.add(name, "%q is not a time zone, such as Europe/Rome or UTC", t.value)
		return time.UTC
	}
	return zone
}

// quiet reads the hours in which people do not want to be disturbed.
func (m *mistakes) quiet(name string, t text, zone *time.Location) dispatcher.Quiet {
	q := dispatcher.Quiet{Zone: zone}
	if !t.set {
		return q
	}
	from, to, _ := strings.Cut(t.value, "-")
	var okFrom, okTo bool
	q.From, okFrom = minuteOfDay(from)
	q.To, okTo = minuteOfDay(to)
	switch {
	case !okFrom || !okTo:
		m.add(name, "%q is not a part of the day, such as 22:00-07:00", t.value)
	case q.From == q.To:
		m.add(name, "%q begins and ends at the same time; unset it to have no quiet hours", t.value)
	}
	return q
}

// minuteOfDay parses a time such as 07:30.
func minuteOfDay(s string) (int, bool) {
	t, err := time.Parse("15:04", strings.TrimSpace(s))
	return t.Hour()*60 + t.Minute(), err == nil
}
