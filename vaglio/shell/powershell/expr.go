package powershell

import (
	"slices"
	"strings"
)

// expression reads operands and the operators between them. Texts that are put
// side by side are followed, for commands are hidden so; what all else yields
// is not known. Without commas it ends at one.
func (p *parser) expression(commas bool) value {
	r := p.r
	if !r.step(1) || !r.enter() {
		p.pos = len(p.src)
		return unknownValue("")
	}
	defer r.leave()
	vals, sum := []value{p.list(commas)}, true
	for p.blanks(); r.step(1); p.blanks() {
		op := p.operator()
		if op == "" {
			break
		}
		p.take(len(op))
		p.space(lineEnds)
		if op == "=" { // of what is no variable
			return p.statement()
		}
		sum = sum && op == "+"
		vals = append(vals, p.list(commas))
	}
	if !sum {
		return madeOf(r.list(vals), "")
	}
	return r.sum(vals)
}

// sum puts texts side by side, or makes lists longer.
func (r *reader) sum(vals []value) value {
	s, ok := vals[0].text()
	switch {
	case len(vals) == 1 || len(vals[0].items) > 1 && !vals[0].either:
		return r.list(vals)
	case ok && s != "" && strings.Trim(s, "0123456789.") == "":
		return madeOf(r.list(vals), "")
	}
	return r.glue(vals)
}

// operator is the operator that comes next, or "".
func (p *parser) operator() string {
	s := p.rest()
	if len(s) > 1 && s[0] == '-' && isLetter(s[1]) {
		return s[:1+nameLength(s[1:])]
	}
	for _, op := range [...]string{"..", "??", "++", "--", "+", "-", "*", "/", "%", "?", ":", "="} {
		if strings.HasPrefix(s, op) {
			return op
		}
	}
	return ""
}

// list reads operands between commas.
func (p *parser) list(commas bool) value {
	vals := []value{p.unary()}
	for p.blanks(); commas && p.peek(0) == ','; p.blanks() {
		p.take(1)
		p.space(lineEnds)
		vals = append(vals, p.unary())
	}
	return p.r.list(vals)
}

// unary reads an operand with what stands before it.
func (p *parser) unary() value {
	if !p.r.step(1) || !p.r.enter() {
		p.pos = len(p.src)
		return unknownValue("")
	}
	defer p.r.leave()
	p.blanks()
	switch c := p.peek(0); c {
	case ',', '+':
		p.take(1)
		return p.unary()
	case '!', '-':
		p.take(max(1, len(p.operator())))
		return madeOf(p.unary(), "")
	}
	return p.postfix(p.primary())
}

// primary reads one operand.
func (p *parser) primary() value {
	switch c := p.peek(0); {
	case c == '\'', c == '"':
		return p.quoted()
	case c == '$':
		return p.dollar()
	case c == '@':
		return p.at()
	case c == '(':
		return p.grouped()
	case c == '{':
		return value{isBlock: true, block: p.enclosed()}
	case c == '[':
		return p.typed()
	case isDigit(c):
		n := 0
		for isNameByte(p.peek(n)) || p.peek(n) == '.' && isDigit(p.peek(n+1)) {
			n++
		}
		return text(p.take(n))
	default:
		return text(p.name())
	}
}

// at takes what begins with an at sign: a list, a table, a text of lines or a
// variable that is spread.
func (p *parser) at() value {
	quote := hereQuote(p.rest())
	p.take(1)
	switch {
	case quote != "":
		return p.lines(quote)
	case p.peek(0) == '(':
		return p.grouped()
	case p.peek(0) == '{':
		return p.r.hash(p.enclosed())
	}
	p.variableName()
	p.r.unread("the words of a command are only known when it runs")
	return unknownValue("")
}

// hash reads what stands between @{ and }: name=value; and so on.
func (r *reader) hash(entries string) value {
	p := &parser{r: r, cursor: cursor{src: entries}}
	var vals []value
	for p.space("\n;"); !p.done() && r.step(1); p.space("\n;") {
		before := p.pos
		p.unary()
		if p.blanks(); p.peek(0) == '=' {
			p.take(1)
			p.space(lineEnds)
			vals = append(vals, p.statement())
		}
		if p.pos == before {
			r.unread("an expression of a form that is not read")
			p.take(1)
		}
	}
	v := r.list(append(vals, value{}))
	v.hash = true
	return v
}

// typed reads what stands behind the name of a type: a static member, or what
// is made one of the type.
func (p *parser) typed() value {
	typ := strings.TrimPrefix(strings.ToLower(strings.TrimSpace(p.enclosed())), "system.")
	if p.has("::") {
		p.take(2)
		name := p.name()
		if name == "" {
			p.r.unread("a function that is not known is called: %s", "["+typ+"]")
			return p.postfix(p.unary())
		}
		if args, ok := p.call(); ok {
			return p.r.static(typ, name, args)
		}
		return unknownValue("")
	}
	if p.blanks(); p.done() || strings.IndexByte("\n;|,)}.=", p.peek(0)) >= 0 || p.operator() != "" {
		return unknownValue("")
	}
	v := p.unary()
	if p.r.t.plain[typ] {
		return v
	}
	if typ == "scriptblock" {
		return p.r.carried(v, "["+typ+"]")
	}
	return madeOf(v, "")
}

// call takes the arguments of a function, if they stand here.
func (p *parser) call() ([]value, bool) {
	switch p.peek(0) {
	case '{':
		return []value{p.primary()}, true
	case '(':
		in := &parser{r: p.r, cursor: cursor{src: p.enclosed()}}
		var args []value
		for in.space("\n,"); !in.done() && p.r.step(1); in.space("\n,") {
			before := in.pos
			args = append(args, in.expression(false))
			if in.pos == before {
				p.r.unread("an expression of a form that is not read")
				in.take(1)
			}
		}
		return args, true
	}
	return nil, false
}

// postfix reads members and elements of a value.
func (p *parser) postfix(v value) value {
	for p.r.step(1) {
		if p.has("++") || p.has("--") {
			p.take(2)
			continue
		}
		if p.peek(0) == '[' {
			p.r.index(p.enclosed())
			v = p.r.indexed(v)
			continue
		}
		lead := p.dots()
		if lead == 0 {
			break
		}
		p.take(lead)
		name := p.name()
		if name == "" {
			p.primary()
			p.call()
			p.r.unread("a function of an object is called that is not known: %s", "")
			v = unknownValue("")
		} else if args, ok := p.call(); ok {
			v = p.r.method(v, name, args)
		} else {
			v = property(v, name)
		}
	}
	return v
}

// dots is the length of what stands before a member, 0 where none follows.
func (p *parser) dots() int {
	lead := 0
	switch {
	case p.has("::"), p.has("?."):
		lead = 2
	case p.peek(0) == '.':
		lead = 1
	}
	if c := p.peek(lead); lead == 0 || isDigit(c) || !isNameByte(c) && (c == 0 || strings.IndexByte("$'\"(", c) < 0) {
		return 0
	}
	return lead
}

// index reads what is run to find an element.
func (r *reader) index(at string) {
	if strings.Contains(at, "(") {
		r.source(at)
	}
}

// indexed is an element of a value.
func (r *reader) indexed(v value) value {
	if v.isNothing() || len(v.items) == 1 && !v.files && !v.hash {
		return madeOf(v, "") // a character of a text
	}
	v.hash = false
	return v.element()
}

// property is a member that is no function.
func property(v value, name string) value {
	switch name = strings.ToLower(name); {
	case v.hash:
		v.hash = false
		return v.element()
	case name == "value", name == "path":
		return v
	case v.files && slices.Contains([]string{"fullname", "pspath", "providerpath", "literalpath", "name", "basename", "pschildname"}, name):
		return v
	}
	return madeOf(v, "")
}

// static reads the call of a type's function.
func (r *reader) static(typ, member string, args []value) value {
	name, key := "["+typ+"]::"+member, typ+"::"+strings.ToLower(member)
	roles, ok := r.t.static[key]
	switch {
	case ok:
		return r.member(name, roles, value{}, args)
	case strings.EqualFold(member, "new"):
		return unknownValue("")
	case !r.t.pure[typ]:
		r.unread("a function that is not known is called: %s", name)
		return unknownValue("")
	case key == "io.path::combine":
		return r.combined(args)
	}
	return madeOf(r.list(append(args, value{})), "")
}

// method reads the call of an object's function.
func (r *reader) method(v value, name string, args []value) value {
	key := strings.ToLower(name)
	if roles, ok := r.t.methods[key]; ok && (!v.isNothing() || !slices.ContainsFunc(roles, func(ro role) bool { return ro.index < 0 })) {
		return r.member(name, roles, v, args)
	}
	for _, a := range args {
		r.each(a, v)
	}
	if !r.t.harmless[key] {
		r.unread("a function of an object is called that is not known: %s", name)
	}
	return madeOf(r.list(append([]value{v}, args...)), "")
}

// named is a member of which only the name is given: what it is of what passes,
// or a function.
func (r *reader) named(v value, name string) value {
	if key := strings.ToLower(name); r.t.harmless[key] && r.t.methods[key] == nil {
		return property(v, name)
	}
	return r.method(v, name, nil)
}

// member does what the table says of a function.
func (r *reader) member(name string, roles []role, self value, args []value) value {
	w := &work{r: r, sp: &spec{name: name}, b: &bound{}, in: self, out: unknownValue(""), rest: map[string]value{}}
	for _, ro := range roles {
		v := self
		if ro.index >= 0 {
			v = arg(args, ro.index)
		}
		w.do(ro.what, v, true)
	}
	w.finish()
	return w.out
}

func arg(args []value, i int) value {
	if i < 0 || i >= len(args) {
		return value{}
	}
	return args[i]
}
