package report

import "time"

// Statistics tell how the gate was used in a window: whether it is too strict or
// too lax, what causes interruptions, and how people answer. They are computed
// from the records alone, and their counts are those of the digest of the same
// window.
type Statistics struct {
	// Window is told in the zone of the people, and so are all other times.
	Window Window
	Grain  Grain
	// Since is when the record of all calls begins, where that is within the
	// window: before it only what was put to a person is kept.
	Since  time.Time
	Counts Counts
	// Spans are the window's parts, oldest first. They join, and their numbers
	// add up to the counts of the whole.
	Spans []Span
	// Executors, Effects, Rules and Agents are those with the most vetoes, and
	// last, without a name, the sum of all others.
	Executors, Effects, Rules, Agents []Usage
	// Judges are the scores that judges gave, the judge with the most first.
	Judges []Scores
	Delays Delays
	Turns  Turns
	// Night is what counts as night.
	Night Night
}

// Span is a part of a window: the hour, day, week or month, as far as the
// window has it.
type Span struct {
	Window
	// Approved, Guard and Errors are as in [Counts], and Fates too: they tell how
	// the span's calls stand at the end of the whole window.
	Approved, Guard, Errors int
	Fates                   Fates
	// Newest is the [Entry.Cursor] of the span's newest step; 0 without one.
	Newest uint64
}

// Judged returns how many calls were judged in the span.
func (s *Span) Judged() int { return s.Approved + s.Guard + s.Fates.Sum() }

// Usage is how often calls of one name were judged and vetoed, and what people
// answered.
type Usage struct {
	// Name is the executor's, the agent's, the guard's rule or the effect's,
	// with secrets masked; empty stands for all that are not listed.
	Name string
	// Whole says that Name is all of the name, as a [approval.Filter] takes it.
	Whole bool
	// Judged counts all calls, and Guard those that the guard denied. Of an effect
	// neither is known, of a rule only Guard.
	Judged, Guard int
	// Fates are what became of those that judges denied.
	Fates Fates
}

// Vetoed is how many calls judges denied.
func (u *Usage) Vetoed() int { return u.Fates.Sum() }

// add counts the other's calls too.
func (u *Usage) add(o *Usage) {
	u.Judged, u.Guard = u.Judged+o.Judged, u.Guard+o.Guard
	u.Fates.join(&o.Fates)
}

// Scores are how one judge graded.
type Scores struct {
	// Judge is the judge's name; empty stands for all that are not listed.
	Judge string
	// Graded is how many calls it graded, and Refused how many of them it stopped.
	Graded, Refused int
	// Bins count the grades: bin i has those from i/100 on and below (i+1)/100,
	// the last one also the grade 1.
	Bins [scoreBins]int
}

// Below returns how many grades are below a score, to a hundredth.
func (s *Scores) Below(score float64) int {
	n := 0
	for _, c := range s.Bins[:scoreBin(score)] {
		n += c
	}
	return n
}

// Delays are how long people took to answer. A call of a plan that was answered
// as a whole counts as one answer.
type Delays struct {
	// Answers is how many decisions people made in the window.
	Answers int
	// Median and P90 are the time within which half and nine in ten of them were
	// made, right to [DelayError].
	Median, P90 time.Duration
	// Hasty are the allowances within [HastyWithin] of the asking, as in [Habit].
	Hasty int
	// AtNight are the answers given at night.
	AtNight int
	// Within count the answers by how long they took.
	Within []Delay
}

// Delay counts answers that took less than Limit, and not less than the limit
// before it. Limit 0 is without an end.
type Delay struct {
	Limit time.Duration
	Count int
}

// Turns are how many cards the agents' turns caused.
type Turns struct {
	// Turns is how many turns did something in the window.
	Turns int
	// Cards were opened in the window, AtNight of them at night. Loose are those
	// of calls that belong to no turn.
	Cards, AtNight, Loose int
	// Most is the most cards of one turn.
	Most int
	// With count the turns by their cards.
	With []TurnsWith
}

// TurnsWith counts turns with at least From cards, and fewer than the next.
type TurnsWith struct{ From, Count int }

// Night is the part of each day in which people sleep, in minutes since
// midnight.
type Night struct{ From, To int }

// DefaultNight is from ten in the evening until seven.
func DefaultNight() Night { return Night{22 * 60, 7 * 60} }

// holds reports whether a time on the clock is in the night.
func (n Night) holds(local time.Time) bool {
	minute := local.Hour()*60 + local.Minute()
	if n.From <= n.To {
		return n.From <= minute && minute < n.To
	}
	return n.From <= minute || minute < n.To
}

// How much statistics tell apart. What is more is summed.
const (
	// statisticsNames bounds what is listed by name.
	statisticsNames = 12
	// longestName is what of a name is kept, in characters.
	longestName = 100
	// scoreBins is how finely scores are told apart: to a hundredth.
	scoreBins = 100
)
