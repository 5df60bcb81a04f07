package code

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/metnos/vaglio/internal/lists"
	"github.com/metnos/vaglio/vaglio/code/unfold"
	"github.com/metnos/vaglio/vaglio/shell"
)

// linked calls a function or method that the program imports from another file of its project, or makes an object of a class in it.
// Objects are not told apart: what one of them was given, a method may get of any.
func (p *program) linked(name string, args []value) (out value, ok bool) {
	name = strings.TrimSuffix(name, ".new")
	at := strings.LastIndexByte(name, '.')
	of := path.Ext("." + name[:max(at, 0)])[1:] // the module, "" if it has no name
	for _, m := range p.linkedTo() {
		key, file := name[at+1:], strings.ReplaceAll(m.in.Path, "/", ".")
		if whole := "." + strings.TrimLeft(name, "."); strings.HasSuffix(file, whole) || strings.HasSuffix(strings.TrimSuffix(file, path.Ext(file)), whole) {
			key = m.whole()
		}
		f, class := cmp.Or(m.fns[key], m.vars[key].fn, m.vars["exports."+key].fn, m.vars["module.exports."+key].fn), m.classes[key]
		if stem, _, _ := strings.Cut(path.Base(m.in.Path), "."); of != stem && p.modules[of] || f == nil && class == nil || !p.spend(len(p.vars)/bytesPerStep) {
			continue
		}
		m.later, m.loop, m.unsure = p.later, p.loop, p.unsure
		m.takesFields(p.vars)
		if class != nil {
			return m.construct(key, args), true
		}
		return m.invoke(f, args), true
	}
	return value{}, false
}

// invokeIn calls a function of a file that is read with this one.
func (p *program) invokeIn(f *routine) value {
	m := f.toks
	if m != p {
		m.later, m.loop, m.unsure = p.later, p.loop, p.unsure
		m.takesFields(p.vars)
	}
	return m.invoke(f, nil)
}

// together returns the program and the files that are read with it: those that it imports, the one that imports it, and so on.
func (p *program) together() []*program {
	all := []*program{p}
	if p.root != nil && p.root != p {
		all = append(all, p.root)
	}
	for i := 0; i < len(all) && len(all) < maxBeside; i++ {
		for _, m := range all[i].linkedTo() {
			if !slices.Contains(all, m) {
				all = append(all, m)
			}
		}
	}
	return all
}

// nowhere reports whether a pattern matches neither the program nor a file that is read with it or that runs with it, apart from what is plain.
func (p *program) nowhere(pattern, plain string) bool {
	var with []string
	if p.in.Beside != nil {
		with = p.in.Beside()
	}
	read := p.together()
	with = append(with, lists.Each(read, func(m *program) string { return m.src })...)
	return len(read) < maxBeside && !slices.ContainsFunc(with, func(text string) bool { return p.finds(pattern, plain, text) })
}

// stem returns the name that others import the program's file by.
func (p *program) stem() string {
	stem, _, _ := strings.Cut(path.Base(p.in.Path), ".")
	if stem == "__init__" {
		return path.Base(path.Dir(p.in.Path))
	}
	return stem
}

// ofModule returns the file of the project that a name in the program stands for, nil if none.
func (p *program) ofModule(name string) *program {
	name = cmp.Or(p.vars[name].path, name)
	if head, _, _ := strings.Cut(name, "."); !p.lang.has("columns") || !p.modules[head] || strings.Contains(name, "(") {
		return nil
	}
	stem := name[strings.LastIndexByte(name, '.')+1:]
	at := slices.IndexFunc(p.linkedTo(), func(m *program) bool { return m.stem() == stem })
	if at < 0 || !p.spend(1) {
		return nil
	}
	return p.links[at]
}

// fromModule returns the value of a variable of another file of the project.
func (p *program) fromModule(full string) (value, bool) {
	at := strings.LastIndexByte(full, '.')
	if at <= 0 || !p.enter() {
		return value{}, false
	}
	defer p.leave()
	m := p.ofModule(full[:at])
	if m == nil || m == p || !p.nowhere("refielded", "") {
		return value{}, false
	}
	v, held := m.vars[full[at+1:]]
	if held && v.path != "" && !v.given() && m.classOf(v.path) == nil { // it may have it from another one
		return m.fromModule(v.path)
	}
	v.holder = ""
	return v, held && v.fn == nil && v.file == nil
}

// classOf returns a class of the files that are read together.
func (p *program) classOf(name string) *routine {
	for _, m := range p.together() {
		if c := m.classes[name]; c != nil {
			return c
		}
	}
	return nil
}

// takesFields takes over what the objects of another file's program hold.
func (p *program) takesFields(vars map[string]value) {
	p.branches++
	for key, v := range vars {
		if strings.HasPrefix(key, ".") {
			p.store("object"+key, v)
		} else if strings.HasPrefix(key, ofObjects) {
			p.set(key, v)
		}
	}
	p.branches--
}

var exportsWhole = regexp.MustCompile(`\b(?:default|exports\s*=)\s+(?:(?:async|function|class)\s+)*(\w+)`)

// whole returns the name of what stands for a whole file of node.
func (p *program) whole() string {
	m := exportsWhole.FindStringSubmatch(p.src)
	return append(m, "", "")[1]
}

// linkedTo returns the files of the project that the program imports, as far as they are read.
func (p *program) linkedTo() []*program {
	if p.links != nil || p.in.Source == nil || p.lang.imports == nil {
		return p.links
	}
	p.links = []*program{}
	for _, files := range p.lang.imports.In(p.ownFolder(), []string{p.in.Cwd}, p.src) {
		for _, file := range files {
			if m := p.module(file); m != nil {
				p.links = append(p.links, m)
				break
			}
		}
	}
	return p.links
}

// ownFolder returns the folder in which the program looks first for what it imports.
func (p *program) ownFolder() string { return path.Dir(cmp.Or(p.in.Path, p.in.Cwd+"/-")) }

// included reads a file that the program takes in by a name which it puts together; who reads its text finds the others.
func included(p *program, v value, _ []value) value {
	f := p.lang.imports
	name, ok := v.text()
	if !ok || f == nil || p.in.Source == nil || p.includesPut(name) || p.plain == nil && !p.spend(len(p.src)/bytesPerStep) {
		return unknown("import")
	}
	if p.plain == nil {
		p.plain = append([]string{}, f.Names(p.src)...)
	}
	if slices.Contains(p.plain, name) {
		return unknown("import")
	}
	files := slices.Concat(f.Files(p.ownFolder(), []string{p.in.Cwd}, name)...)
	if at := slices.IndexFunc(files, func(file string) bool { _, ok := p.in.Source(file); return ok }); at >= 0 {
		p.script(shell.Text(files[at]))
	}
	return unknown("import")
}

// includesPut reads a file that the program takes in by a name, if it has put something there by now, or into a folder above, and reports that.
func (p *program) includesPut(name string) bool {
	if len(p.out.Actions) == 0 || p.lang.imports == nil || !p.spend(len(p.out.Actions)/bytesPerStep) {
		return false
	}
	files := slices.Concat(p.lang.imports.Files(p.ownFolder(), []string{p.in.Cwd}, name)...)
	at := slices.IndexFunc(files, func(file string) bool {
		return slices.ContainsFunc(p.out.Actions, func(s shell.ProgramStep) bool {
			to := s.File
			if s.Call != nil && len(s.Call.Targets) == 2 {
				to = s.Call.Targets[1]
			}
			at := p.pathOf(to)
			return at != "" && to.Known() && (at == file || strings.HasPrefix(file, at+"/"))
		})
	})
	if at >= 0 {
		p.script(shell.Text(files[at]))
	}
	return at >= 0
}

// unled reads the functions of imported files to which no call led, though the program mentions them.
func (p *program) unled() {
	for _, m := range p.linkedTo() {
		for i := 0; i < len(m.routines) && !p.stopped; i++ {
			if f := m.routines[i]; !f.called && p.spend(len(p.src)/bytesPerStep/bytesPerStep) && (strings.Contains(p.src, f.name) || f.name == m.whole()) {
				f.called = true
				m.later++
				m.through(f, nil)
				m.later--
				m.unled()
			}
		}
	}
}

// module returns the functions of a file, nil if nothing is known of it.
func (p *program) module(file string) *program {
	if m, read := p.files[file]; read {
		return m
	}
	text, ok := p.in.Source(file)
	p.files[file] = nil
	if !ok || len(text) > maxText || !p.spend(len(text)/bytesPerStep) {
		return nil
	}
	in := *p.in
	in.Path, in.Args, in.Stdin = file, nil, shell.Word{}
	aside := &run{left: p.left, again: p.again, said: map[string]bool{}, of: p.of, files: p.files, stand: p.stand, depth: p.depth, out: &shell.ProgramResult{}}
	aside.root, aside.held, aside.changes = p.root, p.held, p.changes
	aside.objects, aside.known = p.objects, p.known
	m := newProgram(aside, p.table, p.lang, &in) // aside: for its own statements
	m.other = true
	m.lex(text)
	m.scan(0, m.end)
	for _, f := range m.routines {
		f.called = false
	}
	p.left, p.again, p.known, p.relied = aside.left, aside.again, aside.known, append(p.relied, aside.relied...)
	p.aside = append(append(p.aside, aside.aside...), aside.out.Actions...)
	m.run, p.files[file] = p.run, m
	return m
}

// isHanded reports whether what is done to a target is for somebody else to say. Where a tool may run the file by itself, or another one that is read
// imports it, a function that nothing in it calls does nothing yet to what it is handed, nor to what has such a name in a folder of the project; those
// in a tool's settings, the tool calls. In languages that are not followed, a name that the program does not begin is one that it is handed as well.
func (p *program) isHanded(verb shell.Verb, w shell.Word) bool {
	unsaid := w.HasUnknown() && w.Prefix() == ""
	if p.later > 0 && (p.in.Found || p.in.Imported || p.in.Settings) {
		return unsaid && p.isForCallers(w) || w.Is("") || p.takesFromProject(verb, w)
	}
	if p.out.Loose {
		return p.isLooselyHanded(verb, w, unsaid)
	}
	return p.in.Found && unsaid && p.isTold(verb, w)
}

// isForCallers reports whether those who call the function being read say what a word is. A library that calls one,
// or the end of the function around it, says nothing that is not seen; what else calls one hands it its parameters.
func (p *program) isForCallers(w shell.Word) bool {
	return !p.elsewhere || !p.led && p.ofParameters(w)
}

// isLooselyHanded is isHanded for a program that is not followed.
func (p *program) isLooselyHanded(verb shell.Verb, w shell.Word, unsaid bool) bool {
	stays := func() bool { return p.inside != nil && p.inside() }
	if unsaid {
		return p.in.Found && p.isTold(verb, w) || verb == shell.VerbDeleteTree && (p.in.Found || stays())
	}
	return p.in.Found && isFilled.MatchString(w.Prefix()) && !strings.Contains(w.Prefix(), "..") && stays()
}

// isFilled matches a text that begins with the value of a variable, in languages that are not followed.
var isFilled = regexp.MustCompile(`^(?:\$\{?\w|\\\(\w|\{\w*[}:])`)

// takesFromProject reports whether what is deleted has a name that a function is handed, in a folder of the project.
func (p *program) takesFromProject(verb shell.Verb, w shell.Word) bool {
	return (verb == shell.VerbDelete || verb == shell.VerbDeleteTree) && w.HasUnknown() && p.inProject(w.Prefix()) && p.ofParameters(w)
}

// ofParameters reports whether all that is unknown of a word are parameters.
func (p *program) ofParameters(w shell.Word) bool {
	return !slices.ContainsFunc(w.Parts(), func(part shell.Part) bool { return part.Kind == shell.PartUnknown && !p.isParameter(part.Name) })
}

// isParameter reports whether a name is that of a parameter of some function.
func (p *program) isParameter(name string) bool {
	return name != "" && p.spend(len(p.routines)) && slices.ContainsFunc(p.routines, func(f *routine) bool {
		return slices.ContainsFunc(f.params, func(at int) bool { return strings.TrimLeft(f.toks.tok(at).Text, "$&*") == strings.TrimLeft(name, "$") })
	})
}

// inProject reports whether a path that begins so lies in a folder below the program's own, and in none that is hidden.
func (p *program) inProject(prefix string) bool {
	prefix = strings.TrimPrefix(prefix, "./")
	if p.in.Cwd != "" {
		prefix = strings.TrimPrefix(prefix, strings.TrimSuffix(p.in.Cwd, "/")+"/")
	}
	return strings.Contains(prefix, "/") && !strings.ContainsAny(prefix[:1], "/.~$") && !strings.Contains(prefix, "/.")
}

// A program that is named apart from its words, and where those are given: the object is begun later.
var (
	launchProgram = regexp.MustCompile(`(?:\blaunchPath\s*=\s*|\bexecutableURL\s*=\s*URL\([^"'\n]*|\bStartInfo\.FileName\s*=\s*)("(?:\\.|[^"\\\n])*")`)
	launchWords   = regexp.MustCompile(`\b(?:arguments|StartInfo\.Arguments)\s*=`)
)

// launched puts each program that is named apart in front of its words, as one call that starts both.
func (p *program) launched(src string) string {
	if !slices.ContainsFunc([]string{"launchPath", "executableURL", "StartInfo"}, func(s string) bool { return strings.Contains(src, s) }) {
		return src
	}
	named := launchProgram.FindAllStringSubmatchIndex(src, -1)
	starts := slices.IndexFunc([]string{"Process", "Process.Start"}, func(name string) bool { return p.lang.find(name, "") != nil })
	if named == nil || starts < 0 {
		return src
	}
	var out strings.Builder
	from, next := 0, 0
	for _, at := range launchWords.FindAllStringIndex(src, -1) {
		for next+1 < len(named) && named[next+1][0] < at[0] {
			next++
		}
		out.WriteString(src[from:at[0]] + "; " + []string{"Process", "Process.Start"}[starts] + " " + src[named[next][2]:named[next][3]] + ", ")
		from = at[1]
	}
	return out.String() + src[from:]
}

// stepOf returns what a name among the texts of a call stands for: a folder as a step to the next text, or what the program gives it.
func (p *program) stepOf(name string, is *function, held *heldTexts, call *function) []shell.Word {
	switch {
	case call == nil:
		return nil
	case is != nil:
		return p.stepTo(is)
	case name == "__DIR__" && p.in.Path != "":
		return []shell.Word{shell.Text(path.Dir(p.in.Path) + "/.")}
	}
	return held.take(name)
}

// openCall is a call of a program that is not followed, while its texts are read.
type openCall struct {
	f     *function
	name  string
	under string // a name before the first text: the folder that it is below
	on    string // the last name, on which a method may be called
	texts []shell.Word
	shut  int  // where its brackets end, 0 if that says nothing
	given bool // something that no text says, in a program of one line
}

// looseStep reads a name among the arguments of a call, and what it stands for.
func (p *program) looseStep(c *openCall, name, behind string, steps []shell.Word) {
	if p.looseRecord(name); c.f == nil {
		return
	}
	full := name
	if isBelow.MatchString(name) {
		full = c.on + name
	} else if name != "" && name[0] != '.' {
		c.on = name
	}
	if folder := c.f.folder(full, behind, c.shut > 0); folder != "" && len(c.texts)+len(steps) == 0 && p.inside() {
		c.under = cmp.Or(c.under, folder)
	}
	c.texts = append(goesOn(c.texts, name, c.shut > 0), steps...)
	belowNamed(c.under, c.texts)
}

// argumentsOf returns where the brackets of a call that acts on files end, 0 if what follows them may belong to it
// as well: what it is called on, or what a command is given.
func (p *program) argumentsOf(f *function, src string, from int) int {
	if f == nil || !slices.Contains([]string{"delete tree", "create", "read", "write", "open"}, f.verb) {
		return 0
	}
	if from < len(src) && src[from] == '(' {
		const most = 2000
		if body, _, ok := delimited(unfold.Bare(src[from:min(len(src), from+most)])); ok && p.spend(len(body)/bytesPerStep) {
			return from + 1 + len(body)
		}
	}
	return 0
}

// isBelow matches a method that goes on from a path, to what is below it.
