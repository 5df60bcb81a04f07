package powershell

import (
	"strings"

	"github.com/metnos/vaglio/vaglio/shell"
	"github.com/metnos/vaglio/vaglio/wording"
)

// argument is one word of a command.
type argument struct {
	name   string // of a parameter, in lower case and without its dash
	val    value  // the word, or what follows the colon of -Name:value
	valued bool   // a colon gave the parameter its value
	word   shell.Word
	bare   bool // without quotes
}

func plainArg(w shell.Word) argument { return argument{val: one(w), word: w} }

// given is the value of a named argument, which may be the next one.
func (a *argument) given(next []argument) (value, []argument) {
	if !a.valued && len(next) > 0 && next[0].name == "" {
		return next[0].val, next[1:]
	}
	return a.val, next
}

// chain reads pipelines joined by && and ||.
func (p *parser) chain() value {
	outs := []value{p.pipeline()}
	for p.blanks(); (p.has("&&") || p.has("||")) && p.r.step(1); p.blanks() {
		p.take(2)
		p.space(lineEnds)
		outs = append(outs, p.r.conditional(false, p.pipeline))
	}
	return p.r.list(outs)
}

func (p *parser) pipeline() value {
	first := len(p.r.out.Commands)
	var in value
	for piped := false; ; piped = true {
		p.blanks()
		in = p.element(in, piped)
		end := p.pos
		if p.space(lineEnds); p.peek(0) != '|' || p.peek(1) == '|' || !p.r.step(1) {
			p.pos = end
			break
		}
		p.take(1)
		p.space(lineEnds)
	}
	if p.blanks(); p.peek(0) == '&' && p.peek(1) != '&' {
		p.take(1)
		for i := range p.r.out.Commands[first:] {
			p.r.out.Commands[first+i].Background = true
		}
	}
	return in
}

// ends says that a command ends here.
func (p *parser) ends() bool { return p.done() || strings.IndexByte("\n;|&)}", p.peek(0)) >= 0 }

// element reads one command or expression of a pipeline.
func (p *parser) element(in value, piped bool) value {
	for p.redirect() {
		p.blanks()
	}
	switch c, next := p.peek(0), p.peek(1); {
	case c == '&' && next != '&', c == '.' && (isBlank(next) || next != 0 && strings.IndexByte("'\"$({", next) >= 0):
		p.take(1)
		p.blanks()
		return p.run(c == '.', in, piped)
	case p.ends():
		return value{}
	case p.startsExpression():
		v := p.expression(true)
		for p.redirect() {
			p.blanks()
		}
		return v
	}
	name := p.argument().word
	return p.r.invoke(name, p.args(), in, piped)
}

// startsExpression says that a statement that begins so is no command.
func (p *parser) startsExpression() bool {
	c := p.peek(0)
	switch {
	case strings.IndexByte("$'\"({!,[", c) >= 0:
		return true
	case c == '@':
		return !isNameByte(p.peek(1))
	case c == '+', c == '-':
		return true
	case !isDigit(c):
		return false
	}
	n := 0
	for n < len(p.rest()) && strings.IndexByte("\n;|&(){},'\"$> \t", p.peek(n)) < 0 {
		n++
	}
	return strings.Trim(p.rest()[:n], "0123456789.kmgtbKMGTB+-*/%ex") == ""
}

// redirect takes a redirection, if one comes next.
func (p *parser) redirect() bool {
	kind, to, ok := p.redirection("*123456")
	if !to {
		return ok
	}
	if p.blanks(); !p.ends() {
		p.r.redirect(kind, p.argument().val)
	}
	return true
}

func (r *reader) redirect(kind shell.RedirectKind, to value) {
	for _, w := range to.items {
		r.emit(shell.Command{Redirects: []shell.Redirect{{Kind: kind, Target: r.path(w, true)}}})
	}
}

// args reads the words of a command.
func (p *parser) args() []argument {
	var out []argument
	for p.blanks(); !p.ends() && p.r.step(1); p.blanks() {
		if p.redirect() {
			continue
		}
		if p.peek(0) == ',' {
			p.take(1)
			continue
		}
		a := p.argument()
		parts := []value{a.val}
		for p.blanks(); p.peek(0) == ',' && p.r.step(1); p.blanks() { // a list
			p.take(1)
			if p.space(lineEnds); !p.ends() {
				parts = append(parts, p.argument().val)
			}
		}
		if len(parts) > 1 {
			a.val = p.r.list(parts)
			a.valued = a.valued || a.name != ""
		}
		out = append(out, a)
		if a.word.Is("--%") {
			line, _, _ := strings.Cut(p.rest(), "\n")
			p.pos += len(line)
			out = append(out, p.r.splitWords(shell.Text(line))...)
		}
	}
	return out
}

// argument reads one word of a command.
func (p *parser) argument() argument {
	c := p.peek(0)
	if c == '-' && (isLetter(p.peek(1)) || p.peek(1) == '?') {
		return p.parameter()
	}
	a := argument{bare: strings.IndexByte("'\"$({@", c) < 0}
	if c == '@' && isNameByte(p.peek(1)) {
		a.name, a.valued = "@", true
	}
	a.val = p.side()
	a.word = p.r.word(a.val)
	return a
}

// parameter reads -Name or -Name:value.
func (p *parser) parameter() argument {
	head := p.bare()
	name, inside, colon := strings.Cut(head[1:], ":")
	a := argument{name: strings.ToLower(name), bare: true, valued: colon, word: shell.Text(head), val: text(inside)}
	if inside == "" {
		a.val = value{}
	}
	switch c := p.peek(0); {
	case c != 0 && strings.IndexByte("'\"$(@", c) >= 0:
		rest := p.side()
		a.word = p.r.word(p.r.glue([]value{text(head), rest}))
		a.valued = true
		a.val = rest
		if inside != "" {
			a.val = p.r.glue([]value{text(inside), rest})
		}
	case colon && inside == "" && isBlank(c):
		a.valued = false
	}
	return a
}

// side reads what stands without a blank between, as one word.
func (p *parser) side() value {
	if p.peek(0) == '{' {
		return p.primary()
	}
	var parts []value
	files := false
	for p.r.step(1) && !p.done() && (!p.endsWord() || len(parts) == 0 && !p.ends()) {
		v := p.piece(len(parts) == 0)
		parts = append(parts, v)
		files = files || v.files
	}
	if len(parts) == 1 {
		return parts[0]
	}
	v := p.r.glue(parts)
	v.files = files
	return v
}

// endsWord says that nothing follows that belongs to the same word.
func (p *parser) endsWord() bool {
	return p.endsBare() && strings.IndexByte("'\"$", p.peek(0)) < 0
}

// piece takes a part of a word: a text or a variable, and at its beginning
// what an expression may begin with.
func (p *parser) piece(first bool) value {
	c, next := p.peek(0), p.peek(1)
	list := c == '@' && (isNameByte(next) || next == '(' || next == '{' || hereQuote(p.rest()) != "")
	switch {
	case first && (c == '$' || c == '(' || list):
		return p.postfix(p.primary())
	case c == '\'' || c == '"':
		return p.quoted()
	case c == '$':
		return p.dollar()
	}
	return text(p.bare())
}

// run reads what & and . run.
func (p *parser) run(dot bool, in value, piped bool) value {
	r := p.r
	if p.ends() {
		return value{}
	}
	if c := p.peek(0); c != '{' && strings.IndexByte("'\"$(", c) < 0 && !dot {
		name := p.argument().word
		return r.invoke(name, p.args(), in, piped)
	}
	v := p.argument().val
	args := p.args()
	if v.isBlock {
		r.blocks(args, in)
		return r.callFunction(&function{body: v.block}, in)
	}
	out := value{}
	for _, w := range r.choices(v) {
		_, known := w.Text()
		switch {
		case r.stopped:
		case !known && programName(w) == "":
			out = r.dynamicName(w, args)
		case dot:
			out = r.merged(out, r.script(w, args))
		default:
			out = r.merged(out, r.invoke(w, args, in, piped))
		}
	}
	return out
}

// dynamicName notes a command of which the name is not known.
func (r *reader) dynamicName(w shell.Word, args []argument) value {
	kind, detail := shell.ProblemDynamicName, wording.Say("the name of a command is only known when it runs")
	if w.Remote() {
		kind, detail = shell.ProblemDownload, wording.Say("a downloaded text is run")
	}
	r.problem(shell.Problem{Kind: kind, Detail: detail, Word: w, Interpreter: "powershell"})
	r.blocks(args, value{})
	return unknownValue("")
}

// blocks reads the blocks among the words of a command, which it may run.
func (r *reader) blocks(args []argument, in value) {
	for i := range args {
		r.each(args[i].val, in)
	}
}

// each runs a block for all that comes through a pipe.
func (r *reader) each(v, in value) value {
	if !v.isBlock {
		return value{}
	}
	return r.conditional(true, func() value {
		old, had := r.vars["_"]
		r.vars["_"] = in.element()
		if in.isNothing() {
			r.vars["_"] = one(unknownWord("_"))
		}
		out := r.source(v.block)
		if r.vars["_"] = old; !had {
			delete(r.vars, "_")
		}
		return out
	})
}

// splitWords splits a text at its blanks outside quotes, as Windows does for a
// program.
func (r *reader) splitWords(w shell.Word) []argument {
	s, ok := w.Text()
	if !ok || !strings.ContainsAny(s, " \t\"") || !r.step(1+len(s)) {
		return []argument{plainArg(w)}
	}
	var out []argument
	var b strings.Builder
	inQuotes := false
	for i := range len(s) + 1 {
		switch {
		case i < len(s) && s[i] == '"':
			inQuotes = !inQuotes
		case i < len(s) && (inQuotes || s[i] != ' ' && s[i] != '\t'):
			b.WriteByte(s[i])
		case b.Len() > 0:
			out = append(out, plainArg(shell.Text(b.String())))
			b.Reset()
		}
	}
	return out
}
