package telegram

import (
	"context"
	"errors"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"

	"github.com/metnos/vaglio/internal/strictjson"
)

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
			r.text(v.Texts.Plain("file.folded", map[string]any{"name": part.Name, "lines": lines, "chars": chars}), part.Text)
		case strings.Contains(part.Text, "\n"):
			r.line(label, label, "")
			r.text("", part.Text)
		default:
			r.line(label+" ", label+" ", part.Text)
		}
	}
	return marshal(map[string]any{"blocks": r.blocks, "skip_entity_detection": true}), r.units <= maxRich && r.used <= maxBlocks
}

// sendWhole sends the whole card, without buttons and without a sound: a card with both
// follows. It is a rich message, or a document where that is too long for one or the server
// refuses those. From then on no rich message is tried, until the next start.
func (c *Channel) sendWhole(ctx context.Context, chat int64, v *cardView) (int, error) {
	if message, fits := v.whole(); fits && !c.plain.Load() {
		params := address(chat, note{thread: c.topic, silent: true})
		params["rich_message"] = message
		id, err := c.put(ctx, chat, params, false, func(params tgbotapi.Params) (strictjson.Value, error) {
			return c.api.call(ctx, "sendRichMessage", params, callWithin)
		})
		if p, ok := errors.AsType[*PlatformError](err); !ok || !p.richless() {
			return id, err
		}
		if !c.plain.Swap(true) {
			c.log.InfoContext(ctx, "the Bot API server takes no rich messages: long cards get a file", "error", err)
		}
	}
	caption := &page{texts: v.Texts}
	caption.write(v.Caption(v.sum))
	return c.upload(ctx, chat, caption, tgbotapi.FileBytes{Name: "ask-" + string(v.Ask) + ".txt", Bytes: v.data})
}
