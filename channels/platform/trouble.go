package platform

import (
	"time"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/templates"
)

// Trouble is what keeps a channel from hearing people or from writing to them. The zero
// value means none.
type Trouble struct {
	// Key names the text that says what is wrong; with ".remedy" appended, the one that
	// says what helps. Values are for both.
	Key    templates.Key
	Values templates.Values
	// Since is when it began.
	Since time.Time
}

// OK reports whether nothing is wrong.
func (t Trouble) OK() bool { return t.Key == "" }

// Begin sets the trouble; trouble that continues, in whatever form, keeps its start.
func (t *Trouble) Begin(key templates.Key, values templates.Values) {
	if t.Since.IsZero() {
		t.Since = time.Now()
	}
	t.Key, t.Values = key, values
}

// In describes the trouble in a language.
func (t Trouble) In(texts *templates.Texts) approval.Health {
	if t.OK() {
		return approval.Health{}
	}
	return approval.Health{Problem: texts.Plain(t.Key, t.Values), Remedy: texts.Plain(t.Key+".remedy", t.Values), Since: t.Since}
}
