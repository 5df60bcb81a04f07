package powershell

import (
	"strings"

	"github.com/metnos/vaglio/vaglio/shell"
)

// batcher reads the lexemes of a text of cmd. Only next goes on, so a loop
// that asks for it in every round ends.
type batcher struct {
	r    *reader
	toks []lexeme
}

// batch reads lines of cmd.
func (r *reader) batch(src string) {
	if !r.opens(src) {
		return
	}
	defer r.leave()
	l := &batchLexer{cursor: cursor{src: strings.ReplaceAll(src, "\r\n", "\n")}, spend: r.step}
	b := &batcher{r: r, toks: l.lexemes()}
	for !b.done() {
		b.sequence()
		b.next() // a bracket that closes nothing
	}
}

func (b *batcher) done() bool { return len(b.toks) == 0 || b.r.stopped }

// peek is the next lexeme; behind the last one, an empty one.
func (b *batcher) peek() lexeme {
	if b.done() {
		return lexeme{}
	}
	return b.toks[0]
}

// next takes the next lexeme.
func (b *batcher) next() lexeme {
	t := b.peek()
	b.toks = b.toks[min(1, len(b.toks)):]
	return t
}

// skip takes the next lexeme if it is the word.
func (b *batcher) skip(word string) bool {
	found := strings.EqualFold(b.peek().text, word) && !b.done()
	if found {
		b.next()
	}
	return found
}

func (t lexeme) is(bracket string) bool { return t.kind == tokGroup && t.text == bracket }

// sequence reads commands up to a closing bracket or the end.
func (b *batcher) sequence() {
	var in value
	piped := false
	for !b.done() && !b.peek().is(")") {
		switch b.peek().kind {
		case tokEnd, tokAnd, tokOr:
			b.next()
			in, piped = value{}, false
		case tokPipe:
			b.next()
			piped = true
		default:
			left := len(b.toks)
			if in = b.command(in, piped); len(b.toks) == left {
				b.next() // nothing that begins so is known
			}
		}
	}
}

// command reads one command with what it holds.
func (b *batcher) command(in value, piped bool) value {
	if !b.r.enter() {
		b.toks = nil
		return value{}
	}
	defer b.r.leave()
	t := b.peek()
	if t.is("(") {
		b.next()
		b.sequence()
		b.next()
		return unknownValue("")
	}
	if t.kind != tokWord || t.quote {
		return b.simple(in, piped)
	}
	return b.keyword(strings.ToLower(strings.TrimLeft(t.text, "@")), in, piped)
}

// keyword reads a command that may begin with a word of the language.
func (b *batcher) keyword(word string, in value, piped bool) value {
	switch {
	case word == "":
		b.next()
	case word == "rem" || strings.HasPrefix(word, "::"):
		for !b.done() && b.peek().text != "\n" {
			b.next()
		}
	case word == "if":
		b.next()
		b.condition()
	case word == "for":
		b.next()
		b.loop()
	case word == "else" || word == "do" || word == "call":
		b.next()
		return b.command(in, piped)
	default:
		return b.simple(in, piped)
	}
	return value{}
}

// condition reads the test, the command and what follows else.
func (b *batcher) condition() {
	b.skip("/i")
	b.skip("not")
	switch first := strings.ToLower(b.next().text); first {
	case "exist", "defined", "errorlevel", "cmdextversion":
		b.next()
	default:
		if strings.Contains(first, "==") && !strings.HasSuffix(first, "==") {
			break // a==b
		}
		for _, op := range [...]string{"==", "equ", "neq", "lss", "leq", "gtr", "geq"} {
			if b.skip(op) {
				break
			}
		}
		b.next()
	}
	b.r.conditional(false, func() value {
		b.command(value{}, false)
		if b.skip("else") {
			b.command(value{}, false)
		}
		return value{}
	})
}

// loop reads [options] %x in (set) do command.
func (b *batcher) loop() {
	mode, root := "", shell.Text(".")
	for strings.HasPrefix(b.peek().text, "/") {
		mode = strings.ToLower(b.next().text)
		if w := b.peek(); w.kind == tokWord && !strings.HasPrefix(w.text, "%") && !strings.HasPrefix(w.text, "/") {
			b.next()
			if mode == "/r" {
				root = b.r.path(b.r.word(b.r.percent(w.text)), false)
			}
		}
	}
	name := strings.ToLower(strings.TrimLeft(b.next().text, "%"))
	b.skip("in")
	var set []shell.Word
	if b.peek().is("(") {
		b.next()
		set = b.set(mode, root)
	}
	b.skip("do")
	body := b.toks
	b.r.conditional(true, func() value {
		b.toks = body // the loop is read twice
		b.r.vars["%"+name] = value{items: set, either: len(set) > 1}
		return b.command(value{}, false)
	})
}

// set reads the brackets of a loop.
func (b *batcher) set(mode string, root shell.Word) []shell.Word {
	var vals []value
	var raw []string
	for !b.done() && !b.peek().is(")") {
		t := b.next()
		raw = append(raw, t.text)
		vals = append(vals, b.r.percent(t.text))
	}
	b.next()
	if mode == "/f" {
		if code := strings.Join(raw, " "); len(code) > 1 && (code[0] == '\'' || code[0] == '`') {
			b.r.batchWord(shell.Text(strings.Trim(code, "'`")))
		}
		return []shell.Word{unknownWord("")}
	}
	items := b.r.list(vals).items
	out := make([]shell.Word, len(items))
	for i, w := range items {
		out[i] = b.r.path(w, false)
		if mode == "/r" {
			out[i] = below(root, below(found(), out[i]))
		}
	}
	return out
}

// found is the folder of something that a search finds.
func found() shell.Word { return shell.NewWord(shell.Part{Kind: shell.PartUnknown, From: "find"}) }

// simple reads a command's words up to the next operator.
func (b *batcher) simple(in value, piped bool) value {
	var args []argument
	quoted := false
	for {
		t := b.peek()
		if t.kind == tokRedirect {
			b.redirect(b.next())
			continue
		}
		if t.kind != tokWord && (!t.is("(") || len(args) == 0) {
			break
		}
		b.next()
		quoted = quoted || t.quote && len(args) == 0
		args = append(args, b.words(t)...)
	}
	if len(args) == 0 {
		return value{}
	}
	if s, ok := args[0].word.Text(); ok && !quoted {
		args = append(b.r.split(strings.TrimLeft(s, "@")), args[1:]...)
	}
	return b.r.batchCommand(args, in, piped)
}

// words are what a lexeme is to a command: a variable may hold several words.
func (b *batcher) words(t lexeme) []argument {
	v := b.r.percent(t.text)
	if s, ok := v.text(); ok && !t.quote && strings.HasPrefix(t.text, "%") && strings.ContainsAny(s, " \t") {
		return b.r.splitWords(v.items[0])
	}
	return []argument{{val: v, word: b.r.word(v), bare: !t.quote}}
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

func (b *batcher) redirect(op lexeme) {
	if op.text == "&" || b.peek().kind != tokWord {
		return
	}
	target := b.next()
	if strings.EqualFold(target.text, "nul") {
		return
	}
	kind := shell.RedirectWrite
	switch op.text {
	case ">>":
		kind = shell.RedirectAppend
	case "<":
		kind = shell.RedirectRead
	}
	for _, w := range b.r.percent(target.text).items {
		b.r.emit(shell.Command{Redirects: []shell.Redirect{{Kind: kind, Target: b.r.path(w, true)}}})
	}
}

// batchCommand runs one command of cmd.
func (r *reader) batchCommand(args []argument, in value, piped bool) value {
	name, rest := args[0].word, args[1:]
	s, known := name.Text()
	if !known && programName(name) == "" {
		return r.dynamicName(name, rest)
	}
	key := strings.ToLower(s)
	switch key {
	case "set":
		r.batchSet(rest)
		return value{}
	case "start":
		return r.batchStart(rest, in, piped)
	case "echo.", "echo:":
		return value{}
	}
	sp := r.t.cmd[key]
	if sp == nil {
		return r.program(name, rest, in, piped)
	}
	out := r.cmdlet(sp, r.bindSlashes(sp, rest), rest, in, piped)
	if key == "echo" {
		return one(r.line(rest))
	}
	return out
}

// line is the words of a command as one text.
func (r *reader) line(args []argument) shell.Word {
	words := make([]shell.Word, len(args))
	for i := range args {
		words[i] = args[i].word
	}
	return r.joined(words, " ")
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
	for len(args) > 0 {
		option := strings.ToLower(args[0].word.Prefix())
		if !isSlashOption(option) {
			break
		}
		args = args[1:]
		if option == "/d" {
			args = args[min(1, len(args)):]
		}
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
