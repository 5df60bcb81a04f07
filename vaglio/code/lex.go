package code

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/metnos/vaglio/vaglio/code/lex"
	"github.com/metnos/vaglio/vaglio/wordclass"
)

type token = lex.Token

// join is the operator between the parts of an interpolated string.
const join = "\x00join"

// The limits of one reading, besides its steps.
const (
	maxNesting = 40  // strings within strings
	maxDepth   = 120 // brackets, calls and blocks within each other
	maxAlts    = 32  // texts that one value may stand for
	maxList    = 256 // elements of a list that are kept apart
	maxText    = 1 << 20
	maxVaried  = 1 << 15 // bytes of all the texts that one value may stand for: a text with branches that grows for ever is no command
)

// lexer cuts a program into tokens in one pass. It skips what is no token.
type lexer struct {
	p      *program
	src    string
	at     int
	depth  int
	fresh  bool // no token of the line has been read
	start  int  // where the line begins
	indent int32
	open   []int // the brackets and words that are open here
	braces int   // how many of them are blocks
	branch bool  // after a word such as "if", up to the end of the line
	loop   bool  // the "do" of a loop is due
	// endless lists the quotes without an end; no pattern ends before noRegexp.
	endless  string
	noRegexp int
	after    int // where the text continues after the line's here-documents
	counted  int // up to where the line ends are counted
	begin    int // where the token begins
}

func newLexer(p *program, src string) *lexer { return &lexer{p: p, src: src} }

func (l *lexer) has(flag string) bool { return l.p.lang.has(flag) }

func (l *lexer) run() {
	l.fresh = true
	for l.at < len(l.src) && !l.p.stopped {
		l.begin = l.at
		l.next()
		l.at = max(l.at, l.begin+1)
	}
}

func (l *lexer) add(t token) {
	n := len(l.p.toks)
	if n >= l.p.left {
		l.p.spend(n + 1)
		return
	}
	for range strings.Count(l.src[l.counted:l.begin], "\n") {
		l.p.rows = append(l.p.rows, n)
	}
	l.counted = max(l.counted, l.begin)
	if l.p.begins != nil {
		l.p.begins = append(l.p.begins, l.begin)
	}
	t.Match, t.Tight = -1, l.begin == 0 || strings.IndexByte(" \t\n", l.src[l.begin-1]) < 0
	if l.fresh {
		if !l.inside() {
			l.indent = int32(min(l.at-l.start, maxText)) //nolint:gosec // Bounded.
		}
		t.Line, l.fresh = true, false
	}
	t.Column = l.indent
	l.structure(&t, n)
	t.Perhaps = l.indent > 0 || l.braces > 0 || l.branch
	l.p.toks = append(l.p.toks, t)
}

// structure records what a token opens or closes.
func (l *lexer) structure(t *token, n int) {
	switch {
	case t.Word() && l.has("ends") && l.word(t, n):
	case t.Word() && (wordclass.Is("branch-word", t.Text) || t.Word("for", "while")):
		l.branch = true
	case t.Is() && len(t.Text) == 1:
		l.bracket(t, n)
	}
}

// bracket records what a bracket opens or closes.
func (l *lexer) bracket(t *token, n int) {
	switch t.Text[0] {
	case '(', '[':
		l.open = append(l.open, n)
	case '{':
		l.opens(n)
	case ';':
		l.branch = l.branch && (t.Line || l.has("columns") || l.inside())
	case ')', ']', '}':
		l.close(t, n, map[byte]string{')': "(", ']': "[", '}': "{"}[t.Text[0]])
	}
}

func (l *lexer) opens(n int) {
	l.open = append(l.open, n)
	l.braces++
}

// word reports whether a word opens or closes a block that ends with a word.
func (l *lexer) word(t *token, n int) bool {
	prev := l.last()
	first := t.Line || prev.Is(";", "=") || prev.Word("then", "do", "else")
	switch {
	case prev.Is(".", "::", ":"):
		return false
	case t.Word("end") || t.Text == "until" && l.p.lang.name == "lua":
		l.close(t, n, "")
	case t.Word("def", "function", "class", "module", "begin", "case", "repeat"), t.Word("do") && !l.loop,
		first && t.Word("while", "until", "for", "if", "unless"):
		l.loop = t.Word("while", "until", "for")
		l.opens(n)
	default:
		l.loop = l.loop && !t.Word("do")
		return false
	}
	return true
}

// close closes what a bracket or a word belongs to.
func (l *lexer) close(t *token, n int, open string) {
	for i := len(l.open) - 1; i >= 0 && i > len(l.open)-8; i-- {
		at := l.open[i]
		if o := l.p.toks[at]; o.Text != open && (open != "" || !o.Word()) {
			continue
		}
		l.p.toks[at].Match, t.Match = n, at
		for _, o := range l.open[i:] {
			if o := l.p.toks[o]; o.Text == "{" || o.Word() {
				l.braces--
			}
		}
		l.open = l.open[:i]
		l.branch = l.branch && open != "{"
		return
	}
}

// inside reports whether a bracket of an expression is open.
func (l *lexer) inside() bool {
	n := len(l.open)
	return n > 0 && l.p.toks[l.open[n-1]].Is("(", "[")
}

// op adds an operator that is not in the text.
func (l *lexer) op(s string) { l.add(token{Kind: lex.Op, Text: s, Group: s == "(" || s == ")"}) }

func (l *lexer) last() token {
	if n := len(l.p.toks); n > 0 {
		return l.p.toks[n-1]
	}
	return token{}
}

// next reads what begins here: a token, or something that is not code.
func (l *lexer) next() {
	rest := l.src[l.at:]
	switch c := rest[0]; {
	case c == '\n':
		l.newline()
	case strings.IndexByte(" \t\r", c) >= 0:
		l.at++
	case l.comment(rest) || l.document(rest) || l.hole(rest):
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

// hole reads the mark of an unknown word as a string.
func (l *lexer) hole(rest string) bool {
	if !strings.HasPrefix(rest, markOpen) {
		return false
	}
	n := strings.Index(rest[:min(len(rest), 30)], markClose)
	if n < 0 {
		return false
	}
	n += len(markClose)
	l.add(token{Kind: lex.String, Text: rest[:n]})
	l.at += n
	return true
}

// number reads a number, in any notation of the languages.
func (l *lexer) number(rest string) {
	n := 1
	for n < len(rest) && (isName(rest[n]) || rest[n] == '.' && n+1 < len(rest) && isDigit(rest[n+1])) {
		n++
	}
	l.add(token{Kind: lex.Number, Text: strings.ReplaceAll(rest[:n], "_", "")})
	l.at += n
}

func (l *lexer) newline() {
	if !l.inside() {
		l.add(token{Kind: lex.Op, Text: ";", Line: true})
	}
	l.at = max(l.at+1, l.after)
	l.fresh, l.start, l.loop = true, l.at, false
	l.branch = l.branch && l.inside()
}

// comment skips a comment, to its own end or the end of the line, or an escaped line end.
func (l *lexer) comment(rest string) bool {
	if strings.HasPrefix(rest, "\\\n") {
		l.at += 2
		return true
	}
	for _, c := range l.p.lang.comments {
		begin, stop, ok := strings.Cut(c, "…")
		if !strings.HasPrefix(rest, begin) || begin == "#" && l.last().Text == "$" {
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
	switch t.Kind {
	case lex.End:
		return true
	case lex.Name:
		return strings.Contains(" return if unless while until and or not in split grep case when typeof of print puts ", " "+t.Text+" ")
	case lex.Op:
		return t.Text != ")" && t.Text != "]" && t.Text != "/" && (t.Text != "}" || l.has("braceends"))
	default:
		return false
	}
}

// pattern reads a regular expression, which means nothing by itself.
func (l *lexer) pattern(rest string) bool {
	if rest[0] != '/' || !l.operand() || !l.has("regexp") || l.at < l.noRegexp {
		return false
	}
	text := patternText.FindString(rest)
	if text == "" {
		line, _, _ := strings.Cut(rest, "\n")
		l.noRegexp = l.at + len(line)
		return false
	}
	l.add(token{Kind: lex.Name, Text: "//"})
	l.at += len(text)
	return true
}

var patternText = regexp.MustCompile(`^/(?:\\.|\[\]?(?:\\.|[^\]\\\n])*\]|[^/\\\[\n])+/\w*`)

// input reads perl's <STDIN>, <$file> and <*.c>.
func (l *lexer) input(rest string) bool {
	if rest[0] != '<' || !l.has("flat") {
		return false
	}
	n := strings.IndexAny(rest, "> \t\n;=(")
	if n < 0 || rest[n] != '>' {
		return false
	}
	l.at += n + 1
	if body := rest[1:n]; strings.ContainsAny(body, "*/~") {
		l.called("glob", body, true)
		return true
	}
	l.add(token{Kind: lex.Name, Text: rest[:n+1]})
	return true
}

// named reports whether a name begins here, with or without a sigil.
func (l *lexer) named(s string) bool {
	return isStart(s[0]) || len(s) > 1 && strings.IndexByte(l.p.lang.sigils, s[0]) >= 0 && l.sigil(s[0], s[1])
}

// sigil reports whether a mark and the character after it begin a name. Marks that are also operators do so only where an operand is due.
func (l *lexer) sigil(mark, c byte) bool {
	if mark == '%' || mark == '&' {
		last := l.last()
		return (l.operand() || last.Word() && isName(last.Text[0])) && (isStart(c) || c == '$')
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
	changes := l.has("predicates") && strings.HasPrefix(rest[n:], "!") && !strings.HasPrefix(rest[n:], "!=")
	l.add(token{Kind: lex.Name, Text: s, Changes: changes})
	if changes {
		n++
	}
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

func (l *lexer) operator(rest string) {
	long := len(rest) > 1 && strings.IndexByte("=.*|&?/:<>~+-", rest[1]) >= 0 // most are not
	for _, op := range [...]string{
		"...", "===", "!==", "**=", "||=", "&&=", "??=", "//=", "<=>", "**", "::", "->", "=>", "..", "==", "!=", "<=", ">=", "+=", "-=", "*=", "/=", ".=", "|=",
		"=~", "!~", "||", "&&", "??", "?.", ">>", "<<", "|&", ":=", "++", "--",
	} {
		if long && strings.HasPrefix(rest, op) && (op != "?." || l.has("optional")) && (op != "--" && op != "++" || l.has("counts")) {
			l.add(token{Kind: lex.Op, Text: op})
			l.at += len(op)
			return
		}
	}
	l.add(token{Kind: lex.Op, Text: rest[:1]})
	l.at++
}

func isName(c byte) bool { return isStart(c) || isDigit(c) }

// isStart reports whether a name may begin with a character.
func isStart(c byte) bool {
	return c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c >= 0x80
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// fails reports whether the last of the values from an index to here is an error or a refusal: nobody uses an empty one beside it.
func (p *program) fails(from int) bool {
	last := from
	p.until(from, func(i int) bool {
		if p.toks[i].Is(",") {
			last = i + 1
		}
		return i >= p.at
	})
	return slices.ContainsFunc(p.toks[last:p.at], func(t token) bool { return t.Word("false") || strings.Contains(strings.ToLower(t.Text), "err") })
}

func (p *program) dotted() string {
	name := p.take().Text
	for p.is(".") && p.peek(1).Word() && p.spend(1+len(name)/bytesPerStep) {
		p.take()
		name += "." + p.take().Text
	}
	return ending(name)
}
