package guard

import (
	"github.com/metnos/vaglio/vaglio/reading"
	"github.com/metnos/vaglio/vaglio/shell"
)

// Outcome is what the guard says of a call: a denial, a text that cannot be
// read, or, where both are nil, nothing.
type Outcome struct {
	// Denial is set when a rule denies the call; it is final.
	Denial *Denial
	// Unreadable is set when no rule denies the call but a part of it cannot
	// be read to its end. That is no verdict: such a call is sent back.
	Unreadable *reading.Unreadable
	// Doubt is set when no rule denies the call but it may change what is the
	// gate's own, by a name that it does not tell: a person is to be asked.
	Doubt bool
}

// trouble keeps the first text of a call that cannot be read, and what all its
// readings have cost.
type trouble struct {
	first *reading.Unreadable
	// doubt is what [Outcome] tells.
	doubt bool
	// means are what all readings of the call share.
	means reading.Means
	// file and line are where the command stands that broke a rule, when that
	// is a file which the call runs.
	file string
	line int
}

// spent notes what is too much to be read.
func (t *trouble) spent(what string) {
	if t.first == nil {
		t.first = &reading.Unreadable{What: what}
	}
}

// blame notes where the command stands that broke a rule.
func (t *trouble) blame(c *shell.Command) {
	if t.file == "" {
		t.file, t.line = c.File, c.Line
	}
}

// doubts notes that what is the gate's own may be changed, and breaks no rule.
func (t *trouble) doubts() string {
	t.doubt = true
	return ""
}

// note keeps what a script says about a text that could not be read, see
// [reading.Unread].
func (t *trouble) note(key string, problems []shell.Problem, text string, shift int, certain bool) {
	if t.first == nil {
		t.first = reading.Unread(key, problems, text, shift, certain)
	}
}
