package powershell

import (
	"fmt"
	"slices"

	"github.com/metnos/vaglio/vaglio/shell"
	"github.com/metnos/vaglio/vaglio/wording"
)

const (
	// bytesPerStep is how many bytes one step of the budget copies or looks at.
	bytesPerStep = 32
	maxCommands  = 100_000
	maxProblems  = 1_000
	maxValue     = 1 << 20 // the most text of one value, in bytes
	maxItems     = 10_000  // the most elements of one value
	maxChoices   = 64      // the most texts that one text may turn out to be
)

// reader reads one source.
type reader struct {
	o        shell.Options
	t        *tables
	out      *shell.Script
	vars     map[string]value
	funcs    map[string]*function
	cwd      shell.Word
	at       place
	depth    int
	writes   int // how many variables were set
	loops    int
	stopped  bool
	problems map[string]bool
}

// place is where a command stands. It is kept and put back around what is read.
type place struct {
	via         []string
	privileged  bool
	remote      *shell.Remote
	background  bool
	inLoop      bool
	conditional bool
	span        *shell.Span // of the carrier, for carried text
}

// Read reads a text of PowerShell and returns what it would run. It never
// fails: what cannot be read is a [shell.Problem] of the result.
func Read(text string, o shell.Options) *shell.Script {
	return run(o, func(r *reader) { r.source(text) })
}

// ReadCmd reads lines of cmd.exe, as [Read] does those of PowerShell.
func ReadCmd(text string, o shell.Options) *shell.Script {
	return run(o, func(r *reader) { r.batch(text) })
}

// Carried reads the command line of powershell, pwsh or cmd in the source of
// another shell, see [shell.Options].
func Carried(c shell.Command, o shell.Options) *shell.Script {
	if len(c.Argv) == 0 {
		return nil
	}
	name := programName(c.Argv[0])
	if !isPowerShell(name) && name != "cmd" {
		return nil
	}
	return run(o, func(r *reader) {
		r.at.span = &c.Span
		args := make([]argument, len(c.Argv)-1)
		for i, w := range c.Argv[1:] {
			args[i] = plainArg(w)
		}
		in := value{}
		if c.Stdin.Kind == shell.InputText {
			in = one(c.Stdin.Text)
		}
		r.interpreter(name, args, in, c.Stdin.Kind == shell.InputText)
	})
}

func run(o shell.Options, read func(*reader)) (out *shell.Script) {
	r := &reader{
		o: o, out: &shell.Script{}, vars: map[string]value{}, funcs: map[string]*function{},
		problems: map[string]bool{}, depth: o.Depth,
	}
	if o.Budget == nil {
		r.o.Budget = new(shell.Budget)
	}
	defer func() {
		if v := recover(); v != nil {
			out = r.out
			out.Problems = append(out.Problems, shell.Problem{
				Kind: shell.ProblemInternal, Detail: wording.Say("the reader of PowerShell failed: %s", fmt.Sprint(v)),
			})
		}
	}()
	t, err := known()
	if err != nil {
		r.problem(shell.Problem{Kind: shell.ProblemInternal, Detail: wording.Clause{Text: err.Error()}})
		return r.out
	}
	r.t = t
	r.o.Foreign = Carried
	r.cwd = unknownWord("PWD")
	if o.Cwd != "" {
		r.cwd = shell.Text(forward(o.Cwd))
	}
	read(r)
	return r.out
}

// opens pays for the reading of a text and reports whether it is read; if it
// is, leave must follow.
func (r *reader) opens(text string) bool {
	if len(text) > shell.MaxSource {
		r.problem(shell.Problem{Kind: shell.ProblemTooBig, Detail: wording.Say("the command is longer than 1 MiB")})
		return false
	}
	return r.step(1+len(text)/bytesPerStep) && r.enter()
}

// step spends a part of the budget and reports whether some is left.
func (r *reader) step(n int) bool {
	if r.stopped {
		return false
	}
	if !r.o.Budget.Spend(n) || len(r.out.Commands) > maxCommands {
		r.stopped = true
		r.problem(shell.Problem{Kind: shell.ProblemTooCostly, Detail: wording.Say("the command does too much to be read in full")})
	}
	return !r.stopped
}

// enter goes one level deeper and reports whether that is allowed; if it is,
// leave must follow.
func (r *reader) enter() bool {
	if r.stopped {
		return false
	}
	if r.depth >= shell.MaxDepth {
		r.tooDeep()
		return false
	}
	r.depth++
	return true
}

func (r *reader) leave() { r.depth-- }

func (r *reader) tooDeep() {
	r.problem(shell.Problem{Kind: shell.ProblemTooDeep, Detail: wording.Say("the command nests too deep to be read")})
}

// problem notes a finding once. The first of a kind always counts, so that
// many small ones cannot hide that the reading broke off.
func (r *reader) problem(p shell.Problem) {
	if r.at.span != nil && p.Span == (shell.Span{}) {
		p.Span = *r.at.span
	}
	same := func(q shell.Problem) bool { return q.Kind == p.Kind }
	if !r.o.Budget.Spend(1+weigh(p.Word)/bytesPerStep) || len(r.out.Problems) >= maxProblems {
		if slices.ContainsFunc(r.out.Problems, same) {
			return
		}
	}
	key := string(p.Kind) + " " + p.Detail.String() + " " + p.Word.String()
	if r.problems[key] {
		return
	}
	r.problems[key] = true
	r.out.Problems = append(r.out.Problems, p)
}

// unread notes a part of the source that is beyond this reader.
func (r *reader) unread(what wording.Phrase, about ...string) {
	r.problem(shell.Problem{Kind: shell.ProblemUnread, Detail: wording.Say(what, about...), Interpreter: "powershell"})
}

func (r *reader) unclosed() { r.unread("a quote or a bracket has no partner") }

// within reads something in another place.
func (r *reader) within(change func(*place), read func() value) value {
	old := r.at
	r.at.via = slices.Clip(r.at.via)
	change(&r.at)
	defer func() { r.at = old }()
	return read()
}

func (r *reader) carriedBy(by string, read func() value) value {
	return r.within(func(p *place) { p.via = append(p.via, by) }, read)
}

// emit adds a command that stands here.
func (r *reader) emit(c shell.Command) {
	c.Cwd, c.Via, c.Privileged, c.Remote = r.cwd, nil, false, nil
	r.add(c)
}

// add adds a command, with what is known of the place where it stands.
func (r *reader) add(c shell.Command) {
	const cost = 2 // besides its words
	bytes := weigh(c.Argv...)
	for i := range c.Redirects {
		bytes += weigh(c.Redirects[i].Target)
	}
	for i := range c.Assigns {
		bytes += weigh(c.Assigns[i].Value)
	}
	if !r.step(cost + bytes/bytesPerStep) {
		return
	}
	if r.at.span != nil {
		c.Span = *r.at.span
	}
	if len(c.Via) == 0 {
		c.Via = r.at.via
	} else {
		c.Via = append(slices.Clip(r.at.via), c.Via...)
	}
	if c.Remote == nil {
		c.Remote = r.at.remote
	}
	c.Privileged = c.Privileged || r.at.privileged
	c.Background = c.Background || r.at.background
	c.InLoop = c.InLoop || r.at.inLoop
	c.Conditional = c.Conditional || r.at.conditional
	r.out.Commands = append(r.out.Commands, c)
}

// call adds what a function does to its targets.
func (r *reader) call(function string, verb shell.Verb, targets ...shell.Word) {
	r.emit(shell.Command{
		Name: "powershell:" + function, Argv: append([]shell.Word{shell.Text(function)}, targets...),
		Call: &shell.Call{Language: "powershell", Function: function, Verb: verb, Targets: targets},
	})
}

// native reads a program by the knowledge of the common reader, which finds
// what the program carries.
func (r *reader) native(argv []shell.Word, stdin shell.Input) value {
	const cost = 40 // the other reader begins anew for every program
	if !r.step(cost) {
		return unknownValue("")
	}
	o := r.o
	o.Depth = r.depth
	o.Cwd, _ = r.cwd.Text()
	s := shell.ReadCommand(shell.Command{Argv: argv, Stdin: stdin}, o)
	for _, p := range s.Problems {
		p.Span = shell.Span{}
		if p.Kind == shell.ProblemUnparsable {
			p.Kind = shell.ProblemUnread // the words are what this reader made of them
		}
		r.problem(p)
	}
	for _, c := range s.Commands {
		if o.Cwd == "" && len(c.Via) == 0 {
			c.Cwd = r.cwd
		}
		r.add(c)
	}
	name := ""
	if len(argv) > 0 {
		name = programName(argv[0])
	}
	if name == "curl" || name == "wget" {
		return remoteValue(name)
	}
	return unknownValue(name)
}

// carried reads a value that is run as code.
func (r *reader) carried(v value, by string) value {
	for _, w := range v.items {
		if r.isCode(w, by) {
			r.carriedBy(by, func() value { return r.source(w.String()) })
		}
	}
	switch {
	case v.isBlock:
		return r.carriedBy(by, func() value { return r.source(v.block) })
	case len(v.items) == 0:
		return unknownValue("")
	}
	return unknownValue(by)
}

// isCode says whether something of a text is known that is run as code, and
// notes what is not: it stands in the text as a variable that holds it.
func (r *reader) isCode(w shell.Word, by string) bool {
	p := shell.Problem{Word: w, Interpreter: by}
	switch {
	case w.Remote():
		p.Kind, p.Detail = shell.ProblemDownload, wording.Say("%s runs text that is downloaded", by)
	case w.IsUnknown():
		p.Kind, p.Detail = shell.ProblemDynamicCode, wording.Say("%s runs text that is only known when it runs", by)
	case w.HasUnknown():
		p.Kind, p.Detail = shell.ProblemPartialCode, wording.Say("%s runs text with parts that are only known when it runs", by)
	default:
		return true
	}
	r.problem(p)
	return !w.IsUnknown()
}
