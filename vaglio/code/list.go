package code

import "slices"

// group reads what stands in round brackets: a function's parameters, a text
// of several parts, a list or one expression.
func (p *program) group() value {
	t, end := p.peek(0), p.over(p.at)
	if end > p.at && p.tok(end+1).text == "=>" && end+1 < p.end && !t.group {
		return p.arrow()
	}
	p.take()
	if t.group {
		v := text("")
		if !p.is(")") {
			v = p.expression()
		}
		p.close(int(t.match))
		return p.glued(v)
	}
	from, empty := p.at, p.is(")")
	list := p.items(")")
	p.spend((p.at - from) / 8)
	comma := func(t token) bool { return t.is(",") || t.is("=>") && p.lang.name != "node" }
	if len(list) == 1 && !empty && p.find(from, p.at-1, comma) < 0 {
		return list[0]
	}
	v := listOf(list...)
	v.spread = p.lang.has("flat")
	return v
}

// close reads what an expression left before the bracket at end, and moves
// behind it.
func (p *program) close(end int) {
	if end <= 0 || end < p.at {
		p.takeIf(p.is(")", "]", "}"))
		return
	}
	for p.at < end && p.spend(1) {
		if before := p.at; !p.takeIf(p.is(",", ";", ":")) {
			p.expression()
			p.forward(before)
		}
	}
	p.at = end + 1
}

// items reads a list up to a bracket. A name with "=" or ":" behind it names
// the item.
func (p *program) items(shut string) (out []value) {
	saved := p.printing
	p.printing = false
	defer func() { p.printing = saved }()
	for p.at < p.end && p.spend(1) && !p.takeIf(p.is(shut)) {
		before := p.at
		if p.takeIf(p.is(",", ";", "=>")) {
			continue
		}
		if at := p.comprehends(); at > 0 && len(out) == 0 {
			out = append(out, p.comprehended(at)...)
			if shut == ")" {
				out = []value{listOf(out...)}
			}
			continue
		}
		name := p.itemName()
		v := p.expression()
		v.name = name
		if p.at <= before && p.is(")", "]", "}") {
			return out
		}
		if p.forward(before) {
			continue
		}
		if out = spreadInto(out, v); len(out) > maxList {
			out = append(out[:maxList], value{})
		}
	}
	return out
}

// comprehends returns where the "for" stands that gives values to the
// element before it, 0 if none does.
func (p *program) comprehends() int {
	if p.lang.name != "python" {
		return 0
	}
	at := p.find(p.at, p.end, func(t token) bool { return t.is(",") || t.word("for") })
	if !p.tok(at).word("for") || p.elements(at) < 0 {
		return 0
	}
	return at
}

// elements is where the "in" stands behind a "for", below 0 if there is none.
func (p *program) elements(at int) int {
	return p.find(at, p.end, func(t token) bool { return t.word("in") })
}

// comprehended reads "e for x in list if c", whose "for" is at a place, for
// every element of the list.
func (p *program) comprehended(at int) []value {
	start := p.at
	p.at = at
	p.skip(p.elements(at) + 1)
	list := p.either()
	end, inner := p.at, p.at
	var out []value
	p.each(list, 0, func(e value) {
		p.bind(at+1, e)
		p.at, end = inner, inner
		for p.takeIf(p.word("if")) {
			p.either()
		}
		end = p.at
		p.at = start
		if next := p.tok(end); next.word("for") && end < p.end {
			out = append(out, p.comprehended(end)...)
			end = p.at
		} else {
			out = append(out, p.expression())
		}
	})
	p.at = end
	return out
}

// itemName reads the name of an argument: name=, name: or "name" =>.
func (p *program) itemName() string {
	t, next := p.peek(0), p.peek(1)
	named := next.is("=") && p.lang.name == "python" || next.is(":") && p.lang.name == "ruby" ||
		next.is("=>") && t.kind == tokenString && p.lang.name != "node" && !p.lang.has("flat")
	if t.kind != tokenName && t.kind != tokenString || !named {
		return ""
	}
	p.take()
	p.take()
	return t.text
}

// mapping reads what stands in braces: a map, a set, or statements.
func (p *program) mapping() value {
	end := int(p.peek(0).match)
	p.take()
	v := value{kind: kindMap}
	for p.at < p.end && !p.is("}") && p.spend(1) {
		before := p.at
		if p.takeIf(p.is(",", ";")) || p.lang.name == "node" && p.define() {
			continue
		}
		if at := p.comprehends(); at > 0 && len(v.list) == 0 {
			v.list, v.kind = p.comprehended(at), kindList
			continue
		}
		v = v.entered(p.entry())
		p.forward(before)
	}
	p.close(end)
	if len(v.list) > 0 && !slices.ContainsFunc(v.keys, func(k string) bool { return k != "" }) {
		v.kind = kindList
	}
	return v
}

// entered is a map with one entry more, or with those of a map that is spread.
func (v value) entered(key string, e value) value {
	switch {
	case key != "":
		return v.with(key, e)
	case e.spread && e.multi():
		for i, x := range e.list {
			k := ""
			if i < len(e.keys) {
				k = e.keys[i]
			}
			x.spread = false
			v = v.entered(k, x)
		}
	case len(v.list) < maxList:
		v.list, v.keys = append(v.list, e), append(v.keys, "")
	}
	return v
}

// entry reads one entry of a map: a key, and the value if there is one.
func (p *program) entry() (string, value) {
	t, v := p.peek(0), value{}
	switch {
	case p.keyed():
		p.take()
		p.take()
		return t.text, p.expression()
	case p.is("[") && (p.lang.name == "python" || p.lang.name == "node"):
		p.take()
		v = p.expression()
		p.close(0)
	default:
		v = p.choice()
	}
	key, _ := v.text()
	switch {
	case p.takeIf(p.is(":", "=>")):
		return key, p.expression()
	case t.kind == tokenName && v.holder == t.text && (!p.is(",") || !p.lang.has("flat")):
		return t.text, v // a variable that is an entry by itself
	}
	return "", v
}

// keyed reports whether a name that is a key by itself follows.
func (p *program) keyed() bool {
	t, next := p.peek(0), p.peek(1)
	_, held := p.vars[t.text]
	return t.kind == tokenName && (next.is(":", "=>") || next.is("=") && p.lang.name == "lua") && (!held || p.lang.name != "python")
}

// grow adds elements to a list that a variable holds.
func (p *program) grow(v value, rest []value) value {
	if !v.multi() && len(v.alts) > 0 {
		return v
	}
	list := slices.Clone(v.list)
	for _, r := range rest {
		list = spreadInto(list, r)
	}
	if len(list) > maxList {
		list = append(list[:maxList], unknown(""))
	}
	p.store(v.holder, listOf(list...))
	return value{kind: kindList, list: list, holder: v.holder}
}

// pairs are the keys of a map, or the places of a list, with what stands there.
func (v value) pairs() value {
	if !v.multi() {
		return listOf(listOf(unknown(v.path), value{path: v.path, alts: v.alts}))
	}
	var out []value
	for i, e := range v.list {
		k := number(i)
		if i < len(v.keys) && v.kind == kindMap {
			k = text(v.keys[i])
		}
		out = append(out, listOf(k, e))
	}
	return listOf(out...)
}

// sliced is a stretch of a text or a list.
func sliced(v value, from, to int, has bool) value {
	cut := func(n int) (int, int) {
		a, b := from, to
		if !has {
			b = n
		}
		if a < 0 {
			a += n
		}
		if b < 0 {
			b += n
		}
		a = max(min(a, n), 0)
		return a, max(min(b, n), a)
	}
	if v.multi() {
		a, b := cut(len(v.list))
		return listOf(v.list[a:b]...)
	}
	return v.each(func(s string) (string, bool) {
		a, b := cut(len(s))
		return s[a:b], true
	})
}
