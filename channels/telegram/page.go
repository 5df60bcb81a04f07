package telegram

import (
	"cmp"
	"html"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/metnos/vaglio/channels/cardtext"
	"github.com/metnos/vaglio/templates"
)

// The platform's limits, counted after the markup was parsed. The platform speaks of
// characters; we count UTF-16 units, of which there are never fewer.
const (
	maxText     = 4096
	maxEntities = 100
)

// foldFrom is how many characters a text of somebody else has at most that is not folded.
const foldFrom = 400

// page writes a message in the HTML mode. It is the only place where markup is made: every
// text is escaped on its way in, and text written by others goes into code, where the
// platform makes no links, mentions or commands of it.
type page struct {
	texts           *templates.Texts
	b               strings.Builder
	units, entities int
}

// fits reports whether the platform accepts the page.
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

// code writes text written by somebody else, on one line.
func (p *page) code(s string) { p.element("<code>", s, "</code>") }

// mention names a person so that the platform notifies them.
func (p *page) mention(u *user) {
	name := cmp.Or(string(cardtext.Within(u.person().Name, 40)), "…")
	p.element(`<a href="tg://user?id=`+strconv.FormatInt(u.ID, 10)+`">`, name, "</a>")
}

// block writes text written by somebody else, on lines of its own; a long text is
// collapsed.
func (p *page) block(s, language string) {
	switch {
	case utf8.RuneCountInString(s) > foldFrom:
		p.entities++
		p.element("<blockquote expandable><code>", s, "</code></blockquote>")
	case language != "":
		p.element(`<pre><code class="language-`+language+`">`, s, "</code></pre>")
	default:
		p.element("<pre>", s, "</pre>")
	}
}

// write writes what a person reads. Text that is theirs goes into code.
func (p *page) write(t cardtext.Text) {
	for _, piece := range t {
		switch piece.Kind {
		case cardtext.Ours, cardtext.Named:
			p.text(piece.Text)
		case cardtext.Strong:
			p.bold(piece.Text)
		case cardtext.Command:
			p.block(piece.Text, "bash")
		case cardtext.Block:
			p.block(piece.Text, "")
		case cardtext.End:
			p.text("\n")
		default:
			p.code(piece.Text)
		}
	}
}

// title writes the first line of a card, with our words made to stand out.
func (p *page) title(t cardtext.Text) {
	for _, piece := range t {
		switch said := strings.TrimSpace(piece.Text); {
		case piece.Kind == cardtext.Theirs:
			p.code(piece.Text)
		case strings.ContainsFunc(said, unicode.IsLetter):
			before, after, _ := strings.Cut(piece.Text, said)
			p.text(before)
			p.bold(said)
			p.text(after)
		default: // a sign, or a blank
			p.text(piece.Text)
		}
	}
}

// say writes one of our texts.
func (p *page) say(ph phrase, values map[string]any) { p.write(cardtext.Say(p.texts, ph, values)) }

// line is say with a line break.
func (p *page) line(ph phrase, values map[string]any) {
	p.say(ph, values)
	p.text("\n")
}

// The limits of a rich message (Bot API 10.2). Its text is counted as that of a page is, and
// with a line break for each block; blocks include those inside others.
const (
	maxRich   = 32768
	maxBlocks = 500
)

// rich collects the blocks of a rich message. It contains no markup: each text is a string of
// its own in the JSON, so that nothing in it can begin or end anything, and the platform is
// told to look for no links in it.
type rich struct {
	blocks []richBlock
	// units is how long the text is, and used how many blocks there are, also inside others.
	units, used int
}

// richBlock is a line ("paragraph"), a text with its line breaks ("pre"), or blocks behind a
// summary ("details").
type richBlock struct {
	Type    string      `json:"type"`
	Text    []any       `json:"text,omitempty"`
	Summary []any       `json:"summary,omitempty"`
	Blocks  []richBlock `json:"blocks,omitempty"`
}

// richRun is a part of a line that looks different: "bold" or "code".
type richRun struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// count counts a block that shows this text.
func (r *rich) count(text string) {
	r.units += len(utf16.Encode([]rune(text))) + 1
	r.used++
}

// line writes a line of ours, which may end in words of somebody else.
func (r *rich) line(ours any, name, theirs string) {
	r.count(name + theirs)
	b := richBlock{Type: "paragraph", Text: []any{ours}}
	if theirs != "" {
		b.Text = append(b.Text, richRun{"code", theirs})
	}
	r.blocks = append(r.blocks, b)
}

// text writes a text of somebody else on lines of its own, behind our words if they fold it.
func (r *rich) text(summary, s string) {
	r.count(s)
	b := richBlock{Type: "pre", Text: []any{s}}
	if summary != "" {
		r.count(summary)
		b = richBlock{Type: "details", Summary: []any{summary}, Blocks: []richBlock{b}}
	}
	r.blocks = append(r.blocks, b)
}

// whole returns everything that the card says of its calls as a rich message; long texts are
// folded. It reports false if the platform would not accept that.
func (v *cardView) whole() (message string, fits bool) {
	r := &rich{}
	caption := v.Caption(v.sum).String()
	r.line(caption, caption, "")
	for _, part := range v.Parts() {
		chars, lines := utf8.RuneCountInString(part.Text), strings.Count(strings.TrimSuffix(part.Text, "\n"), "\n")+1
		label := part.Name + ":"
		switch {
		case part.Call:
			r.line(richRun{"bold", part.Name}, part.Name, "")
		case part.Text == "":
			r.line(part.Name, part.Name, "")
		case chars > foldFrom:
			r.text(v.Texts.Plain("file.folded", templates.Values{"name": part.Name, "lines": lines, "chars": chars}), part.Text)
		case strings.Contains(part.Text, "\n"):
			r.line(label, label, "")
			r.text("", part.Text)
		default:
			r.line(label+" ", label+" ", part.Text)
		}
	}
	return marshal(map[string]any{"blocks": r.blocks, "skip_entity_detection": true}), r.units <= maxRich && r.used <= maxBlocks
}
