package code

import (
	"slices"
	"strings"

	"github.com/metnos/vaglio/vaglio/code/lex"
	"github.com/metnos/vaglio/vaglio/shell"
	"github.com/metnos/vaglio/vaglio/wordclass"
)

// looped reads a loop: over a list, once for each element; any other, once.
func (p *program) looped() {
	def := p.at
	p.take()
	p.takeIf(p.word("await"))
	open, head := p.at, p.over(p.at)
	if head > open && p.is("(") {
		p.take()
	}
	for p.takeIf(p.word("const", "let", "my", "our", "var", "local")) {
	}
	if target, list, ok := p.loopHead(head); ok && p.toks[def].Word("for", "foreach") {
		if head > open {
			p.skip(head + 1)
		}
		from, to := p.body(def, p.at)
		p.turns(list, from, to, target)
		p.at = max(to, p.at)
		return
	}
	p.at = open
	from, to := p.body(def, open)
	p.each(value{}, 0, func(value) {
		p.scan(open, from)
		p.turn(from, to)
	})
	p.at = max(to, open)
}

// loopHead returns what a loop binds, and reads its list; false for other loops. The head is in brackets if shut is after here.
func (p *program) loopHead(shut int) (target int, list value, ok bool) {
	at := p.at
	if p.lang.name == "go" {
		return p.ranges()
	}
	in := p.find(at, func(t token) bool { return t.Word("in", "of", "as", "do") || t.Is("{") })
	switch t := p.tok(in); {
	case t.Word("as"):
		list = p.expression()
		if arrow := p.find(in, func(t token) bool { return t.Is("=>") }); arrow > 0 {
			in = arrow
		}
		return in + 1, list, true
	case t.Word("in", "of"):
		p.skip(in + 1)
		return at, p.goneThrough(t), true
	case !p.lang.has("flat"):
	case shut > at && p.find(at, func(t token) bool { return t.Is(";") }) < 0:
		list = listOf(p.items(")")...)
		return -1, list, true
	case p.peek(0).Word() && p.peek(1).Is("("):
		p.take()
		return at, p.primary(), true
	}
	return 0, value{}, false
}

// ranges reads the list of a loop of Go that binds its elements: for _, x := range list. What it binds to their index or key is not known.
func (p *program) ranges() (target int, list value, ok bool) {
	at := p.at
	in := p.find(at, func(t token) bool { return t.Word("range") || t.Is("{") })
	if !p.tok(in).Word("range") || !p.tok(at+1).Is(",") || !p.tok(at+3).Is(":=", "=") || in != at+4 {
		return 0, value{}, false
	}
	p.bindNew(at, unknown(""))
	p.skip(in + 1)
	return at + 2, p.expression(), true
}

// repeated reads a statement followed by a loop: … for @list, fork while 1.
func (p *program) repeated() bool {
	if !p.lang.has("bare") || p.lang.name == "lua" || p.at < p.scanned || p.peek(0).Word() && p.over(p.at) > p.at {
		return false
	}
	start, loop := p.at, false
	p.scanned = p.until(start, func(i int) bool {
		t := p.toks[i]
		loop = i > start && t.Word("for", "foreach", "while", "until") && !p.toks[i-1].Is("->", ".")
		return loop || t.Is(";", "}", ")")
	})
	if !loop {
		return false
	}
	at := p.scanned
	p.at = at + 1
	p.loop++
	list := p.expressions()
	p.loop--
	after := p.at
	if p.toks[at].Word("for", "foreach") {
		p.turns(list, start, at, -1)
	} else {
		p.each(value{}, 0, func(value) { p.turn(start, at) })
	}
	p.at = after
	return true
}

// turns reads a part of the program for each element of a list, bound to target.
func (p *program) turns(list value, from, to, target int) {
	p.each(list, to-from, func(e value) {
		p.bindNew(target, e)
		p.turn(from, to)
	})
}

// turn reads the body of a loop once. If how often it runs is not known, it is read once more with what its variables hold after the first turn.
func (p *program) turn(from, to int) {
	held := p.carriedOver(from, to)
	p.scan(from, to)
	for key, was := range held {
		if now := p.vars[key]; !slices.EqualFunc(was.words(), now.words(), shell.Word.Equal) && p.again >= to-from {
			p.again -= to - from
			p.scan(from, to)
			return
		}
	}
}

// carriedOver returns the variables that the body of a loop sets and that had a text before, if how often it runs is not known. What it counts is then unknown.
func (p *program) carriedOver(from, to int) map[string]value {
	held := map[string]value{}
	for i := from; i < to && p.unsure > 0 && p.spend(1); i++ {
		key := p.key(p.tok(i).Text)
		v, known := p.vars[key]
		assigned := p.tok(i+1).Is("=", "+=", ".=", "-=", "*=")
		switch known = known && p.tok(i).Word() && (assigned || p.countedAt(i)); {
		case !known:
		case v.kind == kindNumber:
			p.vars[key] = unknown("")
		case assigned && v.given() && !v.multi():
			held[key] = v
		}
	}
	return held
}

// each calls do for each element of a list, or once for all of them if there are too many for the cost.
func (p *program) each(list value, cost int, do func(value)) {
	elements := p.iterated(list).elements()
	if len(elements) > 1 && p.again < len(elements)*cost || len(elements) > maxList {
		elements = []value{p.anyOf(bounded(elements))}
	}
	if len(elements) == 0 {
		elements = []value{unknown("")}
	}
	p.again -= len(elements) * cost
	unsure := p.unsure
	if !list.multi() || len(elements) < len(list.list) {
		p.unsure++
	}
	p.loop++
	for _, e := range elements {
		e.some = e.some && e.multi()
		do(e)
	}
	p.unsure = unsure
	p.loop--
}

// iterated returns what goes through a value: python's maps go through their keys.
func (p *program) iterated(list value) value {
	switch {
	case p.lang.name != "python":
		return list
	case p.isEnvironment(list) && !list.given():
		return unknown(list.path + ".keys()")
	case list.kind != kindMap:
		return list
	}
	return list.under()
}

// under returns the keys of a map, or the numbers of a list's elements.
func (v value) under() value {
	out := listOf()
	if !v.multi() {
		return unknown("")
	}
	for i, key := range v.keyed().keys {
		switch key {
		case "": // an element that has no key, or one that is not known
			out.list = append(out.list, v.list[i], unknown(""))
		case anyKey:
			out.list = append(out.list, unknown(""))
		default:
			out.list = append(out.list, text(key))
		}
	}
	return out
}

// every returns the elements of a map or, where lists hold keys and values in turn, every second one.
func (p *program) every(v value, from int) value {
	if v.kind == kindList && p.lang.has("flat") {
		out := listOf()
		for ; from < len(v.list); from += 2 {
			out.list = append(out.list, v.list[from])
		}
		return out
	}
	if from > 0 {
		v.kind, v.keys = kindList, nil
	}
	return v
}

// alters notes that a method or a function changes the list or the text that it is about.
func (p *program) alters(name string, v value, args []value) {
	names := p.lang.options.names
	switch {
	case names["drops"][name] != nil:
		p.drop(v)
	case names["mixes"][name] != nil && v.multi():
		p.mixes(v, args)
	case !v.given() || v.multi():
	case names["changes"][name] != nil, names["replaces"][name] != nil && (len(args) > 2 || p.is("=")):
		p.store(v.holder, unknown(name))
	}
}

// hands notes that an unknown function is handed a file which the program writes, or an option to run what it fetches.
func (p *program) hands(name string, args []value) {
	_, named := splitNamed(args)
	for option := range p.lang.options.names["trusts"] {
		if _, on := optionOf(args, named, option); on {
			p.gap(remote(name).word())
		}
	}
	for _, a := range args {
		if a.file != nil && a.file.start == nil {
			p.feed(a.file, unknown(name+"()").word())
		}
	}
}

// mayChangeBy reports whether a method of that name may change what a library connects to.
func (p *program) mayChangeBy(name string) bool {
	return wordclass.Within("client-verb", name) || !p.in.File && wordclass.Within("client-change", name)
}

// altering reports whether a function changes a list or a text that it is given.
func (p *program) altering(name string) bool {
	names := p.lang.options.names
	return names["mixes"][name] != nil || names["changes"][name] != nil || names["replaces"][name] != nil
}

// mixesAt notes that a function changes the list of perl that is its first argument, at an index.
func (p *program) mixesAt(name string, at int) {
	if t := p.tok(at); p.lang.has("flat") && p.altering(name) && strings.HasPrefix(t.Text, "@") {
		held := p.current(p.vars[p.key(t.Text)])
		held.holder = p.key(t.Text)
		p.mixes(held, []value{unknown("")})
	}
}

// drop notes that an element of a list or a map is no longer there.
func (p *program) drop(v value) {
	base, _, element := strings.Cut(v.holder, "\x00")
	held := p.current(p.vars[p.key(base)])
	if held.kind == kindMap || !element && v.holder != "" {
		p.store(v.holder, unknown("drop"))
		return
	}
	held.holder = base
	p.mixes(held, nil)
}

// deleted reads python's del, behind which the elements of a list are somewhere else.
func (p *program) deleted() {
	for p.take(); p.spend(1); p.take() {
		if p.drop(p.expression()); !p.is(",") {
			return
		}
	}
}

// counted reads ++ or -- before or behind a variable.
func (p *program) counted(v value, op token) value {
	n, ok := v.int()
	out := value{kind: kindOther}
	if ok && p.unsure == 0 {
		out = number(n + 1)
		if op.Text == "--" {
			out = number(n - 1)
		}
	}
	p.store(v.holder, out)
	return out
}

// initialize reads what sets variables before anything else runs: go's init, and the text that describes a program of python.
func (p *program) initialize() {
	if p.lang.name == "python" && p.tok(0).Kind == lex.String {
		p.vars["__doc__"] = p.primary()
	}
	for i := range p.toks {
		switch t, next := p.toks[i], p.tok(i+1); {
		case p.lang.name == "go" && t.Word("func") && next.Word("init"):
			p.at = i
			p.define()
			p.invoke(p.fns["init"], nil)
		case p.lang.has("hoists") && t.Word("function", "sub") && next.Word(): // may be called before it stands
			p.at = i
			p.define()
		}
	}
	p.at = 0
}

// bound reads where a part of a text or a list ends that begins at an index.
func (p *program) bound(from value, op string) value {
	to := p.expression()
	n, ok := to.int()
	switch start, known := from.int(); {
	case ok && op == "..":
		return number(n + 1)
	case op == "," && ok && known && p.lang.name == "ruby": // so many from there
		return number(start + n)
	}
	return to
}

// goneThrough reads what a loop goes through: node's "in" goes through the keys.
func (p *program) goneThrough(word token) value {
	list := p.expressions()
	if word.Word("in") && (p.lang.name == "node" || p.lang.name == "awk") && !p.isEnvironment(list) {
		return list.under()
	}
	return list
}

// countsUp reads ++ or -- behind a variable, if it stands here.
func (p *program) countsUp(v value, t token) bool {
	if !t.Is("++", "--") || v.holder == "" || t.Line {
		return false
	}
	p.counted(v, p.take())
	return true
}

// leaves reads return and yield, ruby's alias, perl's use and no, python's del, and do { … } while; is says that it was one. Ruby's yield is an expression.
func (p *program) leaves(word string) (done, is bool) {
	from, to := p.at+2, p.over(p.at+1)
	switch word {
	case "return", "yield":
		if done = word == "return" || p.lang.name != "ruby"; done {
			p.returned()
		}
		return done, true
	case "alias":
		p.vars[p.peek(1).Text] = unknown(p.peek(2).Text)
	case "use", "no":
		if done = p.lang.name == "perl"; done {
			p.skip(p.until(p.at, func(i int) bool { return p.toks[i].Is(";") }))
		}
	case "del":
		if done = p.lang.has("columns"); done {
			p.deleted()
		}
	case "do":
		if done = p.opens(p.at+1, "{") && p.tok(to+1).Word("while", "until"); done {
			p.each(value{}, 0, func(value) { p.turn(from, to) })
			p.at = to
		}
	}
	return done, done
}

// unpacks reads a call that unpacks an archive into a folder, as tar does.
func (p *program) unpacks(f *function, name string, args []value, named map[string]value) value {
	into := first(append(slices.Clip(tailOf(args, f.args[1])), text(".")))
	if dir, given := optionOf(args, named, "path", "extract_dir", "dir", "cwd", "C"); given {
		into = dir
	}
	p.falls(shell.Call{Function: name, Verb: shell.VerbWrite}, []value{into})
	for _, w := range into.words() {
		p.argv([]shell.Word{shell.Text("tar"), shell.Text("-x"), shell.Text("-f"), nth(args, f.args[0]).word(), shell.Text("-C"), w})
	}
	return unknown(name + "()")
}

// countedAt reports whether ++ or -- stands before or behind the name at an index.
func (p *program) countedAt(i int) bool {
	return p.tok(i+1).Is("++", "--") || p.tok(i-1).Is("++", "--")
}
