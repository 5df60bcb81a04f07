package telegramtest

import (
	"fmt"
	"html"
	"regexp"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Entity is a piece of a text with a meaning. Offset and Length count UTF-16 units, as on
// the platform.
type Entity struct {
	Type     string `json:"type"`
	Offset   int    `json:"offset"`
	Length   int    `json:"length"`
	URL      string `json:"url,omitempty"`
	Language string `json:"language,omitempty"`
}

// Of returns the part of the text that the entity covers.
func (e Entity) Of(text string) string {
	units := utf16.Encode([]rune(text))
	return string(utf16.Decode(units[e.Offset : e.Offset+e.Length]))
}

// kindOf maps the tags of the HTML mode to types of entities.
func kindOf(tag string) string {
	switch tag {
	case "b", "strong":
		return "bold"
	case "i", "em":
		return "italic"
	case "u", "ins":
		return "underline"
	case "s", "strike", "del":
		return "strikethrough"
	case "code", "pre", "blockquote":
		return tag
	case "a":
		return "text_link"
	case "tg-spoiler":
		return "spoiler"
	default:
		return ""
	}
}

// markup parses a text in the HTML mode.
type markup struct {
	rest     string
	at       int // bytes read, for errors
	text     strings.Builder
	units    int
	open     []Entity
	tags     []string
	entities []Entity
}

var attribute = regexp.MustCompile(`^\s+([a-z-]+)(?:="([^"<>]*)")?`)

// ParseHTML parses a text in the HTML mode and returns what a person reads, and its
// entities, including the links, mentions and commands that the platform itself makes
// outside of code. It is stricter than the platform where that would silently drop markup:
// nothing may be inside code, and no quote inside a quote.
func ParseHTML(source string) (string, []Entity, error) {
	if !utf8.ValidString(source) {
		return "", nil, fmt.Errorf("Bad Request: strings must be encoded in UTF-8") //nolint:staticcheck // The platform's words.
	}
	m := &markup{rest: source}
	for m.rest != "" {
		var err error
		switch m.rest[0] {
		case '<':
			err = m.tag()
		case '&':
			m.reference()
		default:
			n := strings.IndexAny(m.rest, "<&")
			if n < 0 {
				n = len(m.rest)
			}
			m.put(m.rest[:n])
			m.skip(n)
		}
		if err != nil {
			return "", nil, err
		}
	}
	if len(m.open) > 0 {
		return "", nil, m.fail("can't find end tag corresponding to start tag \"%s\"", m.tags[len(m.tags)-1])
	}
	text := strings.TrimRight(m.text.String(), " \n")
	entities := clip(m.entities, len(utf16.Encode([]rune(text))))
	entities = append(entities, automatic(text, entities)...)
	slices.SortStableFunc(entities, func(a, b Entity) int { return a.Offset - b.Offset })
	return text, entities[:min(len(entities), MaxEntities)], nil
}

func (m *markup) fail(format string, args ...any) error {
	return fmt.Errorf("Bad Request: can't parse entities: "+format+" at byte offset %d", append(args, m.at)...)
}

func (m *markup) skip(n int) { m.rest, m.at = m.rest[n:], m.at+n }

func (m *markup) put(s string) {
	m.text.WriteString(s)
	m.units += len(utf16.Encode([]rune(s)))
}

func (m *markup) reference() {
	n := strings.IndexByte(m.rest, ';')
	if n > 0 && n < 10 {
		switch ref := m.rest[:n+1]; {
		case slices.Contains([]string{"&lt;", "&gt;", "&amp;", "&quot;"}, ref), strings.HasPrefix(ref, "&#"):
			m.put(html.UnescapeString(ref))
			m.skip(n + 1)
			return
		}
	}
	m.put("&")
	m.skip(1)
}

func (m *markup) tag() error {
	end := strings.IndexByte(m.rest, '>')
	if end < 0 {
		return m.fail("unclosed start tag")
	}
	inner := m.rest[1:end]
	if name, ok := strings.CutPrefix(inner, "/"); ok {
		return m.close(strings.ToLower(strings.TrimSpace(name)), end+1)
	}
	name := inner
	if i := strings.IndexAny(inner, " \n"); i >= 0 {
		name = inner[:i]
	}
	attrs := map[string]string{}
	for rest := inner[len(name):]; strings.TrimSpace(rest) != ""; {
		a := attribute.FindStringSubmatch(rest)
		if a == nil {
			return m.fail("malformed attribute of tag \"%s\"", name)
		}
		attrs[a[1]] = html.UnescapeString(a[2])
		rest = rest[len(a[0]):]
	}
	name = strings.ToLower(name)
	kind := kindOf(name)
	if kind == "" {
		return m.fail("unsupported start tag \"%s\"", name)
	}
	if err := m.nest(name); err != nil {
		return err
	}
	e := Entity{Type: kind, Offset: m.units, URL: attrs["href"]}
	if _, ok := attrs["expandable"]; ok && kind == "blockquote" {
		e.Type = "expandable_blockquote"
	}
	if lang, ok := strings.CutPrefix(attrs["class"], "language-"); ok && kind == "code" {
		e.Language = lang
	}
	m.open, m.tags = append(m.open, e), append(m.tags, name)
	m.skip(end + 1)
	return nil
}

// nest refuses tags where the platform would drop their meaning.
func (m *markup) nest(name string) error {
	switch {
	case name == "blockquote" && slices.Contains(m.tags, "blockquote"):
		return m.fail("nested quotes are not allowed")
	case slices.Contains(m.tags, "code"):
		return m.fail("tag \"%s\" inside code", name)
	case slices.Contains(m.tags, "pre") && name != "code":
		return m.fail("tag \"%s\" inside pre", name)
	}
	return nil
}

func (m *markup) close(name string, n int) error {
	last := len(m.tags) - 1
	switch {
	case last < 0:
		return m.fail("unexpected end tag")
	case m.tags[last] != name:
		return m.fail("unmatched end tag, expected \"</%s>\", found \"</%s>\"", m.tags[last], name)
	}
	e := m.open[last]
	m.open, m.tags = m.open[:last], m.tags[:last]
	m.skip(n)
	e.Length = m.units - e.Offset
	if e.Length == 0 || e.Type == "text_link" && e.URL == "" {
		return nil
	}
	if e.Type == "code" && last > 0 && m.tags[last-1] == "pre" {
		m.open[last-1].Language = e.Language
		return nil
	}
	m.entities = append(m.entities, e)
	return nil
}

// clip ends entities where the trimmed text ends.
func clip(all []Entity, units int) []Entity {
	var kept []Entity
	for _, e := range all {
		if e.Length = min(e.Length, units-e.Offset); e.Length > 0 {
			kept = append(kept, e)
		}
	}
	return kept
}

// links finds what the platform itself turns into a link.
var links = regexp.MustCompile(`(?i)(https?://[^\s]+|\b[a-z0-9-]+\.(?:com|org|net|io|dev|ru|example)\b[^\s]*)|(@[a-z0-9_]{4,})|((?:^|\s)/[a-z0-9_]+)|(#[a-z_]\w*)|(\$[A-Z]{3,8}\b)`)

func automatic(text string, marked []Entity) []Entity {
	kinds := []string{"url", "mention", "bot_command", "hashtag", "cashtag"}
	var found []Entity
	for _, at := range links.FindAllStringSubmatchIndex(text, -1) {
		for i, kind := range kinds {
			if at[2+2*i] < 0 {
				continue
			}
			e := Entity{Type: kind, Offset: len(utf16.Encode([]rune(text[:at[0]]))), Length: len(utf16.Encode([]rune(text[at[0]:at[1]])))}
			inside := slices.ContainsFunc(marked, func(c Entity) bool {
				code := c.Type == "code" || c.Type == "pre" || c.Type == "text_link"
				return code && c.Offset < e.Offset+e.Length && e.Offset < c.Offset+c.Length
			})
			if !inside {
				found = append(found, e)
			}
		}
	}
	return found
}
