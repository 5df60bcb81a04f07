package shell

import (
	"strings"
)

// effect notes what a call does.
//
//nolint:cyclop // One case per form that the grammar knows.
func (p *program) effect(name string, verb Verb, method bool, recv value, args []value) {
	args, named := splitNamed(args)
	if method {
		args = append([]value{recv}, args...)
		name = name[strings.LastIndexByte(name, '.')+1:]
	}
	args = p.targets(name, args, named)
	if (verb == VerbWrite || verb == VerbAppend) && len(args) > 1 {
		p.r.writeFile(p.f, args[0].word(), args[1].word(), verb == VerbAppend)
	}
	switch verb {
	case verbShell:
		p.shellCall(name, args)
	case verbExec:
		p.execCall(name, args, named)
	case verbExecl:
		if len(args) > 1 {
			p.exec(wordsOf(args[1:]))
		}
	case verbEval:
		p.evalCall(args)
	case verbOpen:
		p.openCall(name, args, named)
	case VerbFork:
		p.emit(name, VerbFork)
		p.forks++
		if p.loop || p.forkLoop() {
			p.r.problem(p.f, Problem{Kind: ProblemForkBomb, Detail: "a program starts copies of itself in a loop", Interpreter: p.lang.name})
		}
	case VerbPermissions:
		if p.lang.name == "perl" || p.lang.name == "ruby" && strings.Contains(name, "File") {
			args = args[min(len(args), 1):] // the mode comes first
		}
		p.emitEach(name, verb, args)
	case VerbKill:
		p.killCall(name, args)
	case VerbMove, VerbCopy, VerbLink:
		p.emit(name, verb, wordsOf(args[:min(len(args), 2)])...)
	default:
		if p.lang.name != "perl" && p.lang.name != "ruby" && len(args) > 1 {
			args = args[:1]
		}
		p.emitEach(name, verb, args)
	}
}

// forkLoop reports whether fork stands in a loop of its own: fork while fork.
func (p *program) forkLoop() bool {
	for i := max(0, p.at-4); i < min(len(p.toks), p.at+4); i++ {
		switch p.toks[i].text {
		case "while", "until", "loop", "for", "redo":
			return true
		}
	}
	return false
}

//nolint:cyclop // One case per form that the grammar knows.
func splitNamed(args []value) (plain []value, named map[string]value) {
	for _, a := range args {
		if len(a.fields) > 0 && !a.multi && a.path == "" {
			_, inner := splitNamed(a.fields)
			for n, v := range inner {
				if named == nil {
					named = make(map[string]value)
				}
				named[n] = v
			}
			for i := 0; i+1 < len(a.fields); i += 2 {
				if n, ok := a.fields[i].word().Text(); ok && a.fields[i].path == "" {
					if named == nil {
						named = make(map[string]value)
					}
					named[n] = a.fields[i+1]
				}
			}
			continue
		}
		if n, ok := strings.CutSuffix(a.path, "="); ok {
			if named == nil {
				named = make(map[string]value)
			}
			named[n] = a
			continue
		}
		plain = append(plain, a)
	}
	return plain, named
}

func wordsOf(args []value) []Word {
	var out []Word
	for _, a := range args {
		if a.multi {
			out = append(out, a.words()...)
			continue
		}
		out = append(out, a.word())
	}
	return out
}

// emitEach notes one call per target, and per alternative of a target.
func (p *program) emitEach(name string, verb Verb, args []value) {
	if len(args) == 0 {
		p.emit(name, verb)
	}
	for _, a := range args {
		for _, w := range a.words() {
			p.emit(name, verb, w)
		}
	}
}

// emit adds a call to the script.
func (p *program) emit(name string, verb Verb, targets ...Word) {
	full := p.lang.name + ":" + name
	argv := append([]Word{Text(full)}, targets...)
	g := *p.f
	g.inLoop = g.inLoop || p.loop
	p.r.emit(&g, Command{
		Name: full, Argv: argv,
		Call: &Call{Language: p.lang.name, Function: name, Verb: verb, Targets: targets},
	})
}

// shell reads text that the program gives to a shell.
func (p *program) shell(code Word, by string) {
	p.r.carried(p.f.with(by), code, p.lang.name)
}

func (p *program) exec(argv []Word) {
	if len(argv) > 0 {
		p.r.run(p.f, &call{argv: argv, external: true, span: p.span()})
	}
}

func (p *program) span() Span {
	if p.f.span != nil {
		return *p.f.span
	}
	return Span{}
}

// shellCall reads system(…) and its like: one text is shell code, several are
// the words of a command.
func (p *program) shellCall(name string, args []value) {
	args = withoutOptions(args)
	if len(args) == 0 {
		return
	}
	words := wordsOf(args)
	several := len(words) > 1 && (p.lang.name == "perl" || p.lang.name == "ruby") || args[0].multi
	if several {
		p.exec(words)
		return
	}
	for _, w := range args[0].words() {
		p.shell(w, name)
	}
}

// withoutOptions drops values that are not known at all from the end: blocks,
// callbacks and option objects.
func withoutOptions(args []value) []value {
	for len(args) > 1 && !args[len(args)-1].multi && args[len(args)-1].word().IsUnknown() && args[len(args)-1].word().parts[0].Name == "" {
		args = args[:len(args)-1]
	}
	return args
}

// execCall reads subprocess.run, spawn and their like.
//
//nolint:cyclop // One case per form that the grammar knows.
func (p *program) execCall(name string, args []value, named map[string]value) {
	if len(args) == 0 {
		if a, ok := named["args"]; ok {
			args = []value{a}
		} else {
			return
		}
	}
	first := args[0]
	shell := false
	if s, ok := named["shell"]; ok {
		shell = !s.word().Is("False") && s.path != "shell="+"False"
	}
	switch {
	case first.multi && shell && len(first.list) > 0:
		p.shell(first.list[0].word(), name)
	case first.multi:
		p.exec(first.words())
	case strings.HasSuffix(name, ".execv") || strings.HasSuffix(name, ".execvp") || strings.HasSuffix(name, ".execve") ||
		strings.HasPrefix(name, "os.") || strings.Contains(name, "posix_spawn"):
		p.execList(args)
	case len(args) > 1 && args[1].multi:
		p.exec(append([]Word{first.word()}, args[1].words()...))
	case p.lang.name == "python" && strings.HasSuffix(name, "_exec"):
		p.exec(wordsOf(args))
	default:
		for _, w := range first.words() {
			p.shell(w, name)
		}
	}
}

// execList reads execv(path, [argv0, …]).
func (p *program) execList(args []value) {
	for i, a := range args {
		if a.multi && i > 0 {
			list := a.words()
			p.exec(append([]Word{args[i-1].word()}, tail(list, 1)...))
			return
		}
	}
	p.exec(wordsOf(args))
}

// evalCall reads code of the same language that the program runs.
func (p *program) evalCall(args []value) {
	if len(args) == 0 {
		return
	}
	for _, w := range args[0].words() {
		if args[0].path != "" && len(args[0].alts) == 0 {
			w = outputOf(args[0].path)
		}
		p.r.newProgram(p.f.with(p.lang.name+" eval"), p.lang, p.args).read(w)
	}
	if len(args[0].words()) == 0 {
		p.r.codeProblem(p.f, outputOf(args[0].path), p.lang.name)
	}
}

// openCall reads open: the mode says whether the file is read or written.
func (p *program) openCall(name string, args []value, named map[string]value) {
	if p.lang.name == "perl" {
		p.perlOpen(name, args)
		return
	}
	if len(args) == 0 {
		return
	}
	mode := "r"
	if len(args) > 1 {
		mode = args[1].word().String()
		if args[1].path != "" {
			mode = args[1].path
		}
	}
	if m, ok := named["mode"]; ok {
		mode = m.word().String()
	}
	if p.lang.name == "ruby" && (name == "open" || strings.HasSuffix(name, ".open")) {
		if code, ok := strings.CutPrefix(args[0].word().Prefix(), "|"); ok {
			p.shell(args[0].word().cut(len(args[0].word().Prefix())-len(code)), name)
			return
		}
	}
	for _, w := range args[0].words() {
		p.emit(name, openVerb(mode), w)
	}
}

func openVerb(mode string) Verb {
	switch {
	case strings.Contains(mode, "APPEND") || strings.HasPrefix(mode, "a"):
		return VerbAppend
	case strings.ContainsAny(mode, "wx+") && !strings.Contains(mode, "RDONLY") || strings.Contains(mode, "WR") || strings.Contains(mode, "TRUNC"):
		return VerbWrite
	}
	return VerbRead
}

// perlOpen reads open(FH, "<", path), open(FH, ">path") and open(FH, "cmd|").
//
//nolint:cyclop // One case per form that the grammar knows.
func (p *program) perlOpen(name string, args []value) {
	if name == "POSIX.open" && len(args) > 1 {
		p.emit(name, openVerb(args[1].path), args[0].word())
		return
	}
	if strings.HasSuffix(name, ".new") {
		args = append([]value{{}}, args...)
	}
	if len(args) < 2 {
		return
	}
	mode := args[1].word()
	s := strings.TrimSpace(mode.Prefix())
	if len(args) > 2 {
		switch {
		case s == "|-" && args[0].path != "":
			p.pipesTo[args[0].path] = p.r.code(wordsOf(args[2:]))
			p.shellCall(name, args[2:])
		case strings.HasSuffix(name, ".new"):
			mode, _ := args[2].word().Text()
			p.emit(name, max(openVerb(mode), perlVerb(mode)), args[1].word())
		case strings.Contains(s, "|"):
			p.shellCall(name, args[2:])
		default:
			p.emit(name, perlVerb(s), args[2].word())
			p.opens(args[0].path, perlVerb(s), args[2].word())
		}
		return
	}
	switch {
	case strings.HasPrefix(s, "|"):
		p.pipesTo[args[0].path] = mode.cut(1)
		p.shell(mode.cut(1), name)
	case strings.HasSuffix(strings.TrimSpace(mode.Suffix()), "|"):
		l, _, _ := mode.splitAt("|")
		p.shell(l, name)
	default:
		trimmed := strings.TrimLeft(mode.Prefix(), "+<> ")
		file := mode.cut(len(mode.Prefix()) - len(trimmed))
		p.emit(name, perlVerb(s), file)
		p.opens(args[0].path, perlVerb(s), file)
	}
}

func perlVerb(mode string) Verb {
	switch {
	case strings.HasPrefix(mode, ">>"):
		return VerbAppend
	case strings.HasPrefix(mode, ">") || strings.HasPrefix(mode, "+"):
		return VerbWrite
	}
	return VerbRead
}

// targets are the arguments of a call that begin with what it touches, which
// may be named, implied or stand further behind.
//
//nolint:cyclop // One case per form that the grammar knows.
func (p *program) targets(name string, args []value, named map[string]value) []value {
	last := name[strings.LastIndexByte(name, '.')+1:]
	switch {
	case last == "getspall" || last == "getspnam":
		return []value{textValue(Text("/etc/shadow"))}
	case last == "make_archive":
		if root, ok := named["root_dir"]; ok {
			return []value{root}
		}
		return args[min(len(args), 2):]
	case last == "Function" && len(args) > 1:
		return args[len(args)-1:]
	case len(args) == 0 && p.lang.name == "perl" && (name == "unlink" || name == "rmdir"):
		return []value{p.vars["$_"]}
	case len(args) > 0:
		return args
	}
	for _, n := range [...]string{"file", "files", "path", "filename", "name", "fd", "command", "cmd"} {
		if v, ok := named[n]; ok {
			return []value{v}
		}
	}
	return args
}

// killCall notes which processes a signal goes to. Signal 0 only asks whether
// they live.
func (p *program) killCall(name string, args []value) {
	if len(args) < 2 {
		p.emitEach(name, VerbKill, args)
		return
	}
	signal, processes := args[1], args[:1]
	if p.lang.name == "perl" || p.lang.name == "ruby" {
		signal, processes = args[0], args[1:]
	}
	if !signal.word().Is("0") {
		p.emitEach(name, VerbKill, processes)
	}
}
