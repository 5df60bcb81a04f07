package powershell

import (
	"strings"

	"github.com/metnos/vaglio/vaglio/shell"
)

// pieces cuts the bare words of an expression at its operators: in a command
// the same characters are text.
func (r *reader) pieces(toks []token) []token {
	out := make([]token, 0, len(toks))
	for len(toks) > 0 {
		t := toks[0]
		toks = toks[1:]
		if t.kind != tokWord {
			out = append(out, t)
			continue
		}
		glued := t.glued
		for c := (cursor{src: t.text}); !c.done() && r.step(1); glued = true {
			attached := glued && len(out) > 0 && isOperand(out[len(out)-1].kind)
			p, ok := c.piece(attached)
			if !ok { // an index that other tokens go on
				p.kids, c.src, toks = closeIndex(toks)
				c.pos = 0
			}
			p.glued = glued || !ok
			out = append(out, p)
		}
	}
	return out
}

// closeIndex splits tokens at the word in which an index ends: what stands in
// the index, what follows in the word, and what follows the word.
func closeIndex(toks []token) (kids []token, rest string, more []token) {
	for i := range toks {
		if toks[i].kind != tokWord {
			continue
		}
		if _, after, ok := strings.Cut(toks[i].text, "]"); ok {
			return toks[:i], after, toks[i+1:]
		}
	}
	return toks, "", nil
}

// piece takes one token off a word; not ok is an index that does not end in it.
func (c *cursor) piece(attached bool) (t token, ok bool) {
	s := c.rest()
	switch {
	case s[0] == '[':
		return c.bracketed(attached)
	case strings.HasPrefix(s, "..") || strings.HasPrefix(s, "++") || strings.HasPrefix(s, "--"):
		return token{kind: tokOp, text: c.take(2)}, true
	case isMemberName(s, attached):
		lead := len(s) - len(strings.TrimLeft(s, ":.?"))
		return token{kind: tokMember, text: c.take(lead + nameLength(s[lead:]))[lead:]}, true
	case s[0] == '-' && len(s) > 1 && isLetter(s[1]):
		return token{kind: tokOp, text: strings.ToLower(c.take(1 + nameLength(s[1:])))}, true
	case strings.IndexByte("+-*/%!=", s[0]) >= 0:
		return token{kind: tokOp, text: c.take(1)}, true
	}
	return token{kind: tokWord, text: c.take(wordLength(s))}, true
}

func isMemberName(s string, attached bool) bool {
	if strings.HasPrefix(s, "::") {
		return true
	}
	return attached && (s[0] == '.' && len(s) > 1 && !isDigit(s[1]) || strings.HasPrefix(s, "?."))
}

// bracketed takes an index behind an operand, or the name of a type.
func (c *cursor) bracketed(attached bool) (token, bool) {
	s := c.rest()
	depth := 0
	for i := range len(s) {
		switch s[i] {
		case '[':
			depth++
		case ']':
			depth--
		}
		if depth == 0 {
			inside := c.take(i + 1)[1:i]
			if attached {
				return token{kind: tokIndex, text: inside}, true
			}
			return token{kind: tokType, text: typeName(inside)}, true
		}
	}
	return token{kind: tokIndex, open: openIndex}, false
}

// typeName is the name under which the tables know a type.
func typeName(s string) string {
	return strings.TrimPrefix(strings.ToLower(strings.TrimSpace(s)), "system.")
}

func isOperand(k kind) bool {
	return k >= tokWord && k <= tokGroup || k == tokMember || k == tokIndex || k == tokType
}

// wordLength is how much of a text is one operand: a number, or what stands
// before the next operator.
func wordLength(s string) int {
	number := isDigit(s[0])
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '[', '+', '*', '/', '%', '=':
			return i
		case '-':
			if number {
				return i
			}
		case '.':
			if !number || strings.HasPrefix(s[i:], "..") {
				return i
			}
		}
	}
	return len(s)
}

// splitWords splits a text at its blanks outside quotes, as Windows does for a
// program.
func (r *reader) splitWords(w shell.Word) []argument {
	s, ok := w.Text()
	if !ok || !strings.ContainsAny(s, " \t\"") || !r.step(1+len(s)) {
		return []argument{plainArg(w)}
	}
	var out []argument
	var b strings.Builder
	inQuotes := false
	for i := range len(s) + 1 {
		switch {
		case i < len(s) && s[i] == '"':
			inQuotes = !inQuotes
		case i < len(s) && (inQuotes || s[i] != ' ' && s[i] != '\t'):
			b.WriteByte(s[i])
		case b.Len() > 0:
			out = append(out, plainArg(shell.Text(b.String())))
			b.Reset()
		}
	}
	return out
}
