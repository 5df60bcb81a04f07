package powershell

import (
	"strings"
	"unicode/utf8"
)

// escape takes a backtick and what it escapes.
func (l *lexer) escape() string {
	c := l.peek(1)
	l.take(2)
	switch c {
	case 'n':
		return "\n"
	case 't':
		return "\t"
	case 'r':
		return "\r"
	case 'a', 'b', 'f', 'v', 'e':
		return " "
	case 0, '0', '\n':
		return ""
	default:
		return string(c)
	}
}

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

// dollar takes a variable, or $(…).
func (l *lexer) dollar() token {
	switch l.peek(1) {
	case '(':
		return l.bracket(openValue, 2)
	case '{':
		l.take(2)
		name, closed := l.until("}")
		l.unclosed = l.unclosed || !closed
		return token{kind: tokVar, text: variableName(name)}
	case '$', '?', '^':
		return token{kind: tokVar, text: l.take(2)[1:]}
	}
	l.take(1) // $ or @
	n := nameLength(l.rest())
	if l.peek(n) == ':' && n > 0 {
		if more := nameLength(l.rest()[n+1:]); more > 0 {
			n += 1 + more
		}
	}
	if n == 0 {
		return token{kind: tokWord, text: "$"}
	}
	return token{kind: tokVar, text: variableName(l.take(n))}
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

// redirects says whether a text begins with the operator of a redirection.
func redirects(s string) bool {
	if len(s) > 1 && (s[0] == '*' || '1' <= s[0] && s[0] <= '6') {
		s = s[1:]
	}
	return s != "" && s[0] == '>'
}

func (l *lexer) redirect() token {
	if l.peek(0) != '>' {
		l.take(1)
	}
	op := l.take(1)
	if l.peek(0) == '>' {
		op += l.take(1)
	}
	if c := l.peek(1); l.peek(0) == '&' && (c == '1' || c == '2') {
		op = l.take(2)[:1]
	}
	return token{kind: tokRedirect, text: op}
}

// assigns is the length of the operator of an assignment at the beginning of a
// text: only what begins with a variable or a type can be assigned to.
func assigns(s string, before []token) int {
	if !assignable(before) {
		return 0
	}
	for _, op := range [...]string{"??=", "+=", "-=", "*=", "/=", "%=", "="} {
		if rest, ok := strings.CutPrefix(s, op); ok && !strings.HasPrefix(rest, "=") {
			return len(op)
		}
	}
	return 0
}

// assignable says that a statement can turn out to assign something.
func assignable(before []token) bool {
	const most = 8 // pieces of what is assigned to
	if len(before) == 0 || len(before) > most+1 || !beginsTarget(&before[0]) {
		return false
	}
	for i := range before {
		if before[i].kind == tokAssign {
			return false
		}
	}
	return true
}

// beginsTarget says that what is assigned to can begin with a token.
func beginsTarget(t *token) bool {
	return t.kind == tokVar || t.kind == tokWord && strings.HasPrefix(t.text, "[")
}

// bare takes text without quotes, one byte at least.
func (l *lexer) bare(before []token) token {
	names := assignable(before)
	start := l.pos
	var b strings.Builder
	for !l.done() && (l.pos == start || !l.endsBare(names)) {
		if l.peek(0) == '`' {
			b.WriteString(l.escape())
			continue
		}
		c := l.take(1)
		b.WriteString(c)
		if c == "=" && l.pos-start > 1 && l.peek(0) == '@' {
			break // name=@{…}
		}
	}
	return token{kind: tokWord, text: b.String()}
}

// endsBare says whether text without quotes ends here.
func (l *lexer) endsBare(names bool) bool {
	switch c, next := l.peek(0), l.peek(1); c {
	case '@':
		return next == '(' || next == '{'
	case '`':
		return next == '\n'
	case '=':
		return names
	default:
		return isBlank(c) || strings.IndexByte("\n;|&(){},'\"$>", c) >= 0
	}
}
