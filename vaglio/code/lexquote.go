package code

import (
	"strconv"
	"strings"

	"github.com/metnos/vaglio/vaglio/shell"
	"github.com/metnos/vaglio/vaglio/wording"
)

// quoted reads a string; prefix are the letters before its quote.
func (l *lexer) quoted(prefix string) {
	q := l.src[l.at : l.at+1]
	if t := strings.Repeat(q, 3); l.has("prefixes") && strings.HasPrefix(l.src[l.at:], t) {
		q = t
	}
	opener := ""
	switch {
	case strings.Contains(prefix, "f"):
		opener = "{"
	case q == "`" || q == "\"":
		opener = l.p.lang.fills
		if q == "\"" && opener == "`${" {
			opener = ""
		}
	}
	opener = strings.TrimPrefix(opener, "`")
	from := l.at + len(q)
	end := -1
	if !strings.Contains(l.endless, q+";") {
		end = l.stringEnd(from, q, opener, len(q) == 1 && q != "`" && l.has("linestrings"))
	}
	if end < 0 {
		l.endless += q + ";"
		l.p.problem(shell.ProblemDynamicCode, wording.Say("a text in the program does not end"), shell.Word{})
		l.at = from
		return
	}
	body := l.src[from:end]
	code := q == "`" && l.p.lang.has("backtick")
	if code {
		l.add(token{kind: tokenName, text: "`"})
		l.op("(")
	}
	l.value(body, opener, strings.Contains(prefix, "r"), q == "'" && l.has("rawsingle"))
	l.at = end + len(q)
	if code {
		l.op(")")
	}
}

// stringEnd is where a string ends, -1 if it does not. Expressions inside are
// skipped with their own strings.
func (l *lexer) stringEnd(i int, q, opener string, line bool) int {
	for i < len(l.src) {
		switch c := l.src[i]; {
		case c == '\\':
			i += 2
		case strings.HasPrefix(l.src[i:], q):
			return i
		case c == '\n' && line:
			return -1
		case len(opener) == 2 && strings.HasPrefix(l.src[i:], opener):
			i = l.skip(i+2, 0)
		default:
			i++
		}
	}
	return -1
}

// skip returns the place behind the brace that closes an expression.
func (l *lexer) skip(i, depth int) int {
	for open := 1; i < len(l.src); i++ {
		switch c := l.src[i]; c {
		case '\\':
			i++
		case '{':
			open++
		case '}':
			if open--; open == 0 {
				return i + 1
			}
		case '"', '\'', '`':
			for i++; i < len(l.src) && l.src[i] != c; i++ {
				switch {
				case l.src[i] == '\\':
					i++
				case strings.HasPrefix(l.src[i:], "${") && c == '`' && depth < maxNesting:
					i = l.skip(i+2, depth+1) - 1
				}
			}
		}
	}
	return min(i, len(l.src))
}

// value adds a string: a token, or the group of its parts.
func (l *lexer) value(body, opener string, raw, single bool) {
	plain := func(s string) string {
		switch {
		case raw:
			return s
		case single:
			return strings.NewReplacer(`\\`, `\`, `\'`, `'`).Replace(s)
		}
		return unescape(s)
	}
	if opener == "" || !strings.ContainsAny(body, "{$@#") {
		l.add(token{kind: tokenString, text: plain(body)})
		return
	}
	if l.depth >= maxNesting {
		l.p.problem(shell.ProblemTooDeep, wording.Say("texts of a program nest deeper than %s levels", strconv.Itoa(maxNesting)), shell.Word{})
		return
	}
	l.op("(")
	from := 0
	for i := 0; i < len(body); i++ {
		n := 0
		switch {
		case body[i] == '\\' && !raw:
			i++
			continue
		case opener == "{" && strings.HasPrefix(body[i:], "{{"):
			l.add(token{kind: tokenString, text: plain(body[from:i]) + "{"})
			l.op(join)
			from, i = i+2, i+1
			continue
		case opener != "$" && strings.HasPrefix(body[i:], opener):
			sub := lexer{src: body}
			end := sub.skip(i+len(opener), 0)
			l.part(plain(body[from:i]), body[i+len(opener):max(end-1, i+len(opener))])
			n = end - i
		case opener == "$" && (body[i] == '$' || body[i] == '@' || body[i] == '{'):
			var code string
			if code, n = interpolated(body[i:]); n > 0 {
				l.part(plain(body[from:i]), code)
			}
		}
		if n > 0 {
			i += n - 1
			from = i + 1
		}
	}
	l.add(token{kind: tokenString, text: plain(body[from:])})
	l.op(")")
}

// part adds a stretch of text and the expression behind it.
func (l *lexer) part(text, code string) {
	l.add(token{kind: tokenString, text: text})
	l.op(join)
	l.op("(")
	sub := lexer{p: l.p, src: code, depth: l.depth + 1}
	sub.run()
	l.op(")")
	l.op(join)
}

// interpolated is the code of a variable in a string of perl or php, and its
// length: $x, ${x}, $x[0], $x{k}, $x->{k}, @x, @{[…]}, {$x}.
func interpolated(s string) (code string, n int) {
	switch {
	case strings.HasPrefix(s, "{$"), strings.HasPrefix(s, "@{"), strings.HasPrefix(s, "${"):
		sub := lexer{src: s}
		n = sub.skip(strings.IndexByte(s, '{')+1, 0)
		inner := strings.Trim(s[strings.IndexByte(s, '{')+1:max(n-1, 2)], " ")
		if s[0] != '{' && !strings.ContainsAny(inner, "[($\\") {
			inner = s[:1] + inner
		}
		return strings.TrimPrefix(inner, "\\"), n
	case s[0] == '{' || len(s) < 2:
		return "", 0
	}
	n = 1
	for n < len(s) && isName(s[n]) {
		n++
	}
	if n == 1 {
		return "", 0
	}
	for n < len(s) {
		rest := strings.TrimPrefix(s[n:], "->")
		if rest == "" || rest[0] != '[' && rest[0] != '{' {
			break
		}
		end := strings.IndexByte(rest, map[byte]byte{'[': ']', '{': '}'}[rest[0]])
		if end < 2 || end > 80 {
			break
		}
		n += len(s[n:]) - len(rest) + end + 1
	}
	return s[:n], n
}

// quoteOperator reads q{}, qq{}, qx{}, qw{} and s/// of perl, %w() and %x() of
// ruby.
func (l *lexer) quoteOperator(s, rest string) bool {
	ruby := l.has("percent") && l.last().text == "%" && strings.Contains(" x q Q w W i ", " "+s+" ")
	perl := l.has("quotes") && strings.Contains(" q qq qx qw s tr y m qr ", " "+s+" ")
	prev := l.last().text
	if !ruby && !perl || prev == "->" || prev == "sub" || prev == "&" || prev == "{" && rest[0] == '}' {
		return false
	}
	trimmed := rest
	if perl {
		trimmed = strings.TrimLeft(rest, " ")
	}
	if trimmed == "" || isName(trimmed[0]) || strings.IndexByte(" =,;)>", trimmed[0]) >= 0 && (len(s) < 2 || trimmed[0] != '=') {
		return false
	}
	if ruby {
		l.p.toks = l.p.toks[:len(l.p.toks)-1]
	}
	body, tail, ok := "", "", false
	if open := s + trimmed[:1] + ";"; !strings.Contains(l.endless, open) {
		if body, tail, ok = delimited(trimmed); !ok {
			l.endless += open
		}
	}
	if !ok {
		l.p.problem(shell.ProblemDynamicCode, wording.Say("a text in the program does not end"), shell.Word{})
		return false
	}
	fills := l.p.lang.fills
	switch s {
	case "s", "tr", "y":
		tail = l.substitution(s, body, trimmed, tail)
	case "qw", "w", "W", "i":
		l.op("[")
		for f := range strings.FieldsSeq(body) {
			l.add(token{kind: tokenString, text: f})
			l.op(",")
		}
		l.op("]")
	case "qx", "x":
		l.add(token{kind: tokenName, text: "`"})
		l.op("(")
		l.value(body, fills, false, false)
		l.op(")")
	case "m", "qr":
		tail = strings.TrimLeft(tail, "gimsxo")
		l.add(token{kind: tokenName, text: "//"})
	case "q":
		l.value(body, "", false, true)
	default:
		l.value(body, fills, false, false)
	}
	l.at = len(l.src) - len(tail)
	return true
}

// substitution reads s/…/…/ and tr/…/…/: a call of that name with its parts.
func (l *lexer) substitution(s, body, from, rest string) string {
	if strings.IndexByte("([{<", from[0]) >= 0 {
		rest = strings.TrimLeft(rest, " \t\n")
	} else {
		rest = from[:1] + rest
	}
	if rest == "" {
		return rest
	}
	with, rest, ok := delimited(rest)
	if !ok {
		l.p.problem(shell.ProblemDynamicCode, wording.Say("a text in the program does not end"), shell.Word{})
	}
	flags := rest[:len(rest)-len(strings.TrimLeft(rest, "abcdefghijklmnopqrstuvwxyz"))]
	esc := strings.NewReplacer(`\`+from[:1], from[:1])
	l.add(token{kind: tokenName, text: s + "///"})
	l.op("(")
	l.add(token{kind: tokenString, text: esc.Replace(body)})
	l.op(",")
	if s == "s" && strings.Contains(flags, "e") {
		l.part("", esc.Replace(with)) // the replacement is code
	} else {
		l.value(esc.Replace(with), map[bool]string{true: l.p.lang.fills}[s == "s"], s != "s", false)
	}
	l.op(",")
	l.add(token{kind: tokenString, text: flags})
	l.op(")")
	return rest[len(flags):]
}

// delimited reads a text between a delimiter and its counterpart.
func delimited(s string) (body, rest string, ok bool) {
	open, shut := s[0], s[0]
	if i := strings.IndexByte("([{<", open); i >= 0 {
		shut = ")]}>"[i]
	}
	depth := 0
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '\\':
			i++
		case s[i] == shut && depth == 0:
			return s[1:i], s[i+1:], true
		case s[i] == shut:
			depth--
		case s[i] == open:
			depth++
		}
	}
	return s[1:], "", false
}

// document reads a here-document; its text stands behind the line.
func (l *lexer) document(rest string) bool {
	mark := l.p.lang.document
	if mark == "" || !strings.HasPrefix(rest, mark) || l.last().kind == tokenNumber {
		return false
	}
	word := strings.TrimLeft(rest[len(mark):], "~- ")
	indent := len(word) < len(rest)-len(mark) && rest[len(mark)] == '~'
	quote := ""
	if word != "" && (word[0] == '"' || word[0] == '\'') {
		quote, word = word[:1], word[1:]
	}
	n := 0
	for n < len(word) && isName(word[n]) {
		n++
	}
	if n == 0 || quote == "" && (word[0] < 'A' || word[0] > 'Z') {
		return false
	}
	end := strings.IndexByte(word, '\n')
	if end < 0 {
		return false
	}
	start := max(len(l.src)-len(word)+end+1, l.after)
	var body strings.Builder
	next := start
	for next < len(l.src) {
		line, _, _ := strings.Cut(l.src[next:], "\n")
		next = min(next+len(line)+1, len(l.src))
		if t := strings.TrimSpace(line); strings.TrimRight(t, ";,)") == word[:n] {
			break
		}
		if indent {
			line = strings.TrimLeft(line, " \t")
		}
		body.WriteString(line + "\n")
	}
	fills := l.p.lang.fills
	if quote == "'" {
		fills = ""
	}
	l.value(body.String(), fills, quote == "'", false)
	l.after = next
	l.at = len(l.src) - len(word) + n + len(quote)
	return true
}
