package code

import (
	"slices"
	"strings"

	"github.com/metnos/vaglio/vaglio/shell"
)

// further reads a call of a verb that is read further.
type further func(p *program, f *function, name string, args []value, named map[string]value) value

func furtherVerbs() map[string]further {
	return map[string]further{
		"shell": (*program).runShell, "exec": (*program).runExec, "execl": (*program).runExecl, "spawn": (*program).runSpawn, "eval": (*program).runEval,
		"open": (*program).runOpen, "handle": (*program).runHandle, "print": (*program).runPrint,
	}
}

// callArguments reads the arguments up to the closing bracket.
func (p *program) callArguments() []value {
	saved := p.printing
	p.printing = false
	defer func() { p.printing = saved }()
	args := p.items(")")
	if p.lang.name == "ruby" && p.blockFollows() {
		args = append(args, p.rubyBlock())
	}
	return args
}

func (p *program) rubyBlock() value {
	f := &routine{toks: p}
	p.blockParams(f)
	return p.function(f, p.at)
}

// blockFollows reports whether a block of ruby follows a call.
func (p *program) blockFollows() bool {
	return p.lang.name == "ruby" && (p.is("{") && p.peek(0).match > 0 || p.word("do") && p.loop == 0 || p.word("do") && p.peek(1).text == "|")
}

// argumentFollows reports whether an argument follows without a bracket.
func (p *program) argumentFollows() bool {
	t, next := p.peek(0), p.peek(1)
	switch t.kind {
	case tokenString, tokenNumber:
		return true
	case tokenName:
		return !slices.Contains([]string{
			"if", "unless", "while", "until", "for", "foreach", "or", "and", "do", "then", "end", "x", "eq", "ne", "in", "rescue",
		}, t.text)
	case tokenOp, tokenEnd:
	}
	switch t.text {
	case "(":
		return t.group
	case "[":
		return !t.tight
	case "\\", "@", "%":
		return true
	case ":", "*":
		return next.tight
	case "{":
		return p.lang.name != "ruby"
	case "<":
		return p.lang.name == "perl"
	case "->":
		return p.lang.name == "ruby"
	}
	return t.text == "-" && next.kind == tokenNumber
}

// bareCall reports whether a function is called without brackets.
func (p *program) bareCall(v value) bool {
	if !p.bareName(v) {
		return false
	}
	f := p.lang.find(v.path, "")
	if p.fns[v.path] == nil && (f == nil || p.standsAlone(f)) {
		return false
	}
	if p.argumentFollows() || p.blockFollows() {
		return p.lang.name != "lua" || p.peek(0).kind == tokenString || p.is("{")
	}
	return f != nil && (f.verb == "fork" || p.lang.has("flat") && f.takesSubject())
}

// standsAlone reports whether a name is no call of what follows it: eval { … }
// and the names of lists.
func (p *program) standsAlone(f *function) bool {
	return f.verb == "eval" && p.is("{") || f.verb == "=args" || f.verb == "=env" || f.verb == "=input"
}

// bareName reports whether a value is the name of what may be called without
// brackets.
func (p *program) bareName(v value) bool {
	return p.lang.has("bare") && v.path != "" && v.path[0] != '$' && len(v.alts) == 0 && v.fn == nil && (p.peek(0).text != "(" || p.peek(0).group)
}

// takesSubject reports whether a function of perl without arguments is given $_.
func (f *function) takesSubject() bool {
	return f.from == 0 || slices.Contains([]string{"=shift", "=reverse", "=chr", "=ord", "print"}, f.verb)
}

// bareArguments reads arguments up to the statement's end.
func (p *program) bareArguments() []value {
	if p.blockFollows() {
		return []value{p.rubyBlock()}
	}
	var out []value
	if p.lang.name == "perl" {
		out = p.perlLead()
	}
	for p.at < p.end && p.spend(1) && !p.argumentsEnd() {
		if p.takeIf(p.is(",")) {
			p.lines()
			continue
		}
		before := p.at
		name := p.itemName()
		v := p.expression()
		v.name = name
		out = spreadInto(out, v)
		if !p.takeIf(p.is("=>")) && (p.at <= before || !p.is(",")) {
			break
		}
	}
	if p.blockFollows() {
		out = append(out, p.rubyBlock())
	}
	return out
}

// argumentsEnd reports whether the arguments without brackets end here.
func (p *program) argumentsEnd() bool {
	return p.is(";", ")", "}", "]", "=>") || p.word("or", "and", "if", "unless", "while", "until", "for", "foreach", "do", "end", "then")
}

// perlLead reads what stands before the arguments: system {$program} @words,
// map { … } @list, print {$h} …, print $h ….
func (p *program) perlLead() []value {
	switch {
	case p.is("{") && int(p.peek(0).match) > p.at:
		return []value{p.perlBlock()}
	case p.handleFollows():
		h := p.nameOperand()
		return []value{{path: "<handle>", file: h.file, holder: h.holder, kind: kindNone}}
	}
	return nil
}

func (p *program) perlBlock() value {
	f := &routine{toks: p, from: p.at + 1, to: int(p.peek(0).match)}
	return p.function(f, f.to+1)
}

// handleFollows reports whether print of perl has a handle before its texts.
func (p *program) handleFollows() bool {
	t, next := p.peek(0), p.peek(1)
	texts := next.quoted() ||
		next.kind == tokenName && !slices.Contains([]string{"x", "for", "if", "foreach"}, next.text)
	if t.kind != tokenName || !texts {
		return false
	}
	return t.text[0] == '$' || t.text == "STDOUT" || t.text == "STDERR" || strings.ToUpper(t.text) == t.text && p.lang.full[t.text] == nil
}

// method calls a method of a value.
func (p *program) method(v value, name, full string, args []value) value {
	if v.file != nil {
		if f := p.lang.find("?."+name, ""); f != nil && f.verb == "handle" {
			return p.runHandle(f, name, append([]value{v}, args...), nil)
		}
	}
	if f := p.fns[name]; f != nil && p.lang.find(full, "") == nil {
		if f.method {
			args = append([]value{v}, args...)
		}
		return p.invoke(f, args)
	}
	if e, ok := v.field(name); ok && e.fn != nil {
		return p.invoke(e.fn, args)
	}
	if f := p.vars["."+name]; f.fn != nil {
		return p.invoke(f.fn, args)
	}
	return p.call(value{path: full}, v, args)
}

// call reads the call of a function, or of a method of recv.
func (p *program) call(v, recv value, args []value) value {
	if v.fn != nil {
		return p.invoke(v.fn, args)
	}
	name := p.canonical(v.path)
	if s, ok := v.text(); ok {
		name = s
	}
	if f := p.fns[name]; f != nil && (recv.path == "" || p.lang.find(name, "") == nil) {
		return p.invoke(f, args)
	}
	if p.classes[strings.TrimSuffix(name, ".new")] {
		return p.construct(name, args)
	}
	on := ""
	if recv.path != "" || recv.given() {
		on = onOf(recv)
	}
	f := p.lang.find(name, on)
	if f == nil {
		return p.handedOn(name, recv, args)
	}
	if p.takesObject(f, name, on, recv.given(), len(args)) {
		args = append([]value{recv}, args...)
	}
	plain, named := splitNamed(args)
	return p.apply(f, name, plain, named)
}

// given reports whether a value is more than a name.
func (v value) given() bool { return len(v.alts) > 0 || v.kind != kindText }

// takesObject reports whether the object of a function is its first argument.
func (p *program) takesObject(f *function, name, on string, given bool, args int) bool {
	last := name[strings.LastIndexByte(name, '.')+1:]
	switch {
	case f.method && on != "", p.lang.full[name] == nil && (p.lang.method[last] == f || p.lang.path[last] == f):
		return true
	case p.lang.full[name] == f:
		return false
	}
	return f.verb[0] == '=' && given || on == onPath && args == 0
}

// construct makes an object of a class.
func (p *program) construct(name string, args []value) value {
	for _, c := range [...]string{"__init__", "constructor", "initialize", "__construct"} {
		f := p.fns[c]
		switch {
		case f == nil:
		case f.method:
			p.invoke(f, append([]value{{path: "self", holder: "self"}}, args...))
		default:
			p.invoke(f, args)
		}
	}
	return value{path: name}
}

func splitNamed(args []value) (plain []value, named map[string]value) {
	named = map[string]value{}
	for _, a := range args {
		switch {
		case a.name != "":
			named[a.name] = a
		case a.kind == kindMap && a.spread:
			for i, k := range a.keys {
				named[k] = a.list[i]
			}
		default:
			plain = append(plain, a)
		}
	}
	return plain, named
}

// apply reads a call of a function of the table.
func (p *program) apply(f *function, name string, args []value, named map[string]value) value {
	if strings.HasPrefix(f.verb, "=") {
		return p.yields(f, args, named)
	}
	if read := p.table.further[f.verb]; read != nil {
		return read(p, f, name, args, named)
	}
	targets := f.targets(p, args, named)
	verb := shell.Verb(f.verb)
	switch verb {
	case shell.VerbFork:
		p.fork(name)
		return value{kind: kindOther}
	case shell.VerbMove, shell.VerbCopy, shell.VerbLink:
		p.pairs(name, verb, targets)
		return value{kind: kindOther}
	case shell.VerbKill:
		if f.onlyAsks(args) {
			return value{kind: kindOther}
		}
	case shell.VerbWrite, shell.VerbAppend:
		targets = p.writes(f, verb, targets)
	default: // The others do nothing but fall on their targets.
	}
	p.falls(name, verb, targets)
	out := p.result(verb, name, targets, tailOf(args, 1))
	if verb == shell.VerbList && p.lang.has("flat") {
		p.eachFound(out, args)
	}
	return out
}

// falls notes a verb on each of its targets, or on none.
func (p *program) falls(name string, verb shell.Verb, targets []value) {
	for _, t := range targets {
		for _, w := range t.words() {
			p.emit(name, verb, w)
		}
	}
	if len(targets) == 0 {
		p.emit(name, verb)
	}
}

// yields calls a function that yields a value.
func (p *program) yields(f *function, args []value, named map[string]value) value {
	if len(args) == 0 && p.lang.has("flat") && f.verb != "=shift" {
		args = []value{p.vars["$_"]}
	}
	if f.verb == "=args" {
		return p.arguments(f.args[0] + 1)
	}
	return p.table.operations[f.verb[1:]](p, args, named)
}

// onlyAsks reports whether a signal asks whether a process is there.
func (f *function) onlyAsks(args []value) bool {
	signal := 1
	if f.from > 0 {
		signal = 0
	}
	return len(args) > 1 && args[signal].word().Is("0")
}

// writes notes what a call writes, and returns the file.
func (p *program) writes(f *function, verb shell.Verb, targets []value) []value {
	if len(targets) == 0 {
		return nil
	}
	s := shell.ProgramStep{File: targets[0].word(), Writes: true}
	if len(targets) > 1 && len(f.args) > 1 {
		s.Write, s.Append = targets[1].word(), verb == shell.VerbAppend
	}
	p.step(s)
	return targets[:1]
}

// eachFound calls the function that find of perl is given for each name.
func (p *program) eachFound(found value, args []value) {
	for _, a := range args {
		if a.fn != nil {
			p.vars["$_"] = found.nth(0)
			p.invoke(a.fn, nil)
		}
	}
}
