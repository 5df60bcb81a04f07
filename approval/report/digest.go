// Package report counts what was asked and what became of it: the digest of a day, and the
// statistics of any period. It is pure: it computes everything from records.
package report

import (
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/approval/headline"
)

// Digest tells people what was vetoed in a window and what became of it. Except for what
// waits, everything in it is as it stood at the window's end, so the digests of adjoining
// windows add up.
type Digest struct {
	Window Window `json:"window"`
	// Open says that the window is not over: the digest shows the state so far. Next is
	// then when its digest is due, zero if none is sent, and Before is the day of the last
	// one.
	Open   bool      `json:"open,omitempty"`
	Next   time.Time `json:"next,omitzero"`
	Before string    `json:"before,omitempty"`
	// Routes are the routes whose calls it covers; empty means all calls.
	Routes []string `json:"routes,omitempty"`
	// Late says that the digest was due earlier, when nobody could send it.
	Late   bool   `json:"late,omitempty"`
	Counts Counts `json:"counts"`
	// WeekAgo are the counts of the same window a week before.
	WeekAgo Counts `json:"week_ago"`
	// Week has the adjoining windows of the last seven days and what was counted in each,
	// earliest first. The last is Window with Counts.
	Week []Day `json:"week"`
	// Waiting are the calls that now wait for a person, those that end first coming first.
	Waiting []Waiting `json:"waiting"`
	// WaitingMore is how many more wait.
	WaitingMore int `json:"waiting_more,omitempty"`
	// Rules count what the guard denied, by rule, the most frequent first.
	Rules []Tally `json:"rules"`
	// Groups hold the vetoed actions by what they would have done, the largest group first.
	Groups []VetoGroup `json:"groups"`
	// Spares are kinds of calls that were asked repeatedly and always allowed: a rule for
	// them would save interruptions.
	Spares []Tally `json:"spares"`
	// Workarounds are denials after which the agent tried the same in other words.
	Workarounds []Workaround `json:"workarounds"`
	// People are those who decided, by what they decided in the window.
	People []Habit `json:"people"`
	// Unread are the parts of the turn log that cannot be read: calls that the judges let
	// through then are not counted.
	Unread approval.UnreadParts `json:"unread,omitempty"`
	// Checkpoint is the signed state of the history when the digest was made; empty if
	// there is no history. Anyone who has it can later verify the history.
	Checkpoint string `json:"checkpoint,omitempty"`
}

// Empty reports whether there is nothing to report: nothing happened in the window, as far
// as can be read, and nothing waits.
func (d *Digest) Empty() bool { return d.Counts.none() && len(d.Waiting)+len(d.Unread) == 0 }

// Counts are the numbers of a window. Judged is the sum of Approved, Guard and the fates of
// what judges vetoed.
type Counts struct {
	Judged   int `json:"judged"`
	Approved int `json:"approved"`
	Guard    int `json:"guard"`
	// Vetoed is how many calls judges denied; it is the sum of their fates.
	Vetoed int   `json:"vetoed"`
	Fates  Fates `json:"fates"`
	// Carried are the calls that already waited when the window began.
	Carried Fates `json:"carried"`
	// Settled are calls that a person allowed before the window and that were not over when
	// it began, by how they stand at its end.
	Settled Runs `json:"settled"`
	// Errors are calls that could not be judged because of a mistake in shape or scope.
	Errors int `json:"errors"`
}

// none reports whether nothing happened.
func (c *Counts) none() bool {
	return c.Judged+c.Carried.Sum()+c.Settled.Sum()+c.Errors == 0
}

// Fates count what became of the calls that judges vetoed.
type Fates struct {
	Allowed    int `json:"allowed"`
	Denied     int `json:"denied"`
	Expired    int `json:"expired"`
	Withdrawn  int `json:"withdrawn"`
	Superseded int `json:"superseded"`
	// Waiting had no answer at the end of the window.
	Waiting int `json:"waiting"`
	// Repeated got the answer of a call that was already asked.
	Repeated int `json:"repeated"`
	// Unasked were not put to anybody.
	Unasked int `json:"unasked"`
	// Runs say how the allowed calls ended; they add up to Allowed.
	Runs Runs `json:"runs"`
}

// Sum returns the total number of calls.
func (f *Fates) Sum() int {
	n := 0
	for _, fate := range EveryFate() {
		n += f.Of(fate)
	}
	return n
}

// Runs count how the calls ended that a person allowed.
type Runs struct {
	Succeeded int `json:"succeeded"`
	Failed    int `json:"failed"`
	Unknown   int `json:"unknown"`
	// Running had started, without a report yet of how they ended.
	Running int `json:"running"`
	// Unused had a permit that was not redeemed yet.
	Unused int `json:"unused"`
	Lapsed int `json:"lapsed"`
}

// Sum returns the total number of calls.
func (r Runs) Sum() int {
	return r.Succeeded + r.Failed + r.Unknown + r.Running + r.Unused + r.Lapsed
}

// Waiting is a call that waits for a person.
type Waiting struct {
	ID     approval.ID `json:"id"`
	Agent  string      `json:"agent"`
	Wanted string      `json:"wanted"`
	// Headline is that of its card.
	Headline *headline.Headline `json:"headline,omitempty"`
	Until    time.Time          `json:"until"`
}

// Tally is how often something happened.
type Tally struct {
	// Name is what is counted; empty stands for everything not listed.
	Name string `json:"name"`
	// Effect is the judges' category, where that is counted, too, and they gave one.
	Effect string `json:"effect,omitempty"`
	Count  int    `json:"count"`
	// New says that there was none a week earlier.
	New bool `json:"new,omitempty"`
}

// VetoGroup holds vetoed actions that would have done the same kind of thing.
type VetoGroup struct {
	// Effect is the judges' category; empty if they gave none, and for the group of
	// everything not listed. Rule is the guard's rule.
	Effect string `json:"effect,omitempty"`
	Rule   string `json:"rule,omitempty"`
	Count  int    `json:"count"`
	New    bool   `json:"new,omitempty"`
	// Actions are the newest of them, newest first.
	Actions []Veto `json:"actions"`
}

// Veto is one vetoed action, its secrets masked.
type Veto struct {
	// ID is the approval's or, if nobody was asked, the [approval.VetoID] of the step.
	// People ask about it with /why.
	ID     approval.ID `json:"id,omitempty"`
	At     time.Time   `json:"at"`
	Agent  string      `json:"agent"`
	Wanted string      `json:"wanted"`
	// Headline is that of its card; nil if a command line that no judge was asked about
	// says better what was wanted.
	Headline *headline.Headline `json:"headline,omitempty"`
	// State is the approval's state at the end of the window; empty if nobody was asked.
	State approval.State `json:"state,omitempty"`
	// By, After and Words are about the person who decided: the display name, how many
	// seconds the call had waited, and what they said to the agent.
	By    string  `json:"by,omitempty"`
	After float64 `json:"after,omitzero"`
	Words string  `json:"words,omitempty"`
}

// Workaround is a call that a person or the guard denied and that its agent kept trying in
// other words.
type Workaround struct {
	// ID is that of the approval or the veto.
	ID    approval.ID `json:"id"`
	Agent string      `json:"agent"`
	// Wanted is the denied call, Tries the number of other attempts after it.
	Wanted string `json:"wanted"`
	// Headline is like that of a [Veto].
	Headline *headline.Headline `json:"headline,omitempty"`
	Tries    int                `json:"tries"`
}

// Habit is how one person decided.
type Habit struct {
	// Person is the stable id, and Name the display name; for a member with several ids
	// both are the name in the policy. Both are empty in the sum of those who are not
	// listed.
	Person string `json:"person"`
	Name   string `json:"name"`
	// Surface is where the id belongs; it is set if somebody else in the list has the same
	// name.
	Surface string `json:"surface,omitempty"`
	Allows  int    `json:"allows"`
	Denies  int    `json:"denies"`
	// Hasty are the calls allowed within [HastyWithin].
	Hasty int `json:"hasty"`
}

// HastyWithin is too short a time to read a call: whoever allows within it does so out of
// habit.
const HastyWithin = 2 * time.Second

// How much a digest lists. The rest is summed up and counted.
const (
	digestWaiting = 10
	digestRules   = 12
	digestGroups  = 12
	digestActions = 5
	digestSpares  = 5
	digestTries   = 5
	digestPeople  = 10
	// digestKeys limits the number of different names that are kept apart.
	digestKeys = 1000
	// spareLeast is how many allowances in a row suggest a rule.
	spareLeast = 3
)
