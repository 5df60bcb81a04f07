package shell

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/metnos/vaglio/vaglio/shell/word"
)

func (r *reader) runCommand(f *frame, k *call, name string) Word {
	opts, rest := optionsFirst(name).parse(k.argv[1:])
	if len(rest) == 0 || opts.any("v", "V") {
		return r.plain(f, k)
	}
	return r.run(f.at(k, name), &call{argv: rest, redirs: k.redirs, assigns: k.assigns, span: k.span, external: true})
}

// runExec reads exec, which may do nothing but redirect.
func (r *reader) runExec(f *frame, k *call, _ string) Word {
	_, rest := optionsFirst("exec").parse(k.argv[1:])
	if len(rest) == 0 {
		if f.stdin.Kind != InputInherited {
			r.descriptor("0", f.stdin.Text)
		}
		r.emit(f, Command{Argv: k.argv, Redirects: k.redirs, Span: k.span})
		if f.capture { // all that follows goes there
			return word.OutputOf("")
		}
		return Word{}
	}
	return r.inner(f, k, "exec", rest)
}

// resolvePath resolves a path against the current folder.
func (r *reader) resolvePath(p Word) Word {
	s, ok := p.Text()
	if !ok {
		if strings.HasPrefix(p.Prefix(), "/") || !p.Known() && p.Parts()[0].Kind == PartUnknown {
			return p
		}
		return Glue(r.cwd(), Text("/"), p)
	}
	if path.IsAbs(s) {
		return Text(path.Clean(s))
	}
	cwd := r.cwd()
	if c, ok := cwd.Text(); ok {
		return Text(path.Join(c, s))
	}
	if s = path.Clean(s); s == "." {
		return cwd
	}
	return Glue(cwd, Text("/"+s))
}

// runCd reads cd and pushd, and assumes that they succeed.
func (r *reader) runCd(k *call, name string) {
	old := r.cwd()
	if name == "pushd" {
		stack := &entry{isList: true}
		if e := r.st.get(keyStack); e != nil {
			stack.list = slices.Clone(tail(e.list, len(e.list)-maxStack))
		}
		stack.list = append(stack.list, old)
		r.st.put(keyStack, stack)
	}
	r.goTo(r.cdTarget(k, name, old))
	r.st.set(keyPrev, old)
}

// goTo makes a folder the current one. Each may be a folder in the one before: what they become is charged, and has a limit.
func (r *reader) goTo(folder Word) {
	if !r.step(nil, entryCost+folder.Size()/bytesPerStep) || folder.Size() > MaxPath {
		folder = word.NotEmpty("PWD")
	}
	r.st.set(keyCwd, folder)
}

// cdTarget returns the folder that cd or pushd changes to.
func (r *reader) cdTarget(k *call, name string, old Word) Word {
	opts, rest := optionsFirst(name).parse(k.argv[1:])
	switch {
	case len(rest) > 0 && strings.Contains(rest[0].String(), "..") && (opts.any("P") || r.physical): // behind a link
		return word.NotEmpty("PWD")
	case len(rest) == 0 && name == "pushd":
		return word.NotEmpty("OLDPWD")
	case len(rest) == 0:
		home, _ := r.home("")
		return home
	case rest[0].Is("-") || k.argv[len(k.argv)-1].Is("-"):
		return r.prevCwd()
	case rest[0].Is(""):
		return old
	}
	return r.resolvePath(r.belowCdpath(k, rest[0]))
}

// belowCdpath returns where cd looks for a relative folder; that is unknown unless CDPATH is a single known folder.
func (r *reader) belowCdpath(k *call, to Word) Word {
	root, ok := r.value("CDPATH")
	if w, given := assigned(k.assigns, "CDPATH"); given {
		root, ok = w, given
	}
	earlier := r.opts.Session != nil && slices.Contains(r.opts.Session.Exported(), "CDPATH")
	switch s, first := root.Prefix(), to.Prefix(); {
	case !ok && !earlier, first == "", first[0] == '/', first[0] == '.':
		return to
	case !strings.HasPrefix(s, "/"), strings.Contains(s, ":"), root.HasUnknown():
		return word.NotEmpty("PWD")
	}
	return Glue(root, Text("/"), to)
}

// maxStack is how many folders pushd remembers.
const maxStack = 64

// MaxPath is the longest current folder that the reader follows, in bytes, as Linux does.
const MaxPath = 4096

func (r *reader) runPopd(_ *frame, _ *call, _ string) {
	e := r.st.get(keyStack)
	if e == nil || len(e.list) == 0 {
		r.st.set(keyCwd, word.NotEmpty("PWD"))
		return
	}
	last := e.list[len(e.list)-1]
	r.st.put(keyStack, &entry{isList: true, list: slices.Clone(e.list[:len(e.list)-1])})
	r.st.set(keyPrev, r.cwd())
	r.st.set(keyCwd, last)
}

// declClause reads declare, local, export, readonly and typeset where the parser recognizes them.
func (r *reader) declClause(f *frame, c *syntax.DeclClause) Word {
	d := &declaration{variant: c.Variant.Value, export: c.Variant.Value == "export", fixed: c.Variant.Value == "readonly"}
	cmd := Command{Span: f.spanOf(c), Argv: []Word{Text(c.Variant.Value)}}
	// Every word is expanded before the first is assigned.
	values := make([]Word, len(c.Args))
	for i, a := range c.Args {
		values[i] = r.text(f, a.Value)
	}
	for i, a := range c.Args {
		switch {
		case a.Naked && a.Name == nil:
			r.declareWords(f, d, &cmd, r.fields(f, a.Value))
		case a.Naked:
			cmd.Argv = append(cmd.Argv, Text(a.Name.Value))
			r.declareName(f, d, a.Name.Value, Word{}, false)
			cmd.Assigns = append(cmd.Assigns, r.earlier(d, a.Name.Value)...)
		default:
			as := Assign{Name: a.Name.Value, Value: values[i]}
			cmd.Assigns = append(cmd.Assigns, as)
			r.declareAssign(f, d, a, as)
		}
	}
	r.declared(f, d, &cmd)
	return Word{}
}

// declared emits a declaration, and reads the code in what it exports.
func (r *reader) declared(f *frame, d *declaration, cmd *Command) {
	if d.matters(cmd) {
		r.emit(f, *cmd)
	}
	if d.export {
		r.codeInAssigns(f, &call{assigns: cmd.Assigns, span: cmd.Span})
	}
}

// declareWords reads the words of a declaration that are options or assignments only once they are expanded.
func (r *reader) declareWords(f *frame, d *declaration, cmd *Command, words []Word) {
	for _, w := range words {
		if as := r.declareWord(f, d, w); len(as) > 0 {
			cmd.Assigns = append(cmd.Assigns, as...)
		} else {
			cmd.Argv = append(cmd.Argv, w)
		}
	}
}

// matters reports whether a declaration does more than set variables of the shell: without a name, it shows them, as with -p.
func (d *declaration) matters(c *Command) bool {
	isName := func(w Word) bool { return !strings.HasPrefix(w.Prefix(), "-") }
	shows := len(c.Assigns) == 0 && d.variant != "local" && !slices.ContainsFunc(c.Argv[1:], isName)
	if shows {
		c.Argv = append(c.Argv, Text("-p"))
	}
	return d.export || shows || interestingAssign(c.Assigns)
}

// earlier returns the value that a variable had before it was exported.
func (r *reader) earlier(d *declaration, name string) []Assign {
	if !d.export || r.st.get(name) == nil {
		return nil
	}
	value, _ := r.variable(name)
	return []Assign{{Name: name, Value: value}}
}

// declareAssign declares a variable with a value, possibly an array.
func (r *reader) declareAssign(f *frame, d *declaration, a *syntax.Assign, as Assign) {
	if a.Array == nil && a.Index == nil && !a.Append {
		r.declareName(f, d, as.Name, as.Value, true)
		return
	}
	if d.inFunction(r) {
		r.local(as.Name)
	}
	if d.assoc {
		r.st.put(as.Name, &entry{isList: true, opaque: true, maybe: true})
	}
	r.assignNode(f, a, as.Value)
}

// declaration holds the options of a declaring command.
type declaration struct {
	variant                          string
	ref, lower, upper, ints, assoc   bool
	array, global, functions, export bool
	fixed                            bool
}

// inFunction reports whether the declared variables are local to a function.
func (d *declaration) inFunction(r *reader) bool {
	return len(r.locals) > 0 && !d.global && (d.variant == "local" || d.variant == "declare" || d.variant == "typeset")
}

// declareWord reads an option or a computed name=value, and returns what is assigned.
func (r *reader) declareWord(f *frame, d *declaration, w Word) []Assign {
	s := w.Prefix()
	if strings.HasPrefix(s, "-") {
		flags := map[rune]*bool{
			'n': &d.ref, 'l': &d.lower, 'u': &d.upper, 'i': &d.ints, 'A': &d.assoc, 'a': &d.array, 'g': &d.global, 'f': &d.functions, 'x': &d.export,
			'r': &d.fixed,
		}
		for _, c := range s[1:] {
			if flag := flags[c]; flag != nil {
				*flag = c != 'n' || d.variant != "export"
			}
		}
		return nil
	}
	name, value, ok := w.Split("=")
	switch n, static := name.Text(); {
	case static && n != "" && ok:
		r.declareName(f, d, n, value, true)
		return []Assign{{Name: n, Value: value}}
	case static && n != "":
		r.declareName(f, d, n, value, false)
		return r.earlier(d, n)
	case d.export && !slices.Contains(r.exports, AnyVariable):
		r.exports = append(r.exports, AnyVariable)
	}
	return nil
}

// declareName declares a name, with or without a value.
func (r *reader) declareName(f *frame, d *declaration, name string, value Word, has bool) {
	if d.functions {
		if d.export {
			r.export(name)
		}
		return
	}
	if d.inFunction(r) {
		r.local(name)
		if !has {
			r.st.put(name, &entry{unset: true})
		}
	}
	switch {
	case d.ref:
		if target, ok := value.Text(); ok && has {
			r.st.put(name, &entry{ref: target})
		}
	case d.assoc || d.array:
		if !has {
			r.st.put(name, &entry{isList: true, opaque: d.assoc, maybe: d.assoc})
		}
	default:
		r.declareScalar(f, d, name, value, has)
	}
}

// declareScalar declares a variable that is neither an array nor a reference.
func (r *reader) declareScalar(f *frame, d *declaration, name string, value Word, has bool) {
	if d.lower || d.upper || d.ints {
		e := &entry{lower: d.lower, upper: d.upper, ints: d.ints, unset: !has}
		if old := r.st.get(name); old != nil && !has {
			e.vals, e.unset = old.vals, old.unset
		}
		r.st.put(name, e)
	}
	if has {
		r.assign(f, name, value)
	}
	if d.export {
		r.export(name)
	}
	if e := r.st.get(name); e != nil && d.fixed {
		c := *e
		c.fixed = true
		r.st.put(name, &c)
	}
}

// export makes a name visible to child shells.
func (r *reader) export(name string) {
	for _, key := range []string{name, keyFunc + name} {
		if e := r.st.get(key); e != nil && !e.exported {
			c := *e
			c.exported = true
			r.st.put(key, &c)
			if !slices.Contains(r.exports, key) {
				r.exports = append(r.exports, key)
			}
		}
	}
}

// runDeclare reads a declaring command whose name was computed or quoted.
func (r *reader) runDeclare(f *frame, k *call, name string) {
	d := &declaration{variant: name, export: name == "export", fixed: name == "readonly"}
	cmd := Command{Argv: k.argv[:1], Redirects: k.redirs, Assigns: k.assigns, Span: k.span}
	r.declareWords(f, d, &cmd, k.argv[1:])
	r.declared(f, d, &cmd)
}

// builtin reads a call of a command that is part of the shell.
type builtin func(r *reader, f *frame, k *call, name string) Word

// builtins returns the commands that are part of the shell, which only a plain name runs.
func builtins() map[string]builtin {
	all := map[string]builtin{
		"eval": (*reader).runEval, "command": (*reader).runCommand, "builtin": (*reader).runCommand, "exec": (*reader).runExec,
		"source": (*reader).runSource, ".": (*reader).runSource, "printf": (*reader).runPrintf, "test": (*reader).runTest, "[": (*reader).runTest,
	}
	for name, do := range map[string]func(r *reader, f *frame, k *call, name string){
		"popd": (*reader).runPopd, "unset": (*reader).runUnset, "set": (*reader).setVariable, "shift": (*reader).runShift, "read": (*reader).runRead,
		"mapfile": (*reader).runMapfile, "readarray": (*reader).runMapfile, "alias": (*reader).runAlias, "unalias": (*reader).runUnalias,
		"trap": (*reader).runTrap, "hash": (*reader).runHash,
		"enable": func(r *reader, _ *frame, _ *call, _ string) { r.st.put(keyAlias+"exit", &entry{}) }, // which fails where builtins are switched off
		"break":  (*reader).runLeave, "continue": (*reader).runLeave, "return": (*reader).runLeave,
	} {
		all[name] = func(r *reader, f *frame, k *call, name string) Word {
			do(r, f, k, name)
			r.emitCall(f, k)
			return Word{}
		}
	}
	for _, name := range []string{"cd", "chdir", "pushd"} {
		all[name] = func(r *reader, f *frame, k *call, name string) Word {
			r.emitCall(f, k) // it runs in the folder that it leaves
			r.runCd(k, name)
			return Word{}
		}
	}
	for _, name := range declaring() {
		all[name] = func(r *reader, f *frame, k *call, name string) Word {
			r.runDeclare(f, k, name)
			return Word{}
		}
	}
	return all
}

// declaring lists the builtins that declare variables.
func declaring() []string { return []string{"export", "declare", "typeset", "local", "readonly"} }

// dispatch reads a call by its name; false if the name is not known.
func (r *reader) dispatch(f *frame, k *call, name string) (Word, bool) {
	if do := r.carriers.builtins[name]; do != nil && k.argv[0].Is(name) {
		return do(r, f, k, name), true
	}
	if p := r.carriers.program(name); p != nil {
		return p.read(r, r.byName(f, k), k, p, name), true
	}
	return Word{}, false
}

func (r *reader) emitCall(f *frame, k *call) {
	r.emit(f, Command{Argv: k.argv, Redirects: k.redirs, Assigns: k.assigns, Span: k.span})
}

// runEval reads eval, whose words are code.
func (r *reader) runEval(f *frame, k *call, name string) Word {
	if len(k.redirs) > 0 {
		r.emit(f, Command{Redirects: k.redirs, Span: k.span})
	}
	return r.carried(f.at(k, name), Spaced(behindDashes(k.argv[1:])), name)
}
