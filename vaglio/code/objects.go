package code

import "slices"

// grow adds elements to a list that a variable holds.
func (p *program) grow(v value, rest []value) value {
	if !v.multi() && len(v.alts) > 0 {
		return v
	}
	list := slices.Clone(v.list)
	for _, r := range rest {
		list = spreadInto(list, r)
	}
	holder := v.holder
	v = listOf(list[:min(len(list), maxList)]...)
	if len(list) > maxList {
		v.list = append(v.list, unknown(""))
	}
	p.store(holder, v)
	v.holder = holder
	return v
}

// taken removes an element from a list and returns it.
func (p *program) taken(v value, rest []value, n int) value {
	if !v.multi() {
		return unknown(v.path)
	}
	if i, ok := first(rest).int(); ok {
		n = i
	}
	out := v.nth(n)
	if n >= 0 && n < len(v.list) && v.holder != "" && v.kind == kindList {
		v.list = slices.Delete(slices.Clone(v.list), n, n+1)
		p.store(v.holder, v)
	}
	return out
}

// shift is shift of perl: of a list, a function's arguments or the program's.
func (p *program) shift(args []value) value {
	name, list := "@ARGV", first(args)
	if len(args) > 0 {
		name = list.holder
	} else if len(p.returns) > 0 {
		name = "@_"
	}
	if !list.multi() {
		if v, ok := p.variable(name); ok {
			list = v
		}
	}
	list.holder = name
	return p.taken(list, nil, 0)
}

func (v value) keyList() value {
	if v.kind != kindMap {
		return unknown(v.path + ".keys()")
	}
	var out []value
	for _, k := range v.keys {
		out = append(out, text(k))
	}
	return listOf(out...)
}

// pairs are the keys of a map, or the places of a list, with what stands there.
func (v value) pairs() value {
	if !v.multi() {
		return listOf(listOf(unknown(v.path), value{path: v.path, alts: v.alts}))
	}
	var out []value
	for i, e := range v.list {
		k := number(i)
		if i < len(v.keys) && v.kind == kindMap {
			k = text(v.keys[i])
		}
		out = append(out, listOf(k, e))
	}
	return listOf(out...)
}

// perlMap is map { … } @list.
func (p *program) perlMap(args []value) value {
	f := first(args)
	var in, out []value
	for _, a := range tailOf(args, 1) {
		in = append(in, a.elements()...)
	}
	if f.fn == nil {
		return listOf(in...)
	}
	for _, e := range in[:min(len(in), maxList)] {
		p.vars["$_"] = e
		v := p.invoke(f.fn, []value{e})
		if v.path == "chr" {
			v = characters([]value{e})
		}
		out = append(out, v)
	}
	v := listOf(out...)
	v.spread = true
	return v
}
