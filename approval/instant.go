package approval

import (
	"time"

	"github.com/metnos/vaglio/vaglio"
)

// JudgedAt returns when a verdict was given; otherwise is for one that states
// no time.
func JudgedAt(v vaglio.Verdict, otherwise time.Time) time.Time {
	if v.TS > 0 {
		return Instant(v.TS)
	}
	return otherwise
}

// Judged returns when the step was judged.
func (s *Step) Judged() time.Time {
	if s.Verdict == nil {
		return s.At
	}
	return JudgedAt(*s.Verdict, s.At)
}

// Instant is the time of a verdict, which is kept in seconds since 1970. The
// audit log has the same number, so both tell the same window.
func Instant(ts float64) time.Time {
	whole := int64(ts)
	return time.Unix(whole, int64((ts-float64(whole))*1e9)).UTC()
}
