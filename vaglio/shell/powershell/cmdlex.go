package powershell

import "strings"

// lexeme is a piece of a line of cmd.
type lexeme struct {
	kind  kind // tokWord, tokEnd, tokPipe, tokAnd, tokOr, tokRedirect; tokGroup for brackets
	text  string
	quote bool // some of it stood in quotes
}

// batchLexer cuts lines of cmd into words and operators, once.
type batchLexer struct {
	cursor
	spend func(steps int) bool
}

func (l *batchLexer) lexemes() []lexeme {
	var out []lexeme
	for !l.done() && l.spend(1) {
		switch c := l.peek(0); {
		case isBlank(c) || c == '\r':
			l.take(1)
		case c == '^' && l.peek(1) == '\n':
			l.take(2)
		default:
			out = append(out, l.lexeme(c))
		}
	}
	return out
}

// lexeme takes one word or operator.
func (l *batchLexer) lexeme(c byte) lexeme {
	switch c {
	case '\n':
		return lexeme{kind: tokEnd, text: l.take(1)}
	case '&':
		return l.double(tokAnd, tokEnd)
	case '|':
		return l.double(tokOr, tokPipe)
	case '(', ')':
		return lexeme{kind: tokGroup, text: l.take(1)}
	case '<', '>':
		return l.redirect()
	case '1', '2':
		if l.peek(1) == '>' {
			l.take(1)
			return l.redirect()
		}
	}
	return l.word()
}

func (l *batchLexer) double(twice, once kind) lexeme {
	if l.peek(1) == l.peek(0) {
		return lexeme{kind: twice, text: l.take(2)}
	}
	return lexeme{kind: once, text: l.take(1)}
}

// redirect takes > >> 2>&1 and <.
func (l *batchLexer) redirect() lexeme {
	t := lexeme{kind: tokRedirect, text: l.take(1)}
	if l.peek(0) == '>' {
		l.take(1)
		t.text = ">>"
	}
	if l.peek(0) == '&' && l.peek(1) != 0 {
		l.take(2)
		t.text = "&"
	}
	return t
}

// word takes what stands up to the next blank or operator outside quotes.
func (l *batchLexer) word() lexeme {
	t := lexeme{kind: tokWord}
	var b strings.Builder
	quoted := false
	for !l.done() {
		c := l.peek(0)
		if c == '\n' || !quoted && strings.IndexByte(" \t\r&|()<>", c) >= 0 {
			break
		}
		switch s := l.take(1); {
		case c == '"':
			quoted, t.quote = !quoted, true
		case !quoted && c == '^' && !l.done():
			b.WriteString(strings.TrimPrefix(l.take(1), "\n")) // at its end the line goes on
		default:
			b.WriteString(s)
		}
	}
	t.text = b.String()
	return t
}
