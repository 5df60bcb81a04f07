package powershell

import (
	"regexp"
	"strings"

	"github.com/metnos/vaglio/vaglio/shell"
	"github.com/metnos/vaglio/vaglio/wording"
)

// argument is one word of a command.
type argument struct {
	name   string // of a parameter, in lower case without its dash
	val    value  // the word, or what follows the colon of -Name:value
	valued bool   // a colon gave the parameter its value
	word   shell.Word
	bare   bool // without quotes
}

func plainArg(w shell.Word) argument { return argument{val: one(w), word: w} }

// given returns the value of a named argument, which may be the next argument.
func (a *argument) given(next []argument) (value, []argument) {
	if !a.valued && len(next) > 0 && next[0].name == "" {
		return next[0].val, next[1:]
	}
	return a.val, next
}

// chain reads pipelines joined by && and ||.
func (p *parser) chain() value {
	outs := []value{p.pipeline()}
	for p.space(""); p.has("&&") || p.has("||"); p.space("") {
		p.take(2)
		p.space("\n")
		outs = append(outs, p.r.conditional(false, p.pipeline))
	}
	return p.r.list(outs...)
}

func (p *parser) pipeline() value {
	first := len(p.r.out.Commands)
	p.space("")
	in := p.element(value{}, false)
	end := p.pos
	for p.space("\n"); p.at("|") && !p.has("||"); p.space("\n") {
		p.r.step(1)
		p.take(1)
		p.space("\n")
		in = p.element(in, true)
		end = p.pos
	}
	p.pos = end
	if p.space(""); p.at("&") && !p.has("&&") {
		p.take(1)
		for i := range p.r.out.Commands[first:] {
			p.r.out.Commands[first+i].Background = true
		}
	}
	return in
}

func (p *parser) ends() bool { return p.done() || p.at("\n;|&)}") }

// element reads one command or expression of a pipeline.
func (p *parser) element(in value, piped bool) value {
	for p.redirect() {
		p.space("")
	}
	switch c := p.peek(1); {
	case p.at("&") && c != '&', p.at(".") && c != 0 && strings.IndexByte(blanks+"'\"$({", c) >= 0:
		dot := p.take(1) == "."
		p.space("")
		return p.run(dot, in, piped)
	case p.ends():
		return value{}
	case p.startsExpression():
		v := p.expression(true)
		for p.redirect() {
			p.space("")
		}
		return v
	}
	name := p.argument().word
	return p.r.invoke(name, p.args(), in, piped)
}

// startsExpression reports whether a statement that begins here is an expression rather than a command.
func (p *parser) startsExpression() bool {
	c := p.peek(0)
	return strings.IndexByte("$'\"({!,[+-", c) >= 0 || c == '@' && !isNameByte(p.peek(1)) || isDigit(c) && numbers.MatchString(p.rest())
}

var numbers = regexp.MustCompile(`^[\d.kmgtbKMGTB+\-*/%ex]+(?:[\s;|&(){},'"$>]|$)`)

// redirect reads a redirection, if one comes next.
func (p *parser) redirect() bool {
	kind, to, ok := p.redirection()
	if p.space(""); to && !p.ends() {
		p.r.redirect(kind, p.argument().val)
	}
	return ok
}

// redirect opens a file for the command before it.
func (r *reader) redirect(kind shell.RedirectKind, to value) {
	for _, w := range to.items {
		r.emit(shell.Command{Redirects: []shell.Redirect{{Kind: kind, Target: r.path(w, true)}}})
	}
}

func (p *parser) args() (out []argument) {
	for p.space(""); !p.ends(); p.space("") {
		p.r.step(1)
		if p.redirect() || p.skip(",") {
			continue
		}
		a := p.argument()
		parts := []value{a.val}
		for p.space(""); p.skip(","); p.space("") { // a list
			if p.space("\n"); !p.ends() {
				parts = append(parts, p.argument().val)
			}
		}
		if len(parts) > 1 {
			a.val = p.r.list(parts...)
			a.valued = a.valued || a.name != ""
		}
		out = append(out, a)
	}
	return out
}

func (p *parser) argument() argument {
	a := argument{bare: !p.at("'\"$({@")}
	if p.at("@") && isNameByte(p.peek(1)) {
		a.name, a.valued = "@", true
	}
	if !p.at("-") || !isLetter(p.peek(1)) {
		a.val = p.side()
		a.word = p.r.word(a.val)
		return a
	}
	head := p.bare()
	name, inside, colon := strings.Cut(head[1:], ":")
	rest := value{}
	if p.at("'\"$(") || colon && p.has("@(") {
		rest = p.side()
	}
	a.name, a.val, a.word = strings.ToLower(name), rest, shell.Text(head)
	if a.valued = inside != "" || !rest.isNothing(); a.valued {
		a.word = p.r.word(p.r.glue(text(head), rest))
	}
	if inside != "" {
		a.val = p.r.glue(text(inside), rest)
	}
	return a
}

// side reads adjacent parts without a blank between them as one word.
func (p *parser) side() value {
	if p.at("{") {
		return p.primary()
	}
	var parts []value
	for p.r.step(1); !p.done() && (!p.endsBare() || p.at("'\"$") || len(parts) == 0 && !p.ends()); p.r.step(1) {
		parts = append(parts, p.piece(len(parts) == 0))
	}
	if len(parts) == 1 {
		return parts[0]
	}
	v := p.r.glue(parts...)
	for i := range parts {
		v.files = v.files || parts[i].files
	}
	return v
}

// piece reads one part of a word: a text or a variable, and at the beginning of the word also the start of an expression.
func (p *parser) piece(first bool) value {
	next := p.peek(1)
	list := p.at("@") && (isNameByte(next) || next == '(' || next == '{' || hereQuote(p.rest()) != "")
	switch {
	case first && (p.at("$(") || list):
		return p.postfix(p.primary())
	case p.at("'\""):
		return p.quoted()
	case p.at("$"):
		return p.dollar()
	}
	return text(p.bare())
}

// run reads what the operators & and . run.
func (p *parser) run(dot bool, in value, piped bool) value {
	r := p.r
	if p.ends() {
		return value{}
	}
	v, out := p.argument().val, value{}
	args := p.args()
	if v.isBlock {
		r.blocks(args, in)
		return r.with(v.block, args, func() value { return r.each(v, in) })
	}
	for _, w := range r.choices(v) {
		if dot && programName(w) != "" {
			out = r.merged(out, r.script(w, args, true))
		} else {
			out = r.merged(out, r.invoke(w, args, in, piped))
		}
	}
	return out
}

// dynamicName records a command whose name is unknown.
func (r *reader) dynamicName(w shell.Word, args []argument) value {
	p := shell.Problem{Kind: shell.ProblemDynamicName, Word: w, Interpreter: "powershell"}
	if p.Detail = wording.Say("the name of a command is only known when it runs"); w.Remote() {
		p.Kind, p.Detail = shell.ProblemDownload, wording.Say("a downloaded text is run")
	}
	r.problem(p)
	r.blocks(args, value{})
	return unknown()
}

// blocks reads the blocks among a command's words, because the command may run them.
func (r *reader) blocks(args []argument, in value) {
	for i := range args {
		r.each(args[i].val, in)
	}
}

// splitWords splits a text at its blanks outside quotes, as Windows does for a program.
func (r *reader) splitWords(w shell.Word) []argument {
	s, ok := w.Text()
	if !ok || !strings.ContainsAny(s, " \t\"") {
		return []argument{plainArg(w)}
	}
	r.step(1 + len(s))
	var out []argument
	for _, word := range quotedWords.FindAllString(s, -1) {
		if word = strings.ReplaceAll(word, `"`, ""); word != "" {
			out = append(out, plainArg(shell.Text(word)))
		}
	}
	return out
}

var quotedWords = regexp.MustCompile(`(?:[^ \t"]|"[^"]*(?:"|$))+`)
