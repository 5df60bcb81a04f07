package powershell

import (
	"strings"
	"unicode/utf8"

	"github.com/metnos/vaglio/vaglio/shell"
)

// kind tells tokens apart.
type kind uint8

const (
	tokWord  kind = iota + 1 // bare text
	tokText                  // text in quotes: parts
	tokVar                   // a variable: text is its name in lower case
	tokGroup                 // what stands in brackets: open and kids
	tokEnd                   // a line's end or ;
	tokPipe
	tokAnd
	tokOr
	tokAmp
	tokComma
	tokRedirect // text is the operator
	tokAssign   // text is the operator
	tokOp       // an operator of an expression
	tokMember   // a member of what stands before it
	tokIndex    // an element of what stands before it
	tokType     // the name of a type, in lower case
)

// The brackets of a group, by what opens it.
const (
	openParen = '('
	openValue = '$' // $(…)
	openList  = '@' // @(…)
	openBlock = '{'
	openHash  = 'h' // @{…}
	openIndex = '['
)

// token is one piece of a source. What stands in brackets or in a text with
// variables hangs below it. Tokens are never changed once they are read.
type token struct {
	kind       kind
	open       byte
	glued      bool // nothing stands between it and the token before
	splat      bool // a variable that is spread over a command's parameters
	text       string
	kids       []token
	start, end int
}

// is says whether a token is a group that the bracket opens.
func (t *token) is(open byte) bool { return t.kind == tokGroup && t.open == open }

// cursor walks over a source. Whatever takes from it goes on by one byte at
// least, so a loop that takes in every round ends; what lies behind the end
// reads as zero.
type cursor struct {
	src string
	pos int
}

func (c *cursor) done() bool { return c.pos >= len(c.src) }

func (c *cursor) rest() string { return c.src[c.pos:] }

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

// lexer cuts a source into tokens, once.
type lexer struct {
	cursor
	depth int
	spend func(steps int) bool
	// unclosed says that a quote or a bracket has no end; deep that brackets
	// nest deeper than is read.
	unclosed, deep bool
}

// plain writes the typographic quotes, dashes and blanks plainly that PowerShell
// takes for its own, and its line ends: a carriage return alone is one, too.
func plain(src string) string {
	if strings.IndexFunc(src, func(r rune) bool { return r == '\r' || r >= utf8.RuneSelf }) < 0 {
		return src
	}
	return strings.NewReplacer("\u2018", "'", "\u2019", "'", "\u201a", "'", "\u201b", "'", "\u201c", `"`, "\u201d", `"`, "\u201e", `"`,
		"\u2013", "-", "\u2014", "-", "\u2015", "-", "\u00a0", " ", "\r\n", "\n", "\r", "\n").Replace(src)
}

// group reads tokens up to the closing bracket, or to the end for 0.
func (l *lexer) group(closer byte) []token {
	if l.depth >= shell.MaxDepth {
		l.deep = true
		l.pos = len(l.src)
		return nil
	}
	l.depth++
	defer func() { l.depth-- }()
	var out []token
	first := 0 // of the statement
	for {
		glued := !l.blanks()
		if l.done() || !l.spend(1) {
			l.unclosed = l.unclosed || closer != 0
			l.pos = len(l.src)
			return out
		}
		if l.peek(0) == closer {
			l.take(1)
			return out
		}
		start := l.pos
		t := l.token(out[first:], glued)
		if t.kind == 0 {
			l.unclosed = true // it closes nothing
			continue
		}
		t.start, t.end = start, l.pos
		t.glued = glued && len(out) > first
		out = append(out, t)
		if tokEnd <= t.kind && t.kind <= tokComma {
			first = len(out)
		}
	}
}

// blanks skips what separates tokens and reports whether there was any.
func (l *lexer) blanks() bool {
	start := l.pos
	for !l.done() {
		c, next := l.peek(0), l.peek(1)
		switch {
		case isBlank(c):
			l.take(1)
		case c == '`' && next == '\n':
			l.take(2)
		case c == '#' && (l.pos == 0 || l.pos > start || strings.IndexByte(" \t\n;|&(){},", l.src[l.pos-1]) >= 0):
			line, _, _ := strings.Cut(l.rest(), "\n")
			l.take(len(line))
		case c == '<' && next == '#':
			l.until("#>")
		default:
			return l.pos > start
		}
	}
	return true
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\f' || c == '\v' || c == 0 }

// punctuation is what is a token wherever it stands outside quotes.
func punctuation(s string) (kind, int) {
	twice := len(s) > 1 && s[1] == s[0]
	switch s[0] {
	case '\n', ';':
		return tokEnd, 1
	case '|':
		if twice {
			return tokOr, 2
		}
		return tokPipe, 1
	case '&':
		if twice {
			return tokAnd, 2
		}
		return tokAmp, 1
	case ',':
		return tokComma, 1
	default:
		return 0, 0
	}
}

// token takes one token; before are those of the same statement. Its kind is 0
// for a bracket that closes nothing.
func (l *lexer) token(before []token, glued bool) token {
	if k, n := punctuation(l.rest()); k != 0 {
		return token{kind: k, text: l.take(n)}
	}
	switch c := l.peek(0); c {
	case '(', '{':
		return l.bracket(c, 1)
	case ')', '}':
		l.take(1)
		return token{}
	case '\'', '"':
		return l.quoted()
	case '$':
		return l.dollar()
	case '@':
		return l.at(before, glued)
	}
	if redirects(l.rest()) && (!glued || len(before) == 0 || l.peek(0) == '>') {
		return l.redirect()
	}
	if n := assigns(l.rest(), before); n > 0 {
		return token{kind: tokAssign, text: l.take(n)}
	}
	return l.bare(before)
}

// bracket takes what n bytes open.
func (l *lexer) bracket(open byte, n int) token {
	closer := byte(')')
	if open == openBlock || open == openHash {
		closer = '}'
	}
	l.take(n)
	start := l.pos
	kids := l.group(closer)
	return token{kind: tokGroup, open: open, kids: kids, text: l.src[start:max(start, l.pos-1)]}
}

// at takes what begins with an at sign: a list, a table, a text of lines or a
// variable that is spread.
func (l *lexer) at(before []token, glued bool) token {
	next := l.peek(1)
	switch {
	case glued && len(before) > 0:
	case next == '(':
		return l.bracket(openList, 2)
	case next == '{':
		return l.bracket(openHash, 2)
	case (next == '\'' || next == '"') && strings.HasPrefix(strings.TrimLeft(l.rest()[2:], " \t"), "\n"):
		return l.lines(next)
	case isNameByte(next):
		t := l.dollar()
		t.splat = true
		return t
	}
	return l.bare(before)
}

// lines takes a text that stands between @" and "@ on lines of their own.
func (l *lexer) lines(quote byte) token {
	l.until("\n")
	l.pos-- // the first line may be the last one, too
	text, closed := l.until("\n" + string(quote) + "@")
	l.unclosed = l.unclosed || !closed
	text = strings.TrimPrefix(text, "\n")
	if quote == '\'' {
		return literal(text)
	}
	in := &lexer{cursor: cursor{src: text}, depth: l.depth, spend: l.spend}
	t := in.expandable(0)
	l.deep, l.unclosed = l.deep || in.deep, l.unclosed || in.unclosed
	return t
}

func literal(s string) token { return token{kind: tokText, kids: []token{{kind: tokWord, text: s}}} }

// quoted takes a text in quotes.
func (l *lexer) quoted() token {
	if l.take(1) == `"` {
		return l.expandable('"')
	}
	var b strings.Builder
	for {
		s, closed := l.until("'")
		b.WriteString(s)
		if !closed {
			l.unclosed = true
			return literal(b.String())
		}
		if l.peek(0) != '\'' {
			return literal(b.String())
		}
		b.WriteString(l.take(1))
	}
}

// addText ends a piece of text that stands between variables.
func (t *token) addText(b *strings.Builder) {
	if b.Len() > 0 {
		t.kids = append(t.kids, token{kind: tokWord, text: b.String()})
		b.Reset()
	}
}

// expandable takes a text with variables, up to the quote or to the end for 0.
func (l *lexer) expandable(quote byte) token {
	t := token{kind: tokText}
	var b strings.Builder
	closed := quote == 0
	for !l.done() {
		c, next := l.peek(0), l.peek(1)
		isQuote := quote != 0 && c == quote
		switch {
		case isQuote && next == quote:
			b.WriteString(l.take(2)[:1])
			continue
		case c == '`':
			b.WriteString(l.escape())
			continue
		case c == '$' && (isNameByte(next) || strings.IndexByte("({:?", next) >= 0):
			t.addText(&b)
			if l.spend(1) {
				t.kids = append(t.kids, l.dollar())
				continue
			}
			l.pos = len(l.src)
			continue
		}
		s := l.take(1)
		if isQuote {
			closed = true
			break
		}
		b.WriteString(s)
	}
	t.addText(&b)
	l.unclosed = l.unclosed || !closed
	return t
}
