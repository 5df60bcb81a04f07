package powershell

// function is one that the source defines. Its body is read when it is called,
// with what the variables hold then; what it is given is not followed.
type function struct {
	head, body string
	active     bool
}

// define notes a function.
func (p *parser) define() bool {
	start := p.pos
	for p.name() != "" || p.peek(0) == '-' || p.peek(0) == ':' {
		if p.peek(0) == '-' || p.peek(0) == ':' {
			p.take(1)
		}
	}
	name := variableName(p.src[start:p.pos])
	f, ok := &function{}, false
	if p.space(lineEnds); p.peek(0) == '(' {
		f.head = p.enclosed()
	}
	if f.body, ok = p.block(); name == "" || !ok {
		p.r.unread("a function of a form that is not read")
		return false
	}
	p.r.funcs[name] = f
	return true
}

// callFunction runs a function of the source, or a block.
func (r *reader) callFunction(f *function, in value) value {
	if f.active {
		r.unread("a function calls itself")
		return unknownValue("")
	}
	f.active = true
	defer func() { f.active = false }()
	delete(r.vars, "args")
	r.vars["input"] = in
	r.parameters(f.head)
	return r.each(value{isBlock: true, block: f.body}, in)
}

// parameters forgets what the names of parameters stood for, and reads what is
// run to find their defaults.
func (r *reader) parameters(head string) {
	p := &parser{r: r, cursor: cursor{src: head}}
	for p.space("\n,"); !p.done() && r.step(1); p.space("\n,") {
		switch p.peek(0) {
		case '[':
			p.enclosed()
		case '$':
			p.take(1)
			delete(r.vars, variableName(p.variableName()))
			if p.space(lineEnds); p.peek(0) == '=' {
				p.take(1)
				p.expression(false)
			}
		default:
			r.unread("a function of a form that is not read")
			p.take(1)
		}
	}
}
