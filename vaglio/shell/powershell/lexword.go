package powershell

import "strings"

// dollar reads a variable, or $(…).
func (l *lexer) dollar() token {
	l.pos++ // $ or @
	switch c := l.peek(0); c {
	case '(':
		l.pos++
		return l.bracket(openValue, ')')
	case '{':
		end := strings.IndexByte(l.src[l.pos:], '}')
		if end < 0 {
			l.unclosed = true
			end = len(l.src) - l.pos - 1
		}
		name := l.src[l.pos+1 : max(l.pos+1, l.pos+end)]
		l.pos += end + 1
		return token{kind: tokVar, text: variableName(name)}
	case '$', '?', '^':
		l.pos++
		return token{kind: tokVar, text: string(c)}
	}
	start := l.pos
	for l.pos < len(l.src) {
		c := l.src[l.pos]
		if isNameByte(c) || c == ':' && l.pos > start && isNameByte(l.peek(1)) && !strings.Contains(l.src[start:l.pos], ":") {
			l.pos++
			continue
		}
		break
	}
	if l.pos == start {
		return token{kind: tokWord, text: "$"}
	}
	return token{kind: tokVar, text: variableName(l.src[start:l.pos])}
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
	start := l.pos
	for l.src[l.pos] != '>' {
		l.pos++
	}
	l.pos++
	if l.peek(0) == '>' {
		l.pos++
	}
	if c := l.peek(1); l.peek(0) == '&' && (c == '1' || c == '2') {
		l.pos += 2
		return token{kind: tokRedirect, text: "&"}
	}
	return token{kind: tokRedirect, text: strings.TrimLeft(l.src[start:l.pos], "*123456")}
}

// assign reads the operator of an assignment: only what begins with a variable
// or a type can be one.
func (l *lexer) assign(before []token) (token, bool) {
	if !assignable(before) {
		return token{}, false
	}
	for _, op := range [...]string{"??=", "+=", "-=", "*=", "/=", "%=", "="} {
		if strings.HasPrefix(l.src[l.pos:], op) && l.peek(len(op)) != '=' {
			return l.punctuation(tokAssign, len(op)), true
		}
	}
	return token{}, false
}

// assignable says that a statement can turn out to assign something.
func assignable(before []token) bool {
	if len(before) == 0 {
		return false
	}
	first := &before[0]
	if first.kind != tokVar && (first.kind != tokWord || !strings.HasPrefix(first.text, "[")) {
		return false
	}
	const most = 8 // pieces of what is assigned to
	for i := range before {
		if before[i].kind == tokAssign || i > most {
			return false
		}
	}
	return true
}

// bare reads text without quotes.
func (l *lexer) bare(before []token) token {
	names := assignable(before)
	start := l.pos
	var b strings.Builder
	for l.pos < len(l.src) {
		c := l.src[l.pos]
		if c == '`' {
			if l.peek(1) == '\n' {
				break
			}
			b.WriteString(l.escape())
			continue
		}
		if l.pos > start && (endsBare(c) || c == '=' && names) || c == '@' && (l.peek(1) == '(' || l.peek(1) == '{') && l.pos > start {
			break
		}
		b.WriteByte(c)
		l.pos++
		if c == '=' && l.pos-start > 1 && l.pos < len(l.src) && l.src[l.pos] == '@' {
			break // name=@{…}
		}
	}
	return token{kind: tokWord, text: b.String()}
}

// endsBare says whether a byte ends text without quotes.
func endsBare(c byte) bool {
	switch c {
	case ' ', '\t', '\n', '\f', '\v', 0, ';', '|', '&', '(', ')', '{', '}', ',', '\'', '"', '$', '>':
		return true
	default:
		return false
	}
}
