package powershell

import (
	"slices"
	"strings"

	"github.com/metnos/vaglio/internal/lists"
	"github.com/metnos/vaglio/vaglio/shell"
	"github.com/metnos/vaglio/vaglio/shell/word"
	"github.com/metnos/vaglio/vaglio/wordclass"
)

// work is one call of a command that the table has a row for.
type work struct {
	r      *reader
	name   string
	sp     *spec
	vals   map[string]value // by parameter name
	on     map[string]bool  // switches
	words  value            // words that belong to no parameter
	dry    bool             // -WhatIf: the command only says what it would do
	in     value
	piped  bool
	took   []shell.Word            // the paths that it works on
	from   map[string][]shell.Word // by role: what is copied, moved or linked
	out    value
	spares []value          // blocks of parameters that run none
	kept   map[string]value // by role: what needs more than one argument
}

func (r *reader) work(sp *spec, in value, piped bool) *work {
	w := &work{r: r, sp: sp, in: in, piped: piped, vals: map[string]value{}, on: map[string]bool{}, kept: map[string]value{}, from: map[string][]shell.Word{}}
	if sp != nil {
		w.name = sp.name
	}
	return w
}

// take returns what a parameter was given, or what the pipe brings to it.
func (w *work) take(p *param) value {
	v, ok := w.vals[p.name]
	if !ok && p.piped && w.piped {
		return w.in
	}
	return v
}

// run carries out a command's row for its words.
func (w *work) run(args []argument) value {
	r := w.r
	before := len(r.out.Commands) + len(r.out.Problems)
	switch {
	case w.dry:
	case w.sp.pass != "":
		r.blocks(args, w.in)
		argv := append([]shell.Word{shell.Text(w.name)}, r.words(args)...)
		if w.piped && !slices.ContainsFunc(args, func(a argument) bool { return a.name == "" }) {
			argv = append(argv, w.in.names...)
		}
		r.emit(shell.Command{Name: w.name, Argv: argv})
		return output(w.name, false)
	case w.sp.as != "":
		return w.program()
	default:
		w.params()
		for _, v := range w.spares {
			r.each(v, w.in)
		}
	}
	if len(r.out.Commands)+len(r.out.Problems) == before {
		r.call(w.name, shell.VerbRead) // known to touch nothing
	}
	out := w.output()
	if len(w.sp.params) == 0 && w.sp.out == "" {
		out.names = askedFor(strings.ToLower(w.name), args)
	}
	return out
}

// askedFor returns the words by which a cmdlet that gets objects is asked for them.
func askedFor(cmdlet string, args []argument) []shell.Word {
	if len(args) > 1 && wordclass.Is("powershell-names", args[0].name) {
		args = args[1:]
	}
	if !strings.HasPrefix(cmdlet, "get-") || wordclass.Within("powershell-of", cmdlet) || len(args) == 0 || args[0].name != "" || args[0].val.isBlock {
		return nil
	}
	return args[0].val.items
}

// params carries out each parameter's role, and then what needs more than one argument.
func (w *work) params() {
	for i := range w.sp.params {
		p := &w.sp.params[i]
		if v := w.take(p); p.role != "" && !p.isFlag && !v.isNothing() {
			w.do(p.role, v, p.name == "literalpath" || p.name == "self" || isDigit(p.name[0]))
		}
	}
	if w.sp.rest != "" {
		w.do(w.sp.rest, w.words, false)
	}
	for _, verb := range [...]shell.Verb{shell.VerbCopy, shell.VerbMove, shell.VerbLink} {
		w.pairs(verb)
	}
	if program := w.kept["program"]; !program.isNothing() {
		w.start(program)
	}
}

// do acts on one argument by its role, or keeps it.
func (w *work) do(role string, v value, literal bool) {
	switch r := w.r; role {
	case "copy", "move", "link":
		w.from[role] = append(w.from[role], w.paths(v, literal, role == "move")...)
	case "cwd":
		w.directory(v)
	case "kill":
		r.call(w.name, shell.VerbKill, v.named()...)
	case "fetch", "send":
		r.call(w.name, map[string]shell.Verb{"fetch": shell.VerbNetwork, "send": shell.VerbSend}[role], v.items...)
		w.out = output(w.name, true)
	case "shown":
		r.shown(v)
	case "unread":
		r.unread("what %s does is not read", w.name)
	case "code":
		w.out = r.carried(v, w.name)
	case "block", "each":
		w.block(role, v)
	case "script", "module":
		w.scripts(role == "module", v)
	default:
		w.file(role, v, literal)
	}
}

// scripts runs files. A module's name may be that of an installed module.
func (w *work) scripts(modules bool, v value) {
	for _, p := range v.items {
		if !modules || p.IsUnknown() || strings.ContainsAny(p.Prefix(), `/\`) || isScript(p.Suffix()) || strings.HasSuffix(p.Suffix(), ".dll") {
			w.r.script(p, nil, true)
		}
	}
}

// verb returns what a role does to files. A switch may change deleting or writing to something else, and what is written may be nothing.
func (w *work) verb(role string) shell.Verb {
	for i := range w.sp.params {
		p := &w.sp.params[i]
		if (role == "delete" || role == "write") && p.isFlag && p.role != "" && w.on[p.name] {
			role = p.role
		}
		if role == "write" && p.role == "text" && w.isEmpty(p) {
			role = "empty"
		}
	}
	return shell.Verb(w.r.t.words["roles"][role])
}

// isEmpty reports whether a parameter's value is given, and nothing.
func (w *work) isEmpty(p *param) bool {
	_, given := w.vals[p.name]
	v := w.take(p)
	return (given || !v.isNothing()) && !v.isBlock && !slices.ContainsFunc(v.items, func(s shell.Word) bool { return !s.Is("") })
}

// file acts on files, or keeps the argument.
func (w *work) file(role string, v value, literal bool) {
	verb := w.verb(role)
	switch {
	case verb == "":
		w.kept[role] = v
		return
	case verb == shell.VerbRead && w.piped && !w.in.files && len(w.vals) == 0 && w.sp.out == "":
		return // the pipe carries text, not names
	}
	if paths := w.paths(v, literal, verb != shell.VerbRead && verb != shell.VerbList); len(paths) > 0 {
		w.took = append(w.took, paths...)
		w.r.call(w.name, verb, paths...)
	}
}

// block runs a block for what comes through the pipe, possibly elsewhere.
func (w *work) block(role string, v value) {
	switch s, ok := v.text(); {
	case v.isBlock:
		w.out = w.r.within(w.elsewhere, func() value { return w.r.each(v, w.in) })
	case ok && role == "each" && s != "":
		w.out = w.r.named(w.in, s)
	case !ok && slices.ContainsFunc(v.items, shell.Word.HasUnknown):
		w.out = w.r.carried(v, w.name)
	}
}

// elsewhere sets where a block runs.
func (w *work) elsewhere(at *place) {
	by(w.name)(at)
	for i := range w.sp.params {
		if p := &w.sp.params[i]; p.role == "host" && !w.vals[p.name].isNothing() {
			at.Remote = &shell.Remote{Kind: shell.RemoteHost, Target: w.r.word(w.vals[p.name])}
		}
	}
}

// directory makes a folder the current one.
func (w *work) directory(v value) {
	r, dirs := w.r, w.paths(v, true, false)
	if len(dirs) == 0 {
		return
	}
	dir := dirs[0]
	if !isAbsolute(dir) {
		dir = r.below(r.cwd, dirs[:1])[0]
	}
	if dir.Size() > shell.MaxPath || len(dirs) > 1 || r.at.Conditional && !dir.Equal(r.cwd) {
		dir = word.Unknown("PWD")
	}
	r.cwd = dir
}

// pairs adds what is copied, moved or linked, each with its destination.
func (w *work) pairs(verb shell.Verb) {
	rename, targets := w.kept["rename"], []shell.Word{shell.Text(".")}
	if to := w.kept["to"]; !to.isNothing() {
		targets = w.paths(to, true, true)
	} else if verb == shell.VerbLink {
		targets = w.took
	}
	for _, f := range w.from[string(verb)] {
		if !rename.isNothing() {
			targets = []shell.Word{renamed(f, w.r.word(rename))}
		}
		for _, t := range targets {
			w.r.call(w.name, verb, f, t)
		}
	}
}

// program runs the cmdlet as the program whose work it does, with that program's options.
func (w *work) program() value {
	argv := []shell.Word{shell.Text(w.sp.as)}
	for i := range w.sp.params {
		p := &w.sp.params[i]
		if p.role == "" || p.role == "host" {
			continue
		}
		for _, word := range w.take(p).items {
			switch p.role {
			case "url":
				argv = append(argv, word)
				continue
			case "-X":
				word = shell.Text(strings.ToUpper(word.String()))
			case "-o", "-T":
				word = w.r.path(word, true)
			}
			argv = append(argv, shell.Text(p.role), word)
		}
	}
	return w.r.within(w.elsewhere, func() value { return w.r.native(argv, shell.Input{}) })
}

// start runs a program with arguments, each of which may hold several words.
func (w *work) start(program value) {
	r := w.r
	args := lists.All(w.kept["args"].items, r.splitWords)
	verb := r.word(w.kept["elevate"])
	r.within(func(at *place) {
		by(w.name)(at)
		at.Privileged = at.Privileged || strings.EqualFold(verb.String(), "runas")
	}, func() value {
		for _, name := range r.choices(program) {
			if strings.Contains(name.Prefix(), "://") {
				r.call(w.name, shell.VerbNetwork, name)
			} else {
				r.program(name, args, value{}, false)
			}
		}
		return value{}
	})
}
