package shell

import (
	"slices"
	"strings"
)

// bind gives names their values, in their order.
func (p *program) bind(names []string, values []value) {
	for i, n := range names {
		v := noValue()
		if i < len(values) {
			v = values[i]
		}
		p.set(n, v)
	}
}

func (p *program) set(name string, v value) {
	delete(p.imports, name)
	p.vars[name] = v
	if v.path != "" && !strings.HasSuffix(v.path, "=") && !strings.HasSuffix(v.path, "()") {
		p.imports[name] = v.path
	}
}

// comprehension reads [expression for names in list …] of python up to its
// closing bracket.
//
//nolint:cyclop // One case per form that the grammar knows.
func (p *program) comprehension() (value, bool) {
	if p.lang.name != "python" || p.at == 0 {
		return value{}, false
	}
	start, end := p.at, p.closing(p.at-1)
	at := p.clause(start, end)
	if at < 0 || end >= len(p.toks) {
		return value{}, false
	}
	expr := at
	out := value{multi: true}
	var names []string
	var elements []value
	for at >= 0 && at < end {
		p.bindFirst(names, elements)
		names = nil
		for at++; at < end && p.toks[at].text != "in"; at++ {
			if p.toks[at].kind == lexName {
				names = append(names, p.toks[at].text)
			}
		}
		p.at = at + 1
		list := p.expression()
		elements, p.loop = list.listed(), p.loop || !list.multi
		at = p.clause(p.at, end)
	}
	if !p.turns(len(elements), expr-start) {
		elements = []value{value{multi: true, list: elements}.flat()}
	}
	for _, e := range elements {
		p.bindFirst(names, []value{e})
		out.list = append(out.list, p.body(start, expr))
	}
	p.at = end + 1
	return out, true
}

// bindFirst binds names to an element of a list, or to all at once.
func (p *program) bindFirst(names []string, elements []value) {
	switch {
	case len(names) == 0 || len(elements) == 0:
	case len(names) > 1 && elements[0].multi:
		p.bind(names, elements[0].list)
	case len(names) > 1:
		p.bind(names, nil)
	case len(elements) == 1:
		p.set(names[0], elements[0])
	default:
		p.set(names[0], value{multi: true, list: elements}.flat())
	}
}

// clause is the place of the next for between two places that belongs to no
// inner bracket, or -1.
func (p *program) clause(start, end int) int {
	for i := start; i < end && i < len(p.toks); i++ {
		switch t := p.toks[i]; {
		case t.kind == lexOp && (t.text == "(" || t.text == "[" || t.text == "{"):
			i = p.closing(i)
		case t.kind == lexName && t.text == "for":
			return i
		}
	}
	return -1
}

// pattern reads an assignment to several names at once.
//
//nolint:cyclop // One case per form that the grammar knows.
func (p *program) pattern() bool {
	var names []string
	at := p.at
	switch t := p.peek(0); {
	case p.isOp(0, "[") && (p.lang.name == "node" || p.lang.name == "php"), p.isOp(0, "(") && p.lang.name == "perl", t.text == "list" && p.lang.name == "php" && p.isOp(1, "("):
		if t.text == "list" {
			at++
		}
		end := p.closing(at)
		name := ""
		for at++; at < end; at++ {
			switch t := p.toks[at]; {
			case t.kind == lexOp && t.text == ",":
				names, name = append(names, name), ""
			case t.kind == lexName && t.text != "my":
				name = t.text
			case t.kind == lexOp && t.text == "...":
			default:
				return false
			}
		}
		names, at = append(names, name), end+1
	case t.kind == lexName && p.isOp(1, ",") && (p.lang.name == "python" || p.lang.name == "ruby" || p.lang.name == "lua"):
		for ; at+1 < len(p.toks) && p.toks[at].kind == lexName && p.toks[at+1].text == ","; at += 2 {
			names = append(names, p.toks[at].text)
		}
		if at >= len(p.toks) || p.toks[at].kind != lexName {
			return false
		}
		names = append(names, p.toks[at].text)
		at++
	default:
		return false
	}
	if at >= len(p.toks) || p.toks[at].kind != lexOp || p.toks[at].text != "=" {
		return false
	}
	p.at = at + 1
	values := []value{p.expression()}
	for p.isOp(0, ",") {
		p.at++
		values = append(values, p.expression())
	}
	if len(values) == 1 {
		values = values[0].listed()
	}
	p.bind(names, values)
	return true
}

// letters are the characters of a known text, or the value as it is.
func letters(v value) []value {
	s, ok := v.word().Text()
	if !ok || len(v.alts) != 1 || len(s) > maxElements {
		return []value{v}
	}
	out := make([]value, 0, len(s))
	for _, c := range s {
		out = append(out, textValue(Text(string(c))))
	}
	return out
}

// grows reads a call that adds to the list of a name.
func (p *program) grows(name string, v value) bool {
	if !p.isOp(0, ".") || !p.isOp(2, "(") {
		return false
	}
	how := p.peek(1).text
	switch how {
	case "append", "push", "add", "extend", "insert", "unshift", "concat":
	default:
		return false
	}
	p.at += 3
	args := p.listUntil(")")
	switch {
	case how == "unshift":
		v.list = append(args, v.list...)
	case how == "insert":
		v.list = append(slices.Clip(v.list), args[min(len(args), 1):]...)
	case len(args) == 1 && args[0].multi:
		v.list = append(slices.Clip(v.list), args[0].list...)
	default:
		v.list = append(slices.Clip(v.list), args...)
	}
	if len(v.list) <= maxFields && p.r.step(p.f, len(v.list)/8) {
		p.vars[name] = v
	}
	return true
}

// eachTurn reads the body of a loop once per element but the last, for which
// it is read where it stands.
func (p *program) eachTurn(def int, names []string, elements []value) {
	start := p.at
	for start < len(p.toks) && p.toks[start].text == ")" {
		start++
	}
	end := p.bodyEnd(def, start)
	if n := len(elements); n > 1 && p.turns(n-1, end-start) {
		for _, e := range elements[:n-1] {
			p.bindFirst(names, []value{e})
			p.body(start, end)
		}
		p.at, elements = start, elements[n-1:]
	}
	p.bindFirst(names, elements)
}
