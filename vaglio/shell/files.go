package shell

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/metnos/vaglio/internal/lists"
	"github.com/metnos/vaglio/vaglio/shell/word"
	"github.com/metnos/vaglio/vaglio/wording"
)

// Files reads the files that a source runs.
type Files interface {
	// Content returns the content of a regular file by its absolute, clean path; ok is false if the file is missing, unreadable or too large.
	Content(path string) (text string, ok bool)
	// Closed says why an existing file was not read; nil for any other file.
	Closed(path string) *ClosedError
	// Below returns the matching files exactly depth folders below folder, or at any depth if depth is negative. match gets the path relative to folder.
	// whole is false if there is more than can be looked at.
	Below(folder string, depth int, match func(rel string) bool) (files []string, whole bool)
}

// Sourced is a value among the words of a command, or of the one that carries it, which a file set.
type Sourced struct {
	Name, File string // the variable, and the path of the file
	Value      Word
}

// draws notes that the words being read have the value of a variable that a file set, and not only whether or how long it is.
func (r *reader) draws(p *syntax.ParamExp, e *entry) {
	only := p.Length || p.Exp != nil && (p.Exp.Op == syntax.AlternateUnset || p.Exp.Op == syntax.AlternateUnsetOrNull)
	if e == nil || e.from == nil || only || len(r.drawn) >= maxAlternatives {
		return
	}
	for _, w := range append(e.vals[:min(1, len(e.vals)):1], e.list[:min(1, len(e.list))]...) {
		r.drawn = append(r.drawn, Sourced{e.from.Name, e.from.File, w})
	}
}

// drawing reads words, and returns which values of files they have.
func (r *reader) drawing(read func()) []Sourced {
	outer := r.drawn
	r.drawn = nil
	read()
	in := r.drawn
	r.drawn = append(outer, in[:min(len(in), max(maxAlternatives-len(outer), 0))]...)
	return in
}

// setBy returns where the value that a variable gets comes from: another variable, or the file being read.
func (r *reader) setBy(f *frame, name string) *Sourced {
	switch {
	case len(r.drawn) > 0:
		return &r.drawn[len(r.drawn)-1]
	case f != nil && f.file != nil:
		return &Sourced{Name: name, File: f.file.path}
	}
	return nil
}

// noFiles are the files of which nothing is known.
type noFiles struct{ NoFolders }

func (noFiles) Content(string) (string, bool) { return "", false }

// sourceFile is a file whose text is being read. What is found in it counts; what cannot be known marks the file as not read to its end.
type sourceFile struct {
	path         string
	text         string
	first        int // line of the text in the file
	line         int // line of the statement being read, from 1
	unread       bool
	own          bool        // the session, or the source itself, wrote it, and a word names it
	in           *sourceFile // that runs it
	wrote, whole bool        // it would be own if all of it had been read; it is one command line, see [IsWhole]
}

// where returns the place of what is being read in a file that the session wrote.
func (s *sourceFile) where() (file string, line int) {
	if !s.own {
		return "", 0
	}
	return s.path, s.line
}

// tolerates reports whether a problem in a file's text only means that the file was not read to
// its end. What the session wrote itself gets no such trust: it could have run it as a command.
func (s *sourceFile) tolerates(kind ProblemKind) bool {
	dynamic := kind == ProblemDynamicName || kind == ProblemDynamicCode || kind == ProblemPartialCode
	broken := kind == ProblemScriptFile || kind.unread()
	s.unread = s.unread || dynamic || broken
	return broken || dynamic && !s.own
}

// within returns the frame for the statements of a text, which may be the text of a file.
func (f *frame) within(src string) *frame {
	if f.file == nil && !f.beside {
		return f
	}
	g := *f
	g.numbered = f.file != nil && src == f.file.text
	g.beside = false
	return &g
}

// load returns the content of a file that the source did not write.
func (r *reader) load(f *frame, name Word) (text, where string, ok bool) {
	where, _ = r.filePath(name) // no place if it is unknown
	if input := f.stdin.File; f.Remote != nil && (!f.stdin.Here || !name.Is(input.Prefix()) || !input.Known()) {
		if where, ok = f.Remote.mounted(where); ok {
			text, ok = r.fileText(where)
		}
		return text, where, ok && r.step(nil, len(text)/bytesPerStep)
	}
	if !path.IsAbs(where) || strings.HasPrefix(where, "/dev/") || r.st.get(keyFile+where) != nil {
		return "", "", false
	}
	if text, ok = r.edited(where); !ok {
		r.shut(f, where, func(c *ClosedError) bool { return !c.Inert })
	}
	return text, where, ok && r.step(nil, len(text)/bytesPerStep)
}

// runFile reads a file that runs by its path, as the command at index at. If it was read to its end, that command becomes a wrapper for its content.
func (r *reader) runFile(f *frame, k *call, at int) {
	text, _, ok := r.load(f, k.argv[0])
	if !ok || strings.ContainsRune(text, 0) {
		return
	}
	problems := len(r.out.Problems)
	r.runAs(f, k, text)
	if f.file == nil && len(r.out.Problems) == problems && len(r.out.Commands) > at {
		r.out.Commands[at].Wrapper = true
	}
}

// ownSteps is what no file may spend of the budget: the source's own text is read to its end, however many files it runs.
const ownSteps = maxSteps / 8

// foundSteps is what programs that tools find by themselves may cost together besides: a session writes ever more files.
const foundSteps = maxSteps

// fromFile reads the text of a file and reports whether it was read to its end. It spends at most half of what is left, so that a
// large file leaves the next one readable.
func (r *reader) fromFile(f *frame, from sourceFile, read func(g *frame) Word) (Word, bool) {
	budget, marks := r.budget, r.marks
	left := r.budget - r.steps
	if f.file == nil {
		left -= ownSteps
	}
	r.budget = r.steps + max(left, 0)/2
	g := *f
	from.first = max(from.first, 1)
	from.line = from.first
	from.in = f.file
	unpacked := false
	if r.opts.Session != nil {
		_, unpacked = r.opts.Session.Origin(from.path)
	}
	from.own = (from.whole || !f.found && !f.Guess) && (unpacked || r.written(Text(from.path)) || slices.Contains(r.changed(), from.path))
	g.file = &from
	g.Conditional = false // as in a function: what counts is whether the file's own commands are sure to run
	frame := r.inFrame
	r.inFrame = &g
	out := r.orInBrief(budget, &g, read)
	r.budget, r.inFrame = budget, frame
	if r.marks > maxMarks {
		r.marks = marks
	}
	return out, !g.file.unread
}

// maxMatches limits how many of the files that one pattern names are read.
const maxMatches = 200

// matching returns the files that a word with a pattern stands for, or that find passes on: those that exist before the source runs
// and those that it writes. whole is false if there are more than can be read.
func (r *reader) matching(w Word) (files []string, whole bool) {
	dir, pat, depth, ok := r.splitPattern(w)
	if !ok {
		return nil, true
	}
	match := func(rel string) bool { return (depth < 0 || strings.Count(rel, "/") == depth) && pat.MatchString(rel) }
	files, whole = r.Below(dir, depth, match)
	return files[:min(len(files), maxMatches)], whole && len(files) <= maxMatches
}

// matched returns the content of all files that a pattern names, one after the other.
func (r *reader) matched(f *frame, file Word) (Word, bool) {
	files, whole := r.matching(file)
	var b word.Builder
	for _, name := range files {
		b.AddWord(r.content(f, Text(name)))
	}
	return b.Word(), len(files) > 0 && whole
}

// Below finds files that exist before the source runs, and files that the source and the session write.
func (r *reader) Below(folder string, depth int, match func(rel string) bool) (files []string, whole bool) {
	files, whole = r.opts.Files.Below(folder, depth, match)
	changed := r.changed()
	if !r.step(r.looking, len(changed)+len(r.st.names)) {
		return nil, false
	}
	for _, name := range slices.Concat(changed, r.st.written()) {
		if rel, in := strings.CutPrefix(name, strings.TrimSuffix(folder, "/")+"/"); in && match(rel) {
			files = append(files, name)
		}
	}
	slices.Sort(files)
	return slices.Compact(files), whole
}

// lies reports whether a file exists before the source runs, or the source or the session writes it.
func (r *reader) lies(file string) bool {
	files, _ := r.Below(path.Dir(file), 0, func(rel string) bool { return rel == path.Base(file) })
	return len(files) > 0
}

// runMatches reads a command once for each file that a pattern names, if the command runs such files.
func (r *reader) runMatches(f *frame, k *call, name string) {
	at := slices.IndexFunc(k.argv, func(w Word) bool { return !w.Known() })
	if at < 0 || at > 0 && !r.runsOperand(name) || f.Remote != nil {
		return
	}
	for _, w := range k.argv[min(at, 1):at] {
		if !strings.HasPrefix(w.Prefix(), "-") {
			return // what follows are arguments of what runs
		}
	}
	files, whole := r.matching(k.argv[at])
	if !whole {
		detail := wording.Say("more files match %s than are read", k.argv[at].String())
		r.problem(f, Problem{Kind: ProblemDynamicCode, Detail: detail, Word: k.argv[at], Interpreter: name})
	}
	cwd, _ := r.cwd().Text()
	for _, file := range files {
		if rel, in := strings.CutPrefix(file, cwd+"/"); in && !path.IsAbs(k.argv[at].Prefix()) {
			file = "./" + rel
		}
		c := *k
		c.argv = slices.Clone(k.argv)
		c.argv[at] = Text(file)
		if r.run(f, &c); r.stopped {
			return
		}
	}
}

// searches returns the folders in which programs are looked for, if the source or the session set them.
func (r *reader) searches(f *frame, k *call) (folders string, set bool) {
	list, set := assigned(append(slices.Clip(f.assigns), k.assigns...), "PATH")
	if e := r.st.get("PATH"); !set && e.hasValue() {
		list = e.vals[len(e.vals)-1]
	} else if !set {
		return r.searched, r.searched != ""
	}
	return list.Prefix(), true
}

// runFound reads the file that runs instead of a program because its folder was put into PATH.
func (r *reader) runFound(f *frame, k *call, name string) {
	list, ok := r.searches(f, k)
	if !ok || !k.argv[0].Is(name) || !r.step(f, 2*strings.Count(list, ":")) {
		return
	}
	for folder := range strings.SplitSeq(list, ":") {
		file := Text(folder + "/" + name)
		if text, _, found := r.load(f, file); folder == "" || !found && !r.written(file) || strings.ContainsRune(text, 0) {
			continue
		}
		c := *k
		c.argv, c.external = append([]Word{file}, k.argv[1:]...), true
		r.run(f, &c)
		return
	}
}

// loaded replaces each part of a text known only as a file's content with that content. It returns the text, the last file loaded, and whether there was any.
func (r *reader) loaded(f *frame, w Word) (Word, string, bool) {
	var b word.Builder
	from := ""
	for _, p := range w.Parts() {
		text, where, ok := "", "", false
		if p.Kind == PartUnknown && p.File != "" {
			text, where, ok = r.load(f, Text(p.File))
		}
		if p.Made != nil {
			text, where, ok = r.load(f, Text(p.Made.File))
			for _, by := range p.Made.Through {
				if ok = ok && r.step(f, len(text)); ok {
					text, ok = by.Apply(text)
				}
			}
		}
		if !ok {
			b.Add(p)
			continue
		}
		from = where
		b.AddWord(Text(text))
	}
	return b.Word(), from, from != ""
}

// Content returns what is known of a file's content: what the source wrote, or else what the file holds now.
func (r *reader) Content(path string) (string, bool) {
	text, ok := r.fileText(path)
	if !ok && r.written(Text(path)) { // what lies there may stay, or be what the new content is made of
		r.out.Sought[path] = r.content(&frame{}, Text(path))
		text, ok = r.opts.Files.Content(path)
	} else if !ok {
		r.shut(nil, path, func(c *ClosedError) bool { return !c.Usual || !c.Inert && slices.Contains(r.changed(), path) })
	}
	return text, ok && r.step(r.looking, len(text)/bytesPerStep)
}

// fileText returns the text of a file, if it can be read.
func (r *reader) fileText(path string) (string, bool) {
	before := r.out.Sought[path]
	r.out.Sought[path] = before // looked for, and not forgotten what it held before
	if r.written(Text(path)) {
		held := r.content(&frame{}, Text(path))
		if parts := held.Parts(); len(parts) == 1 && parts[0].Kind == PartUnknown && parts[0].File != "" && !r.written(Text(parts[0].File)) {
			return r.fileText(parts[0].File) // a copy
		}
		return held.Text()
	}
	return r.edited(path)
}

var errEdited = &ClosedError{Why: "%s is changed first, in a way that is not followed"}

// edited returns the content of a file that the source did not write, after its edits. If one is not followed, the text stays, and whoever runs it is told.
func (r *reader) edited(where string) (string, bool) {
	text, ok := r.held(where)
	for _, e := range r.edits[where] {
		after, followed := r.after(r.looking, e, text)
		if !followed {
			r.notRead(r.looking, where, errEdited)
			break
		}
		text = after
	}
	return text, ok
}

// lookUp returns what a command runs from files. To look at what the session changed takes nothing of what the source needs: what is left counts as unread.
func (r *reader) lookUp(f *frame, c TaskCall) []Task {
	if !f.Guess { // a possible command found in such a file would load the file again
		if c.Written = r.st.written(); r.step(f, len(c.Written)) && r.st.called == nil {
			r.st.called = slices.DeleteFunc(slices.Clone(c.Written), func(file string) bool { return !r.opts.Tasks.IsCalled(file) })
		}
		c.Changed, c.Session = slices.Concat(r.changed(), r.st.called), r.opts.Session
	}
	c.Spend = func(bytes int) { r.step(f, bytes/bytesPerLook) }
	budget, problems, looking := r.budget, len(r.out.Problems), r.looking
	if r.looking = f; f.file == nil && len(c.Changed) > 0 && !r.stopped {
		r.budget = max(budget-ownSteps, r.steps)
	}
	found, spares := r.opts.Tasks.Tasks(c), r.budget != budget
	if r.budget, r.looking = budget, looking; spares && r.unspend(problems) {
		r.notRead(f, c.Changed[0], &ClosedError{Why: "%s was not read: together, the files that this call may run are too much"})
	}
	return found
}

// tasks reads what a command runs from the project's files, and returns the frame for the command itself.
func (r *reader) tasks(f *frame, k *call, name string) *frame {
	cwd, known := r.cwd().Text()
	if f.Remote != nil { // it may see files of this machine
		in, is := f.Remote.mounted(cwd + "/in")
		cwd, known = path.Dir(in), known && is
	}
	if _, none := r.opts.Files.(noFiles); none || r.opts.Tasks == nil || !known {
		return f
	}
	c := TaskCall{Name: name, Path: r.calledAt(k, name), Args: k.argv[1:], Cwd: cwd, Module: k.module}
	if p := r.carriers.program(name); p != nil {
		c.Args, c.Behind, c.Command = p.ownWords(k)
	}
	if p := r.carriers.program(name); p == nil || p.file == nil || f.stdin.Kind == InputFile { // else its input is read already
		c.Stdin = f.stdin
	}
	c.Assigns, c.Input = slices.Concat(r.exported(), f.assigns, k.assigns), f.stdin.files()
	c.Env, c.Files, c.Carries = r.value, r, r.carriers.known(name)
	found := r.lookUp(f, c)
	g := *f
	g.runs = append(slices.Clip(f.runs), lists.Each(found, func(t Task) string { return t.Text })...)
	words := func(most int) []Word { return append([]Word{Text(name)}, k.argv[1:min(most, len(k.argv))]...) }
	for _, t := range found {
		r.task(g.at(k, name), &t, &Program{Words: words, Stdin: word.OutputOf(name)})
	}
	return &g
}
