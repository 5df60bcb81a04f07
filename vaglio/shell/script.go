// Package shell reads a command line as a shell does and says what it would run, as far as that can be known without running it.
//
// [Read] parses the source with mvdan.cc/sh and evaluates the syntax tree abstractly. It resolves quoting, variables, braces, arithmetic, functions, loops
// and pure substitutions where they are constant. Whatever cannot be known stays an unknown part of a [Word]; the reader never guesses. It peels wrappers
// such as sudo, env or xargs, and reads text that ends up in an interpreter (bash -c, eval, a here-document, a pipe into sh, python -c) in turn;
// [Options.Programs] reads programs in other languages. The package executes nothing, opens no file itself and ignores its own environment: the result
// depends on the arguments alone.
//
// The reader prefers to find too much: it reads both branches of a conditional, exit does not end the reading, and a function that might be defined counts
// both as defined and as missing. Data, such as a quoted argument of echo or a commit message, never becomes a [Command].
//
// A budget of steps, which does not depend on the clock, bounds the work. A source that is too large, too deep, too costly or not a shell program yields a
// [Problem], and whatever could be read before it. A caller must treat a problem as a finding, never as a pass.
package shell

import (
	"path"
	"slices"
	"strings"

	"github.com/metnos/vaglio/vaglio/shell/word"
	"github.com/metnos/vaglio/vaglio/wordclass"
)

// Script is what a source would run. The commands are in the order in which they were read. One whose words can have several values appears more than once.
type Script struct {
	// Commands are the simple commands that would run, after peeling wrappers and reading carried text.
	Commands []Command
	// Problems say what could not be read or known. An empty list means that every command was found, not that every word of them is known.
	Problems []Problem
	// Wrote holds the files that the source wrote, by path, with what is known of their content.
	Wrote map[string]Word
	// Writes lists the files that the source writes and whose whole content is known.
	Writes []Write
	// Lands lists files that the source copies or moves, also with their folder, to where they steer what runs by itself.
	Lands []Landing
	// Sought holds the files that were looked for in what the source runs. If it had written something there that
	// is not known, this stands with the file, and what the file held before was read.
	Sought map[string]Word
	// Unparsed lists files that would run and hold text which no reader understands, or more than is read.
	Unparsed []string
	// Ran lists the programs that would run and are not read as shell code, Stood what tasks ran before the session.
	Ran   []Ran
	Stood []Task
	// Stays says what names stand for in a shell that goes on, as [Session] has them.
	Stays []string
	// Ends is the folder in which a shell that goes on would be; the zero Word if the source did not change it.
	Ends Word
}

// Ran is a program in a language other than the shell's that would run.
type Ran struct {
	// File is its path, "" if the source itself writes it; Line is its first line there; Was is its text in [Task.Was].
	File      string
	Line      int
	Text, Was string
	// Sure says that it certainly runs: a word names it, so that no runner has to find it.
	Sure bool
	// Loose says that the reader only looked for some calls, Unnamed that the program may change files whose names are unknown.
	Loose, Unnamed bool
	// Inline says that it is part of a command rather than in a file.
	Inline bool
}

// Landing is a file and a path at which it may be after the source ran.
type Landing struct{ From, To string }

// Write is a file that a source writes.
type Write struct{ File, Text string }

// Command is one simple command that would run, or one relevant call in an inline program, see [Call].
type Command struct {
	// Name is the base name of Argv[0], or "" if that is unknown. For a Call it is the language and the function, such as "python:shutil.rmtree".
	Name string
	// Argv are the command's words after all expansions. It is empty for a statement that only redirects or assigns.
	Argv []Word
	// Redirects are the files that the shell opens for the command.
	Redirects []Redirect
	// Assigns are the variables set for this command alone, by the shell, by env or by sudo; for a statement without words, the variables it sets.
	Assigns []Assign
	// Exported are the variables that the source exported before.
	Exported []Assign
	// Cwd is the folder that the command would run in.
	Cwd Word
	// Stdin says where the command's input comes from.
	Stdin Input
	Context
	// Call is set if the command stands for a call in an inline program.
	Call *Call
	// Wrapper says that the command carries others, which are listed separately: its words include
	// theirs, or it has no words and its redirections are those of a compound command.
	Wrapper bool
	// Until is the place in [Script.Commands] of the first one behind the shell in which
	// the command runs, or 0 where nothing is behind it: what it sets holds until there.
	Until int
	// File and Line say where the command is, if it is in a file that the source runs, see [Options.Files].
	File string
	Line int
	// Own says that the session wrote that file, and that a word names it.
	Own bool
	// Span is the command's place in the source given to [Read]. A command from carried text has the place of its carrier.
	Span Span
}

// Context says how a command would run.
type Context struct {
	// Via lists the wrappers that were peeled, outermost first, such as "sudo", "bash -c", "xargs".
	Via []string
	// Privileged says that the command runs with raised rights (sudo, doas, su, pkexec, runuser).
	Privileged bool
	// User is whose rights these are, "" for the administrator's.
	User string
	// Remote is set if the command runs elsewhere: on another machine, in a container or below another root.
	Remote *Remote
	// Background says that the shell does not wait for the command.
	Background bool
	// InLoop says that the command may run many times.
	InLoop bool
	// Conditional says that the command may not run at all: it is in a branch, after && or ||, in a trap or in an error handler.
	Conditional bool
	// Unless are files of which a test in front of the command says that nothing is there.
	Unless []Word
	// Guess says that the command is in a file that may not run at all.
	Guess   bool
	Sourced []Sourced // the values that its words have from files
}

// Within returns the context of what runs in one context inside another.
func (c Context) Within(outer *Context) Context {
	c.Via = slices.Concat(outer.Via, c.Via)
	if !c.Privileged {
		c.User = outer.User
	}
	c.Privileged, c.Background = c.Privileged || outer.Privileged, c.Background || outer.Background
	c.InLoop, c.Conditional, c.Guess = c.InLoop || outer.InLoop, c.Conditional || outer.Conditional, c.Guess || outer.Guess
	if c.Remote == nil {
		c.Remote = outer.Remote
	}
	return c
}

// Span is a half-open range of byte offsets in the source.
type Span struct{ Start, End int }

// Assign is a variable that a command sets. Value is the zero [Word] if the variable is set to nothing.
type Assign struct {
	Name  string
	Value Word
}

// RedirectKind says what a [Redirect] does with its target.
type RedirectKind uint8

// The kinds of redirections.
const (
	// RedirectRead opens the target for reading.
	RedirectRead RedirectKind = iota + 1
	// RedirectWrite truncates the target and writes it.
	RedirectWrite
	// RedirectAppend writes at the target's end.
	RedirectAppend
	// RedirectReadWrite opens the target for both.
	RedirectReadWrite
)

// Redirect is one file that the shell opens for a command. Here-documents and duplicated descriptors are not redirects, see [Command.Stdin].
type Redirect struct {
	Kind   RedirectKind
	Target Word
	// FD is the descriptor as written, "" for the operator's default.
	FD string
}

// InputKind says where an [Input] comes from.
type InputKind uint8

// The kinds of inputs.
const (
	// InputInherited is the input of whoever runs the command line.
	InputInherited InputKind = iota
	// InputText is text that the source determines: a here-document, a here-string, or a pipe whose content is known at least in part.
	InputText
	// InputFile is a redirection from a file.
	InputFile
)

// Input is a command's standard input.
type Input struct {
	Kind InputKind
	// Text is the content, known or not; for InputFile, what is known of the file's content.
	Text Word
	// File is the path for InputFile.
	File Word
	// Piped says that the content comes from another command's output, Here that this machine opens the file.
	Piped, Here bool

	shared bool // several commands read it, one after the other
}

// RemoteKind says where a [Remote] is.
type RemoteKind uint8

// The kinds of remotes.
const (
	// RemoteHost is another machine (ssh).
	RemoteHost RemoteKind = iota + 1
	// RemoteContainer is a container (docker, podman, nerdctl, lxc).
	RemoteContainer
	// RemotePod is a container of a cluster (kubectl, oc).
	RemotePod
	// RemoteRoot is this machine below another root (chroot, unshare, nsenter).
	RemoteRoot
)

// Remote says where a command runs if it does not run here.
type Remote struct {
	Kind RemoteKind
	// Target is the host, image, container, pod or root.
	Target Word
	// Mounts are the local folders that the remote can reach.
	Mounts []Mount
	// Shares: it reaches volumes that no word names; Given: words give it variables or a network with others; Filled: a file gives it variables.
	Shares, Given, Filled bool
	// HostAccess says that the remote has the host's own rights or namespaces (docker --privileged, --pid=host, nsenter -t 1).
	HostAccess bool
	// HostNetwork says that its addresses are the host's.
	HostNetwork bool
}

// mounted returns the path on this machine of what is at a path of the remote.
func (r *Remote) mounted(inside string) (host string, ok bool) {
	most := 0
	for _, m := range r.Mounts {
		at, _ := m.Inside.Text()
		from, known := m.Host.Text()
		at = strings.TrimSuffix(path.Clean(at), "/") + "/"
		if rest, in := strings.CutPrefix(inside, at); in && len(at) > most { // the deepest one hides the others
			most, host, ok = len(at), path.Join(from, rest), known && path.IsAbs(from)
		}
	}
	return host, ok
}

// Mount is one local folder as a remote sees it.
type Mount struct {
	Host, Inside Word
	ReadOnly     bool
}

// Tasks knows what a project's tools run from its files, as make does from a makefile.
type Tasks interface {
	// Tasks returns the texts that a command runs, in order; none if it is no such tool or its files are missing.
	Tasks(c TaskCall) []Task
	// Written returns what a file with this text may run, whatever is asked of it.
	Written(file, text string) []Task
	// IsCalled reports whether a file is in a language of which only calls are read, which run when a program that holds it does.
	IsCalled(file string) bool
}

// TaskCall is a command that may run what files hold.
type TaskCall struct {
	// Name is the program's name without its folder, Path where it lies if it was called by that; Args are the words after it, Behind
	// those of a command that it carries.
	Name, Path   string
	Args, Behind []Word
	// Assigns are the variables set for this command.
	Assigns []Assign
	// Env returns the values of variables that were set before; it may be nil.
	Env func(name string) (Word, bool)
	// Cwd is the folder that it runs in, absolute and clean.
	Cwd string
	// Files reads files, including those that the source wrote. Session is as in [Options], Written what the source itself has written so far; Changed is what
	// the session says was changed and, of Written, what [Tasks.IsCalled] names. Stdin is the standard input, Input lists the files that make it up.
	Files            Files
	Changed, Written []string
	Session          Session
	Stdin            Input
	Input            []string
	Spend            func(bytes int) // is told, once, how many bytes were looked at; it may be nil
	// Carries says that its words are read further, as commands or programs. Command says that the
	// last of Args is the program of a command that is read by itself; its words are left out. Module: python runs it.
	Carries, Command, Module bool
}

// calledAt returns where a program lies that is called by its path.
func (r *reader) calledAt(k *call, name string) (at string) {
	if !k.argv[0].Is(name) {
		at, _ = r.filePath(k.argv[0])
	}
	return at
}

// Variable returns the value of a variable as the command sees it, if it is set.
func (c *TaskCall) Variable(name string) (Word, bool) {
	if value, ok := assigned(c.Assigns, name); ok || c.Env == nil {
		return value, ok
	}
	return c.Env(name)
}

// Task is one text that a tool runs from a file.
type Task struct {
	// File is the path of the file, Line the text's first line in it.
	File string
	Line int
	// Text is what runs, Was what did before the session changed the file, if known. Language is "sh", one of [ProgramReader], or "".
	Text, Was, Language string
	// Dir is the folder that it runs in.
	Dir string
	// Guess: it may not be what runs; Found: no word names the file; Imported: a program imports it; Settings: a tool looks for it to be told what to do.
	Guess, Found, Imported, Settings bool
	// Whole: it is a command line as it stands, with nothing left out, whoever runs it; Passes: the tool passes on its environment.
	Whole, Passes bool
	// Closed says why the file's content is not known; there is no text then.
	Closed *ClosedError
}

// comesTo notes which line of the program is being read, if it is known.
func (f *frame) comesTo(line int) {
	switch {
	case line == 0:
	case f.file != nil:
		f.file.line = f.file.first - 1 + line
	case line <= len(f.lines):
		f.span, f.base = &f.lines[line-1], 0
	}
}

// carrier returns the place of what carries the text that is being read, nil if the text itself is in the source.
func (f *frame) carrier() *Span {
	if f.base > 0 {
		return nil
	}
	return f.span
}

// placed returns the frame for a carried text, which knows where that is in the source if it is written there as it
// is. It does not look where every place would be on one line, nor in a statement that is longer than people write.
func (r *reader) placed(f *frame, text string) *frame {
	c := f.carrier()
	if c == nil || f.file != nil || !strings.Contains(text, "\n") || c.End > len(r.src) || c.End-c.Start > 32<<10 {
		return f
	}
	at := c.Start + strings.Index(r.src[c.Start:c.End], text)
	if at < c.Start {
		return f
	}
	g := *f
	g.base, g.lines = at, nil
	for line := range strings.Lines(text) {
		g.lines = append(g.lines, Span{at, at + len(line)})
		at += len(line)
	}
	return &g
}

// Words are a subject of their own; what a shell tells of consists of them.
type (
	// Word is what one word of a command may be: static text, or a sequence of parts some of which are unknown.
	Word = word.Word
	// Part is one section of a [Word].
	Part = word.Part
)

// The kinds of parts, and where the root of a repository comes from.
const (
	PartText    = word.PartText
	PartGlob    = word.PartGlob
	PartUnknown = word.PartUnknown
	Toplevel    = word.Toplevel
)

// Text returns the word for a static text.
func Text(s string) Word { return word.Text(s) }

// NewWord returns the word that consists of the parts.
func NewWord(parts ...Part) Word { return word.New(parts...) }

// Glue returns the concatenation of the words.
func Glue(words ...Word) Word { return word.Glue(words...) }

// Spaced joins words with blanks, as eval does, into text that can be parsed.
func Spaced(words []Word) Word { return word.Join(words, " ") }

// Globs splits a file name pattern into its parts.
func Globs(s string) []Part { return word.Globs(s) }

// Texts is [word.Texts].
func Texts(list []string) []Word { return word.Texts(list) }

// codeVariable returns what runs the value of an environment variable as shell code, "" if nothing does.
func codeVariable(name string) string {
	if wordclass.Is("git-command-variable", name) {
		return "git"
	}
	if wordclass.Is("command-variable", name) {
		return name
	}
	return ""
}
