package web

import (
	"fmt"
	"html/template"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/metnos/vaglio/approval/visible"
	"github.com/metnos/vaglio/channels/cardtext"
)

// show returns a text from outside as HTML in which everything is visible: whatever is
// invisible, turns the reading direction, pads, or looks like something else is marked, and
// the first mark of each sort says in words what it is. Apart from brief and plain it is
// the only way for outside text into a page.
func show(text any) template.HTML { return markup(text, true) }

// brief is show for a name within a sentence: its marks have no notes, which the full form
// of the same text has.
func brief(text any) template.HTML { return markup(text, false) }

func markup(text any, notes bool) template.HTML {
	var b strings.Builder
	said := map[string]bool{}
	for _, r := range visible.Runs(fmt.Sprint(text)) {
		class := "lookalike"
		switch r.Kind {
		case visible.Plain:
			if notes {
				b.WriteString(whole(r.Text))
			} else {
				b.WriteString(template.HTMLEscapeString(r.Text))
			}
			continue
		case visible.Hidden:
			class = "hidden"
		case visible.Space:
			class = "space"
		case visible.Lookalike:
		}
		fmt.Fprintf(&b, `<mark class="%s">%s`, class, template.HTMLEscapeString(r.Text))
		// A note is content, not a title attribute: not everybody has a pointer to hover
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

// Words that have this many characters and a digit, an at sign or a slash are names that people
// compare: numbers of accounts, identifiers, addresses, paths.
// The long ones are drawn smaller in a heading on a phone, and the wide ones need not fit on a line of the list.
const tellable, long, wide = 16, 24, 40

// name finds such a word.
var name = regexp.MustCompile(`[^\s]{` + strconv.Itoa(tellable) + `,}`)

// whole returns plain text as HTML in which a name that people compare stays on one line, if it fits
// on one.
func whole(text string) string {
	var b strings.Builder
	end := 0
	for _, at := range name.FindAllStringIndex(text, -1) {
		word := text[at[0]:at[1]]
		if !strings.ContainsAny(word, "0123456789@/") {
			continue
		}
		class := "whole"
		switch n := utf8.RuneCountInString(word); {
		case n >= wide:
			class = "whole long wide"
		case n >= long:
			class = "whole long"
		}
		fmt.Fprintf(&b, `%s<span class="%s">%s</span>`, template.HTMLEscapeString(text[end:at[0]]), class, template.HTMLEscapeString(word))
		end = at[1]
	}
	return b.String() + template.HTMLEscapeString(text[end:])
}

// hanging is show for a text of several lines, each of which is a block of its own: what does not fit
// on its line goes on below its beginning, further in.
func hanging(text any) template.HTML {
	const open, end = `<span class="line">`, "\n</span>"
	all := strings.Split(string(show(text)), "\n")
	return template.HTML(open + strings.Join(all, end+open) + "</span>") //nolint:gosec // show escaped it.
}

// marked is show for a command in which some lines are numbered and stand out.
func marked(command string, at []lineView) template.HTML {
	all := strings.SplitAfter(string(show(command)), "\n")
	for _, l := range at {
		if i := visible.Line(command, l.N) - 1; i < len(all) {
			all[i] = fmt.Sprintf(`<mark class="asked" id="%s" data-n="%d">%s</mark>`, l.ID(), l.N, all[i])
		}
	}
	return template.HTML(strings.Join(all, "")) //nolint:gosec // show escaped it.
}

// ID names the line on its page.
func (l lineView) ID() string { return fmt.Sprintf("line-%s-%d", l.Approval, l.N) }

// maxLabel is the longest label, in characters.
const maxLabel = 120

// short returns the beginning of a text from outside, as long as a label may be. The page
// has the rest.
func short(text string) string {
	n := 0
	for i := range text {
		if n++; n > maxLabel {
			return text[:i] + "…"
		}
	}
	return text
}

// saidOf returns a text of the cards as HTML. Text from somebody else is shown in it as
// everywhere, already made visible and set apart from our words.
func saidOf(t cardtext.Text) template.HTML {
	var b strings.Builder
	for _, p := range begun(t) {
		if p.Kind == cardtext.Theirs {
			b.WriteString(`<b class="outside">` + whole(p.Text) + `</b>`)
		} else {
			b.WriteString(template.HTMLEscapeString(p.Text))
		}
	}
	return template.HTML(b.String()) //nolint:gosec // Every piece was escaped.
}

// begun returns a text as it begins a line.
func begun(t cardtext.Text) cardtext.Text {
	if len(t) == 0 || t[0].Kind != cardtext.Ours {
		return t
	}
	first, size := utf8.DecodeRuneInString(t[0].Text)
	t = slices.Clone(t)
	t[0].Text = string(unicode.ToUpper(first)) + t[0].Text[size:]
	return t
}

// labelOf returns a headline as a label, with the number of its call before it; 0 if the
// call is alone. What its text from outside has that is unseen is already visible.
func labelOf(n int, said cardtext.Text) cardtext.Text {
	label := begun(said).String()
	if n > 0 {
		label = strconv.Itoa(n) + ". " + label
	}
	return cardtext.Text{{Kind: cardtext.Ours, Text: short(label)}}
}

// plain does what show does for a place without markup, such as a label. Its result is
// short; the page has the rest.
func plain(text any) string {
	return short(strings.ReplaceAll(visible.Text(fmt.Sprint(text)), "\n", " "))
}
