package code

import (
	"strings"

	"github.com/metnos/vaglio/vaglio/shell"
)

// primary reads what stands for itself.
func (p *program) primary() value {
	t := p.peek(0)
	switch t.kind {
	case tokenString:
		p.take()
		return p.glued(textOf(p.unmark(t.text)))
	case tokenNumber:
		p.take()
		return value{kind: kindNumber, alts: []shell.Word{shell.Text(t.text)}}
	case tokenName:
		return p.nameOperand()
	case tokenOp, tokenEnd:
	}
	switch t.text {
	case "(":
		return p.group()
	case "[":
		p.take()
		return listOf(p.items("]")...)
	case "{":
		return p.mapping()
	}
	p.takeIf(!p.is(";", ")", "]", "}", ",", ":", "=>"))
	return value{}
}

// glued is a text with those that stand beside it.
func (p *program) glued(v value) value {
	for p.lang.has("prefixes") && p.peek(0).quoted() {
		v = p.glue(v, p.primary())
	}
	return v
}

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
	switch {
	case t.text[0] == '<':
		return p.inputLine()
	case strings.HasSuffix(t.text, "///"):
		return p.substituted()
	case p.lang.name == "node" && p.peek(1).text == "=>":
		return p.arrow()
	}
	p.take()
	return p.named(t.text)
}

// named is what a name stands for: a key, a variable or a function that the
// table may know.
func (p *program) named(name string) value {
	if p.is("=>") && p.lang.name != "node" {
		return text(name)
	}
	name = p.key(name)
	v, ok := p.variable(name)
	if !ok {
		v = unknown(name)
		for _, m := range p.stars {
			if p.lang.find(p.canonical(m+"."+name), "") != nil {
				return unknown(m + "." + name)
			}
		}
	}
	v.holder = name
	return v
}

// variable is the value of a variable, of perl also as an element.
func (p *program) variable(name string) (value, bool) {
	switch next := p.peek(0).text; {
	case p.lang.name != "perl":
	case next == "[" && (name == "$_" || name == "$ARGV"):
		name = "@" + name[1:]
	case next == "{" && name == "$ENV":
		return unknown("$ENV"), true
	}
	if v, ok := p.vars[name]; ok {
		return v, true
	}
	switch {
	case p.lang.name == "awk" && name[0] == '$':
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
