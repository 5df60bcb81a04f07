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
	f := function{body: toks[n].kids, params: blockParams(toks[n].kids)}
	for _, t := range toks[2:n] {
		if t.kind == tokGroup {
			f.params = append(f.params, paramNames(t.kids)...)
		}
	}
	r.funcs[variableName(toks[1].text)] = f
	return n + 1
}

// blockParams are the names of a block's parameters, which stand at its
// beginning.
func blockParams(body []token) []string {
	const most = 64 // tokens of attributes before them
	for i := range body[:min(most, len(body))] {
		if body[i].kind == tokWord && strings.EqualFold(body[i].text, "param") && i+1 < len(body) {
			return paramNames(body[i+1].kids)
		}
	}
	return nil
}

func paramNames(toks []token) []string {
	const most = 1000 // tokens; parameters beyond them are variables that are not known
	var names []string
	for _, part := range splitAt(toks[:min(most, len(toks))], tokComma) {
		if i := slices.IndexFunc(part, func(t token) bool { return t.kind == tokVar }); i >= 0 {
			names = append(names, part[i].text)
		}
	}
	return names
}

// parameters sets those parameters to their defaults that the caller did not
// set.
func (r *reader) parameters(toks []token) {
	if !r.step(1 + len(toks)) {
		return
	}
	for _, part := range splitAt(toks, tokComma) {
		i := slices.IndexFunc(part, func(t token) bool { return t.kind == tokVar })
		if i < 0 || i+1 >= len(part) || part[i+1].kind != tokAssign {
			continue
		}
		name := part[i].text
		if _, ok := r.vars[name]; !ok {
			r.vars[name] = r.merged(r.statements(part[i+2:]), one(unknownWord(name)))
		}
	}
}

// callFunction runs a function of the source, or a block, which has no name.
func (r *reader) callFunction(name string, f function, args []argument, in value) value {
	const most = 3 // activations at a time
	if f.active >= most {
		r.unread("a function calls itself")
		return unknownValue(name)
	}
	if !r.step(1 + len(f.params)*(1+len(args))) {
		return unknownValue(name)
	}
	if name != "" {
		f.active++
		r.funcs[name] = f
		defer func() {
			f.active--
			r.funcs[name] = f
		}()
	}
	vals, rest := matched(f.params, args)
	vals["args"], vals["_"], vals["input"] = r.list(rest), in.element(), in
	old := map[string]value{}
	for name, v := range vals {
		old[name] = r.vars[name]
		r.vars[name] = v
	}
	v := r.statements(f.body)
	for name, o := range old {
		if r.vars[name] = o; o.isNothing() {
			delete(r.vars, name)
		}
	}
	return v
}

// matched gives the words of a call to parameters, by name or by place.
func matched(names []string, args []argument) (vals map[string]value, rest []value) {
	vals = map[string]value{}
	names = slices.Clone(names)
	for len(args) > 0 {
		a := args[0]
		args = args[1:]
		k := slices.IndexFunc(names, func(n string) bool { return a.name != "" && strings.HasPrefix(n, a.name) })
		switch {
		case k >= 0:
			if !a.valued && len(args) > 0 && args[0].name == "" {
				a.val, args = args[0].val, args[1:]
			}
			vals[names[k]] = a.val
			names = slices.Delete(names, k, k+1)
			continue
		case len(names) > 0 && a.name == "":
			vals[names[0]] = a.val
			names = names[1:]
		}
		rest = append(rest, a.val)
	}
	return vals, rest
}
