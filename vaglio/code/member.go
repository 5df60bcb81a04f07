package code

import (
	"slices"
	"strings"

	"github.com/metnos/vaglio/vaglio/shell"
)

// postfix applies members, subscripts and calls.
func (p *program) postfix(v value) value {
	for p.at < p.end && p.spend(1) {
		out, ok := p.suffixed(v)
		if !ok {
			return p.constant(v)
		}
		v = out
	}
	if p.bareCall(v) {
		v = p.call(v, value{}, nil)
	}
	return p.constant(v)
}

// suffixed applies the member, subscript or call that stands here, if one does.
func (p *program) suffixed(v value) (value, bool) {
	t := p.peek(0)
	switch shut := p.subscripted(v, t); {
	case p.memberFollows(t):
		p.take()
		return p.member(v, p.take().text), true
	case p.callFollows(v, t):
		p.take()
		return p.call(v, value{}, p.callArguments()), true
	case t.text == "->" && p.peek(1).is("[", "{", "("):
		p.take()
		return v, true
	case shut != "":
		return p.subscript(v, shut), true
	case p.lang.name == "node" && strings.HasSuffix(v.path, "$") && t.quoted():
		return p.call(v, value{}, []value{p.primary()}), true
	case p.bareCall(v):
		return p.call(v, value{}, p.bareArguments()), true
	case p.continued() && p.peek(1).text != "+":
		p.take()
		return v, true
	}
	return v, false
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

// callFollows reports whether the bracket of a call of what was read follows.
func (p *program) callFollows(v value, t token) bool {
	return t.is("(") && !t.group && (v.path != "" || v.fn != nil || p.callable(v))
}

// subscripted is what closes the subscript that follows what was read, "" for
// none.
func (p *program) subscripted(v value, t token) string {
	switch {
	case t.is("[") && !t.line && (v.path != "" || v.multi() || len(v.alts) > 0) && (!p.lang.has("bare") || t.tight):
		return "]"
	case t.text == "{" && (p.lang.name == "perl" && strings.HasPrefix(v.holder, "$") || v.path == "$ENV"):
		return "}"
	}
	return ""
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
	return p.memberOf(v, name, strings.TrimPrefix(on+"."+name, "."))
}

// memberOf is what a method yields, what a field was given, or the full name
// of what is not known.
func (p *program) memberOf(v value, name, full string) value {
	if t := p.peek(0); t.is("(") && !t.group && (t.tight || !p.lang.has("bare")) {
		p.take()
		return p.method(v, name, full, p.callArguments())
	}
	holder := name
	if v.holder != "" {
		holder = ending(v.holder + "." + name)
	} else if v.path != "" {
		holder = full
	}
	if e, ok := p.stored(v, name, holder); ok {
		e.holder = holder
		return e
	}
	if args, ok := p.bareMember(v, name, full); ok {
		return p.method(v, name, full, args)
	}
	if v.path != "" || !v.multi() && len(v.alts) == 0 {
		out := v.part(full)
		out.holder = holder
		return out
	}
	return value{path: name, alts: v.alts, list: v.list, keys: v.keys, kind: v.kind}
}

// stored is what a field was given: in its map, under the name of the object,
// or under its own.
func (p *program) stored(v value, name, holder string) (value, bool) {
	e, ok := v.field(name)
	for _, key := range []string{holder, "." + name} {
		if !ok {
			e, ok = p.vars[key]
		}
	}
	return e, ok
}

// bareMember reads the arguments of a method that is called without brackets.
func (p *program) bareMember(v value, name, full string) (args []value, ok bool) {
	f := p.lang.find(full, onOf(v))
	if p.lang.has("bare") && (p.blockFollows() || f != nil && p.argumentFollows()) {
		return p.bareArguments(), true
	}
	return nil, f != nil && p.plainCall(f, v, name)
}

// part is what is not known of a value: it is as remote as the whole.
func (v value) part(path string) value {
	if v.word().Remote() {
		return remote(path)
	}
	return unknown(path)
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
	head, _, _ := strings.Cut(name, ".")
	for _, from := range []string{name, name[:max(strings.LastIndexByte(name, '.'), 0)], head} {
		if to := p.lang.alias[from]; to != "" {
			return to + strings.TrimPrefix(name, from)
		}
	}
	return name
}

// subscript reads [key] or {key}.
func (p *program) subscript(v value, shut string) value {
	if f := p.lang.full[p.canonical(v.path)]; f != nil && f.verb == "=args" {
		v = p.constant(v)
	}
	end := int(p.peek(0).match)
	p.take()
	if p.takeIf(p.is(shut)) {
		return v
	}
	at := p.place(shut)
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

// place reads the key of a subscript; in braces, a word stands for itself.
func (p *program) place(shut string) value {
	switch t := p.peek(0); {
	case t.kind == tokenName && shut == "}" && p.peek(1).text == "}" && !strings.HasPrefix(t.text, "$"):
		return text(p.take().text)
	case p.is(":", "::"):
		return value{}
	}
	return p.expression()
}

// slice reads [a:b], [::-1] and [a..b].
func (p *program) slice(v, from value, end int) value {
	op := p.take().text
	var to, step value
	if !p.is("]", ":", "::") {
		to = p.expression()
	}
	if op == "::" {
		step, to = to, value{}
	} else if p.takeIf(p.is(":")) {
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
		return listOf(v.list[a:b]...)
	}
	return v.each(func(s string) (string, bool) {
		a, b := cut(len(s))
		return s[a:b], true
	})
}

// index is an element, of a value or of what the table knows by its name.
func (p *program) index(v, at value) value {
	path := p.canonical(v.path)
	if f := p.lang.find(path, ""); f != nil && v.path != "" {
		switch f.verb {
		case "=env":
			return p.env(at)
		case "=args":
			return p.element(p.arguments(f.args[0]+1), at)
		case "list":
			return p.apply(f, path, []value{at}, nil)
		}
	}
	if path == "Dir" {
		return p.call(unknown("Dir.[]"), value{}, []value{at})
	}
	return p.element(v, at)
}

// element is an element of a list or a map, or what any of them may be; of a
// text, a character.
func (p *program) element(v, at value) value {
	key, ok := at.text()
	n, isInt := at.int()
	switch {
	case v.multi():
		return p.elementOf(v, at)
	case isInt && len(v.alts) > 0 && v.path == "":
		return sliced(v, n, n+1, n != -1)
	case v.path != "" && ok:
		return unknown(v.path + "." + key)
	}
	return v.part(v.path)
}

// elementOf is the element of a list or a map under a number or a key.
func (p *program) elementOf(v, at value) value {
	key, ok := at.text()
	n, isInt := at.int()
	e, found := v.field(key)
	if !found && p.lang.has("flat") && !isInt {
		e, found = v.paired(key)
	}
	switch {
	case found && ok:
		return e
	case isInt && v.kind == kindList:
		if p.lang.has("fromone") || p.lang.name == "awk" && v.path == "" {
			n--
		}
		return v.nth(n)
	}
	return anyOf(v.list)
}

// paired is what stands behind a key in a list of keys and values.
func (v value) paired(key string) (value, bool) {
	for i := len(v.list) - 2; i >= 0 && v.kind == kindList; i-- {
		if v.list[i].word().Is(key) {
			return v.list[i+1], true
		}
	}
	return value{}, false
}

// anyOf is what may be any of some values.
func anyOf(list []value) value {
	all := first(list)
	for _, e := range tailOf(list, 1) {
		all = all.or(e)
	}
	return all
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
