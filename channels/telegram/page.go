package telegram

import (
	"html"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/metnos/vaglio/approval"
	"github.com/metnos/vaglio/templates"
)

// The platform's limits, counted after the markup was read. It says characters;
// we count units of UTF-16, which are never fewer.
const (
	maxText     = 4096
	maxEntities = 100
)

// page writes a message in the HTML mode. It is the one place where markup is
// made: every text is escaped on its way in, and what others wrote goes into
// code, where the platform makes no links, mentions or commands of it.
type page struct {
	texts           *templates.Texts
	b               strings.Builder
	units, entities int
}

// fits reports whether the platform takes the page.
func (p *page) fits() bool { return p.units <= maxText && p.entities <= maxEntities }

func (p *page) text(s string) {
	p.b.WriteString(html.EscapeString(s))
	for _, r := range s {
		p.units += utf16.RuneLen(r)
	}
}

// element writes a text between tags.
func (p *page) element(opening, s, closing string) {
	p.b.WriteString(opening)
	p.text(s)
	p.b.WriteString(closing)
	p.entities++
}

func (p *page) bold(s string) { p.element("<b>", s, "</b>") }

// code writes what somebody else wrote, on one line.
func (p *page) code(s string) { p.element("<code>", s, "</code>") }

// mention names a person so that the platform tells them.
func (p *page) mention(u *user) {
	name, left := seeLine(u.person().Name).first(40)
	if left > 0 || name == "" {
		name += "…"
	}
	p.element(`<a href="tg://user?id=`+strconv.FormatInt(u.ID, 10)+`">`, name, "</a>")
}

// block writes what somebody else wrote, in lines of its own; a long text is
// folded.
func (p *page) block(s, language string) {
	const long = 400
	switch {
	case utf8.RuneCountInString(s) > long:
		p.entities++
		p.element("<blockquote expandable><code>", s, "</code></blockquote>")
	case language != "":
		p.element(`<pre><code class="language-`+language+`">`, s, "</code></pre>")
	default:
		p.element("<pre>", s, "</pre>")
	}
}

// say writes one of our texts. What is theirs in it goes into code.
func (p *page) say(ph phrase, values map[string]any) {
	for _, part := range p.texts.Say(ph, values) {
		if part.Theirs {
			p.code(part.Text)
		} else {
			p.text(part.Text)
		}
	}
}

// line is say with a line end.
func (p *page) line(ph phrase, values map[string]any) {
	p.say(ph, values)
	p.text("\n")
}

// seen is a text that somebody else wrote, as a person may see it: nothing in
// it is invisible or looks like something else.
type seen struct {
	runs  []approval.Run
	runes int
}

// see reveals a text, which may have several lines.
func see(s string) seen {
	t := seen{runs: approval.Reveal(s)}
	for i := range t.runs {
		t.runes += utf8.RuneCountInString(t.runs[i].Text)
	}
	return t
}

// seeLine reveals a text that must not begin a line: its line ends are marks.
func seeLine(s string) seen {
	t := see(s)
	t.runes = 0
	for i := range t.runs {
		t.runs[i].Text = strings.ReplaceAll(t.runs[i].Text, "\n", "⟨newline⟩")
		t.runes += utf8.RuneCountInString(t.runs[i].Text)
	}
	return t
}

// first returns the first n characters, without a mark in pieces, and how many
// were left out.
func (t seen) first(n int) (string, int) {
	var b strings.Builder
	left := t.runes
	for _, r := range t.runs {
		size := utf8.RuneCountInString(r.Text)
		switch {
		case size <= n:
			b.WriteString(r.Text)
		case r.Kind == approval.Plain:
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

func firstRunes(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}
