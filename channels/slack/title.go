package slack

import (
	"strings"
	"unicode/utf8"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/templates"
)

// title is the first line, which a locked phone shows too: who wants what. It
// begins with a sign of ours, and nothing in it is long.
func (v *cardView) title() string {
	values := map[string]any{"agent": theirs(v.who), "wanted": theirs(v.short())}
	ph := phrase("title.one")
	switch n := len(v.items); {
	case v.open == 0:
		ph, values["mark"] = "title.done", v.mark()
	case n > 1 && v.open == n:
		ph, values["n"] = "title.many", n
	case n > 1:
		ph, values["n"], values["open"] = "title.some", n, v.open
	}
	return v.texts.Plain(ph, values)
}

// short names the calls, as many as have room on a locked phone.
func (v *cardView) short() string {
	const most = 70
	if len(v.items) == 0 {
		return ""
	}
	s, left := v.items[0].wanted.first(most)
	if left > 0 || len(v.items) > 1 {
		s += "…"
	}
	return s
}

// mark is the sign of how all calls ended.
func (v *cardView) mark() string {
	const mixed = "☑️"
	if len(v.items) == 0 {
		return mixed
	}
	for i := range v.items {
		if v.items[i].state != v.items[0].state {
			return mixed
		}
	}
	switch v.items[0].state {
	case approval.Denied:
		return "🚫"
	case approval.Expired:
		return "⌛"
	case approval.Withdrawn:
		return "↩️"
	case approval.Superseded:
		return "🔁"
	case approval.Lapsed:
		return "💤"
	case approval.Failed:
		return "❌"
	case approval.Unknown:
		return "❔"
	default:
		return "✅"
	}
}

// nickname is an agent's name as the first line has it: short, and with nothing
// in it that could pass for the end of the name. The line below has all of it.
func nickname(agent string) string {
	const most = 24
	short := firstRunes(strings.Map(func(r rune) rune {
		if r < utf8.RuneSelf && (r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || strings.ContainsRune("-_.@/", r)) {
			return r
		}
		return '·'
	}, agent), most+1)
	return clip(short, most)
}

// wanted is the call on one line: a command line as it stands, another call with
// the executor before it.
func wanted(it *approval.Item) string {
	if it.Command != "" {
		return it.Command
	}
	return it.Executor + " " + strings.Join(strings.Fields(it.Args), " ")
}

// whyOf is why a call is asked about, in the judge's own words where there are.
func whyOf(it *approval.Item) string {
	if r := approval.ReasonOf(it.Verdict); r.Message != "" {
		return r.Message
	}
	return it.Refusal.Why
}

// effectOf says what a call would do, where the judge says it in another language.
func effectOf(texts *templates.Texts, it *approval.Item) string {
	r := approval.ReasonOf(it.Verdict)
	return texts.Effect(r.Effect, r.Reversibility, r.Reach)
}
