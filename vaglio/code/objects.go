package code

import (
	"regexp"
	"slices"
	"strings"

	"github.com/metnos/vaglio/vaglio/shell"
)

func slice(p *program, v value, rest []value) value {
	from, ok := first(rest).int()
	if !ok && len(rest) > 0 {
		return unknown("slice()")
	}
	if p.lang.name == "lua" {
		from--
	}
	to, has := nth(rest, 1).int()
	return sliced(v, from, to, has)
}

func literal(p *program, v value, _ []value) value {
	s, ok := v.text()
	if !ok {
		return unknown("parse()")
	}
	if p.evals++; p.evals > maxEvals {
		return unknown("parse()")
	}
	return p.inner().read(shell.Text(s))
}

func pickle(p *program, v value, _ []value) value {
	s, ok := v.text()
	if !ok {
		p.gap(v.word())
		return unknown("loads()")
	}
	if m := applyTag.FindStringSubmatchIndex(s); m != nil {
		return p.call(unknown(s[m[2]:m[3]]), value{}, []value{text(strings.Trim(s[m[1]:], " []\"'\n-"))})
	}
	if strings.HasPrefix(s, "c") && strings.Contains(s, "\n") { // cmodule\nname\n(S'text'\ntR.
		lines := strings.SplitN(s, "\n", 4)
		if len(lines) > 2 {
			mod := map[string]string{"posix": "os"}[lines[0][1:]]
			return p.call(unknown(strings.TrimPrefix(mod+"."+lines[1], ".")), value{}, []value{text(strings.Trim(strings.TrimLeft(lines[2], "(SVU"), "'\""))})
		}
	}
	return unknown("loads()")
}

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

func (p *program) taken(v value, rest []value, n int) value {
	if !v.multi() {
		return unknown(v.path)
	}
	if i, ok := first(rest).int(); ok {
		n = i
	}
	out := v.nth(n)
	if n >= 0 && n < len(v.list) && v.holder != "" && v.kind == kindList {
		holder := v.holder
		v.list = slices.Delete(slices.Clone(v.list), n, n+1)
		p.store(holder, v)
	}
	return out
}

func (p *program) shift(args []value) value {
	name, list := "@ARGV", value{}
	if len(args) > 0 {
		name, list = args[0].holder, args[0]
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
	var out []value
	for _, k := range v.keys {
		out = append(out, text(k))
	}
	if v.kind != kindMap {
		return unknown(v.path + ".keys()")
	}
	return listOf(out...)
}

func (v value) pairs(*program) value {
	if !v.multi() {
		u := unknown(v.path)
		if len(v.alts) > 0 {
			u.alts = v.alts
		}
		return listOf(listOf(unknown(v.path), u))
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

func applied(p *program, v value, rest []value) value {
	name, ok := v.text()
	if !ok {
		name = v.path
	}
	if p.lang.name == "node" {
		rest = tailOf(rest, 1)
	}
	if name == "" && v.fn == nil {
		return unknown("")
	}
	if v.fn == nil {
		v = unknown(name)
	}
	if len(rest) == 1 && rest[0].multi() {
		if p.lang.name == "node" {
			return p.call(v, value{}, rest[0].list)
		}
		return p.eachOf(v, value{}, rest)
	}
	return p.call(v, value{}, rest)
}

func getattr(_ *program, v value, rest []value) value {
	name, ok := first(rest).text()
	if !ok || v.path == "" {
		return unknown("getattr()")
	}
	return unknown(v.path + "." + name)
}

func environment(p *program, args []value) value {
	if len(args) == 0 {
		return unknown("environment")
	}
	v := p.env(args[0])
	if len(args) > 1 && v.word().HasUnknown() {
		v = v.or(args[1])
	}
	return v
}

func (p *program) substituted() value {
	table := p.take().text != "s///"
	if !p.is("(") {
		return value{}
	}
	p.take()
	args := p.items(")")
	v := p.subject
	if len(v.alts) == 0 && v.holder == "" {
		v = p.vars["$_"]
		v.holder = "$_"
	}
	holder := v.holder
	pattern, _ := first(args).text()
	if table {
		v = translate(p, v, []value{maketrans(p, text(ranges(pattern)), []value{text(ranges(nth(args, 1).word().Prefix()))})})
	} else {
		re, err := regexp.Compile(pattern)
		with, known := nth(args, 1).text()
		flags, _ := nth(args, 2).text()
		v = v.each(func(s string) (string, bool) {
			if err != nil || !known || strings.ContainsAny(with, "$") {
				return "", false
			}
			if strings.Contains(flags, "g") {
				return re.ReplaceAllLiteralString(s, with), true
			}
			if at := re.FindStringIndex(s); at != nil {
				s = s[:at[0]] + with + s[at[1]:]
			}
			return s, true
		})
	}
	p.store(holder, v)
	v.holder = holder
	return v
}

// ranges spells a-z of tr out.
