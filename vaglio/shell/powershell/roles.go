package powershell

import (
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

func newWork(r *reader, sp *spec) *work {
	return &work{r: r, sp: sp, b: &bound{vals: map[string]value{}, on: map[string]bool{}}, rest: map[string]value{}}
}

// cmdlet does what the row of a command says to its words.
func (r *reader) cmdlet(sp *spec, b *bound, args []argument, in value, piped bool) value {
	w := newWork(r, sp)
	w.b, w.in, w.piped = b, in, piped
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
		if p.role != "" && (!v.isNothing() || p.role == roleRename || p.role == roleEach) {
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
		role = roleAppend
	}
	switch role {
	case roleDeleteTree:
		return shell.VerbDeleteTree, true
	case roleDelete, roleWrite, roleAppend, rolePermissions:
		return shell.Verb(role), true // they have the verbs' names
	case roleRead, roleList:
		return shell.Verb(role), false
	default:
		return "", false
	}
}

// do acts on one argument by its role.
func (w *work) do(role string, v value, literal bool) {
	r := w.r
	verb, writes := w.fileVerb(role)
	switch {
	case role == roleRead && w.readsText(v):
		return
	case verb != "":
		paths := r.paths(w.sp.name, v, literal, writes)
		w.took = append(w.took, paths...)
		if len(paths) > 0 {
			r.call(w.sp.name, verb, paths...)
		}
		return
	}
	switch role {
	case roleCreate:
		w.took = append(w.took, r.paths(w.sp.name, v, true, true)...)
	case roleCopy, roleMove:
		w.from = append(w.from, r.paths(w.sp.name, v, literal, role == roleMove)...)
		w.moves = w.moves || role == roleMove
	case roleKill:
		r.call(w.sp.name, shell.VerbKill, v.items...)
	case roleCwd:
		w.directory(v)
	default:
		w.run(role, v)
	}
}

// readsText says that text comes through the pipe, no names.
func (w *work) readsText(v value) bool {
	return w.piped && !v.files && len(w.b.vals) == 0 && w.sp.out == ""
}

// run acts on an argument that holds what is run.
func (w *work) run(role string, v value) {
	r := w.r
	switch role {
	case roleCode:
		w.ran = true
		w.out = r.carried(v, w.sp.name)
	case roleBlock, roleEach, roleFilter:
		w.block(role, v)
	case roleScript:
		for _, p := range v.items {
			r.script(p, nil)
		}
	case roleModule:
		w.module(v)
	case roleRun:
		for _, p := range v.items {
			r.invoke(r.path(p, true), nil, value{}, false)
		}
	case roleSource:
		r.unread("a program in another language is compiled and loaded")
	case roleCom:
		r.unread("an object of another program is made")
	default:
		w.function(role, v)
	}
}

func (w *work) block(role string, v value) {
	r := w.r
	if v.isNothing() && role == roleEach && len(w.b.vals) == 0 && !w.b.rest.isNothing() {
		v = w.b.rest
	}
	if v.block == nil {
		if s, ok := v.text(); ok && role == roleEach && s != "" {
			w.ran, w.out = true, r.method(w.in, s, nil) // % Delete
		}
		return
	}
	w.ran = true
	w.out = r.within(func(p *place) {
		p.via = append(p.via, w.sp.name)
		if host := w.host(); !host.isNothing() {
			p.remote = &shell.Remote{Kind: shell.RemoteHost, Target: r.word(host)}
		}
	}, func() value {
		if role == roleBlock {
			return r.callFunction("", function{params: blockParams(v.block), body: v.block}, nil, w.in)
		}
		return r.each(v, w.in)
	})
}

// host is the machine on which a block runs, if it is another one.
func (w *work) host() value {
	var host value
	for i := range w.sp.params {
		if p := &w.sp.params[i]; p.role == roleHost && !w.b.vals[p.name].isNothing() {
			host = w.b.vals[p.name]
		}
	}
	return host
}

// module loads a module: by its name what is installed, by a path what it
// holds.
func (w *work) module(v value) {
	for _, p := range v.items {
		switch end := strings.ToLower(p.Suffix()); {
		case p.IsUnknown(), strings.ContainsAny(p.Prefix(), `/\`),
			strings.HasSuffix(end, ".psm1"), strings.HasSuffix(end, ".ps1"), strings.HasSuffix(end, ".dll"):
			w.r.script(p, nil)
		}
	}
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
	if r.at.conditional && !p.Equal(r.cwd) {
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
	if target := w.rest[roleTarget]; !target.isNothing() && len(w.took) > 0 {
		r.call(w.sp.name, shell.VerbLink, r.path(r.word(target), true), w.took[0])
	} else if len(w.took) > 0 && w.creates() {
		r.call(w.sp.name, shell.VerbCreate, w.took...)
	}
	if len(w.from) > 0 {
		w.pairs()
	}
	if program := w.rest[roleProgram]; !program.isNothing() {
		w.start(program)
	}
	w.names()
}

// names does what gives a name to something.
func (w *work) names() {
	r := w.r
	if name, ok := w.rest[roleAlias].text(); ok {
		to, ok := w.rest[roleAliased].text()
		if !ok {
			r.unread("a name is given to a command that is not known")
		}
		r.aliases[strings.ToLower(name)] = to
	}
	if name, ok := w.rest[roleVariable].text(); ok {
		r.setVar(variableName(name), w.rest[roleValue])
	}
	if name, ok := w.rest[roleType].text(); ok {
		w.out = value{client: isClient(typeName(name)), items: unknownValue("").items}
	}
}

// creates says that the row has a path that is made.
func (w *work) creates() bool {
	for i := range w.sp.params {
		if w.sp.params[i].role == roleCreate {
			return true
		}
	}
	return w.sp.rest == roleCreate
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
	case rename.block != nil || rename.either:
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
	case i == 0:
		return shell.Text("/")
	}
	return shell.Text(s[:i])
}

// program runs the cmdlet as the program whose work it does, by that one's
// options.
func (w *work) program() value {
	r := w.r
	argv := []shell.Word{shell.Text(w.sp.as)}
	for i := range w.sp.params {
		p := &w.sp.params[i]
		v := w.b.take(p, w.in, w.piped)
		if p.role == "" || v.isNothing() {
			continue
		}
		items := v.items
		if v.table != nil {
			items = r.list(r.values(v.table)).items
		}
		for _, word := range items {
			switch p.role {
			case roleURL:
				argv = append(argv, word)
			case "-X":
				argv = append(argv, shell.Text(p.role), shell.Text(strings.ToUpper(word.String())))
			case "-o", "-T":
				argv = append(argv, shell.Text(p.role), r.path(word, true))
			default:
				argv = append(argv, shell.Text(p.role), word)
			}
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
	verb, _ := w.rest[roleElevate].text()
	r.within(func(p *place) {
		p.via = append(p.via, w.sp.name)
		p.privileged = p.privileged || strings.EqualFold(verb, "runas")
	}, func() value {
		for _, name := range r.choices(program) {
			if s := name.Prefix(); strings.Contains(s, "://") {
				r.call(w.sp.name, shell.VerbNetwork, name)
				continue
			}
			if name.IsUnknown() {
				r.dynamicName(name, nil)
				continue
			}
			r.program(name, args, value{}, false)
		}
		return value{}
	})
}
