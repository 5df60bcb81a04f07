package powershell

import (
	"regexp"
	"slices"
	"strings"
)

// expression reads operands and the operators between them. It follows the joining of texts, because that hides commands; the results of all other operators
// are unknown. Without commas it ends at a comma.
func (p *parser) expression(commas bool) value {
	p.names, p.member = p.names[:0], false
	vals, sum := []value{p.operands(commas)}, true
	for op := p.operator(); op != ""; op = p.operator() {
		p.take(len(op))
		p.space("\n")
		if strings.HasSuffix(op, "=") {
			return p.assign(op, slices.Clone(p.names))
		}
		sum = sum && op == "+"
		vals = append(vals, p.operands(commas))
	}
	s, ok := vals[0].text()
	switch {
	case len(vals) == 1:
		return vals[0]
	case !sum, ok && s != "" && strings.Trim(s, "0123456789.") == "":
		return madeOf(p.r.list(vals...), "")
	}
	return p.r.added(vals...)
}

// added returns joined texts, or a longer list.
func (r *reader) added(vals ...value) value {
	if len(vals[0].items) > 1 && !vals[0].either {
		return r.list(vals...)
	}
	return r.glue(vals...)
}

func (p *parser) operator() string {
	p.space("")
	return operators.FindString(p.rest())
}

var operators = regexp.MustCompile(`^(?:-[A-Za-z]\w*|\?\?=?|[-+*/%]=|\.\.|\+\+|--|[-+*/%?:=])`)

// assign reads the value that variables are set to.
func (p *parser) assign(op string, names []string) value {
	member, r := p.member, p.r
	v := p.statement()
	for _, name := range names {
		old, had := r.vars[name]
		set := v
		switch {
		case member || len(names) > 1 || op == "??=":
			set = r.merged(old, v)
		case op == "+=" && had:
			set = r.added(old, v)
		case op != "=":
			set = r.merged(old, unknown())
		}
		if env, ok := strings.CutPrefix(name, "env:"); ok {
			r.setenv(env, set)
		}
		r.setVar(name, set)
	}
	p.assigned = true
	return v
}

func (p *parser) operands(commas bool) value {
	vals := []value{p.unary()}
	for p.space(""); commas && p.skip(","); p.space("") {
		p.space("\n")
		vals = append(vals, p.unary())
	}
	return p.r.list(vals...)
}

// unary reads an operand and the operators before it.
func (p *parser) unary() value {
	p.space("")
	return p.r.deeper(func() value {
		switch {
		case p.skip(",+"):
			return p.unary()
		case p.at("!-"):
			p.take(len(p.operator()))
			return madeOf(p.unary(), "")
		}
		return p.postfix(p.primary())
	})
}

func (p *parser) primary() value {
	switch c := p.peek(0); c {
	case '\'', '"':
		return p.quoted()
	case '$':
		return p.dollar()
	case '@':
		return p.listed()
	case '(':
		return p.grouped()
	case '{':
		return value{isBlock: true, block: p.enclosed()}
	case '[':
		return p.typed()
	}
	return text(p.match(plainWords))
}

// plainWords matches numbers and names.
var plainWords = regexp.MustCompile(`^(?:\d(?:\w|\.\d)*|[\w\x{80}-\x{10ffff}]+)`)

func (p *parser) grouped() value { return p.r.source(p.enclosed()) }

// listed reads what begins with an at sign: a list, a table, a here-string or a splatted variable.
func (p *parser) listed() value {
	quote := hereQuote(p.rest())
	p.take(1)
	switch {
	case quote != "":
		return p.lines(quote)
	case p.at("("):
		return p.grouped()
	case p.at("{"):
		return p.table()
	}
	p.variable()
	p.r.unread("the words of a command are only known when it runs")
	return unknown()
}

// table reads {name=value; …}.
func (p *parser) table() value {
	in := p.r.parse(p.enclosed())
	vals := []value{{}, {}}
	for in.space("\n;"); !in.done(); in.space("\n;") {
		in.progress(func() { in.unary() })
		if in.space(""); in.skip("=") {
			in.space("\n")
			vals = append(vals, in.statement())
		}
	}
	v := p.r.list(vals...)
	v.hash = true
	return v
}

// progress reads something, and moves on even if nothing was read.
func (p *parser) progress(read func()) {
	before := p.pos
	p.r.step(1)
	if read(); p.pos == before {
		p.r.unread("an expression of a form that is not read")
		p.take(1)
	}
}

// typed reads what follows the name of a type: a static member, or a value that is converted.
func (p *parser) typed() value {
	typ := strings.TrimPrefix(strings.ToLower(strings.TrimSpace(p.enclosed())), "system.")
	if p.has("::") {
		p.take(2)
		return p.called(func(name string, args []value) value { return p.r.static(typ, name, args) }, unknown())
	}
	if p.space(""); p.done() || p.at("\n;|,)}.=") || p.operator() != "" {
		return unknown()
	}
	v := p.unary()
	switch {
	case p.r.t.is("plain", typ):
		return v
	case typ == "scriptblock":
		return p.r.carried(v, "["+typ+"]")
	}
	return madeOf(v, "")
}

// called reads the name of a member, and its arguments if it is a function.
func (p *parser) called(function func(name string, args []value) value, property value) value {
	name := p.match(names)
	if name == "" {
		p.primary()
	}
	var args []value
	switch {
	case p.at("{"):
		args = []value{p.primary()}
	case p.at("("):
		in := p.r.parse(p.enclosed())
		for in.space("\n,"); !in.done(); in.space("\n,") {
			in.progress(func() { args = append(args, in.expression(false)) })
		}
	case name != "":
		return property
	}
	return function(name, args)
}

// postfix reads members and elements of a value.
func (p *parser) postfix(v value) value {
	for {
		p.r.step(1)
		if p.at("[") {
			p.member = true
			if at := p.enclosed(); strings.Contains(at, "(") {
				p.r.source(at)
			}
			v = part(v, "")
			continue
		}
		if p.match(steps) != "" {
			continue
		}
		m := members.FindStringSubmatch(p.rest())
		if m == nil {
			return v
		}
		p.take(len(m[1]))
		p.member = true
		v = p.called(func(name string, args []value) value { return p.r.method(v, name, args) }, part(v, m[2]))
	}
}

var (
	steps   = regexp.MustCompile(`^(?:\+\+|--)`)
	members = regexp.MustCompile(`^(::|\??\.)(?:([A-Za-z_\x{80}-\x{10ffff}][\w\x{80}-\x{10ffff}]*)|[$'"(])`)
)

// part returns a member of a value that is not a function, or for "" an element.
func part(v value, name string) value {
	name = "|" + strings.ToLower(name) + "|"
	switch {
	case v.hash, name == "||" && (v.files || v.isBlock || len(v.items) > 1):
		v.hash = false
		return v.element()
	case strings.Contains("|value|path|", name),
		v.files && strings.Contains("|fullname|pspath|providerpath|literalpath|name|basename|pschildname|", name):
		return v
	}
	return madeOf(v, "") // for example a character of a text
}

// static reads the call of a type's function.
func (r *reader) static(typ, member string, args []value) value {
	name := "[" + typ + "]::" + member
	if sp := r.t.spec("static:", typ+"::"+member); sp != nil {
		return r.function(sp, name, value{}, args)
	}
	if isNew := strings.EqualFold(member, "new"); !isNew && (member == "" || !r.t.is("pure", typ)) {
		r.unread("a function that is not known is called: %s", name)
	}
	return madeOf(r.list(append(args, value{}, value{})...), "")
}

// method reads the call of an object's function.
func (r *reader) method(v value, name string, args []value) value {
	if sp := r.t.spec("methods:", name); sp != nil && (!v.isNothing() || sp.find("self", 1) == nil) {
		return r.function(sp, name, v, args)
	}
	for _, a := range args {
		r.each(a, v)
	}
	if !r.t.is("harmless", name) {
		r.unread("a function of an object is called that is not known: %s", name)
	}
	return madeOf(r.list(append(args, v, value{})...), "")
}

// named returns a member that is given only by name.
func (r *reader) named(v value, name string) value {
	if r.t.is("harmless", name) && r.t.spec("methods:", name) == nil {
		return part(v, name)
	}
	return r.method(v, name, nil)
}

// function carries out a function's row; its parameters are positions.
func (r *reader) function(sp *spec, name string, self value, args []value) value {
	w := r.work(sp, self, false)
	w.name, w.out, w.vals["self"] = name, unknown(), self
	for i, a := range args {
		w.vals[string(rune('0'+min(i, 9)))] = a
	}
	if sp.as != "" {
		return w.program()
	}
	w.params()
	return w.output()
}
