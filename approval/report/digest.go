// Package report counts what was asked and what became of it: the digest of a
// day, and the statistics of any span. It is computed from records alone, and
// pure.
package report

import (
	"time"

	"github.com/metnos/vaglio/approval"
)

// Digest tells people what was vetoed in a window and what became of it. It is
// computed from the records alone: everything in it but what waits is as it
// stood at the window's end, so the digests of windows that join add up.
type Digest struct {
	Window Window `json:"window"`
	// Open says that the window is not over: it tells how things stand so far. Next is
	// then when the digest of it is due, zero where none is sent, and Before the day of
	// the last one.
	Open   bool      `json:"open,omitempty"`
	Next   time.Time `json:"next,omitzero"`
	Before string    `json:"before,omitempty"`
	// Routes are those of whose calls it tells; none means all calls.
	Routes []string `json:"routes,omitempty"`
	// Late says that the digest was due earlier, and nobody could send it then.
	Late   bool   `json:"late,omitempty"`
	Counts Counts `json:"counts"`
	// WeekAgo are the counts of the same window a week before.
	WeekAgo Counts `json:"week_ago"`
	// Week are the windows of the last seven days, which join, and what was
	// counted in each; the earliest first, and the last is Window with Counts.
	Week []Day `json:"week"`
	// Waiting are the calls that wait for a person now, the first to end first.
	Waiting []Waiting `json:"waiting"`
	// WaitingMore is how many more wait.
	WaitingMore int `json:"waiting_more,omitempty"`
	// Rules count what the guard denied, by rule, the most first.
	Rules []Tally `json:"rules"`
	// Groups hold the vetoed actions by what they would have done, the greatest
	// group first.
	Groups []VetoGroup `json:"groups"`
	// Spares are calls of one kind that were asked again and again and always
	// allowed: a rule for them would spare interruptions.
	Spares []Tally `json:"spares"`
	// Workarounds are denials after which the same was tried in other words.
	Workarounds []Workaround `json:"workarounds"`
	// People are those who decided, by what they decided in the window.
	People []Habit `json:"people"`
	// Checkpoint is the signed state of the history as it was when the digest was
	// made; empty where none is kept. Whoever has it can prove the history later.
	Checkpoint string `json:"checkpoint,omitempty"`
}

// Empty reports whether there is nothing to tell: nothing happened in the window,
// and nothing waits.
func (d *Digest) Empty() bool { return d.Counts.none() && len(d.Waiting) == 0 }

// Counts are the buckets of a window. Judged is the sum of Approved, Guard and
// the fates of what judges vetoed.
type Counts struct {
	Judged   int `json:"judged"`
	Approved int `json:"approved"`
	Guard    int `json:"guard"`
	// Vetoed are the calls that judges denied; their fates add up to them.
	Vetoed int   `json:"vetoed"`
	Fates  Fates `json:"fates"`
	// Carried are the calls that waited already when the window began.
	Carried Fates `json:"carried"`
	// Settled are calls that a person allowed before the window and that were
	// not over when it began: how they stand at its end.
	Settled Runs `json:"settled"`
	// Errors are calls that could not be judged: a mistake of shape or scope.
	Errors int `json:"errors"`
}

// none reports whether nothing happened.
func (c *Counts) none() bool {
	return c.Judged+c.Carried.Sum()+c.Settled.Sum()+c.Errors == 0
}

// Fates count what became of calls that judges vetoed.
type Fates struct {
	Allowed    int `json:"allowed"`
	Denied     int `json:"denied"`
	Expired    int `json:"expired"`
	Withdrawn  int `json:"withdrawn"`
	Superseded int `json:"superseded"`
	// Waiting had no answer at the window's end.
	Waiting int `json:"waiting"`
	// Repeated got the answer of a call that was asked already.
	Repeated int `json:"repeated"`
	// Unasked were put to nobody.
	Unasked int `json:"unasked"`
	// Runs tell how the allowed ones ended; they add up to Allowed.
	Runs Runs `json:"runs"`
}

// Sum returns how many calls the fates are of.
func (f *Fates) Sum() int {
	n := 0
	for _, fate := range EveryFate() {
		n += f.Of(fate)
	}
	return n
}

// Runs count how calls ended that a person allowed.
type Runs struct {
	Succeeded int `json:"succeeded"`
	Failed    int `json:"failed"`
	Unknown   int `json:"unknown"`
	// Running were begun, and nobody had told yet how they ended.
	Running int `json:"running"`
	// Unused had a permit that nobody had redeemed yet.
	Unused int `json:"unused"`
	Lapsed int `json:"lapsed"`
}

// Sum returns how many calls were allowed.
func (r Runs) Sum() int {
	return r.Succeeded + r.Failed + r.Unknown + r.Running + r.Unused + r.Lapsed
}

// Waiting is a call that waits for a person.
type Waiting struct {
	ID     approval.ID `json:"id"`
	Agent  string      `json:"agent"`
	Wanted string      `json:"wanted"`
	Until  time.Time   `json:"until"`
}

// Tally is how often something happened.
type Tally struct {
	// Name is what is counted; empty stands for all that are not listed.
	Name  string `json:"name"`
	Count int    `json:"count"`
	// New says that there was none of it a week before.
	New bool `json:"new,omitempty"`
}

// VetoGroup holds vetoed actions that would have done the same kind of thing.
type VetoGroup struct {
	// Effect is the judges' category, or empty where they gave none and for the
	// group of all that are not listed. Rule is the guard's rule.
	Effect string `json:"effect,omitempty"`
	Rule   string `json:"rule,omitempty"`
	Count  int    `json:"count"`
	New    bool   `json:"new,omitempty"`
	// Actions are the newest of them, newest first.
	Actions []Veto `json:"actions"`
}

// Veto is one vetoed action, its secrets masked.
type Veto struct {
	// ID is the approval's, or where nobody was asked the [approval.VetoID] of the step:
	// people ask about it with /why.
	ID     approval.ID `json:"id,omitempty"`
	At     time.Time   `json:"at"`
	Agent  string      `json:"agent"`
	Wanted string      `json:"wanted"`
	// State is the approval's at the window's end; empty where nobody was asked.
	State approval.State `json:"state,omitempty"`
	// By, After and Words are of the person who decided: the display name, how
	// many seconds the call had waited, and what they said to the agent.
	By    string  `json:"by,omitempty"`
	After float64 `json:"after,omitzero"`
	Words string  `json:"words,omitempty"`
}

// Workaround is a call that a person denied, or the guard, and that its agent went
// on trying in other words.
type Workaround struct {
	// ID is the approval's or the veto's.
	ID    approval.ID `json:"id"`
	Agent string      `json:"agent"`
	// Wanted is the denied call, Tries how many others there were after it.
	Wanted string `json:"wanted"`
	Tries  int    `json:"tries"`
}

// Habit is how one person decides.
type Habit struct {
	// Person is the stable id, and Name the display name; both are the policy's name of
	// who has several ids. Both are empty in the sum of those who are not listed.
	Person string `json:"person"`
	Name   string `json:"name"`
	// Surface is where the id is one, where somebody else listed has the name, too.
	Surface string `json:"surface,omitempty"`
	Allows  int    `json:"allows"`
	Denies  int    `json:"denies"`
	// Hasty are the allowances within [HastyWithin] of the asking.
	Hasty int `json:"hasty"`
}

// HastyWithin is the time in which nobody reads a call: who allows within it
// does so from habit.
const HastyWithin = 2 * time.Second

// How much a digest lists. What is more is summed, with its count.
const (
	digestWaiting = 10
	digestRules   = 12
	digestGroups  = 12
	digestActions = 5
	digestSpares  = 5
	digestTries   = 5
	digestPeople  = 10
	// digestKeys bounds the different names that are told apart.
	digestKeys = 1000
	// spareLeast is how many allowances in a row hint at a rule.
	spareLeast = 3
)
