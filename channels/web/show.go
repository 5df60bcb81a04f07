package web

import (
	"fmt"
	"html/template"
	"strings"

	"github.com/metnos/vaglio/approval/visible"
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

// plain returns the same for a place that holds no markup, such as a label. It
// is short: what it leaves out is in the page.
func plain(text any) string {
	s := strings.ReplaceAll(visible.Text(fmt.Sprint(text)), "\n", " ")
	n := 0
	for i := range s {
		if n++; n > maxLabel {
			return s[:i] + "…"
		}
	}
	return s
}
