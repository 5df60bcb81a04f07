package report

import (
	"time"

	"github.com/metnos/vaglio/approval"
)

// Statistics show how the gate was used in a window: whether it is too strict or too lax,
// what causes interruptions, and how people answer. They are computed from the records
// alone, and their counts are those of the digest of the same window.
type Statistics struct {
	// Window is in the people's time zone, and so are all other times.
	Window Window
	Grain  Grain
	// Since is when the record of all calls begins, if that is within the window: from
	// before it, only what was put to a person is kept.
	Since  time.Time
	Counts Counts
	// Unread are the parts of the turn log that cannot be read, as in [Digest].
	Unread approval.UnreadParts
	// Spans are the window's contiguous parts, oldest first. Their numbers add up to the
	// counts of the whole.
	Spans []Span
	// Executors, Effects, Rules and Agents are those with the most vetoes and, at the end
	// and without a name, the sum of all others.
	Executors, Effects, Rules, Agents []Usage
	// Judges are the scores that judges gave, the judge with the most first.
	Judges []Scores
	Delays Delays
	Turns  Turns
	// Night is what counts as night.
	Night Night
}

// Span is a part of a window: an hour, day, week or month, as far as the window covers it.
type Span struct {
	Window
	// Approved, Guard and Errors are as in [Counts]. So are Fates: they show how the span's
	// calls stand at the end of the whole window.
	Approved, Guard, Errors int
	Fates                   Fates
	// Newest is the [approval.Entry.Cursor] of the span's newest step; 0 if it has none.
	Newest uint64
}

// Judged returns how many calls were judged in the span.
func (s *Span) Judged() int { return s.Approved + s.Guard + s.Fates.Sum() }

// Usage is how often calls of one name were judged and vetoed, and what people answered.
type Usage struct {
	// Name is the name of the executor, agent, guard rule or effect, with secrets masked;
	// empty stands for everything not listed.
	Name string
	// Whole says that Name is the complete name, as an [approval.Filter] takes it.
	Whole bool
	// Judged counts all calls, Guard those that the guard denied. Neither is known for an
	// effect, and only Guard for a rule.
	Judged, Guard int
	// Fates are what became of those that judges denied.
	Fates Fates
}

// Vetoed returns how many calls judges denied.
func (u *Usage) Vetoed() int { return u.Fates.Sum() }

// add adds the other's counts.
func (u *Usage) add(o *Usage) {
	u.Judged, u.Guard = u.Judged+o.Judged, u.Guard+o.Guard
	u.Fates.join(&o.Fates)
}

// Scores are how one judge graded.
type Scores struct {
	// Judge is the judge's name; empty stands for all that are not listed.
	Judge string
	// Graded is how many calls it graded, Refused how many of those it stopped.
	Graded, Refused int
	// Bins count the grades: bin i has those in [i/100, (i+1)/100), the last one also the
	// grade 1.
	Bins [scoreBins]int
}

// Below returns how many grades are below a score, rounded to a hundredth.
func (s *Scores) Below(score float64) int {
	n := 0
	for _, c := range s.Bins[:scoreBin(score)] {
		n += c
	}
	return n
}

// Delays are how long people took to answer. Each call of a plan counts as an answer of its
// own, even if the plan was answered as a whole.
type Delays struct {
	// Answers is how many decisions people made in the window.
	Answers int
	// Median and P90 are the times within which half and nine tenths of them were made,
	// accurate to [DelayError].
	Median, P90 time.Duration
	// Hasty are the calls allowed within [HastyWithin], as in [Habit].
	Hasty int
	// AtNight are the answers given at night.
	AtNight int
	// Within count the answers by how long they took.
	Within []Delay
}

// Delay counts answers that took less than Limit, and no less than the limit before it.
// There is no limit if it is 0.
type Delay struct {
	Limit time.Duration
	Count int
}

// Turns are how many cards the agents' turns caused.
type Turns struct {
	// Turns is how many turns did something in the window.
	Turns int
	// Cards are the cards opened in the window, AtNight those opened at night, Loose those
	// for calls that belong to no turn.
	Cards, AtNight, Loose int
	// Most is the most cards of one turn.
	Most int
	// With counts the turns by their number of cards.
	With []TurnsWith
}

// TurnsWith counts turns with at least From cards, and fewer than the next From.
type TurnsWith struct{ From, Count int }

// Night is the part of each day in which people sleep, in minutes since midnight.
type Night struct{ From, To int }

// DefaultNight returns ten in the evening until seven in the morning.
func DefaultNight() Night { return Night{22 * 60, 7 * 60} }

// holds reports whether a local time is in the night.
func (n Night) holds(local time.Time) bool {
	minute := local.Hour()*60 + local.Minute()
	if n.From <= n.To {
		return n.From <= minute && minute < n.To
	}
	return n.From <= minute || minute < n.To
}

// How much statistics keep apart. The rest is summed up.
const (
	// statisticsNames bounds what is listed by name.
	statisticsNames = 12
	// longestName is how much of a name is kept, in characters.
	longestName = 100
	// scoreBins is the resolution of scores: a hundredth.
	scoreBins = 100
)
