package powershell

import (
	"slices"
	"strings"
)

// function is one that the source defines. Its body is read when it is called,
// with what the variables hold then.
type function struct {
	head, body string
	active     bool
}

// frame is a call of a function while its body is read.
type frame struct {
	args []argument
	old  map[string]value // what the names that it sets held before
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

// callFunction runs a function of the source.
func (r *reader) callFunction(f *function, args []argument, in value) value {
	if f.active {
		r.unread("a function calls itself")
		return unknownValue("")
	}
	outer := r.frame
	r.frame = &frame{args: args, old: map[string]value{}}
	f.active = true
	defer func() {
		for name, v := range r.frame.old {
			if r.vars[name] = v; v.isNothing() {
				delete(r.vars, name)
			}
		}
		r.frame, f.active = outer, false
	}()
	r.local("args", r.list(values(args)))
	r.local("input", in)
	r.local("_", in.element())
	if f.head != "" {
		r.parameters(f.head)
	}
	return r.within(func(at *place) { at.conditional = true }, func() value { return r.source(f.body) })
}

func values(args []argument) []value {
	out := make([]value, len(args))
	for i := range args {
		out[i] = args[i].val
	}
	return out
}

// local sets a variable for the function that is read, if one is.
func (r *reader) local(name string, v value) {
	if r.frame != nil {
		if _, ok := r.frame.old[name]; !ok {
			r.frame.old[name] = r.vars[name]
		}
	}
	r.vars[name] = v
}

// parameters sets the parameters of a function or of a block to what they were
// given, or else to what they may be.
func (r *reader) parameters(head string) {
	p := &parser{r: r, cursor: cursor{src: head}}
	var names []string
	for p.space("\n,"); !p.done() && r.step(1); p.space("\n,") {
		switch p.peek(0) {
		case '[':
			p.enclosed()
		case '$':
			p.take(1)
			name := variableName(p.variableName())
			v := one(unknownWord(name))
			if p.space(lineEnds); p.peek(0) == '=' {
				p.take(1)
				v = r.merged(p.expression(false), v)
			}
			r.local(name, v)
			names = append(names, name)
		default:
			r.unread("a function of a form that is not read")
			p.take(1)
		}
	}
	if r.frame == nil || len(r.frame.args) == 0 {
		return
	}
	for name, v := range matched(names, r.frame.args) {
		r.local(name, v)
	}
	r.frame.args = nil
}

// matched gives the words of a call to parameters, by name or by place.
func matched(names []string, args []argument) map[string]value {
	vals := map[string]value{}
	for len(args) > 0 && len(names) > 0 {
		a, k := args[0], 0
		args = args[1:]
		if a.name != "" {
			k = slices.IndexFunc(names, func(n string) bool { return strings.HasPrefix(n, a.name) })
			a.val, args = a.given(args)
		}
		if k >= 0 {
			vals[names[k]] = a.val
			names = slices.Delete(slices.Clone(names), k, k+1)
		}
	}
	return vals
}
