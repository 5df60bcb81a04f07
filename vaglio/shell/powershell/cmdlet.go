package powershell

import (
	"slices"
	"strings"

	"github.com/metnos/vaglio/vaglio/shell"
)

// work is one call of a cmdlet of which the table has a row.
type work struct {
	r     *reader
	sp    *spec
	b     *bound
	in    value
	piped bool
	took  []shell.Word // the paths that it works on
	from  []shell.Word
	moves bool
	out   value
	ran   bool // a block was read
	rest  map[string]value
}

// cmdlet does what the row of a command says to its words.
func (r *reader) cmdlet(sp *spec, b *bound, args []argument, in value, piped bool) value {
	w := &work{r: r, sp: sp, b: b, in: in, piped: piped, rest: map[string]value{}}
	before := len(r.out.Commands) + len(r.out.Problems)
	switch {
	case b.dry:
	case sp.pass:
		r.blocks(args, in)
		r.plain(sp.name, args)
		return unknownValue(sp.name)
	case sp.as != "":
		return w.program()
	default:
		w.params()
		if !w.ran {
			r.blocks(args, in)
		}
	}
	if len(r.out.Commands)+len(r.out.Problems) == before {
		r.call(sp.name, shell.VerbRead) // known to touch nothing
	}
	return w.output()
}

// params does what the row says to each parameter.
func (w *work) params() {
	for i := range w.sp.params {
		p := &w.sp.params[i]
		v := w.b.take(p, w.in, w.piped)
		if p.role != "" && (!v.isNothing() || p.role == roleEach && p.name == "process") {
			w.do(p.role, v, p.name == "literalpath")
		}
	}
	if w.sp.rest != "" {
		w.do(w.sp.rest, w.b.rest, false)
	}
	w.finish()
}

// fileVerb is what a role of paths does.
func (w *work) fileVerb(role string) (verb shell.Verb, writes bool) {
	switch {
	case role == roleDelete && w.sp.tree != "" && w.b.on[w.sp.tree]:
		role = roleDeleteTree
	case role == roleWrite && w.b.on["append"]:
		role = "append"
	}
	switch role {
	case roleDeleteTree:
		return shell.VerbDeleteTree, true
	case roleDelete, roleWrite, "append", "permissions":
		return shell.Verb(role), true // they have the verbs' names
	case roleRead, "list":
		return shell.Verb(role), false
	default:
		return "", false
	}
}

// do acts on one argument by its role.
func (w *work) do(role string, v value, literal bool) {
	r := w.r
	if verb, writes := w.fileVerb(role); verb != "" {
		if role == roleRead && w.readsText(v) {
			return
		}
		if paths := r.paths(w.sp.name, v, literal, writes); len(paths) > 0 {
			w.took = append(w.took, paths...)
			r.call(w.sp.name, verb, paths...)
		}
		return
	}
	switch role {
	case roleCreate:
		w.took = append(w.took, r.paths(w.sp.name, v, true, true)...)
	case "copy", roleMove:
		w.moves = w.moves || role == roleMove
		w.from = append(w.from, r.paths(w.sp.name, v, literal, w.moves)...)
	case "cwd":
		w.directory(v)
	default:
		w.run(role, v)
	}
}

// readsText says that text comes through the pipe, no names.
func (w *work) readsText(v value) bool {
	return w.piped && !v.files && len(w.b.vals) == 0 && w.sp.out == ""
}

// run acts on an argument that is no file, or keeps it for finish.
func (w *work) run(role string, v value) {
	switch r := w.r; role {
	case "kill":
		r.call(w.sp.name, shell.VerbKill, v.items...)
	case "fetch":
		r.call(w.sp.name, shell.VerbNetwork, v.items...)
		w.out = remoteValue(w.sp.name)
	case "send":
		r.call("post "+w.sp.name, shell.VerbNetwork, v.items...)
		w.out = remoteValue(w.sp.name)
	case "unread":
		r.unread("what %s does is not read", w.sp.name)
	case "code":
		w.ran = true
		w.out = r.carried(v, w.sp.name)
	case roleBlock, roleEach:
		w.block(role, v)
	case "script", "module":
		w.scripts(role == "module", v)
	default:
		w.rest[role] = v
	}
}

func (w *work) scripts(modules bool, v value) {
	for _, p := range v.items {
		if !modules || isModuleFile(p) {
			w.r.script(p, nil)
		}
	}
}

// isModuleFile says that a module is loaded from a file, not by the name of
// what is installed.
func isModuleFile(w shell.Word) bool {
	end := strings.ToLower(w.Suffix())
	return w.IsUnknown() || strings.ContainsAny(w.Prefix(), `/\`) || isScript(end) || strings.HasSuffix(end, ".dll")
}

// block runs a block for what comes through the pipe, maybe elsewhere.
func (w *work) block(role string, v value) {
	r := w.r
	if v.isNothing() && len(w.b.vals) == 0 {
		v = w.b.rest
	}
	if !v.isBlock {
		if s, ok := v.text(); ok && role == roleEach && s != "" {
			w.ran, w.out = true, r.named(w.in, s)
		} else if !ok && slices.ContainsFunc(v.items, shell.Word.HasUnknown) {
			w.out = r.carried(v, w.sp.name)
		}
		return
	}
	w.ran = true
	w.out = r.within(func(at *place) {
		at.via = append(at.via, w.sp.name)
		for i := range w.sp.params {
			if p := &w.sp.params[i]; p.role == "host" && !w.b.vals[p.name].isNothing() {
				at.remote = &shell.Remote{Kind: shell.RemoteHost, Target: r.word(w.b.vals[p.name])}
			}
		}
	}, func() value { return r.each(v, w.in) })
}

func (w *work) directory(v value) {
	r := w.r
	if len(v.items) == 0 {
		return
	}
	if drive, _, ok := provider(v.items[0]); ok && drive != "filesystem" {
		return
	}
	p := r.path(v.items[0], true)
	if !isAbsolute(p) {
		p = below(r.cwd, p)
	}
	if len(v.items) > 1 || r.at.conditional && !p.Equal(r.cwd) {
		p = unknownWord("PWD")
	}
	r.cwd = p
}

// finish does what needs more than one argument.
func (w *work) finish() {
	r := w.r
	if child := w.rest[roleChild]; !child.isNothing() {
		base := w.took
		if len(base) == 0 {
			base = []shell.Word{shell.Text("")}
		}
		w.took = nil
		name := r.path(r.word(child), true)
		if r.afford(len(base), len(base)*weigh(name)) {
			for _, dir := range base {
				w.took = append(w.took, below(dir, name))
			}
		}
	}
	creates := w.sp.rest == roleCreate || slices.ContainsFunc(w.sp.params, func(p param) bool { return p.role == roleCreate })
	if target := w.rest[roleTarget]; !target.isNothing() && len(w.took) > 0 {
		r.call(w.sp.name, shell.VerbLink, r.path(r.word(target), true), w.took[0])
	} else if len(w.took) > 0 && creates {
		r.call(w.sp.name, shell.VerbCreate, w.took...)
	}
	if len(w.from) > 0 {
		w.pairs()
	}
	if program := w.rest[roleProgram]; !program.isNothing() {
		w.start(program)
	}
}

// pairs are what is copied or moved, each with its destination.
func (w *work) pairs() {
	r := w.r
	verb := shell.VerbCopy
	if w.moves {
		verb = shell.VerbMove
	}
	to, rename := w.rest[roleTo], w.rest[roleRename]
	targets := []shell.Word{shell.Text(".")}
	switch {
	case !to.isNothing():
		targets = r.paths(w.sp.name, to, true, true)
	case rename.isBlock || rename.either:
		targets = []shell.Word{unknownWord("")}
	case !rename.isNothing():
		targets = []shell.Word{r.path(r.word(rename), true)}
	}
	for _, from := range w.from {
		for _, t := range targets {
			if r.stopped {
				return
			}
			if to.isNothing() && !rename.isNothing() && !isAbsolute(t) {
				t = below(parentOf(from), t)
			}
			r.call(w.sp.name, verb, from, t)
		}
	}
}

// parentOf is the folder of a path.
func parentOf(w shell.Word) shell.Word {
	s, ok := w.Text()
	i := strings.LastIndexByte(s, '/')
	switch {
	case !ok:
		return unknownWord("")
	case i < 0:
		return shell.Text(".")
	}
	return shell.Text(s[:max(i, 1)])
}

// program runs the cmdlet as the program whose work it does, by that one's
// options.
func (w *work) program() value {
	r := w.r
	argv := []shell.Word{shell.Text(w.sp.as)}
	for i := range w.sp.params {
		p := &w.sp.params[i]
		if p.role == "" {
			continue
		}
		for _, word := range w.b.take(p, w.in, w.piped).items {
			switch p.role {
			case "url":
				argv = append(argv, word)
				continue
			case "-X":
				word = shell.Text(strings.ToUpper(word.String()))
			case "-o", "-T":
				word = r.path(word, true)
			}
			argv = append(argv, shell.Text(p.role), word)
		}
	}
	return r.carriedBy(w.sp.name, func() value { return r.native(argv, shell.Input{}) })
}

// start runs a program with words of which each may hold several.
func (w *work) start(program value) {
	r := w.r
	var args []argument
	for _, item := range w.rest[roleArgs].items {
		args = append(args, r.splitWords(item)...)
	}
	verb := r.word(w.rest["elevate"])
	r.within(func(at *place) {
		at.via = append(at.via, w.sp.name)
		at.privileged = at.privileged || strings.EqualFold(verb.String(), "runas")
	}, func() value {
		for _, name := range r.choices(program) {
			switch s := name.Prefix(); {
			case strings.Contains(s, "://"):
				r.call(w.sp.name, shell.VerbNetwork, name)
			case name.IsUnknown():
				r.dynamicName(name, nil)
			default:
				r.program(name, args, value{}, false)
			}
		}
		return value{}
	})
}
