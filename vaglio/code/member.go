package code

import (
	"slices"
	"strings"

	"github.com/metnos/vaglio/vaglio/shell"
)

// postfix applies members, subscripts and calls.
func (p *program) postfix(v value) value {
	for p.at < p.end && p.spend(1) {
		t := p.peek(0)
		if t.kind != tokenOp && t.kind != tokenString && t.kind != tokenNumber && t.kind != tokenName {
			break
		}
		switch {
		case p.memberFollows(t):
			p.take()
			name := p.take().text
			v = p.member(v, name)
		case t.text == "(" && t.kind == tokenOp && !t.group && (v.path != "" || v.fn != nil || p.callable(v)):
			p.take()
			v = p.call(v, value{}, p.callArguments())
		case t.text == "->" && p.peek(1).kind == tokenOp && strings.Contains("[{(", p.peek(1).text):
			p.take()
		case t.text == "[" && t.kind == tokenOp && p.subscripted(v, t):
			v = p.subscript(v, "]")
		case t.text == "{" && p.lang.name == "perl" && strings.HasPrefix(v.holder, "$") || t.text == "{" && v.path == "$ENV":
			v = p.subscript(v, "}")
		case p.lang.name == "node" && strings.HasSuffix(v.path, "$") && (t.kind == tokenString || t.group && t.text == "("):
			v = p.call(v, value{}, []value{p.primary()})
		case p.bareCall(v):
			v = p.call(v, value{}, p.bareArguments())
		case p.continued() && p.peek(1).text != "+":
			p.take()
		default:
			return p.constant(v)
		}
	}
	if p.bareCall(v) {
		v = p.call(v, value{}, nil)
	}
	return p.constant(v)
}

// memberFollows reports whether a member of what was read follows.
func (p *program) memberFollows(t token) bool {
	if p.peek(1).kind != tokenName || t.kind != tokenOp {
		return false
	}
	switch t.text {
	case ".":
		return !slices.Contains(p.lang.concat, ".")
	case "->", "::", "?.":
		return true
	case ":":
		return p.lang.name == "lua"
	}
	return false
}

func (p *program) subscripted(v value, t token) bool {
	return !t.line && (v.path != "" || v.multi() || len(v.alts) > 0) && (!p.lang.has("bare") || t.tight)
}

func (p *program) callable(v value) bool {
	s, ok := v.text()
	return ok && v.holder != "" && (p.lang.name == "php" || p.lang.name == "perl") && p.lang.full[s] != nil || ok && p.lang.name == "php" &&
		p.lang.full[s] != nil
}

// member reads .name and what may be called by it.
func (p *program) member(v value, name string) value {
	on := p.canonical(v.path)
	if f := p.lang.full[on]; f != nil && len(v.alts) == 0 && !v.multi() {
		switch {
		case f.verb == "=args":
			v, on = p.constant(v), ""
		case f.verb == "=env" && !p.is("(") && p.lang.name == "node":
			return p.env(text(name))
		}
	}
	full := strings.TrimPrefix(on+"."+name, ".")
	holder := name
	if v.holder != "" {
		holder = v.holder + "." + name
	} else if v.path != "" {
		holder = full
	}
	if p.is("(") && !p.peek(0).group && (p.peek(0).tight || !p.lang.has("bare")) {
		p.take()
		return p.method(v, name, full, p.callArguments())
	}
	if e, ok := v.field(name); ok {
		e.holder = holder
		return e
	}
	for _, key := range []string{holder, "." + name} {
		if e, ok := p.vars[key]; ok {
			e.holder = holder
			return e
		}
	}
	if p.lang.has("bare") && (p.blockFollows() || p.argumentFollows() && p.lang.find(full, onOf(v)) != nil) {
		return p.method(v, name, full, p.bareArguments())
	}
	if f := p.lang.find(full, onOf(v)); f != nil && p.plainCall(f, v, name) {
		return p.method(v, name, full, nil)
	}
	if v.path != "" || !v.multi() && len(v.alts) == 0 {
		out := unknown(full)
		out.holder = holder
		if v.word().Remote() {
			out.alts = remote(full).alts
		}
		return out
	}
	return value{path: name, alts: v.alts, list: v.list, keys: v.keys, kind: v.kind}
}

// onOf says what a method is of.
func onOf(v value) string {
	switch {
	case v.kind == kindPath:
		return onPath
	case v.multi() || v.kind == kindNumber || v.kind == kindOther || len(v.alts) > 0 && !v.word().IsUnknown():
		return onText
	}
	return onUnknown
}

// canonical is the name by which the table knows a function.
func (p *program) canonical(name string) string {
	if head, rest, ok := strings.Cut(name, "."); ok || p.lang.alias[name] != "" {
		for _, from := range []string{name, name[:max(strings.LastIndexByte(name, '.'), 0)], head} {
			if to := p.lang.alias[from]; to != "" {
				name = to + strings.TrimPrefix(name, from)
				break
			}
		}
		_ = rest
	}
	return name
}

// subscript reads [key] or {key}.
// slice reads [a:b], [::-1] and [a..b].
func (p *program) subscript(v value, shut string) value {
	if f := p.lang.full[p.canonical(v.path)]; f != nil && f.verb == "=args" {
		v = p.constant(v)
	}
	end := int(p.peek(0).match)
	p.take()
	if p.peek(0).kind == tokenOp && p.peek(0).text == shut {
		p.take()
		return v
	}
	var at value
	if t := p.peek(0); t.kind == tokenName && shut == "}" && p.peek(1).text == "}" && !strings.HasPrefix(t.text, "$") {
		at = text(p.take().text)
	} else if !p.is(":", "::") {
		at = p.expression()
	}
	if p.is(":", "::", ",", "..") {
		return p.slice(v, at, end)
	}
	p.close(end)
	out := p.index(v, at)
	if k, ok := at.text(); ok && v.holder != "" && !strings.Contains(v.holder, "\x00") {
		out.holder = v.holder + "\x00" + k
	}
	return out
}

func (p *program) slice(v, from value, end int) value {
	op := p.take().text
	var to, step value
	if !p.is("]", ":", "::") {
		to = p.expression()
	}
	if op == "::" {
		step, to = to, value{}
	} else if p.is(":") {
		p.take()
		step = p.expression()
	}
	p.close(end)
	if n, ok := step.int(); ok && n == -1 {
		return reversed(p, v, nil)
	}
	a, _ := from.int()
	b, ok := to.int()
	switch op {
	case "..":
		b++
		ok = ok && b != 0
	case ",":
		b += a
	}
	return sliced(v, a, b, ok)
}

// sliced is a stretch of a text or a list.
func sliced(v value, from, to int, has bool) value {
	cut := func(n int) (int, int) {
		a, b := from, to
		if !has {
			b = n
		}
		if a < 0 {
			a += n
		}
		if b < 0 {
			b += n
		}
		a = max(min(a, n), 0)
		return a, max(min(b, n), a)
	}
	if v.multi() {
		a, b := cut(len(v.list))
		out := listOf(v.list[a:b]...)
		return out
	}
	return v.each(func(s string) (string, bool) {
		a, b := cut(len(s))
		return s[a:b], true
	})
}

// index is an element.
func (p *program) index(v, at value) value {
	key, ok := at.text()
	path := p.canonical(v.path)
	if f := p.lang.find(path, ""); f != nil && v.path != "" {
		switch f.verb {
		case "=env":
			return p.env(at)
		case "=args":
			v = p.arguments(f.args[0] + 1)
		case "list":
			return p.apply(f, path, []value{at}, nil)
		}
	}
	if path == "Dir" {
		return p.call(unknown("Dir.[]"), value{}, []value{at})
	}
	if e, found := v.field(key); found && ok {
		return e
	}
	n, isInt := at.int()
	if p.lang.has("flat") && v.kind == kindList && ok && !isInt {
		for i := len(v.list) - 2; i >= 0; i-- { // a map is a list of keys and values
			if v.list[i].word().Is(key) {
				return v.list[i+1]
			}
		}
	}
	switch {
	case isInt && v.kind == kindList:
		if p.lang.has("fromone") || p.lang.name == "awk" && v.path == "" {
			n--
		}
		return v.nth(n)
	case v.multi():
		var all value
		for i, e := range v.list {
			if i == 0 {
				all = e
			} else {
				all = all.or(e)
			}
		}
		return all
	case isInt && len(v.alts) > 0 && v.path == "":
		return sliced(v, n, n+1, n != -1)
	case v.path != "" && ok:
		return unknown(v.path + "." + key)
	}
	out := unknown(v.path)
	if v.word().Remote() {
		out.alts = remote(v.path).alts
	}
	return out
}

// constant is the value of a name that stands for something known.
func (p *program) constant(v value) value {
	if v.path == "" || v.multi() || len(v.alts) > 0 || v.fn != nil {
		return v
	}
	f := p.lang.find(p.canonical(v.path), "")
	if f == nil || f.verb[0] != '=' {
		return v
	}
	switch f.verb {
	case "=args", "=root", "=self", "=input":
		out := p.apply(f, v.path, nil, nil)
		out.holder = v.holder
		return out
	case "=home":
		if p.lang.name == "ruby" {
			return p.apply(f, v.path, nil, nil)
		}
	}
	return v
}

// env is the value of an environment variable.
func (p *program) env(name value) value {
	s, ok := name.text()
	if !ok {
		return unknown("environment")
	}
	return textOf(p.in.Env(s))
}

// fill puts the words that are not known back into a text.
func (p *program) fill(s string) shell.Word {
	if !strings.Contains(s, markOpen) {
		return shell.Text(s)
	}
	return p.unmark(s)
}

// plainCall reports whether a member without brackets is a call: every method
// of ruby, and what a path is made of elsewhere.
func (p *program) plainCall(f *function, v value, name string) bool {
	if p.lang.name == "ruby" {
		return len(v.alts) > 0 || v.multi() || v.kind == kindPath || f.verb != "shell" && f.verb != "exec"
	}
	if v.kind != kindPath {
		return false
	}
	return p.lang.path[name] == f || f.verb[0] == '=' && (p.lang.method[name] == f || !p.lang.has("class"))
}
