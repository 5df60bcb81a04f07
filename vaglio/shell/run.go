package shell

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/metnos/vaglio/vaglio/shell/word"
	"github.com/metnos/vaglio/vaglio/wordclass"
	"github.com/metnos/vaglio/vaglio/wording"
)

// run reads a call: a function, a builtin, a wrapper, an interpreter or a plain command. It returns the output, if the frame wants it.
func (r *reader) run(f *frame, k *call) Word {
	if len(k.argv) == 0 {
		if len(k.redirs) > 0 || len(k.assigns) > 0 {
			r.emit(f, Command{Redirects: k.redirs, Assigns: k.assigns, Span: k.span})
		}
		return Word{}
	}
	if !r.step(f, len(k.argv)) || !r.enter(f) { // a carrier copies its words
		return word.OutputOf("")
	}
	defer r.leave()
	name := r.resolveName(k)
	if _, static := k.argv[0].Text(); name == "" && static {
		return r.plain(f, k) // no program has such a name
	}
	r.runMatches(f, k, name)
	if name == "" {
		r.unknownName(f, k)
		return word.OutputOf("")
	}
	if out, ok := r.runFunction(f, k, name); ok {
		return out
	}
	if len(k.assigns) > 0 {
		r.codeInAssigns(f, k)
		k = r.withOptions(k, name)
	}
	f = r.opened(f)
	r.runFound(f, k, name)
	r.readsListed(f, k, name)
	f = r.tasks(f, k, name)
	if out, ok := r.dispatch(f, k, name); ok {
		return out
	}
	return r.plain(f, k)
}

// runFunction reads a call of a function; false if the name may also be a program's.
func (r *reader) runFunction(f *frame, k *call, name string) (Word, bool) {
	e := r.st.get(keyFunc + name)
	if k.external || e == nil || !k.argv[0].Is(name) {
		return Word{}, false
	}
	return r.callFunction(f, e, k), !e.maybe
}

// opened returns the frame with the input that an earlier exec opened, if the call has no input of its own.
func (r *reader) opened(f *frame) *frame {
	if f.stdin.Kind != InputInherited || !r.st.get(keyFD+"0").hasValue() {
		return f
	}
	g := *f
	g.stdin = Input{Kind: InputText, shared: true}
	g.stdin.Text, _ = r.value(keyFD + "0")
	return &g
}

// resolveName returns the base name of the command, after hash -p.
func (r *reader) resolveName(k *call) string {
	name := baseName(k.argv[0])
	if name == "" {
		return ""
	}
	if e := r.st.get(keyHash + name); e.hasValue() {
		k.argv = append([]Word{e.vals[0]}, k.argv[1:]...)
		return baseName(e.vals[0])
	}
	if loaded, ok := strings.CutPrefix(name, "zf_"); ok { // zsh's own, which takes the same words
		k.argv = append([]Word{Text(loaded)}, k.argv[1:]...)
		return loaded
	}
	return name
}

func (r *reader) unknownName(f *frame, k *call) {
	name := k.argv[0]
	if p, _ := name.Only(); p.Name == "SHELL" || p.Name == "BASH" {
		r.runShell(f, k, nil, "sh")
		return
	}
	r.dynamic = true
	kind, detail := ProblemDynamicName, wording.Say("the name of a command is only known when it runs")
	if name.Remote() {
		kind, detail = ProblemDownload, wording.Say("a downloaded text names the command that runs")
	}
	r.problem(f, Problem{Kind: kind, Detail: detail, Word: name, Span: k.span})
	r.selfCall(f, k, name)
	r.plain(f, k)
}

// selfCall records that a script starts itself while it goes on running.
func (r *reader) selfCall(f *frame, k *call, name Word) {
	if f.beside && (r.isSource(name) || !name.Known() && name.Parts()[len(name.Parts())-1].Name == "0") {
		r.problem(f, Problem{Kind: ProblemForkBomb, Detail: wording.Say("a script starts copies of itself"), Word: name, Span: k.span})
	}
}

// isSource reports whether a word names the script that is being read.
func (r *reader) isSource(name Word) bool {
	source := r.st.get(keySource)
	return source != nil && name.Equal(source.list[0])
}

// plain reads a command whose name does not say that it carries anything. A carried command may still be found among its words.
func (r *reader) plain(f *frame, k *call) Word {
	at := len(r.out.Commands)
	r.emit(f, Command{Argv: k.argv, Redirects: k.redirs, Assigns: k.assigns, Span: k.span})
	r.scanTail(f, k)
	if wordclass.Is("edits", baseName(k.argv[0])) {
		r.editFiles(f, edit{scripts: []Word{word.Unknown("")}}, k.argv[1:])
	}
	if e := r.st.get(keyFunc + "command_not_found_handle"); e != nil && r.active[e.bodies[0].body] == 0 {
		g := *f
		g.Conditional = true
		r.callFunction(&g, e, &call{argv: append([]Word{Text("command_not_found_handle")}, k.argv...), span: k.span})
	}
	if s, ok := k.argv[0].Text(); ok && strings.Contains(s, "/") {
		if r.written(k.argv[0]) {
			first, _, _ := r.content(f, k.argv[0]).Split("\n")
			r.runAs(f, k, first.Prefix())
		} else {
			r.runFile(f, k, at)
		}
	}
	return r.output(f, k)
}

// callFunction reads the body of a function for one call.
func (r *reader) callFunction(f *frame, e *entry, k *call) Word {
	var out word.Builder
	var all []Word
	for _, fn := range e.bodies {
		ways, returned := r.gathered(func() { out.AddWord(r.callBody(f, fn, k)) })
		all = either(all, either(ways, returned))
	}
	r.flow(all, nil)
	return out.Word()
}

// callBody reads one of the bodies that a function may have.
func (r *reader) callBody(f *frame, fn *function, k *call) Word {
	if r.active == nil {
		r.active = make(map[*syntax.Stmt]int)
		r.called = make(map[string]bool)
	}
	r.called[fn.name] = true
	if r.active[fn.body] > 0 && f.beside && f.certain() {
		r.problem(f, Problem{
			Kind: ProblemForkBomb, Detail: wording.Say("a function starts itself beside itself, without end"), Word: Text(fn.name), Span: k.span,
		})
		return word.OutputOf(fn.name)
	}
	if r.isDone(fn) || !r.step(f, 5) || !r.enter(f) {
		return word.OutputOf(fn.name)
	}
	defer r.leave()
	r.active[fn.body]++
	defer func() { r.active[fn.body]-- }()
	if len(k.redirs) > 0 {
		r.emit(f, Command{Redirects: k.redirs, Span: k.span})
	}
	g := *f
	g.fn = fn
	g.Conditional, g.beside = false, false
	if g.base = fn.base; fn.span != nil {
		g.span = fn.span
	}
	oldArgs := r.st.get(keyArgs)
	r.st.put(keyArgs, r.argsOf(fn, k))
	r.locals = append(r.locals, nil)
	for _, a := range k.assigns {
		r.local(a.Name)
		r.assign(f, a.Name, a.Value)
	}
	out := r.leaving("return", func() Word { return r.stmt(&g, fn.body) })
	frame := r.locals[len(r.locals)-1]
	r.locals = r.locals[:len(r.locals)-1]
	for name, old := range frame {
		r.st.put(name, old)
	}
	r.st.put(keyArgs, oldArgs)
	return out
}

// isDone reports whether a function is read no further: it calls itself too often, or was read in brief.
func (r *reader) isDone(fn *function) bool { return r.active[fn.body] >= maxCalls || r.brief[fn.body] }

// argsOf returns the arguments of a function's call, unknown ones if it is read in brief.
func (r *reader) argsOf(fn *function, k *call) *entry {
	args := k.argv[1:]
	if r.brief != nil {
		r.brief[fn.body], args = true, slices.Repeat([]Word{word.Unknown("")}, len(args))
	}
	return (&entry{isList: true}).append(args)
}

// certain reports whether a statement runs whenever the function that it is in runs.
func (f *frame) certain() bool { return f.fn != nil && !f.Conditional }

// local saves a variable's value until the function returns.
func (r *reader) local(name string) {
	top := &r.locals[len(r.locals)-1]
	if *top == nil {
		*top = make(map[string]*entry)
	}
	if _, ok := (*top)[name]; !ok {
		(*top)[name] = r.st.get(name)
	}
}

// carried reads text that an interpreter runs as shell code. Unknown text is a problem; unknown parts of known text are kept.
func (r *reader) carried(f *frame, text Word, by string) Word {
	if text.Size() > word.MaxSize {
		r.problem(f, Problem{Kind: ProblemTooBig, Detail: wording.Say("the text that %s runs is longer than 1 MiB", by)})
		return word.OutputOf("")
	}
	if sameShell(by) {
		return r.code(f, text, by)
	}
	return r.freshShell(func() Word { return r.code(f, text, by) })
}

// code reads text that runs in the current shell, including the content of the files that it comes from.
func (r *reader) code(f *frame, text Word, by string) Word {
	if text.HasUnknown() { // a here-string ends in a line break, which is no code
		text = text.MapSuffix(func(end string) string { return strings.TrimRight(end, "\n") })
	}
	if whole, where, ok := r.loaded(f, text); ok {
		src, _ := whole.Text()
		if out, all := r.fromFile(f, sourceFile{path: where, text: src}, func(g *frame) Word { return r.code(g, whole, by) }); all {
			return out
		}
	}
	r.codeProblem(f, text, by)
	if text.IsUnknown() || text.Size() > word.MaxSize {
		return word.OutputOf(by)
	}
	if text.HasGlob() && slices.ContainsFunc(text.SplitAll(" "), r.namesCode) {
		what := wording.Say("%s runs text with parts that are only known when it runs", by)
		r.problem(f, Problem{Kind: ProblemPartialCode, Detail: what, Word: text, Interpreter: by})
	}
	return r.source(f, r.splice(text))
}

// sameShell reports whether code runs in the shell that carries it, and so sees its variables and functions.
func sameShell(by string) bool {
	return slices.Contains([]string{"eval", "source", "trap", "mapfile", "prompt"}, by) || strings.HasPrefix(by, "alias ")
}

// freshShell reads something in a new shell, which sees what is exported and changes nothing but files.
func (r *reader) freshShell(read func() Word) Word {
	return r.scoped(func() Word {
		r.st.level++
		defer func() { r.st.level-- }()
		return read()
	})
}

// CodeProblem returns what is unknown of a text that a program runs as code; false if nothing is.
func CodeProblem(text Word, by string) (p Problem, found bool) {
	p = Problem{Word: text, Interpreter: by}
	switch {
	case text.Remote():
		p.Kind, p.Detail = ProblemDownload, wording.Say("%s runs text that is downloaded", by)
	case text.IsUnknown():
		p.Kind, p.Detail = ProblemDynamicCode, wording.Say("%s runs text that is only known when it runs", by)
	case slices.ContainsFunc(text.Parts(), func(p Part) bool { return p.Kind == PartUnknown && !isName(&p) }):
		p.Kind, p.Detail = ProblemPartialCode, wording.Say("%s runs text with parts that are only known when it runs", by)
	}
	return p, p.Kind != ""
}

// codeProblem records that code is unknown, or not fully known.
func (r *reader) codeProblem(f *frame, text Word, by string) {
	p, found := CodeProblem(text, by)
	if p.Kind == ProblemDownload {
		p.Privileged, p.Args = f.Privileged, r.st.get(keyArgs).list
	}
	if found {
		r.problem(f, p)
	}
}

// at returns a copy of the frame for text that the call carries.
func (f *frame) at(k *call, via string) *frame {
	g := f.with(via)
	if g.carrier() == nil {
		span := k.span
		g.span, g.base = &span, 0
	}
	g.lines, g.assigns = nil, append(slices.Clip(f.assigns), k.assigns...)
	g.calls = append(slices.Clip(f.calls), k)
	return g
}

// inner runs a command that a wrapper carries.
func (r *reader) inner(f *frame, k *call, via string, argv []Word) Word {
	return r.run(f.at(k, via), &call{argv: argv, redirs: k.redirs, span: k.span, external: true})
}

// wrapper emits a call that carries another command and has effects of its own.
func (r *reader) wrapper(f *frame, k *call) {
	r.emit(f, Command{Argv: k.argv, Redirects: k.redirs, Assigns: k.assigns, Span: k.span, Wrapper: true})
}

// byName returns the frame for a call that carries another command. A file of the project may only have the name.
func (r *reader) byName(f *frame, k *call) *frame {
	if s := k.argv[0].Prefix(); strings.IndexByte(s, '/') > 0 && s[0] != '~' {
		r.wrapper(f, k)
	}
	return f
}

func (r *reader) declareFunction(f *frame, c *syntax.FuncDecl) {
	names := c.Names
	if c.Name != nil {
		names = []*syntax.Lit{c.Name}
	}
	for _, n := range names {
		fn := &function{name: n.Value, body: c.Body, span: f.span, base: f.base}
		r.st.put(keyFunc+n.Value, &entry{bodies: []*function{fn}})
		if at := f.spanOf(c); f.file == nil && f.carrier() == nil && at.End <= len(r.src) {
			r.stays(n.Value, r.src[at.Start:at.End]+"\n"+n.Value)
		}
	}
}

// packed is a file or folder that the source packs into an archive, and its name there.
type packed struct{ archive, from, name string }

// unpacks reads the unpacking of an archive of the source as a copy of what is in it.
func (r *reader) unpacks(f *frame, p packed, strip int, to string) {
	if len(r.moves) >= maxMoves {
		r.notRead(f, to, errEdited)
		return
	}
	names := strings.Split(path.Clean("/"+p.name), "/")
	at := path.Join(append([]string{to}, names[min(strip+1, len(names)):]...)...)
	r.follow(move{p.from, at})
}

// endlessLoop reports whether a loop's condition is constantly true.
func endlessLoop(c *syntax.WhileClause) bool {
	if len(c.Cond) != 1 || c.Cond[0].Negated {
		return false
	}
	if sum, ok := c.Cond[0].Cmd.(*syntax.ArithmCmd); ok && !c.Until {
		return alwaysTrue(sum.X)
	}
	call, ok := c.Cond[0].Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) == 0 {
		return false
	}
	switch name := call.Args[0].Lit(); {
	case c.Until:
		return name == "false"
	case len(call.Args) == map[string]int{"[": 3, "test": 2}[name]:
		return call.Args[1].Lit() != ""
	default:
		return name == "true" || name == ":"
	}
}

// alwaysTrue reports whether a condition is a number other than zero.
func alwaysTrue(x syntax.ArithmExpr) bool {
	w, ok := x.(*syntax.Word)
	return ok && w.Lit() != "" && strings.Trim(w.Lit(), "0123456789") == "" && strings.Trim(w.Lit(), "0") != ""
}

// spawning records an endless loop that does nothing but start processes.
func (r *reader) spawning(f *frame, loop syntax.Node, body []*syntax.Stmt) {
	if len(body) > 0 && !slices.ContainsFunc(body, func(s *syntax.Stmt) bool { return !s.Background }) {
		r.problem(f, Problem{Kind: ProblemForkBomb, Detail: wording.Say("an endless loop starts processes and waits for none of them"), Span: f.spanOf(loop)})
	}
}

// isName reports whether an unknown part is a path or a number that no shell takes for code.
func isName(p *Part) bool {
	return p.From == "mktemp" || p.From == "" && slices.Contains([]string{"!", "$", "?", "BASHPID", "PPID", "UID", "EUID", "RANDOM"}, p.Name)
}
