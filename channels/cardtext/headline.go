package cardtext

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/approval/headline"
	"github.com/metnos/vaglio/templates"
)

// Headline says what a call would do, worst first, and how many other things.
func Headline(texts *templates.Texts, h *headline.Headline) Text {
	w := writer{texts: texts}
	w.headline(h)
	return w.text
}

// StepHeadline says what the call of a step would do.
func StepHeadline(texts *templates.Texts, s *approval.Step) Text {
	h := s.Headline()
	return Headline(texts, &h)
}

// CardHeadline says what the calls of a card would do: the worst of them, how many are like
// it, and how many others there are.
func CardHeadline(texts *templates.Texts, c *approval.Card) Text {
	w := writer{texts: texts}
	worst, like, more := c.Lead()
	if worst == nil {
		return nil
	}
	w.lead(&worst.Headline, like, more)
	return w.text
}

// lead names the worst of several calls, how many are like it, and how many others there
// are.
func (w *writer) lead(h *headline.Headline, like, more int) {
	if like > 0 {
		w.say("headline.times", templates.Values{"n": like + 1})
		w.put(Ours, " ")
	}
	w.headline(h)
	if more > 0 {
		w.say("headline.calls", templates.Values{"n": more})
	}
}

func (w *writer) headline(h *headline.Headline) {
	said := h.Said.Each(func(text string) string { return seeLine(text).String() })
	parts, _ := w.texts.Sentence(said)
	for _, p := range parts {
		kind := Ours
		if p.Theirs {
			kind = Theirs
		}
		w.put(kind, p.Text)
	}
	if h.More > 0 {
		w.say("headline.more", templates.Values{"n": h.More})
	}
}

// Consequence says what follows if a call runs: whether it can be undone, whom it touches,
// and what is unknown or not shown.
func Consequence(texts *templates.Texts, c *headline.Consequence) string {
	return capital(follows(texts, c))
}

// follows is [Consequence] within a line.
func follows(texts *templates.Texts, c *headline.Consequence) string {
	var said []string
	add := func(key templates.Key) { said = append(said, texts.Plain(key, nil)) }
	if key := undoing(c); key != "" {
		add(key)
	}
	if c.Reach != "" && !c.Idle {
		add(templates.Key("reach." + string(c.Reach)))
	}
	if c.Unread {
		add("follows.unread")
	}
	if c.Masked > 0 {
		said = append(said, texts.Plain("follows.masked", templates.Values{"n": c.Masked}))
	}
	return strings.Join(said, " · ")
}

// undoing returns the text that says whether a call can be undone, or "" if the rest of the
// consequence says so.
func undoing(c *headline.Consequence) templates.Key {
	switch {
	case c.Reads:
		return "follows.reads"
	case c.Unknown:
		return "follows.unknown"
	case c.Undo == "" && c.Unread:
		return ""
	case c.Undo == "":
		return "follows.unjudged"
	case c.Idle:
		return "follows.idle"
	case c.Unsure:
		return "follows.unsure"
	default:
		return templates.Key("undo." + string(c.Undo))
	}
}

// capital returns the text with its first letter capitalized.
func capital(s string) string {
	first, n := utf8.DecodeRuneInString(s)
	if n == 0 {
		return s
	}
	return string(unicode.ToUpper(first)) + s[n:]
}
