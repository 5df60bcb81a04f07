package powershell

import (
	"strings"

	"github.com/metnos/vaglio/vaglio/shell"
	"github.com/metnos/vaglio/vaglio/wording"
)

// batcher reads the lexemes of a text of cmd.
type batcher struct {
	r    *reader
	toks []lexeme
	i    int
}

// batch reads lines of cmd.
func (r *reader) batch(src string) {
	if len(src) > shell.MaxSource {
		r.problem(shell.Problem{Kind: shell.ProblemTooBig, Detail: wording.Say("the command is longer than 1 MiB")})
		return
	}
	if !r.enter() || !r.step(1+len(src)/bytesPerStep) {
		return
	}
	defer r.leave()
	b := &batcher{r: r, toks: cutBatch(src)}
	for b.i < len(b.toks) && !r.stopped {
		b.sequence()
		b.i++ // a bracket that closes nothing
	}
}

func (b *batcher) peek() lexeme {
	if b.i < len(b.toks) {
		return b.toks[b.i]
	}
	return lexeme{}
}

// sequence reads commands up to a closing bracket or the end.
func (b *batcher) sequence() {
	var in value
	piped := false
	for b.i < len(b.toks) && !b.r.stopped {
		t := b.peek()
		switch {
		case t.kind == tokGroup && t.text == ")":
			return
		case t.kind == tokEnd || t.kind == tokAnd || t.kind == tokOr:
			b.i++
			in, piped = value{}, false
		case t.kind == tokPipe:
			b.i++
			piped = true
		default:
			in = b.command(in, piped)
		}
	}
}

// command reads one command with what it holds.
func (b *batcher) command(in value, piped bool) value {
	if !b.r.enter() || !b.r.step(1) {
		b.i = len(b.toks)
		return value{}
	}
	defer b.r.leave()
	t := b.peek()
	if t.kind == tokGroup {
		b.i++
		b.sequence()
		b.i++
		return unknownValue("")
	}
	word := strings.ToLower(strings.TrimLeft(t.text, "@"))
	switch {
	case word == "" && t.kind == tokWord && !t.quote:
		b.i++
		return value{}
	case word == "rem" || strings.HasPrefix(word, "::"):
		for b.i < len(b.toks) && (b.peek().kind != tokEnd || b.peek().text != "\n") {
			b.i++
		}
		return value{}
	case word == "if":
		return b.condition()
	case word == "for":
		return b.loop()
	case word == "else" || word == "do" || word == "call":
		b.i++
		return b.command(in, piped)
	}
	return b.simple(in, piped)
}

// condition reads if … command [else command].
func (b *batcher) condition() value {
	b.i++
	b.skip("/i")
	b.skip("not")
	switch w := strings.ToLower(b.peek().text); w {
	case "exist", "defined", "errorlevel", "cmdextversion":
		b.i += 2
	default:
		b.i++
		if next := strings.ToLower(b.peek().text); !strings.Contains(w, "==") || strings.HasSuffix(w, "==") {
			if next == "==" || next == "equ" || next == "neq" || next == "lss" || next == "leq" || next == "gtr" || next == "geq" {
				b.i++
			}
			b.i++
		}
	}
	return b.r.conditional(false, func() value {
		b.command(value{}, false)
		if strings.EqualFold(b.peek().text, "else") {
			b.i++
			b.command(value{}, false)
		}
		return value{}
	})
}

func (b *batcher) skip(word string) {
	if strings.EqualFold(b.peek().text, word) {
		b.i++
	}
}

// loop reads for [options] %x in (set) do command.
func (b *batcher) loop() value {
	b.i++
	mode, root := "", shell.Text(".")
	for b.peek().kind == tokWord && strings.HasPrefix(b.peek().text, "/") {
		mode = strings.ToLower(b.peek().text)
		b.i++
		if w := b.peek(); w.kind == tokWord && !strings.HasPrefix(w.text, "%") && !strings.HasPrefix(w.text, "/") {
			if mode == "/r" {
				root = b.r.path(wordOf(b.r.percent(w.text)), false)
			}
			b.i++
		}
	}
	name := strings.ToLower(strings.TrimLeft(b.peek().text, "%"))
	b.i++
	b.skip("in")
	var set []shell.Word
	if b.peek().kind == tokGroup {
		b.i++
		set = b.set(mode, root)
	}
	b.skip("do")
	return b.r.conditional(true, func() value {
		b.r.vars["%"+name] = value{items: set, either: len(set) > 1}
		return b.command(value{}, false)
	})
}

// set reads the brackets of a loop.
func (b *batcher) set(mode string, root shell.Word) []shell.Word {
	var out []shell.Word
	var raw []string
	for b.i < len(b.toks) && b.peek().text != ")" {
		t := b.peek()
		b.i++
		raw = append(raw, t.text)
		for _, w := range b.r.percent(t.text).items {
			w = b.r.path(w, false)
			if mode == "/r" {
				w = below(root, below(shell.NewWord(shell.Part{Kind: shell.PartUnknown, From: "find"}), w))
			}
			out = append(out, w)
		}
	}
	b.i++
	if mode != "/f" {
		return out
	}
	if code := strings.Join(raw, " "); len(code) > 1 && (code[0] == '\'' || code[0] == '`') {
		b.r.batchWord(shell.Text(strings.Trim(code, "'`")))
	}
	return []shell.Word{unknownWord("")}
}

// simple reads a command's words up to the next operator.
func (b *batcher) simple(in value, piped bool) value {
	var args []argument
	first := b.peek()
	for b.i < len(b.toks) {
		t := b.peek()
		if t.kind == tokRedirect {
			b.redirect(t)
			continue
		}
		if t.kind != tokWord && (t.kind != tokGroup || t.text == ")" || len(args) == 0) {
			break
		}
		b.i++
		v := b.r.percent(t.text)
		if s, ok := v.text(); ok && !t.quote && strings.HasPrefix(t.text, "%") && strings.ContainsAny(s, " \t") {
			args = append(args, splitWords(shell.Text(s))...)
			continue
		}
		args = append(args, argument{val: v, word: wordOf(v), bare: !t.quote})
	}
	if len(args) == 0 {
		return value{}
	}
	if s, ok := args[0].word.Text(); ok && !first.quote {
		args = append(b.split(strings.TrimLeft(s, "@")), args[1:]...)
	}
	return b.r.batchCommand(args, in, piped)
}

// split takes apart a built-in command that is written together with its first
// option or path, as in del/q or cd\.
func (b *batcher) split(s string) []argument {
	at := strings.IndexAny(s, `/\.`)
	if at > 0 && b.r.t.cmd[strings.ToLower(s[:at])] != nil {
		rest := s[at:]
		if !strings.HasPrefix(rest, ".") || rest == "." || strings.HasPrefix(rest, "..") {
			name, word := shell.Text(s[:at]), shell.Text(rest)
			return []argument{{val: one(name), word: name}, {val: one(word), word: word}}
		}
	}
	w := shell.Text(s)
	return []argument{{val: one(w), word: w}}
}

func (b *batcher) redirect(t lexeme) {
	b.i++
	if t.text == "&" || b.peek().kind != tokWord {
		return
	}
	target := b.peek()
	b.i++
	if strings.EqualFold(target.text, "nul") {
		return
	}
	kinds := map[string]shell.RedirectKind{">": shell.RedirectWrite, ">>": shell.RedirectAppend, "<": shell.RedirectRead}
	for _, w := range b.r.percent(target.text).items {
		b.r.emit(shell.Command{Redirects: []shell.Redirect{{Kind: kinds[t.text], Target: b.r.path(w, true)}}})
	}
}

// batchCommand runs one command of cmd.
func (r *reader) batchCommand(args []argument, in value, piped bool) value {
	name := args[0].word
	s, known := name.Text()
	if !known && programName(name) == "" {
		return r.dynamicName(name, args[1:])
	}
	key := strings.ToLower(s)
	rest := args[1:]
	switch key {
	case "set":
		r.batchSet(rest)
		return value{}
	case "start":
		return r.batchStart(rest, in, piped)
	case "echo.", "echo:":
		return value{}
	}
	if sp := r.t.cmd[key]; sp != nil {
		out := r.cmdlet(sp, sp.bindSlashes(rest), rest, in, piped)
		if key == "echo" {
			words := make([]shell.Word, len(rest))
			for i := range rest {
				words[i] = rest[i].word
			}
			return one(joined(words, shell.Text(" ")))
		}
		return out
	}
	return r.program(name, rest, in, piped)
}

// batchSet sets a variable: set name=value.
func (r *reader) batchSet(args []argument) {
	words := make([]shell.Word, len(args))
	for i := range args {
		words[i] = args[i].word
	}
	all := joined(words, shell.Text(" "))
	name, _, ok := strings.Cut(all.Prefix(), "=")
	if !ok || name == "" || strings.HasPrefix(name, "/") {
		return
	}
	parts := all.Parts()
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
		if args = args[1:]; option == "/d" && len(args) > 0 {
			args = args[1:]
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

// percent replaces %NAME%, !NAME! and the variables of loops in a word.
func (r *reader) percent(s string) value {
	if !strings.ContainsAny(s, "%!") {
		return text(s)
	}
	var parts []value
	for s != "" {
		i := strings.IndexAny(s, "%!")
		if i < 0 {
			break
		}
		parts = append(parts, text(s[:i]))
		v, n := r.percentAt(s[i:])
		parts = append(parts, v)
		s = s[i+n:]
	}
	return r.glue(append(parts, text(s)))
}

// percentAt reads the variable at the beginning of a text.
func (r *reader) percentAt(s string) (value, int) {
	lead := len(s) - len(strings.TrimLeft(s, "%"))
	if s[0] == '%' && len(s) > lead {
		modifiers := 0
		if s[lead] == '~' {
			modifiers = len(s[lead:]) - len(strings.TrimLeft(s[lead:], "~dpnxfsatz"))
		}
		for _, k := range [...]int{1, modifiers} {
			at := lead + max(k, 1) - 1
			if at < len(s) {
				if v, ok := r.vars["%"+strings.ToLower(s[at:at+1])]; ok && (at+1 == len(s) || s[at+1] != '%' || lead == 2) {
					return v, at + 1
				}
			}
		}
		if isDigit(s[1]) || s[1] == '*' || s[1] == '~' {
			return one(unknownWord("")), 2
		}
	}
	end := strings.IndexByte(s[1:], s[0])
	if end < 1 {
		return text(s[:1]), 1
	}
	name := s[1 : 1+end]
	if base, change, ok := strings.Cut(name, ":"); ok && base != "" {
		v := r.variable("env:" + strings.ToLower(base))
		from, to, isReplace := strings.Cut(change, "=")
		if isReplace && !strings.HasPrefix(from, "~") {
			return v.mapped(func(s string) string { return replaceFold(s, from, to) }), end + 2
		}
		return r.unknownLike(v), end + 2
	}
	return r.variable("env:" + strings.ToLower(name)), end + 2
}
