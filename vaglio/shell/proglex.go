package shell

import (
	"regexp"
	"strings"
)

// lexeme is one token of an inline program.
type lexeme struct {
	kind lexKind
	text string // an identifier, a number or an operator
	word Word   // the value of a string
	code bool   // the string is run as shell code (backticks)
	fill bool   // the string, in text, has expressions to fill in
	// first says that a line begins with it, in this column.
	first  bool
	column int
	// subst is a substitution s/…/…/ or tr/…/…/.
	subst *substitution
}

// substitution is s/pattern/with/flags, or a table of characters.
type substitution struct {
	table             bool
	pattern, with, fl string
}

// apply returns the word after the substitution.
func (s *substitution) apply(w Word) Word {
	if s.table {
		out, ok := translated(w, []Word{Text(s.pattern), Text(s.with)})
		if !ok {
			return unknown("")
		}
		return out
	}
	re, err := regexp.Compile(goRegexp(s.pattern, true, strings.Contains(s.fl, "i")))
	text, ok := w.Text()
	if err != nil || !ok {
		return unknown("")
	}
	return Text(sedReplace(re, text, strings.NewReplacer("$&", "&", "$1", `\1`, "$2", `\2`).Replace(s.with), strings.Contains(s.fl, "g")))
}

type lexKind uint8

const (
	lexEnd lexKind = iota
	lexName
	lexString
	lexNumber
	lexOp
)

// maxLexemes bounds how long an inline program may be.
const maxLexemes = 100_000

// lexer cuts the text of an inline program into tokens. Text that is no token
// of the language is skipped.
type lexer struct {
	p   *program
	src string
	out []lexeme
	// indented says that no token of the line has been read; column is how far
	// it is indented.
	indented bool
	column   int
}

func (l *lexer) run() []lexeme {
	l.indented = true
	for l.src != "" && len(l.out) < maxLexemes {
		before := len(l.src)
		l.next()
		if len(l.src) >= before {
			l.src = l.src[1:]
		}
	}
	return l.out
}

func (l *lexer) add(x lexeme) {
	if l.indented && x.text != ";" {
		x.first, x.column, l.indented = true, l.column, false
	}
	l.out = append(l.out, x)
}

func (l *lexer) take(n int) string {
	s := l.src[:n]
	l.src = l.src[n:]
	return s
}

//nolint:cyclop // One case per kind of token.
func (l *lexer) next() {
	c := l.src[0]
	lang := l.p.lang
	switch {
	case c == '\n' || c == ';':
		l.add(lexeme{kind: lexOp, text: ";"})
		if c == '\n' {
			l.indented, l.column = true, 0
		}
		l.take(1)
	case c == ' ' || c == '\t' || c == '\r':
		l.column++
		l.take(1)
	case lang.comment != "" && strings.HasPrefix(l.src, lang.comment) && (lang.name != "perl" || !l.after("$")):
		i := strings.IndexByte(l.src, '\n')
		if i < 0 {
			i = len(l.src)
		}
		l.take(i)
	case strings.HasPrefix(l.src, "/*") && (lang.name == "node" || lang.name == "php"):
		i := strings.Index(l.src[2:], "*/")
		if i < 0 {
			i = len(l.src) - 4
		}
		l.take(min(len(l.src), max(2, i+4)))
	case strings.HasPrefix(l.src, holeOpen):
		w, rest, ok := l.p.r.takeHole(l.src)
		if !ok {
			l.take(len(holeOpen))
			return
		}
		l.src = rest
		l.add(lexeme{kind: lexString, word: w})
	case c == '"' || c == '\'' || c == '`':
		l.quoted("")
	case c == '<' && lang.name == "perl" && l.pattern():
	case isNameByte(c) && (c < '0' || c > '9') || c == '$' || c == '@':
		l.name()
	case c >= '0' && c <= '9':
		n := 1
		for n < len(l.src) && (isNameByte(l.src[n]) || l.src[n] == '.' && n+1 < len(l.src) && l.src[n+1] != '.') {
			n++
		}
		l.add(lexeme{kind: lexNumber, text: l.take(n)})
	default:
		l.operator()
	}
}

// pattern reads <*.c> of perl, which stands for the names that match.
func (l *lexer) pattern() bool {
	end := strings.IndexByte(l.src, '>')
	if end < 0 || strings.ContainsAny(l.src[:end], " \t\n;=(") || !strings.ContainsAny(l.src[:end], "*/~") {
		return false
	}
	pattern := l.p.expandUser(l.p.r.fillHoles(l.src[1:end]))
	l.add(lexeme{kind: lexString, word: globbed(pattern)})
	l.take(end + 1)
	return true
}

// after reports whether the text just before was the operator.
func (l *lexer) after(op string) bool {
	return len(l.out) > 0 && l.out[len(l.out)-1].text == op
}

func (l *lexer) operator() {
	for _, op := range []string{"...", "===", "!==", "**", "::", "->", "=>", "..", "==", "!=", "<=", ">=", "+=", ".=", "=~", "||", "&&", ">>", "<<", "|&", ":="} {
		if strings.HasPrefix(l.src, op) {
			l.add(lexeme{kind: lexOp, text: l.take(len(op))})
			return
		}
	}
	l.add(lexeme{kind: lexOp, text: l.take(1)})
}

// name reads an identifier, a string prefix or a quoting operator.
func (l *lexer) name() {
	n := 1
	for n < len(l.src) && isNameByte(l.src[n]) {
		n++
	}
	s := l.src[:n]
	if n < len(l.src) {
		c := l.src[n]
		if (c == '"' || c == '\'') && l.p.lang.name == "python" && n <= 2 && strings.Trim(strings.ToLower(s), "rbuf") == "" {
			l.take(n)
			l.quoted(strings.ToLower(s))
			return
		}
		if l.quoteOperator(s, n) {
			return
		}
	}
	l.take(n)
	l.add(lexeme{kind: lexName, text: s})
}

// quoteOperator reads q{}, qq{}, qx{}, qw{} of perl and %x{} of ruby, where
// the percent sign came before.
//
//nolint:cyclop // One case per form that the grammar knows.
func (l *lexer) quoteOperator(s string, n int) bool {
	if l.p.lang.name == "perl" && (s == "s" || s == "tr" || s == "y") && strings.IndexByte("/|#!~,{([", l.src[n]) >= 0 && !l.after("->") && !l.after("{") && !l.after("sub") && !l.after("&") {
		return l.substitution(s, n)
	}
	perl := l.p.lang.name == "perl" && (s == "q" || s == "qq" || s == "qx" || s == "qw")
	ruby := l.p.lang.name == "ruby" && l.after("%") && (s == "x" || s == "q" || s == "Q" || s == "w" || s == "W")
	if !perl && !ruby || isNameByte(l.src[n]) || strings.IndexByte(" =,;)", l.src[n]) >= 0 {
		return false
	}
	if ruby {
		l.out = l.out[:len(l.out)-1]
	}
	body, rest := delimited(l.src[n:])
	l.src = rest
	x := lexeme{kind: lexString, code: s == "qx" || s == "x"}
	if strings.ToLower(s) == "w" || s == "qw" {
		l.add(lexeme{kind: lexOp, text: "["})
		for f := range strings.FieldsSeq(body) {
			l.add(lexeme{kind: lexString, word: l.p.r.fillHoles(f)})
			l.add(lexeme{kind: lexOp, text: ","})
		}
		l.add(lexeme{kind: lexOp, text: "]"})
		return true
	}
	if s == "q" {
		x.word = l.p.r.fillHoles(body)
	} else {
		x.text, x.fill = unescapeProgram(body), true
	}
	l.add(x)
	return true
}

// substitution reads s/…/…/, tr/…/…/ and y/…/…/ of perl.
func (l *lexer) substitution(s string, n int) bool {
	first, rest := delimited(l.src[n:])
	if open := l.src[n]; open == '{' || open == '(' || open == '[' {
		rest = strings.TrimLeft(rest, " \t\n")
		if rest == "" {
			return false
		}
	} else {
		rest = l.src[n:n+1] + rest
	}
	with, rest := delimited(rest)
	k := 0
	for k < len(rest) && isNameByte(rest[k]) {
		k++
	}
	mark := l.src[n : n+1]
	first, with = strings.ReplaceAll(first, `\`+mark, mark), strings.ReplaceAll(with, `\`+mark, mark)
	x := lexeme{kind: lexString, subst: &substitution{table: s != "s", pattern: first, with: with, fl: rest[:k]}}
	l.src = rest[k:]
	if s == "s" && strings.Contains(x.subst.fl, "e") {
		l.src = ";" + with + ";" + l.src // the replacement is code
		return true
	}
	l.add(x)
	return true
}

// delimited reads a text between a delimiter and its counterpart.
func delimited(s string) (body, rest string) {
	open, shut := s[0], s[0]
	switch open {
	case '(':
		shut = ')'
	case '[':
		shut = ']'
	case '{':
		shut = '}'
	case '<':
		shut = '>'
	}
	depth := 0
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '\\':
			i++
		case s[i] == shut && depth == 0:
			return s[1:i], s[i+1:]
		case s[i] == shut:
			depth--
		case s[i] == open:
			depth++
		}
	}
	return s[1:], ""
}

// quoted reads a string literal; prefix are the letters before its quote.
func (l *lexer) quoted(prefix string) {
	q := l.src[:1]
	if l.p.lang.name == "python" && strings.HasPrefix(l.src, strings.Repeat(q, 3)) {
		q = strings.Repeat(q, 3)
	}
	l.take(len(q))
	raw := strings.Contains(prefix, "r")
	end := 0
	for end < len(l.src) && !strings.HasPrefix(l.src[end:], q) {
		if l.src[end] == '\\' && end+1 < len(l.src) {
			end++
		}
		end++
	}
	end = min(end, len(l.src))
	body := l.take(end)
	l.take(min(len(q), len(l.src)))
	x := lexeme{kind: lexString, code: q == "`" && l.p.lang.name != "node" && l.p.lang.name != "python"}
	if !raw {
		body = l.unescape(body, q)
	}
	if l.p.interpolates(prefix, q) {
		x.text, x.fill = body, true
	} else {
		x.word = l.p.r.fillHoles(body)
	}
	l.add(x)
}

func (l *lexer) unescape(s, q string) string {
	single := q == "'" && (l.p.lang.sigil == "$")
	if single {
		return strings.NewReplacer(`\\`, `\`, `\'`, `'`).Replace(s)
	}
	return unescapeProgram(s)
}

// unescapeProgram decodes the escapes that the languages have in common; an
// escaped sigil keeps its backslash for the interpolation.
//
//nolint:cyclop // One case per form that the grammar knows.
func unescapeProgram(s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			i++
			continue
		}
		switch c := s[i+1]; {
		case c == '$' || c == '#' || c == '@':
			b.WriteString(s[i : i+2])
			i += 2
		case strings.IndexByte("abefnrtvxuU01234567\\'\"\n", c) >= 0:
			if strings.HasPrefix(s[i+1:], "u{") || strings.HasPrefix(s[i+1:], "x{") {
				if end := strings.IndexByte(s[i:], '}'); end > 0 {
					b.WriteString(ansiC(`\U` + s[i+3:i+end]))
					i += end + 1
					continue
				}
			}
			out, n := escape(s[i+1:])
			b.WriteString(out)
			i += 1 + n
		default:
			b.WriteByte(c)
			i += 2
		}
	}
	return b.String()
}
