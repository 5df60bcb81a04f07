package code

import (
	"maps"
	"slices"
	"strings"

	"github.com/metnos/vaglio/vaglio/shell"
	"github.com/metnos/vaglio/vaglio/wording"
)

// runShell reads system(…) and its like: one text is a command line, several
// are the words of a command.
func (p *program) runShell(f *function, name string, args []value, named map[string]value) value {
	if len(args) > 0 && args[0].fn != nil && p.lang.name == "perl" { // system {$program} @words
		args = args[1:]
	}
	args = slices.DeleteFunc(slices.Clone(args), func(v value) bool { return v.fn != nil || v.kind == kindMap })
	if len(args) == 0 {
		args = f.targets(p, args, named)
	}
	if len(args) == 0 {
		return unknown(name + "()")
	}
	variadic := p.lang.has("regexp") && p.lang.name != "node" && p.lang.name != "awk"
	if args[0].multi() || variadic && len(args) > 1 {
		p.argv(listOf(args...).words())
		return unknown(name + "()")
	}
	for _, w := range args[0].words() {
		p.shell(w, name)
	}
	return unknown(name + "()")
}

func (p *program) shell(w shell.Word, by string) {
	p.step(shell.ProgramStep{Shell: &w, By: by, Loop: p.loop > 0})
}

func (p *program) shellLine(v value, by string) {
	for _, w := range v.words() {
		p.shell(w, by)
	}
}

func (p *program) argv(words []shell.Word) {
	if len(words) > 0 {
		p.step(shell.ProgramStep{Argv: words, Loop: p.loop > 0})
	}
}

// runExec reads subprocess.run, spawn and their like.
func (p *program) runExec(f *function, name string, args []value, named map[string]value) value {
	out := unknown(name + "()")
	for _, a := range args {
		if s, ok := a.field("shell"); ok && a.kind == kindMap {
			named = map[string]value{"shell": s}
		}
	}
	args = slices.DeleteFunc(slices.Clone(args), func(v value) bool { return v.kind == kindMap || v.fn != nil })
	if len(f.args) > 0 && f.args[0] > 0 {
		args = tailOf(args, f.args[0])
	}
	if len(args) == 0 {
		if args = f.targets(p, nil, named); len(args) == 0 {
			return out
		}
	}
	first := args[0]
	inShell, ok := named["shell"]
	asShell := ok && inShell.kind != kindNone
	switch {
	case first.multi() && asShell && len(first.list) > 0:
		p.shellLine(first.list[0], name)
	case first.multi():
		p.argv(first.words())
	case len(args) > 1 && args[1].kind == kindList:
		list := args[1].words()
		if strings.HasPrefix(name, "os.") || strings.Contains(name, "posix_spawn") {
			list = list[min(1, len(list)):]
		}
		words := append([]shell.Word{first.word()}, list...)
		if asShell {
			p.shell(p.spaced(words, " "), name)
		} else {
			p.argv(words)
		}
	case strings.HasSuffix(name, "_exec"):
		p.argv(listOf(args...).words())
	default:
		p.shellLine(first, name)
	}
	return out
}

// runExecl reads execl(path, arg0, …).
func (p *program) runExecl(f *function, _ string, args []value, _ map[string]value) value {
	args = tailOf(args, f.args[0])
	if len(args) > 1 {
		p.argv(listOf(slices.Concat(args[:1], args[2:])...).words())
	}
	return value{}
}

// runEval reads code of the same language.
func (p *program) runEval(f *function, name string, args []value, _ map[string]value) value {
	if len(args) > 0 && f.text != "" {
		args = args[len(args)-1:]
	}
	if len(args) == 0 || args[0].fn != nil || args[0].kind == kindMap {
		return value{}
	}
	out := value{}
	for _, w := range args[0].words() {
		if w.HasUnknown() {
			p.gap(w)
		}
		if w.IsUnknown() {
			continue
		}
		if p.evals++; p.evals > maxEvals {
			p.problem(shell.ProblemTooDeep, wording.Say("%s runs code that runs code", name), w)
			return out
		}
		sub := p.inner()
		out = sub.read(w)
		if p.lang.name == "python" {
			maps.Copy(p.vars, sub.vars)
		}
	}
	return out
}

// gap notes that code is not known.
func (p *program) gap(w shell.Word) {
	switch {
	case w.Remote():
		p.problem(shell.ProblemDownload, wording.Say("%s runs text that is downloaded", p.lang.name), w)
	case w.IsUnknown():
		p.problem(shell.ProblemDynamicCode, wording.Say("%s runs text that is only known when it runs", p.lang.name), w)
	default:
		p.problem(shell.ProblemPartialCode, wording.Say("%s runs text with parts that are only known when it runs", p.lang.name), w)
	}
}

// runOpen reads open: the mode says whether the file is read or written.
func (p *program) runOpen(f *function, name string, args []value, named map[string]value) value {
	if p.lang.name == "perl" {
		return p.perlOpen(name, args)
	}
	block := value{}
	if n := len(args); n > 0 && args[n-1].fn != nil {
		block, args = args[n-1], args[:n-1]
	}
	if len(args) == 0 {
		if args = f.targets(p, nil, named); len(args) == 0 {
			return unknown(name + "()")
		}
	}
	mode := "r"
	if f.text != "" {
		mode = f.text
	} else if len(args) > 1 {
		mode = args[1].path
		if len(args[1].alts) > 0 {
			mode = args[1].word().String()
		}
	}
	if m, ok := named["mode"]; ok {
		mode = m.word().String()
	}
	verb := openVerb(mode)
	if cmd, ok := strings.CutPrefix(args[0].word().Prefix(), "|"); ok && p.lang.name == "ruby" {
		p.shell(shell.Text(cmd), name)
		return unknown(name + "()")
	}
	for _, w := range args[0].words() {
		p.emit(name, verb, w)
	}
	out := p.content(args[0])
	if verb != shell.VerbRead {
		p.step(shell.ProgramStep{File: args[0].word(), Writes: true, Append: verb == shell.VerbAppend})
		out = value{path: name + "()", file: &handle{file: args[0].word()}}
	}
	if block.fn != nil {
		p.invoke(block.fn, []value{out})
	}
	return out
}

func openVerb(mode string) shell.Verb {
	switch {
	case strings.Contains(mode, "APPEND") || strings.HasPrefix(mode, "a") || strings.HasPrefix(mode, ">>"):
		return shell.VerbAppend
	case strings.HasPrefix(mode, ">") || strings.HasPrefix(mode, "+"), strings.ContainsAny(mode, "wx+") && !strings.Contains(mode, "RDONLY"),
		strings.Contains(mode, "WR"), strings.Contains(mode, "TRUNC"):
		return shell.VerbWrite
	}
	return shell.VerbRead
}

// perlOpen reads open(FH, "<", path), open(FH, ">path") and open(FH, "cmd|").
func (p *program) perlOpen(name string, args []value) value {
	if name == "POSIX.open" && len(args) > 1 {
		p.emit(name, openVerb(args[1].path), args[0].word())
		return value{}
	}
	if strings.HasSuffix(name, ".new") {
		args = append([]value{{}}, args...)
	}
	if len(args) < 2 {
		return value{}
	}
	mode := strings.TrimSpace(args[1].word().Prefix())
	if len(args) == 2 {
		mode = mode[:len(mode)-len(strings.TrimLeft(mode, "+<>|"))]
	}
	file := args[1]
	h := value{path: name + "()"}
	switch {
	case len(args) > 2 && strings.Contains(mode, "|"):
		p.runShell(&function{}, name, args[2:], nil)
		h.file = &handle{file: p.spaced(listOf(args[2:]...).words(), " "), command: true}
	case len(args) > 2:
		file = args[2]
		if strings.HasSuffix(name, ".new") {
			mode, file = args[2].word().String(), args[1]
		}
	case strings.HasPrefix(mode, "|"):
		h.file = &handle{file: p.cut(args[1], "|", ""), command: true}
		p.shell(h.file.file, name)
	case strings.HasSuffix(strings.TrimSpace(args[1].word().Suffix()), "|"):
		p.shell(p.cut(args[1], "", "|"), name)
		return h
	default:
		file = textOf(p.cut(args[1], "+<> ", ""))
	}
	if h.file == nil {
		verb := openVerb(mode)
		p.emit(name, verb, file.word())
		if verb != shell.VerbRead {
			h.file = &handle{file: file.word()}
			p.step(shell.ProgramStep{File: file.word(), Writes: true, Append: verb == shell.VerbAppend})
		}
	}
	p.store(args[0].holder, h)
	return h
}

// cut removes characters from a text's ends.
func (p *program) cut(v value, before, after string) shell.Word {
	parts := slices.Clone(v.word().Parts())
	for i := range parts {
		if i == 0 && parts[i].Kind == shell.PartText {
			parts[i].Text = strings.TrimLeft(parts[i].Text, before)
		}
		if i == len(parts)-1 && parts[i].Kind == shell.PartText && after != "" {
			parts[i].Text = strings.TrimRight(strings.TrimSpace(parts[i].Text), after)
		}
	}
	return shell.NewWord(parts...)
}

// runHandle reads what is written to an open file.
// feed gives a text to an open file or command.
// runPrint reads what the program prints.
// awkStatement reads print, printf and getline with where their texts go.
// awkTo sends what awk prints to a file, a command or the output.
