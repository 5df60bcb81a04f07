package slack

import (
	"math"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	slackapi "github.com/slack-go/slack"

	"github.com/metnos/vaglio/channels/cardtext"
	"github.com/metnos/vaglio/internal/strictjson"
	"github.com/metnos/vaglio/templates"
)

// The platform's limits, in characters unless stated otherwise.
const (
	maxBlocks = 50
	// maxText is the most text in the blocks of one message. It is not documented; 11341
	// characters were refused and about 10000 never were.
	maxText    = 10000
	maxHeader  = 150
	maxButton  = 75
	maxConfirm = 300
	maxVerb    = 30
	maxTitle   = 24 // the title of a modal and the labels of its buttons
	// maxNotice is our limit for the text that a phone's notification shows.
	maxNotice = 300
)

// page writes the blocks of a message. It is the only place where blocks are made. Text
// written by others becomes text elements of rich text, which hold plain text: the platform
// interprets no markup in them. It counts as the platform does, with the largest of the
// measures that it may use.
type page struct {
	texts  *templates.Texts
	blocks []slackapi.Block
	rich   *slackapi.RichTextBlock
	row    []slackapi.RichTextSectionElement
	units  int
	// folds says that long arguments may be folded, folded that some are.
	folds, folded bool
}

// fits reports whether the platform accepts the page.
func (p *page) fits() bool {
	p.flush()
	return p.units <= maxText && len(p.blocks) <= maxBlocks
}

// done returns the blocks.
func (p *page) done() []slackapi.Block {
	p.flush()
	return p.blocks
}

func (p *page) count(s string) { p.units += len(utf16.Encode([]rune(s))) }

// header writes the first line, in our words.
func (p *page) header(s string) {
	s = cardtext.Clip(s, maxHeader)
	p.count(s)
	p.add(slackapi.NewHeaderBlock(plain(s)))
}

// title writes the first line of a card: a header, or a bold line if a header would have to
// be cut, because half a name could be somebody else's.
func (p *page) title(t cardtext.Text) {
	if s := t.String(); utf8.RuneCountInString(s) <= maxHeader {
		p.header(s)
		return
	}
	for _, piece := range t {
		if piece.Kind == cardtext.Theirs {
			p.code(piece.Text)
		} else {
			p.bold(piece.Text)
		}
	}
	p.end()
}

// footer writes a small last line, in our words.
func (p *page) footer(s string) {
	p.count(s)
	p.add(slackapi.NewContextBlock("", plain(s)))
}

// add ends the current text and puts a block below it.
func (p *page) add(b slackapi.Block) {
	p.flush()
	p.blocks = append(p.blocks, b)
}

// flush ends the current text.
func (p *page) flush() {
	p.section()
	if p.rich != nil && len(p.rich.Elements) > 0 {
		p.blocks = append(p.blocks, p.rich)
	}
	p.rich = nil
}

// section ends a run of lines.
func (p *page) section() {
	if len(p.row) > 0 {
		p.put(slackapi.NewRichTextSection(p.row...))
	}
	p.row = nil
}

func (p *page) put(e slackapi.RichTextElement) {
	if p.rich == nil {
		p.rich = slackapi.NewRichTextBlock("")
	}
	p.rich.Elements = append(p.rich.Elements, e)
}

// inline writes a piece of a line. The platform refuses empty ones.
func (p *page) inline(s string, style *slackapi.RichTextSectionTextStyle) {
	if s == "" {
		return
	}
	p.count(s)
	p.row = append(p.row, slackapi.NewRichTextSectionTextElement(s, style))
}

func (p *page) text(s string) { p.inline(s, nil) }

func (p *page) bold(s string) { p.inline(s, &slackapi.RichTextSectionTextStyle{Bold: true}) }

// code writes text written by somebody else, on one line.
func (p *page) code(s string) { p.inline(s, &slackapi.RichTextSectionTextStyle{Code: true}) }

// link links to an address of the platform's own.
func (p *page) link(url, s string) {
	p.count(s)
	p.row = append(p.row, slackapi.NewRichTextSectionLinkElement(url, s, nil))
}

// pre writes text written by somebody else, on lines of its own.
func (p *page) pre(s string) {
	if s == "" {
		return
	}
	p.section()
	p.count(s)
	p.put(&slackapi.RichTextPreformatted{
		Type: slackapi.RTEPreformatted, Elements: []slackapi.RichTextSectionElement{slackapi.NewRichTextSectionTextElement(s, nil)},
	})
}

// fold writes a long block along with its name as one that opens at a tap, if the text
// begins with one and folding is allowed.
func (p *page) fold(t cardtext.Text) bool {
	const long = 400
	if !p.folds || len(t) < named || t[0].Kind != cardtext.Named || t[named-1].Kind != cardtext.Block || utf8.RuneCountInString(t[named-1].Text) <= long {
		return false
	}
	p.flush()
	inside := &page{texts: p.texts}
	inside.pre(t[named-1].Text)
	title := strings.TrimSuffix(t[0].Text, ":")
	p.count(title)
	p.add(slackapi.NewContainerBlock(inside.done()...).WithTitle(plain(cardtext.Clip(title, maxHeader))).WithCollapsible(true, true))
	p.units, p.folded = p.units+inside.units, true
	return true
}

// named is how many pieces a named block has: the name, the line break, and the block.
const named = 3

// write writes what a person reads. Text that is theirs goes into code.
func (p *page) write(t cardtext.Text) {
	for len(t) > 0 {
		if p.fold(t) {
			t = t[named:]
			continue
		}
		piece := t[0]
		t = t[1:]
		switch piece.Kind {
		case cardtext.Ours, cardtext.Named:
			p.text(piece.Text)
		case cardtext.Strong:
			p.bold(piece.Text)
		case cardtext.Command, cardtext.Block:
			p.pre(piece.Text)
		case cardtext.End:
			p.end()
		default:
			p.code(piece.Text)
		}
	}
}

// say writes one of our texts.
func (p *page) say(ph phrase, values map[string]any) { p.write(cardtext.Say(p.texts, ph, values)) }

// name gives the current text an id, by which the message can be found again.
func (p *page) name(id string) {
	p.section()
	if p.rich != nil {
		p.rich.BlockID = id
	}
}

// weight returns the size of the encoded blocks, in bytes.
func (p *page) weight() int {
	b, err := strictjson.Marshal(p.done())
	if err != nil {
		return math.MaxInt // forces a try with less
	}
	return len(b)
}

// end ends a line, unless it is empty.
func (p *page) end() {
	if len(p.row) > 0 {
		p.text("\n")
	}
}

// line is say on a line of its own.
func (p *page) line(ph phrase, values map[string]any) {
	p.say(ph, values)
	p.end()
}

// plain returns a text that the platform shows verbatim.
func plain(s string) *slackapi.TextBlockObject {
	return &slackapi.TextBlockObject{Type: slackapi.PlainTextType, Text: s, Emoji: new(bool)}
}
