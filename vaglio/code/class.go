package code

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/metnos/vaglio/internal/lists"
	"github.com/metnos/vaglio/vaglio/shell"
)

// ofObjects is where the fields of the objects of all classes of the program are: objects are not told apart.
const ofObjects = "object."

// class declares the class that begins here. Its fields, with those of the classes that it is made of, are the parameters of what makes an object.
func (p *program) class() *routine {
	f, at := &routine{toks: p}, p.at
	if !p.lang.has("columns") {
		return f
	}
	from, to := p.body(at, at+2)
	f.from, f.to = from, to
	p.refields = p.refields || p.finds("refields", "", p.src)
	known := p.basesKnown(f, at+2) && p.seesObjects(p.peek(1).Text)
	for from < to && p.tok(from).Is(";") {
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
	return t.Word() && t.Column == p.toks[from].Column && (t.Line || i == from) && p.tok(i+1).Is(":", "=")
}

// basesKnown takes over the fields of the classes in brackets that a class is made of. It is false if others may give it some.
func (p *program) basesKnown(f *routine, at int) bool {
	known := true
	for i := at + 1; i < p.over(at); i++ {
		t := p.toks[i]
		f.bases = append(f.bases, t.Text)
		if base := p.classes[t.Text]; base != nil {
			f.params = append(f.params, base.params...)
		} else if t.Word() && !p.tok(i+1).Is(".") {
			how := p.lang.options.names["bases"][t.Text]
			known, f.settings = known && how != nil, f.settings || how.has("environment")
		}
	}
	return known
}

// field declares the field of a class at an index. Its value is not known if anything else may give it one.
func (p *program) field(class *routine, i int, known bool) {
	name := ofObjects + p.toks[i].Text
	if p.tok(i + 1).Is(":") {
		class.params = append(class.params, i)
	}
	if eq := p.until(i+1, func(j int) bool { return p.toks[j].Line || p.toks[j].Is("=") }); p.tok(eq).Is("=") {
		p.at = eq + 1
		p.set(name, p.expression())
	}
	if !known {
		p.set(name, textOf(unknownWord(p.toks[i].Text)))
	}
	if v := p.variableFor(p.toks[i].Text); class.settings && v.kind != kindNone {
		p.set(name, v)
	}
}

// seesObjects reports whether the program shows all objects of a class that it has, and what sets their fields.
func (p *program) seesObjects(class string) bool {
	for i, t := range p.toks {
		next, before := p.tok(i+1), p.tok(i-1)
		switch {
		case !t.Word(class), next.Is("("), before.Is(":", "->", "[", "|"), before.Word("class"), p.tok(i - 3).Word("class"):
		case !next.Is("."), p.tok(i+3).Is("(") && (!p.spend(len(p.src)/bytesPerStep) || !strings.Contains(p.src, "def "+p.tok(i+2).Text+"(")):
			return false
		}
	}
	return p.spend(len(p.toks)/bytesPerStep) && p.nowhere("refielded", "plain") &&
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
		p.set(ofObjects+p.toks[field].Text, p.param(class, i, plain, named))
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
	old := p.current(p.vars[name])
	if strings.HasPrefix(name, objectMark) {
		old = p.current(value{of: name})
	}
	switch {
	case old.some:
		v = old.or(listOf(v))
		v.some = true
		p.keep(name, v)
		p.touch(old, v)
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
	if p.spend(1 + len(old.list)/4) {
		changed := old.with(key, v)
		p.keep(name, changed)
		p.touch(old, changed)
	}
}

// identified returns a value with names for the lists and maps in it, by which other variables may know them.
func (p *program) identified(v value) value {
	if !v.multi() || v.of != "" || !p.spend(1+len(v.list)/bytesPerStep) {
		return v
	}
	p.known++
	v.of = fmt.Sprintf("%s%06d", objectMark, p.known)
	if slices.ContainsFunc(v.list, value.multi) {
		v.list = slices.Clone(v.list)
		for i, e := range v.list {
			v.list[i] = p.identified(e)
		}
	}
	return v
}

// names returns which lists or maps a value may be, and whether that is sure.
func (v value) names() (all []string, sure bool) {
	all = strings.FieldsFunc(v.of, func(c rune) bool { return c == rune(objectMark[0]) })
	return all, strings.Count(v.of, objectMark) == 1
}

// either returns a list or map that may be either of two, one of which may have been made of the other.
func (p *program) either(v, o value) value {
	lists := v.kind == kindList && o.kind == kindList
	switch {
	case lists && len(v.list)+len(o.list) > 2*maxAlts: // more would cost too much at each mention of its name
		o.list = append(slices.Clip(o.list[:min(len(o.list), maxAlts)]), unknown(""))
		return o
	case !v.multi() || p.within(v, o):
		return o
	case p.within(o, v) || !p.spend(1+len(o.list)):
		return v
	case !lists:
		return v.or(o)
	}
	return p.united(v, o)
}

// united returns a list with the elements of two, each once.
func (p *program) united(v, o value) value {
	held := make([][]shell.Word, len(v.list))
	for i, e := range v.list {
		if held[i] = e.words(); !p.spend(1 + len(held[i])/bytesPerStep) {
			return v
		}
	}
	for _, e := range o.list {
		words := e.words()
		same := func(held []shell.Word) bool { return slices.EqualFunc(held, words, shell.Word.Equal) }
		if !p.spend(1+len(held)/bytesPerStep) || !slices.ContainsFunc(held, same) {
			v.list = added(v.list, e)
		}
	}
	return v
}

// ofObject returns what a member of an object of the program's classes may be besides what the program itself stored there: what a
// class of another file gives it, or what a property returns, of whichever class: objects are not told apart.
func (p *program) ofObject(v value, name string) (out value, ok bool) {
	if v.path == "" || v.given() || !p.lang.has("columns") || len(p.links) == 0 && len(p.getters[name]) == 0 {
		return value{}, false
	}
	class := p.classAt(v.path)
	if class == nil {
		return value{}, false
	}
	all := p.together()
	out, ok = p.got(class, all, name)
	if e, held := class.toks.stored(v, name, "\x00"); held && class.toks != p {
		out, ok = out.or(e), true
	}
	if ok && p.mayRefield(class, all) {
		return unknown(name), true
	}
	return out, ok && out.kind != kindNone
}

// got returns what a property of an object of a class returns; false if it has none of that name.
func (p *program) got(class *routine, all []*program, name string) (out value, ok bool) {
	out.kind = kindNone
	getters := lists.All(all, func(m *program) []*routine { return m.getters[name] })
	if !slices.ContainsFunc(getters, func(f *routine) bool { return p.isBase(f, class) }) {
		return out, false
	}
	for _, f := range getters {
		out = out.or(p.invokeIn(f))
	}
	if e, held := p.vars[ofObjects+name]; held {
		out = out.or(e)
	}
	return out, true
}

// classAt returns the class with a name, or the one whose method is being read if that is how it names its object.
func (p *program) classAt(name string) *routine {
	if name != "self" && name != "cls" {
		return p.classOf(name)
	}
	for _, key := range slices.Sorted(maps.Keys(p.classes)) {
		if c := p.classes[key]; c.from <= p.at && p.at < c.to && p.spend(1) {
			return c
		}
	}
	return nil
}

// isBase reports whether a function stands in a class, or in one that this is made of.
func (p *program) isBase(f, class *routine) bool {
	seen := []*routine{class}
	for i := 0; i < len(seen) && i < maxBeside; i++ {
		if c := seen[i]; f.toks == c.toks && c.from <= f.from && f.from < c.to {
			return true
		}
		for _, base := range seen[i].bases {
			if c := p.classOf(base); c != nil && !slices.Contains(seen, c) && p.spend(1) {
				seen = append(seen, c)
			}
		}
	}
	return false
}

// stored returns what a field was set to: in its map, under the object's name, or under its own.
func (p *program) stored(v value, name, holder string) (value, bool) {
	e, ok := v.field(name)
	e = p.current(e)
	for i, key := range p.fieldKeys(v, name, holder) {
		if h, held := p.vars[key]; held && (!ok || i != 1) {
			h = p.current(h)
			if ok { // since set in another way
				h = h.or(e)
			}
			e, ok = h, true
			if p.refields && e.fn == nil && e.file == nil {
				e = e.or(unknown(name))
			}
		}
	}
	return e, ok
}

// fieldKeys returns what a field of a value may be stored under.
func (p *program) fieldKeys(v value, name, holder string) []string {
	if own := p.classes[v.path] != nil || v.path == "self" || v.path == "cls"; own && !v.given() && p.fns[name] == nil {
		return []string{holder, "." + name, ofObjects + name}
	}
	return []string{holder, "." + name}
}

// fieldDefault returns what a field has by default that is declared by a call: field(default_factory=list), Field("x").
func fieldDefault(p *program, v value, rest []value) value {
	for i, a := range append([]value{v}, rest...) {
		switch {
		case a.name == "default_factory" || a.name == "factory":
			return p.call(a, value{}, nil)
		case a.name == "default", i == 0 && a.name == "" && (a.given() || a.path != "" || a.fn != nil):
			a.name = ""
			return a
		}
	}
	return unknown("field()")
}

// bindField sets the field that a parameter of a constructor declares: private dir: string.
func (p *program) bindField(f *routine, at int, v value) {
	if f.name == "constructor" && p.tok(at-1).Word() || f.name == "__construct" && p.promoted(at) {
		p.fresh = false
		p.set("."+strings.TrimPrefix(p.toks[at].Text, "$"), v)
		p.fresh = true
	}
}

// promoted reports whether php's parameter at an index says who may see it, and so is a field.
func (p *program) promoted(at int) bool {
	for at--; p.tok(at).Word(); at-- {
		if p.toks[at].Word("private", "protected", "public", "readonly") {
			return true
		}
	}
	return false
}

// oneOf returns a value that may be either of two lists or maps, or something else.
func (v value) oneOf(a, b value) value {
	const most = 64
	if v.of = a.of; a.of != b.of && !strings.Contains(a.of, b.of) {
		v.of = b.of + a.of
	}
	if v.of != "" && a.of != b.of {
		v.of = strings.TrimSuffix(v.of, objectMark) + objectMark
	}
	if len(v.of) > most { // those that it may have been of late
		v.of = v.of[:strings.LastIndex(v.of[:most], objectMark)+1]
	}
	return v
}
