package powershell

import (
	"slices"
	"strings"

	"github.com/metnos/vaglio/vaglio/shell"
)

// work is one call of a command of which the table has a row.
type work struct {
	r     *reader
	name  string
	sp    *spec
	vals  map[string]value // by the parameter's name
	on    map[string]bool  // switches
	words value            // that belong to no parameter
	dry   bool             // -WhatIf: the command only says what it would do
	in    value
	piped bool
	took  []shell.Word    // the paths that it works on
	from  [2][]shell.Word // what is copied, and what is moved
	out   value
	ran   bool             // a block was read
	kept  map[string]value // by the role, what needs more than one argument
}

// take is what a parameter was given, or what the pipe brings to it.
func (w *work) take(p *param) value {
	v, ok := w.vals[p.name]
	if !ok && p.piped && w.piped {
		return w.in
	}
	return v
}

// run does what the row of a command says to its words.
func (w *work) run(args []argument) value {
	r := w.r
	before := len(r.out.Commands) + len(r.out.Problems)
	switch {
	case w.dry:
	case w.sp.pass != "":
		r.blocks(args, w.in)
		r.plain(w.name, args)
		return output(w.name, false)
	case w.sp.as != "":
		return w.program()
	default:
		w.params()
		if !w.ran {
			r.blocks(args, w.in)
		}
	}
	if len(r.out.Commands)+len(r.out.Problems) == before {
		r.call(w.name, shell.VerbRead) // known to touch nothing
	}
	return w.output()
}

// params does what the row says to each parameter, and then what needs more
// than one.
func (w *work) params() {
	for i := range w.sp.params {
		p := &w.sp.params[i]
		if v := w.take(p); p.role != "" && !p.isFlag && (!v.isNothing() || p.name == "process") {
			w.do(p.role, v, p.name == "literalpath" || p.name == "self" || isDigit(p.name[0]))
		}
	}
	if w.sp.rest != "" {
		w.do(w.sp.rest, w.words, false)
	}
	for i, verb := range [...]shell.Verb{shell.VerbCopy, shell.VerbMove} {
		w.pairs(w.from[i], verb)
	}
	w.create()
	if program := w.kept["program"]; !program.isNothing() {
		w.start(program)
	}
}

// do acts on one argument by its role, or keeps it.
func (w *work) do(role string, v value, literal bool) {
	switch r := w.r; role {
	case "copy":
		w.from[0] = append(w.from[0], w.paths(v, literal, false)...)
	case "move":
		w.from[1] = append(w.from[1], w.paths(v, literal, true)...)
	case "cwd":
		w.directory(v)
	case "kill":
		r.call(w.name, shell.VerbKill, v.items...)
	case "fetch", "send":
		name := map[string]string{"send": "post "}[role] + w.name
		r.call(name, shell.VerbNetwork, v.items...)
		w.out = output(w.name, true)
	case "unread":
		r.unread("what %s does is not read", w.name)
	case "code":
		w.ran = true
		w.out = r.carried(v, w.name)
	case "block", "each":
		w.block(role, v)
	case "script", "module":
		w.scripts(role == "module", v)
	default:
		w.file(role, v, literal)
	}
}

// scripts runs files; a module's name may be that of what is installed.
func (w *work) scripts(modules bool, v value) {
	for _, p := range v.items {
		if !modules || p.IsUnknown() || strings.ContainsAny(p.Prefix(), `/\`) || isScript(p.Suffix()) || strings.HasSuffix(p.Suffix(), ".dll") {
			w.r.script(p, nil)
		}
	}
}

// verb is what a role does to files; a switch may say what is done instead of
// deleting or writing.
func (w *work) verb(role string) shell.Verb {
	for i := range w.sp.params {
		p := &w.sp.params[i]
		if (role == "delete" || role == "write") && p.isFlag && p.role != "" && w.on[p.name] {
			role = p.role
		}
	}
	return shell.Verb(w.r.t.words["roles"][role])
}

// file does something to files, or keeps the argument.
func (w *work) file(role string, v value, literal bool) {
	verb := w.verb(role)
	switch {
	case verb == "":
		w.kept[role] = v
		return
	case verb == shell.VerbRead && w.piped && !w.in.files && len(w.vals) == 0 && w.sp.out == "":
		return // text comes through the pipe, no names
	}
	if paths := w.paths(v, literal, verb != shell.VerbRead && verb != shell.VerbList); len(paths) > 0 {
		w.took = append(w.took, paths...)
		w.r.call(w.name, verb, paths...)
	}
}

// block runs a block for what comes through the pipe, maybe elsewhere.
func (w *work) block(role string, v value) {
	if v.isNothing() && len(w.vals) == 0 {
		v = w.words
	}
	switch s, ok := v.text(); {
	case v.isBlock:
		w.ran = true
		w.out = w.r.within(w.elsewhere, func() value { return w.r.each(v, w.in) })
	case ok && role == "each" && s != "":
		w.ran, w.out = true, w.r.named(w.in, s)
	case !ok && slices.ContainsFunc(v.items, shell.Word.HasUnknown):
		w.out = w.r.carried(v, w.name)
	}
}

// elsewhere is where a block runs.
func (w *work) elsewhere(at *place) {
	by(w.name)(at)
	for i := range w.sp.params {
		if p := &w.sp.params[i]; p.role == "host" && !w.vals[p.name].isNothing() {
			at.remote = &shell.Remote{Kind: shell.RemoteHost, Target: w.r.word(w.vals[p.name])}
		}
	}
}

// directory makes a folder the current one.
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

// create makes files, folders and links.
func (w *work) create() {
	r, child, target := w.r, w.kept["child"], w.kept["target"]
	made, creates := w.kept["create"]
	w.took = append(w.took, w.paths(made, true, true)...)
	if !child.isNothing() {
		name := r.path(r.word(child), true)
		r.pay(len(w.took), len(w.took)*weigh(name))
		for i, dir := range w.took {
			w.took[i] = below(dir, name)
		}
		if len(w.took) == 0 {
			w.took, creates = []shell.Word{name}, true
		}
	}
	switch {
	case len(w.took) == 0:
	case !target.isNothing():
		r.call(w.name, shell.VerbLink, r.path(r.word(target), true), w.took[0])
	case creates:
		r.call(w.name, shell.VerbCreate, w.took...)
	}
}

// pairs are what is copied or moved, each with its destination.
func (w *work) pairs(from []shell.Word, verb shell.Verb) {
	rename, targets := w.kept["rename"], []shell.Word{shell.Text(".")}
	if to := w.kept["to"]; !to.isNothing() && len(from) > 0 {
		targets = w.paths(to, true, true)
	}
	for _, f := range from {
		if !rename.isNothing() {
			targets[0] = renamed(f, w.r.word(rename))
		}
		for _, t := range targets {
			w.r.call(w.name, verb, f, t)
		}
	}
}

// program runs the cmdlet as the program whose work it does, by that one's
// options.
func (w *work) program() value {
	argv := []shell.Word{shell.Text(w.sp.as)}
	for i := range w.sp.params {
		p := &w.sp.params[i]
		if p.role == "" {
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
	return w.r.within(by(w.name), func() value { return w.r.native(argv, shell.Input{}) })
}

// start runs a program with words of which each may hold several.
func (w *work) start(program value) {
	r := w.r
	var args []argument
	for _, item := range w.kept["args"].items {
		args = append(args, r.splitWords(item)...)
	}
	verb := r.word(w.kept["elevate"])
	r.within(func(at *place) {
		by(w.name)(at)
		at.privileged = at.privileged || strings.EqualFold(verb.String(), "runas")
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
