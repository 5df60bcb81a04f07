package templates

import (
	"cmp"
	"strings"
)

// Form is how people give orders where a text is read. It is the key of a text, which
// is filled with the order as it is typed, or with the words on the button that gives
// it. Where one order is given in another way, its verb follows the key.
type Form Key

// The forms.
const (
	ByTelegram Form = "order.by.telegram"
	BySlack    Form = "order.by.slack"
	ByPage     Form = "order.by.page"
	ByTerminal Form = "order.by.terminal"
)

// By returns the texts of a place where orders are given in a form of its own. Without
// it they are given at the terminal, which is true everywhere.
func (s *Set) By(form Form) *Set {
	own := *s
	own.form = form
	return &own
}

// Order is an order such as “lift 3fa2” in the form in which whoever reads the text
// gives it.
func (t *Texts) Order(verb string, of ...string) string {
	key := Key(cmp.Or(t.form, ByTerminal))
	if own := key + Key("."+verb); t.Has(own) {
		key = own
	}
	typed := strings.Join(append([]string{verb}, of...), " ")
	return t.Plain(key, Values{"order": typed, "label": t.Plain("web.order."+Key(verb), nil)})
}
