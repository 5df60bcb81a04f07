package code

import (
	"slices"
)

// group reads what stands in round brackets: a function's parameters, a text
// of several parts, a list or one expression.
func (p *program) group() value {
	t := p.peek(0)
	end := int(t.match)
	if end > 0 && end+1 < p.end && p.toks[end+1].text == "=>" && !t.group {
		return p.arrow()
	}
	p.take()
	if t.group {
		return p.textGroup(end)
	}
	comma := p.is(")")
	saved := p.printing
	p.printing = false
	from := p.at
	list := p.items(")")
	p.printing = saved
	p.spend((p.at - from) / 8)
	if len(list) == 1 && !comma && !p.commas(from, min(p.at-1, len(p.toks))) {
		return list[0]
	}
	v := listOf(list...)
	v.spread = p.lang.has("flat")
	return v
}

// commas reports whether a comma stands between two places, outside of brackets.
func (p *program) commas(from, to int) bool {
	for i := from; i < to; i = p.over(i) + 1 {
		if t := p.toks[i]; t.text == "," || t.text == "=>" && p.lang.name != "node" {
			return true
		}
	}
	return false
}

// textGroup reads a text of several parts, and those beside it.
func (p *program) textGroup(end int) value {
	v := text("")
	if !p.is(")") {
		v = p.expression()
	}
	p.close(end)
	return p.glued(v)
}

// close moves behind the bracket at end.
func (p *program) close(end int) {
	if end > 0 && end >= p.at {
		p.rest(end)
		p.at = end + 1
	} else {
		p.takeIf(p.is(")", "]", "}"))
	}
}

// rest reads what an expression left before a bracket.
func (p *program) rest(end int) {
	for p.at < end && p.spend(1) {
		before := p.at
		if p.takeIf(p.is(",", ";", ":")) {
			continue
		}
		p.expression()
		if p.at <= before {
			p.at = before
			p.take()
		}
	}
}

// items reads a list up to a bracket. A name with "=" or ":" behind it names
// the item.
func (p *program) items(shut string) []value {
	var out []value
	for p.at < p.end && p.spend(1) {
		if p.takeIf(p.is(shut)) {
			return out
		}
		before := p.at
		if p.takeIf(p.is(",", ";", "=>")) {
			continue
		}
		if at := p.comprehends(); at > 0 && len(out) == 0 {
			p.at = at
			list := p.each(before)
			if shut == ")" {
				list = []value{listOf(list...)}
			}
			out = append(out, list...)
			continue
		}
		name := p.itemName()
		v := p.expression()
		v.name = name
		if p.at <= before {
			p.at = before
			if p.is(")", "]", "}") {
				return out
			}
			p.take()
			continue
		}
		if out = spreadInto(out, v); len(out) > maxList {
			out = append(out[:maxList], value{})
		}
	}
	return out
}

// comprehends returns where the "for" stands that gives values to the
// element before it.
func (p *program) comprehends() int {
	if p.lang.name != "python" {
		return 0
	}
	for i := p.at; i < p.end && p.spend(1); i++ {
		t := p.toks[i]
		switch m := int(t.match); {
		case m > i:
			i = m
		case t.kind == tokenOp && (t.text == "," || t.text == ";" || m >= 0):
			return 0
		case t.kind == tokenName && t.text == "for":
			return i
		}
	}
	return 0
}

// itemName reads the name of an argument: name=, name: or "name" =>.
func (p *program) itemName() string {
	t, next := p.peek(0), p.peek(1)
	if t.kind != tokenName && t.kind != tokenString || next.kind != tokenOp {
		return ""
	}
	named := false
	switch next.text {
	case "=":
		named = p.lang.name == "python"
	case ":":
		named = p.lang.name == "ruby"
	case "=>":
		named = p.lang.name != "node" && !p.lang.has("flat") && t.kind == tokenString
	}
	if !named {
		return ""
	}
	p.take()
	p.take()
	return t.text
}

// each reads "for x in list if c" behind the expression at start, for every
// element.
func (p *program) each(start int) []value {
	at := p.at
	for p.takeIf(p.word("async")) {
	}
	p.take() // for
	target, list, ok := p.forHeadOf()
	if !ok {
		return nil
	}
	end, inner := p.at, p.at
	var out []value
	p.turns(list, at, at, func(e value) {
		p.bind(target, e)
		p.at, end = inner, inner
		for p.takeIf(p.word("if")) {
			p.either()
		}
		if p.word("for") {
			out = append(out, p.each(start)...)
			end = p.at
			return
		}
		end = p.at
		p.at = start
		out = append(out, p.expression())
	})
	p.at = end
	return out
}

func (p *program) forHeadOf() (int, value, bool) {
	start := p.at
	for i := 0; i < 24 && p.at < p.end; i++ {
		if p.takeIf(p.word("in")) {
			return start, p.either(), true
		}
		p.take()
	}
	return 0, value{}, false
}

// mapping reads what stands in braces: a map, a set, or statements.
func (p *program) mapping() value {
	end := int(p.peek(0).match)
	p.take()
	v := value{kind: kindMap}
	for p.at < p.end && !p.is("}") && p.spend(1) {
		if p.takeIf(p.is(",", ";")) {
			continue
		}
		before := p.at
		if p.lang.name == "node" && p.define() {
			continue
		}
		if at := p.comprehends(); at > 0 && len(v.list) == 0 {
			p.at = at
			v.list, v.kind = p.each(before), kindList
			continue
		}
		key, e := p.entry()
		v = v.entered(key, e)
		if p.at <= before {
			p.at = before
			p.take()
		}
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
	t, next := p.peek(0), p.peek(1)
	switch {
	case t.kind == tokenName && (next.is(":", "=>") || next.text == "=" && p.lang.name == "lua"):
		p.take()
		p.take()
		if v, ok := p.vars[t.text]; ok && p.lang.name == "python" {
			k, _ := v.text()
			return k, p.expression()
		}
		return t.text, p.expression()
	case p.is("[") && slices.Contains([]string{"python", "node"}, p.lang.name):
		p.take()
		k, _ := p.expression().text()
		p.close(0)
		p.take()
		return k, p.expression()
	}
	k := p.choice()
	if !p.is(":", "=>") {
		return p.shorthand(t, k), k
	}
	p.take()
	key, _ := k.text()
	return key, p.expression()
}

// shorthand is the key of a variable that is an entry by itself: its name.
func (p *program) shorthand(t token, v value) string {
	if t.kind == tokenName && v.holder == t.text && (!p.is(",") || !p.lang.has("flat")) {
		return t.text
	}
	return ""
}
