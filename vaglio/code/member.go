package code

import (
	"math"
	"strings"

	"github.com/metnos/vaglio/vaglio/shell"
)

// postfix applies members, subscripts and calls.
func (p *program) postfix(v value) value {
	for p.at < p.end && p.spend(1) {
		switch t := p.peek(0); {
		case p.memberFollows(t, p.peek(1)):
			p.take()
			v = p.changed(v, p.take())
		case p.callFollows(v, t):
			p.take()
			v = p.calledWith(v, p.callArguments)
		case p.countsUp(v, t):
			return value{kind: kindOther}
		case p.joint():
			p.take()
		case p.subscriptFollows(v, t):
			v = p.subscript(v)
		case p.templated(v, t):
			v = p.call(tagOf(v), value{}, []value{p.primary()})
		case p.bareCall(v):
			v = p.calledWith(v, p.bareArguments)
		default:
			return p.constant(p.stands(v))
		}
	}
	if p.bareCall(v) {
		v = p.call(v, value{}, nil)
	}
	return p.constant(v)
}

// joint reports whether the next token joins a subscript, a call or a member on the next line to what was read.
func (p *program) joint() bool {
	next := p.peek(1)
	return p.is("!") && p.lang.name == "node" && next.Is(")", "]", "}", ",", ";", ".", "[") ||
		p.is("->") && next.Is("[", "{", "(") || p.continued()
}

// memberFollows reports whether a member of what was read follows.
func (p *program) memberFollows(t, next token) bool {
	return next.Word() && (t.Is("->", "::", "?.") || t.Is(".") && !p.lang.has("dotjoins") || t.Is(":") && p.lang.name == "lua")
}

// subscriptFollows reports whether a subscript of what was read follows.
func (p *program) subscriptFollows(v value, t token) bool {
	return t.Is("[") && !t.Line && (v.path != "" || v.multi() || len(v.alts) > 0) && (!p.lang.has("bare") || t.Tight) ||
		t.Is("{") && (p.lang.name == "perl" && strings.HasPrefix(v.holder, "$") || v.path == "$ENV")
}

// templated reports whether a template text is given to a function: $`ls`, sql`DELETE …`.
func (p *program) templated(v value, t token) bool {
	return t.Quoted() && p.lang.name == "node" && (v.holder == "$" || v.path != "" && (t.Tight || strings.HasSuffix(v.path, "$")))
}

// tagOf returns what is given a template text: a shell if it is $ or Bun.$.
func tagOf(v value) value {
	if v.holder == "$" || strings.HasSuffix(v.path, "$") {
		return unknown("$")
	}
	return v
}

// callFollows reports whether the bracket of a call follows. In php and perl the text of a name may be called as well.
func (p *program) callFollows(v value, t token) bool {
	if !t.Is("(") || t.Group {
		return false
	}
	s, ok := v.text()
	return v.path != "" || v.fn != nil || ok && (p.lang.name == "php" || p.lang.name == "perl" && v.holder != "") && p.lang.full[s] != nil
}

// member reads .name, and a call of it if one follows.
func (p *program) member(v value, name string) value {
	on := p.canonical(v.path)
	switch verb := p.yielded(v, on); {
	case verb == "=args":
		v, on = p.constant(v), ""
	case verb == "=env" && !p.is("(") && p.lang.name == "node":
		return p.envMember(on+"."+name, name)
	}
	if v.file.feeds(name) {
		return v // what is written there is written to the command
	}
	full := ending(strings.TrimPrefix(on+"."+name, "."))
	holder := p.holder(v, name, full)
	if args, ok := p.methodArguments(v, name, full, holder); ok {
		return p.method(v, name, full, args)
	}
	e, ok := p.stored(v, name, holder)
	if also, is := p.ofObject(v, name); is {
		if ok {
			also = also.or(e)
		}
		e, ok = also, true
	}
	if !ok {
		e, ok = p.parsedOption(on, name)
	}
	if !ok {
		e, ok = p.fromModule(full)
	}
	if !ok {
		return v.line(p.missing(v, name, full, holder)) // all that a command has printed, if this is known
	}
	e.holder = holder
	return e
}

// holder returns what holds a member of a value.
func (p *program) holder(v value, name, full string) string {
	switch {
	case v.multi() && v.of != "" && strings.Contains(v.holder, "\x00"):
		return p.noted(v) + "\x00" + name
	case v.holder != "":
		return ending(v.holder + "." + name)
	case v.path != "":
		return full
	}
	return name
}

// yielded returns the operation that the name of a value stands for, if any.
func (p *program) yielded(v value, name string) string {
	if f := p.lang.full[name]; f != nil && !v.given() {
		return f.verb
	}
	return ""
}

// methodArguments reads the arguments of a method, if one is called here: with brackets or, if the table knows it, without.
func (p *program) methodArguments(v value, name, full, holder string) (args []value, ok bool) {
	bare := p.lang.has("bare")
	if t := p.peek(0); t.Is("(") && !t.Group && (t.Tight || !bare) {
		p.take()
		return p.callArguments(), true
	}
	if _, ok := p.stored(v, name, holder); ok {
		return nil, false
	}
	f := p.lang.find(full, onOf(v))
	if !bare {
		return nil, p.plainCall(f, v, name)
	}
	declares := p.lang.options.call(full) != nil
	if p.blockFollows() || (f != nil || declares) && p.argumentFollows() {
		return p.bareArguments(), true
	}
	return nil, declares || p.plainCall(f, v, name)
}

// ownMethod returns a function that the program defines and a method's name means: of that name if the table does not know it, or any that it has put there.
func (p *program) ownMethod(v value, name, full string, free bool) value {
	if f := p.fns[name]; f != nil && free && !p.taken(full) {
		return value{fn: f}
	}
	e, _ := p.stored(v, name, full)
	return e
}

// plainCall reports whether a member without brackets is a call: every ruby method, and elsewhere what a path offers.
func (p *program) plainCall(f *function, v value, name string) bool {
	if f == nil {
		return p.lang.name == "ruby" && (p.altering(name) || !p.argumentFollows() && p.mayChangeBy(name))
	}
	if p.lang.name == "ruby" {
		return v.given() || f.verb != "shell" && f.verb != "exec"
	}
	return v.kind == kindPath && (p.lang.path[name] == f || f.verb[0] == '=' && (p.lang.method[name] == f || !p.lang.has("class")))
}

// onOf says what kind of object a method is called on.
func onOf(v value) string {
	switch {
	case v.kind == kindPath:
		return onPath
	case v.multi() || v.kind == kindNumber || v.kind == kindOther || len(v.alts) > 0 && !v.word().IsUnknown():
		return onText
	}
	return onUnknown
}

// canonical returns the name that the table knows a function by.
func (p *program) canonical(name string) string {
	for end, at := len(name), 0; end > 0; end = at {
		at = max(strings.LastIndexByte(name[:end], '.'), 0)
		to, is := p.lang.alias[name[:end]]
		_, through := p.lang.alias[name[at:end]]
		switch {
		case to != "":
			return to + name[end:]
		case is && end < len(name): // it holds what has a name of its own
			return p.canonical(name[end+1:])
		case through && at > 0: // it stands for what it is of
			return p.canonical(name[:at] + name[end:])
		}
	}
	return name
}

// subscript reads [key], {key}, [a:b] or [a..b].
func (p *program) subscript(v value) value {
	if p.yielded(v, p.canonical(v.path)) == "=args" {
		v = p.constant(v)
	}
	end, brace := p.peek(0).Match, p.is("{")
	p.take()
	if words := p.programWords(v.path); words != nil { // plumbum's git["push", "--force"]
		p.argv(append(words, listOf(p.items("]")...).words()...))
		return value{kind: kindOther}
	}
	if p.takeIf(p.is("]", "}")) {
		return v
	}
	at := p.subscriptKey(brace)
	if p.is(":", "::", ",", "..") {
		return p.slice(v, at, end)
	}
	p.close(end)
	out := p.current(p.index(v, at))
	switch inner := strings.Contains(v.holder, "\x00"); {
	case v.holder != "" && !inner:
		out.holder = v.holder + "\x00" + at.key()
	case v.multi() && v.of != "":
		out.holder = p.noted(v) + "\x00" + at.key()
	}
	return out
}

// subscriptKey reads the key of a subscript; in braces, a word stands for itself.
func (p *program) subscriptKey(brace bool) value {
	switch t := p.peek(0); {
	case brace && t.Word() && p.peek(1).Text == "}" && t.Text[0] != '$':
		return text(p.take().Text)
	case p.is(":", "::") && p.lang.name != "ruby": // a symbol there
		return value{}
	}
	return p.expression()
}

// slice reads the rest of [a:b], [::-1] and [a..b].
func (p *program) slice(v, from value, end int) (to value) {
	base := v
	v.of = ""
	backwards := p.is("::") && p.peek(1).Is("-")
	if op := p.take().Text; !p.is("]", ":") {
		to = p.bound(from, op)
	}
	p.close(end)
	if base.kind == kindList && p.takeIf(p.is("=")) { // its elements may be somewhere else from there on
		p.mixes(base, []value{p.expression()})
		return value{kind: kindNone}
	}
	if !v.multi() && v.word().Equal(oneName()) {
		return v
	}
	if backwards {
		return reversed(p, v, nil)
	}
	if p.lists(v) {
		return some(p, v, nil)
	}
	a, _ := from.int()
	b, ok := to.int()
	if !ok || b == 0 {
		b = math.MaxInt32
	}
	if v.multi() {
		return v.part(a, b)
	}
	return v.each(func(s string) (string, bool) {
		a := place(a, len(s))
		return s[a:max(a, place(b, len(s)))], true
	})
}

// place returns an index within a length; a negative one counts from the end.
func place(n, of int) int {
	if n < 0 {
		n += of
	}
	return max(0, min(n, of))
}

// index returns an element, of a value or of what the table knows by its name.
func (p *program) index(v, at value) value {
	switch {
	case p.isEnvironment(v):
		return p.env(at)
	case p.canonical(v.path) == "Dir":
		return p.call(unknown("Dir.[]"), value{}, []value{at})
	}
	if key, ok := at.text(); ok && v.path != "" && !v.multi() {
		if e, ok := p.parsedOption(v.path, key); ok {
			return e
		}
		return unknown(v.path + "." + key)
	}
	p.memberOf(v, at)
	return p.element(v, at)
}

// element returns the element of a list or map under a number or key, or what any of the elements may be; of a text, an unknown part.
func (p *program) element(v, at value) value {
	n, isInt := at.int()
	e, found := p.keyedElement(v, at)
	switch {
	case found:
		return e
	case isInt && v.kind == kindList:
		if p.lang.has("fromone") || p.lang.name == "awk" && v.path == "" {
			n--
		}
		return v.nth(n)
	case v.kind == kindMap && at.known(): // put there by code that is not followed
		return p.anyOf(v.list).or(unknown(""))
	case v.multi():
		return p.anyOf(v.list)
	}
	return passedOn(v.path, v.word())
}

// keyedElement returns the element under a key: of a map, or of a list of keys and values.
func (p *program) keyedElement(v, at value) (value, bool) {
	key, ok := at.text()
	if _, isInt := at.int(); ok && p.lang.has("flat") && !isInt && v.kind == kindList {
		for i := len(v.list) - 2; i >= 0; i-- {
			if v.list[i].word().Is(key) {
				return v.list[i+1], true
			}
		}
	}
	e, found := v.field(key)
	for i := 0; found && i < len(v.list) && p.spend(1); i++ { // what is not asked for is not called
		p.stand[p.canonical(v.list[i].path)] = -1
	}
	return e, found && ok
}

// anyOf returns what any of the values may be.
func (p *program) anyOf(list []value) value {
	all := first(list)
	for _, e := range tailOf(list, 1) {
		if !p.spend(1) {
			return value{}
		}
		all = all.or(e)
	}
	return all
}

// current returns a list or map as it is by now, whatever name it was changed by.
func (p *program) current(v value) value {
	names, sure := v.names()
	for _, name := range names {
		now, changed := p.objects[name]
		switch {
		case !changed:
		case !sure:
			of := v.of
			v = p.either(v, now)
			v.of = of
		default:
			v.kind, v.list, v.keys, v.some = now.kind, now.list, now.keys, v.some || now.some
		}
	}
	return v
}

// noted returns the name of a list or map whose elements may be set by it.
func (p *program) noted(v value) string {
	names, _ := v.names()
	for _, name := range names {
		if _, changed := p.objects[name]; !changed {
			p.objects[name] = v
		}
	}
	return v.of
}

// inputLine returns a line that perl's <> or <$file> reads.
func (p *program) inputLine() value {
	if p.take().Text == "<STDIN>" {
		return textOf(p.in.Stdin)
	}
	for _, f := range p.vars["@ARGV"].list {
		p.emit("<>", shell.VerbRead, f.word())
	}
	return textOf(unknownWord("<>"))
}
