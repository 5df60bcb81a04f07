package guard

import (
	"github.com/metnos/vaglio/vaglio/reading"
	"github.com/metnos/vaglio/vaglio/shell"
)

// Outcome is the guard's answer about a call: a denial, a text that cannot be read, or neither.
type Outcome struct {
	// Denial is set if a rule denies the call. It is final.
	Denial *Denial
	// Unreadable is set if no rule denies the call but part of it cannot be read. That is no verdict: the call is sent back.
	Unreadable *reading.Unreadable
	// Doubt is set if no rule denies the call but it may change something of the gate's own under a name that it does not show: then a person is asked.
	Doubt bool
}

// trouble holds the first text of a call that cannot be read, and the cost of all its readings.
type trouble struct {
	first *reading.Unreadable
	// doubt becomes [Outcome.Doubt].
	doubt bool
	// means is shared by all readings of the call.
	means reading.Means
	// checked is how many names were checked more than once.
	checked int
	// file and line say where the command stands that broke a rule, if that is in a file that the call runs.
	file string
	line int
}

// spent records that something is too much to read.
func (t *trouble) spent(what string) {
	if t.first == nil {
		t.first = &reading.Unreadable{What: what}
	}
}

// mostChecked is about half a second's work.
const mostChecked = 50_000

// checks counts some names that are compared with the whole table again, and reports whether
// that is allowed. The reader's budget may be spent by then, and what was read is still checked.
func (t *trouble) checks(names int) bool {
	if t.checked += names; t.checked > mostChecked {
		t.spent("the command does too much to be read in full")
		return false
	}
	return true
}

// blame records where the command stands that broke a rule.
func (t *trouble) blame(c *shell.Command) {
	if t.file == "" {
		t.file, t.line = c.File, c.Line
	}
}

// doubts records that something of the gate's own may be changed without breaking a rule.
func (t *trouble) doubts() string {
	t.doubt = true
	return ""
}

// note records a text of a script that could not be read; see [reading.Unread].
func (t *trouble) note(key string, problems []shell.Problem, text string, shift int, certain bool) {
	if t.first == nil {
		t.first = reading.Unread(key, problems, text, shift, certain)
	}
}
