package slacktest

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// The platform's limits, in characters unless stated otherwise.
const (
	MaxBlocks     = 50  // blocks of a message
	MaxViewBlocks = 100 // blocks of a view
	// MaxBlocksText is the most text in all blocks of a message. The platform does not
	// document it; it once refused 11341 characters.
	MaxBlocksText  = 11000
	MaxHeader      = 150
	MaxSection     = 3000
	MaxFields      = 10
	MaxField       = 2000
	MaxContext     = 10 // elements of a context block
	MaxActions     = 25 // elements of an actions block
	MaxButtonText  = 75
	MaxButtonValue = 2000
	MaxID          = 255
	MaxMetadata    = 3000 // a view's private metadata
	MaxViewTitle   = 24
	MaxPlaceholder = 150
	MaxInput       = 3000
	maxConfirm     = 300
	maxConfirmHead = 100
	maxConfirmVerb = 30
	maxChildren    = 10 // blocks of a container
)

// Block is a block, or an element inside one, as the app sent it.
type Block map[string]any

func (b Block) text(key string) string {
	v, _ := b[key].(string)
	return v
}

func (b Block) block(key string) Block {
	v, _ := b[key].(map[string]any)
	return v
}

func (b Block) list(key string) []Block {
	all, _ := b[key].([]any)
	out := make([]Block, 0, len(all))
	for _, v := range all {
		m, _ := v.(map[string]any)
		out = append(out, m)
	}
	return out
}

// Button is a button of a message or a view.
type Button struct {
	Text, ActionID, Value, Style, BlockID string
	// Confirm is the dialog's text; empty for no dialog.
	Confirm string
	// URL is the address that the button opens; empty for none.
	URL string
}

// buttons returns the buttons in blocks.
func buttons(blocks []Block) []Button {
	var all []Button
	for _, b := range blocks {
		for _, e := range b.list("elements") {
			if e.text("type") == "button" {
				all = append(all, Button{
					e.block("text").text("text"), e.text("action_id"), e.text("value"), e.text("style"), b.text("block_id"),
					e.block("confirm").block("text").text("text"), e.text("url"),
				})
			}
		}
	}
	return all
}

// Shown returns what a person reads in blocks, without the buttons.
func Shown(blocks []Block) string {
	var parts []string
	for _, b := range blocks {
		switch b.text("type") {
		case "header", "section":
			parts = append(parts, b.block("text").text("text"))
			for _, f := range b.list("fields") {
				parts = append(parts, f.text("text"))
			}
		case "input":
			parts = append(parts, b.block("label").text("text"))
		case "context":
			for _, e := range b.list("elements") {
				parts = append(parts, e.text("text"))
			}
		case "rich_text":
			for _, e := range b.list("elements") {
				parts = append(parts, spans(e))
			}
		case "container":
			parts = append(parts, b.block("title").text("text"), Shown(b.list("child_blocks")))
		}
	}
	return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), "\n")
}

// Links returns what leads out of blocks when touched, or may be interpreted as markup:
// links, mentions, and every text in the platform's markup.
func Links(blocks []Block) (all []string) {
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, e := range v {
				walk(e)
			}
		case map[string]any:
			switch kind := v["type"]; kind {
			case "link", "user", "usergroup", "channel", "broadcast", "emoji", "mrkdwn":
				all = append(all, fmt.Sprint(kind, " ", v))
			}
			for _, e := range v {
				walk(e)
			}
		}
	}
	for _, b := range blocks {
		walk(map[string]any(b))
	}
	return all
}

// spans joins the texts of an element of rich text.
func spans(e Block) string {
	var b strings.Builder
	for _, s := range e.list("elements") {
		b.WriteString(s.text("text"))
	}
	return b.String()
}

// blockCheck finds what the platform would refuse.
type blockCheck struct {
	problem string
	runes   int
	ids     map[string]bool
	view    bool
	// old makes it a workspace that has no containers yet.
	old bool
}

func (c *blockCheck) bad(at, format string, args ...any) {
	if c.problem == "" {
		c.problem = fmt.Sprintf(format, args...) + " [json-pointer:" + at + "]"
	}
}

// checkMessage says what is wrong with a message's blocks.
func (s *Server) checkMessage(blocks []Block) answer {
	c := &blockCheck{ids: map[string]bool{}, old: s.old}
	if len(blocks) > MaxBlocks {
		c.bad("/blocks", "no more than %d items allowed", MaxBlocks)
	}
	c.all(blocks)
	switch {
	case c.problem != "":
		return answer{err: "invalid_blocks", detail: c.problem}
	case c.runes > MaxBlocksText:
		return answer{err: "msg_blocks_too_long"}
	}
	return answer{}
}

func (c *blockCheck) all(blocks []Block) {
	for i, b := range blocks {
		at := fmt.Sprintf("/blocks/%d", i)
		c.length(at+"/block_id", b.text("block_id"), 0, MaxID)
		if id := b.text("block_id"); id != "" && c.ids[id] {
			c.bad(at+"/block_id", "block_id %q already exists", id)
		} else {
			c.ids[id] = true
		}
		c.one(at, b)
	}
}

func (c *blockCheck) one(at string, b Block) {
	switch b.text("type") {
	case "header":
		c.object(at+"/text", b.block("text"), MaxHeader, true)
	case "section":
		c.section(at, b)
	case "context":
		c.elements(at, b, MaxContext)
		for i, e := range b.list("elements") {
			c.object(fmt.Sprintf("%s/elements/%d", at, i), e, MaxSection, false)
		}
	case "actions":
		c.elements(at, b, MaxActions)
		c.actions(at, b.list("elements"))
	case "rich_text":
		c.rich(at, b)
	case "divider":
	case "container":
		c.container(at, b)
	case "input":
		if !c.view {
			c.bad(at, "unsupported type: input")
		}
		c.object(at+"/label", b.block("label"), MaxField, true)
		c.input(at+"/element", b.block("element"))
	default:
		c.bad(at+"/type", "unsupported type: %s", b.text("type"))
	}
}

func (c *blockCheck) container(at string, b Block) {
	children := b.list("child_blocks")
	switch n := len(children); {
	case c.old:
		c.bad(at+"/type", "unsupported type: container")
	case n == 0 || n > maxChildren:
		c.bad(at+"/child_blocks", "between 1 and %d items allowed, got %d", maxChildren, n)
	case b["default_collapsed"] == true && b["is_collapsible"] != true:
		c.bad(at+"/default_collapsed", "requires is_collapsible")
	}
	c.object(at+"/title", b.block("title"), MaxHeader, true)
	for i, child := range children {
		at := fmt.Sprintf("%s/child_blocks/%d", at, i)
		if child.text("type") == "container" {
			c.bad(at+"/type", "unsupported type: container")
			continue
		}
		c.one(at, child)
	}
}

func (c *blockCheck) section(at string, b Block) {
	if b["text"] == nil && b["fields"] == nil {
		c.bad(at, "missing required field: text")
	}
	if b["text"] != nil {
		c.object(at+"/text", b.block("text"), MaxSection, false)
	}
	if n := len(b.list("fields")); n > MaxFields {
		c.bad(at+"/fields", "no more than %d items allowed", MaxFields)
	}
	for i, f := range b.list("fields") {
		c.object(fmt.Sprintf("%s/fields/%d", at, i), f, MaxField, false)
	}
}

func (c *blockCheck) elements(at string, b Block, most int) {
	if n := len(b.list("elements")); n == 0 || n > most {
		c.bad(at+"/elements", "between 1 and %d items allowed, got %d", most, n)
	}
}

// length checks a text and counts nothing.
func (c *blockCheck) length(at, s string, least, most int) {
	switch n := utf8.RuneCountInString(s); {
	case n < least:
		c.bad(at, "must be more than %d characters", least-1)
	case n > most:
		c.bad(at, "must be less than %d characters", most+1)
	}
}

// object checks a text object and counts its text.
func (c *blockCheck) object(at string, o Block, most int, plain bool) {
	kind := o.text("type")
	if kind != "plain_text" && (plain || kind != "mrkdwn") {
		c.bad(at+"/type", "unsupported type: %s", kind)
	}
	c.length(at+"/text", o.text("text"), 1, most)
	c.runes += utf8.RuneCountInString(o.text("text"))
}

func (c *blockCheck) actions(at string, all []Block) {
	seen := map[string]bool{}
	for i, e := range all {
		at := fmt.Sprintf("%s/elements/%d", at, i)
		if e.text("type") != "button" {
			c.bad(at+"/type", "unsupported type: %s", e.text("type"))
			continue
		}
		c.object(at+"/text", e.block("text"), MaxButtonText, true)
		c.length(at+"/value", e.text("value"), 0, MaxButtonValue)
		c.length(at+"/action_id", e.text("action_id"), 0, MaxID)
		if id := e.text("action_id"); id != "" && seen[id] {
			c.bad(at+"/action_id", "action_id %q already exists", id)
		}
		seen[e.text("action_id")] = true
		if style, set := e["style"]; set && style != "primary" && style != "danger" {
			c.bad(at+"/style", "must be primary or danger")
		}
		if e["confirm"] != nil {
			d := e.block("confirm")
			c.object(at+"/confirm/title", d.block("title"), maxConfirmHead, true)
			c.object(at+"/confirm/text", d.block("text"), maxConfirm, true)
			c.object(at+"/confirm/confirm", d.block("confirm"), maxConfirmVerb, true)
			c.object(at+"/confirm/deny", d.block("deny"), maxConfirmVerb, true)
		}
	}
}

func (c *blockCheck) rich(at string, b Block) {
	if len(b.list("elements")) == 0 {
		c.bad(at+"/elements", "missing required field: elements")
	}
	for i, e := range b.list("elements") {
		at := fmt.Sprintf("%s/elements/%d", at, i)
		if kind := e.text("type"); kind != "rich_text_section" && kind != "rich_text_preformatted" {
			c.bad(at+"/type", "unsupported type: %s", kind)
		}
		for j, s := range e.list("elements") {
			at := fmt.Sprintf("%s/elements/%d", at, j)
			switch kind := s.text("type"); kind {
			case "text":
				c.length(at+"/text", s.text("text"), 1, MaxBlocksText+1)
			case "link":
				c.length(at+"/url", s.text("url"), 1, MaxSection)
			default:
				c.bad(at+"/type", "unsupported type: %s", kind)
			}
			c.runes += utf8.RuneCountInString(s.text("text"))
		}
	}
}

func (c *blockCheck) input(at string, e Block) {
	if e.text("type") != "plain_text_input" {
		c.bad(at+"/type", "unsupported type: %s", e.text("type"))
	}
	c.length(at+"/action_id", e.text("action_id"), 0, MaxID)
	if p := e.block("placeholder"); p != nil {
		c.object(at+"/placeholder", p, MaxPlaceholder, true)
	}
	if most, ok := e["max_length"].(float64); ok && (most < 1 || most > MaxInput) {
		c.bad(at+"/max_length", "must be between 1 and %d", MaxInput)
	}
}
