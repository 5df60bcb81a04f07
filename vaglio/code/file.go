package code

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/metnos/vaglio/vaglio/shell"
)

// runOpen reads open. The mode says whether it reads or writes the file.
func (p *program) runOpen(f *function, name string, args []value, named map[string]value) value {
	if p.lang.name == "perl" {
		return p.perlOpen(name, args)
	}
	block := value{}
	if n := len(args); n > 0 && args[n-1].fn != nil {
		block, args = args[n-1], args[:n-1]
	}
	mode := f.mode(args, named)
	if len(args) == 0 {
		args = f.targets(p, nil, named)
	}
	out := unknown(name + "()")
	if cmd, ok := strings.CutPrefix(first(args).word().Prefix(), "|"); len(args) == 0 || ok && p.lang.name == "ruby" {
		if ok {
			p.shell(shell.Text(cmd), name)
		}
		return out
	}
	if out.file = p.openFile(name, mode, args[0]); out.file == nil {
		out = p.content(args[0])
	}
	if block.fn != nil {
		p.invoke(block.fn, []value{out})
	}
	return out
}

// mode returns the mode that a file is opened with.
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

// modeOf returns the text of a mode, or the names of its flags.
func modeOf(v value) string {
	if len(v.alts) > 0 {
		return v.word().String()
	}
	return v.path
}

// openFile records that a file is opened, and returns a handle if it is opened for writing.
func (p *program) openFile(name, mode string, file value) *handle {
	verb := openVerb(mode)
	p.falls(shell.Call{Function: name, Verb: verb}, []value{file})
	if verb == shell.VerbRead {
		return nil
	}
	if !p.isHanded(verb, file.word()) {
		p.step(shell.ProgramStep{File: file.word(), Writes: true, Append: verb == shell.VerbAppend})
	}
	return &handle{file: file.word()}
}

// perlOpen reads open(FH, "<", path), open(FH, ">path") and open(FH, "cmd|"). Other functions have the mode after the path, or no handle.
func (p *program) perlOpen(name string, args []value) value {
	h := value{path: name + "()"}
	if name == "POSIX.open" || strings.HasSuffix(name, ".new") {
		args = append([]value{{}}, args...)
	}
	if len(args) < 2 {
		return value{}
	}
	file := args[1].word()
	mode := strings.TrimSpace(modeOf(args[1]))
	switch {
	case len(args) > 2 && name != "open":
		h.file = p.openFile(name, modeOf(args[2]), args[1])
	case len(args) > 2 && strings.Contains(mode, "|"):
		p.runs(&function{}, name, args[2:], nil)
		h.file = p.fedBy(p.spaced(listOf(args[2:]...).words(), " "))
	case len(args) > 2:
		h.file = p.openFile(name, mode, args[2])
	case strings.HasPrefix(mode, "|"):
		h.file = p.fedBy(cut(file, "|", ""))
		p.shell(*h.file.start.Shell, name)
	case strings.HasSuffix(strings.TrimSpace(file.Suffix()), "|"):
		p.shell(cut(file, "", "|"), name)
	default:
		mode = mode[:len(mode)-len(strings.TrimLeft(mode, "+<>"))]
		h.file = p.openFile(name, mode, textOf(cut(file, "+<> ", "")))
	}
	p.store(args[0].holder, h)
	return h
}

// cut removes characters from the ends of a text.
func cut(w shell.Word, before, after string) shell.Word {
	parts := slices.Clone(w.Parts())
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
func (p *program) runHandle(f *function, name string, args []value, _ map[string]value) value {
	if len(args) == 0 || args[0].file == nil {
		return unknown("")
	}
	for _, w := range listOf(args[1:]...).words() {
		p.feed(args[0].file, p.concat(w, shell.Text(f.text)))
	}
	if args[0].file.start != nil && name == "communicate" {
		return unknown(name + "()") // what the command printed
	}
	return args[0]
}

// feeds reports whether a member of a command that was started is its input.
func (h *handle) feeds(name string) bool { return h != nil && h.start != nil && name == "stdin" }

// fedBy returns what a command line that was started reads its input from.
func (p *program) fedBy(line shell.Word) *handle {
	return &handle{start: &shell.ProgramStep{Shell: &line, By: p.lang.name}}
}

// startedBy returns what the call of a function that starts a command gives, also to a block: what is written to it is written to the command.
func (p *program) startedBy(name string, block value) value {
	out := unknown(name + "()")
	if p.started == nil {
		return out
	}
	if out.file = (&handle{start: p.started}); block.fn != nil {
		p.invoke(block.fn, []value{out})
	}
	return out
}

// feed writes a text to an open file or command.
func (p *program) feed(h *handle, w shell.Word) {
	if h.start != nil {
		s := *h.start
		s.Input = &w
		p.step(s)
		return
	}
	p.step(shell.ProgramStep{File: h.file, Write: w, Append: true, Writes: true})
}

// runPrint reads what the program prints, to its output or to an open file.
func (p *program) runPrint(f *function, name string, args []value, named map[string]value) value {
	sep, end, _ := strings.Cut(f.text, ",")
	for option, s := range map[string]*string{"sep": &sep, "end": &end} {
		if w, ok := named[option]; ok {
			*s, _ = w.text()
		}
	}
	to, other := named["file"]
	switch head := first(args); {
	case name == "os.write", head.holder == "STDOUT":
		args = args[min(1, len(args)):]
	case head.path == "<handle>":
		to, other, args = head, true, args[1:]
	}
	if other && to.file == nil {
		return value{}
	}
	if p.lang.name == "perl" {
		if len(args) == 0 {
			args = []value{p.vars["$_"]}
		}
		if p.in.Lines && end == "" && name != "syswrite" {
			end = "\n"
		}
	}
	p.print(to.file, p.concat(p.spaced(listOf(args...).words(), sep), shell.Text(end)))
	return value{}
}

func (p *program) print(h *handle, w shell.Word) {
	if h != nil {
		p.feed(h, w)
		return
	}
	n := w.Size()
	if p.size += n; p.size > maxText || !p.spend(1+n/bytesPerStep) {
		return
	}
	p.tells(w)
	p.wrote = append(p.wrote, w)
	p.out.Unsure = p.out.Unsure || p.unsure > 0
}

// tells notes what a text that leaves the program holds of its environment: all of it, or variables.
func (p *program) tells(w shell.Word) {
	for _, part := range w.Parts() {
		switch {
		case part.Kind == shell.PartUnknown && p.holdsEnvironment(value{path: cmp.Or(part.From, part.Name)}): // all of it
			p.emit("print", shell.VerbEnvironment)
		case part.Kind == shell.PartUnknown && p.asked[part.Name]:
			p.emit("print", shell.VerbEnvironment, shell.NewWord(part))
		}
	}
}

// awkStatement reads print, printf and getline, including where their texts go.
func (p *program) awkStatement() value {
	name := p.take().Text
	if name == "getline" {
		p.takeIf(p.peek(0).Word())
		if p.takeIf(p.is("<")) {
			p.falls(shell.Call{Function: name, Verb: shell.VerbRead}, []value{p.sum()})
		}
		return unknown("getline")
	}
	p.printing = true
	var args []value
	if !p.is(";", "}", ">", ">>", "|", "|&") {
		v := p.expressions()
		v.spread = true
		args = spreadInto(nil, v)
	}
	p.printing = false
	if len(args) == 0 {
		args = []value{p.recordField("0")}
	}
	if name == "printf" {
		p.awkTo(p.filled(first(args), percentHoles, tailOf(args, 1)).word())
	} else {
		p.awkTo(p.concat(p.spaced(listOf(args...).words(), " "), shell.Text("\n")))
	}
	return value{}
}

// awkTo sends what awk prints to a file, a command or the output.
func (p *program) awkTo(w shell.Word) {
	if !p.is(">", ">>", "|", "|&") {
		p.print(nil, w)
		return
	}
	op := p.take().Text
	for _, t := range p.sum().words() {
		if op[0] == '|' {
			p.step(shell.ProgramStep{Shell: &t, By: "print", Input: &w})
			continue
		}
		p.emit("print", map[string]shell.Verb{">": shell.VerbWrite, ">>": shell.VerbAppend}[op], t)
		key := t.String()
		p.step(shell.ProgramStep{File: t, Write: w, Append: op == ">>" || p.opened[key], Writes: true})
		p.opened[key] = true
	}
}

// recordField returns a field of awk's current line.
func (p *program) recordField(digits string) value {
	n, ok := text(digits).int()
	switch {
	case !ok:
		return textOf(unknownWord("$" + digits))
	case n < len(p.in.Record):
		return textOf(p.in.Record[n])
	case p.in.Record != nil && !p.in.Record[0].HasUnknown() && !p.in.Record[0].HasGlob():
		return text("")
	}
	return textOf(shell.NewWord(shell.Part{Kind: shell.PartUnknown, From: p.lang.name, MayBeEmpty: true}))
}

// runScript reads a function that runs a file in the same language, or a text if an option says so: new Worker(text, {eval: true}).
func (p *program) runScript(f *function, name string, args []value, named map[string]value) value {
	if _, code := optionOf(args, named, "eval"); code {
		return p.runEval(f, name, args, named)
	}
	for _, file := range listOf(f.targets(p, args, named)...).words() {
		p.script(file)
	}
	return unknown(name + "()")
}

// script runs a file as the language's own interpreter does.
func (p *program) script(file shell.Word) {
	p.argv(append(shell.Texts(p.lang.runs), file))
}

// visits calls the functions that a listing hands its names to: all after an error (node), with the folder first (go), or one by one.
func (p *program) visits(found, dir value, args []value) {
	for _, f := range p.ownFunctions(args) {
		switch entry := found.nth(0); p.lang.name {
		case "perl":
			p.set("$_", entry)
			p.invoke(f, nil)
		case "ruby":
			p.eachOf(value{fn: f}, found.list)
		case "node":
			p.invoke(f, []value{{kind: kindNone}, found})
		case "go":
			below := p.joined([]value{dir, entry})
			p.each(unknown(""), f.to-f.from, func(value) { p.invoke(f, []value{dir.or(below), entry, {kind: kindNone}}) })
		}
	}
}

// contentOf returns the file whose content a word stands for.
func contentOf(w shell.Word) (file shell.Word, ok bool) {
	if parts := w.Parts(); len(parts) == 1 && parts[0].Kind == shell.PartUnknown {
		name, isFile := strings.CutPrefix(parts[0].From, "cat ")
		return shell.Text(name), isFile && !strings.ContainsAny(name, "$*")
	}
	return shell.Word{}, false
}

// pathOf returns the path of a file as far as it is known, from the folder that the program runs in.
func (p *program) pathOf(file shell.Word) string {
	if name := file.Prefix(); name == "" || path.IsAbs(name) {
		return name
	}
	return path.Join(p.in.Cwd, file.Prefix())
}

func (p *program) env(name value) value {
	s, ok := name.text()
	switch env, named := p.namedBy(name); {
	case named: // each of its names in turn
		return env
	case !ok:
		return unknown("environment")
	}
	w, unset := p.in.Env(s)
	v := textOf(w)
	if w.IsUnknown() {
		if p.asked == nil {
			p.asked = map[string]bool{}
		}
		p.asked[s] = true
	}
	if unset && w.IsUnknown() && p.lang.options.patterns["set"] != nil && p.nowhere("set", "read") {
		v.kind = kindNone
	}
	return v
}

// isEnvironment reports whether a value is the program's environment.
func (p *program) isEnvironment(v value) bool {
	return p.yielded(value{path: v.path}, p.canonical(v.path)) == "=env"
}

// envMember returns a variable as node reads it, as a member that may have been set.
func (p *program) envMember(holder, name string) value {
	if of := strings.TrimSuffix(holder, ".parsed"); of != holder && strings.HasSuffix(of, "config") { // all that dotenv has read
		return unknown(of)
	}
	e, set := p.vars[holder]
	if !set {
		e = p.env(text(name))
	}
	e.holder = holder
	return e
}

// secretsIn returns what a file of settings holds that count as the environment's; that of the project unless one is named.
func secretsIn(p *program, v value, _ []value) value {
	if v.kind == kindNone || !v.given() && v.path == "" {
		return unknown("os.environ")
	}
	p.emit("dotenv_values", shell.VerbRead, v.words()...)
	return unknown("dotenv_values()")
}

// saves records that a call puts what it fetches into a file, if that is its second target, and returns the first.
func (p *program) saves(f *function, name string, targets []value) []value {
	if len(f.args) < 2 || len(targets) < 2 {
		return targets
	}
	p.emit(name, shell.VerbWrite, targets[1].word())
	p.step(shell.ProgramStep{File: targets[1].word(), Write: remote(name).word(), Writes: true})
	return targets[:1]
}
