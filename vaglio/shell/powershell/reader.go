package powershell

import (
	"fmt"
	"maps"
	"slices"

	"github.com/metnos/vaglio/vaglio/shell"
	"github.com/metnos/vaglio/vaglio/shell/word"
	"github.com/metnos/vaglio/vaglio/wording"
)

const (
	// bytesPerStep is how many bytes one step of the budget may copy or look at.
	bytesPerStep = 32
	maxCommands  = 100_000
	maxProblems  = 1_000
	maxValue     = 1 << 20 // the longest value, in bytes
	maxItems     = 10_000  // the most elements of a value
	maxChoices   = 64      // the most texts that one text may stand for
)

type reader struct {
	o        shell.Options
	t        *tables
	out      *shell.Script
	vars     map[string]value
	cwd      shell.Word
	at       place
	depth    int
	writes   int  // how many variables were set
	again    bool // the second round of a loop is being read
	unrolled bool // a block is being read for each value of its variable
	open     bool // a quote or a bracket is not closed
	inFile   bool // the text of a file is being read
	spare    int  // of the budget: what the file may not spend
	problems map[string]bool
	given    *given // what is called
}

// place is the context of a command. It is saved and restored around what is read.
type place struct {
	shell.Context
	span shell.Span // of the carrier, for carried text
}

// Read reads a PowerShell text and returns what it would run. It never fails: what it cannot read becomes a [shell.Problem] of the result.
func Read(text string, o shell.Options) *shell.Script {
	return run(o, func(r *reader) { r.shown(r.source(text)) })
}

// ReadCmd reads lines of cmd.exe, as [Read] reads PowerShell's.
func ReadCmd(text string, o shell.Options) *shell.Script {
	return run(o, func(r *reader) { r.batch(text) })
}

// Carried reads a command line of powershell, pwsh or cmd in the source of another shell, see [shell.Options].
func Carried(c shell.Command, o shell.Options) *shell.Script {
	if len(c.Argv) == 0 {
		return nil
	}
	name := programName(c.Argv[0])
	if !isPowerShell(name) && name != "cmd" {
		return nil
	}
	return run(o, func(r *reader) {
		r.at.span = c.Span
		args := make([]argument, len(c.Argv)-1)
		for i, w := range c.Argv[1:] {
			args[i] = plainArg(w)
		}
		r.program(c.Argv[0], args, one(c.Stdin.Text), c.Stdin.Kind == shell.InputText)
	})
}

func run(o shell.Options, read func(*reader)) (out *shell.Script) {
	r := &reader{o: o, out: &shell.Script{Sought: map[string]shell.Word{}}, vars: map[string]value{}, problems: map[string]bool{}, depth: o.Depth}
	if o.Budget == nil {
		r.o.Budget = new(shell.Budget)
	}
	r.o.Foreign = Carried
	r.cwd = word.Unknown("PWD")
	if o.Cwd != "" {
		r.cwd = shell.Text(forward(o.Cwd))
	}
	defer func() {
		v := recover()
		if _, ok := v.(stopped); v != nil && !ok {
			r.problem(shell.Problem{Kind: shell.ProblemInternal, Detail: wording.Say("the reader of PowerShell failed: %s", fmt.Sprint(v))})
		}
		if r.open {
			r.unread("a quote or a bracket is not closed")
		}
		out = r.out
	}()
	var err error
	if r.t, err = known(); err != nil {
		r.stop(shell.ProblemInternal, wording.Clause{Text: err.Error()})
	}
	read(r)
	return r.out
}

// stopped unwinds a reading that reached a limit; [run] records nothing further.
type stopped struct{}

func (r *reader) stop(kind shell.ProblemKind, detail wording.Clause) {
	if r.inFile {
		kind = shell.ProblemUnread // no mistake of the source's
	}
	r.problem(shell.Problem{Kind: kind, Detail: detail})
	panic(stopped{})
}

// opens charges for the reading of a text.
func (r *reader) opens(text string) {
	if len(text) > shell.MaxSource {
		r.stop(shell.ProblemTooBig, wording.Say("the command is longer than 1 MiB"))
	}
	r.step(1 + len(text)/bytesPerStep)
}

func (r *reader) step(n int) {
	if !r.o.Budget.Spend(n) || r.o.Budget.Left() < r.spare || len(r.out.Commands) > maxCommands {
		r.stop(shell.ProblemTooCostly, wording.Say("the command does too much to be read in full"))
	}
}

// file reads the text of a file. It spends at most half of the remaining budget, and goes on behind a file that is too much to be read.
func (r *reader) file(read func() value) (v value) {
	before := *r
	r.inFile, r.spare = true, max(r.spare, r.o.Budget.Left()/2)
	defer func() {
		p := recover()
		if _, ok := p.(stopped); p != nil && !ok {
			panic(p)
		}
		if p != nil {
			before.writes, before.cwd = r.writes, word.Unknown("PWD")
			*r, v = before, unknown()
		}
		r.inFile, r.spare = before.inFile, before.spare
	}()
	return r.deeper(read)
}

// deeper reads something one level deeper.
func (r *reader) deeper(read func() value) value {
	if r.depth >= shell.MaxDepth {
		r.stop(shell.ProblemTooDeep, wording.Say("the command nests too deep to be read"))
	}
	r.depth++
	v := read()
	r.depth--
	return v
}

// problem records a finding once. The first of a kind always counts, so that many small ones cannot hide that the reading broke off.
func (r *reader) problem(p shell.Problem) {
	if p.Span == (shell.Span{}) {
		p.Span = r.at.span
	}
	if !r.o.Budget.Spend(1+weigh(p.Word)/bytesPerStep) || len(r.out.Problems) >= maxProblems {
		if slices.ContainsFunc(r.out.Problems, func(q shell.Problem) bool { return q.Kind == p.Kind }) {
			return
		}
	}
	key := string(p.Kind) + " " + p.Detail.String() + " " + p.Word.String()
	if !r.problems[key] {
		r.problems[key] = true
		r.out.Problems = append(r.out.Problems, p)
	}
}

// unread records a part of the source that this reader cannot read.
func (r *reader) unread(what wording.Phrase, about ...string) {
	r.problem(shell.Problem{Kind: shell.ProblemUnread, Detail: wording.Say(what, about...), Interpreter: "powershell"})
}

// emit adds a command, completed from the current place.
func (r *reader) emit(c shell.Command) {
	bytes := weigh(c.Argv...)
	for i := range c.Redirects {
		bytes += weigh(c.Redirects[i].Target)
	}
	for i := range c.Assigns {
		bytes += weigh(c.Assigns[i].Value)
	}
	r.step(2 + bytes/bytesPerStep)
	if c.Cwd.Is("") && c.Remote == nil {
		c.Cwd = r.cwd
	}
	c.Span = r.at.span
	c.Context = c.Within(&r.at.Context)
	r.out.Commands = append(r.out.Commands, c)
}

// call adds what a function does to its targets.
func (r *reader) call(function string, verb shell.Verb, targets ...shell.Word) {
	r.emit(shell.Command{
		Name: "powershell:" + function, Argv: append([]shell.Word{shell.Text(function)}, targets...),
		Call: &shell.Call{Language: "powershell", Function: function, Verb: verb, Targets: targets},
	})
}

// native has package shell read a program, including what the program carries.
func (r *reader) native(argv []shell.Word, stdin shell.Input) value {
	const cost = 40 // the other reader starts anew for every program
	r.step(cost)
	o := r.o
	o.Depth = r.depth
	o.Cwd, _ = r.cwd.Text()
	s := shell.ReadCommand(shell.Command{Argv: argv, Stdin: stdin}, o)
	for _, p := range s.Problems {
		p.Span = shell.Span{}
		if p.Kind == shell.ProblemUnparsable {
			p.Kind = shell.ProblemUnread // the words are this reader's interpretation
		}
		r.problem(p)
	}
	for _, c := range s.Commands {
		r.emit(c)
	}
	maps.Copy(r.out.Sought, s.Sought)
	r.out.Ran, r.out.Unparsed = append(r.out.Ran, s.Ran...), append(r.out.Unparsed, s.Unparsed...)
	name := programName(argv[0])
	return output(name, name == "curl" || name == "wget")
}

// carried reads a value that runs as code.
func (r *reader) carried(v value, name string) value {
	read := r.source
	if name == "cmd" {
		read = r.batch
	}
	for _, w := range v.items {
		if r.isCode(w, name) {
			r.within(by(name), func() value { return read(w.String()) })
		}
	}
	if v.isBlock {
		return r.within(by(name), func() value { return r.source(v.block) })
	}
	return output(name, false)
}

// isCode reports whether anything is known of a text that runs as code, and records what is unknown, which the text shows as a variable.
func (r *reader) isCode(w shell.Word, by string) bool {
	if p, found := shell.CodeProblem(w, by); found {
		r.problem(p)
	}
	return !w.IsUnknown()
}
