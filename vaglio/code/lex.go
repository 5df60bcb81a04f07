package code

import (
	"cmp"
	"regexp"
	"strings"
)

type tokenKind uint8

const (
	tokenEnd tokenKind = iota
	tokenName
	tokenString
	tokenNumber
	tokenOp
)

// token is one lexeme. The text of a string is its value; what is not known of
// it stands as a mark, see [source].
type token struct {
	kind tokenKind
	// line says that the token begins a line; a ";" for a new line has it too.
	line bool
	// tight says that nothing stands before the token.
	tight bool
	// text of an interpolated string is a group of its parts: "(" … ")".
	group  bool
	column int32 // how far the line is indented
	// match is the counterpart of a bracket, or -1.
	match int32
	text  string
}

// join is the operator between the parts of an interpolated string.
const join = "\x00join"

// The bounds of one reading, besides the steps it is given.
const (
	maxNesting = 40  // strings within strings
	maxDepth   = 120 // brackets, calls and blocks within each other
	maxAlts    = 32  // texts that one value may be
	maxList    = 256 // elements of a list that are told apart
	maxText    = 1 << 20
)

// lexer cuts a program into tokens in one pass. What is no token is skipped.
type lexer struct {
	p      *program
	src    string
	at     int
	depth  int
	fresh  bool // no token of the line was read
	start  int  // where the line begins
	indent int32
	// open are the brackets that are open here.
	open []int32
	// noRegexp is up to where no pattern ends; endless are the quotes that do
	// not end.
	noRegexp int
	endless  string
	// after is where the text continues behind the line's here-documents.
	after int
}

func (l *lexer) has(flag string) bool { return l.p.lang.has(flag) }

func (l *lexer) run() {
	l.fresh = true
	for l.at < len(l.src) && !l.p.stopped {
		before := l.at
		l.next()
		if l.at <= before {
			l.at = before + 1
		}
	}
}

func (l *lexer) add(t token) {
	n := len(l.p.toks)
	if n >= l.p.left {
		l.p.spend(n + 1)
		return
	}
	t.match = -1
	if l.fresh {
		l.indent = int32(min(l.at-l.start, maxText)) //nolint:gosec // Bounded.
		t.line, l.fresh = true, false
	}
	t.column = l.indent
	if t.kind == tokenOp && len(t.text) == 1 {
		switch t.text[0] {
		case '(', '[', '{':
			l.open = append(l.open, int32(n)) //nolint:gosec // No more tokens than steps.
		case ')', ']', '}':
			l.close(&t, n)
		}
	}
	l.p.toks = append(l.p.toks, t)
}

func (l *lexer) close(t *token, n int) {
	want := map[byte]string{')': "(", ']': "[", '}': "{"}[t.text[0]]
	for i := len(l.open) - 1; i >= 0 && i > len(l.open)-8; i-- {
		if at := l.open[i]; l.p.toks[at].text == want {
			l.p.toks[at].match, t.match = int32(n), at //nolint:gosec // No more tokens than steps.
			l.open = l.open[:i]
			return
		}
	}
}

// op adds an operator that is not in the text.
func (l *lexer) op(s string) { l.add(token{kind: tokenOp, text: s, group: s == "(" || s == ")"}) }

func (l *lexer) last() token {
	if n := len(l.p.toks); n > 0 {
		return l.p.toks[n-1]
	}
	return token{}
}

// next reads what begins here: what is no code, or a token.
func (l *lexer) next() {
	rest := l.src[l.at:]
	switch c := rest[0]; {
	case c == '\n':
		l.newline()
	case l.space(rest) || l.comment(rest) || l.document(rest) || l.hole(rest):
	case strings.IndexByte("\"'`", c) >= 0:
		l.quoted("")
	case l.pattern(rest) || l.input(rest):
	case l.named(rest):
		l.name(rest)
	case isDigit(c):
		l.number(rest)
	default:
		l.operator(rest)
	}
}

// space skips a blank, or the end of a line that goes on.
func (l *lexer) space(rest string) bool {
	switch {
	case strings.IndexByte(" \t\r", rest[0]) >= 0:
		l.at++
	case strings.HasPrefix(rest, "\\\n"):
		l.at += 2
	default:
		return false
	}
	return true
}

// unknowns are the marks of words that are not known.
var unknowns = regexp.MustCompile("^" + markOpen + `\d{0,17}` + markClose)

// hole reads the mark of a word that is not known: a string by itself.
func (l *lexer) hole(rest string) bool {
	if rest[0] != markOpen[0] {
		return false // so it is of most
	}
	m := unknowns.FindString(rest)
	if m != "" {
		l.add(token{kind: tokenString, text: m})
		l.at += len(m)
	}
	return m != ""
}

// number reads a number, in any of the ways that languages write one.
func (l *lexer) number(rest string) {
	n := 1
	for n < len(rest) && (isName(rest[n]) || rest[n] == '.' && n+1 < len(rest) && isDigit(rest[n+1])) {
		n++
	}
	l.add(token{kind: tokenNumber, text: strings.ReplaceAll(rest[:n], "_", "")})
	l.at += n
}

func (l *lexer) newline() {
	if n := len(l.open); n == 0 || l.p.toks[l.open[n-1]].text == "{" {
		l.add(token{kind: tokenOp, text: ";", line: true})
	}
	l.at = max(l.at+1, l.after)
	l.fresh, l.start = true, l.at
}

// comment skips a comment: to its end, or to that of the line.
func (l *lexer) comment(rest string) bool {
	for _, c := range l.p.lang.comments {
		begin, stop, ok := strings.Cut(c, "…")
		if !strings.HasPrefix(rest, begin) || begin == "#" && l.last().text == "$" {
			continue
		}
		before, _, _ := strings.Cut(rest, cmp.Or(stop, "\n"))
		if l.at += len(before); ok {
			l.at += len(stop)
		}
		return true
	}
	return false
}

// operand reports whether an operand is due, so that a slash begins a pattern.
func (l *lexer) operand() bool {
	t := l.last()
	switch t.kind {
	case tokenEnd:
		return true
	case tokenName:
		return strings.Contains(" return if unless while until and or not in split grep case when typeof of print puts ", " "+t.text+" ")
	case tokenOp:
		return t.text != ")" && t.text != "]" && (t.text != "}" || l.has("braceends"))
	default:
		return false
	}
}

// pattern reads a regular expression, which says nothing by itself.
func (l *lexer) pattern(rest string) bool {
	if rest[0] != '/' || !l.operand() || !l.has("regexp") || l.at < l.noRegexp {
		return false
	}
	end, ok := patternEnd(rest)
	if !ok {
		l.noRegexp = l.at + end
		return false
	}
	l.add(token{kind: tokenName, text: "//"})
	l.at += end + 1
	l.at += nameLen(l.src[l.at:])
	return true
}

// patternEnd is the place of the slash that ends a pattern; false with the last
// place that was looked at, for a slash that divides.
func patternEnd(s string) (end int, ok bool) {
	class := false
	for i := 1; i < len(s) && s[i] != '\n'; i++ {
		switch c := s[i]; {
		case c == '\\':
			i++
		case c == '[' && !class:
			class = true
			if strings.HasPrefix(s[i+1:], "]") {
				i++
			}
		case c == ']':
			class = false
		case c == '/' && !class:
			return i, true
		}
		end = i
	}
	return end, false
}

// inputs are <STDIN>, <$file> and <*.c> of perl.
var inputs = regexp.MustCompile(`^<([^> \t\n;=(]*)>`)

// input reads what perl writes in angle brackets.
func (l *lexer) input(rest string) bool {
	if rest[0] != '<' || !l.has("flat") {
		return false
	}
	m := inputs.FindStringSubmatch(rest)
	if m == nil {
		return false
	}
	l.at += len(m[0])
	if strings.ContainsAny(m[1], "*/~") {
		l.add(token{kind: tokenName, text: "glob"})
		l.op("(")
		l.value(m[1], l.p.lang.fills, true, false)
		l.op(")")
		return true
	}
	l.add(token{kind: tokenName, text: m[0]})
	return true
}

// named reports whether a name begins here, by itself or behind a mark.
func (l *lexer) named(s string) bool {
	return isStart(s[0]) || len(s) > 1 && strings.IndexByte(l.p.lang.sigils, s[0]) >= 0 && l.sigil(s[0], s[1])
}

// sigil reports whether a mark and the character behind it begin a name. The
// marks that are operators too do so only where an operand is due.
func (l *lexer) sigil(mark, c byte) bool {
	if mark == '%' || mark == '&' {
		last := l.last()
		return (l.operand() || last.kind == tokenName && isName(last.text[0])) && (isStart(c) || c == '$')
	}
	return isName(c) || mark == '$' && (l.has("optional") || !l.has("plainspecials") && strings.IndexByte("0&!@", c) >= 0)
}

// name reads a name, the letters before a string, or a quoting operator.
func (l *lexer) name(rest string) {
	n := 1
	for n < len(rest) && (isName(rest[n]) || l.has("predicates") && strings.HasPrefix(rest[n:], "?(")) {
		n++
	}
	s := rest[:n]
	if n < len(rest) && (l.prefixed(s, rest[n]) || l.quoteOperator(s, rest[n:])) {
		return
	}
	l.add(token{kind: tokenName, text: s, tight: l.tight()})
	l.at += n
}

// prefixed reads a string with letters before its quote.
func (l *lexer) prefixed(s string, q byte) bool {
	letters := strings.ToLower(s)
	if q != '"' && q != '\'' || !l.has("prefixes") || len(s) > 2 || strings.Trim(letters, "rbuft") != "" {
		return false
	}
	l.at += len(s)
	l.quoted(letters)
	return true
}

// tight reports whether nothing stands before what begins here.
func (l *lexer) tight() bool { return l.at == 0 || strings.IndexByte(" \t\n", l.src[l.at-1]) < 0 }

func (l *lexer) operator(rest string) {
	long := len(rest) > 1 && strings.IndexByte("=.*|&?/:<>~+-", rest[1]) >= 0 // most are not
	for _, op := range [...]string{
		"...", "===", "!==", "**=", "||=", "&&=", "??=", "//=", "<=>", "**", "::", "->", "=>", "..", "==", "!=", "<=", ">=", "+=", "-=", "*=", "/=", ".=",
		"=~", "!~", "||", "&&", "??", "?.", ">>", "<<", "|&", ":=", "++", "--",
	} {
		if long && strings.HasPrefix(rest, op) && (op != "?." || l.has("optional")) && (op != "--" && op != "++" || l.has("counts")) {
			l.add(token{kind: tokenOp, text: op})
			l.at += len(op)
			return
		}
	}
	l.add(token{kind: tokenOp, text: rest[:1], tight: l.tight()})
	l.at++
}

func isName(c byte) bool {
	return isStart(c) || isDigit(c)
}

// isStart reports whether a name may begin with a character.
func isStart(c byte) bool {
	return c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c >= 0x80
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// nameLen is how much of a text may stand in a name.
func nameLen(s string) int {
	n := 0
	for n < len(s) && isName(s[n]) {
		n++
	}
	return n
}
