package cardtext

import (
	"strings"
	"unicode/utf8"

	"github.com/metnos/vaglio/approval/visible"
	"github.com/metnos/vaglio/templates"
)

// seen is text written by somebody else in the form that a person may see: nothing in it is
// invisible or looks like something else.
type seen struct {
	runs  []visible.Run
	runes int
}

// see reveals a text, which may have several lines.
func see(s string) seen { return reveal(s, func(s string) string { return s }) }

// seeLine reveals a text that must not start a new line: its line breaks become marks.
func seeLine(s string) seen {
	return reveal(s, func(s string) string { return strings.ReplaceAll(s, "\n", "⟨newline⟩") })
}

// seeEntry reveals an entry of a list, where an empty text is one, too.
func seeEntry(s string) seen {
	if s == "" {
		return reveal("\u27e8", func(string) string { return "⟨empty⟩" })
	}
	return seeLine(s)
}

func reveal(s string, as func(string) string) seen {
	t := seen{runs: visible.Runs(s)}
	for i := range t.runs {
		t.runs[i].Text = as(t.runs[i].Text)
		t.runes += utf8.RuneCountInString(t.runs[i].Text)
	}
	return t
}

// first returns the first n characters, without splitting a mark, and how many were left
// out.
func (t seen) first(n int) (string, int) {
	var b strings.Builder
	left := t.runes
	for _, r := range t.runs {
		size := utf8.RuneCountInString(r.Text)
		switch {
		case size <= n:
			b.WriteString(r.Text)
		case r.Kind == visible.Plain:
			b.WriteString(firstRunes(r.Text, n))
			return b.String(), left - n
		default:
			return b.String(), left
		}
		n, left = n-size, left-size
	}
	return b.String(), left
}

// String returns the whole text.
func (t seen) String() string {
	s, _ := t.first(t.runes)
	return s
}

// within returns the text cut to at most n characters.
func (t seen) within(n int) templates.Theirs {
	s, left := t.first(n)
	if left > 0 {
		s += "…"
	}
	return templates.Theirs(s)
}

// Within returns text written by somebody else in the form that a person may see, on one
// line, with at most n of its characters, followed by … if there are more.
func Within(s string, n int) templates.Theirs { return seeLine(s).within(n) }

// Clip shortens one of our own texts to n characters.
func Clip(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return firstRunes(s, n-1) + "…"
}

func firstRunes(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}
