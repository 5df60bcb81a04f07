package code

import (
	"slices"
	"strings"

	"github.com/metnos/vaglio/vaglio/shell"
)

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
	if p.pattern(p.at) {
		at := p.at
		p.at = int(p.toks[at].match) + 2
		p.bind(at, p.expressions())
		return true
	}
	if p.peek(0).kind == tokenName && p.peek(1).text == ":" && p.lang.has("columns") {
		for i := 2; i < 12 && p.at+i < p.end; i++ {
			if t := p.peek(i); t.text == "=" {
				name := p.take().text
				p.at += i
				p.set(name, p.expressions())
				return true
			} else if t.text == ";" || t.text == ")" {
				return false
			}
		}
	}
	n := 1
	for p.peek(n).text == "," && p.peek(n+1).kind == tokenName && n < 40 || p.peek(n).text == "," && p.peek(n+1).text == "*" && p.peek(n+2).kind == tokenName {
		n += 2
		if p.peek(n).kind == tokenName {
			n++
		}
	}
	if p.peek(0).kind != tokenName || n < 3 || p.peek(n).kind != tokenOp || p.peek(n).text != "=" {
		if p.peek(0).kind == tokenName && p.peek(1).kind == tokenOp && p.peek(1).text == "=" {
			name := p.take().text
			p.take()
			p.lines()
			v := p.expressions()
			p.set(name, v)
			return true
		}
		return false
	}
	at := p.at
	p.at += n + 1
	p.bind(at, p.expressions())
	return true
}

// bind gives the parts of a value to the pattern that begins at i: a name,
// names with commas, or brackets with patterns in them.
func (p *program) bind(i int, v value) {
	if i >= len(p.toks) {
		return
	}
	t := p.toks[i]
	if t.kind == tokenName {
		next := token{}
		if i+1 < len(p.toks) {
			next = p.toks[i+1]
		}
		if next.text != "," {
			p.set(t.text, v)
			return
		}
		p.bindList(i, len(p.toks), v)
		return
	}
	if m := int(t.match); m > i && t.text == "{" {
		p.bindKeys(i+1, m, v)
	} else if m > i {
		p.bindList(i+1, m, v)
	}
}

func (p *program) bindList(from, to int, v value) {
	n := 0
	for i := from; i < to && n < maxList; i++ {
		t := p.toks[i]
		switch {
		case t.kind == tokenOp && t.text == ",":
			n++
		case t.kind == tokenName && i > from && p.toks[i-1].text == "*" || i > from && p.toks[i-1].text == "...":
			p.set(t.text, listOf(tailOf(v.list, n)...))
		case t.kind == tokenName && slices.Contains([]string{"in", "of", "my", "as"}, t.text):
			if t.text != "my" {
				return
			}
		case t.kind == tokenName && v.multi():
			if strings.HasPrefix(t.text, "@") {
				p.set(t.text, listOf(tailOf(v.list, n)...))
				return
			}
			p.set(t.text, v.nth(n))
		case t.kind == tokenName:
			p.set(t.text, value{path: v.path, alts: unknownOf(v)})
		case t.match > int32(i): //nolint:gosec // No more tokens than steps.
			p.bind(i, v.nth(n))
			i = int(t.match)
		case t.text == "=" || t.text == ";" || t.text == ")" || t.text == ":":
			return
		}
	}
}

// unknownOf is what is known of a part of something.
func unknownOf(v value) []shell.Word {
	if v.word().Remote() {
		return remote(v.path).alts
	}
	return []shell.Word{unknownWord(v.path)}
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
		for {
			local := mod
			if p.word("as") {
				p.take()
				local = p.take().text
			}
			if local != mod || !strings.Contains(mod, ".") {
				p.vars[local] = unknown(mod)
			}
			if !p.is(",") {
				return true
			}
			p.take()
			mod = p.dotted()
		}
	}
	if !p.word("import") {
		return true
	}
	p.take()
	for p.at < p.end && (p.is("(", ")", ",", "*") || p.peek(0).kind == tokenName) && p.spend(1) {
		t := p.take()
		if t.kind != tokenName {
			if t.text == "*" {
				p.stars = append(p.stars, mod)
			}
			continue
		}
		local := t.text
		if p.word("as") {
			p.take()
			local = p.take().text
		}
		p.vars[local] = unknown(mod + "." + t.text)
	}
	return true
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

func (p *program) nodeImport() {
	var names [][2]string // the local name and the exported one
	for p.at < p.end && !p.word("from") && p.peek(0).kind != tokenString && p.spend(1) {
		t := p.take()
		switch {
		case t.kind == tokenName && t.text == "as" && len(names) > 0:
			names[len(names)-1][0] = p.take().text
		case t.text == "*":
			names = append(names, [2]string{"", ""})
		case t.kind == tokenName && (p.is(",", "}") || p.word("as")):
			names = append(names, [2]string{t.text, t.text})
		case t.kind == tokenName:
			names = append(names, [2]string{t.text, ""})
		case t.text == ";":
			return
		}
	}
	if p.word("from") {
		p.take()
	}
	mod := moduleName(p.take().text)
	for _, n := range names {
		full := mod
		if n[1] != "" && n[1] != "default" {
			full += "." + n[1]
		}
		p.vars[n[0]] = unknown(full)
	}
}

// moduleName is the dotted name of a module.
func moduleName(s string) string {
	return strings.ReplaceAll(strings.TrimPrefix(s, "node:"), "/", ".")
}
