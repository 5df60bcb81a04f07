package powershell

import "strings"

// pieces cuts the bare words of an expression at its operators: in a command
// the same characters are text.
func pieces(toks []token) []token {
	out := make([]token, 0, len(toks))
	for i := 0; i < len(toks); i++ {
		t := toks[i]
		if t.kind != tokWord {
			out = append(out, t)
			continue
		}
		s := t.text
		for s != "" {
			p, n := piece(s, t, out)
			if n == 0 { // an index that other tokens go on: skip to its end
				from := i + 1
				i, s = closeIndex(toks, i)
				t.glued = true
				out = append(out, token{kind: tokIndex, open: '[', glued: true, kids: toks[min(from, i):min(i, len(toks))], start: t.start, end: t.end})
				continue
			}
			s = s[n:]
			t.glued = true
			out = append(out, p)
		}
	}
	return out
}

// closeIndex finds the word in which an index ends, and what follows in it.
func closeIndex(toks []token, i int) (at int, rest string) {
	for i++; i < len(toks); i++ {
		if toks[i].kind != tokWord {
			continue
		}
		if j := strings.IndexByte(toks[i].text, ']'); j >= 0 {
			return i, toks[i].text[j+1:]
		}
	}
	return len(toks), ""
}

// piece takes one token off the beginning of a word; n is 0 for an index that
// does not end in it.
func piece(s string, t token, before []token) (p token, n int) {
	p = token{start: t.start, end: t.end, glued: t.glued}
	attached := t.glued && len(before) > 0 && isOperand(before[len(before)-1].kind)
	c := s[0]
	switch {
	case c == '[':
		return bracketed(s, p, attached)
	case strings.HasPrefix(s, ".."):
		p.kind, p.text = tokOp, ".."
		return p, 2
	case strings.HasPrefix(s, "::") || (c == '.' && attached && len(s) > 1 && !isDigit(s[1])) || strings.HasPrefix(s, "?.") && attached:
		lead := len(s) - len(strings.TrimLeft(s, ":.?"))
		n = lead + nameLength(s[lead:])
		p.kind, p.text = tokMember, s[lead:n]
		return p, n
	case strings.HasPrefix(s, "++") || strings.HasPrefix(s, "--"):
		p.kind, p.text = tokOp, s[:2]
		return p, 2
	case c == '-' && len(s) > 1 && isLetter(s[1]):
		n = 1 + nameLength(s[1:])
		p.kind, p.text = tokOp, strings.ToLower(s[:n])
		return p, n
	case strings.IndexByte("+-*/%!=", c) >= 0:
		p.kind, p.text = tokOp, s[:1]
		return p, 1
	}
	n = wordLength(s)
	p.kind, p.text = tokWord, s[:n]
	return p, n
}

// bracketed reads an index behind an operand, or the name of a type.
func bracketed(s string, p token, attached bool) (token, int) {
	depth := 0
	for i := range len(s) {
		switch s[i] {
		case '[':
			depth++
		case ']':
			depth--
		}
		if depth == 0 {
			p.kind, p.text = tokType, typeName(s[1:i])
			if attached {
				p.kind, p.text = tokIndex, s[1:i]
			}
			return p, i + 1
		}
	}
	return p, 0
}

// typeName is the name under which the tables know a type.
func typeName(s string) string {
	s = strings.ToLower(strings.TrimSpace(s))
	return strings.TrimPrefix(s, "system.")
}

func isOperand(k kind) bool {
	switch k {
	case tokText, tokVar, tokGroup, tokMember, tokIndex, tokType, tokWord:
		return true
	default:
		return false
	}
}

func isLetter(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func nameLength(s string) int {
	n := 0
	for n < len(s) && isNameByte(s[n]) {
		n++
	}
	return n
}

// wordLength is how much of a text is one operand: a number, or what stands
// before the next operator.
func wordLength(s string) int {
	for i := 1; i < len(s); i++ {
		switch c := s[i]; {
		case c == '.' && i+1 < len(s) && s[i+1] == '.', c == '[', c == '+', c == '*', c == '/', c == '%', c == '=':
			return i
		case c == '-' && isDigit(s[0]):
			return i
		case c == '.' && !isDigit(s[0]):
			return i
		}
	}
	return len(s)
}
