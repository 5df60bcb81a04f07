package shell

import (
	"slices"
	"strings"
)

// Verb names what a [Call] does, in one vocabulary for all languages.
type Verb string

// The verbs of calls.
const (
	// VerbDelete removes a file or an empty folder.
	VerbDelete Verb = "delete"
	// VerbDeleteTree removes a folder and everything below it.
	VerbDeleteTree Verb = "delete tree"
	// VerbWrite replaces a file's content.
	VerbWrite Verb = "write"
	// VerbAppend adds to a file.
	VerbAppend Verb = "append"
	// VerbRead reads a file.
	VerbRead Verb = "read"
	// VerbList reads a folder.
	VerbList Verb = "list"
	// VerbPermissions changes the mode or the owner of a file.
	VerbPermissions Verb = "permissions"
	// VerbMove moves the first target to the second.
	VerbMove Verb = "move"
	// VerbCopy copies the first target to the second.
	VerbCopy Verb = "copy"
	// VerbLink makes the second target another name of the first.
	VerbLink Verb = "link"
	// VerbCreate creates a folder.
	VerbCreate Verb = "create"
	// VerbKill signals a process.
	VerbKill Verb = "kill"
	// VerbFork copies the process.
	VerbFork Verb = "fork"
	// VerbNetwork talks to the address that is the first target.
	VerbNetwork Verb = "network"
	// verbShell runs shell code, verbExec a program, verbEval code of the
	// same language; they are read further and are no calls of their own.
	verbShell Verb = "shell"
	verbExec  Verb = "exec"
	verbEval  Verb = "eval"
	verbOpen  Verb = "open"
	verbExecl Verb = "execl"
)

// Call is one call of an inline program (python -c, perl -e, …) that touches
// files, processes or the network. It stands in [Command.Call]; the command's
// Argv are the name and the targets.
type Call struct {
	// Language is the program's language, such as "python".
	Language string
	// Function is the called function as the program names it.
	Function string
	Verb     Verb
	// Targets are the paths, addresses or processes that are touched.
	Targets []Word
}

// language says how the programs of an interpreter look and are given.
type language struct {
	name string
	// code are the options whose value is program text.
	code []string
	// grammar are the interpreter's options.
	grammar grammar
	// operand says that the first operand is program text (awk).
	operand bool
	// comment begins a comment that ends with the line.
	comment string
	// concat joins texts, besides writing them side by side.
	concat string
	// sigil begins a variable's name.
	sigil string
	// bare says that functions are called without parentheses too.
	bare bool
}

// languages are the languages of interpreters, by program name.
//
//nolint:gochecknoglobals // A table that is only read.
var languages = map[string]language{
	"python": {name: "python", code: []string{"c"}, grammar: grammar{values: "cmWXQ"}, comment: "#", concat: "+"},
	"perl":   {name: "perl", code: []string{"e", "E"}, grammar: grammar{values: "eEIi?mMxF?C?D?"}, comment: "#", concat: ".", sigil: "$", bare: true},
	"ruby":   {name: "ruby", code: []string{"e"}, grammar: grammar{values: "eICEFrKTWx?i?"}, comment: "#", concat: "+", sigil: "$", bare: true},
	"node":   {name: "node", code: []string{"e", "eval", "p", "print"}, grammar: grammar{values: "eprC", long: "eval print require import loader input-type"}, comment: "//", concat: "+"},
	"php":    {name: "php", code: []string{"r", "B", "R", "E"}, grammar: grammar{values: "rBREdcfFtz", long: "run"}, comment: "//", concat: ".", sigil: "$", bare: true},
	"awk":    {name: "awk", grammar: grammar{values: "vFfieEl", long: "assign field-separator file include source load"}, code: []string{"e", "source"}, operand: true, comment: "#"},
	"lua":    {name: "lua", code: []string{"e"}, grammar: grammar{values: "el"}, comment: "--", concat: "..", bare: true},
	"tcl":    {name: "tcl", comment: "#", code: []string{"c"}, grammar: grammar{values: "cf"}},
}

// languageOf finds the language of a program by its name.
func languageOf(name string) (language, bool) {
	switch base := versionless(name); base {
	case "python", "pypy", "ipython":
		return languages["python"], true
	case "perl", "lua", "luajit":
		return languages[strings.TrimSuffix(base, "jit")], true
	case "ruby", "jruby", "irb":
		return languages["ruby"], true
	case "node", "nodejs", "bun", "deno", "tsx", "ts-node":
		return languages["node"], true
	case "php":
		return languages["php"], true
	case "awk", "gawk", "mawk", "nawk":
		return languages["awk"], true
	case "tclsh", "expect", "wish":
		return languages["tcl"], true
	}
	return language{}, false
}

// runProgram reads an interpreter of another language: program text among the
// words, from standard input or from a file that the source wrote.
//
//nolint:cyclop // One case per form that the grammar knows.
func (r *reader) runProgram(f *frame, k *call, name string) Word {
	if name == "uv" || name == "deno" || name == "bun" {
		if out, ok := r.runnerVerb(f, k, name); ok {
			return out
		}
	}
	lang, ok := languageOf(name)
	if !ok {
		return r.plain(f, k)
	}
	out := r.plain(f, k)
	g := f.at(k, name)
	g.stdin = Input{}
	opts, rest := lang.grammar.parse(normalOptions(lang, k.argv[1:]))
	texts := opts.all(lang.code...)
	if len(texts) == 0 && lang.operand && !opts.any("f", "file") && len(rest) > 0 {
		texts, rest = rest[:1], rest[1:]
	}
	for _, v := range opts.all("v", "assign") {
		if lang.operand {
			texts = append([]Word{assignmentText(v)}, texts...)
		}
	}
	if len(texts) > 0 {
		return r.programText(f, g, lang, opts, joinLines(texts), rest, out)
	}
	if m, ok := opts.get("m"); ok && lang.name == "python" {
		return r.moduleOutput(f, m, k.argv[1:], out)
	}
	return r.programFile(f, g, lang, rest, out)
}

// maxRecords bounds how many lines of its input a program is read for.
const maxRecords = 64

// programText reads program text, once per line of a known input when the
// program runs for each.
//
//nolint:cyclop // One case per form that the grammar knows.
func (r *reader) programText(f, g *frame, lang language, opts options, text Word, rest []Word, out Word) Word {
	p := r.newProgram(g, lang, rest)
	p.lines = opts.any("l")
	perLine := lang.operand || lang.name == "perl" && opts.any("n", "p")
	if opts.any("n", "p") || lang.operand {
		p.implicit = rest
	}
	stdin := f.stdin.Text
	if opts.any("0") {
		stdin = stdin.mapText(func(s string) string { return strings.ReplaceAll(s, "\x00", "\n") })
	}
	input := stdin.lines()
	if !perLine || f.stdin.Kind != InputText || len(input) == 0 || f.stdin.Text.IsUnknown() || len(input) > maxRecords {
		p.read(text)
		return p.output(f, out)
	}
	sep, _ := opts.get("F", "field-separator")
	for _, l := range input {
		p.record = recordOf(l, sep)
		p.vars["$_"] = textValue(l)
		p.read(text)
		if w := p.vars["$_"].word(); opts.any("p") && lang.name == "perl" {
			p.print(Glue(w, Text("\n")))
		}
		p.implicit = nil
	}
	return p.output(f, out)
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

// output is what the program wrote; out when that is not known. What a loop
// or a branch writes may differ.
func (p *program) output(f *frame, out Word) Word {
	if !f.capture || !p.wrote {
		return out
	}
	if p.loop {
		p.out.add(Part{Kind: PartUnknown, From: p.lang.name, MayBeEmpty: true})
	}
	return p.out.word()
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
func normalOptions(lang language, words []Word) []Word {
	if lang.name != "node" || !hasWord(words, "-pe") {
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
func (r *reader) programFile(f, g *frame, lang language, rest []Word, out Word) Word {
	if len(rest) == 0 || rest[0].Is("-") || isStdin(rest[0]) {
		switch {
		case f.stdin.Kind == InputText || f.stdin.Kind == InputFile && r.written(f.stdin.File):
			p := r.newProgram(g, lang, tail(rest, 1))
			p.file = len(rest) > 0
			p.read(f.stdin.Text)
			return p.output(f, out)
		case f.stdin.Kind == InputFile:
			r.scriptProblem(g, f.stdin.File, f.stdin.Text, lang.name)
		}
		return out
	}
	content := r.content(f, rest[0])
	if r.written(rest[0]) {
		p := r.newProgram(g, lang, rest[1:])
		p.file = true
		p.read(content)
		return p.output(f, out)
	}
	r.scriptProblem(g, rest[0], content, lang.name)
	return out
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
			r.newProgram(f.at(k, name), languages["node"], nil).read(rest[0])
		}
		return outputOf(name), true
	case name == "deno" && verb == "run":
		_, rest := grammar{values: "c", long: "config import-map lock"}.parse(k.argv[2:])
		out := r.plain(f, k)
		g := f.at(k, name)
		g.stdin = Input{}
		return r.programFile(f, g, languages["node"], rest, out), true
	case name == "bun" && (verb == "x" || verb == "exec"):
		r.wrapper(f, k)
		return r.inner(f, k, "bun x", k.argv[2:]), true
	}
	if name == "bun" && strings.HasPrefix(k.argv[1].Prefix(), "-") {
		return Word{}, false
	}
	return r.plain(f, k), true
}
