package powershell

import "strings"

// piece of a line of cmd.
type lexeme struct {
	kind  kind // tokWord, tokEnd, tokPipe, tokAnd, tokOr, tokAmp, tokRedirect; tokGroup for brackets
	text  string
	raw   string // as it was written, with its quotes
	quote bool   // some of it stood in quotes
}

// cutBatch cuts lines of cmd into words and operators, once.
func cutBatch(src string) []lexeme {
	var out []lexeme
	l := &batchLexer{src: strings.ReplaceAll(src, "\r\n", "\n")}
	for l.pos < len(l.src) {
		c := l.src[l.pos]
		switch {
		case c == ' ' || c == '\t' || c == '\r' || c == 0:
			l.pos++
		case c == '\n':
			out = append(out, l.operator(tokEnd, 1))
		case c == '&':
			out = append(out, l.double('&', tokAnd, tokEnd))
		case c == '|':
			out = append(out, l.double('|', tokOr, tokPipe))
		case c == '(' || c == ')':
			out = append(out, l.operator(tokGroup, 1))
		case c == '>' || c == '<' || (c == '1' || c == '2') && l.pos+1 < len(l.src) && l.src[l.pos+1] == '>':
			out = append(out, l.redirect())
		case c == '^' && l.pos+1 < len(l.src) && l.src[l.pos+1] == '\n':
			l.pos += 2
		default:
			out = append(out, l.word())
		}
	}
	return out
}

type batchLexer struct {
	src string
	pos int
}

func (l *batchLexer) operator(k kind, n int) lexeme {
	t := lexeme{kind: k, text: l.src[l.pos : l.pos+n]}
	l.pos += n
	return t
}

func (l *batchLexer) double(c byte, twice, once kind) lexeme {
	if l.pos+1 < len(l.src) && l.src[l.pos+1] == c {
		return l.operator(twice, 2)
	}
	return l.operator(once, 1)
}

// redirect reads > >> 2>&1 and <.
func (l *batchLexer) redirect() lexeme {
	t := lexeme{kind: tokRedirect}
	if l.src[l.pos] == '1' || l.src[l.pos] == '2' {
		l.pos++
	}
	t.text = l.src[l.pos : l.pos+1]
	l.pos++
	if l.pos < len(l.src) && l.src[l.pos] == '>' {
		t.text = ">>"
		l.pos++
	}
	if l.pos+1 < len(l.src) && l.src[l.pos] == '&' {
		t.text = "&"
		l.pos += 2
	}
	return t
}

func (l *batchLexer) word() lexeme {
	t := lexeme{kind: tokWord}
	var b strings.Builder
	start, quoted := l.pos, false
	for l.pos < len(l.src) {
		c := l.src[l.pos]
		switch {
		case c == '"':
			quoted, t.quote = !quoted, true
			l.pos++
			continue
		case c == '\n', !quoted && strings.IndexByte(" \t\r&|()<>", c) >= 0:
			t.text, t.raw = b.String(), l.src[start:l.pos]
			return t
		case !quoted && c == '^' && l.pos+1 < len(l.src):
			l.pos++
			c = l.src[l.pos]
		}
		b.WriteByte(c)
		l.pos++
	}
	t.text, t.raw = b.String(), l.src[start:]
	return t
}
