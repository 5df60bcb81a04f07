package shell

import (
	"fmt"
	"slices"
	"strings"

	"github.com/metnos/vaglio/internal/lists"
	"github.com/metnos/vaglio/vaglio/shell/word"
	"github.com/metnos/vaglio/vaglio/wordclass"
	"github.com/metnos/vaglio/vaglio/wording"
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
	// VerbEmpty removes a file's content.
	VerbEmpty Verb = "empty"
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
	// VerbEnter makes the first target the current folder.
	VerbEnter Verb = "enter"
	// VerbKill signals a process.
	VerbKill Verb = "kill"
	// VerbFork copies the process.
	VerbFork Verb = "fork"
	// VerbNetwork connects to the address in the first target.
	VerbNetwork Verb = "network"
	// VerbSend sends data to the address in the first target.
	VerbSend Verb = "send"
	// VerbEnvironment shows all variables of the environment.
	VerbEnvironment Verb = "environment"
	// VerbClient changes something that a library reaches; the function's name says what.
	VerbClient Verb = "client"
)

// AnyOf follows a library's name in the name of a function that may belong to that library, when only the function's last part is known.
const AnyOf = "(?)"

// Call is one call in an inline program (python -c, …) that touches files, processes or the network. [Command.Call] holds it; the
// command's Argv are the name and the targets.
type Call struct {
	// Language is the program's language, such as "python".
	Language string
	// Function is the called function, as the program names it.
	Function string
	Verb     Verb
	// Method is the HTTP method of a request that sends something, in capitals; "" if the call does not say it.
	Method string
	// Sends are the files whose content a request sends.
	Sends []string
	// Targets are the paths, addresses or processes that it touches.
	Targets []Word
	// Given are the arguments of a client library's method, the named ones as options.
	Given []Word
	// Of are the only texts that the functions were given whose results Function goes on from, in their order; "" where that is not known. Of a request
	// without a target, it is the only address that the program connects to.
	Of []string
}

// ProgramReader reads inline programs in languages other than the shell's. It must be safe for concurrent use and do bounded work. A
// program that it cannot read to its end has a [Problem] among its actions.
type ProgramReader interface {
	Read(p *Program) *ProgramResult
}

// Program is one inline program, with what is known about its environment.
type Program struct {
	// Language is the program's language, such as "python".
	Language string
	// Text is the program, known or not.
	Text Word
	// Args are the program's own arguments. If they are not known, Words returns the first of those of the command that runs it, at most so many, with the
	// command's name before them; it may be nil. Beside returns the texts that run with it, and the words of what carries it.
	Args   []Word
	Words  func(most int) []Word
	Beside func() []string
	// File says that the program is in a file, whose name comes before Args.
	File bool
	// Path is that file's path, if known. Found: no word names it, a tool may run it. Imported: another program, which is read as well, imports it.
	Path            string
	Found, Imported bool
	// Settings says that a tool was told what to do by the file: it calls functions that nothing in it calls.
	Settings bool
	// Stdin is the program's input, usually unknown.
	Stdin Word
	// Record is the current line of the input, followed by its fields, for a program that runs
	// once per line; the line alone if its fields are not known, nil for any other program.
	Record []Word
	// Prints says that the line is printed after the program has run for it, Lines that each output ends with a newline (perl -p, -l).
	Prints, Lines bool
	// Home returns the home folder of a user, "" for the current one.
	Home func(user string) Word
	// Env returns the value of an environment variable. It is unset if nothing that is known gives it one.
	Env func(name string) (value Word, unset bool)
	// Cwd is the folder that it runs in, "" if that is not known. Source returns the text of a file that it may
	// import, by its absolute path, Lies whether there is one; both may be nil.
	Cwd    string
	Source func(path string) (string, bool)
	Lies   func(path string) bool
	// Content returns what is known of a file that the source wrote.
	Content func(file Word) (Word, bool)
	// Steps limits the work that the reading may do.
	Steps int
}

// ProgramStep is one thing that a program does. Exactly one of Call, Shell, Argv, Writes and Problem is set.
type ProgramStep struct {
	Call *Call
	// Shell is a command line that By runs.
	Shell *Word
	By    string
	// Argv is a command that runs without a shell.
	Argv []Word
	// Input is what Shell or Argv reads; nil if that is the program's own input.
	Input *Word
	// Dir is the folder that Shell or Argv runs in, nil for the program's own. Assigns are the variables that it gets besides the program's own.
	Dir     *Word
	Assigns []Assign
	// Writes says that Write becomes the content of File or, with Append, is added to it.
	Writes, Append bool
	File, Write    Word
	Problem        *Problem
	// Loop says that the step may run many times, Perhaps that the program may leave it out.
	Loop, Perhaps bool
	// Line is the line of the file that the program is, from 1; 0 if it is not known.
	Line int
}

// ProgramResult is what a program does.
type ProgramResult struct {
	// Actions are what the program does, in the order in which they were read.
	Actions []ProgramStep
	// Output is what it prints, if Wrote is set; Unsure says that it may be printed any number of times.
	Output        Word
	Wrote, Unsure bool
	// Steps is how much of the budget the reading spent.
	Steps int
	// Loose says that the reader only looked for some calls.
	Loose bool
}

// RestoresUnnamed is said of a program that makes objects of what a file holds.
const RestoresUnnamed wording.Phrase = "%s makes objects of a file whose name is only known when it runs"

// passed returns the value of a variable in the environment of a program.
func (r *reader) passed(f *frame, name string) Word {
	if v, ok := assigned(f.assigns, name); ok && name != "HOME" {
		return v
	}
	if name == "PWD" {
		return r.cwd()
	}
	w, _ := r.variable(name)
	return w
}

// AnyVariable stands for exported variables whose names are not known.
const AnyVariable = "*"

// set reports whether a variable may have been set, by the source or before it.
func (r *reader) set(name string) bool {
	exported := r.exports
	if r.opts.Session != nil {
		exported = append(slices.Clip(exported), r.opts.Session.Exported()...)
	}
	return r.st.get(name) != nil || slices.Contains(exported, name) || slices.Contains(exported, AnyVariable)
}

// unset reports whether a program has no variable of a name: neither source nor session sets it, and nothing between shell and program may.
func (r *reader) unset(f *frame, name string) bool {
	keeps := func(by string) bool {
		by, _, _ = strings.Cut(by, " ")
		return wordclass.Is("keeps-environment", by) || !f.sets && wordclass.Is("passes-environment", by)
	}
	given := func(name string) bool {
		_, ok := assigned(f.assigns, name)
		return ok || r.set(name)
	}
	if len(f.Via) == 0 || strings.HasPrefix(name, "npm_") || wordclass.Is("set-by-systems", name) || given(name) || f.assignedInWords(name) {
		return false
	}
	last, before := f.Via[len(f.Via)-1], f.Via[:len(f.Via)-1]
	return (keeps(last) || wordclass.Is("runs-in-environment", strings.TrimRight(last, "0123456789."))) &&
		!slices.ContainsFunc(before, func(by string) bool { return !keeps(by) }) && !slices.ContainsFunc(wordclass.Of("code-loader"), given)
}

// changed returns the files that were written before the source runs.
func (r *reader) changed() []string {
	if r.opts.Session == nil {
		return nil
	}
	if r.session == nil {
		r.session = append([]string{}, r.opts.Session.Changed()...)
	}
	return slices.Clip(r.session)
}

// readProgram reads a program in another language and carries out its steps. It returns out if the output is not known.
func (r *reader) readProgram(f *frame, p *Program, out Word) Word {
	key := fmt.Sprint(p.Language, r.cwd(), f.assigns, p.Args, p.Stdin, p.Text)
	loose, f := r.ran(f, p), r.placed(f, p.Text.Prefix())
	if r.refuses(f, p) || f.ends && r.texts[key] > 0 || !r.enter(f) { // or it starts itself as it was started
		return out
	}
	r.texts[key]++
	defer func() { r.texts[key]--; r.leave() }()
	p.Home = func(user string) Word { w, _ := r.home(user); return w }
	p.Env = func(name string) (Word, bool) { return r.passed(f, name), r.unset(f, name) }
	p.Content = func(file Word) (Word, bool) { return r.content(f, file), r.written(file) }
	p.Beside = f.runsBeside // the words of thousands of programs in one command are put together only if one asks
	res := &ProgramResult{}
	r.importing(f, p, func() {
		res = r.opts.Programs.Read(p)
		*loose = res.Loose
		f.distrust(res.Loose && p.File)
		r.step(f, res.Steps-r.opts.Budget.finds(p, res.Steps))
		r.scoped(func() Word {
			for i := range res.Actions {
				r.programStep(f, p.Language, &res.Actions[i])
			}
			return out
		})
	})
	if !f.capture || !res.Wrote {
		return out
	}
	if res.Unsure {
		return Glue(res.Output, NewWord(Part{Kind: PartUnknown, From: p.Language, MayBeEmpty: true}))
	}
	return res.Output
}

// refuses records why a program is not read at all, and reports whether that is so.
func (r *reader) refuses(f *frame, p *Program) bool {
	switch {
	case p.Text.Size() > word.MaxSize:
		r.problem(f, Problem{Kind: ProblemTooBig, Detail: wording.Say("the program is longer than 1 MiB")})
	case r.opts.Programs == nil && p.Text.IsUnknown():
		r.codeProblem(f, p.Text, p.Language)
	case r.opts.Programs == nil:
		r.problem(f, Problem{Kind: ProblemDynamicCode, Detail: wording.Say("programs of %s are not read", p.Language), Word: p.Text, Interpreter: p.Language})
	}
	return r.opts.Programs == nil || p.Text.Size() > word.MaxSize
}

// runsBeside returns what runs with a program: the texts of the same task, and the words of the commands around it.
func (f *frame) runsBeside() []string {
	return slices.Concat(f.runs, lists.All(f.calls, func(k *call) []string { return lists.Each(k.argv, Word.String) }))
}

// distrust says of a file that was read loosely that the words of what it starts may be missing: what is unknown then says nothing.
func (f *frame) distrust(loose bool) {
	if loose && f.file != nil {
		f.file.own, f.file.wrote = false, f.file.own || f.file.wrote
	}
}

// ran records a program and returns the flag that says whether it was only read loosely.
func (r *reader) ran(f *frame, p *Program) *bool {
	text, known := p.Text.Text()
	if !known {
		return new(bool)
	}
	ran := Ran{Line: 1, Text: text, Sure: true, Loose: p.Language == "", Inline: !p.File}
	if f.file != nil {
		ran.File, ran.Line, ran.Sure = f.file.path, f.file.first, !f.found
	}
	r.out.Ran = append(r.out.Ran, ran)
	return &r.out.Ran[len(r.out.Ran)-1].Loose
}

func (r *reader) programStep(f *frame, language string, s *ProgramStep) {
	if s.Dir != nil {
		r.scoped(func() Word {
			r.goTo(r.resolvePath(*s.Dir))
			here := *s
			here.Dir = nil
			r.programStep(f, language, &here)
			return Word{}
		})
		return
	}
	f.comesTo(s.Line)
	g := f.with(language)
	g.InLoop, g.ends = g.InLoop || s.Loop, s.Perhaps && !s.Loop
	if f.Via == nil || f.Via[len(f.Via)-1] == language {
		g.Via = f.Via
	}
	switch {
	case s.Problem != nil:
		r.problem(g, *s.Problem)
	case s.Call != nil:
		g.Via = f.Via
		r.programCall(g, s.Call)
	case s.Shell != nil:
		g.Via = f.with(s.By).Via
		g.fed(s)
		defer g.trustsWhole(*s.Shell)()
		if len(s.Assigns) > 0 {
			r.run(g, &call{argv: []Word{Text("sh"), Text("-c"), *s.Shell}, external: true, span: f.place(), assigns: s.Assigns})
			return
		}
		r.carried(g, *s.Shell, language)
	case s.Argv != nil:
		g.Via = f.Via
		g.fed(s)
		defer g.trustsWhole(s.Argv...)()
		r.run(g, &call{argv: s.Argv, external: true, span: f.place(), assigns: s.Assigns})
	case s.Writes:
		r.writeFile(f, s.File, s.Write, s.Append)
	}
}

// fed sets the input of what a step starts.
func (f *frame) fed(s *ProgramStep) {
	if s.Input != nil {
		f.stdin = Input{Kind: InputText, Text: *s.Input, Piped: true}
	}
}

func (r *reader) programCall(f *frame, c *Call) {
	if c.Verb == VerbEnter {
		if len(c.Targets) == 0 {
			r.freshCwd()
		} else {
			r.goTo(r.resolvePath(c.Targets[0]))
		}
		return
	}
	name := c.Language + ":" + c.Function
	r.emit(f, Command{Name: name, Argv: append([]Word{Text(name)}, c.Targets...), Call: c, Span: f.place()})
	if len(c.Targets) == 2 && (c.Verb == VerbCopy || c.Verb == VerbMove || c.Verb == VerbLink) {
		r.renames(f, c.Targets[0], c.Targets[1], r.content(f, c.Targets[0]), c.Verb != VerbCopy, c.Verb == VerbLink)
		r.moved(f, c.Targets[0], c.Targets[1])
	}
}

// task reads a text that a command runs from a file; p says what is known of its environment.
func (r *reader) task(f *frame, t *Task, p *Program) {
	if t.Closed != nil {
		r.notRead(f, t.File, t.Closed)
		return
	}
	if t.Found && f.file.reads(t) { // what it runs finds it again
		return
	}
	if t.Was != "" {
		r.out.Stood = append(r.out.Stood, *t)
	}
	f.stdin, f.capture, f.lenient, f.Guess, f.found = Input{}, false, f.lenient || t.Guess, f.Guess || t.Guess, f.found || t.Found
	if f.sets = f.sets || !t.Passes; t.Settings {
		f.settings = t.File
	}
	r.fromFile(f, sourceFile{path: t.File, text: t.Text, first: t.Line, whole: t.Whole}, func(g *frame) Word {
		return r.freshShell(func() Word {
			r.st.set(keyCwd, Text(t.Dir))
			if t.Language == "sh" {
				return r.source(g, t.Text)
			}
			p.Language, p.Text, p.File, p.Imported = t.Language, Text(t.Text), true, t.Imported
			if t.Language == "" {
				r.ran(g, p)
				return Word{}
			}
			return r.readProgram(g, p, Word{})
		})
	})
}
