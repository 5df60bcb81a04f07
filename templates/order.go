package templates

import (
	"cmp"
	"strings"
)

// Form is the way in which the reader of a text gives orders. It is the key of a text whose
// fields are the order as typed and the label of the button that gives it. An order given
// in yet another way has a text of its own under the form's key followed by a dot and its
// verb.
type Form Key

// The forms.
const (
	ByTelegram Form = "order.by.telegram"
	BySlack    Form = "order.by.slack"
	ByPage     Form = "order.by.page"
	ByTerminal Form = "order.by.terminal"
)

// By returns the set for a place whose orders take the given form. Without By, orders are
// given at the terminal, which works everywhere.
func (s *Set) By(form Form) *Set {
	own := *s
	own.form = form
	return &own
}

// Order tells the reader how to give an order such as “lift 3fa2”.
func (t *Texts) Order(verb string, of ...string) string {
	key := Key(cmp.Or(t.form, ByTerminal))
	if own := key + Key("."+verb); t.Has(own) {
		key = own
	}
	typed := strings.Join(append([]string{verb}, of...), " ")
	return t.Plain(key, Values{"order": typed, "label": t.Plain("web.order."+Key(verb), nil)})
}
