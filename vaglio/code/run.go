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
	out := unknown(name + "()")
	args = withoutOptions(args)
	if len(args) == 0 {
		args = f.targets(p, args, named)
	}
	variadic := p.lang.has("regexp") && p.lang.name != "node" && p.lang.name != "awk"
	switch {
	case len(args) == 0:
	case args[0].multi() || variadic && len(args) > 1:
		p.argv(listOf(args...).words())
	default:
		p.shellLine(args[0], name)
	}
	return out
}

// withoutOptions are the arguments that are no functions and no maps.
func withoutOptions(args []value) []value {
	return slices.DeleteFunc(slices.Clone(args), func(v value) bool { return v.fn != nil || v.kind == kindMap })
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
	asShell := inShell(args, named)
	if args = tailOf(withoutOptions(args), f.skip()); len(args) == 0 {
		if args = f.targets(p, nil, named); len(args) == 0 {
			return out
		}
	}
	switch head := args[0]; {
	case head.multi() && asShell && len(head.list) > 0:
		p.shellLine(head.list[0], name)
	case head.multi():
		p.argv(head.words())
	case len(args) > 1 && args[1].kind == kindList:
		p.execList(name, head, args[1].words(), asShell)
	case strings.HasSuffix(name, "_exec"):
		p.argv(listOf(args...).words())
	default:
		p.shellLine(head, name)
	}
	return out
}

// execList runs a program with a list of words, of which the first is its name
// in some functions.
func (p *program) execList(name string, head value, list []shell.Word, asShell bool) {
	if strings.HasPrefix(name, "os.") || strings.Contains(name, "posix_spawn") {
		list = list[min(1, len(list)):]
	}
	words := append([]shell.Word{head.word()}, list...)
	if asShell {
		p.shell(p.spaced(words, " "), name)
	} else {
		p.argv(words)
	}
}

// inShell reports whether the options say that a shell reads the command.
func inShell(args []value, named map[string]value) bool {
	v, ok := named["shell"]
	for _, a := range args {
		if s, has := a.field("shell"); has {
			v, ok = s, true
		}
	}
	return ok && v.kind != kindNone
}

// runExecl reads execl(path, arg0, …).
func (p *program) runExecl(f *function, _ string, args []value, _ map[string]value) value {
	args = tailOf(args, f.args[0])
	if len(args) > 1 {
		p.argv(listOf(slices.Concat(args[:1], args[2:])...).words())
	}
	return value{}
}

// runSpawn reads a call whose arguments are the program and its words.
func (p *program) runSpawn(f *function, _ string, args []value, _ map[string]value) value {
	p.argv(listOf(tailOf(args, f.args[0])...).words())
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
	if cmd, ok := strings.CutPrefix(args[0].word().Prefix(), "|"); ok && p.lang.name == "ruby" {
		p.shell(shell.Text(cmd), name)
		return unknown(name + "()")
	}
	out := p.content(args[0])
	if h := p.openFile(name, f.mode(args, named), args[0]); h != nil {
		out = value{path: name + "()", file: h}
	}
	if block.fn != nil {
		p.invoke(block.fn, []value{out})
	}
	return out
}

// mode is how a file is opened.
func (f *function) mode(args []value, named map[string]value) string {
	m, ok := named["mode"]
	switch {
	case ok:
		return m.word().String()
	case f.text != "":
		return f.text
	case len(args) > 1:
		return modeOf(args[1])
	}
	return "r"
}

// modeOf is the text of a mode, or the names of its flags.
func modeOf(v value) string {
	if len(v.alts) > 0 {
		return v.word().String()
	}
	return v.path
}

// openFile notes that a file is opened, and returns what is written to it.
func (p *program) openFile(name, mode string, file value) *handle {
	verb := openVerb(mode)
	p.falls(name, verb, []value{file})
	if verb == shell.VerbRead {
		return nil
	}
	p.step(shell.ProgramStep{File: file.word(), Writes: true, Append: verb == shell.VerbAppend})
	return &handle{file: file.word()}
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
// Other functions have the mode behind the path, or no handle.
func (p *program) perlOpen(name string, args []value) value {
	h := value{path: name + "()"}
	if name == "POSIX.open" || strings.HasSuffix(name, ".new") {
		args = append([]value{{}}, args...)
	}
	if len(args) < 2 {
		return value{}
	}
	mode, file := strings.TrimSpace(modeOf(args[1])), args[1]
	switch last := args[1].word().Suffix(); {
	case len(args) > 2 && name != "open":
		h.file = p.openFile(name, modeOf(args[2]), file)
	case len(args) > 2 && strings.Contains(mode, "|"):
		p.runShell(&function{}, name, args[2:], nil)
		h.file = &handle{file: p.spaced(listOf(args[2:]...).words(), " "), command: true}
	case len(args) > 2:
		h.file = p.openFile(name, mode, args[2])
	case strings.HasPrefix(mode, "|"):
		h.file = &handle{file: p.cut(file, "|", ""), command: true}
		p.shell(h.file.file, name)
	case strings.HasSuffix(strings.TrimSpace(last), "|"):
		p.shell(p.cut(file, "", "|"), name)
	default:
		mode = mode[:len(mode)-len(strings.TrimLeft(mode, "+<>"))]
		h.file = p.openFile(name, mode, textOf(p.cut(file, "+<> ", "")))
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
