package code

import (
	"path"
	"slices"
	"strings"

	"github.com/metnos/vaglio/vaglio/shell"
)

// key returns the name that a variable is stored under.
func (p *program) key(name string) string {
	if len(name) > 1 && (name[0] == '@' || name[0] == '%') && p.lang.name == "perl" && name != "@_" && name != "@ARGV" {
		return "$" + name[1:]
	}
	return name
}

// set gives a variable a value. Where the program may skip this, the value is one more that the variable may have.
func (p *program) set(name string, v value) {
	if strings.HasPrefix(name, "@") && p.lang.has("flat") && !v.multi() && v.kind != kindNone {
		v = listOf(v)
	}
	if name == "%ENV" { // of perl
		p.export(assigns(v)...)
	}
	v.spread, v.name, v.holder = false, "", ""
	if p.lang.has("copies") && (p.lang.name == "php" || strings.ContainsAny(name[:min(1, len(name))], "@%")) {
		v.of = ""
	}
	p.keep(p.key(name), v)
}

// keep records what a variable holds. Where the program may skip this, the previous value stays one of those that the variable may have.
func (p *program) keep(name string, v value) {
	if old := p.vars[name]; p.unsure > 0 && !p.fresh && v.madeOf(old) { // each turn of a loop makes another one
		v = v.or(unknown(""))
	}
	if old, had := p.vars[name]; had && !p.fresh && p.perhaps() && !p.within(old, v) && p.spend(1+len(old.list)/4) {
		v = old.or(v)
	}
	p.hold(name, v)
}

// madeOf reports whether a text looks as if it was made of another one.
func (v value) madeOf(o value) bool {
	return slices.ContainsFunc(v.alts, func(w shell.Word) bool {
		s, ok := w.Text()
		return ok && slices.ContainsFunc(o.alts, func(w shell.Word) bool {
			t, ok := w.Text()
			return ok && s != t && s != "" && t != "" && (strings.Contains(s, t) || strings.Contains(t, s))
		})
	})
}

// within reports whether a new value was made of the old one, or is no text.
func (p *program) within(v, o value) bool {
	if runs := o.fn != nil || o.file != nil; runs || !v.multi() {
		return runs || v.path != "" && len(v.alts) == 0 && len(o.alts) == 0
	}
	if !o.multi() || v.kind == kindMap || v.width(maxFlat) > o.width(maxFlat) {
		return false
	}
	a, b := v.words(), o.words()
	return len(a) <= len(b) && slices.EqualFunc(a, b[:len(a)], shell.Word.Equal)
}

// store assigns a value to its holder: a variable, or a field under the object's name and under its own.
func (p *program) store(holder string, v value) {
	base, key, element := strings.Cut(holder, "\x00")
	p.exportsTo(holder, v)
	if !element {
		if i := strings.LastIndexByte(holder, '.'); i >= 0 {
			if p.finds("setters", "unset", p.src) { // any field may be another one then
				v = v.or(unknown(""))
				p.set(holder[:i], unknown(""))
			}
			p.setMember(holder[:i], holder[i+1:], v)
			if m := p.ofModule(holder[:i]); m != nil {
				m.set(holder[i+1:], v.or(m.vars[holder[i+1:]]))
			}
			if holder[:i] != "self" && holder[:i] != "this" { // as its methods call the object
				delete(p.vars, "self"+holder[i:])
				delete(p.vars, "this"+holder[i:])
				p.branches++
				defer func() { p.branches-- }()
			}
			p.set(holder[i:], v)
			p.setAlias(holder[:i], holder[i:], v)
		}
		if holder != "" {
			p.set(holder, v)
		}
		return
	}
	p.storeAt(p.key(base), key, v)
}

// setAlias adds what a field of an object holds by now to the same field of other names that may stand for that object.
func (p *program) setAlias(object, field string, v value) {
	of := p.vars[p.key(object)].path
	if of == "" || !p.spend(1+len(p.vars)/4) {
		return
	}
	for key, was := range p.vars {
		if name, ok := strings.CutSuffix(key, field); ok && name != object && p.vars[name].path == of {
			p.vars[key] = was.or(v)
		}
	}
}

// setMember sets a member of the object in a variable, if that is one whose members are known.
func (p *program) setMember(object, name string, v value) {
	of, held := p.vars[p.key(object)]
	if of = p.current(of); held && of.multi() && name != "length" && p.spend(1+len(of.list)/4) {
		changed := of.with(name, v)
		p.keep(p.key(object), changed)
		p.touch(of, changed)
	}
}

// missing returns a member of a value that nothing is known to have set.
func (p *program) missing(v value, name, full, holder string) value {
	settable := v.holder != "" && (v.kind == kindMap || p.lang.name == "node")
	switch {
	case v.path != "" || !v.multi() && len(v.alts) == 0 || len(v.list) > maxList: // it may be one of the elements that are not kept apart
		v = passedOn(full, v.word())
		v.holder = holder
	case settable:
		v.path, v.holder = name, holder
	case p.lang.name == "ruby" && v.kind == kindText: // a method, which returns another text
		v = passedOn(name, v.words()...)
	default: // in ruby, a method, which returns other elements of a list
		v.path, v.holder, v.some = name, "", v.some || p.lang.name == "ruby"
	}
	return v
}

// exportsTo notes a variable of the environment that is set through its holder.
func (p *program) exportsTo(holder string, v value) {
	at := strings.LastIndexAny(holder, ".\x00")
	if at < 0 || !envName.MatchString(holder[at+1:]) {
		return
	}
	of, known := p.vars[p.key(holder[:at])]
	if !known || of.path == "" {
		of.path = holder[:at]
	}
	if p.isEnvironment(of) {
		p.export(shell.Assign{Name: holder[at+1:], Value: v.word()})
	}
}

// added returns a list with more elements, unless it is full: it is copied for each of them.
func added(list []value, more ...value) []value {
	if isFull(list) {
		return list
	}
	return bounded(slices.Concat(list, more))
}

// grow adds elements to a list in a variable.
func (p *program) grow(v value, rest []value) value {
	if !v.multi() && len(v.alts) > 0 {
		return v
	}
	if isFull(v.list) {
		return value{kind: kindList, list: v.list, holder: v.holder, of: v.of}
	}
	list := slices.Clone(v.list)
	for _, r := range rest {
		// How often it is added is not known, so another one of the same says nothing.
		held := func(e value) bool { return slices.EqualFunc(e.words(), r.words(), shell.Word.Equal) }
		if p.unsure > 0 && !r.known() && slices.ContainsFunc(list, held) {
			continue
		}
		list = spreadInto(list, r)
	}
	list = bounded(list)
	p.puts(v, listOf(list...))
	return value{kind: kindList, list: list, holder: v.holder, of: v.of}
}

// pattern reports whether a pattern that is assigned to begins at i.
func (p *program) pattern(i int) bool {
	return p.tok(i).Is("(", "[", "{") && p.over(i) > i && i < p.end && p.tok(p.over(i)+1).Is("=")
}

// assigned reads an assignment to several names, to a name with a type, or to a pattern.
func (p *program) assigned() bool {
	at, eq := p.at, p.equals()
	if !p.tok(eq).Is("=", ":=") {
		return false
	}
	p.skip(eq + 1)
	p.lines()
	if p.lang.name != "node" {
		p.bind(at, p.expressions())
		return true
	}
	p.bind(at, p.expression())
	if p.is(",") && p.pattern(p.at+1) && p.spend(1) { // the next part of a declaration
		p.take()
		return p.assigned()
	}
	return true
}

// equals returns the index of the equal sign of an assignment that may begin here.
func (p *program) equals() int {
	at, next := p.at, p.peek(1)
	starred := p.starred()
	switch {
	case p.pattern(at):
		return p.over(at) + 1
	case !starred && !p.peek(0).Word():
		return -1
	case next.Is("="):
		return at + 1
	case next.Is(":") && (p.lang.has("columns") || p.peek(-1).Word("const", "let", "var")):
		return p.find(at+2, func(t token) bool { return t.Is("=") })
	case starred, next.Is(","):
		return p.until(at, func(i int) bool { t := p.toks[i]; return !t.Word() && !t.Is(",", "*") || !p.spend(1) })
	}
	return -1
}

// bindNew binds the pattern that begins at i, or $_ if i is negative, regardless of its old value.
func (p *program) bindNew(i int, v value) {
	p.fresh = true
	if i < 0 {
		p.set("$_", v)
	} else {
		p.bind(i, v)
	}
	p.fresh = false
}

// bind assigns the parts of a value to the pattern that begins at i: a name, a list of names, or brackets with patterns in them.
func (p *program) bind(i int, v value) {
	t, m := p.tok(i), p.over(i)
	switch {
	case t.Word() && p.tok(i+1).Text == ",", t.Is("*"):
		p.bindList(i, len(p.toks), v)
	case m > i && t.Text == "{":
		p.bindKeys(i+1, m, v)
	case m > i:
		p.bindList(i+1, m, v)
	default:
		p.bind1(i, v)
	}
}

// bind1 assigns a value to the single name or pattern at i.
func (p *program) bind1(i int, v value) {
	if t := p.toks[i]; t.Word() {
		p.set(t.Text, v)
	} else if p.over(i) > i {
		p.bind(i, v)
	}
}

func (p *program) bindList(from, to int, v value) {
	n := 0
	for i := from; i < to && p.spend(1); i = p.over(i) + 1 {
		switch t := p.toks[i]; {
		case t.Is(","):
			if n++; p.tok(i - 2).Is("*") { // what is behind it has the last parts
				v.some = true
			}
		case t.Word("in", "of", "as"), t.Is("=", ":=", ";", ")", ":"):
			return
		case !t.Word("my") && (t.Word() || p.over(i) > i):
			i = p.bindPart(i, to, v.share(n, p.tok(i-1).Is("*", "...") || t.Text[0] == '@'))
		}
	}
}

// bindPart binds one part of a pattern, or what it is if nothing is there. It returns where the part ends.
func (p *program) bindPart(i, to int, part value) int {
	at := p.over(i) + 1
	usually := p.lang.name == "node" && p.tok(at).Is("=")
	unsaid := func(w shell.Word) bool { return w.HasUnknown() && w.Prefix() == "" }
	if there := part.multi() || len(part.alts) > 0 && !slices.ContainsFunc(part.alts, unsaid); usually && !there {
		was := p.at
		p.at = at + 1
		part = part.or(p.expression())
		p.at = was
	}
	p.bind1(i, part)
	if usually {
		i = p.until(at, func(i int) bool { return i >= to || p.toks[i].Is(",") }) - 1
	}
	return i
}

// share returns the nth part of a value, or all parts from there on.
func (v value) share(n int, rest bool) value {
	switch {
	case v.kind == kindPath: // mkstemp's, with its number
		return v
	case !v.multi():
		return value{path: v.path, alts: passedOn(v.path, v.word()).words()}
	case rest:
		return listOf(tailOf(v.list, n)...)
	}
	return v.nth(n)
}

// bindKeys reads {a, b: c, d = 1}.
func (p *program) bindKeys(from, to int, v value) {
	for i := from; i < to; i = p.over(i) + 1 {
		t, local := p.toks[i], i
		if !t.Word() {
			continue
		}
		if p.tok(i + 1).Is(":") {
			local = min(i+2, to)
		}
		e, ok := v.field(t.Text)
		if !ok {
			e, ok = p.parsedOption(v.path, t.Text)
		}
		switch {
		case p.isEnvironment(v):
			e = p.envMember(p.canonical(v.path)+"."+t.Text, t.Text)
		case !ok:
			e = unknown(strings.TrimPrefix(v.path+"."+t.Text, "."))
		}
		i = p.bindPart(local, to, e)
	}
}

func tailOf(list []value, n int) []value { return list[min(n, len(list)):] }

// constant returns the value of a name that stands for something known.
func (p *program) constant(v value) value {
	if v.path == "" || v.given() || v.fn != nil {
		return v
	}
	f, always := p.lang.find(p.canonical(v.path), ""), []string{"=args", "=root", "=self", "=input", "=home", "=file", "=folder"}
	if f == nil || !slices.Contains(always, f.verb) && (f.verb != "=temp" || !strings.Contains(v.path, "().")) {
		return v
	}
	out := p.apply(f, v.path, nil)
	if !out.given() && out.path == "" {
		return v
	}
	out.holder = v.holder
	return out
}

// named returns a map with what is given by name besides, as dict(a, b=c) does.
func named(_ *program, v value, rest []value) value {
	if v.name != "" {
		v, rest = value{}, append([]value{v}, rest...)
	}
	if v.kind == kindList { // of keys and values
		pairs := v.list
		v = value{kind: kindMap}
		for _, e := range pairs {
			v = v.with(e.nth(0).key(), e.nth(1))
		}
	}
	for _, e := range rest {
		if name := e.name; name != "" {
			e.name = ""
			v = v.with(name, e)
		}
	}
	return v
}

// starred reports whether a list of names begins here whose first has all parts but the last ones.
func (p *program) starred() bool { return p.is("*") && p.lang.has("columns") && p.peek(2).Is(",") }

// shown returns what a format makes of a value; for %c, the character with that code. What is cut or filled up is not known.
func shown(v value, hole string) value {
	i, number := v.int()
	sized := len(hole) > len("%s") && hole[0] == '%' && hole[1] != '(' || strings.Contains(hole, ":")
	switch character := strings.HasSuffix(strings.TrimRight(hole, "}"), "c"); {
	case number && i > 9 && character:
		return characters([]value{v})
	case v.multi(), character, sized:
		return unknown("")
	}
	return v
}

// cleaned shortens paths that go up and down again.
func cleaned(_ *program, v value, _ []value) value {
	return v.each(func(s string) (string, bool) { return path.Clean(s), true })
}
