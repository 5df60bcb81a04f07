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
)

// token is one piece of a source. What stands in brackets or in a text with
// variables hangs below it.
type token struct {
	kind       kind
	open       byte
	glued      bool // nothing stands between it and the token before
	splat      bool // a variable that is spread over a command's parameters
	text       string
	kids       []token
	start, end int
}

// lexer cuts a source into tokens, once.
type lexer struct {
	src   string
	pos   int
	depth int
	// unclosed says that a quote or a bracket has no end; deep that brackets
	// nest deeper than is read.
	unclosed, deep bool
}

// maxNest is how deep brackets may nest.
const maxNest = shell.MaxDepth

// plain writes the typographic quotes, dashes and blanks plainly that PowerShell
// takes for its own, and its line ends: a carriage return alone is one, too.
func plain(src string) string {
	if strings.IndexFunc(src, func(r rune) bool { return r == '\r' || r >= utf8.RuneSelf }) < 0 {
		return src
	}
	return strings.NewReplacer("\u2018", "'", "\u2019", "'", "\u201a", "'", "\u201b", "'", "\u201c", `"`, "\u201d", `"`, "\u201e", `"`,
		"\u2013", "-", "\u2014", "-", "\u2015", "-", "\u00a0", " ", "\r\n", "\n", "\r", "\n").Replace(src)
}

func (l *lexer) peek(n int) byte {
	if l.pos+n < len(l.src) {
		return l.src[l.pos+n]
	}
	return 0
}

// group reads tokens up to the closing bracket, or to the end for 0.
func (l *lexer) group(closer byte) []token {
	l.depth++
	defer func() { l.depth-- }()
	if l.depth > maxNest {
		l.deep = true
		l.pos = len(l.src)
		return nil
	}
	var out []token
	first := 0 // of the statement
	for {
		glued := !l.blanks()
		if l.pos >= len(l.src) {
			l.unclosed = l.unclosed || closer != 0
			return out
		}
		c := l.src[l.pos]
		if c == closer {
			l.pos++
			return out
		}
		start := l.pos
		t := l.token(out[first:], glued)
		if l.pos == start {
			l.pos++ // nothing that begins so is known
			l.unclosed = true
		}
		if t.kind == 0 {
			continue
		}
		t.start, t.end = start, l.pos
		t.glued = glued && len(out) > first
		out = append(out, t)
		switch t.kind {
		case tokEnd, tokPipe, tokAnd, tokOr, tokAmp, tokComma:
			first = len(out)
		}
	}
}

// blanks skips what separates tokens and reports whether there was any.
func (l *lexer) blanks() bool {
	start := l.pos
	for l.pos < len(l.src) {
		switch c := l.src[l.pos]; {
		case c == ' ' || c == '\t' || c == '\f' || c == '\v' || c == 0:
			l.pos++
		case c == '`' && l.peek(1) == '\n':
			l.pos += 2
		case c == '#' && (l.pos == 0 || l.pos > start || strings.IndexByte(" \t\n;|&(){},", l.src[l.pos-1]) >= 0):
			l.skipTo("\n", false)
		case c == '<' && l.peek(1) == '#':
			l.skipTo("#>", true)
		default:
			return l.pos > start
		}
	}
	return true
}

// skipTo goes to the next end, and behind it if it belongs to what is skipped.
func (l *lexer) skipTo(end string, behind bool) {
	i := strings.Index(l.src[l.pos:], end)
	if i < 0 {
		l.pos = len(l.src)
		return
	}
	l.pos += i
	if behind {
		l.pos += len(end)
	}
}

// token reads one token; before are those of the same statement.
func (l *lexer) token(before []token, glued bool) token {
	c, next := l.src[l.pos], l.peek(1)
	switch {
	case c == '\n' || c == ';':
		return l.punctuation(tokEnd, 1)
	case c == '|' && next == '|':
		return l.punctuation(tokOr, 2)
	case c == '|':
		return l.punctuation(tokPipe, 1)
	case c == '&' && next == '&':
		return l.punctuation(tokAnd, 2)
	case c == '&':
		return l.punctuation(tokAmp, 1)
	case c == ',':
		return l.punctuation(tokComma, 1)
	case c == '(' || c == '{':
		l.pos++
		return l.bracket(c, closerOf(c))
	case c == ')' || c == '}':
		l.pos++ // closes nothing
		l.unclosed = true
		return token{}
	case c == '\'' || c == '"':
		return l.quoted()
	case c == '$':
		return l.dollar()
	case c == '@':
		return l.at(before, glued)
	case c == '>' || !glued && redirects(l.src[l.pos:]) || len(before) == 0 && redirects(l.src[l.pos:]):
		return l.redirect()
	}
	if t, ok := l.assign(before); ok {
		return t
	}
	return l.bare(before)
}

func (l *lexer) punctuation(k kind, n int) token {
	t := token{kind: k, text: l.src[l.pos : l.pos+n]}
	l.pos += n
	return t
}

func closerOf(open byte) byte {
	if open == '{' {
		return '}'
	}
	return ')'
}

func (l *lexer) bracket(open, closer byte) token {
	start := l.pos
	kids := l.group(closer)
	return token{kind: tokGroup, open: open, kids: kids, text: l.src[start:max(start, min(l.pos-1, len(l.src)))]}
}

// at reads what begins with an at sign: a list, a table, a text of lines or a
// variable that is spread.
func (l *lexer) at(before []token, glued bool) token {
	next := l.peek(1)
	switch {
	case glued && len(before) > 0:
	case next == '(':
		l.pos += 2
		return l.bracket(openList, ')')
	case next == '{':
		l.pos += 2
		return l.bracket(openHash, '}')
	case (next == '\'' || next == '"') && l.lineEnds(l.pos+2):
		return l.lines(next)
	case isNameByte(next):
		t := l.dollar()
		t.splat = true
		return t
	}
	return l.bare(before)
}

func (l *lexer) lineEnds(i int) bool {
	rest := strings.TrimLeft(l.src[min(i, len(l.src)):], " \t")
	return strings.HasPrefix(rest, "\n")
}

// lines reads a text that stands between @" and "@ on lines of their own.
func (l *lexer) lines(quote byte) token {
	i := strings.IndexByte(l.src[l.pos:], '\n')
	body := l.pos + i + 1
	end := strings.Index(l.src[body-1:], "\n"+string(quote)+"@")
	text := l.src[body:]
	if end < 0 {
		l.unclosed = true
		l.pos = len(l.src)
	} else {
		text = l.src[body:max(body, body-1+end)]
		l.pos = body - 1 + end + 3
	}
	if quote == '\'' {
		return token{kind: tokText, kids: []token{{kind: tokWord, text: text}}}
	}
	in := &lexer{src: text, depth: l.depth}
	t := in.expandable(0)
	l.deep, l.unclosed = l.deep || in.deep, l.unclosed || in.unclosed
	return t
}

// quoted reads a text in quotes.
func (l *lexer) quoted() token {
	quote := l.src[l.pos]
	l.pos++
	if quote == '"' {
		return l.expandable('"')
	}
	var b strings.Builder
	for {
		i := strings.IndexByte(l.src[l.pos:], '\'')
		if i < 0 {
			b.WriteString(l.src[l.pos:])
			l.pos, l.unclosed = len(l.src), true
			break
		}
		b.WriteString(l.src[l.pos : l.pos+i])
		l.pos += i + 1
		if l.peek(0) != '\'' {
			break
		}
		b.WriteByte('\'')
		l.pos++
	}
	return token{kind: tokText, kids: []token{{kind: tokWord, text: b.String()}}}
}

// expandable reads a text with variables, up to the quote or to the end for 0.
func (l *lexer) expandable(quote byte) token {
	t := token{kind: tokText}
	var b strings.Builder
	flush := func() {
		if b.Len() > 0 {
			t.kids = append(t.kids, token{kind: tokWord, text: b.String()})
			b.Reset()
		}
	}
	defer func() { flush() }()
	for l.pos < len(l.src) {
		c := l.src[l.pos]
		switch {
		case quote != 0 && c == quote && l.peek(1) == quote:
			b.WriteByte(c)
			l.pos += 2
		case quote != 0 && c == quote:
			l.pos++
			flush()
			return t
		case c == '`':
			b.WriteString(l.escape())
		case c == '$' && (l.peek(1) == '(' || l.peek(1) == '{' || l.peek(1) == ':' || isNameByte(l.peek(1)) || l.peek(1) == '?'):
			flush()
			t.kids = append(t.kids, l.dollar())
		default:
			b.WriteByte(c)
			l.pos++
		}
	}
	flush()
	l.unclosed = l.unclosed || quote != 0
	return t
}

// escape reads a backtick and what it escapes.
func (l *lexer) escape() string {
	c := l.peek(1)
	l.pos = min(l.pos+2, len(l.src))
	switch c {
	case 0:
		return ""
	case 'n':
		return "\n"
	case 't':
		return "\t"
	case 'r':
		return "\r"
	case '\n':
		return ""
	case 'a', 'b', 'f', 'v', 'e':
		return " "
	case '0':
		return ""
	default:
		return string(c)
	}
}

// isNameByte says whether a byte may stand in a variable's name.
func isNameByte(c byte) bool {
	return c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c >= utf8.RuneSelf
}
