package powershell

import (
	"strings"
	"unicode/utf8"

	"github.com/metnos/vaglio/vaglio/shell"
)

// cursor walks over a source. Whatever takes from it goes on by one byte at
// least, so a loop that takes in every round ends; what lies behind the end
// reads as zero.
type cursor struct {
	src  string
	pos  int
	open bool // a comment has no end
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

// take goes on by n bytes and returns them.
func (c *cursor) take(n int) string {
	start := c.pos
	c.pos = min(start+max(n, 1), len(c.src))
	return c.src[start:c.pos]
}

// until takes what stands before the next end, and the end itself; whether
// there is one.
func (c *cursor) until(end string) (string, bool) {
	before, _, ok := strings.Cut(c.rest(), end)
	c.take(len(before) + len(end))
	return before, ok
}

// name takes the name of a variable, a member or a word of the language.
func (c *cursor) name() string {
	n := nameLength(c.rest())
	if n == 0 {
		return ""
	}
	return c.take(n)
}

// blanks skips what stands between the words of a line.
func (c *cursor) blanks() {
	for !c.done() {
		switch ch := c.peek(0); {
		case isBlank(ch):
			c.take(1)
		case ch == '`' && c.peek(1) == '\n':
			c.take(2)
		case ch == '#':
			line, _, _ := strings.Cut(c.rest(), "\n")
			c.take(len(line))
		case ch == '<' && c.peek(1) == '#':
			_, closed := c.until("#>")
			c.open = c.open || !closed
		default:
			return
		}
	}
}

// space skips what stands between words, and any of the characters of ends.
func (c *cursor) space(ends string) {
	for c.blanks(); !c.done() && strings.IndexByte(ends, c.peek(0)) >= 0; c.blanks() {
		c.take(1)
	}
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\f' || c == '\v' || c == 0 }

// isNameByte says whether a byte may stand in a variable's name.
func isNameByte(c byte) bool {
	return c == '_' || isLetter(c) || isDigit(c) || c >= utf8.RuneSelf
}

func isLetter(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// nameLength is how many bytes of a name a text begins with.
func nameLength(s string) int {
	n := 0
	for n < len(s) && isNameByte(s[n]) {
		n++
	}
	return n
}

// variableName is the name under which a variable is kept: in lower case and
// without its scope.
func variableName(name string) string {
	name = strings.ToLower(name)
	if scope, rest, ok := strings.Cut(name, ":"); ok {
		switch scope {
		case "global", "script", "local", "private", "using", "variable":
			return rest
		}
	}
	return name
}

// redirection takes the operator of a redirection behind one of the streams,
// if one comes next; to says that a file follows it.
func (c *cursor) redirection(streams string) (kind shell.RedirectKind, to, ok bool) {
	n := 0
	if strings.IndexByte(streams, c.peek(0)) >= 0 {
		n = 1
	}
	if c.peek(n) != '>' {
		return 0, false, false
	}
	kind = shell.RedirectWrite
	if c.take(n + 1); c.peek(0) == '>' {
		c.take(1)
		kind = shell.RedirectAppend
	}
	if c.peek(0) == '&' && c.peek(1) != 0 {
		c.take(2)
		return 0, false, true
	}
	return kind, true, true
}

// plain writes the typographic quotes, dashes and blanks plainly that PowerShell
// takes for its own, and its line ends: a carriage return alone is one, too. No
// byte is zero then.
func plain(src string) string {
	if strings.IndexFunc(src, func(r rune) bool { return r == 0 || r == '\r' || r >= utf8.RuneSelf }) < 0 {
		return src
	}
	return strings.NewReplacer("\u2018", "'", "\u2019", "'", "\u201a", "'", "\u201b", "'", "\u201c", `"`, "\u201d", `"`, "\u201e", `"`,
		"\u2013", "-", "\u2014", "-", "\u2015", "-", "\u00a0", " ", "\x00", " ", "\r\n", "\n", "\r", "\n").Replace(src)
}

// closing finds the bracket that closes the one with which a text begins, or
// gives -1. What stands between them is read later, as a source of its own.
func closing(s string) int {
	var open []byte // what closes each bracket and quote
	for i := 0; i < len(s); i++ {
		n := 0
		if len(open) > 0 && open[len(open)-1] == '"' {
			open, n = inQuotes(open, s[i:])
		} else if n = passed(s, i); n == 0 {
			open = bracket(open, s[i], s[0])
		}
		switch {
		case n < 0:
			return -1
		case len(open) == 0:
			return i
		}
		i += n
	}
	return -1
}

// inQuotes goes on inside double quotes; n is how much more it takes.
func inQuotes(open []byte, s string) (_ []byte, n int) {
	switch {
	case s[0] == '`', strings.HasPrefix(s, `""`):
		return open, 1
	case s[0] == '"':
		return open[:len(open)-1], 0
	case strings.HasPrefix(s, "$("):
		return append(open, ')'), 1
	}
	return open, 0
}

// bracket notes what a character opens or closes.
func bracket(open []byte, c, first byte) []byte {
	switch {
	case c == '"':
		return append(open, '"')
	case c == '(':
		return append(open, ')')
	case c == '{':
		return append(open, '}')
	case c == '[' && first == '[':
		return append(open, ']')
	case len(open) > 0 && c == open[len(open)-1]:
		return open[:len(open)-1]
	}
	return open
}

// passed is how much follows a character that is to be skipped with it: what
// it escapes, a comment, a literal text; -1 where that has no end.
func passed(s string, i int) int {
	rest := s[i+1:]
	end := func(mark string) int {
		if n := strings.Index(rest, mark); n >= 0 {
			return n + len(mark)
		}
		return -1
	}
	switch s[i] {
	case '`':
		return 1
	case '\'':
		return end("'")
	case '@':
		if quote := hereQuote(s[i:]); quote != "" {
			return end("\n" + quote + "@")
		}
	case '<':
		if strings.HasPrefix(rest, "#") {
			return end("#>")
		}
	case '#':
		if strings.IndexByte(" \t\n;|&(){},", s[max(i-1, 0)]) >= 0 {
			line, _, _ := strings.Cut(rest, "\n")
			return len(line)
		}
	}
	return 0
}

// hereQuote is the quote of a text of lines that begins here, or "".
func hereQuote(s string) string {
	if len(s) < 3 || s[0] != '@' || s[1] != '\'' && s[1] != '"' || !strings.HasPrefix(strings.TrimLeft(s[2:], " \t"), "\n") {
		return ""
	}
	return s[1:2]
}
