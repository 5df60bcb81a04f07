package code

import (
	"slices"
	"strings"

	"github.com/metnos/vaglio/vaglio/shell"
)

// key is the name under which a variable is kept.
func (p *program) key(name string) string {
	if len(name) > 1 && (name[0] == '@' || name[0] == '%') && p.lang.name == "perl" && name != "@_" && name != "@ARGV" {
		return "$" + name[1:]
	}
	return name
}

// set gives a variable a value.
func (p *program) set(name string, v value) {
	if strings.HasPrefix(name, "@") && p.lang.has("flat") && !v.multi() && v.kind != kindNone {
		v = listOf(v)
	}
	v.spread, v.name, v.holder = false, "", ""
	p.keep(p.key(name), v)
}

// keep writes a variable down. Where the program may not come along, what it
// was is remembered until [program.maybe] has both.
func (p *program) keep(name string, v value) {
	if old, had := p.vars[name]; p.branches > 0 && had && p.spend(1) {
		p.changes = append(p.changes, change{name, old})
	}
	p.vars[name] = v
}

// change is what a variable was before it was set.
type change struct {
	name string
	old  value
}

// maybe reads a part where the program may not come along: behind it, what was
// set there is one more of the values that a variable may have.
func (p *program) maybe(read func()) {
	from := len(p.changes)
	p.branches++
	read()
	p.branches--
	first := map[string]bool{}
	p.changes = slices.DeleteFunc(p.changes, func(c change) bool {
		if from--; from >= 0 {
			return false
		}
		again := first[c.name] || !p.spend(1+len(c.old.list)/4)
		if v := p.vars[c.name]; !again && v.fn == nil && v.file == nil && !p.within(c.old, v) {
			p.vars[c.name] = c.old.or(v)
		}
		first[c.name] = true
		return again || p.branches == 0
	})
}

// within reports whether a new value was made of the old one, or counts on.
func (p *program) within(v, o value) bool {
	switch {
	case v.multi():
		a, b := v.words(), o.words()
		return o.multi() && v.kind != kindMap && len(a) <= len(b) && slices.EqualFunc(a, b[:len(a)], shell.Word.Equal)
	case v.path != "" && len(v.alts) == 0:
		return len(o.alts) == 0
	case v.kind == kindNumber && p.loop > 0:
		return o.kind == kindNumber
	}
	s, ok := v.text()
	t, _ := o.text()
	return ok && strings.HasPrefix(t, s)
}

// store gives a value to what holds it: a variable, or a field under the
// object's name and under its own.
func (p *program) store(holder string, v value) {
	base, key, element := strings.Cut(holder, "\x00")
	if !element {
		if i := strings.LastIndexByte(holder, '.'); i >= 0 {
			p.set(holder[i:], v)
		}
		if holder != "" {
			p.set(holder, v)
		}
		return
	}
	old := p.vars[p.key(base)]
	if !old.multi() {
		old = value{kind: kindMap}
	}
	if old.kind == kindList {
		old.keys = nil
	}
	p.keep(p.key(base), old.with(key, v))
}

// pattern reports whether a pattern that is assigned to begins at i.
func (p *program) pattern(i int) bool {
	return p.tok(i).is("(", "[", "{") && p.over(i) > i && i < p.end && p.tok(p.over(i)+1).is("=")
}

// assigned reads an assignment to names, or to a pattern.
func (p *program) assigned() bool {
	at, eq := p.at, p.assignment()
	if eq < 0 {
		return false
	}
	one := p.toks[at].kind == tokenName && p.tok(at+1).is("=", ":")
	p.take()
	p.at = eq + 1
	p.lines()
	if v := p.expressions(); one {
		p.set(p.toks[at].text, v)
	} else {
		p.bind(at, v)
	}
	return true
}

// assignment is the place of the "=" behind the names that begin here, below 0
// if there is none.
func (p *program) assignment() int {
	next := p.peek(1)
	switch {
	case p.pattern(p.at):
		return p.over(p.at) + 1
	case p.peek(0).kind != tokenName:
		return -1
	case next.is("="):
		return p.at + 1
	case next.is(":") && p.lang.has("columns"):
		return p.find(p.at+2, p.at+12, func(t token) bool { return t.is("=") })
	case next.is(","):
		eq := p.find(p.at, p.at+80, func(t token) bool { return t.kind != tokenName && !t.is(",", "*") })
		if p.tok(eq).is("=") {
			return eq
		}
	}
	return -1
}

// bind gives the parts of a value to the pattern that begins at i: a name,
// names with commas, or brackets with patterns in them.
func (p *program) bind(i int, v value) {
	t, m := p.tok(i), p.over(i)
	switch {
	case t.kind == tokenName && p.tok(i+1).text == ",":
		p.bindList(i, len(p.toks), v)
	case t.kind == tokenName:
		p.set(t.text, v)
	case m > i && t.text == "{":
		p.bindKeys(i+1, m, v)
	case m > i:
		p.bindList(i+1, m, v)
	}
}

func (p *program) bindList(from, to int, v value) {
	n := 0
	for i := from; i < to && n < maxList; i = p.over(i) + 1 {
		switch t := p.toks[i]; {
		case t.is(","):
			n++
		case t.word("in", "of", "as"), t.is("=", ";", ")", ":"):
			return
		case !t.word("my") && (t.kind == tokenName || p.over(i) > i):
			p.bind1(i, v.share(n, p.tok(i-1).is("*", "...") || t.text[0] == '@'))
		}
	}
}

// share is the nth part of a value, or all from there on.
func (v value) share(n int, rest bool) value {
	switch {
	case !v.multi():
		return value{path: v.path, alts: v.part(v.path).words()}
	case rest:
		return listOf(tailOf(v.list, n)...)
	}
	return v.nth(n)
}

// bind1 gives a value to the one name or pattern at i.
func (p *program) bind1(i int, v value) {
	if t := p.toks[i]; t.kind == tokenName {
		p.set(t.text, v)
	} else {
		p.bind(i, v)
	}
}

// bindKeys reads {a, b: c, d = 1}.
func (p *program) bindKeys(from, to int, v value) {
	for i := from; i < to; i++ {
		t, local := p.toks[i], i
		if t.kind != tokenName {
			continue
		}
		if p.tok(i + 1).is(":") {
			local = i + 2
		}
		e, ok := v.field(t.text)
		if !ok {
			e = unknown(strings.TrimPrefix(v.path+"."+t.text, "."))
		}
		p.bind1(min(local, to), e)
		if i = p.find(max(i, local), to, func(t token) bool { return t.is(",") }); i < 0 {
			return
		}
	}
}

func tailOf(list []value, n int) []value { return list[min(n, len(list)):] }

// imports reads from a import b as c, and import a, {b as c}, * as d from "m" of
// node. The others, such as import a.b as c, d, are expressions.
func (p *program) imports() bool {
	node, mod := p.lang.name == "node", ""
	if p.peek(1).text == "(" {
		return false
	}
	if from := p.take().text == "from"; from && !node {
		mod = p.dotted()
	} else if !node {
		return true
	}
	names := p.importNames(mod)
	if p.takeIf(p.word("from")); node {
		mod = moduleName(p.take().text)
	}
	for local, name := range names {
		p.vars[local] = unknown(strings.TrimSuffix(mod+name, "."))
	}
	return true
}

// importNames reads what is imported of a module, "" if it follows: the exported
// names by the local ones, "" for the module itself.
func (p *program) importNames(mod string) map[string]string {
	names, inner := map[string]string{}, mod != ""
	for p.takeIf(p.word("import")); p.spend(1) && (p.is("(", ")", "{", "}", ",", "*") || p.peek(0).kind == tokenName && !p.word("from")); {
		switch t := p.take(); {
		case t.is("{", "}"):
			inner = t.text == "{"
		case t.is("*") && mod != "":
			p.stars = append(p.stars, mod)
		case inner && t.kind == tokenName:
			names[p.local(t.text)] = "." + strings.TrimSuffix(t.text, "default")
		case t.kind == tokenName, t.is("*"):
			names[p.local(t.text)] = ""
		}
	}
	return names
}

// local is the name behind "as", or the name itself.
func (p *program) local(name string) string {
	if p.takeIf(p.word("as")) {
		return p.take().text
	}
	return name
}

func (p *program) dotted() string {
	name := p.take().text
	for p.is(".") && p.peek(1).kind == tokenName && p.spend(1+len(name)/bytesPerStep) {
		p.take()
		name += "." + p.take().text
	}
	return ending(name)
}

// moduleName is the dotted name of a module.
func moduleName(s string) string {
	return strings.ReplaceAll(strings.TrimPrefix(s, "node:"), "/", ".")
}
