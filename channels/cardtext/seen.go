package cardtext

import (
	"slices"
	"strings"
	"unicode"
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

// first returns at most the first n characters, without splitting a mark or a name, and how
// many were left out.
func (t seen) first(n int) (string, int) {
	var b strings.Builder
	left := t.runes
	for _, r := range t.runs {
		size := utf8.RuneCountInString(r.Text)
		switch {
		case size <= n:
			b.WriteString(r.Text)
		case r.Kind == visible.Plain:
			kept := wholeNames(r.Text, n)
			b.WriteString(kept)
			return b.String(), left - utf8.RuneCountInString(kept)
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

// longestName is the most characters of a name, path, address or number that is not split.
const longestName = 200

// longestGroup is the most characters of one group of such a number.
const longestGroup = 5

// wholeNames returns at most the first n characters of a text. It does not end within a name, a
// path, an address or a number written in groups: half of one may be that of something else.
func wholeNames(s string, n int) string {
	all := []rune(s)
	if len(all) <= n {
		return s
	}
	cut := n
	for cut > 0 && n-cut <= longestName && together(all, cut) {
		cut--
	}
	if n-cut > longestName {
		cut = n
	}
	return string(all[:cut])
}

// together reports whether what stands before a place and what stands behind it are parts of one
// name or number.
func together(s []rune, at int) bool {
	before, after := at, at
	if s[at-1] == ' ' {
		before--
	} else if s[at] == ' ' {
		after++
	}
	from, to := before, after
	for from > 0 && before-from <= longestGroup && !splits(s[from-1]) {
		from--
	}
	for to < len(s) && to-after <= longestGroup && !splits(s[to]) {
		to++
	}
	if before == after {
		return from < before && after < to
	}
	return group(s[from:before]) && group(s[after:to])
}

// splits reports whether a character stands between names.
func splits(r rune) bool {
	return unicode.IsSpace(r) || strings.ContainsRune("\"'`,;()[]{}<>|‹›⟨⟩…", r)
}

// group reports whether a word may be a part of a number that is written in groups.
func group(word []rune) bool {
	return len(word) > 0 && len(word) <= longestGroup && !slices.ContainsFunc(word, func(r rune) bool { return r != '+' && !unicode.IsDigit(r) && !unicode.IsUpper(r) })
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
