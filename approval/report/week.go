package report

import (
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/vaglio"
)

// Day is what was counted in one window of a week.
type Day struct {
	Window Window `json:"window"`
	Counts Counts `json:"counts"`
}

// week returns the counted days, the builder's own window last.
func (b *DigestBuilder) week() []Day {
	week := make([]Day, 0, len(b.days)+1)
	for _, d := range b.days {
		week = append(week, Day{d.Window, d.Counts.summed()})
	}
	return append(week, Day{b.window, b.counts.summed()})
}

// askedDays counts an approval in the windows before the builder's own.
func (b *DigestBuilder) askedDays(p *approval.Approval, at time.Time) {
	for i := range b.days {
		if d := &b.days[i]; at.Before(d.Window.To) {
			d.Counts.asked(d.Window, p, at)
		}
	}
}

// countsAt returns the counts of the window that contains an instant, or nil.
func (b *DigestBuilder) countsAt(at time.Time) *Counts {
	if b.window.Holds(at) {
		return &b.counts
	}
	for i := range b.days {
		if b.days[i].Window.Holds(at) {
			return &b.days[i].Counts
		}
	}
	return nil
}

// opened reports whether the step opened an approval: it is then counted with the ask.
func (b *DigestBuilder) opened(s *approval.Step, at time.Time) bool {
	asked := b.asked[s.Approval]
	if s.Approval == "" || asked == nil || asked.opened || !at.Equal(asked.at) {
		return false
	}
	asked.opened = true
	return true
}

// step counts a step that opened no approval.
func (c *Counts) step(s *approval.Step) {
	switch {
	case s.Verdict == nil:
		c.Errors++
	case s.Verdict.Approved:
		c.Approved++
	case s.Verdict.BlockedBy == vaglio.PhaseGuard:
		c.Guard++
	case s.Approval == "":
		c.Fates.Unasked++
	default:
		c.Fates.Repeated++
	}
}
