package code

import (
	"cmp"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/metnos/vaglio/internal/strictjson"
	"github.com/metnos/vaglio/vaglio/shell"
)

// linked calls a function or method that the program imports from another file of its project, or
// makes an object of a class in it. Objects are not told apart: what one of them was given, a method
// may get of any.
func (p *program) linked(name string, args []value) (out value, ok bool) {
	name = strings.TrimSuffix(name, ".new")
	at := strings.LastIndexByte(name, '.')
	of := path.Ext("." + name[:max(at, 0)])[1:] // the module, "" if it has no name
	for _, m := range p.linkedTo() {
		key, file := name[at+1:], strings.ReplaceAll(m.in.Path, "/", ".")
		if whole := "." + strings.TrimLeft(name, "."); strings.HasSuffix(file, whole) || strings.HasSuffix(strings.TrimSuffix(file, path.Ext(file)), whole) {
			key = m.whole()
		}
		f, class := m.defines(key), m.classes[key]
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
	for _, files := range p.lang.imports.In(path.Dir(cmp.Or(p.in.Path, p.in.Cwd+"/-")), []string{p.in.Cwd}, p.src) {
		for _, file := range files {
			if m := p.module(file); m != nil {
				p.links = append(p.links, m)
				break
			}
		}
	}
	return p.links
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

// defines returns the function that others know by a name, nil if there is none.
func (p *program) defines(name string) *routine {
	return cmp.Or(p.fns[name], p.vars[name].fn, p.vars["exports."+name].fn, p.vars["module.exports."+name].fn)
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
	aside := &run{left: p.left, said: map[string]bool{}, of: p.of, files: p.files, depth: p.depth, out: &shell.ProgramResult{}} // for its own statements
	m := newProgram(aside, p.table, p.lang, &in)
	m.other = true
	m.lex(text)
	m.scan(0, m.end)
	p.left = aside.left
	p.asides = append(p.asides, aside.out)
	m.run, p.files[file] = p.run, m
	return m
}

// isData reports whether a module is a file of data that lies beside the program's own.
func isData(module string) bool {
	return strings.HasPrefix(module, ".") && strings.HasSuffix(module, ".json")
}

// importsData gives the name of a file of data, if that is what was imported, what the file holds.
func (p *program) importsData(name string) {
	file := p.tok(p.at + 1).text
	if p.lang.name != "node" || !isData(file) || !p.word("from") || !p.tok(p.at-1).word(name) {
		return
	}
	if held := p.data(path.Dir(p.in.Path), file); held.given() {
		p.vars[name] = held
	}
}

// data returns what a file of the project holds, named as seen from a folder. What is run with it may not
// write it: see [program.rewrites].
func (p *program) data(folder, file string) value {
	if !path.IsAbs(file) {
		file = path.Join(folder, file)
	}
	if p.in.Source == nil || p.entered || p.asIs || p.later > 0 || !path.IsAbs(file) || !p.in.Lies(file) {
		return unknown("")
	}
	text, ok := p.in.Source(file)
	if !ok || !p.spend(len(text)/bytesPerStep) {
		return unknown("")
	}
	p.given = append(p.given, file)
	return ofData(text)
}

// ofData returns what a text in JSON stands for.
func ofData(text string) value {
	var held any
	if err := strictjson.Unmarshal([]byte(text), &held); err != nil {
		return unknown("JSON.parse()")
	}
	return valueOf(held)
}

func valueOf(held any) value {
	switch held := held.(type) {
	case string:
		return text(held)
	case nil:
		return value{kind: kindNone}
	case []any:
		out := listOf()
		for _, e := range held[:min(len(held), maxList)] {
			out.list = append(out.list, valueOf(e))
		}
		if len(held) > maxList {
			out.list = append(out.list, unknown(""))
		}
		return out
	case map[string]any:
		out := value{kind: kindMap}
		for _, key := range slices.Sorted(maps.Keys(held)) {
			out.keys, out.list = append(out.keys, key), append(out.list, valueOf(held[key]))
		}
		if len(held) <= maxList {
			return out
		}
	}
	return unknown("JSON.parse()")
}

// parsedData returns what a text in JSON stands for; it may be what a file holds.
func parsedData(p *program, v value, _ []value) value {
	if len(v.alts) == 1 {
		if s, known := v.text(); known && p.spend(len(s)/bytesPerStep) {
			return ofData(s)
		}
		if file, is := contentOf(v.alts[0]); is {
			if out := p.data(p.in.Cwd, file.String()); out.given() {
				return out
			}
		}
	}
	return passedOn("JSON.parse()", v.words()...)
}

// rewrites reports whether a program, or one that it imports, may write a file that it takes data from. Which of
// both comes first, nobody knows.
func (p *program) rewrites() bool {
	for _, out := range append(p.asides, p.out) {
		for i := range out.Actions {
			if s := &out.Actions[i]; slices.ContainsFunc(p.given, func(file string) bool { return mayWrite(s, file, p.in.Cwd) }) {
				return true
			}
		}
	}
	return false
}

// loads reads a call that loads a compiled library, as the loader does that a variable tells to. Nothing
// is known of one without a folder, which is the system's.
func (p *program) loads(f *function, name string, args []value, named map[string]value) value {
	for _, w := range listOf(f.targets(p, args, named)...).words() {
		if strings.Contains(w.String(), "/") {
			p.argv([]shell.Word{shell.Text("env"), shell.Glue(shell.Text("LD_AUDIT="), w), shell.Text("python3"), shell.Text("--version")})
		}
	}
	return unknown(name + "()")
}

// mayWrite reports whether a step may write a file: one that runs something else, or that writes a file of the same
// name, of a name that is not known in full, or in a folder that is not.
func mayWrite(s *shell.ProgramStep, file, cwd string) bool {
	switch call := s.Call; {
	case s.Problem != nil:
		return false
	case s.Writes:
		return mayName(s.File, file, cwd)
	case call == nil:
		return true
	case slices.Contains([]shell.Verb{shell.VerbMove, shell.VerbCopy, shell.VerbWrite, shell.VerbAppend}, call.Verb) && len(call.Targets) > 0:
		return mayName(call.Targets[len(call.Targets)-1], file, cwd)
	default:
		return slices.Contains([]shell.Verb{shell.VerbLink, shell.VerbEnter, shell.VerbFork}, call.Verb)
	}
}

// mayName reports whether a word may name a file or a folder above it.
func mayName(w shell.Word, file, cwd string) bool {
	name := w.Prefix()
	if !path.IsAbs(name) {
		name = cwd + "/" + name
	}
	if w.HasGlob() && !w.HasUnknown() && strings.Contains(w.Prefix(), "/") {
		return strings.HasPrefix(file, path.Dir(name)+"/")
	}
	_, known := w.Text()
	return !known || path.Base(name) == path.Base(file) || strings.HasPrefix(file, path.Clean(name)+"/")
}

// isHanded reports whether what is done to a target is for somebody else to say. Where a tool may run the
// file by itself, or another one that is read imports it, a function that nothing in it calls does nothing
// yet to what it is handed, nor to what has such a name in a folder of the project; those in a tool's settings,
// the tool calls. In languages that are not followed, a name that the program does not begin is one that it is
// handed as well.
func (p *program) isHanded(verb shell.Verb, w shell.Word) bool {
	unsaid := w.HasUnknown() && w.Prefix() == ""
	if p.later > 0 && (p.in.Found || p.in.Imported || p.in.Settings) {
		return unsaid || w.Is("") || p.takesFromProject(verb, w)
	}
	return p.in.Found && unsaid && (p.isTold(verb, w) || p.out.Loose && verb == shell.VerbDeleteTree)
}

// takesFromProject reports whether what is deleted has a name that a function is handed, in a folder of the project.
func (p *program) takesFromProject(verb shell.Verb, w shell.Word) bool {
	return (verb == shell.VerbDelete || verb == shell.VerbDeleteTree) && w.HasUnknown() && p.inProject(w.Prefix()) &&
		!slices.ContainsFunc(w.Parts(), func(part shell.Part) bool { return part.Kind == shell.PartUnknown && !p.isParameter(part.Name) })
}

// isParameter reports whether a name is that of a parameter of some function.
func (p *program) isParameter(name string) bool {
	return name != "" && p.spend(len(p.routines)) && slices.ContainsFunc(p.routines, func(f *routine) bool {
		return slices.ContainsFunc(f.params, func(at int) bool { return strings.TrimLeft(f.toks.tok(at).text, "$&*") == strings.TrimLeft(name, "$") })
	})
}

// inProject reports whether a path that begins so lies in a folder below the program's own, and in none
// that is hidden.
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

// isHome reports whether programs ask the environment for the home folder under a name.
func isHome(name string) bool { return name == "HOME" || name == "USERPROFILE" }

// stepOf returns what a name among the texts of a call stands for: a folder as a step to the next text, or what the
// program gives it.
func (p *program) stepOf(name string, is *function, held *heldTexts) []shell.Word {
	switch {
	case is != nil:
		return []shell.Word{p.homeStep()}
	case name == "__DIR__" && p.in.Path != "":
		return []shell.Word{shell.Text(path.Dir(p.in.Path) + "/.")}
	}
	return held.take(name)
}

// homeStep returns the home folder as a step to what the next text names below it.
func (p *program) homeStep() shell.Word { return shell.Glue(p.in.Home(""), shell.Text("/.")) }
