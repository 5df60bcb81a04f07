package powershell

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/metnos/vaglio/vaglio/shell"
)

// cursor walks over a source. Whatever takes from it advances by at least one byte, so a loop that always takes ends. Bytes beyond the end read as zero.
type cursor struct {
	src  string
	pos  int
	open *bool // set if something has no end
}

func (c *cursor) done() bool { return c.pos >= len(c.src) }

func (c *cursor) rest() string { return c.src[c.pos:] }

func (c *cursor) has(s string) bool { return strings.HasPrefix(c.rest(), s) }

func (c *cursor) peek(n int) byte {
	if c.pos+n < len(c.src) {
		return c.src[c.pos+n]
	}
	return 0
}

// at reports whether one of the characters comes next.
func (c *cursor) at(set string) bool { return !c.done() && strings.IndexByte(set, c.src[c.pos]) >= 0 }

// take advances by n bytes and returns them.
func (c *cursor) take(n int) string {
	start := c.pos
	c.pos = min(start+max(n, 1), len(c.src))
	return c.src[start:c.pos]
}

// until takes the text before the next end, and drops the end itself.
func (c *cursor) until(end string) string {
	before, _, closed := strings.Cut(c.rest(), end)
	c.take(len(before) + len(end))
	*c.open = *c.open || !closed
	return before
}

// skip takes one of the characters, if it comes next.
func (c *cursor) skip(set string) bool {
	found := c.at(set)
	if found {
		c.pos++
	}
	return found
}

func (c *cursor) match(pattern *regexp.Regexp) string {
	m := pattern.FindString(c.rest())
	c.pos += len(m)
	return m
}

// space skips what separates words, and any of the characters in ends.
func (c *cursor) space(ends string) {
	for c.gap(ends) {
	}
}

func (c *cursor) gap(ends string) bool {
	return c.at(blanks+"`#<") && c.match(gaps) != "" || c.skip(ends)
}

const blanks = " \t\f\v"

var (
	names     = regexp.MustCompile(`^[\w\x{80}-\x{10ffff}]+`)
	scoped    = regexp.MustCompile(`^[\w\x{80}-\x{10ffff}]+(?::[\w\x{80}-\x{10ffff}]+)?`)
	gaps      = regexp.MustCompile("^(?:[ \t\f\v]|`\n|#.*|<#(?s:.*?)#>)+")
	redirects = regexp.MustCompile(`^[*1-9]?(>>?)(&.)?`)
)

// isNameByte reports whether a byte may be part of a variable's name.
func isNameByte(c byte) bool {
	return c == '_' || isLetter(c) || isDigit(c) || c >= utf8.RuneSelf
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// redirection takes the operator of a redirection, if one comes next. to reports whether a file follows it.
func (c *cursor) redirection() (kind shell.RedirectKind, to, ok bool) {
	m := redirects.FindStringSubmatch(c.rest())
	if m == nil {
		return 0, false, false
	}
	c.take(len(m[0]))
	if m[1] == ">>" {
		return shell.RedirectAppend, m[2] == "", true
	}
	return shell.RedirectWrite, m[2] == "", true
}

// plain replaces the typographic quotes, dashes and blanks that PowerShell accepts with plain
// ones, and normalizes line ends: a lone carriage return is one, too. The result has no zero byte.
func plain(src string) string {
	if strings.IndexFunc(src, func(r rune) bool { return r == 0 || r == '\r' || r >= utf8.RuneSelf }) < 0 {
		return src
	}
	return strings.NewReplacer("\u2018", "'", "\u2019", "'", "\u201a", "'", "\u201b", "'", "\u201c", `"`, "\u201d", `"`, "\u201e", `"`,
		"\u2013", "-", "\u2014", "-", "\u2015", "-", "\u00a0", " ", "\x00", " ", "\r\n", "\n", "\r", "\n").Replace(src)
}

// closing returns the index of the bracket that closes the one at the beginning of a text, or -1. What is between them is read later, as a source of its own.
func closing(s string) int {
	brackets := `"({`
	if s[0] == '[' {
		brackets += "["
	}
	open := []byte{0} // what closes each bracket and quote
	for i := 0; i < len(s); i++ {
		top := open[len(open)-1]
		n := passed(s, i, top == '"')
		switch at := strings.IndexByte(brackets, s[i]); {
		case n < 0:
			return -1
		case n > 0:
			i += n
		case s[i] == top && len(open) == 2:
			return i
		case s[i] == top:
			open = open[:len(open)-1]
		case top == '"' && strings.HasPrefix(s[i:], "$("):
			open = append(open, ')')
			i++
		case top != '"' && at >= 0:
			open = append(open, `")}]`[at])
		}
	}
	return -1
}

// passed returns how many characters to skip after one: what it escapes, a comment, a literal text; -1 if that has no end.
func passed(s string, i int, quoted bool) int {
	switch c := s[i]; {
	case c == '`', quoted && strings.HasPrefix(s[i:], `""`):
		return 1
	case quoted:
		return 0
	case c == '#' && strings.IndexByte(" \t\n;|&(){},", s[max(i-1, 0)]) >= 0:
		line, _, _ := strings.Cut(s[i+1:], "\n")
		return len(line)
	case strings.IndexByte("'@<", c) < 0:
		return 0
	}
	m := literals.FindStringSubmatch(s[i:])
	switch {
	case m == nil:
		return 0
	case m[1] != "": // it has no end
		return -1
	}
	return len(m[0]) - 1
}

// literals matches literal texts and comments, or the beginning of one without an end.
var literals = regexp.MustCompile("(?s)^(?:'[^']*'|@'[ \t]*(?:\n.*?)??\n'@|@\"[ \t]*(?:\n.*?)??\n\"@|<#.*?#>|(<#|@['\"][ \t]*\n|'))")

// hereQuote returns the quote of a here-string that begins here, or "".
func hereQuote(s string) string {
	if len(s) < 3 || s[0] != '@' || s[1] != '\'' && s[1] != '"' || !strings.HasPrefix(strings.TrimLeft(s[2:], " \t"), "\n") {
		return ""
	}
	return s[1:2]
}

// enclosed takes what is in brackets and returns the text between them.
func (p *parser) enclosed() string {
	n := closing(p.rest())
	if n < 0 {
		*p.open = true
		n = len(p.rest())
	}
	s := p.take(n + 1)
	p.r.step(1 + len(s)/bytesPerStep)
	return s[1:min(n, len(s))]
}

func (p *parser) quoted() value {
	if p.take(1) == `"` {
		return p.expandable(`"`)
	}
	var b strings.Builder
	for b.WriteString(p.until("'")); p.at("'"); b.WriteString(p.until("'")) {
		b.WriteString(p.take(1))
	}
	return text(b.String())
}

// lines reads a here-string: a text between @" and "@ on lines of their own.
func (p *parser) lines(quote string) value {
	p.until("\n")
	p.pos-- // the first line may also be the last
	s := strings.TrimPrefix(p.until("\n"+quote+"@"), "\n")
	if quote == "'" {
		return text(s)
	}
	return p.r.parse(s).expandable("")
}

// expandable reads a text with variables, up to the quote, or to the end if quote is "".
func (p *parser) expandable(quote string) value {
	var parts []value
	var b strings.Builder
	for !p.done() && (!p.at(quote) || p.peek(1) == quote[0]) {
		switch {
		case p.at(quote):
			b.WriteString(p.take(2)[:1])
		case p.at("`"):
			b.WriteString(p.escape())
		case p.has("$") && expands.MatchString(p.rest()[:min(len(p.rest()), len("$\u00e9"))]):
			p.r.step(1)
			parts = append(parts, text(b.String()), p.dollar())
			b.Reset()
		default:
			b.WriteString(p.take(1))
		}
	}
	*p.open = *p.open || quote != "" && p.done()
	p.skip(quote)
	v := p.r.glue(append(parts, text(b.String()))...)
	v.files = false
	return v
}

var expands = regexp.MustCompile(`^\$[\w({?$^\x80-\x{10ffff}]`)

// escape takes a backtick and returns what it escapes.
func (p *parser) escape() string {
	const names, meant = "ntrabfve0\n", "\n\t\r     \x00\x00"
	s := p.take(2)
	if i := strings.IndexByte(names, s[len(s)-1]); i >= 0 && len(s) > 1 {
		return strings.Trim(meant[i:i+1], "\x00")
	}
	return s[1:]
}

func (p *parser) dollar() value {
	p.take(1)
	switch c := p.peek(0); {
	case c == '(':
		return p.grouped()
	case p.skip("$?^"):
		return unknown()
	case c != '{' && !isNameByte(c):
		return text("$")
	}
	name := p.variable()
	p.names = append(p.names, name)
	return p.r.variable(name)
}

// variable takes the name after a dollar or an at sign, and returns it in lower case without its scope.
func (p *parser) variable() string {
	name := p.match(scoped)
	if name == "" && p.skip("{") {
		name = p.until("}")
	}
	return scopes.ReplaceAllString(strings.ToLower(name), "$1")
}

var scopes = regexp.MustCompile(`^(?:global|script|local|private|using|variable):(.+)`)

// bare takes text without quotes, at least one byte.
func (p *parser) bare() string {
	var b strings.Builder
	for first := true; !p.done() && (first || !p.endsBare()); first = false {
		if p.at("`") {
			b.WriteString(p.escape())
		} else {
			b.WriteString(p.take(1))
		}
	}
	return b.String()
}

// endsBare reports whether text without quotes ends here.
func (p *parser) endsBare() bool {
	return p.at(blanks+"\n;|&(){},'\"$>") || p.has("@(") || p.has("@{") || p.has("`\n")
}
