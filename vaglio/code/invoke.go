package code

import (
	"slices"
	"strings"

	"github.com/metnos/vaglio/vaglio/shell"
	"github.com/metnos/vaglio/vaglio/wording"
)

// result is what a call yields that is not known, but for where it is from.
func (p *program) result(verb shell.Verb, name string, targets, rest []value) value {
	switch {
	case verb == shell.VerbNetwork:
		return remote(name)
	case verb == shell.VerbList && len(targets) > 0:
		return p.listing(name, targets[0], first(rest))
	case verb == shell.VerbRead && len(targets) > 0:
		return p.content(targets[0])
	}
	return unknown(name + "()")
}

// content is what is known of a file.
func (p *program) content(file value) value {
	if w, ok := p.in.Content(file.word()); ok {
		return textOf(w)
	}
	return textOf(shell.NewWord(shell.Part{Kind: shell.PartUnknown, From: "cat " + file.word().String(), MayBeEmpty: true}))
}

// listing are the names below a folder, or those that match a pattern.
func (p *program) listing(name string, dir, pattern value) value {
	last := name[strings.LastIndexByte(name, '.')+1:]
	entry := shell.NewWord(shell.Part{Kind: shell.PartGlob, Text: "*"})
	if s, ok := pattern.text(); ok && dir.kind == kindPath {
		entry = globbed(shell.Text(s))
	}
	below := value{kind: kindPath}
	for _, w := range dir.words() {
		below.alts = append(below.alts, shell.Glue(p.cut(textOf(w), "", "/"), shell.Text("/"), entry))
	}
	switch last {
	case "walk":
		names := listOf(textOf(entry))
		return listOf(listOf(below, names, names))
	case "glob", "iglob", "[]":
		if dir.kind == kindPath {
			return listOf(below)
		}
		var out []value
		for _, w := range dir.words() {
			out = append(out, textOf(globbed(w)))
		}
		v := listOf(out...)
		v.spread = p.lang.has("flat")
		return v
	case "iterdir", "rglob", "children", "each_child", "find", "finddepth":
		return listOf(below)
	}
	return listOf(textOf(entry))
}

// targets are the arguments that a verb falls on.
func (f *function) targets(p *program, args []value, named map[string]value) []value {
	if f.text != "" && f.verb != "open" && f.verb != "eval" {
		return []value{text(f.text)}
	}
	if out := f.chosen(args); len(out) > 0 {
		return out
	}
	for _, n := range [...]string{"path", "file", "files", "filename", "name", "fd", "src", "command", "cmd", "args", "root_dir"} {
		if v, ok := named[n]; ok {
			return []value{v}
		}
	}
	if f.from == 0 && p.lang.name == "perl" {
		return []value{p.vars["$_"]}
	}
	return nil
}

// chosen are the arguments that stand where the table says.
func (f *function) chosen(args []value) []value {
	var out []value
	if f.from >= 0 {
		for _, a := range tailOf(args, f.from) {
			if a.fn == nil && a.kind != kindMap {
				out = append(out, a)
			}
		}
	}
	for _, i := range f.args {
		if i >= 0 && i < len(args) {
			out = append(out, args[i])
		}
	}
	return out
}

func (p *program) emit(name string, verb shell.Verb, targets ...shell.Word) {
	p.step(shell.ProgramStep{Call: &shell.Call{Language: p.lang.name, Function: name, Verb: verb, Targets: targets}, Loop: p.loop > 0})
}

// pairs notes a call with two targets: for several of each, in turn.
func (p *program) pairs(name string, verb shell.Verb, targets []value) {
	if len(targets) < 2 {
		for _, t := range targets {
			p.emit(name, verb, t.words()...)
		}
		return
	}
	a, b := targets[0].words(), targets[1].words()
	for i, x := range a {
		for j, y := range b {
			if len(a) != len(b) || i == j {
				p.emit(name, verb, x, y)
			}
		}
	}
}

// fork notes that the program copies itself; without end that is a bomb.
func (p *program) fork(name string) {
	p.forks++
	loop := p.loop > 0
	for i := max(0, p.at-4); i < min(len(p.toks), p.at+5); i++ {
		loop = loop || slices.Contains([]string{"while", "until", "loop", "for", "redo"}, p.toks[i].text) && p.toks[i].kind == tokenName
	}
	p.emit(name, shell.VerbFork)
	if loop {
		p.problem(shell.ProblemForkBomb, wording.Say("a program starts copies of itself in a loop"), shell.Word{})
	}
}

// invoke reads the body of a function for one call.
func (p *program) invoke(f *routine, args []value) value {
	if f.target != nil {
		return p.call(*f.target, value{}, slices.Concat(f.bound, args))
	}
	cost := f.to - f.from
	if f.active > 0 && p.forks > 0 {
		p.problem(shell.ProblemForkBomb, wording.Say("a function copies its process and calls itself"), shell.Word{})
	}
	if f.active > 1 || f.toks != p || p.again < cost {
		f.called = f.called && f.active > 0
		return unknown(f.name + "()")
	}
	p.again -= cost
	f.active++
	f.called = true
	plain, named := splitNamed(args)
	last, out := p.through(f, plain, named)
	f.active--
	if out.kind == kindNone && (f.name == "" || p.lang.has("last") || p.lang.name == "perl") {
		return last
	}
	return out
}

// through reads the body of a function, and returns the value of its last
// statement and what it returns.
func (p *program) through(f *routine, args []value, named map[string]value) (last, out value) {
	end, scanned := p.end, p.scanned
	p.end = len(p.toks)
	p.bindParams(f, args, named)
	p.scanned = 0
	p.returns = append(p.returns, value{kind: kindNone})
	last = p.block(f.from, f.to)
	n := len(p.returns) - 1
	out, p.returns = p.returns[n], p.returns[:n]
	p.end, p.scanned = end, scanned
	return last, out
}

// bindParams binds the parameters of a function to what it is given.
func (p *program) bindParams(f *routine, args []value, named map[string]value) {
	if p.lang.has("flat") {
		p.vars["@_"] = listOf(args...)
		if len(args) > 0 && f.name == "" {
			p.vars["$_"] = args[0]
		}
	}
	for i, at := range f.params {
		delete(p.vars, p.key(p.toks[at].text))
		v := p.param(f, i, args, named)
		if p.toks[at].kind == tokenName {
			p.set(p.toks[at].text, v)
		} else {
			p.bind(at, v)
		}
	}
}

// param is the value of a parameter. A function without a name may be given
// its arguments as one list.
func (p *program) param(f *routine, i int, args []value, named map[string]value) value {
	at := f.params[i]
	list := f.packed(args)
	v, ok := named[p.toks[at].text]
	switch {
	case list != nil && len(named) == 0 && p.lang.name == "ruby":
		return args[0].nth(i)
	case ok:
		return v
	case p.toks[at].kind == tokenName && p.tok(at-1).is("...", "*"):
		return listOf(tailOf(args, i)...)
	case i < len(args):
		return args[i]
	case i < len(list):
		return list[i]
	}
	return p.fallback(at)
}

// packed is what the only argument of a function without a name holds for its
// parameters.
func (f *routine) packed(args []value) []value {
	if len(f.params) > 1 && len(args) == 1 && args[0].kind == kindList && f.name == "" {
		return args[0].list
	}
	return nil
}

// glued is a text with those that stand beside it.
func (p *program) glued(v value) value {
	for p.lang.has("prefixes") && p.peek(0).quoted() {
		v = p.glue(v, p.primary())
	}
	return v
}

// fallback is the value of a parameter that a call leaves out.
func (p *program) fallback(at int) value {
	name := p.toks[at].text
	if at+2 < len(p.toks) && p.toks[at+1].text == "=" {
		saved := p.at
		p.at = at + 2
		v := p.expression()
		p.at = saved
		return v
	}
	return value{path: name, alts: []shell.Word{unknownWord(name)}}
}

// handedOn reads the call of a function that is not known: what it is given may
// be a function that it calls with the rest.
func (p *program) handedOn(name string, recv value, args []value) value {
	plain, named := splitNamed(args)
	fn, rest := named["target"], plain
	if !p.isFunction(fn) {
		for i, a := range plain {
			if p.isFunction(a) {
				fn, rest = a, slices.Concat(plain[:i], plain[i+1:])
				break
			}
		}
	}
	if list, ok := named["args"]; ok {
		rest = list.list
	}
	if p.isFunction(fn) {
		return p.eachOf(fn, recv, rest)
	}
	if recv.word().Remote() || slices.ContainsFunc(plain, func(v value) bool { return v.word().Remote() }) {
		return remote(name)
	}
	out := unknown(name + "()")
	if len(recv.alts) > 0 && recv.word().IsUnknown() {
		out.alts = recv.alts
	}
	return out
}

// isFunction reports whether a value is a function that matters.
func (p *program) isFunction(v value) bool {
	if v.fn != nil {
		return true
	}
	if v.path == "" || len(v.alts) > 0 || strings.HasSuffix(v.path, ")") {
		return false
	}
	f := p.lang.find(p.canonical(v.path), "")
	return p.fns[v.path] != nil || f != nil && (f.verb[0] != '=' || f.verb == "=chr")
}

// eachOf calls a function with what it is given: every element of a list, or
// of the object whose method gives it on.
func (p *program) eachOf(fn, recv value, rest []value) value {
	list := rest
	switch {
	case p.handsOut(recv, rest):
		if list = recv.elements(); recv.multi() && len(rest) > 0 && !rest[0].multi() {
			list = slices.Concat(list, rest)
		}
	case len(rest) == 1 && rest[0].multi():
		list = rest[0].list
	case len(rest) == 0 && fn.fn == nil:
		return p.call(fn, value{}, nil)
	default:
		partial := value{fn: &routine{target: &fn, bound: rest, toks: p}}
		p.call(fn, value{}, rest)
		return partial
	}
	var out []value
	for _, e := range list[:min(len(list), maxList)] {
		e.spread = false
		out = append(out, p.call(fn, value{}, []value{e}))
	}
	return listOf(out...)
}

// handsOut reports whether an object gives a function its own elements.
func (p *program) handsOut(recv value, rest []value) bool {
	return recv.multi() || len(recv.alts) > 0 || recv.path != "" && len(rest) == 0 && p.lang.find(p.canonical(recv.path), "") == nil
}
