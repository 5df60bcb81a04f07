package cardtext

import (
	"strings"
	"unicode/utf8"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/templates"
)

const (
	// maxShort is the most characters of the calls in a title.
	maxShort = 70
	// maxNickname is the most characters of an agent's name there.
	maxNickname = 24
)

// Title is the line that a locked phone shows: who wants what. It begins with a
// sign of ours, and nothing in it is long.
func (c *Card) Title() Text {
	values := templates.Values{"agent": templates.Theirs(c.nickname), "wanted": c.short()}
	key := templates.Key("title.one")
	switch n := len(c.Calls); {
	case c.Open == 0:
		key, values["mark"] = "title.done", c.mark()
	case n > 1 && c.Open == n:
		key, values["n"] = "title.many", n
	case n > 1:
		key, values["n"], values["open"] = "title.some", n, c.Open
	}
	return Say(c.Texts, key, values)
}

// Reminder says that the card still waits, and until when.
func (c *Card) Reminder() Text {
	return Say(c.Texts, "remind", templates.Values{"agent": templates.Theirs(c.nickname), "wanted": c.short(), "when": c.until})
}

// short names the calls, as many as have room on a locked phone.
func (c *Card) short() templates.Theirs {
	wanted, left := "", 0
	for i := range c.Calls {
		s, cut := c.Calls[i].wanted.first(maxShort - len(wanted))
		if i > 0 {
			s = " · " + s
		}
		if wanted, left = wanted+s, cut; len(wanted) >= maxShort || cut > 0 {
			left += len(c.Calls) - 1 - i
			break
		}
	}
	if left > 0 {
		wanted += "…"
	}
	return templates.Theirs(wanted)
}

// mark is the sign of how all calls ended.
func (c *Card) mark() string {
	const mixed = "☑️"
	if len(c.Calls) == 0 {
		return mixed
	}
	for i := range c.Calls {
		if c.Calls[i].State != c.Calls[0].State {
			return mixed
		}
	}
	switch c.Calls[0].State {
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

// Nickname is an agent's name as a title has it: short, and with nothing in it
// that could pass for the end of the name. The opening has all of it.
func Nickname(agent string) string {
	short := firstRunes(strings.Map(func(r rune) rune {
		if r < utf8.RuneSelf && (r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || strings.ContainsRune("-_.@/", r)) {
			return r
		}
		return '·'
	}, agent), maxNickname+1)
	if utf8.RuneCountInString(short) > maxNickname {
		return firstRunes(short, maxNickname) + "…"
	}
	return short
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
func whyOf(texts *templates.Texts, it *approval.Item) string {
	if r := approval.ReasonOf(it.Verdict); r.Message != "" {
		said, _ := texts.Said(r.Message, r.Said)
		return said
	}
	return it.Refusal.Why
}

// signalOf is what a judge noticed: in the reader's language what can be said in
// it, and after it the judge's own words, which name what they are about.
func signalOf(texts *templates.Texts, r approval.Reason) string {
	said, ok := texts.Said(r.Message, r.Said)
	if undo := texts.Undo(r.Reversibility, r.Reach); !ok && undo != "" {
		return undo + ". " + said
	}
	return said
}

// effectOf says what a call would do, where the judge says it in another language.
func effectOf(texts *templates.Texts, it *approval.Item) string {
	r := approval.ReasonOf(it.Verdict)
	if _, ok := texts.Said(r.Message, r.Said); ok && r.Said != nil {
		return ""
	}
	return texts.Effect(r.Effect, r.Reversibility, r.Reach)
}
