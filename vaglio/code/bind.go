package code

import "strings"

// key is the name under which a variable is kept.
func (p *program) key(name string) string {
	if len(name) > 1 && strings.ContainsRune("@%", rune(name[0])) && p.lang.name == "perl" && name != "@_" && name != "@ARGV" {
		return "$" + name[1:]
	}
	return name
}

// set gives a variable a value. What was set where the program may not come
// along is one more of the values that it may have.
func (p *program) set(name string, v value) {
	if name[:min(1, len(name))] == "@" && p.lang.has("flat") && !v.multi() && v.kind != kindNone {
		v = listOf(v)
	}
	name = p.key(name)
	v.spread, v.name, v.holder = false, "", ""
	nest := p.nest()
	if old, ok := p.vars[name]; ok && nest > p.nests[name] && v.fn == nil && v.file == nil && !p.uses(old, v) {
		v = old.or(v)
		nest = p.nests[name]
	}
	p.vars[name], p.nests[name] = v, nest
}

// uses reports whether the new value was made of the old one.
func (p *program) uses(old, v value) bool {
	if old.path != "" && len(old.alts) == 0 && !old.multi() {
		return true
	}
	s, ok := old.text()
	t, _ := v.text()
	return ok && strings.HasPrefix(t, s)
}

// nest is how deep the present line is indented.
func (p *program) nest() int32 {
	if i := min(p.at, len(p.toks)) - 1; i >= 0 && p.lang.has("columns") {
		return p.toks[i].column
	}
	return 0
}

// store gives a value to what holds it: a variable, or a field under the
// object's name and under its own.
func (p *program) store(holder string, v value) {
	if holder == "" {
		return
	}
	base, key, ok := strings.Cut(holder, "\x00")
	if !ok {
		if i := strings.LastIndexByte(holder, '.'); i >= 0 {
			p.set(holder[i:], v)
		}
		p.set(holder, v)
		return
	}
	old := p.vars[p.key(base)]
	if !old.multi() {
		old = value{kind: kindMap}
	}
	if old.kind == kindList && key != "" {
		old.keys = nil
	}
	p.vars[p.key(base)] = old.with(key, v)
}

// pattern reports whether a pattern that is assigned to begins at i.
func (p *program) pattern(i int) bool {
	if i >= p.end {
		return false
	}
	t := p.toks[i]
	m := int(t.match)
	return t.kind == tokenOp && strings.Contains("([{", t.text) && m > i && m+1 < p.end && p.toks[m+1].kind == tokenOp && p.toks[m+1].text == "="
}

// assigned reads the assignment of several values at once.
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
	switch next := p.peek(1); {
	case p.pattern(p.at):
		return int(p.toks[p.at].match) + 1
	case p.peek(0).kind != tokenName:
		return -1
	case next.is("="):
		return p.at + 1
	case next.text == ":" && p.lang.has("columns"):
		for i := p.at + 2; i < p.at+12 && i < p.end && !p.toks[i].is(";", ")"); i++ {
			if p.toks[i].is("=") {
				return i
			}
		}
		return -1
	}
	return p.listed()
}

// listed is the place of the "=" behind names with commas between them.
func (p *program) listed() int {
	n := 1
	for p.peek(n).text == "," && n < 40 {
		if n++; p.peek(n).text == "*" {
			n++
		}
		if p.peek(n).kind != tokenName {
			return -1
		}
		n++
	}
	if n == 1 || !p.peek(n).is("=") {
		return -1
	}
	return p.at + n
}

// bind gives the parts of a value to the pattern that begins at i: a name,
// names with commas, or brackets with patterns in them.
func (p *program) bind(i int, v value) {
	if i >= len(p.toks) {
		return
	}
	t := p.toks[i]
	switch m := int(t.match); {
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
	for i := from; i < to && n < maxList; i++ {
		t := p.toks[i]
		switch {
		case t.is(","):
			n++
		case t.word("my"):
		case t.word("in", "of", "as"), t.is("=", ";", ")", ":"):
			return
		case t.kind == tokenName:
			p.bindPart(i, i > from && p.toks[i-1].is("*", "..."), v, n)
		case p.over(i) > i:
			p.bind(i, v.nth(n))
			i = p.over(i)
		}
	}
}

// bindPart gives the nth part of a value to a name, or all from there on.
func (p *program) bindPart(i int, rest bool, v value, n int) {
	name := p.toks[i].text
	switch {
	case rest, v.multi() && strings.HasPrefix(name, "@"):
		p.set(name, listOf(tailOf(v.list, n)...))
	case v.multi():
		p.set(name, v.nth(n))
	default:
		p.set(name, value{path: v.path, alts: v.part(v.path).words()})
	}
}

func tailOf(list []value, n int) []value { return list[min(n, len(list)):] }

// bindKeys reads {a, b: c, d = 1}.
func (p *program) bindKeys(from, to int, v value) {
	for i := from; i < to; i++ {
		t := p.toks[i]
		if t.kind != tokenName {
			continue
		}
		local := i
		if i+2 < to && p.toks[i+1].text == ":" {
			local = i + 2
		}
		e, ok := v.field(t.text)
		if !ok {
			e = unknown(strings.TrimPrefix(v.path+"."+t.text, "."))
		}
		p.bind(local, e)
		if m := int(p.toks[local].match); m > local {
			i = m
		}
		for i = max(i, local); i < to && p.toks[i].text != ","; {
			i++
		}
	}
}

// imports reads import a as b, from a import b, import {a as b} from "m".
func (p *program) imports() bool {
	if p.peek(1).text == "(" {
		return false
	}
	word := p.take().text
	if p.lang.name == "node" {
		p.nodeImport()
		return true
	}
	mod := p.dotted()
	if word == "import" {
		p.importModules(mod)
	} else if p.word("import") {
		p.importNames(mod)
	}
	return true
}

// importModules reads a as b, c.
func (p *program) importModules(mod string) {
	for p.spend(1) {
		local := p.local(mod)
		if local != mod || !strings.Contains(mod, ".") {
			p.vars[local] = unknown(mod)
		}
		if !p.is(",") {
			return
		}
		p.take()
		mod = p.dotted()
	}
}

// local is the name behind "as", or the name itself.
func (p *program) local(name string) string {
	if p.takeIf(p.word("as")) {
		return p.take().text
	}
	return name
}

// importNames reads import a as b, c and import * of a module.
func (p *program) importNames(mod string) {
	p.take()
	for p.at < p.end && (p.is("(", ")", ",", "*") || p.peek(0).kind == tokenName) && p.spend(1) {
		switch t := p.take(); {
		case t.kind == tokenName:
			p.vars[p.local(t.text)] = unknown(mod + "." + t.text)
		case t.text == "*":
			p.stars = append(p.stars, mod)
		}
	}
}

func (p *program) dotted() string {
	var name strings.Builder
	name.WriteString(p.take().text)
	for p.is(".") && p.peek(1).kind == tokenName {
		p.take()
		name.WriteString("." + p.take().text)
	}
	return name.String()
}

// nodeImport reads import a, {b as c}, * as d from "m".
func (p *program) nodeImport() {
	names := map[string]string{} // the exported name by the local one
	last := ""
	for p.at < p.end && !p.word("from") && p.peek(0).kind != tokenString && p.spend(1) {
		t := p.take()
		switch {
		case t.is(";"):
			return
		case t.word("as"):
			local := p.take().text
			names[local] = names[last]
			delete(names, last)
		case t.kind == tokenName && (p.is(",", "}") || p.word("as")):
			names[t.text], last = "."+t.text, t.text
		case t.kind == tokenName, t.text == "*":
			names[t.text], last = "", t.text
		}
	}
	p.takeIf(p.word("from"))
	mod := moduleName(p.take().text)
	for local, name := range names {
		p.vars[local] = unknown(mod + strings.TrimSuffix(name, ".default"))
	}
}

// moduleName is the dotted name of a module.
func moduleName(s string) string {
	return strings.ReplaceAll(strings.TrimPrefix(s, "node:"), "/", ".")
}
