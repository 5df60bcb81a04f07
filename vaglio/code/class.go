package code

import (
	"slices"
	"strings"
)

// ofObjects is where the fields of the objects of all classes of the program are: objects are not told apart.
const ofObjects = "object."

// class declares the class that begins here. Its fields, with those of the classes that it is made of, are
// the parameters of what makes an object.
func (p *program) class() *routine {
	f, at := &routine{toks: p}, p.at
	if !p.lang.has("columns") {
		return f
	}
	from, to := p.body(at, at+2)
	p.refields = p.refields || p.finds("refields", "", p.src)
	known := p.basesKnown(f, at+2) && p.seesObjects(p.peek(1).text)
	for from < to && p.tok(from).is(";") {
		from++
	}
	p.branches++ // another class may have such a field
	for i := from; i < to && p.spend(1); i = p.over(i) + 1 {
		if p.isField(i, from) {
			p.field(f, i, known)
		}
	}
	p.branches--
	p.at = at
	if p.opens(at+2, "(") { // what it is made of is no argument
		p.skip(p.over(at+2) - 1)
	}
	return f
}

// isField reports whether a field is declared at an index of the body of a class that begins at from.
func (p *program) isField(i, from int) bool {
	t := p.toks[i]
	return t.kind == tokenName && t.column == p.toks[from].column && (t.line || i == from) && p.tok(i+1).is(":", "=")
}

// basesKnown takes over the fields of the classes in brackets that a class is made of. It is false if others
// may give it some.
func (p *program) basesKnown(f *routine, at int) bool {
	known := true
	for i := at + 1; i < p.over(at); i++ {
		t := p.toks[i]
		if base := p.classes[t.text]; base != nil {
			f.params = append(f.params, base.params...)
		} else if t.kind == tokenName && !p.tok(i+1).is(".") {
			known = known && p.lang.options.names["bases"][t.text] != nil
		}
	}
	return known
}

// field declares the field of a class at an index. Its value is not known if anything else may give it one.
func (p *program) field(class *routine, i int, known bool) {
	name := ofObjects + p.toks[i].text
	if p.tok(i + 1).is(":") {
		class.params = append(class.params, i)
	}
	if eq := p.until(i+1, func(j int) bool { return p.toks[j].line || p.toks[j].is("=") }); p.tok(eq).is("=") {
		p.at = eq + 1
		p.set(name, p.expression())
	}
	if !known {
		p.set(name, textOf(unknownWord(p.toks[i].text)))
	}
}

// seesObjects reports whether the program shows all objects of a class that it has, and what sets their
// fields.
func (p *program) seesObjects(class string) bool {
	for i, t := range p.toks {
		next, before := p.tok(i+1), p.tok(i-1)
		switch {
		case !t.word(class), next.is("("), before.is(":", "->", "[", "|"), before.word("class"), p.tok(i - 3).word("class"):
		case !next.is("."), p.tok(i+3).is("(") && (!p.spend(len(p.src)/bytesPerStep) || !strings.Contains(p.src, "def "+p.tok(i+2).text+"(")):
			return false
		}
	}
	return p.spend(len(p.toks)/bytesPerStep) && p.nowhere("refielded", "") &&
		!slices.ContainsFunc(p.linkedTo(), func(m *program) bool { return p.finds("sets", "own", m.src) })
}

func (p *program) construct(name string, args []value) value {
	p.branches++ // another object keeps what it was given
	at, end := p.at, p.end
	defer func() { p.branches-- }()
	plain, named := splitNamed(args)
	class := p.classes[strings.TrimSuffix(name, ".new")]
	for i, field := range class.params {
		p.end = len(p.toks)
		p.set(ofObjects+p.toks[field].text, p.param(class, i, plain, named))
	}
	p.at, p.end = at, end
	for _, c := range [...]string{"__init__", "__post_init__", "constructor", "initialize", "__construct"} {
		if f := p.fns[c]; f != nil {
			p.invoke(f, args)
		}
	}
	return value{path: name}
}
