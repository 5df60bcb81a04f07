package code

import (
	"slices"

	"github.com/metnos/vaglio/vaglio/shell"
	"github.com/metnos/vaglio/vaglio/wording"
)

// routine is a function of the program: its parameters and the place of its body.
type routine struct {
	name     string
	method   string // what is called on the first thing that it is given, with what it holds and the rest: ruby's &:name
	params   []int  // indexes of the parameters
	from, to int
	toks     *program // the program that the tokens belong to
	locals   []string // the variables that only the function has, see [routine.own]
	called   bool
	deferred bool // it runs when the function around it ends
	active   int
	held     []value       // what the call that is being read was given
	command  attributes    // how a library runs it with the options, nil if none does
	given    string        // what the tool that its decorator belongs to hands it first, "" if that is unknown
	bases    []string      // of a class
	settings bool          // variables of the environment may set its fields
	wrapped  bool          // a function of the program stands before it as a decorator
	usual    map[int]value // what parameters have by default that are given a variable, as it was there
}

// own returns the variables that are a function's because it assigns them in python, none if an inner function may use them later; of node, declares them.
func (f *routine) own() []string {
	if f.locals == nil {
		f.locals = f.localsOf()
	}
	return f.locals
}

func (f *routine) localsOf() []string {
	if f.toks.lang.name == "node" {
		return f.declared()
	}
	f.locals = []string{}
	if f.name == "" || !f.toks.lang.has("columns") {
		return f.locals
	}
	global := map[string]bool{}
	for i := f.from; i < f.to; i++ {
		t := f.toks.tok(i)
		switch {
		case t.Word("def", "lambda"):
			return []string{}
		case t.Word("global", "nonlocal"):
			for i++; i < f.to && !f.toks.tok(i).Line; i++ {
				global[f.toks.tok(i).Text] = true
			}
			i--
		case t.Word() && t.Line && f.toks.tok(i+1).Is("="):
			f.locals = append(f.locals, f.toks.key(t.Text))
		}
	}
	return slices.DeleteFunc(f.locals, func(name string) bool { return global[name] })
}

// declared returns the variables that the body of one of node's functions declares, in none of its blocks.
func (f *routine) declared() []string {
	out := []string{}
	for i := f.from; i < f.to && i < len(f.toks.toks); i = f.toks.over(i) + 1 {
		if name := f.toks.tok(i + 1); f.toks.toks[i].Word("const", "let") && name.Word() && f.toks.tok(i+2).Is("=", ":") {
			out = append(out, f.toks.key(name.Text))
		}
	}
	return out
}

// leave gives variables back what they held before a function had some of the same names. What is declared may still be seen by functions of node inside it.
func (f *routine) leave(vars, hidden map[string]value) {
	for name, v := range hidden {
		if f.toks.lang.name == "node" && slices.Contains(f.locals, name) {
			v = v.or(vars[name])
		}
		vars[name] = v
	}
}

// body returns the body of a loop or function whose first word is at def and whose head continues at i.
func (p *program) body(def, i int) (from, to int) {
	if p.lang.has("columns") {
		if i = p.until(i, func(i int) bool { return p.toks[i].Is(":", ";") }); i < p.end {
			i++
		}
		return i, p.indented(def, i)
	}
	if p.opens(i, "(") && p.toks[def].Word("for", "foreach", "while", "until") {
		i = p.over(i) + 1
	}
	if p.lang.name == "php" && p.toks[def].Word("function") {
		i = p.behindType(i)
	}
	switch {
	case p.opens(i, "{"):
		return i + 1, p.over(i)
	case p.over(def) > def:
		return i, p.over(def)
	}
	return i, p.until(i, func(j int) bool { return p.toks[j].Is(";") || j > i && p.toks[j-1].Is("}") })
}

// behindType returns the index of the brace that follows the type of a function's result, and line ends.
func (p *program) behindType(i int) int {
	to := p.until(i, func(j int) bool {
		t := p.toks[j]
		return !t.Word() && !t.Is(":", "?", "|", "&", "\\") && (!t.Is(";") || !t.Line)
	})
	if p.opens(to, "{") {
		return to
	}
	return i
}

// indented returns the end of a block that is indented more than the line of def.
func (p *program) indented(def, from int) int {
	column, sameLine := p.toks[def].Column, from < p.end && !p.toks[from].Line
	return p.until(from, func(i int) bool {
		t := p.toks[i]
		return t.Line && (sameLine || t.Text != ";" && t.Column <= column)
	})
}

// define reads the definition of a function. The function's body is read when it is called, or at the end.
func (p *program) define() bool {
	def := p.at
	if next := p.peek(1); p.word("async", "local") && next.Word("def", "function") {
		p.take()
	}
	word := p.at
	name, ok := p.definedName()
	if !ok {
		p.at = def
		return false
	}
	decorators := p.decorators(def)
	f := &routine{name: name, toks: p, command: p.command, params: p.parameters(), given: p.decorated("tasks", decorators)["gives"]}
	p.command = nil
	if f.command == nil {
		f.command = p.runner(f.params)
	}
	f.from, f.to = p.body(word, p.at)
	f.wrapped = slices.ContainsFunc(decorators, func(name string) bool { return p.fns[name] != nil })
	f.usual = p.defaults(f.params)
	if p.lang.name == "python" && len(f.params) > 0 && p.toks[def].Column > 0 && p.toks[f.params[0]].Word("self", "cls", "s") {
		f.params = f.params[1:]
	}
	if known := p.fns[name]; known == nil || known.toks != p || known.from != f.from { // else it was hoisted
		p.adds(f, def, decorators)
	}
	p.at = def
	p.skip(f.from)
	p.at = f.to
	return true
}

// parameters reads the parameters in parentheses, if there are any.
func (p *program) parameters() (params []int) {
	if end := p.over(p.at); p.opens(p.at, "(") {
		params = p.params(p.at+1, end)
		p.at = end + 1
	}
	return params
}

// definedName reads the name of the function defined here, if there is one.
func (p *program) definedName() (string, bool) {
	if p.lang.name == "node" && p.isMethod() {
		return p.take().Text, true
	}
	if p.word("func") && p.opens(p.at+1, "(") && p.tok(p.over(p.at+1)+2).Is("(") { // Go's methods
		p.at = p.over(p.at + 1)
	} else if !p.word("def", "function", "sub", "func") || !p.peek(1).Word() {
		return "", false
	}
	p.take()
	name := p.take().Text
	for p.is(".", "::", ":") && p.peek(1).Word() {
		p.take()
		name = p.take().Text
	}
	return name, true
}

// isMethod reports whether a method of a class of node is defined here.
func (p *program) isMethod() bool {
	to := p.over(p.at + 1)
	return p.peek(1).Is("(") && (p.tok(to+1).Text == "{" || p.typed(to+1)) && !p.word("if", "for", "while", "switch", "catch", "with", "function")
}

// typed reports whether a block follows the type of a result at an index.
func (p *program) typed(i int) bool {
	to := p.until(i, func(i int) bool { return p.toks[i].Is("{", ";", ",", "=", "?") })
	return p.tok(i).Is(":") && p.tok(i+1).Word() && p.tok(to).Is("{")
}

// params returns the indexes of the parameters between two indexes.
func (p *program) params(from, to int) (out []int) {
	begin := true
	for i := from; i < to; i++ {
		t := p.toks[i]
		switch {
		case t.Is(","):
			begin = true
			continue
		case t.Word() && i+1 < to && p.toks[i+1].Word() && (p.lang.name == "php" || p.lang.name == "node" && begin):
			continue // a type, or who may see the field
		case begin && (t.Word() || t.Is("[", "{", "(")):
			out, begin = append(out, i), false
		}
		i = p.over(i)
	}
	return out
}

// anonymous reads a function without a name: lambda x: …, function (x) { … }, sub { … }, proc { |x| … }.
func (p *program) anonymous() (value, bool) {
	def, params := p.at, []int(nil)
	switch {
	case p.word("lambda") && p.lang.name == "python":
		colon := p.until(p.at, func(i int) bool { return p.toks[i].Is(":") })
		params, p.at = p.params(p.at+1, colon), colon+1
	case p.lang.name == "go":
		return p.literal()
	case p.opens(p.at+1, "{") && !p.word("function", "fn"):
		p.take()
	case !p.opens(p.at+1, "(") || p.word("lambda", "func"), p.word("sub") && p.lang.name == "awk":
		return value{}, false
	default:
		p.take()
		params = p.parameters()
		if p.word("use") {
			p.at = p.over(p.at+1) + 1
		}
		p.takeIf(p.is("=>"))
	}
	return p.closure(def, params), true
}

// block reads a block that is handed on: { |a, b| … } or do |a| … end.
func (p *program) block() value { return p.closure(p.at, nil) }

// closure returns a function whose first word is at def, and whose body is the block or expression that begins here.
func (p *program) closure(def int, params []int) value {
	f, end := &routine{toks: p, params: params, from: p.at + 1, to: p.over(p.at)}, 1
	switch {
	case p.opens(p.at, "{") && !p.lang.has("columns"), p.word("do") && f.to > p.at:
	case p.tok(def).Word() && p.over(def) > p.at:
		f.from, f.to = p.at, p.over(def)
	default:
		f.from, end = p.at, 0
		f.to = max(p.at, p.until(p.at, func(i int) bool {
			t := p.toks[i]
			return t.Is(")", "]", "}", ",") || t.Is(";") && (!t.Line || p.tok(i+1).Text != ".")
		}))
	}
	if p.tok(f.from).Is("|") {
		to := p.until(f.from+1, func(i int) bool { return p.toks[i].Is("|") })
		f.params = p.params(f.from+1, to)
		f.from = min(to+1, p.end)
	}
	p.at = min(f.to+end, p.end)
	p.routines = append(p.routines, f)
	return value{fn: f}
}

// invoke reads the body of a function for one call.
func (p *program) invoke(f *routine, args []value) value {
	cost := f.to - f.from
	if f.active > 0 && p.forks > 0 {
		p.problem(shell.ProblemForkBomb, wording.Say("a function copies its process and calls itself"), shell.Word{})
	}
	if f.active > 1 || f.toks != p || p.again < cost {
		return p.unread(f, args)
	}
	p.again -= cost
	f.active++
	f.called = true
	held := f.held
	f.held = args
	last, out := p.through(f, args)
	f.held = held
	f.active--
	if f.wrapped {
		return out.or(unknown(f.name + "()"))
	}
	if f.name == "" || p.lang.has("last") || p.lang.name == "perl" {
		return out.or(last)
	}
	return out
}

// unread returns what a call yields whose function is not read once more.
func (p *program) unread(f *routine, args []value) value {
	if f.active > 1 && f.toks == p && f.descends(args) {
		return value{kind: kindNone}
	}
	f.called = f.called && f.active > 0
	return unknown(f.name + "()")
}

// through reads the body of a function, and returns the value of its last statement and its return value.
func (p *program) through(f *routine, args []value) (last, out value) {
	at, end, scanned, bare := p.at, p.end, p.scanned, p.bare
	p.end, p.scanned, p.bare = len(p.toks), 0, 0
	args, named := splitNamed(args)
	p.fresh = true
	if p.lang.has("flat") {
		p.set("@_", listOf(args...))
		if len(args) > 0 && f.name == "" {
			p.set("$_", args[0])
		}
	}
	if len(f.params) > 1 && len(args) == 1 && args[0].kind == kindList && f.name == "" {
		args = args[0].list // its parameters take the elements
	}
	hidden := map[string]value{} // hidden by parameters and local variables of the same name
	for _, name := range f.own() {
		if h, ok := p.vars[name]; ok {
			hidden[name] = h
			delete(p.vars, name)
		}
	}
	for i, place := range f.params {
		name := p.key(p.toks[place].Text)
		if h, ok := p.vars[name]; ok {
			hidden[name] = h
		}
		v := p.param(f, i, args, named)
		delete(p.vars, name)
		p.at = place + 1
		p.bind1(place, v)
		p.bindField(f, place, v)
	}
	p.fresh = false
	p.returns = append(p.returns, value{kind: kindNone})
	last = p.scan(f.from, f.to)
	f.leave(p.vars, hidden)
	p.givesBack(f, args)
	n := len(p.returns) - 1
	out, p.returns = p.returns[n], p.returns[:n]
	p.at, p.end, p.scanned, p.bare = at, end, scanned, bare
	return last, out
}

// param returns the value of the parameter at an index.
func (p *program) param(f *routine, i int, args []value, named map[string]value) value {
	at := f.params[i]
	name, eq := p.toks[at].Text, p.usualAt(at)
	v, ok := named[name]
	switch {
	case ok:
		return v
	case slices.ContainsFunc(args, func(a value) bool { return a.spread }): // which of them it is, is not known
		if e, ok := p.parsedOption(first(args).path, name); ok && len(args) == 1 { // Config(**vars(args))
			return e
		}
		return unknown(name)
	case p.toks[at].Word() && p.tok(at-1).Is("...", "*"):
		return listOf(tailOf(args, i)...)
	case i < len(args):
		return args[i]
	case i == 0 && f.given != "":
		return unknown(f.given)
	}
	return p.commanded(f, at, eq)
}

// givesBack notes that a function may change the variables that it takes by reference, or any it is handed.
func (p *program) givesBack(f *routine, args []value) {
	for i, a := range args {
		if i < len(f.params) && p.lang.name == "php" && p.tok(f.params[i]-1).Is("&") || p.finds("gives", "", p.src) {
			p.store(a.holder, unknown("&"))
		}
	}
}

// adds takes in a function that begins at an index.
func (p *program) adds(f *routine, def int, decorators []string) {
	p.fns[f.name] = f
	if p.decorated("getters", decorators) != nil {
		p.getters[f.name] = append(p.getters[f.name], f)
	}
	p.defined = def
	p.routines = append(p.routines, f)
}
