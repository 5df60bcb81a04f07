package shell

import (
	"regexp"
	"slices"
	"strings"

	"github.com/metnos/vaglio/vaglio/shell/word"
	"github.com/metnos/vaglio/vaglio/wordclass"
	"github.com/metnos/vaglio/vaglio/wording"
)

// syntaxOnly matches the option -n, which keeps a shell from running anything unless it is interactive.
var syntaxOnly = regexp.MustCompile(`^-[a-hj-z]*n[a-hj-z]*$`)

// runShell reads a call of a shell: code by -c, a script file, or standard input.
func (r *reader) runShell(f *frame, k *call, _ *program, name string) Word {
	runs := func(w Word) bool { return strings.HasPrefix(w.Prefix(), "+") } // as +n does
	if len(k.argv) > 1 && syntaxOnly.MatchString(k.argv[1].Prefix()) && !slices.ContainsFunc(k.argv, runs) {
		return r.plain(f, k)
	}
	args, code, stdin := r.shellOptions(f, k.argv[1:], name)
	g := f.at(k, name)
	r.startVariables(g, k, name)
	if code && len(args) > 1 && args[0].Is("--") {
		args = args[1:]
	}
	switch {
	case code && len(args) > 0:
		g.Via[len(g.Via)-1] = name + " -c"
		return r.nested(g, k, args[0], tail(args, 1), name)
	case code:
		return Word{}
	case stdin || len(args) == 0:
		return r.shellInput(g, k, args, name)
	}
	return r.scriptFile(g, k, args, name)
}

// shellOptions reads the options of a shell. It reports whether the first operand is code, and whether the shell reads its standard input.
func (r *reader) shellOptions(f *frame, args []Word, name string) (operands []Word, code, stdin bool) {
	for len(args) > 0 {
		switch w, s := args[0], args[0].Prefix(); {
		case w.IsUnknown() && w.Parts()[0].Splits && len(args) > 1:
			args = args[1:]
		case isOneOf(w, []string{"-", "--"}):
			return args[1:], code, stdin
		case len(s) < 2 || s[0] != '-' && s[0] != '+':
			return args, code, stdin
		default:
			var line, input bool
			args, line, input = r.shellOption(f, w, args[1:], name)
			code, stdin = code || line, stdin || input
		}
	}
	return args, code, stdin
}

// shellOption reads one option, which may take values from the words after it.
func (r *reader) shellOption(f *frame, w Word, rest []Word, name string) (operands []Word, code, stdin bool) {
	s := w.Prefix()
	if line, left, ok := firstLine(w, rest); name == "fish" && ok {
		r.carried(f, line, name)
		return left, false, false
	}
	if !strings.HasPrefix(s, "--") {
		minus := s[0] == '-'
		rest = tail(rest, strings.Count(s, "o")+strings.Count(s, "O"))
		return rest, minus && strings.Contains(s, "c"), minus && strings.Contains(s, "s")
	}
	if s == "--rcfile" || s == "--init-file" {
		if len(rest) > 0 { // it is read before anything else
			r.carriedFile(f, rest[0], name)
		}
		rest = tail(rest, 1)
	}
	line, glued := w.Value("--command")
	if glued {
		rest = append([]Word{line}, rest...)
	}
	return rest, glued || s == "--command", false
}

func tail(list []Word, n int) []Word { return list[max(0, min(n, len(list))):] }

// defined matches the names of functions and the texts of aliases.
var defined = regexp.MustCompile(`(?m)(?:^|[\s;])(?:([\w-]+)\s*\(\)|function\s+([\w-]+)|alias\s+[\w.-]+=(?:"([^"]*)"|'([^']*)'))`)

// everyName calls everything that a file defines, because whatever runs afterwards may call it.
func everyName(file Word) string {
	var b strings.Builder
	for _, m := range defined.FindAllStringSubmatch(file.Prefix(), -1) {
		b.WriteString("\n" + strings.Join(m[1:], ""))
	}
	return b.String()
}

// exportedFunctions defines the functions that BASH_FUNC_name%%=() {…} passes to a shell.
func (r *reader) exportedFunctions(f *frame, assigns []Assign) {
	for _, a := range assigns {
		name, ok := strings.CutPrefix(a.Name, "BASH_FUNC_")
		name, found := strings.CutSuffix(name, "%%")
		if ok && found {
			r.source(f, name+" "+r.splice(a.Value))
		}
	}
}

// startVariables reads the file that a shell reads first: bash the one that BASH_ENV names, any other only for a person, the one that ENV names.
func (r *reader) startVariables(f *frame, k *call, shell string) {
	name, forPerson := "BASH_ENV", func(w Word) bool {
		s := w.Prefix()
		return len(s) > 1 && s[0] == '-' && s[1] != '-' && strings.Contains(s, "i")
	}
	if !wordclass.Is("reads-bash-env", shell) {
		name = "ENV"
	}
	file, ok := assigned(append(f.assigns, k.assigns...), name)
	if e := r.st.get(name); !ok && e.hasValue() {
		file, ok = r.variable(name)
	}
	if _, static := file.Text(); ok && static && (name != "ENV" || slices.ContainsFunc(k.argv, forPerson)) {
		r.carriedFile(f, file, name)
	}
}

func assigned(list []Assign, name string) (Word, bool) {
	for _, a := range slices.Backward(list) {
		if a.Name == name {
			return a.Value, true
		}
	}
	return Word{}, false
}

// nested reads code in its own shell with its own arguments.
func (r *reader) nested(f *frame, k *call, code Word, args []Word, by string) Word {
	var zero *Word
	if by != "" && strings.HasSuffix(f.Via[len(f.Via)-1], " -c") && len(args) > 0 {
		zero, args = &args[0], args[1:]
	}
	return r.freshShell(func() Word {
		if len(k.redirs) > 0 || len(f.assigns) > 0 { // the environment is part of what runs
			r.emit(f, Command{Redirects: k.redirs, Span: k.span})
		}
		if zero != nil {
			r.st.set(keyZero, *zero)
		}
		r.st.put(keyArgs, (&entry{isList: true}).append(args))
		r.exportedFunctions(f, f.assigns)
		for _, a := range f.assigns {
			r.assign(f, a.Name, a.Value)
		}
		f.assigns = nil
		return r.code(f, code, by)
	})
}

// shellInput reads a shell that reads its program from standard input.
func (r *reader) shellInput(f *frame, k *call, args []Word, by string) Word {
	if f.stdin.Kind == InputInherited {
		r.emit(f, Command{Argv: k.argv, Redirects: k.redirs, Span: k.span})
		return word.OutputOf(by)
	}
	if file := f.stdin.File; f.stdin.Kind == InputFile && !r.written(file) {
		return r.runsFile(f, k, file, f.stdin.Text, by, func(g *frame, text Word) Word {
			g.stdin = Input{}
			return r.nested(g, k, text, args, by)
		})
	}
	text := f.stdin.Text
	f.stdin = Input{}
	return r.nested(f, k, text, args, by)
}

// scriptFile reads a shell that runs a file.
func (r *reader) scriptFile(f *frame, k *call, args []Word, by string) Word {
	file := args[0]
	content := r.content(f, file)
	if !f.Conditional {
		r.selfCall(f, k, file)
	}
	return r.runsFile(f, k, file, content, by, func(g *frame, text Word) Word {
		g.Conditional = f.Conditional && r.isSource(file) // what counts is whether the script's own commands are sure to run
		return r.fromHere(file, func() Word { return r.nested(g, k, text, args[1:], by) })
	})
}

// runsFile reads the content of a file that a shell runs, and records the shell where it is not known to its end.
func (r *reader) runsFile(f *frame, k *call, file, content Word, by string, read func(g *frame, text Word) Word) Word {
	out, whole := r.ofFile(f, file, read)
	if whole {
		return out
	}
	r.emit(f, Command{Argv: k.argv, Redirects: k.redirs, Span: k.span})
	r.scriptProblem(f, file, content, by)
	return word.OutputOf(by)
}

// ofFile reads the content of a file that runs: what the source itself wrote or passes as input,
// or what the file holds. It reports whether the content was read to its end.
func (r *reader) ofFile(f *frame, file Word, read func(g *frame, text Word) Word) (Word, bool) {
	if isStdin(file) && f.stdin.Kind == InputText || r.written(file) {
		content := r.content(f, file)
		if whole, where, ok := r.loaded(f, content); ok {
			src, _ := whole.Text()
			if out, all := r.fromFile(f, sourceFile{path: where, text: src}, func(g *frame) Word { return read(g, whole) }); all {
				return out, true
			}
		}
		g := *f
		return read(&g, content), true
	}
	text, where, ok := r.load(f, file)
	if !ok {
		return Word{}, false
	}
	return r.fromFile(f, sourceFile{path: where, text: text}, func(g *frame) Word { return read(g, Text(text)) })
}

// keySource is the variable that names the file whose text is being read, as $0 does in a script.
const keySource = "BASH_SOURCE"

// fromHere reads the content of a file with BASH_SOURCE set to it.
func (r *reader) fromHere(file Word, read func() Word) Word {
	if _, known := file.Text(); !known {
		return read()
	}
	before := r.st.get(keySource)
	r.st.put(keySource, &entry{isList: true, list: []Word{file}, exported: true})
	out := read()
	r.st.put(keySource, before)
	return out
}

func isStdin(w Word) bool {
	return w.Is("/dev/stdin") || w.Is("/dev/fd/0") || w.Is("/proc/self/fd/0") || w.Is("-")
}

func (r *reader) scriptProblem(f *frame, file, content Word, by string) {
	if content.Remote() {
		r.codeProblem(f, content, by)
		return
	}
	if where, ok := r.filePath(file); ok && f.Remote == nil {
		r.shut(f, where, func(*ClosedError) bool { return true })
	}
	r.problem(f, Problem{
		Kind: ProblemScriptFile, Detail: wording.Say("%s runs a file whose content is not part of the command", by), Word: file, Interpreter: by,
	})
}

// runSource reads source and the dot command.
func (r *reader) runSource(f *frame, k *call, _ string) Word {
	args := behindDashes(k.argv[1:])
	if len(args) == 0 {
		return r.plain(f, k)
	}
	content := r.content(f, args[0])
	g := f.at(k, "source")
	if out, whole := r.ofFile(g, args[0], func(h *frame, text Word) Word { return r.carried(h, text, "source") }); whole {
		return out
	}
	r.emit(f, Command{Argv: k.argv, Redirects: k.redirs, Span: k.span})
	if !wordclass.Is("sets-its-own", baseName(args[0])) {
		r.exports = append(r.exports, AnyVariable)
	}
	r.scriptProblem(g, args[0], content, "source")
	return word.OutputOf("source")
}

// codeInAssigns reads the variables of a command's environment that the command runs as code.
func (r *reader) codeInAssigns(f *frame, k *call) {
	for _, a := range k.assigns {
		by := codeVariable(a.Name)
		if by == "" || a.Value.Is("") {
			continue
		}
		g := f.at(&call{span: k.span}, a.Name+"=")
		g.Conditional = true
		text := a.Value
		if strings.HasPrefix(a.Name, "LESS") {
			text = text.TrimLeft("|-")
		}
		if strings.HasPrefix(a.Name, "PS") {
			r.promptCode(g, text)
			continue
		}
		r.carried(g, text, a.Name)
	}
}

// withOptions returns a call with the options that a variable of its environment holds.
func (r *reader) withOptions(k *call, name string) *call {
	for _, a := range slices.Concat(r.exported(), k.assigns) {
		if s, ok := a.Value.Text(); ok && wordclass.Is("options-variable", a.Name+"="+name) {
			told := *k
			told.argv = slices.Clip(k.argv)
			for o := range strings.FieldsSeq(s) {
				told.argv = append(told.argv, Text(o))
			}
			return &told
		}
	}
	return k
}

// promptCode reads the substitutions of a prompt.
func (r *reader) promptCode(f *frame, text Word) {
	if s, ok := text.Text(); ok && !strings.ContainsAny(s, "$`") {
		return
	}
	r.carried(f, Glue(Text(": \""), text.MapText(func(s string) string { return strings.ReplaceAll(s, `"`, `\"`) }), Text("\"")), "prompt")
}

// Foreign reads a command line of an interpreter of another language, such as PowerShell: its words and its input. The result is appended to what the carrier
// runs; nil means that the interpreter is unknown.
type Foreign func(c Command, o Options) *Script

// ReadCommand reads a command that another reader found: its words, its input and where it runs. A word may be unknown.
func ReadCommand(c Command, o Options) *Script {
	return run(o, func(r *reader, f *frame) {
		size := 0
		for _, w := range c.Argv {
			size += w.Size()
		}
		if size > MaxSource {
			r.problem(f, Problem{Kind: ProblemTooBig, Detail: wording.Say("the command is longer than 1 MiB")})
			return
		}
		f.stdin = c.Stdin
		if !r.step(f, wordCost*len(c.Argv)) {
			return
		}
		r.run(f, &call{argv: c.Argv, redirs: c.Redirects, span: c.Span})
	})
}

// runShellLike reads a shell of another family through [Options.Foreign].
func (r *reader) runShellLike(f *frame, k *call, _ *program, name string) Word {
	var s *Script
	if r.opts.Foreign != nil {
		o := *r.opts
		o.Depth = r.depth
		o.Cwd, _ = r.cwd().Text()
		o.Budget.steps, o.Budget.marks = r.steps, r.marks // it continues with what is left
		s = r.opts.Foreign(Command{Argv: k.argv, Stdin: f.stdin, Span: k.span}, o)
		r.steps, r.marks = o.Budget.steps, o.Budget.marks
	}
	if s == nil {
		r.foreign(f, k, name)
		return r.plain(f, k)
	}
	r.wrapper(f, k)
	r.adopt(f.at(k, name), s)
	return word.OutputOf(name)
}

// foreign records that a program is in a language that is not read.
func (r *reader) foreign(f *frame, k *call, name string) {
	r.problem(f, Problem{Kind: ProblemUnread, Detail: wording.Say("the language of %s is not read", name), Word: k.argv[0], Interpreter: name, Span: k.span})
}

// adopt appends what a foreign text runs, as commands of its carrier.
func (r *reader) adopt(f *frame, s *Script) {
	for _, p := range s.Problems {
		p.Span = Span{}
		r.problem(f, p)
	}
	before := len(r.out.Commands)
	for _, c := range s.Commands {
		if !r.step(f, 3) {
			return
		}
		if c.Until > 0 {
			c.Until += before
		}
		c.Context = c.Within(&f.Context)
		if at := f.carrier(); at != nil {
			c.Span = *at
		}
		r.out.Commands = append(r.out.Commands, c)
	}
}

// inputOf returns what a program reads as its input.
func inputOf(f *frame) Word {
	if f.stdin.Kind == InputText {
		return f.stdin.Text
	}
	return word.OutputOf("standard input")
}
