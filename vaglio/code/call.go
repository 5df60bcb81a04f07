package code

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/metnos/vaglio/vaglio/code/lex"
	"github.com/metnos/vaglio/vaglio/shell"
)

// callArguments reads the arguments up to the closing bracket.
func (p *program) callArguments() []value {
	outer := p.bare
	p.bare = 0
	args := p.items(")")
	if p.bare = outer; p.blockFollows() {
		args = append(args, p.block())
	}
	return args
}

// blockFollows reports whether a ruby block follows a call.
func (p *program) blockFollows() bool {
	return p.lang.name == "ruby" && (p.is("{") && p.peek(0).Match > 0 || p.word("do") && p.bare == 0 && (p.loop == 0 || p.peek(1).Text == "|"))
}

// bareWord reports whether a keyword or word operator follows.
func (p *program) bareWord() bool {
	return p.lang.name == "perl" && p.word("x") ||
		p.word("if", "unless", "while", "until", "for", "foreach", "or", "and", "do", "then", "end", "eq", "ne", "in", "rescue")
}

// argumentFollows reports whether an argument follows without a bracket.
func (p *program) argumentFollows() bool {
	t, next := p.peek(0), p.peek(1)
	switch t.Kind {
	case lex.String, lex.Number:
		return true
	case lex.Name:
		return !p.bareWord()
	case lex.Op, lex.End:
	}
	switch t.Text {
	case "(":
		return t.Group
	case "[":
		return !t.Tight
	case "\\", "@", "%":
		return true
	case ":", "*":
		return next.Tight
	case "{":
		return p.lang.name != "ruby"
	case "->":
		return p.lang.name == "ruby"
	}
	return t.Text == "-" && next.Kind == lex.Number
}

// bareName reports whether a value is a name that may be called without brackets.
func (p *program) bareName(v value) bool {
	return p.lang.has("bare") && v.path != "" && v.path[0] != '$' && len(v.alts) == 0 && v.fn == nil && (!p.is("(") || p.peek(0).Group)
}

// bareCall reports whether a function is called without brackets.
func (p *program) bareCall(v value) bool {
	if !p.bareName(v) {
		return false
	}
	f := p.lang.find(v.path, "")
	if p.standsAlone(v.path, f) {
		return false
	}
	if p.argumentFollows() || p.blockFollows() {
		return p.lang.name != "lua" || p.peek(0).Kind == lex.String || p.is("{")
	}
	return f != nil && (f.verb == "fork" || p.lang.has("flat") && (f.from == 0 || slices.Contains([]string{"=reverse", "=chr", "print", "eval"}, f.verb)))
}

// standsAlone reports whether a name does not take what follows it as arguments: eval { … } and the names of lists.
func (p *program) standsAlone(name string, f *function) bool {
	block := p.is("{") || p.peek(0).Line || !p.peek(-1).Word("eval")
	is := f == nil || f.verb == "eval" && block || slices.Contains([]string{"=args", "=env", "=input"}, f.verb)
	return is && p.fns[name] == nil && !p.altering(name)
}

// bareArguments reads arguments up to the end of the statement.
func (p *program) bareArguments() []value {
	if p.blockFollows() {
		return []value{p.block()}
	}
	out := p.lead()
	p.bare++ // a block behind do is for this call, not for one among its arguments
	for p.at < p.end && p.spend(1) && !p.is(";", ")", "}", "]", "=>") && !p.bareWord() {
		if p.takeIf(p.is(",")) {
			p.lines()
			continue
		}
		before := p.at
		out = spreadInto(out, p.item())
		if !p.takeIf(p.is("=>")) && (p.at <= before || !p.is(",")) {
			break
		}
	}
	if p.bare--; p.blockFollows() {
		out = append(out, p.block())
	}
	return out
}

// lead reads what precedes the arguments in perl: a block, or an open file.
func (p *program) lead() []value {
	switch {
	case p.lang.name != "perl":
	case p.opens(p.at, "{"):
		return []value{p.block()}
	case p.handleFollows():
		h := p.nameOperand()
		return []value{{path: "<handle>", file: h.file, holder: h.holder, kind: kindNone}}
	}
	return nil
}

// handleFollows reports whether perl's print has a handle before its texts.
func (p *program) handleFollows() bool {
	t, next := p.peek(0), p.peek(1)
	return t.Word() && (next.Quoted() || next.Word() && !next.Word("x", "for", "if", "foreach")) &&
		(t.Text[0] == '$' || strings.ToUpper(t.Text) == t.Text && p.lang.full[t.Text] == nil)
}

// method calls a method of a value: of an open file, one that the program defines, or one that the table knows.
func (p *program) method(v value, name, full string, args []value) value {
	if v.path == "" && !v.given() { // its arguments are not its object
		v.alts = v.words()
	}
	if out, ok := p.ofArguments(v, name, full, args); ok {
		return out
	}
	if out, ok := p.ofMap(v, name, args); ok {
		return out
	}
	p.alters(name, v, args)
	p.alters(full, first(args), tailOf(args, 1))
	known := p.lang.find(full, "")
	if v.file != nil && known != nil && known.verb == "handle" {
		return p.runHandle(known, name, append([]value{v}, args...), nil)
	}
	if own := p.ownMethod(v, name, full, known == nil); own.path != full && p.isFunction(own) {
		return p.call(own, value{}, args)
	}
	if known == nil {
		p.anyLibrary(v, full, args)
	}
	return p.call(value{path: full}, v, args)
}

// call reads a call of a function, or of a method of recv.
func (p *program) call(v, recv value, args []value) value {
	switch {
	case v.fn != nil && v.fn.method != "" && len(args) > 0:
		return p.method(args[0], v.fn.method, ending(strings.TrimPrefix(p.canonical(args[0].path)+"."+v.fn.method, ".")), slices.Concat(v.fn.held, args[1:]))
	case v.fn != nil:
		return p.invoke(v.fn, args)
	}
	name, on := p.canonical(v.path), ""
	if s, ok := v.text(); ok {
		name = p.canonical(strings.ReplaceAll(s, "::", "."))
	}
	if recv.path != "" || recv.given() {
		on = onOf(recv)
	} else {
		p.stand[name] = -1
		p.alters(name, first(args), tailOf(args, 1))
	}
	f := p.lang.find(name, on)
	switch own := p.fns[name]; {
	case p.isOwn(own, name, recv):
		return p.invoke(own, args)
	case p.classes[strings.TrimSuffix(name, ".new")] != nil:
		return p.construct(name, args)
	case f == nil, f.verb[0] == '=' && p.programWords(name) != nil:
		return p.callOther(name, recv, args)
	}
	return p.callKnown(f, name, on, recv, args)
}

// callKnown reads a call of a function that the table of verbs knows. Another file of the project may define one named as a method of texts or lists is.
func (p *program) callKnown(f *function, name, on string, recv value, args []value) value {
	if f.verb[0] == '=' && p.lang.full[name] == nil && !recv.given() {
		if out, ok := p.linked(name, args); ok {
			return out
		}
	}
	if p.takesObject(f, name, on, recv.given(), len(args)) {
		args = append([]value{recv}, args...)
	}
	return p.apply(f, name, args)
}

// callOther reads a call of a function that the table of verbs does not know.
func (p *program) callOther(name string, recv value, args []value) value {
	if out, ok := p.declares(name, args); ok {
		return out
	}
	p.library(name, args)
	p.hands(name, args)
	return p.handedOn(name, recv, args)
}

// given reports whether a value is more than a name.
func (v value) given() bool { return len(v.alts) > 0 || v.kind != kindText }

// takesObject reports whether the object of a function is its first argument.
func (p *program) takesObject(f *function, name, on string, given bool, args int) bool {
	last := name[strings.LastIndexByte(name, '.')+1:]
	switch {
	case f.method && on != "", on == onPath && p.lang.path[last] == f, p.lang.full[name] == nil && p.lang.method[last] == f:
		return true
	case p.lang.full[name] == f:
		return false
	}
	return f.verb[0] == '=' && given || on == onPath && args == 0
}

func splitNamed(args []value) (plain []value, named map[string]value) {
	named = map[string]value{}
	for _, a := range args {
		switch {
		case a.name != "":
			named[a.name] = a
		case a.kind == kindMap && a.spread:
			maps.Copy(named, a.fields())
		default:
			plain = append(plain, a)
		}
	}
	return plain, named
}

// wholeOf matches names of functions whose result shows all that they are given.
var wholeOf = regexp.MustCompile(`(?i)(?:stringify|dump(?:s|er)?|format|join|inspect|entries|items|values|each|copy|` +
	`to_?(?:h|a|s|json|object|str|string)|encode|repr|str)$`)

// ofEnvironment returns what a function makes of the environment, if that is among what it is given.
func (p *program) ofEnvironment(name string, given []value) value {
	at := slices.IndexFunc(given, p.holdsEnvironment)
	switch {
	case at < 0:
		return value{}
	case !wholeOf.MatchString(name):
		return unknown(given[at].path + "." + name[strings.LastIndexByte(name, '.')+1:] + "()")
	case slices.ContainsFunc(given, func(v value) bool { return v.file != nil }): // json.dump(dict(os.environ), file)
		p.emit("print", shell.VerbEnvironment)
	}
	return given[at]
}

// handedOn reads a call of an unknown function. It may call a function among its arguments with each of the others, or with what its object holds.
func (p *program) handedOn(name string, recv value, args []value) value {
	all := slices.Clone(args)
	if recv.given() {
		all = append(all, recv)
	}
	i := slices.IndexFunc(all, p.isFunction)
	if out, ok := p.linked(name, args); ok {
		return out
	}
	if i < 0 {
		if env := p.ofEnvironment(name, append(all, recv)); env.path != "" {
			return env
		}
		if out := passedOn(name, listOf(all...).words()...); out.given() {
			return out
		}
		out := made(name, args)
		p.noteOf(out.path, args)
		if len(recv.alts) > 0 && recv.word().IsUnknown() {
			out.alts = recv.alts
		}
		return out
	}
	fn := all[i]
	if isForLater(name, args, i) {
		p.later++
		defer func() { p.later-- }()
	}
	rest := slices.DeleteFunc(flattened(slices.Delete(all, i, i+1)), func(v value) bool { return v.fn != nil })
	if len(rest) == 0 && recv.path != "" {
		rest = []value{recv}
	}
	p.unsure++ // how often it is called
	defer func() { p.unsure-- }()
	return p.eachOf(fn, rest)
}

// isFunction reports whether a value is a relevant function.
func (p *program) isFunction(v value) bool {
	if v.fn != nil || v.path == "" || v.given() || strings.HasSuffix(v.path, ")") {
		return v.fn != nil
	}
	f := p.lang.find(p.canonical(v.path), "")
	return p.fns[v.path] != nil || f != nil && (f.verb[0] != '=' || slices.Contains([]string{"=chr", "=import", "=include"}, f.verb))
}

// envName matches the name of a variable of the environment.
var envName = regexp.MustCompile(`^[A-Za-z_]\w*$`)

// optionOf returns the first of several options that a call gives: as an argument by name, or as an entry of a map among the others.
func optionOf(args []value, named map[string]value, names ...string) (option value, ok bool) {
	for _, name := range names {
		if option, ok = named[name]; !ok {
			option, ok = named["_"+name] // of python's sh
		}
		for _, a := range args {
			if o, has := a.field(name); has {
				option, ok = o, true
			}
		}
		if ok && option.kind != kindNone {
			return option, true
		}
	}
	return value{}, false
}

// export notes that the program sets variables for the commands that it runs from now on.
func (p *program) export(more ...shell.Assign) {
	if p.spend(1 + len(p.exports)/bytesPerStep + len(more)) {
		p.exports = append(slices.Clip(p.exports), more...)
	}
}

// assignedTo returns an object that takes over what others hold, as node's Object.assign does.
func assignedTo(p *program, v value, rest []value) value {
	if p.isEnvironment(v) {
		p.export(assigns(first(rest))...)
	}
	if v.kind != kindMap {
		return v
	}
	for _, from := range rest {
		if from.kind == kindMap && p.spend(1+len(from.list)) {
			v = v.orMap(from)
		} else if from.kind != kindNone {
			v = v.with(anyKey, unknown(from.path))
		}
	}
	if v.holder != "" || v.of != "" {
		p.puts(v, v)
	}
	return v
}

// lets reads a function that gives a name what its block returns, as in tests, or that of another function besides.
func lets(p *program, v value, rest []value) value {
	name, known := v.text()
	if at := slices.IndexFunc(rest, func(e value) bool { return e.fn != nil }); known && at >= 0 {
		p.set(name, p.invoke(rest[at].fn, nil))
	} else if old, is := first(rest).text(); known && is { // alias_method :new, :old
		p.set(name, unknown(old))
	}
	return unknown("")
}

// describes reads a function that says which class the tests in its block are for.
func describes(p *program, v value, rest []value) value {
	if v.path != "" && !v.given() {
		p.set("described_class", v)
	}
	return p.handedOn("describe", value{}, append([]value{v}, rest...))
}

// exported reads a function that sets variables: by name and value, in a map, or as one text.
func exported(p *program, v value, rest []value) value {
	p.export(append(assigns(v), assigns(listOf(append([]value{v}, rest...)...))...)...)
	return unknown("")
}

// emit records what a call does.
func (p *program) emit(name string, verb shell.Verb, targets ...shell.Word) {
	p.calls(shell.Call{Function: name, Verb: verb, Targets: targets})
}

// calledWith reads the call of a function with the arguments that follow.
func (p *program) calledWith(v value, arguments func() []value) value {
	name, at := v.path, p.at
	out := p.call(v, value{}, arguments())
	p.mixesAt(name, at)
	return out
}

// isOwn reports whether a function of the program is meant, and not one that the table knows.
func (p *program) isOwn(own *routine, name string, recv value) bool {
	return own != nil && (recv.path == "" || p.lang.find(name, "") == nil)
}
