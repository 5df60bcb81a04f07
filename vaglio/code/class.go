package code

import (
	"slices"
	"strconv"
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

// anyKey stands for a key of a map, or a number of a list, that is not known.
const anyKey = "\x00"

// key returns the text of a value that is used as a key.
func (v value) key() string {
	if k, ok := v.text(); ok {
		return k
	}
	return anyKey
}

// groups returns a map whose elements are lists until something else is put there, as defaultdict(list) does.
func groups(_ *program, v value, _ []value) value {
	if v.path != "list" && v.path != "set" {
		return passedOn("defaultdict", v.word())
	}
	return value{kind: kindMap}.with(anyKey, listOf())
}

// defaulted returns an element of a map, or puts another value there, as d.setdefault(key, value) does.
func defaulted(p *program, v value, rest []value) value {
	held := v.holder != "" && !strings.Contains(v.holder, "\x00")
	if len(rest) < 2 || !v.multi() || !held {
		return unknown("setdefault")
	}
	out := rest[1].or(p.element(v, rest[0]))
	out.holder = v.holder + "\x00" + rest[0].key()
	p.store(out.holder, out)
	return out
}

// with returns the map with another value under a key.
func (v value) with(key string, e value) value {
	v = v.keyed()
	if i := slices.Index(v.keys, key); i >= 0 {
		v.list[i] = e
	} else {
		v.keys, v.list = upTo(maxList, append(v.keys, key), ""), bounded(append(v.list, e))
	}
	return v
}

// keyed returns the map of a list's elements under their numbers, or a copy of a map.
func (v value) keyed() value {
	v.kind = kindMap
	v.list, v.keys = slices.Clone(v.list), slices.Clone(v.keys)
	for len(v.keys) < len(v.list) {
		v.keys = append(v.keys, strconv.Itoa(len(v.keys)))
	}
	return v
}

// orUnknown returns a list or map that may also be something of which nothing is known.
func (v value) orUnknown(o value) value {
	switch {
	case o.path == "" || len(o.alts) > 0:
	case v.kind == kindMap:
		return v.with(anyKey, unknown(o.path))
	default:
		v.list = added(v.list, unknown(o.path))
	}
	return v
}

// orMap returns a map whose fields may be those of either one.
func (v value) orMap(o value) value {
	for i, k := range o.keys {
		e := o.list[i]
		if old, ok := v.field(k); ok {
			e = old.or(e)
		}
		v = v.with(k, e)
	}
	return v
}

// storeAt assigns a value to an element of the list or map in a variable.
func (p *program) storeAt(name, key string, v value) {
	old := p.vars[name]
	switch {
	case old.some:
		v = old.or(listOf(v))
		v.some = true
		p.keep(name, v)
		return
	case old.kind == kindList: // else its old and new elements would follow each other
		old = old.keyed()
		p.vars[name] = old
	case old.multi():
	case key == anyKey:
		return
	default:
		old = value{kind: kindMap}
	}
	if p.spend(len(old.list) / bytesPerStep) {
		p.keep(name, old.with(key, v))
	}
}

// bindField sets the field that a parameter of a constructor declares: private dir: string.
func (p *program) bindField(f *routine, at int, v value) {
	if f.name == "constructor" && p.tok(at-1).kind == tokenName || f.name == "__construct" && p.promoted(at) {
		p.fresh = false
		p.set("."+strings.TrimPrefix(p.toks[at].text, "$"), v)
		p.fresh = true
	}
}

// promoted reports whether php's parameter at an index says who may see it, and so is a field.
func (p *program) promoted(at int) bool {
	for at--; p.tok(at).kind == tokenName; at-- {
		if p.toks[at].word("private", "protected", "public", "readonly") {
			return true
		}
	}
	return false
}
