package code

import (
	"encoding/base64"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/metnos/vaglio/internal/unixtext"
	"github.com/metnos/vaglio/vaglio/code/lex"
	"github.com/metnos/vaglio/vaglio/shell"
	"github.com/metnos/vaglio/vaglio/wording"
)

// quoted reads a string; prefix holds the letters before its quote.
func (l *lexer) quoted(prefix string) {
	q := l.src[l.at : l.at+1]
	if t := strings.Repeat(q, 3); l.has("prefixes") && strings.HasPrefix(l.src[l.at:], t) {
		q = t
	}
	opener, from, end := l.opener(q, prefix), l.at+len(q), -1
	if !strings.Contains(l.endless, q+";") {
		if end = l.stringEnd(from, q, opener, len(q) == 1 && q != "`" && l.has("linestrings"), 0); end < 0 {
			l.endless += q + ";"
		}
	}
	if end < 0 {
		l.unended()
		l.at = from
		return
	}
	if body := l.src[from:end]; q == "`" && l.has("backtick") {
		l.called("`", body, false)
	} else {
		l.value(body, opener, strings.Contains(prefix, "r"), q == "'" && l.has("rawsingle"))
	}
	l.at = end + len(q)
}

// opener returns what begins an expression inside a string. A "`" before it in the table says that only backtick strings have expressions.
func (l *lexer) opener(q, prefix string) string {
	fills, only := strings.CutPrefix(l.p.lang.fills, "`")
	switch {
	case strings.Contains(prefix, "f"):
		return "{"
	case q == "`", q == "\"" && !only:
		return fills
	}
	return ""
}

// unended records a text that does not end, after which nothing is certain.
func (l *lexer) unended() {
	l.p.problem(shell.ProblemDynamicCode, wording.Say("a text in the program does not end"), shell.Word{})
}

// called adds the call of a function with a text: of the shell, which a text in backticks is.
func (l *lexer) called(name, body string, raw bool) {
	l.add(token{Kind: lex.Name, Text: name})
	l.op("(")
	l.value(body, l.p.lang.fills, raw, false)
	l.op(")")
}

// stringEnd returns where a string ends, -1 if it does not end. It skips expressions inside, with their own strings.
func (l *lexer) stringEnd(i int, q, opener string, line bool, depth int) int {
	for i < len(l.src) {
		switch c := l.src[i]; {
		case c == '\\':
			i += 2
		case strings.HasPrefix(l.src[i:], q):
			return i
		case c == '\n' && line:
			return -1
		case len(opener) == 2 && strings.HasPrefix(l.src[i:], opener) && depth < maxNesting:
			i = l.skip(i+2, depth+1)
		default:
			i++
		}
	}
	return -1
}

// skip returns the index after the brace that closes an expression.
func (l *lexer) skip(i, depth int) int {
	for open := 1; i < len(l.src); i++ {
		switch l.src[i] {
		case '\\':
			i++
		case '{':
			open++
		case '}':
			if open--; open == 0 {
				return i + 1
			}
		case '"', '\'', '`':
			opener := map[byte]string{'`': "${"}[l.src[i]]
			if i = l.stringEnd(i+1, l.src[i:i+1], opener, false, depth); i < 0 {
				return len(l.src)
			}
		}
	}
	return min(i, len(l.src))
}

// value adds a string: a token, or a group of its parts.
func (l *lexer) value(body, opener string, raw, single bool) {
	plain := plainer(raw, single)
	if l.p.lang.name == "perl" && opener != "" && changesCase.MatchString(body) {
		l.add(token{Kind: lex.Name, Text: "quoted"})
		return
	}
	if opener == "" || !strings.ContainsAny(body, "{$@#") {
		l.add(token{Kind: lex.String, Text: plain(body)})
		return
	}
	if l.depth >= maxNesting {
		l.p.problem(shell.ProblemTooDeep, wording.Say("texts of a program nest deeper than %s levels", strconv.Itoa(maxNesting)), shell.Word{})
		return
	}
	l.op("(")
	from := 0
	for i := 0; i < len(body); {
		if body[i] == '\\' && !raw {
			i += 2
			continue
		}
		code, n := filler(body[i:], opener)
		if n > 0 {
			l.part(plain(body[from:i]), code)
			from = i + n
		}
		i += max(n, 1)
	}
	l.add(token{Kind: lex.String, Text: plain(body[from:])})
	l.op(")")
}

// changesCase matches what makes perl change the case of the letters that follow, or quote them.
var changesCase = regexp.MustCompile(`(?:^|[^\\])(?:\\\\)*\\[LUQFul]`)

// plainer returns the function that decodes the text of a string.
func plainer(raw, single bool) func(string) string {
	switch {
	case raw:
		return func(s string) string { return s }
	case single:
		return strings.NewReplacer(`\\`, `\`, `\'`, `'`).Replace
	}
	return unescape
}

// variable matches one in a string of perl or php: $x, $x[0], $x{k}, $x->{k}, and perl's @x.
var variable = regexp.MustCompile(`^[$@][\w\x{80}-\x{10ffff}]+(?:::\w+)*(?:(?:->)?(?:\[[^\]]{1,79}\]|\{[^}]{1,79}\}))*`)

// filler returns the code of the expression at the beginning of s, and its length including its
// marks, 0 if there is none. In perl and php that is a variable, ${x}, @{[…]} or {$x}.
func filler(s, opener string) (code string, n int) {
	from, sigils := len(opener), opener != "" && strings.Trim(opener, "$@") == ""
	switch {
	case !sigils:
		if !strings.HasPrefix(s, opener) {
			return "", 0
		}
	case strings.HasPrefix(s, "{$"), strings.HasPrefix(s, "@{"), strings.HasPrefix(s, "${"):
		from = strings.IndexByte(s, '{') + 1
	case strings.Contains(opener, s[:1]):
		code = variable.FindString(s)
		return code, len(code)
	default:
		return "", 0
	}
	sub := lexer{src: s}
	n = sub.skip(from, 0)
	code = strings.Trim(s[from:max(n-1, from)], " ")
	if sigils && s[0] != '{' && !strings.ContainsAny(code, "[($\\") {
		code = s[:1] + code
	}
	return strings.TrimPrefix(code, "\\"), n
}

// part adds a piece of text and the expression after it.
func (l *lexer) part(text, code string) {
	l.add(token{Kind: lex.String, Text: text})
	l.op(join)
	l.op("(")
	sub := newLexer(l.p, code)
	sub.depth, sub.branch = l.depth+1, true
	sub.run()
	l.op(")")
	l.op(join)
}

// quoteOperator reads perl's q{}, qq{}, qx{}, qw{} and s///, and ruby's %w() and %x().
func (l *lexer) quoteOperator(s, rest string) bool {
	percent := l.has("percent") && l.last().Text == "%"
	if rest = l.delimiter(s, rest, percent); rest == "" || isName(rest[0]) {
		return false
	}
	if strings.IndexByte(" =,;)>", rest[0]) >= 0 && (len(s) == 1 || rest[0] != '=') {
		return false
	}
	body, tail, ok := "", "", false
	if open := s + rest[:1] + ";"; !strings.Contains(l.endless, open) {
		if body, tail, ok = delimited(rest); !ok {
			l.endless += open
		}
	}
	if !ok {
		l.unended()
		return false
	}
	if percent {
		l.p.toks = l.p.toks[:len(l.p.toks)-1]
	}
	l.at = len(l.src) - len(l.quotation(s, body, rest, tail))
	return true
}

// delimiter returns the text from the delimiter of a quoting operator on, "" if the word is not one.
func (l *lexer) delimiter(s, rest string, percent bool) string {
	switch prev := l.last().Text; {
	case percent && strings.Contains(" x q Q w W i ", " "+s+" "):
		return rest
	case !l.has("quotes") || !strings.Contains(" q qq qx qw s tr y m qr ", " "+s+" "),
		slices.Contains([]string{"->", "sub", "&"}, prev), prev == "{" && rest[0] == '}':
		return ""
	}
	return strings.TrimLeft(rest, " ")
}

// quotation adds what an operator quotes, and returns the text after it.
func (l *lexer) quotation(s, body, from, tail string) string {
	switch s {
	case "s", "tr", "y":
		return l.substitution(s, from, tail)
	case "qw", "w", "W", "i":
		l.op("[")
		for f := range strings.FieldsSeq(body) {
			l.add(token{Kind: lex.String, Text: f})
			l.op(",")
		}
		l.op("]")
	case "qx", "x":
		l.called("`", body, false)
	case "m", "qr":
		tail = strings.TrimLeft(tail, "gimsxo")
		l.add(token{Kind: lex.Name, Text: "//"})
	case "q":
		l.value(body, "", false, true)
	default:
		l.value(body, l.p.lang.fills, false, false)
	}
	return tail
}

// substitution reads s/…/…/ and tr/…/…/ as a call of that name, with the replacement if it is code.
func (l *lexer) substitution(s, from, rest string) string {
	if strings.IndexByte("([{<", from[0]) >= 0 {
		rest = strings.TrimLeft(rest, " \t\n")
	} else {
		rest = from[len(from)-len(rest)-1:] // its middle delimiter ends the first text
	}
	if rest == "" {
		return rest
	}
	with, rest, ok := delimited(rest)
	if !ok {
		l.unended()
	}
	flags := rest[:len(rest)-len(strings.TrimLeft(rest, "abcdefghijklmnopqrstuvwxyz"))]
	l.add(token{Kind: lex.Name, Text: s + "///"})
	l.op("(")
	if s == "s" && strings.Contains(flags, "e") { // the replacement is code
		l.part("", strings.ReplaceAll(with, `\`+from[:1], from[:1]))
	}
	l.op(")")
	return rest[len(flags):]
}

// delimited returns the text between a delimiter and its counterpart.
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

// documentHead matches what follows the mark of a here-document on its line.
var documentHead = regexp.MustCompile(`^([~\- ]*)(?:(["'])([\w\x{80}-\x{10ffff}]+)|([A-Z][\w\x{80}-\x{10ffff}]*))[^\n]*\n`)

// document reads a here-document, whose text follows the line.
func (l *lexer) document(rest string) bool {
	mark := l.p.lang.document
	if mark == "" || !strings.HasPrefix(rest, mark) || l.last().Kind == lex.Number {
		return false
	}
	head := documentHead.FindStringSubmatch(rest[len(mark):])
	if head == nil || l.p.lang.name == "ruby" && (head[1] == " " || !strings.Contains(rest[len(mark)+len(head[0]):], head[3]+head[4])) { // list << "element"
		return false
	}
	l.after = max(l.at+len(mark)+len(head[0]), l.after)
	word, fills := head[3]+head[4], l.p.lang.fills
	if head[2] == "'" {
		fills = ""
	}
	l.value(l.documentText(word, strings.HasPrefix(head[1], "~")), fills, head[2] == "'", false)
	l.at += len(mark) + len(head[1]) + len(word) + 2*len(head[2])
	return true
}

// documentText reads the lines of a here-document up to its end word.
func (l *lexer) documentText(word string, indent bool) string {
	var body strings.Builder
	for l.after < len(l.src) {
		line, _, _ := strings.Cut(l.src[l.after:], "\n")
		l.after = min(l.after+len(line)+1, len(l.src))
		if strings.TrimRight(strings.TrimSpace(line), ";,)") == word {
			break
		}
		if indent {
			line = strings.TrimLeft(line, " \t")
		}
		body.WriteString(line + "\n")
	}
	if l.p.lang.name == "php" {
		return strings.TrimSuffix(body.String(), "\n")
	}
	return body.String()
}

// escapes matches what a backslash begins.
var escapes = regexp.MustCompile(`(?s)\\(?:[xu]\{[0-9a-fA-F]{1,6}\}|x[0-9a-fA-F]{1,2}|u[0-9a-fA-F]{1,4}|U[0-9a-fA-F]{1,8}|[0-7]{1,3}|.)`)

// unescape decodes the escapes that the languages share.
func unescape(s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	return escapes.ReplaceAllStringFunc(s, func(e string) string {
		switch {
		case strings.HasSuffix(e, "}") && len(e) > 3:
			return unixtext.ANSI(`\U` + e[3:len(e)-1])
		case len(e) > 2, strings.IndexByte("abefnrtv01234567", e[1]) >= 0:
			return unixtext.ANSI(e)
		}
		return strings.TrimPrefix(e[1:], "\n")
	})
}

// unmark returns the word that a text with marks stands for.
func (p *program) unmark(s string) shell.Word {
	if !strings.Contains(s, markOpen) {
		return shell.Text(s)
	}
	var words []shell.Word
	for {
		before, rest, ok := strings.Cut(s, markOpen)
		words = append(words, shell.Text(before))
		if !ok {
			return shell.Glue(words...)
		}
		digits, after, _ := strings.Cut(rest, markClose)
		if n, err := strconv.Atoi(digits); err == nil && n >= 0 && n < len(p.holes) {
			words = append(words, p.holes[n])
		}
		s = after
	}
}

// pathFrom joins the parts of a path. Of a word that the program is not given there is none: it fails.
func (p *program) pathFrom(v value, rest []value) value {
	if v.kind == kindNone && v.path == allArguments {
		return v
	}
	return pathOf(p.joined(append([]value{v}, rest...)))
}

func decode64(s string) (string, bool) {
	s = strings.NewReplacer("-", "+", "_", "/", "=", "", "\n", "", " ", "").Replace(s)
	b, err := base64.RawStdEncoding.DecodeString(s)
	return string(b), err == nil
}
