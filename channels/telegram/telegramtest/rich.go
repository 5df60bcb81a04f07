package telegramtest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/metnos/vaglio/internal/strictjson"
)

// The limits of a rich message.
const (
	MaxRich   = 32768 // characters
	MaxBlocks = 500   // blocks, also within others
	maxDepth  = 16
)

// richReader reads the blocks of a rich message, and is stricter than the platform: it knows
// no block and no look that we do not send.
type richReader struct {
	text     strings.Builder
	units    int
	blocks   int
	entities []Entity
}

// ParseRich reads a rich message in the form of blocks. It returns what a person reads, each
// paragraph and each summary as a line, and what looks different in it; behind a summary is
// what is folded. What the platform itself makes links of is among it, unless it is told not to.
func ParseRich(source string) (string, []Entity, error) {
	var m struct {
		Blocks *[]strictjson.Value `json:"blocks"`
		Skip   bool                `json:"skip_entity_detection"`
	}
	if err := strictjson.Unmarshal([]byte(source), &m); err != nil || m.Blocks == nil {
		return "", nil, errors.New("can't parse InputRichMessage: exactly one of the fields must be used")
	}
	r := &richReader{}
	if err := r.all(*m.Blocks, 1); err != nil {
		return "", nil, err
	}
	text := strings.TrimRight(r.text.String(), "\n")
	switch {
	case r.blocks > MaxBlocks:
		return "", nil, errors.New("RICH_MESSAGE_BLOCKS_TOO_MANY")
	case utf8.RuneCountInString(text) > MaxRich:
		return "", nil, errors.New("RICH_MESSAGE_TEXT_TOO_LONG")
	case text == "":
		return "", nil, errors.New("RICH_MESSAGE_EMPTY")
	}
	if !m.Skip {
		r.entities = append(r.entities, automatic(text, r.entities)...)
	}
	slices.SortStableFunc(r.entities, func(a, b Entity) int { return a.Offset - b.Offset })
	return text, r.entities, nil
}

func (r *richReader) all(blocks []strictjson.Value, depth int) error {
	if depth > maxDepth || len(blocks) == 0 {
		return errors.New("RICH_MESSAGE_DEPTH_INVALID")
	}
	for _, raw := range blocks {
		if err := r.block(raw, depth); err != nil {
			return err
		}
	}
	return nil
}

func (r *richReader) block(raw strictjson.Value, depth int) error {
	var b struct {
		Type     string             `json:"type"`
		Text     []strictjson.Value `json:"text"`
		Language string             `json:"language"`
		Summary  []strictjson.Value `json:"summary"`
		Blocks   []strictjson.Value `json:"blocks"`
	}
	if err := strictjson.Unmarshal(raw, &b); err != nil {
		return fmt.Errorf("can't parse InputRichBlock: %w", err)
	}
	r.blocks++
	from := r.units
	mark := func() { r.entities = append(r.entities, Entity{b.Type, from, r.units - from, "", b.Language}) }
	switch b.Type {
	case "paragraph", "pre":
		if len(b.Text) == 0 {
			return errors.New("RICH_TEXT_EMPTY")
		}
		if err := r.line(b.Text, b.Type == "pre"); err != nil {
			return err
		}
		if b.Type == "pre" {
			mark()
		}
		r.put("\n")
		return nil
	case "details":
		if err := r.line(b.Summary, false); err != nil {
			return err
		}
		r.put("\n")
		if err := r.all(b.Blocks, depth+1); err != nil {
			return err
		}
		mark()
		return nil
	default:
		return fmt.Errorf("unsupported block %q", b.Type)
	}
}

// line reads a text and its looks. Only a preformatted one may have line breaks, so that nobody
// can begin a line of somebody else's.
func (r *richReader) line(parts []strictjson.Value, broken bool) error {
	for _, raw := range parts {
		var s string
		var run struct {
			Type string `json:"type"`
			Text string `json:"text"`
		}
		if err := strictjson.Unmarshal(raw, &s); err != nil {
			if err := strictjson.Unmarshal(raw, &run); err != nil || run.Type != "bold" && run.Type != "code" || run.Text == "" {
				return fmt.Errorf("can't parse RichText %s", raw)
			}
			s = run.Text
		}
		if !broken && strings.Contains(s, "\n") {
			return errors.New("a line break in a paragraph")
		}
		from := r.units
		r.put(s)
		if run.Type != "" {
			r.entities = append(r.entities, Entity{Type: run.Type, Offset: from, Length: r.units - from})
		}
	}
	return nil
}

func (r *richReader) put(s string) {
	r.text.WriteString(s)
	r.units += len(utf16.Encode([]rune(s)))
}

// content reads what a call wants a message to hold; s.mu must be held. A server that knows no
// rich messages does not see that there is one.
func (s *Server) content(p map[string]string, text string, limit int) (content, *Fault) {
	source, ok := p["rich_message"]
	if !ok || !s.rich {
		return readContent(p, text, limit)
	}
	c := content{rich: true}
	if p["text"] != "" || p["parse_mode"] != "" || p["link_preview_options"] != "" {
		return c, bad("text and rich_message must not be used together")
	}
	var err error
	if c.text, c.entities, err = ParseRich(source); err != nil {
		return c, bad(err.Error())
	}
	return c, c.markup(p["reply_markup"])
}
