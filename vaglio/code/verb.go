package code

import (
	"slices"
	"strings"

	"github.com/metnos/vaglio/internal/lists"
	"github.com/metnos/vaglio/vaglio/shell"
	"github.com/metnos/vaglio/vaglio/wording"
)

// further reads a call of a verb that needs further reading.
type further func(p *program, f *function, name string, args []value, named map[string]value) value

func furtherVerbs() map[string]further {
	return map[string]further{
		"shell": (*program).runs, "exec": (*program).runs, "execv": (*program).runs, "execl": (*program).runs,
		"spawn": (*program).runs, "pipe": (*program).runs, "load": (*program).loads, "unpack": (*program).unpacks,
		"task": (*program).runTask, "eval": (*program).runEval, "script": (*program).runScript, "restore": (*program).restores,
		"open": (*program).runOpen, "remote": (*program).runRemote, "handle": (*program).runHandle, "print": (*program).runPrint,
		"database": (*program).opensDatabase,
	}
}

// apply reads a call of a function in the table.
func (p *program) apply(f *function, name string, args []value) value {
	if op, ok := strings.CutPrefix(f.verb, "="); ok {
		return p.yields(op, f, name, args)
	}
	args, named := splitNamed(args)
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
	case shell.VerbEnter:
		p.entered = true
	case shell.VerbKill:
		if f.onlyAsks(args) {
			return value{kind: kindOther}
		}
	case shell.VerbWrite, shell.VerbAppend:
		targets = p.writes(f, verb, targets)
	case shell.VerbNetwork, shell.VerbSend:
		p.request(name, verb, p.saves(f, name, targets), args, named)
		return p.result(verb, name, targets, args)
	default: // The others only act on their targets.
	}
	p.falls(shell.Call{Function: name, Verb: verb}, targets)
	return p.result(verb, name, targets, args)
}

// yields calls a function that returns a value.
func (p *program) yields(op string, f *function, name string, args []value) value {
	if len(args) == 0 && p.lang.has("flat") {
		args = []value{p.vars["$_"]}
	}
	if op == "args" {
		return p.arguments(f.args[0] + 1)
	}
	if len(args) == 0 && slices.Contains([]string{"same", "join", "decode", "env"}, op) {
		return unknown(map[bool]string{true: name}[op == "env"]) // getenv() is all of it
	}
	if p.isEnvironment(first(args)) && slices.Contains([]string{"keys", "values", "pairs"}, op) {
		return unknown(first(args).path + "." + name[strings.LastIndexByte(name, '.')+1:] + "()")
	}
	return p.table.pures[op](p, first(args), tailOf(args, 1)).apart(op, first(args))
}

// onlyAsks reports whether a signal only asks whether a process exists.
func (f *function) onlyAsks(args []value) bool {
	signal := 1
	if f.from > 0 {
		signal = 0
	}
	return len(args) > 1 && args[signal].word().Is("0")
}

// result returns the unknown result of a call, with its origin.
func (p *program) result(verb shell.Verb, name string, targets, args []value) value {
	switch {
	case verb == shell.VerbNetwork, verb == shell.VerbSend:
		return remote(name)
	case verb == shell.VerbList && len(targets) > 0:
		found := p.listing(name, targets[0], nth(args, 1))
		p.visits(found, targets[0], args)
		return found
	case verb == shell.VerbRead && len(targets) > 0:
		return p.content(targets[0])
	}
	return unknown(name + "()")
}

// targets returns the arguments that a verb acts on.
func (f *function) targets(p *program, args []value, named map[string]value) []value {
	if f.text != "" && f.verb != "open" && f.verb != "eval" {
		return []value{text(f.text)}
	}
	var out []value
	if f.from >= 0 {
		out = withoutOptions(tailOf(args, f.from))
	}
	out = append(out, lists.All(f.args, func(i int) []value { return args[min(i, len(args)):min(i+1, len(args))] })...)
	for _, n := range [...]string{"path", "file", "files", "filename", "name", "fd", "src", "command", "cmd", "args", "root_dir"} {
		if v, ok := named[n]; ok && len(out) == 0 {
			return []value{v}
		}
	}
	if f.from == 0 && len(out) == 0 && p.lang.name == "perl" {
		return []value{p.vars["$_"]}
	}
	return out
}

// withoutOptions returns the arguments that are neither functions nor maps.
func withoutOptions(args []value) []value {
	return slices.DeleteFunc(slices.Clone(args), func(v value) bool { return v.fn != nil || v.kind == kindMap })
}

func (p *program) calls(c shell.Call) {
	if slices.ContainsFunc(c.Targets, func(w shell.Word) bool { return p.isHanded(c.Verb, w) }) {
		return
	}
	c.Language = p.lang.name
	p.step(shell.ProgramStep{Call: &c, Loop: p.loop > 0})
}

// falls records a call for each text that its targets may be, or without one.
func (p *program) falls(c shell.Call, targets []value) {
	for _, t := range targets {
		for _, w := range t.words() {
			c.Targets = []shell.Word{w}
			p.calls(c)
		}
	}
	if len(c.Targets) == 0 {
		p.calls(c)
	}
}

// pairs records a call with two targets; if both have several texts, they are paired in turn.
func (p *program) pairs(name string, verb shell.Verb, targets []value) {
	if len(targets) < 2 {
		p.emit(name, verb, listOf(targets...).words()...)
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

// fork records that the program copies itself. In a loop that is a fork bomb.
func (p *program) fork(name string) {
	p.forks++
	p.emit(name, shell.VerbFork)
	if p.loop > 0 || p.until(p.at, func(i int) bool { return p.toks[i].Word("redo") }) < min(p.at+5, p.end) {
		p.problem(shell.ProblemForkBomb, wording.Say("a program starts copies of itself in a loop"), shell.Word{})
	}
}

// writes records what a call writes, and returns the file.
func (p *program) writes(f *function, verb shell.Verb, targets []value) []value {
	if len(targets) == 0 {
		return nil
	}
	s := shell.ProgramStep{File: targets[0].word(), Writes: true}
	if len(targets) > 1 && len(f.args) > 1 {
		s.Write, s.Append = targets[1].word(), verb == shell.VerbAppend
	}
	if !p.isHanded(verb, s.File) {
		p.step(s)
	}
	return targets[:1]
}

// content returns what is known of a file's content.
func (p *program) content(file value) value {
	out := value{}
	for _, name := range file.words() {
		w, ok := p.in.Content(name)
		if s, _ := w.Text(); ok {
			p.held[s] = p.pathOf(name)
		} else {
			w = shell.NewWord(shell.Part{Kind: shell.PartUnknown, From: fileContent + name.String(), MayBeEmpty: true})
		}
		out.alts = append(out.alts, w)
	}
	return value{alts: capped(out.alts)}
}

// matching returns the names that match a pattern.
func (p *program) matching(pattern value) value {
	out := value{kind: kindList, spread: p.lang.has("flat")}
	for _, w := range pattern.words() {
		for _, one := range p.braced(w) {
			out.list = append(out.list, textOf(globbed(one)))
		}
	}
	return out
}

// listing returns the names below a folder, or those that match a pattern.
func (p *program) listing(name string, dir, pattern value) value {
	if p.lang.name == "go" { // with an error
		return listOf(p.listed(strings.ToLower(name), dir, pattern), value{kind: kindNone})
	}
	return p.listed(name, dir, pattern)
}

func (p *program) listed(name string, dir, pattern value) value {
	entry := shell.NewWord(shell.Part{Kind: shell.PartGlob, Text: "*"})
	if s, ok := pattern.text(); ok && dir.kind == kindPath {
		entry = globbed(shell.Text(s))
	}
	below := value{kind: kindPath}
	for _, w := range dir.words() {
		below.alts = append(below.alts, shell.Glue(cut(w, "", "/"), shell.Text("/"), entry))
	}
	switch listsAs(name, dir) {
	case "walk":
		names := listOf(textOf(entry))
		return listOf(listOf(below, names, names))
	case "iterdir", "os.scandir", "rglob", "find", "finddepth", "DirectoryIterator", "FilesystemIterator", "RecursiveDirectoryIterator":
		return listOf(below)
	case "glob", "iglob", "[]", "fast-glob", "globby", "sync":
		if dir.kind != kindPath {
			return p.matching(dir)
		}
		return listOf(below)
	case "children", "each_child":
		if dir.kind == kindPath { // Dir.children has names
			return listOf(below)
		}
	}
	return listOf(textOf(entry))
}

// runs reads a function that runs a program: system, subprocess.run, spawn, execl and the like. A single text is a command line, several are a command's words.
func (p *program) runs(f *function, name string, args []value, named map[string]value) value {
	defer p.surroundings(args, named)()
	block := nth(args, max(0, len(args)-1))
	if p.lang.name == "go" {
		p.fieldsOf()
	}
	_, asShell := optionOf(args, named, "shell")
	if words, ok := nth(args, 1).field("args"); ok { // new Deno.Command(program, {args: […]})
		args = []value{args[0], words}
	}
	if args = p.withoutSurroundings(args); len(f.args) > 0 {
		args = tailOf(args, f.args[0])
	}
	if f.verb == "pipe" && len(args) > 1 {
		args = args[:1]
	}
	if len(args) == 0 {
		args = f.targets(p, nil, named)
	}
	p.started = nil
	for n, most := 0, 1; n < most; n++ {
		var all value
		all, most = p.way(listOf(args...), n)
		p.runsWay(f, name, all.list, asShell)
	}
	out := p.startedBy(name, block)
	if p.asksToplevel(listOf(args...)) {
		out.alts = []shell.Word{toplevel()}
	}
	return out
}

// way returns a value with only the nth alternative of each text in it, and the largest number of alternatives.
func (p *program) way(v value, n int) (value, int) {
	most := len(v.alts)
	if most > 1 {
		v.alts = v.alts[min(n, most-1):][:1]
	}
	if v.some && !v.multi() {
		return passedOn("filter()", v.words()...), 1
	}
	v.list = slices.Clone(v.list[:min(len(v.list), p.left)])
	for i, e := range v.list {
		e.some = e.some || v.some
		e, of := p.way(e, n)
		v.list[i], most = e, max(most, of)
	}
	p.spend(1 + len(v.list))
	return v, most
}

// runsWay reads one of the ways in which a call runs a program.
func (p *program) runsWay(f *function, name string, args []value, asShell bool) {
	if !p.spend(len(args)) {
		return
	}
	head, words := first(args), listOf(args...).words()
	switch listed := nth(args, 1).kind == kindList; {
	case len(words) == 0:
	case asShell && head.multi():
		p.shellLine(head.nth(0), name)
	case asShell && listed:
		p.shell(p.spaced(words, " "), name)
	case (f.verb == "exec" || f.verb == "pipe") && head.multi():
		p.argv(head.words())
	default:
		p.runsWords(f, name, args, words)
	}
}

// runsWords runs what several arguments are: the words of a command, or a command line followed by other arguments.
func (p *program) runsWords(f *function, name string, args []value, words []shell.Word) {
	listed := nth(args, 1).kind == kindList
	switch {
	case (f.verb == "execl" || f.verb == "execv" && listed) && len(words) > 1: // the second is the name that the program is told
		p.argv(slices.Delete(slices.Clone(words), 1, 2))
	case args[0].multi(), listed && strings.HasPrefix(f.verb, "exec"), f.verb == "execl", f.verb == "spawn", len(args) > 1 && p.lang.has("variadic"):
		p.argv(words)
	default:
		p.shellLine(args[0], name)
	}
}

func (p *program) shell(w shell.Word, by string) {
	p.starts(shell.ProgramStep{Shell: &w, By: by})
}

func (p *program) shellLine(v value, by string) {
	for _, w := range v.words() {
		p.shell(w, by)
	}
}

func (p *program) argv(words []shell.Word) {
	if len(words) > 0 {
		p.starts(shell.ProgramStep{Argv: words})
	}
}

// runEval reads code in the same language.
func (p *program) runEval(f *function, name string, args []value, _ map[string]value) value {
	out, code := value{}, first(args)
	switch {
	case len(args) == 0:
		code = p.vars["$_"]
	case f.text != "":
		code = args[len(args)-1]
	}
	if code.fn != nil || code.kind == kindMap {
		return out
	}
	for _, w := range code.words() {
		if file, ok := contentOf(w); ok {
			p.script(file)
			continue
		}
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
		if out = sub.read(w); p.lang.name == "python" {
			p.inherit(sub)
		}
	}
	return out
}

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
