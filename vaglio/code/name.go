package code

import (
	"slices"
	"strings"

	"github.com/metnos/vaglio/vaglio/shell"
)

// nameOperand reads what begins with a name.
func (p *program) nameOperand() value {
	t := p.peek(0)
	switch t.text {
	case "lambda", "proc", "fn", "function", "sub":
		if v, ok := p.anonymous(); ok {
			return v
		}
	case "None", "null", "nil", "undef", "undefined", "False", "false":
		p.take()
		return value{kind: kindNone}
	case "True", "true", "pass", "break", "continue", "next", "last", "redo", "__FILE__", "//":
		p.take()
		return value{kind: kindOther}
	case "print", "printf", "getline":
		if p.lang.name == "awk" {
			return p.awkStatement()
		}
	}
	if t.text[0] == '<' {
		return p.inputLine()
	}
	if strings.HasSuffix(t.text, "///") {
		return p.substituted()
	}
	p.take()
	return p.named(t.text)
}

// named is what a name stands for: a key, a parameter, a variable or a
// function that the table may know.
func (p *program) named(name string) value {
	if p.lang.name == "node" && p.peek(0).text == "=>" {
		p.at--
		return p.arrow()
	}
	if p.is("=>") && p.lang.name != "node" {
		return text(name)
	}
	name = p.key(name)
	v, ok := p.variable(name)
	if !ok {
		for _, m := range p.stars {
			if p.lang.find(p.canonical(m+"."+name), "") != nil {
				return unknown(m + "." + name)
			}
		}
		v = unknown(name)
	}
	v.holder = name
	return v
}

// variable is the value of a variable, of perl and ruby also as an element.
func (p *program) variable(name string) (value, bool) {
	switch next := p.peek(0).text; {
	case p.lang.name != "perl":
	case next == "[" && slices.Contains([]string{"$_", "$ARGV"}, name):
		name = "@" + name[1:]
	case next == "{" && name == "$ENV":
		return unknown("$ENV"), true
	}
	if v, ok := p.vars[name]; ok {
		return v, true
	}
	switch {
	case p.lang.name == "awk" && name[0] == '$' && (len(name) == 1 || isDigit(name[1])):
		return p.recordField(name[1:]), true
	case name == "@ARGV", name == "@argv":
		return p.arguments(1), true
	}
	return value{}, false
}

// inputLine is a line that <> or <$file> of perl reads.
func (p *program) inputLine() value {
	if p.take().text == "<STDIN>" {
		return textOf(p.in.Stdin)
	}
	for _, f := range p.vars["@ARGV"].list {
		p.emit("<>", shell.VerbRead, f.word())
	}
	return textOf(unknownWord("<>"))
}

// recordField is a field of awk's present line.
func (p *program) recordField(digits string) value {
	n, ok := text(digits).int()
	switch {
	case !ok || p.in.Record == nil:
		return textOf(unknownWord("$"))
	case n >= len(p.in.Record):
		return text("")
	}
	return textOf(p.in.Record[n])
}

// arguments are the program's own; skip of them come first in the list of
// the language, such as the name of the script.
func (p *program) arguments(skip int) value {
	var out []value
	for range 1 - skip {
		out = append(out, text("-"))
	}
	if skip == 2 {
		out = append(out, text(p.lang.name))
		if p.in.File {
			out = append(out, text("-"))
		}
	}
	for _, w := range p.in.Args {
		out = append(out, textOf(w))
	}
	return listOf(out...)
}

// anonymous reads a function without a name.
func (p *program) anonymous() (value, bool) {
	t := p.peek(0)
	def := p.at
	f := &routine{toks: p}
	switch next := p.peek(1); {
	case t.text == "lambda" && p.lang.name == "python":
		p.take()
		to := p.upTo(":", p.at)
		f.params = p.params(p.at, to)
		p.at = to + 1
		f.from, f.to = p.at, p.expressionEnd(p.at)
	case next.text == "{" && next.match > 0 && t.text != "function" && t.text != "fn":
		p.take()
		p.blockParams(f)
	case next.text == "(" && next.match > 0 && t.text != "lambda":
		p.take()
		f.params = p.params(p.at+1, int(next.match))
		p.at = int(next.match) + 1
		return p.function(f, p.bodyEnd(f, def)), true
	default:
		return value{}, false
	}
	return p.function(f, max(f.to, p.at)), true
}

// bodyEnd finds the body behind the parameters of a function without a name,
// and returns where the function ends.
func (p *program) bodyEnd(f *routine, def int) int {
	if p.takeIf(p.is("=>")) {
		f.from, f.to = p.at, p.expressionEnd(p.at)
		return max(f.to, p.at)
	}
	f.from, f.to = p.body(def)
	if f.to < p.end && p.is("{") || p.word("use") {
		f.to++
	}
	switch p.toks[min(f.to, p.end-1)].text {
	case "}", "end":
		return f.to + 1
	}
	return max(f.to, p.at)
}

// upTo is the place of the next token of a text, or the end.
func (p *program) upTo(text string, i int) int {
	for i < p.end && p.toks[i].text != text {
		i++
	}
	return i
}

// function is the value of a function whose text ends at end.
func (p *program) function(f *routine, end int) value {
	p.at = end
	p.routines = append(p.routines, f)
	return value{fn: f}
}

// blockParams reads { |a, b| … } or do |a| … end.
func (p *program) blockParams(f *routine) {
	t := p.peek(0)
	open := p.at
	p.take()
	f.from = p.at
	if p.is("|") {
		to := p.upTo("|", p.at+1)
		f.params = p.params(p.at+1, to)
		f.from = to + 1
	}
	if t.text == "{" {
		f.to = int(t.match)
		p.at = f.to + 1
		return
	}
	p.at = open
	f.to = p.ended(open)
	p.at = min(f.to+1, p.end)
}

// arrow reads (a, b) => …, a => … and ->(a) { … }.
func (p *program) arrow() value {
	f := &routine{toks: p}
	if p.is("(") && p.peek(0).match > 0 {
		end := int(p.peek(0).match)
		f.params = p.params(p.at+1, end)
		p.at = end + 1
	} else if p.peek(0).kind == tokenName {
		f.params = []int{p.at}
		p.take()
	}
	if p.takeIf(p.is("=>")) {
		p.lines()
	}
	if t := p.peek(0); t.text == "{" && int(t.match) > p.at {
		f.from, f.to = p.at+1, int(t.match)
		return p.function(f, f.to+1)
	}
	f.from, f.to = p.at, p.expressionEnd(p.at)
	return p.function(f, f.to)
}

// expressionEnd is where the expression that begins at i ends.
func (p *program) expressionEnd(i int) int {
	from := i
	for ; i < p.end; i++ {
		t := p.toks[i]
		if t.is(")", "]", "}", ",") || t.is(";") && (!t.line || i+1 >= p.end || p.toks[i+1].text != ".") {
			break
		}
		if m := int(t.match); m > i {
			i = m
		}
	}
	p.spend((i - from) / 4)
	return i
}
