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

// page writes a message in the HTML mode, or the blocks of a rich one. It is the only place where markup is made: every
// text is escaped on its way in, and text written by others goes into code, where the
// platform makes no links, mentions or commands of it.
type page struct {
	texts           *templates.Texts
	b               strings.Builder
	units, entities int
	// rich gets the content in place of b if the page is a rich message.
	rich *rich
}

// fits reports whether the platform accepts the page.
func (p *page) fits() bool {
	if p.rich != nil {
		return p.units+p.rich.used <= maxRich && p.rich.used < maxBlocks
	}
	return p.units <= maxText && p.entities <= maxEntities
}

func (p *page) count(s string) {
	for _, r := range s {
		p.units += utf16.RuneLen(r)
	}
}

func (p *page) text(s string) {
	p.count(s)
	if p.rich != nil {
		p.rich.text(s)
		return
	}
	p.b.WriteString(html.EscapeString(s))
}

// element writes a text between tags.
func (p *page) element(opening, s, closing string) {
	p.b.WriteString(opening)
	p.text(s)
	p.b.WriteString(closing)
	p.entities++
}

// run writes a text that looks different, by the name of its tag and of its kind.
func (p *page) run(tag, kind, s string) {
	if p.rich != nil {
		p.count(s)
		p.rich.run(kind, s)
		return
	}
	p.element("<"+tag+">", s, "</"+tag+">")
}

func (p *page) bold(s string) { p.run("b", "bold", s) }

// code writes text written by somebody else, on one line.
func (p *page) code(s string) { p.run("code", "code", s) }

// mention names a person so that the platform notifies them.
func (p *page) mention(u *user) {
	name := cmp.Or(string(cardtext.Within(u.person().Name, 40)), "…")
	p.element(`<a href="tg://user?id=`+strconv.FormatInt(u.ID, 10)+`">`, name, "</a>")
}

// block writes text written by somebody else, on lines of its own; a long text is
// collapsed.
func (p *page) block(s, language string) {
	switch {
	case p.rich != nil:
		p.richBlock(s, language)
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

// The limits of a rich message. Its text is counted as that of a page is, and with a line break
// for each block; blocks include those inside others.
const (
	maxRich   = 32768
	maxBlocks = 500
)

// foldFrom is how many characters a text of somebody else has at least that is folded.
const foldFrom = 400

// rich collects the blocks of a rich message (Bot API 10.2). It contains no markup: each text is
// a string of its own in the JSON, so that nothing in it can begin or end anything, and the
// platform is told to look for no links in it.
type rich struct {
	blocks []richBlock
	// line is the paragraph that is being written; a paragraph is one line.
	line []any
	// used is how many blocks there are, also inside others.
	used int
}

// richBlock is a paragraph ("paragraph"), a text with its line breaks ("pre"), or blocks behind a
// summary ("details").
type richBlock struct {
	Type     string      `json:"type"`
	Text     []any       `json:"text,omitempty"`
	Language string      `json:"language,omitempty"`
	Summary  []any       `json:"summary,omitempty"`
	Blocks   []richBlock `json:"blocks,omitempty"`
}

// richRun is a part of a line that looks different: "bold" or "code".
type richRun struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// text writes our words. A line break ends the paragraph.
func (r *rich) text(s string) {
	for i, line := range strings.Split(s, "\n") {
		if i > 0 {
			r.end()
		}
		if line != "" {
			r.line = append(r.line, line)
		}
	}
}

// run writes words that look different.
func (r *rich) run(kind, s string) {
	if s != "" {
		r.line = append(r.line, richRun{kind, s})
	}
}

// end ends the paragraph. One that shows nothing is left out.
func (r *rich) end() {
	for _, part := range r.line {
		if s, plain := part.(string); !plain || strings.TrimSpace(s) != "" {
			r.add(richBlock{Type: "paragraph", Text: r.line})
			break
		}
	}
	r.line = nil
}

func (r *rich) add(b richBlock) {
	r.blocks = append(r.blocks, b)
	r.used++
}

// pre writes a text on lines of its own.
func (r *rich) pre(s, language string) {
	r.end()
	if s != "" {
		r.add(richBlock{Type: "pre", Text: []any{s}, Language: language})
	}
}

// fold writes blocks that a person sees after they touch the summary.
func (r *rich) fold(summary string, inside func()) {
	r.end()
	before := r.blocks
	r.blocks = nil
	inside()
	r.end()
	within := r.blocks
	r.blocks = before
	if len(within) > 0 {
		r.add(richBlock{Type: "details", Summary: []any{summary}, Blocks: within})
	}
}

// message returns the content as the platform takes it.
func (r *rich) message() string {
	r.end()
	return marshal(map[string]any{"blocks": r.blocks, "skip_entity_detection": true})
}

// richBlock writes text of somebody else into a rich message; a long text is folded.
func (p *page) richBlock(s, language string) {
	chars := utf8.RuneCountInString(s)
	write := func() {
		p.count(s)
		p.rich.pre(s, language)
	}
	if chars <= foldFrom {
		write()
		return
	}
	lines := strings.Count(strings.TrimSuffix(s, "\n"), "\n") + 1
	p.fold("rich.all", map[string]any{"lines": lines, "chars": chars}, write)
}

// fold writes what inside writes behind one of our texts. It is for rich messages.
func (p *page) fold(ph phrase, values map[string]any, inside func()) {
	summary := p.texts.Plain(ph, values)
	p.count(summary)
	p.rich.fold(summary, inside)
}

// sources lists all files that a call runs or sends, with what is known of their content,
// folded.
func (p *page) sources(v *cardtext.Card, call int) {
	if files, n := v.Sources(call); n > 0 {
		p.fold("rich.files", map[string]any{"n": n}, func() { p.write(files) })
	}
}
