package powershell

import (
	"slices"
	"strings"

	"github.com/metnos/vaglio/vaglio/shell"
)

// token is a word or an operator of a line of cmd.
type token struct {
	text   string
	op     bool
	quoted bool
}

// tokens takes a text of cmd apart. At its end a line with a ^ goes on.
func (r *reader) tokens(src string) (out []token) {
	for c := (cursor{src: strings.ReplaceAll(src, "\r\n", "\n")}); !c.done(); {
		r.step(1)
		start := c.pos
		kind, to, ok := c.redirection("12")
		switch {
		case to:
			out = append(out, token{text: strings.Repeat(">", int(kind-shell.RedirectWrite)+1), op: true})
		case ok, c.skip(" \t\r,;"):
		case c.has("^\n"):
			c.take(2)
		case c.skip("\n()<&|"):
			if op := src[start]; op == '&' || op == '|' {
				c.skip(string(op))
			}
			out = append(out, token{text: c.src[start:c.pos], op: true})
		default:
			out = append(out, c.batchWord())
		}
	}
	return out
}

// batchWord takes what stands up to the next blank or operator outside quotes.
func (c *cursor) batchWord() token {
	var b strings.Builder
	quoted, inside := false, false
	for !c.done() && !c.at("\n") && (inside || !c.at(" \t\r&|()<>")) {
		switch s := c.take(1); {
		case s == `"`:
			inside, quoted = !inside, true
		case !inside && s == "^" && !c.done():
			b.WriteString(strings.TrimPrefix(c.take(1), "\n"))
		default:
			b.WriteString(s)
		}
	}
	return token{text: b.String(), quoted: quoted}
}

// batch reads a text of cmd. Brackets only join commands, and what may not run
// is taken to last to the end of the line, or of its brackets.
func (r *reader) batch(src string) {
	r.opens(src)
	toks := r.tokens(src)
	outer, depth, piped, in := r.at, 0, false, value{}
	for len(toks) > 0 {
		n, op := 1, ""
		if toks[0].op {
			op = toks[0].text
		}
		switch op {
		case "", ">", ">>", "<":
			n, in = r.simple(toks, in, piped)
		case "(":
			depth++
		case ")":
			depth--
		case "&&", "||":
			r.at.conditional = true
		case "\n":
			if depth <= 0 {
				r.at = outer
			}
		}
		if op != "(" {
			piped = op == "|"
		}
		toks = toks[min(n, len(toks)):]
	}
	r.at = outer
}

// simple reads a word of the language with what belongs to it, or a command up
// to the next operator, and says how many tokens that takes.
func (r *reader) simple(toks []token, in value, piped bool) (int, value) {
	switch word := strings.ToLower(strings.TrimLeft(toks[0].text, "@")); {
	case word == "rem", strings.HasPrefix(word, "::"):
		return until(toks, "\n"), in
	case word == "if":
		r.at.conditional = true
		return condition(toks), in
	case word == "for":
		return r.loop(toks), in
	case word == "else", word == "do", word == "call", word == "":
		return 1, in
	}
	end := until(toks, "\n", "&", "|", "&&", "||", ")")
	var args []argument
	for n := 0; n < end; n++ {
		if toks[n].op && toks[n].text != "(" {
			n = r.batchRedirect(toks, n)
		} else {
			args = append(args, r.batchArgument(toks[n])...)
		}
	}
	if len(args) == 0 {
		return end, in
	}
	return end, r.batchCommand(append(r.split(args[0]), args[1:]...), in, piped)
}

// until is how many tokens stand before one of some operators.
func until(toks []token, ops ...string) int {
	if n := slices.IndexFunc(toks, func(t token) bool { return t.op && slices.Contains(ops, t.text) }); n >= 0 {
		return n
	}
	return len(toks)
}

// condition is how many tokens the test of an if takes.
func condition(toks []token) int {
	n, end := 1, until(toks, "\n", "&", "|", "&&", "||", "(", ")", "<", ">", ">>")
	for n < end && (strings.EqualFold(toks[n].text, "/i") || strings.EqualFold(toks[n].text, "not")) {
		n++
	}
	if n+1 >= end {
		return end
	}
	_, right, equal := strings.Cut(toks[n].text, "==")
	joined := strings.HasPrefix(toks[n+1].text, "==") && toks[n+1].text != "=="
	switch word := strings.ToLower(toks[n].text); {
	case right != "", equal && toks[n].quoted: // a==b
		n++
	case equal, word == "exist", word == "defined", word == "errorlevel", joined: // a== b, a ==b
		n += 2
	default:
		n += 3
	}
	return min(n, end)
}

// loop reads [options] %x in (set).
func (r *reader) loop(toks []token) int {
	at := slices.IndexFunc(toks, func(t token) bool { return strings.EqualFold(t.text, "in") })
	if at < 2 || at+1 >= len(toks) || !strings.HasPrefix(toks[at-1].text, "%") || toks[at+1].text != "(" {
		r.unread("a loop of a form that is not read")
		return 1
	}
	end, mode := at+2+until(toks[at+2:], ")"), strings.ToLower(toks[1].text)
	if mode == "/r" && at > 3 { // a folder
		r.unread("a loop of a form that is not read")
	}
	set := r.set(toks[at+2:end], mode == "/r")
	if mode == "/f" {
		r.output(toks[at+2 : end])
		set = one(unknownWord(""))
	}
	r.at.conditional, r.at.inLoop = true, true
	r.vars["%"+strings.ToLower(strings.TrimLeft(toks[at-1].text, "%"))] = set.element()
	return end + 1
}

// set reads what a loop goes through.
func (r *reader) set(toks []token, deep bool) value {
	set := []value{{}, {}}
	for _, t := range toks {
		v := r.percent(t.text)
		items := make([]shell.Word, len(v.items))
		for i, w := range v.items {
			if items[i] = r.path(w, false); deep {
				items[i] = below(found(), items[i])
			}
		}
		set = append(set, value{items: items})
	}
	return r.list(set...)
}

// output runs the command of which a loop goes through the output.
func (r *reader) output(toks []token) {
	words := make([]string, len(toks))
	for i, t := range toks {
		words[i] = t.text
	}
	code := strings.Join(words, " ")
	if command := strings.Trim(code, "'`"); command != code {
		r.deeper(func() value { return r.batchText(shell.Text(command)) })
	}
}

// batchArgument reads a word; a variable alone may hold several.
func (r *reader) batchArgument(t token) []argument {
	v := r.percent(t.text)
	if strings.HasPrefix(t.text, "%") && !t.quoted && len(v.items) == 1 {
		return r.splitWords(v.items[0])
	}
	return []argument{{val: v, word: r.word(v), bare: !t.quoted}}
}

// split takes apart a built-in command that is written together with its first
// option or path, as in del/q or cd\.
func (r *reader) split(a argument) []argument {
	s, _ := a.word.Text()
	s = strings.TrimLeft(s, "@")
	if at := strings.IndexAny(s, `/\.`); at > 0 && a.bare && r.t.spec("cmd:", s[:at]) != nil {
		if rest := s[at:]; rest[0] != '.' || rest == "." || strings.HasPrefix(rest, "..") {
			return []argument{plainArg(shell.Text(s[:at])), plainArg(shell.Text(rest))}
		}
	}
	if s != "" {
		a = plainArg(shell.Text(s))
	}
	return []argument{a}
}

// batchRedirect opens the file behind an operator, and says where it stands.
func (r *reader) batchRedirect(toks []token, n int) int {
	kind := map[string]shell.RedirectKind{"<": shell.RedirectRead, ">": shell.RedirectWrite, ">>": shell.RedirectAppend}[toks[n].text]
	if n++; n < len(toks) && !toks[n].op && !strings.EqualFold(toks[n].text, "nul") {
		r.redirect(kind, r.percent(toks[n].text))
	}
	return min(n, len(toks)-1)
}

// batchCommand runs one command of cmd.
func (r *reader) batchCommand(args []argument, in value, piped bool) value {
	name, rest := args[0].word, args[1:]
	s, _ := name.Text()
	sp := r.t.spec("cmd:", s)
	switch {
	case strings.EqualFold(s, "set"):
		all := r.line(rest)
		name, _, ok := strings.Cut(all.Prefix(), "=")
		if v := one(all.Cut(len(name) + 1)); ok && name != "" && name[0] != '/' {
			r.setenv(name, v)
			r.setVar("env:"+strings.ToLower(name), v)
		}
		return value{}
	case strings.EqualFold(s, "start"):
		return r.batchStart(rest, in, piped)
	case sp == nil:
		return r.program(name, rest, in, piped)
	}
	return r.table(sp, rest, in, piped)
}

// batchStart reads start ["title"] [options] program words.
func (r *reader) batchStart(args []argument, in value, piped bool) value {
	if len(args) > 0 && !args[0].bare {
		args = args[1:]
	}
	for len(args) > 0 && isSlashOption(strings.ToLower(args[0].word.Prefix())) {
		if args[0].word.Is("/d") && len(args) > 1 {
			args = args[1:]
		}
		args = args[1:]
	}
	switch {
	case len(args) == 0:
		return value{}
	case strings.Contains(args[0].word.Prefix(), "://"):
		r.call("start", shell.VerbNetwork, args[0].word)
		return value{}
	}
	return r.batchCommand(args, in, piped)
}

// percent replaces %NAME%, !NAME! and the variables of loops in a word.
func (r *reader) percent(s string) value {
	r.step(1 + len(s)/bytesPerStep)
	var parts []value
	for at := 0; ; {
		n := strings.IndexAny(s[at:], "%!")
		if n < 0 {
			return r.glue(append(parts, text(s))...)
		}
		v, size := r.percentAt(s[at+n:])
		if at += n + size; size == 0 {
			at++ // it stands for itself
			continue
		}
		parts = append(parts, text(s[:at-size]), v)
		s, at = s[at:], 0
	}
}

// percentAt reads the variable at the beginning of a text and says how long it
// is there, 0 for none. What %~dpx and %x:~1,2% take of one is not known.
func (r *reader) percentAt(s string) (value, int) {
	lead := len(s) - len(strings.TrimLeft(s[:min(2, len(s))], "%"))
	if lead > 0 && lead < len(s) {
		v, ok := r.vars["%"+strings.ToLower(s[lead:lead+1])]
		if ok && (lead+1 == len(s) || s[lead+1] != '%' || lead == 2) {
			return v, lead + 1
		}
		if strings.IndexByte("0123456789*~", s[1]) >= 0 {
			return unknown(), 2
		}
	}
	name, _, ok := strings.Cut(s[1:], s[:1])
	if !ok || name == "" {
		return value{}, 0
	}
	base, _, changes := strings.Cut(strings.ToLower(name), ":")
	v := r.variable("env:" + base)
	if changes {
		v = madeOf(v, "")
	}
	return v, len(name) + 2
}

// batchText reads a word as lines of cmd.
func (r *reader) batchText(w shell.Word) value {
	if r.isCode(w, "cmd") {
		s := w.String()
		if n := len(s); n > 1 && s[0] == '"' && s[n-1] == '"' && strings.Count(s, `"`) != 4 {
			s = s[1 : n-1]
		}
		r.within(by("cmd"), func() value {
			r.batch(s)
			return value{}
		})
	}
	return output("cmd", false)
}

// batchLine reads the command line of cmd: what follows /c or /k.
func (r *reader) batchLine(args []argument, in value, piped bool) value {
	for i := range args {
		s := args[i].word.Prefix()
		if strings.HasPrefix(s, "/") && len(s) > 1 && strings.IndexByte("ckrCKR", s[1]) >= 0 {
			rest := args[i+1:]
			if len(s) > 2 {
				rest = append([]argument{plainArg(shell.Text(s[2:]))}, rest...)
			}
			return r.batchText(r.line(rest))
		}
	}
	if piped {
		return r.batchText(r.word(in))
	}
	r.call("cmd", shell.VerbRead)
	return output("cmd", false)
}
