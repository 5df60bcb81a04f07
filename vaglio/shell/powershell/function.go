package powershell

import (
	"slices"
	"strings"
)

// define notes a function and returns how many tokens it has.
func (r *reader) define(toks []token) int {
	n := nextBlock(toks)
	if n < 2 {
		r.unread("a function of a form that is not read")
		return 1
	}
	f := function{body: toks[n].kids}
	for _, t := range toks[2:n] {
		if t.kind == tokGroup {
			f.params = append(f.params, paramNames(t.kids)...)
		}
	}
	for i := range f.body {
		if t := f.body[i]; t.kind == tokWord && strings.EqualFold(t.text, "param") && i+1 < len(f.body) {
			f.params = append(f.params, paramNames(f.body[i+1].kids)...)
			break
		}
	}
	r.funcs[variableName(toks[1].text)] = f
	return n + 1
}

func paramNames(toks []token) []string {
	var names []string
	for _, part := range splitAt(toks, tokComma) {
		for _, t := range part {
			if t.kind == tokVar {
				names = append(names, t.text)
				break
			}
		}
	}
	return names
}

// parameters sets those parameters to their defaults that the caller did not
// set.
func (r *reader) parameters(toks []token) {
	for _, part := range splitAt(toks, tokComma) {
		for i, t := range part {
			if t.kind != tokVar {
				continue
			}
			if _, ok := r.vars[t.text]; !ok && i+1 < len(part) && part[i+1].kind == tokAssign {
				r.vars[t.text] = merged(r.statements(part[i+2:]), one(unknownWord(t.text)))
			}
			break
		}
	}
}

// callFunction runs a function of the source, or a block.
func (r *reader) callFunction(name string, f function, args []argument, in value) value {
	const most = 3 // activations at a time
	if f.active >= most {
		r.unread("a function calls itself")
		return unknownValue(name)
	}
	if name != "" { // a block has no name, and what it nests is bounded anyway
		f.active++
		r.funcs[name] = f
		defer func() {
			f.active--
			r.funcs[name] = f
		}()
	}
	names := slices.Clone(f.params)
	old := map[string]value{}
	set := func(name string, v value) {
		if _, ok := old[name]; !ok {
			old[name] = r.vars[name]
		}
		r.vars[name] = v
	}
	var rest []value
	for i := 0; i < len(args); i++ {
		a := &args[i]
		if k := slices.IndexFunc(names, func(n string) bool { return a.name != "" && strings.HasPrefix(n, a.name) }); k >= 0 {
			v := a.val
			if !a.valued && i+1 < len(args) && args[i+1].name == "" {
				i++
				v = args[i].val
			}
			set(names[k], v)
			names = slices.Delete(names, k, k+1)
			continue
		}
		rest = append(rest, a.val)
		if len(names) > 0 && a.name == "" {
			set(names[0], a.val)
			names = names[1:]
		}
	}
	set("args", list(rest))
	set("_", in.element())
	set("input", in)
	v := r.block(f.body)
	for name, o := range old {
		if r.vars[name] = o; o.isNothing() {
			delete(r.vars, name)
		}
	}
	return v
}
