package shell

import (
	"regexp"
	"slices"
	"strings"

	"github.com/metnos/vaglio/internal/unixtext"
	"github.com/metnos/vaglio/vaglio/wording"
)

// editsInPlace notes that a program of perl, ruby or awk changes the files that it is given.
func (r *reader) editsInPlace(f *frame, p *program, opts options, texts, rest []Word) {
	if how, inPlace := opts.Get("i", "in-place"); inPlace && (slices.Contains([]string{"perl", "ruby"}, p.language) || how.Is("inplace")) {
		scripts := []Word{unknown("")}
		if p.language == "perl" && opts.any("p") && !variables.MatchString(spaced(texts).Prefix()) {
			scripts = texts
		}
		r.editFiles(f, edit{scripts, true}, rest)
	}
}

// variables matches perl's variables.
var variables = regexp.MustCompile(`[$@][\w{&]`)

// runProgram reads an interpreter of another language: program text among the
// words, from standard input or from a file that the source wrote.
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
	if len(texts) > 0 {
		return r.programText(f, g, p, opts, joined(texts, "\n"), rest, out)
	}
	if m, ok := opts.Get("m"); ok && p.language == "python" {
		return r.moduleOutput(f, k, m, out)
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

// programText reads program text, once per line of a known input if the program runs for each
// line.
func (r *reader) programText(f, g *frame, in *program, opts options, text Word, rest []Word, out Word) Word {
	p := Program{Language: in.language, Text: text, Args: rest, Lines: opts.any("l"), Stdin: inputOf(f)}
	loops := opts.any("n", "p") && in.language != "node"
	if loops { // awk's operands are what the table says
		defer r.readsFiles(g, in.language, rest)
	}
	input := f.records(opts)
	g.capture = f.capture
	if !in.records && (in.language != "perl" || !loops) || len(input) == 0 || len(input) > maxRecords {
		return r.readProgram(g, &p, out)
	}
	p.Prints = in.language == "perl" && opts.any("p")
	sep, _ := opts.Get("F", "field-separator")
	return r.eachRecord(g, &p, input, sep, out)
}

// eachRecord reads a program once for each line of its input.
func (r *reader) eachRecord(f *frame, p *Program, input []Word, sep, out Word) Word {
	var printed builder
	for _, l := range input {
		p.Record = recordOf(l, sep)
		w := r.readProgram(f, p, unknown(""))
		if w.IsUnknown() && w.Equal(unknown("")) {
			return out
		}
		printed.addWord(w)
	}
	return printed.word()
}

// readsFiles notes that a program reads its operands.
func (r *reader) readsFiles(f *frame, language string, files []Word) {
	for _, file := range files {
		r.programStep(f, language, &ProgramStep{Call: &Call{Language: language, Function: "<>", Verb: VerbRead, Targets: []Word{file}}})
	}
}

// records returns the lines of a known input.
func (f *frame) records(opts options) []Word {
	stdin := f.stdin.Text
	if f.stdin.Kind != InputText || stdin.IsUnknown() {
		return nil
	}
	if opts.any("0") {
		stdin = stdin.mapText(func(s string) string { return strings.ReplaceAll(s, "\x00", "\n") })
	}
	return stdin.lines()
}

// inputOf returns what is known of a program's input.
func inputOf(f *frame) Word {
	if f.stdin.Kind == InputText {
		return f.stdin.Text
	}
	return outputOf("standard input")
}

// recordOf returns the line, followed by its fields.
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
	for _, f := range fields {
		out = append(out, Text(f))
	}
	return out
}

// moduleOutput returns the output of python -m. The module base64 prints what the program base64
// prints.
func (r *reader) moduleOutput(f *frame, k *call, module, out Word) Word {
	if name, known := module.Text(); known && f.capture && k.argv[1].Is("-m") {
		if w, read := r.filtered(f, k.argv[3:], name); read {
			return w
		}
	}
	return out
}

// normalOptions rewrites node's option cluster -pe as -e.
func (p *program) normalOptions(words []Word) []Word {
	at := slices.IndexFunc(words, func(w Word) bool { return w.Is("-pe") })
	if at >= 0 && p.language == "node" {
		words = slices.Clone(words)
		words[at] = Text("-e")
	}
	return words
}

// assignmentText writes an awk variable as program text.
func assignmentText(v Word) Word {
	name, value, _ := v.Split("=")
	return Glue(name, Text(`="`), value.mapText(func(s string) string { return strings.ReplaceAll(s, `"`, `\"`) }), Text(`"`))
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
		p.Text, p.Stdin = f.stdin.Text, outputOf("standard input")
		return r.readProgram(g, &p, out)
	case f.stdin.Kind == InputFile:
		file = f.stdin.File
	default:
		return out
	}
	res, whole := r.ofFile(g, file, func(h *frame, text Word) Word {
		p.Text = text
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
		return r.inner(f, k, name+" "+k.argv[1].text, w.withProgram(rest))
	}
	out := r.plain(f, k)
	g := f.at(k, name)
	if w.run == runScript {
		g.stdin = Input{}
		return r.programFile(f, g, w.language, rest, out)
	}
	r.readProgram(g, &Program{Language: w.language, Text: rest[0], Stdin: inputOf(f)}, Word{})
	return outputOf(name)
}

// readLoose reads the program texts of a call that does more than to run them, or
// the command lines that it runs later.
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
	g.conditional, g.lenient = true, !lines
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

// files returns the words of a call that name the files it runs: its operands too, unless the
// program takes a file of a certain name if no option names one.
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

// textsIn returns the content of the files among words that the source wrote, and the commands
// that vim takes after a plus sign.
func (r *reader) textsIn(f *frame, p *program, words []Word) []Word {
	var texts []Word
	for _, w := range words {
		if r.written(w) || p.language == "makefile" && isStdin(w) && f.stdin.Kind == InputText {
			texts = append(texts, r.content(f, w))
		}
		if code, ok := strings.CutPrefix(w.Prefix(), "+"); ok && p.language == "vim" {
			texts = append(texts, w.Cut(len(w.Prefix())-len(code)))
		}
	}
	return texts
}

// runSed reads sed, whose scripts may run commands.
func (r *reader) runSed(f *frame, k *call, p *program, _ string) Word {
	out := r.plain(f, k)
	opts, rest := p.parse(k.argv[1:])
	scripts := opts.all(p.text...)
	if len(scripts) == 0 && !opts.any(p.file...) && len(rest) > 0 {
		scripts = rest[:1]
	}
	g := f.at(k, "sed")
	g.stdin = Input{}
	for _, s := range scripts {
		r.sedCode(g, s, f.stdin.Text)
	}
	if opts.any("i", "in-place") {
		files := rest
		if !opts.any(p.text...) {
			files = tail(rest, 1)
		}
		r.editFiles(f, edit{scripts, opts.any("E", "r", "regexp-extended")}, files)
	}
	for _, file := range opts.all(p.file...) {
		text := r.content(f, file)
		whole, where, ok := r.loaded(f, text)
		if !ok && text.HasUnknown() { // any line of it may be a command
			detail := wording.Say("%s runs a file whose content is not part of the command", "sed")
			r.problem(g, Problem{Kind: ProblemDynamicCode, Detail: detail, Word: file, Interpreter: "sed"})
		}
		r.fromFile(g, sourceFile{path: where}, func(g *frame) Word { r.sedCode(g, whole, f.stdin.Text); return Word{} })
	}
	return out
}

// edit is what sed or perl does to a file in place.
type edit struct {
	scripts  []Word
	extended bool
}

// editFiles notes that sed or perl changes files in place, for when one of them runs later.
func (r *reader) editFiles(f *frame, e edit, files []Word) {
	const most = 32 // edits of one file that are followed
	for _, file := range files {
		key, ok := r.fileKey(file)
		switch where := strings.TrimPrefix(key, keyFile); {
		case !ok || f.remote != nil:
		case r.written(file):
			out := outputOf("sed")
			if text, known := r.content(f, file).Text(); known {
				if after, followed := r.after(f, e, text); followed {
					out = Text(after)
				}
			}
			r.writeFile(f, file, out, false)
		case len(r.edits[where]) < most:
			if r.edits == nil {
				r.edits = map[string][]edit{}
			}
			r.edits[where] = append(r.edits[where], e)
		}
	}
}

// after returns a text after an edit; false if it is not followed.
func (r *reader) after(f *frame, e edit, text string) (string, bool) {
	for _, s := range e.scripts {
		code, known := s.Text()
		if !known {
			return "", false
		}
		if text, known = unixtext.SedEdited(code, e.extended, text, func(n int) bool { return r.step(f, n) }); !known {
			return "", false
		}
	}
	return text, true
}

// sedCode reads what a sed script runs, by its e, and what it writes, by its w.
func (r *reader) sedCode(f *frame, script, in Word) {
	writes := func(file string) {
		r.emit(f, Command{Redirects: []Redirect{{Kind: RedirectWrite, Target: Text(strings.TrimSpace(file))}}})
	}
	text := false // the line goes on with what a, i or c adds
	for _, l := range script.lines() {
		line, known := l.Text()
		goesOn := strings.HasSuffix(line, `\`)
		if text {
			text = goesOn
			continue
		}
		for s := l.Prefix(); s != ""; {
			s = strings.TrimLeft(s, "0123456789,$!;{} \t")
			order, rest, _ := strings.Cut(s, " ")
			switch {
			case s == "e":
				r.carried(f, in, "sed e") // the input is the code
			case order == "e":
				r.carried(f, l.Cut(len(l.Prefix())-len(rest)), "sed e")
			case order == "w":
				writes(rest)
			case s != "" && strings.IndexByte("aic", s[0]) >= 0:
				text = goesOn
			case strings.HasPrefix(s, "/"): // which picks lines
				_, s, _ = strings.Cut(strings.ReplaceAll(s[1:], `\/`, "."), "/")
				continue
			case len(s) < 2 || s[0] != 's':
				_, s, _ = strings.Cut(s, ";")
				continue
			case known:
				s = r.sedReplaces(f, s, writes)
				continue
			}
			break
		}
	}
}

// sedReplaces reads sed's s, and returns what stands behind it.
func (r *reader) sedReplaces(f *frame, s string, writes func(file string)) string {
	_, with, flags, rest, ok := unixtext.SedCommand(s)
	switch {
	case ok && strings.Contains(flags, "e"):
		r.carried(f, Text(strings.ReplaceAll(with, `\/`, "/")), "sed s///e")
		r.carried(f, outputOf("sed"), "sed s///e") // with the part that it does not replace
	case ok && strings.HasSuffix(flags, "w"):
		writes(rest)
		return ""
	}
	return rest
}
