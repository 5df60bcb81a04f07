package code

import (
	"path"
	"slices"
	"strings"
)

// added joins two values.
func (p *program) added(a, b value, op string) value {
	if a.multi() && b.multi() {
		return listOf(slices.Concat(a.list, b.list)[:min(len(a.list)+len(b.list), maxList)]...)
	}
	if v := arithmetic(a, op, b); v.kind == kindNumber {
		return v
	}
	return p.glue(a, b)
}

// arithmetic is what is known of numbers.
func arithmetic(a value, op string, b value) value {
	x, okX := a.int()
	y, okY := b.int()
	if okX && okY && a.kind == kindNumber && b.kind == kindNumber {
		switch op {
		case "+":
			return number(x + y)
		case "-":
			return number(x - y)
		case "*":
			return number(x * y)
		case "^":
			return number(x ^ y)
		}
	}
	return value{kind: kindOther}
}

// operated applies the operators that do not join texts.
func (p *program) operated(a value, op string) value {
	b := p.unary()
	switch {
	case op == "/" && dividesPath(a, b):
		return pathOf(p.joined([]value{a, b}))
	case op == "%" && len(a.alts) > 0 && a.kind != kindNumber:
		b.spread = b.kind == kindList
		return p.formatted(a, []value{b})
	case op == "<<":
		return p.appended(a, b)
	case op == "|" && a.path != "":
		return unknown(a.path + "|" + b.path)
	case op == "x", op == "*" && (a.kind != kindNumber || b.kind != kindNumber):
		return repeated(a, b)
	}
	return arithmetic(a, op, b)
}

// dividesPath reports whether a slash joins a path and what stands below it.
func dividesPath(a, b value) bool {
	return a.kind == kindPath || b.kind == kindPath || a.path != "" && len(a.alts) == 0 && b.known() && b.kind == kindText
}

// skip is how many arguments stand before those that count.
func (f *function) skip() int {
	if len(f.args) == 0 {
		return 0
	}
	return f.args[0]
}

// appended is list << element, or text << text.
func (p *program) appended(a, b value) value {
	switch {
	case a.multi():
		return p.grow(a, []value{b})
	case len(a.alts) > 0:
		v := p.glue(a, b)
		p.store(a.holder, v)
		return v
	}
	return value{kind: kindOther}
}

// repeated is a text so many times.
func repeated(a, times value) value {
	s, ok := a.text()
	if n, known := times.int(); ok && known && n >= 0 && n*len(s) <= 1<<12 {
		return text(strings.Repeat(s, n))
	}
	return value{kind: kindOther}
}

// joined are texts joined as the elements of a path.
func (p *program) joined(parts []value) value {
	out := value{}
	for i, v := range parts {
		if i == 0 || strings.HasPrefix(v.word().Prefix(), "/") && p.lang.name != "node" {
			out = v
			continue
		}
		if !strings.HasSuffix(out.word().Suffix(), "/") {
			out = p.glue(out, text("/"))
		}
		out = p.glue(out, v)
	}
	v := out.each(func(s string) (string, bool) {
		if s != "" {
			s = path.Clean(s)
		}
		return s, true
	})
	for i, w := range out.words() { // what is not known in full stays as it is
		if _, ok := w.Text(); i < len(v.alts) && !ok {
			v.alts[i] = w
		}
	}
	return v
}
