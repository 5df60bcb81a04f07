package code

import (
	"path"
	"slices"
	"strings"
)

func (p *program) added(a, b value, op string) value {
	switch x, ok := a.int(); {
	case a.multi() && b.multi():
		return listOf(slices.Concat(a.list, b.list)[:min(len(a.list)+len(b.list), maxList)]...)
	case ok && a.kind == kindNumber && b.kind == kindNumber && op == "+":
		if y, ok := b.int(); ok {
			return number(x + y)
		}
	}
	return p.glue(a, b)
}

func (p *program) operated(a value, op string) value {
	holder := a.holder
	b := p.unary()
	switch x, ok := a.int(); {
	case op == "/" && (a.kind == kindPath || b.kind == kindPath || a.path != "" && len(a.alts) == 0 && b.known() && b.kind == kindText):
		v := p.joined([]value{a, b})
		v.kind = kindPath
		return v
	case op == "%" && len(a.alts) > 0 && a.kind != kindNumber:
		args := []value{b}
		if b.kind == kindList {
			args = b.list
		}
		return p.formatted(a, args)
	case op == "<<" && a.multi():
		a.list = append(slices.Clone(a.list), b)
		p.store(holder, a)
		return a
	case op == "<<" && len(a.alts) > 0:
		v := p.glue(a, b)
		p.store(holder, v)
		return v
	case op == "|" && a.path != "":
		return value{path: a.path + "|" + b.path}
	case ok && a.kind == kindNumber && b.kind == kindNumber && (op == "-" || op == "*" || op == "^"):
		if y, ok := b.int(); ok {
			return number(map[string]int{"-": x - y, "*": x * y, "^": x ^ y}[op])
		}
	case op == "*" || op == "x":
		if s, ok := a.text(); ok {
			if n, ok := b.int(); ok && n >= 0 && n*len(s) <= 1<<12 {
				return text(strings.Repeat(s, n))
			}
		}
	}
	return value{kind: kindOther}
}

func (p *program) joined(parts []value) value {
	out := value{}
	for i, v := range parts {
		switch abs := strings.HasPrefix(v.word().Prefix(), "/"); {
		case i == 0 || abs && p.lang.name != "node":
			out = v
		default:
			if !strings.HasSuffix(out.word().Suffix(), "/") {
				out = p.glue(out, text("/"))
			}
			out = p.glue(out, v)
		}
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
