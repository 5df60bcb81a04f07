package platform

import (
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/templates"
)

// Trouble is what keeps a channel from hearing people or from writing to them.
// The zero value is none.
type Trouble struct {
	// Key names the text that says what is wrong, and with ".remedy" behind it
	// the one that says what helps. Values are for both.
	Key    templates.Key
	Values templates.Values
	// Since is when it began.
	Since time.Time
}

// OK reports whether nothing is wrong.
func (t Trouble) OK() bool { return t.Key == "" }

// Begin makes the trouble this one; one that goes on, in whatever form, keeps its
// beginning.
func (t *Trouble) Begin(key templates.Key, values templates.Values) {
	if t.Since.IsZero() {
		t.Since = time.Now()
	}
	t.Key, t.Values = key, values
}

// In tells the trouble in a language.
func (t Trouble) In(texts *templates.Texts) approval.Health {
	if t.OK() {
		return approval.Health{}
	}
	return approval.Health{Problem: texts.Plain(t.Key, t.Values), Remedy: texts.Plain(t.Key+".remedy", t.Values), Since: t.Since}
}
