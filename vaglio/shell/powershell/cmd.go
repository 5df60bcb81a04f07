package powershell

import (
	"strings"

	"github.com/metnos/vaglio/vaglio/shell"
)

// batch reads lines of cmd and runs them as it goes.
type batch struct {
	cursor
	r     *reader
	depth int // of brackets
}

// batch reads a text of cmd. Brackets only join commands, and what may not run
// is taken to last to the end of the line, or of its brackets.
func (r *reader) batch(src string) {
	if !r.opens(src) {
		return
	}
	defer r.leave()
	outer := r.at
	defer func() { r.at = outer }()
	b := &batch{r: r, cursor: cursor{src: strings.ReplaceAll(src, "\r\n", "\n")}}
	var in value
	piped := false
	for b.gaps(); b.more(); b.gaps() {
		if strings.IndexByte("\n&|()@", b.peek(0)) >= 0 {
			if piped = b.operator(outer, piped); !piped {
				in = value{}
			}
			continue
		}
		before := b.pos
		if b.keyword() {
			continue
		}
		if in = b.simple(in, piped); b.pos == before {
			b.take(1) // nothing that begins so is known
		}
	}
}

// operator takes what stands between commands, and says whether it is a pipe.
func (b *batch) operator(outer place, piped bool) bool {
	c := b.take(1)[0]
	switch {
	case c == '(':
		b.depth++
	case c == ')':
		b.depth--
	case c == '\n' && b.depth <= 0:
		b.r.at = outer
	case (c == '&' || c == '|') && b.peek(0) == c:
		b.take(1)
		b.r.at.conditional = true
	case c == '|':
		return true
	}
	return c == '@' && piped
}

func (b *batch) more() bool { return !b.done() && b.r.step(1) }

// gaps skips what stands between words.
func (b *batch) gaps() {
	for b.more() && (isBlank(b.peek(0)) || b.peek(0) == '\r' || b.has("^\n")) {
		b.take(1 + strings.Count(b.rest()[:1], "^"))
	}
}

// ahead is the bare word that comes next, in lower case.
func (b *batch) ahead() string {
	s := b.rest()
	if n := strings.IndexAny(s, " \t\r\n&|()<>\""); n >= 0 {
		s = s[:n]
	}
	const most = 32
	return strings.ToLower(s[:min(len(s), most)])
}

// skip takes the next word if it is the given one.
func (b *batch) skip(word string) bool {
	b.gaps()
	found := b.ahead() == word
	if found {
		b.take(len(word))
	}
	return found
}

// keyword takes a word of the language with what belongs to it alone: the
// commands follow it.
func (b *batch) keyword() bool {
	switch word := b.ahead(); {
	case word == "rem", strings.HasPrefix(word, "::"):
		line, _, _ := strings.Cut(b.rest(), "\n")
		b.take(len(line))
	case word == "if":
		b.take(len(word))
		b.condition()
	case word == "for":
		b.take(len(word))
		b.loop()
	case word == "else", word == "do", word == "call":
		b.take(len(word))
	default:
		return false
	}
	return true
}

// word takes what stands up to the next blank or operator outside quotes.
func (b *batch) word() (s string, quoted bool) {
	var text strings.Builder
	inside := false
	for b.gaps(); b.more(); {
		c := b.peek(0)
		if c == '\n' || !inside && strings.IndexByte(" \t\r&|()<>", c) >= 0 {
			break
		}
		switch s := b.take(1); {
		case c == '"':
			inside, quoted = !inside, true
		case !inside && c == '^' && !b.done():
			text.WriteString(strings.TrimPrefix(b.take(1), "\n")) // at its end the line goes on
		default:
			text.WriteString(s)
		}
	}
	return text.String(), quoted
}

// condition reads the test of an if.
func (b *batch) condition() {
	b.skip("/i")
	b.skip("not")
	first, _ := b.word()
	switch strings.ToLower(first) {
	case "exist", "defined", "errorlevel", "cmdextversion":
		b.word()
	default:
		if strings.Contains(first, "==") && !strings.HasSuffix(first, "==") {
			break // a==b
		}
		for _, op := range [...]string{"==", "equ", "neq", "lss", "leq", "gtr", "geq"} {
			if b.skip(op) {
				break
			}
		}
		b.word()
	}
	b.r.at.conditional = true
}

// loop reads [options] %x in (set).
func (b *batch) loop() {
	mode := ""
	for b.gaps(); b.more() && b.peek(0) != '%'; b.gaps() {
		w, quoted := b.word()
		switch {
		case strings.HasPrefix(w, "/"):
			mode = strings.ToLower(w)
		case mode == "/r":
			b.r.unread("a loop of a form that is not read")
		case w == "" && !quoted:
			b.take(1)
		}
	}
	name, _ := b.word()
	b.skip("in")
	var set []shell.Word
	if b.gaps(); b.peek(0) == '(' {
		b.take(1)
		set = b.set(mode)
	}
	b.r.at.conditional, b.r.at.inLoop = true, true
	b.r.vars["%"+strings.ToLower(strings.TrimLeft(name, "%"))] = value{items: set, either: len(set) > 1}
}

// set reads the brackets of a loop.
func (b *batch) set(mode string) []shell.Word {
	start := b.pos
	var vals []value
	for b.gaps(); b.more() && b.peek(0) != ')'; b.gaps() {
		w, quoted := b.word()
		if w == "" && !quoted {
			b.take(1)
		}
		vals = append(vals, b.r.percent(w))
	}
	code := strings.TrimSpace(b.src[start:b.pos])
	b.take(1)
	if mode == "/f" {
		if code != "" && strings.IndexByte("'`", code[0]) >= 0 {
			b.r.batchWord(shell.Text(strings.Trim(code, "'`")))
		}
		return []shell.Word{unknownWord("")}
	}
	items := b.r.list(append(vals, value{})).items
	out := make([]shell.Word, len(items))
	for i, w := range items {
		out[i] = b.r.path(w, false)
		if mode == "/r" {
			out[i] = below(found(), out[i])
		}
	}
	return out
}

// found is the folder of something that a search finds.
func found() shell.Word { return shell.NewWord(shell.Part{Kind: shell.PartUnknown, From: "find"}) }

// simple reads a command's words up to the next operator.
func (b *batch) simple(in value, piped bool) value {
	var args []argument
	for b.gaps(); b.more(); b.gaps() {
		if b.redirect() {
			continue
		}
		c := b.peek(0)
		if strings.IndexByte("\n&|)", c) >= 0 || c == '(' && len(args) == 0 {
			break
		}
		if c == '(' {
			args = append(args, plainArg(shell.Text(b.take(1))))
			continue
		}
		args = append(args, b.argument()...)
	}
	if len(args) == 0 {
		return value{}
	}
	if s, ok := args[0].word.Text(); ok && args[0].bare {
		args = append(b.r.split(s), args[1:]...)
	}
	return b.r.batchCommand(args, in, piped)
}

// argument takes a word; a variable alone may hold several.
func (b *batch) argument() []argument {
	variable := b.peek(0) == '%'
	w, quoted := b.word()
	v := b.r.percent(w)
	if variable && !quoted && len(v.items) == 1 {
		return b.r.splitWords(v.items[0])
	}
	return []argument{{val: v, word: b.r.word(v), bare: !quoted}}
}

// split takes apart a built-in command that is written together with its first
// option or path, as in del/q or cd\.
func (r *reader) split(s string) []argument {
	at := strings.IndexAny(s, `/\.`)
	if at > 0 && r.t.cmd[strings.ToLower(s[:at])] != nil {
		rest := s[at:]
		if !strings.HasPrefix(rest, ".") || rest == "." || strings.HasPrefix(rest, "..") {
			return []argument{plainArg(shell.Text(s[:at])), plainArg(shell.Text(rest))}
		}
	}
	return []argument{plainArg(shell.Text(s))}
}

// redirect takes > >> 2>&1 and <, if one comes next.
func (b *batch) redirect() bool {
	kind, to, ok := b.redirection("12")
	if !ok && b.peek(0) == '<' {
		b.take(1)
		kind, to, ok = shell.RedirectRead, true, true
	}
	if !to {
		return ok
	}
	if target, quoted := b.word(); (target != "" || quoted) && !strings.EqualFold(target, "nul") {
		b.r.redirect(kind, b.r.percent(target))
	}
	return true
}

// batchCommand runs one command of cmd.
func (r *reader) batchCommand(args []argument, in value, piped bool) value {
	name, rest := args[0].word, args[1:]
	s, known := name.Text()
	if !known && programName(name) == "" {
		return r.dynamicName(name, rest)
	}
	sp := r.t.cmd[strings.ToLower(s)]
	switch {
	case strings.EqualFold(s, "set"):
		r.batchSet(rest)
		return value{}
	case strings.EqualFold(s, "start"):
		return r.batchStart(rest, in, piped)
	case sp == nil:
		return r.program(name, rest, in, piped)
	}
	return r.cmdlet(sp, r.bind(sp, slashed(sp, rest)), rest, in, piped)
}

// batchSet sets a variable: set name=value.
func (r *reader) batchSet(args []argument) {
	all := r.line(args)
	name, _, ok := strings.Cut(all.Prefix(), "=")
	if !ok || name == "" || strings.HasPrefix(name, "/") {
		return
	}
	parts := append([]shell.Part(nil), all.Parts()...)
	parts[0].Text = parts[0].Text[len(name)+1:]
	v := one(shell.NewWord(parts...))
	r.setenv(name, v)
	r.setVar("env:"+strings.ToLower(name), v)
}

// batchStart reads start ["title"] [options] program words.
func (r *reader) batchStart(args []argument, in value, piped bool) value {
	if len(args) > 0 && !args[0].bare {
		args = args[1:]
	}
	for len(args) > 0 && isSlashOption(strings.ToLower(args[0].word.Prefix())) {
		skip := 1
		if strings.EqualFold(args[0].word.Prefix(), "/d") {
			skip = min(2, len(args))
		}
		args = args[skip:]
	}
	if len(args) == 0 {
		return value{}
	}
	if strings.Contains(args[0].word.Prefix(), "://") {
		r.call("start", shell.VerbNetwork, args[0].word)
		return value{}
	}
	return r.batchCommand(args, in, piped)
}

// percent replaces %NAME%, !NAME! and the variables of loops in a word.
func (r *reader) percent(s string) value {
	if !strings.ContainsAny(s, "%!") || !r.step(1+len(s)/bytesPerStep) {
		return text(s)
	}
	var parts []value
	for c := (cursor{src: s}); !c.done(); {
		switch n := strings.IndexAny(c.rest(), "%!"); {
		case n < 0:
			parts = append(parts, text(c.take(len(s))))
			continue
		case n > 0:
			parts = append(parts, text(c.take(n)))
		}
		v, n := r.percentAt(c.rest())
		if n == 0 {
			v = text(c.rest()[:1])
		}
		c.take(n)
		parts = append(parts, v)
	}
	return r.glue(parts)
}

// percentAt reads the variable at the beginning of a text and says how long it
// is there, 0 for none.
func (r *reader) percentAt(s string) (value, int) {
	if s[0] == '%' && len(s) > 1 {
		if v, n := r.loopVariable(s); n > 0 {
			return v, n
		}
		if strings.IndexByte("0123456789*~", s[1]) >= 0 {
			return unknownValue(""), 2
		}
	}
	name, _, ok := strings.Cut(s[1:], s[:1])
	if !ok || name == "" {
		return value{}, 0
	}
	base, _, changes := strings.Cut(strings.ToLower(name), ":")
	v := r.variable("env:" + base)
	if changes { // %NAME:~1,2%
		v = madeOf(v, "")
	}
	return v, len(name) + 2
}

// loopVariable reads %x and %%x; what %~dpx takes of one is not known.
func (r *reader) loopVariable(s string) (value, int) {
	lead := len(s) - len(strings.TrimLeft(s[:min(2, len(s))], "%"))
	if lead == len(s) {
		return value{}, 0
	}
	v, ok := r.vars["%"+strings.ToLower(s[lead:lead+1])]
	if ok && (lead+1 == len(s) || s[lead+1] != '%' || lead == 2) {
		return v, lead + 1
	}
	return value{}, 0
}
