package shell

import (
	"slices"
	"strconv"
	"strings"
)

// expression evaluates operands joined by operators.
//
//nolint:cyclop,funlen // One case per form that the grammar knows.
func (p *program) expression() value {
	if p.depth > 60 || !p.r.step(p.f, 1) {
		p.at++
		return noValue()
	}
	p.depth++
	defer func() { p.depth-- }()
	v := p.operand()
	for p.at < len(p.toks) {
		t := p.peek(0)
		switch {
		case t.kind == lexString && !t.code && len(v.alts) > 0 && (p.lang.name == "python" || p.lang.name == "awk"):
			v = p.concat(v, p.operand())
		case t.kind == lexName && p.lang.name == "awk" && len(v.alts) > 0 && (p.vars[t.text].alts != nil || t.text[0] == '$' || t.text == "ENVIRON" || t.text == "ARGV" || p.isOp(1, "(")):
			v = p.concat(v, p.operand())
		case t.kind == lexOp && v.num && strings.Contains("+-*/%^", t.text) && !p.isOp(1, "="):
			p.at++
			b := p.operand()
			n, ok := computed(t.text, v, b)
			if !ok && t.text == p.lang.concat {
				n, ok = p.concat(v, b), true
			}
			if !ok {
				n = noValue()
			}
			v = n
		case t.kind == lexOp && t.text == p.lang.concat && p.lang.concat != "":
			p.at++
			v = p.concat(v, p.operand())
		case p.isOp(0, "/") && p.lang.name == "python" && len(v.alts) > 0:
			p.at++
			v = p.concat(p.concat(v, textValue(Text("/"))), p.operand())
		case p.isOp(0, "*") && (p.lang.name == "python" || p.lang.name == "ruby"):
			p.at++
			v = repeated(v, p.operand())
		case p.isOp(0, "%") && p.lang.name == "python":
			p.at++
			v = substituted(v, p.operand())
		case p.isOp(0, "||", "&&", "?", ":", "==", "!=", "<", ">=", "<=", "+", "-", "*", "/", "===", "!=="):
			if p.isOp(0, ":") && (p.lang.name == "python" || p.lang.name == "node") {
				return v
			}
			p.at++
			p.operand()
			v = noValue()
		case p.pipes() && (!p.inPrint || p.peek(1).text == "getline"):
			v = p.awkPipe(v)
		case p.isOp(0, "=~") && p.peek(1).subst != nil:
			v = p.onEach(v, p.peek(1).subst.apply)
			p.at += 2
		default:
			return v
		}
	}
	return v
}

// concat joins two texts in all their alternatives.
func (p *program) concat(a, b value) value {
	if a.multi && b.multi {
		return value{multi: true, list: append(slices.Clone(a.list), b.list...)}
	}
	if a.multi || b.multi {
		return noValue()
	}
	var out value
	for _, x := range a.alts {
		for _, y := range b.alts {
			size := x.size() + y.size()
			if len(out.alts) < 16 && size < maxValue/16 && p.r.step(p.f, size/16) {
				out.alts = append(out.alts, Glue(x, y))
			}
		}
	}
	if len(out.alts) == 0 {
		return noValue()
	}
	return out
}

func repeated(v, times value) value {
	s, ok := v.word().Text()
	n, err := strconv.Atoi(times.word().String())
	if !ok || err != nil || n < 0 || n*len(s) > 4096 {
		return noValue()
	}
	return textValue(Text(strings.Repeat(s, n)))
}

// substituted fills the %s of a format.
func substituted(v, args value) value {
	list := args.words()
	if args.multi {
		list = nil
		for _, a := range args.list {
			list = append(list, a.word())
		}
	}
	return textValue(formatted(codedArgs(append([]Word{v.word()}, list...))))
}

// operand evaluates one operand with what is applied to it.
//
//nolint:cyclop,funlen // One case per form that the grammar knows.
func (p *program) operand() value {
	t := p.peek(0)
	switch {
	case t.kind == lexString:
		p.at++
		if t.fill {
			t.word = p.interpolate(t.text)
		}
		if t.code {
			p.shell(t.word, "`")
			return p.postfix(noValue())
		}
		return p.postfix(textValue(t.word))
	case t.kind == lexNumber:
		p.at++
		v := textValue(Text(t.text))
		v.num = true
		return p.postfix(v)
	case t.kind == lexName:
		return p.nameOperand()
	case p.isOp(0, "["):
		p.at++
		if v, ok := p.comprehension(); ok {
			return p.postfix(v)
		}
		return p.postfix(value{multi: true, list: p.listUntil("]")})
	case p.isOp(0, "("):
		p.applied()
		p.at++
		list := p.listUntil(")")
		if tuple := p.lang.name == "python" && p.isOp(-2, ","); len(list) == 1 && !tuple {
			return p.postfix(list[0])
		}
		return p.postfix(value{multi: true, list: list})
	case p.isOp(0, "{"):
		p.at++
		if p.lang.name == "node" && p.peek(0).kind == lexName && p.isOp(1, ",", "}") {
			return p.destructured()
		}
		if p.lang.name == "node" && p.peek(0).kind == lexName && p.isOp(1, ":") && p.closing(p.at-1)+1 < len(p.toks) && p.toks[p.closing(p.at-1)+1].text == "=" {
			return p.destructured()
		}
		if t := p.peek(0); p.lang.name == "lua" || (t.kind == lexName || t.kind == lexString || t.kind == lexNumber) && p.isOp(1, ":", "=>") || p.isOp(0, "...") {
			list := p.listUntil("}")
			return p.postfix(value{fields: list, list: list, multi: p.lang.name == "lua"})
		}
		return value{}
	case p.isOp(0, ":") && p.lang.name == "ruby" && p.peek(1).kind == lexName:
		p.at += 2
		return p.postfix(textValue(Text(p.peek(-1).text)))
	case p.isOp(0, "-") && p.peek(1).kind == lexNumber:
		p.at += 2
		v := textValue(Text("-" + p.peek(-1).text))
		v.num = true
		return v
	case p.isOp(0, "!", "-", "+", "~", "&", "*", "**", "...", "\\", "<"):
		p.at++
		return p.operand()
	}
	return noValue()
}

// destructured reads {a, b} = require("m") of node.
func (p *program) destructured() value {
	var names [][2]string // the field's and the local name
	for p.at < len(p.toks) && !p.isOp(0, "}") {
		if t := p.peek(0); t.kind == lexName && p.isOp(-1, ":") && len(names) > 0 {
			names[len(names)-1][1] = t.text
		} else if t.kind == lexName {
			names = append(names, [2]string{t.text, t.text})
		}
		p.at++
	}
	p.at++
	if p.isOp(0, "=") {
		p.at++
		v := p.expression()
		for _, n := range names {
			if e, ok := v.field(n[0]); ok {
				p.set(n[1], e)
				continue
			}
			p.imports[n[1]] = v.path + "." + n[0]
		}
	}
	return noValue()
}

// listUntil evaluates the expressions up to a closing bracket. A keyword
// argument becomes the text "name=value".
//
//nolint:cyclop // One case per form that the grammar knows.
func (p *program) listUntil(end string) []value {
	var out []value
	if v, ok := p.comprehension(); ok {
		return []value{v}
	}
	for p.at < len(p.toks) && p.r.step(p.f, 1) {
		if p.isOp(0, end) {
			p.at++
			return out
		}
		if p.isOp(0, ",", "=>", ";") || p.isOp(0, ":") && p.lang.name != "ruby" {
			p.at++
			continue
		}
		before := p.at
		if p.isOp(0, "*", "...", "**") && p.lang.name != "perl" {
			p.at++
			if v := p.expression(); v.multi || len(v.fields) > 0 {
				out = append(append(out, v.list...), v.fields...)
			} else {
				out = append(out, letters(v)...)
			}
			continue
		}
		if t := p.peek(0); t.kind == lexName && p.isOp(1, "=", ":") {
			p.at += 2
			v := p.expression()
			v.ref, v.path = v.path, t.text+"="
			out = append(out, v)
			continue
		}
		if t := p.peek(0); t.kind == lexName && p.keyword(t.text) {
			continue
		}
		out = append(out, p.expression())
		if p.at == before {
			p.at++
		}
	}
	return out
}
