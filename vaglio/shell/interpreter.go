package shell

import (
	"slices"
	"strings"
)

// interpreter says how a program of another language is given to the program
// that runs it.
type interpreter struct {
	// language is the name that [Program.Language] gets.
	language string
	// grammar are the interpreter's options; code those whose value is program
	// text.
	grammar grammar
	code    []string
	// operand says that the first operand is program text, records that it runs
	// for each line of the input (awk).
	operand, records bool
	// stdin says that text on the input is a program too, where options and
	// operands have another meaning (R, vim).
	stdin bool
	// file says that the first operand is a program's file.
	file bool
}

// interpreters are the programs that run programs of other languages.
//
//nolint:gochecknoglobals // A table that is only read.
var interpreters = map[string]interpreter{
	"python": {language: "python", file: true, code: []string{"c"}, grammar: grammar{values: "cmWXQ"}},
	"perl":   {language: "perl", file: true, code: []string{"e", "E"}, grammar: grammar{values: "eEIi?mMxF?C?D?"}},
	"ruby":   {language: "ruby", file: true, code: []string{"e"}, grammar: grammar{values: "eICEFrKTWx?i?"}},
	"node": {language: "node", file: true, code: []string{"e", "eval", "p", "print"}, grammar: grammar{
		values: "eprC",
		long:   "eval print require import loader input-type",
	}},
	"php": {language: "php", file: true, code: []string{"r", "B", "R", "E"}, grammar: grammar{values: "rBREdcfFtz", long: "run"}},
	"awk": {language: "awk", file: true, code: []string{"e", "source"}, operand: true, records: true, grammar: grammar{
		values: "vFfieEl",
		long:   "assign field-separator file include source load",
	}},
	"lua":         {language: "lua", file: true, code: []string{"e"}, grammar: grammar{values: "el"}},
	"tcl":         {language: "tcl", file: true, code: []string{"c"}, grammar: grammar{values: "cf"}},
	"elixir":      {language: "elixir", grammar: grammar{values: "erSp", long: "eval rpc-eval"}, code: []string{"e", "eval"}, stdin: true},
	"iex":         {language: "elixir", grammar: grammar{values: "erSp", long: "eval"}, code: []string{"e", "eval"}, operand: true, stdin: true},
	"erl":         {language: "erl", grammar: grammar{long: "eval", single: true}, code: []string{"eval"}, stdin: true},
	"escript":     {language: "erl", stdin: true},
	"ghc":         {language: "ghc", grammar: grammar{values: "e"}, code: []string{"e"}},
	"ghci":        {language: "ghc", grammar: grammar{values: "e"}, code: []string{"e"}, stdin: true},
	"runghc":      {language: "ghc", stdin: true},
	"guile":       {language: "guile", grammar: grammar{values: "c"}, code: []string{"c"}, stdin: true},
	"racket":      {language: "racket", grammar: grammar{values: "etlfp", long: "eval"}, code: []string{"e", "eval"}, stdin: true},
	"sbcl":        {language: "sbcl", grammar: grammar{long: "eval load"}, code: []string{"eval"}, stdin: true},
	"clisp":       {language: "sbcl", grammar: grammar{values: "x"}, code: []string{"x"}, stdin: true},
	"clojure":     {language: "clojure", grammar: grammar{values: "e", long: "eval"}, code: []string{"e", "eval"}, stdin: true},
	"bb":          {language: "clojure", grammar: grammar{values: "e", long: "eval"}, code: []string{"e", "eval"}, operand: true},
	"emacs":       {language: "emacs", grammar: grammar{long: "eval execute", single: true}, code: []string{"eval", "-eval", "execute"}},
	"emacsclient": {language: "emacs", grammar: grammar{values: "esf", long: "eval"}, code: []string{"e", "eval"}, operand: true},
	"Rscript":     {language: "r", grammar: grammar{values: "e"}, code: []string{"e"}, stdin: true},
	"R":           {language: "r", grammar: grammar{values: "ef", long: "file"}, code: []string{"e"}, stdin: true},
	"littler":     {language: "r", grammar: grammar{values: "e"}, code: []string{"e"}, stdin: true},
	"julia":       {language: "julia", grammar: grammar{values: "eEpL", long: "eval print"}, code: []string{"e", "E", "eval", "print"}, stdin: true},
	"octave":      {language: "octave", grammar: grammar{long: "eval"}, code: []string{"eval"}, stdin: true},
	"groovy":      {language: "groovy", grammar: grammar{values: "e"}, code: []string{"e"}, stdin: true},
	"scala":       {language: "scala", grammar: grammar{values: "e"}, code: []string{"e"}, stdin: true},
	"kotlin":      {language: "kotlin", grammar: grammar{values: "e"}, code: []string{"e"}},
	"jshell":      {language: "jshell", grammar: grammar{values: "R"}, stdin: true},
	"swift":       {language: "swift", grammar: grammar{values: "e"}, code: []string{"e"}, stdin: true},
	"raku":        {language: "raku", grammar: grammar{values: "e"}, code: []string{"e"}, stdin: true},
	"crystal":     {language: "crystal", stdin: true},
	"nim":         {language: "nim", grammar: grammar{long: "eval"}, code: []string{"eval"}},
	"ocaml":       {language: "ocaml", grammar: grammar{values: "e"}, code: []string{"e"}, stdin: true},
	"osascript":   {language: "osascript", grammar: grammar{values: "el"}, code: []string{"e"}, stdin: true},
	"gdb":         {language: "gdb", grammar: grammar{values: "x", long: "ex eval-command iex", single: true}, code: []string{"ex", "eval-command", "iex"}},
	"lldb":        {language: "gdb", grammar: grammar{values: "oOkQSs", long: "one-line one-line-before-file"}, code: []string{"o", "O", "one-line"}},
	"vim":         {language: "vim", grammar: grammar{values: "cSTuUiwW", long: "cmd"}, code: []string{"c", "cmd"}, stdin: true},
}

// interpreterOf finds the interpreter that a program is, by its name.
func interpreterOf(name string) (interpreter, bool) {
	switch base := versionless(name); base {
	case "pypy", "ipython":
		name = "python"
	case "luajit", "jruby":
		name = strings.TrimSuffix(strings.TrimPrefix(base, "j"), "jit")
	case "irb":
		name = "ruby"
	case "nodejs", "bun", "deno", "tsx", "ts-node":
		name = "node"
	case "gawk", "mawk", "nawk":
		name = "awk"
	case "tclsh", "expect", "wish":
		name = "tcl"
	case "vi", "nvim", "ex", "view", "gvim", "vimdiff":
		name = "vim"
	}
	in, ok := interpreters[name]
	if !ok {
		in, ok = interpreters[versionless(name)]
	}
	return in, ok
}

// looseOf finds an interpreter whose options are read besides what else its
// call does.
func looseOf(name string) (interpreter, bool) {
	in, ok := interpreterOf(name)
	return in, ok && !in.file
}

// runProgram reads an interpreter of another language: program text among the
// words, from standard input or from a file that the source wrote.
//
//nolint:cyclop // One step after the other; each may end it.
func (r *reader) runProgram(f *frame, k *call, name string) Word {
	if name == "uv" || name == "deno" || name == "bun" {
		if out, ok := r.runnerVerb(f, k, name); ok {
			return out
		}
	}
	in, ok := interpreterOf(name)
	if !ok {
		return r.plain(f, k)
	}
	out := r.plain(f, k)
	g := f.at(k, name)
	g.stdin = Input{}
	opts, rest := in.grammar.parse(normalOptions(in, k.argv[1:]))
	texts := opts.all(in.code...)
	if len(texts) == 0 && in.operand && !opts.any("f", "file") && len(rest) > 0 {
		texts, rest = rest[:1], rest[1:]
	}
	if in.operand {
		for _, v := range opts.all("v", "assign") {
			texts = append([]Word{assignmentText(v)}, texts...)
		}
	}
	if in.language == "perl" && opts.any("s") && len(texts) > 0 {
		texts, rest = switchTexts(texts, rest)
	}
	if len(texts) > 0 {
		return r.programText(f, g, in, opts, joinLines(texts), rest, out)
	}
	if m, ok := opts.get("m"); ok && in.language == "python" {
		return r.moduleOutput(f, m, k.argv[1:], out)
	}
	return r.programFile(f, g, in, rest, out)
}

// switchTexts turns the switches of perl -s into assignments.
func switchTexts(texts, rest []Word) (code, args []Word) {
	for len(rest) > 0 && strings.HasPrefix(rest[0].Prefix(), "-") {
		if name, value, ok := rest[0].cut(1).splitAt("="); ok {
			texts = append([]Word{Glue(Text("$"), name, Text("='"), value, Text("';"))}, texts...)
		}
		rest = rest[1:]
	}
	return texts, rest
}

// maxRecords bounds how many lines of its input a program is read for.
const maxRecords = 64

// programText reads program text, once per line of a known input when the
// program runs for each.
//
//nolint:cyclop // One step after the other; each may end it.
func (r *reader) programText(f, g *frame, in interpreter, opts options, text Word, rest []Word, out Word) Word {
	p := Program{Language: in.language, Text: text, Args: rest, Lines: opts.any("l"), Stdin: inputOf(f)}
	loops := opts.any("n", "p") && in.language != "node"
	defer func() {
		if loops || in.records {
			for _, file := range rest {
				r.programStep(g, in.language, &ProgramStep{Call: &Call{Language: in.language, Function: "<>", Verb: VerbRead, Targets: []Word{file}}})
			}
		}
	}()
	stdin := f.stdin.Text
	if opts.any("0") {
		stdin = stdin.mapText(func(s string) string { return strings.ReplaceAll(s, "\x00", "\n") })
	}
	input := stdin.lines()
	if !in.records && (in.language != "perl" || !loops) || f.stdin.Kind != InputText || len(input) == 0 || f.stdin.Text.IsUnknown() || len(input) > maxRecords {
		return r.readProgram(g.capturing(f), &p, out)
	}
	sep, _ := opts.get("F", "field-separator")
	p.Prints = in.language == "perl" && opts.any("p")
	var printed builder
	for _, l := range input {
		p.Record = recordOf(l, sep)
		w := r.readProgram(g.capturing(f), &p, unknown(""))
		if w.IsUnknown() && w.Equal(unknown("")) {
			return out
		}
		printed.addWord(w)
	}
	return printed.word()
}

// capturing returns the frame for a program whose output is wanted if that of f
// is.
func (f *frame) capturing(of *frame) *frame {
	f.capture = of.capture
	return f
}

// inputOf is what is known of a program's input.
func inputOf(f *frame) Word {
	if f.stdin.Kind == InputText {
		return f.stdin.Text
	}
	return outputOf("standard input")
}

// recordOf are the line and its fields.
func recordOf(line, sep Word) []Word {
	out := []Word{line}
	s, ok := line.Text()
	if !ok {
		return out
	}
	fs, _ := sep.Text()
	fields := strings.Fields(s)
	if fs = ansiC(fs); fs != "" && fs != " " {
		fields = strings.Split(s, fs)
	}
	for _, f := range fields {
		out = append(out, Text(f))
	}
	return out
}

// moduleOutput is the output of the modules of python that decode text.
func (r *reader) moduleOutput(f *frame, module Word, args []Word, out Word) Word {
	if !f.capture || f.stdin.Kind != InputText {
		return out
	}
	if module.Is("base64") {
		if w, ok := decodeFlag(f.stdin.Text, args, decode64, encode64); ok {
			return w
		}
	}
	if module.Is("json.tool") {
		return f.stdin.Text
	}
	return out
}

// normalOptions spells the cluster -pe of node as -e.
func normalOptions(in interpreter, words []Word) []Word {
	if in.language != "node" || !hasWord(words, "-pe") {
		return words
	}
	out := slices.Clone(words)
	for i, w := range out {
		if w.Is("-pe") {
			out[i] = Text("-e")
		}
	}
	return out
}

// assignmentText spells an awk variable as program text.
func assignmentText(v Word) Word {
	name, value, _ := v.splitAt("=")
	return Glue(name, Text(`="`), value.mapText(func(s string) string { return strings.ReplaceAll(s, `"`, `\"`) }), Text(`"`))
}

func joinLines(texts []Word) Word {
	var b builder
	for i, t := range texts {
		if i > 0 {
			b.addText("\n")
		}
		b.addWord(t)
	}
	return b.word()
}

// programFile reads a program from a file or from standard input.
func (r *reader) programFile(f, g *frame, in interpreter, rest []Word, out Word) Word {
	p := Program{Language: in.language, Args: tail(rest, 1), File: len(rest) > 0, Stdin: inputOf(f)}
	g.capture = f.capture
	if len(rest) == 0 || rest[0].Is("-") || isStdin(rest[0]) {
		switch {
		case f.stdin.Kind == InputText || f.stdin.Kind == InputFile && r.written(f.stdin.File):
			p.Text, p.Stdin = f.stdin.Text, outputOf("standard input")
			return r.readProgram(g, &p, out)
		case f.stdin.Kind == InputFile:
			if text, where, ok := r.load(f.stdin.File); ok {
				return r.programOf(g, &p, where, text, out)
			}
			r.scriptProblem(g, f.stdin.File, f.stdin.Text, in.language)
		}
		return out
	}
	content := r.content(f, rest[0])
	if r.written(rest[0]) {
		p.Text = content
		return r.readProgram(g, &p, out)
	}
	if text, where, ok := r.load(rest[0]); ok {
		return r.programOf(g, &p, where, text, out)
	}
	r.scriptProblem(g, rest[0], content, in.language)
	return out
}

// programOf reads a program that a file holds.
func (r *reader) programOf(f *frame, p *Program, where, text string, out Word) Word {
	p.Text = Text(text)
	res, whole := r.fromFile(f, sourceFile{path: where, text: text}, func(g *frame) Word { return r.readProgram(g, p, out) })
	if !whole {
		r.scriptProblem(f, Text(where), Word{}, p.Language)
	}
	return res
}

// runnerVerb reads programs that run another program by a verb.
//
//nolint:cyclop // One case per form that the grammar knows.
func (r *reader) runnerVerb(f *frame, k *call, name string) (Word, bool) {
	if len(k.argv) < 3 {
		return r.plain(f, k), true
	}
	switch verb, _ := k.argv[1].Text(); {
	case name == "uv" && verb == "run":
		_, rest := grammar{values: "p", long: "with python env-file project directory package group extra"}.parse(k.argv[2:])
		if len(rest) > 0 {
			r.wrapper(f, k)
			return r.inner(f, k, "uv run", rest), true
		}
	case name == "deno" && verb == "eval":
		r.plain(f, k)
		_, rest := grammar{long: "ext"}.parse(k.argv[2:])
		if len(rest) > 0 {
			r.readProgram(f.at(k, name), &Program{Language: "node", Text: rest[0], Stdin: inputOf(f)}, Word{})
		}
		return outputOf(name), true
	case name == "deno" && verb == "run":
		_, rest := grammar{values: "c", long: "config import-map lock"}.parse(k.argv[2:])
		out := r.plain(f, k)
		g := f.at(k, name)
		g.stdin = Input{}
		return r.programFile(f, g, interpreters["node"], rest, out), true
	case name == "bun" && (verb == "x" || verb == "exec"):
		r.wrapper(f, k)
		return r.inner(f, k, "bun x", k.argv[2:]), true
	}
	if name == "bun" && strings.HasPrefix(k.argv[1].Prefix(), "-") {
		return Word{}, false
	}
	return r.plain(f, k), true
}

// readLoose reads the program texts of a call that does more than to run them.
func (r *reader) readLoose(f *frame, k *call, name string, in interpreter) {
	opts, rest := in.grammar.parse(k.argv[1:])
	texts := opts.all(in.code...)
	if len(texts) == 0 && in.operand && len(rest) > 0 {
		texts = rest[:1]
	}
	if in.stdin && f.stdin.Kind == InputText {
		texts = append(texts, f.stdin.Text)
	}
	for _, w := range rest {
		if r.written(w) {
			texts = append(texts, r.content(f, w))
		}
		if code, ok := strings.CutPrefix(w.Prefix(), "+"); ok && in.language == "vim" {
			texts = append(texts, w.cut(len(w.Prefix())-len(code)))
		}
	}
	g := f.at(k, name)
	g.conditional, g.lenient = true, true
	g.stdin = Input{}
	for _, t := range texts {
		r.readProgram(g, &Program{Language: in.language, Text: t, Stdin: inputOf(f)}, Word{})
	}
}
