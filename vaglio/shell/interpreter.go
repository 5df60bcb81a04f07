package shell

import (
	"slices"
	"strings"

	"github.com/metnos/vaglio/internal/unixtext"
	"github.com/metnos/vaglio/vaglio/shell/word"
	"github.com/metnos/vaglio/vaglio/wording"
)

// runProgram reads an interpreter of another language: program text among the words, from standard input or from a file that the source wrote.
func (r *reader) runProgram(f *frame, k *call, p *program, name string) Word {
	out := r.plain(f, k)
	g := f.at(k, name)
	g.stdin = Input{}
	opts, rest := p.parse(p.normalOptions(k.argv[1:]))
	texts, rest := p.texts(opts, rest)
	if p.operand {
		for _, v := range opts.all("v", "assign") {
			texts = append([]Word{assignmentText(v)}, texts...)
		}
	}
	r.editsInPlace(f, p, opts, texts, rest)
	r.escapes(g, p, k.argv[1:], r.typed(f, &p.way), name)
	if len(texts) > 0 {
		return r.programText(f, g, p, opts, word.Join(texts, "\n"), rest, out)
	}
	if m, ok := opts.Get("m"); ok && p.language == "python" {
		r.module(g, k, m)
		return r.moduleOutput(f, k, m, out)
	}
	if opts.any(p.unless...) { // it only checks the file
		return out
	}
	if files := opts.all(p.file...); len(files) > 0 {
		g.stdin, rest = Input{}, append(files[len(files)-1:], rest...)
	}
	return r.programFile(f, g, p.language, rest, out)
}

// texts returns the program texts among a call's words, and the other operands.
func (p *program) texts(opts options, operands []Word) (texts, rest []Word) {
	texts = opts.all(p.text...)
	if len(texts) == 0 && p.operand && !opts.any(p.file...) && len(operands) > 0 {
		return operands[:1], operands[1:]
	}
	return texts, operands
}

// maxRecords limits how many lines of its input a program is read for.
const maxRecords = 64

// programText reads program text, once per line of a known input if the program runs for each line.
func (r *reader) programText(f, g *frame, in *program, opts options, text Word, rest []Word, out Word) Word {
	p := Program{Language: in.language, Text: in.printed(opts, text), Args: rest, Lines: opts.any("l"), Stdin: inputOf(f)}
	loops := opts.any("n", "p") && in.language != "node"
	if loops { // awk's operands are what the table says
		defer r.readsFiles(g, in.language, rest)
	}
	input := f.records(opts)
	if g.capture = f.capture; in.rewrites(opts, text) {
		p.Record, p.Prints = []Word{word.Unknown("")}, opts.any("p")
		r.rewritten(g, &p, rest)
		return out
	}
	if !in.records && (in.language != "perl" || !loops) || len(input) == 0 || len(input) > maxRecords {
		return r.readProgram(g, &p, out)
	}
	p.Prints = in.language == "perl" && opts.any("p")
	sep, _ := opts.Get("F", "field-separator")
	return r.eachRecord(g, &p, input, sep, out)
}

// eachRecord reads a program once for each line of its input.
func (r *reader) eachRecord(f *frame, p *Program, input []Word, sep, out Word) Word {
	var printed word.Builder
	for _, l := range input {
		p.Record = recordOf(l, sep)
		w := r.readProgram(f, p, word.Unknown(""))
		if w.Equal(word.Unknown("")) {
			return out
		}
		printed.AddWord(w)
	}
	return printed.Word()
}

// readsFiles notes that a program reads its operands.
func (r *reader) readsFiles(f *frame, language string, files []Word) {
	for _, file := range files {
		r.programStep(f, language, &ProgramStep{Call: &Call{Language: language, Function: "<>", Verb: VerbRead, Targets: []Word{file}}})
	}
}

func (f *frame) records(opts options) []Word {
	stdin := f.stdin.Text
	if f.stdin.Kind != InputText || stdin.IsUnknown() {
		return nil
	}
	if opts.any("0") {
		stdin = stdin.MapText(func(s string) string { return strings.ReplaceAll(s, "\x00", "\n") })
	}
	return stdin.Lines()
}

// recordOf returns the line, followed by its fields if they are known.
func recordOf(line, sep Word) []Word {
	out := []Word{line}
	s, ok := line.Text()
	if !ok {
		return out
	}
	fs, _ := sep.Text()
	fields := strings.Fields(s)
	if fs = unixtext.ANSI(fs); fs != "" && fs != " " {
		fields = strings.Split(s, fs)
	}
	return append(out, Texts(fields)...)
}

// moduleOutput returns the output of python -m. The module base64 prints what the program base64 prints.
func (r *reader) moduleOutput(f *frame, k *call, module, out Word) Word {
	if name, known := module.Text(); known && f.capture && k.argv[1].Is("-m") {
		if w, read := r.filtered(f, k.argv[3:], name); read {
			return w
		}
	}
	return out
}

// assignmentText writes an awk variable as program text. An unknown value is data, as the environment's are.
func assignmentText(v Word) Word {
	name, value, _ := v.Split("=")
	if value.HasUnknown() && !value.Remote() {
		return Glue(name, Text(`=ENVIRON["?"]`))
	}
	return Glue(name, Text(`="`), value.MapText(func(s string) string { return strings.ReplaceAll(s, `"`, `\"`) }), Text(`"`))
}

// programFile reads a program from a file or from standard input.
func (r *reader) programFile(f, g *frame, language string, rest []Word, out Word) Word {
	p := Program{Language: language, Args: tail(rest, 1), File: len(rest) > 0, Stdin: inputOf(f)}
	g.capture = f.capture
	var file Word
	switch {
	case len(rest) > 0 && !rest[0].Is("-") && !isStdin(rest[0]):
		file = rest[0]
	case f.stdin.Kind == InputText || f.stdin.Kind == InputFile && r.written(f.stdin.File):
		p.Text, p.Stdin = f.stdin.Text, word.OutputOf("standard input")
		return r.readProgram(g, &p, out)
	case f.stdin.Kind == InputFile:
		file, g.stdin = f.stdin.File, f.stdin
	default:
		return out
	}
	res, whole := r.ofFile(g, file, func(h *frame, text Word) Word {
		p.Text, h.stdin = text, Input{}
		return r.readProgram(h, &p, out)
	})
	switch {
	case whole:
		return res
	case p.Text.Is(""):
		res = out
	}
	r.scriptProblem(g, file, r.content(g, file), language)
	return res
}

// runRunner reads programs that run another program, or a text, through a subcommand.
func (r *reader) runRunner(f *frame, k *call, p *program, name string) Word {
	if len(k.argv) < 3 {
		return r.plain(f, k)
	}
	w, words := p.find(k.argv[1:])
	if w == nil {
		if p.language != "" && strings.HasPrefix(k.argv[1].Prefix(), "-") {
			return r.runProgram(f, k, p, name)
		}
		return r.plain(f, k)
	}
	_, rest := w.parse(words)
	switch {
	case len(rest) == 0:
		return r.plain(f, k)
	case w.run == runArgv:
		r.wrapper(f, k)
		return r.inner(f, k, name+" "+k.argv[1].Prefix(), w.withProgram(rest))
	}
	out := r.plain(f, k)
	g := f.at(k, name)
	if w.run == runScript {
		g.stdin = Input{}
		return r.programFile(f, g, w.language, rest, out)
	}
	r.readProgram(g, &Program{Language: w.language, Text: rest[0], Stdin: inputOf(f)}, Word{})
	return word.OutputOf(name)
}

// readLoose reads the program texts of a call that does more than to run them, or the command lines that it runs later.
func (r *reader) readLoose(f *frame, k *call, p *program, name string) {
	opts, rest := p.parse(k.argv[1:])
	if opts.any(p.unless...) {
		return
	}
	texts, _ := p.texts(opts, rest)
	texts = slices.Clone(texts)
	lines := slices.Contains([]string{"sh", "crontab", "makefile"}, p.language)
	if p.stdin && (f.stdin.Kind == InputText || lines && f.stdin.Kind == InputFile) {
		texts = append(texts, f.stdin.Text)
	}
	texts = append(texts, r.textsIn(f, p, p.files(opts, rest))...)
	g := f.at(k, name)
	g.Conditional, g.lenient = true, !lines
	g.stdin = Input{}
	for _, t := range texts {
		switch p.language {
		case "sh":
			r.carried(g, t, name)
		case "crontab":
			r.crontab(g, t, false)
		case "makefile":
			r.makefile(g, t)
		default:
			r.readProgram(g, &Program{Language: p.language, Text: t, Stdin: inputOf(f)}, Word{})
		}
	}
}

// files returns the words of a call that name the files it runs: its operands too, unless the program takes a file of a certain name if no option names one.
func (p *program) files(opts options, operands []Word) []Word {
	named := opts.all(p.file...)
	switch {
	case p.usual == "":
		return append(operands, named...)
	case named == nil:
		return []Word{Text(p.usual)}
	}
	return named
}

// textsIn returns the content of the files among words that the source wrote, and the commands that vim takes after a plus sign.
func (r *reader) textsIn(f *frame, p *program, words []Word) (texts []Word) {
	for _, w := range words {
		if r.written(w) || p.language == "makefile" && isStdin(w) && f.stdin.Kind == InputText {
			text := r.content(f, w)
			where, _ := r.filePath(w)
			if _, copied := r.fileText(where); copied && p.language == "makefile" && text.IsUnknown() {
				continue // read as any makefile that lies there
			}
			texts = append(texts, text)
		} else if table, ok := r.tableIn(f, p, w); ok {
			texts = append(texts, table)
		}
		if code, ok := strings.CutPrefix(w.Prefix(), "+"); ok && p.language == "vim" {
			texts = append(texts, w.Cut(len(w.Prefix())-len(code)))
		}
	}
	return texts
}

// maxRunners is how many interpreters of interpreters Linux follows.
const maxRunners = 4

// runAs reads a file that runs by its path: its first line is a command that is given the file.
func (r *reader) runAs(f *frame, k *call, text string) {
	runner := runnerOf(text)
	c := &call{argv: append(runner, k.argv...), assigns: k.assigns, span: k.span}
	switch {
	case runner == nil:
		c.argv = append(Texts([]string{"sh"}), k.argv...)
		r.dispatch(f, c, "sh")
	case r.runners >= maxRunners:
		r.foreign(f, k, baseName(runner[0]))
	default:
		r.runners++
		r.run(f, c)
		r.runners--
	}
}

// runnerOf returns the command in the first line of a text, nil if there is none: then a shell runs it.
func runnerOf(text string) []Word {
	line, _, _ := strings.Cut(text, "\n")
	given, _ := strings.CutPrefix(line, "#!")
	if words := strings.Fields(given); given != line && len(words) > 0 {
		return Texts(words)
	}
	return nil
}

// Runner returns the program that runs a text as a file, according to its first line.
func Runner(text string) string {
	words := runnerOf(text)
	if len(words) > 1 && baseName(words[0]) == "env" {
		words = behindEnv(words[1:])
	}
	if len(words) == 0 {
		return "sh"
	}
	return baseName(words[0])
}

// behindEnv returns the command that env runs, from the words behind its name.
func behindEnv(words []Word) []Word {
	_, text, split, rest := splitByEnv(words)
	if split {
		return behindEnv(append(Texts(strings.Fields(text.Prefix())), rest...))
	}
	_, rest = leadingAssigns(rest)
	return rest
}

// ImportsTooMuch is said of a program and a file that it imports, which was not read.
const ImportsTooMuch wording.Phrase = "%s imports a file that does too much to be read in full"

// importing reads a program of the source's own, which may import files of the project. That these are too much to be read is no mistake of the source: then
// the program is read without them, and they count as scripts that were not read. What the source itself wrote of them is read in any case.
func (r *reader) importing(f *frame, p *Program, read func()) {
	budget, problems := r.budget, len(r.out.Problems)
	in := &imports{r: r}
	p.Lies, p.Source = r.lies, in.source
	if left := budget - ownSteps; f.file == nil && r.steps < left {
		r.budget = left
	}
	p.Cwd, _ = r.cwd().Text()
	p.Found, p.Path, p.Steps = f.found, f.pathOf(p), r.budget-r.steps
	if p.Found {
		p.Steps = max(p.Steps, foundSteps-r.opts.Budget.found)
	}
	p.Settings = p.Path != "" && p.Path == f.settings
	read()
	r.budget = budget
	if f.file == nil && len(in.found) > 0 && r.steps <= budget && len(r.out.Commands) <= maxCommands && r.unspend(problems) {
		in.own = true
		p.Steps = r.budget - r.steps
		read()
		for _, file := range in.found {
			r.problem(f, Problem{Kind: ProblemScriptFile, Detail: wording.Say(ImportsTooMuch, p.Language), Word: Text(file), Interpreter: p.Language})
		}
	}
	for _, file := range in.unknown {
		r.notRead(f, file, errEdited)
	}
}

// imports are the files that a program imports.
type imports struct {
	r   *reader
	own bool // only those that the source wrote are read
	// found lie there, unknown were written by the source, with a content that is not known.
	found, unknown []string
}

func (in *imports) source(path string) (string, bool) {
	text, own, ok := in.text(path)
	return text, ok && (own || !in.own)
}

// text returns a file's text, and whether the source itself wrote it.
func (in *imports) text(path string) (text string, own, ok bool) {
	own = in.r.written(Text(path))
	text, ok = in.r.fileText(path)
	switch {
	case own && !ok && !slices.Contains(in.unknown, path):
		in.unknown = append(in.unknown, path)
	case !own && ok && !slices.Contains(in.found, path):
		in.found = append(in.found, path)
	}
	return text, own, ok
}

// unspend forgets that the budget was spent since the given number of problems, and reports whether it was.
func (r *reader) unspend(problems int) bool {
	spent := r.stopped
	r.stopped = false
	r.out.Problems = slices.DeleteFunc(r.out.Problems, func(p Problem) bool {
		problems--
		is := problems < 0 && p.Kind == ProblemTooCostly
		if is {
			delete(r.problems, problemKey{p.Kind, p.Word.String(), p.Span.Start})
		}
		spent = spent || is
		return is
	})
	return spent
}
