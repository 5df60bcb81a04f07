package web

import (
	"fmt"
	"html/template"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/metnos/vaglio/approval/visible"
	"github.com/metnos/vaglio/channels/cardtext"
)

// show returns a text that was written outside as HTML in which everything can
// be seen: what is invisible, turns the reading direction, pads, or looks like
// something else is marked, and the first mark of a sort says in words what it
// is. Besides brief and plain it is the only way from outside text into a page.
func show(text any) template.HTML { return markup(text, true) }

// brief is show for a name within a sentence: the marks stand without notes,
// which the same text's full form has.
func brief(text any) template.HTML { return markup(text, false) }

func markup(text any, notes bool) template.HTML {
	var b strings.Builder
	said := map[string]bool{}
	for _, r := range visible.Runs(fmt.Sprint(text)) {
		class := "lookalike"
		switch r.Kind {
		case visible.Plain:
			b.WriteString(template.HTMLEscapeString(r.Text))
			continue
		case visible.Hidden:
			class = "hidden"
		case visible.Space:
			class = "space"
		case visible.Lookalike:
		}
		fmt.Fprintf(&b, `<mark class="%s">%s`, class, template.HTMLEscapeString(r.Text))
		// A note is content, not a title: not everybody has a pointer to hover
		// with. Counted padding explains itself.
		counted := r.Kind == visible.Space && !strings.Contains(r.Text, "U+")
		if notes && r.Note != "" && !counted && !said[r.Note] {
			said[r.Note] = true
			fmt.Fprintf(&b, `<span class="note"> %s</span>`, template.HTMLEscapeString(r.Note))
		}
		b.WriteString("</mark>")
	}
	//nolint:gosec // Every piece was escaped above.
	return template.HTML(b.String())
}

// maxLabel is how many characters a label has at most.
const maxLabel = 120

// short returns the beginning of a text that was written outside, as long as a label
// may be. What it leaves out is in the page.
func short(text string) string {
	n := 0
	for i := range text {
		if n++; n > maxLabel {
			return text[:i] + "…"
		}
	}
	return text
}

// saidOf is a text of the cards as HTML. What somebody else wrote stands in it as it
// is shown everywhere, made visible already, and apart from our words.
func saidOf(t cardtext.Text) template.HTML {
	var b strings.Builder
	for i, p := range t {
		if i == 0 && p.Kind == cardtext.Ours { // It begins a line.
			first, size := utf8.DecodeRuneInString(p.Text)
			p.Text = string(unicode.ToUpper(first)) + p.Text[size:]
		}
		if p.Kind == cardtext.Theirs {
			b.WriteString(`<b class="outside">` + template.HTMLEscapeString(p.Text) + `</b>`)
		} else {
			b.WriteString(template.HTMLEscapeString(p.Text))
		}
	}
	return template.HTML(b.String()) //nolint:gosec // Every piece was escaped.
}

// plain returns what show does for a place that holds no markup, such as a label. It
// is short: what it leaves out is in the page.
func plain(text any) string {
	return short(strings.ReplaceAll(visible.Text(fmt.Sprint(text)), "\n", " "))
}
