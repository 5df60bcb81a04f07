// Package shell reads a command line as a shell reads it and says what it
// would run, as far as that can be known without running it.
//
// [Read] parses the source with mvdan.cc/sh and evaluates the syntax tree
// abstractly: quoting, variables, braces, arithmetic, functions, loops and
// pure substitutions are resolved where they are constant; whatever cannot be
// known is kept as an unknown part of a [Word] and never guessed. Wrappers
// such as sudo, env or xargs are peeled, and text that ends up in an
// interpreter (bash -c, eval, a here-document, a pipe into sh, python -c) is
// read in turn; programs of other languages by [Options.Programs]. Nothing is
// executed, no file is opened and the environment is not consulted: the result
// depends on the arguments alone.
//
// The reader errs on the side of more: both branches of a conditional are
// read, exit does not end the reading, and a function that might be defined
// counts as defined and as missing. What is data, such as a quoted argument
// of echo or a commit message, never becomes a [Command].
//
// The work is bounded by a budget of steps that does not depend on the clock.
// A source that is too large, too deep, too costly or not a shell program
// yields a [Problem], and what could be read before it. A caller must treat a
// problem as a finding, never as a pass.
package shell

import (
	"strings"

	"github.com/metnos/vaglio/vaglio/wording"
)

// Script is what a source would run. The commands stand in the order in which
// they were read; a command may appear more than once when its words can have
// several values.
type Script struct {
	// Commands are the simple commands that would run, after wrappers were
	// peeled and carried text was read.
	Commands []Command
	// Problems say what could not be read or known. An empty list means that
	// every command was found, not that every word of it is known.
	Problems []Problem
	// Wrote are the files that it wrote, by their paths, with what is known of
	// their content.
	Wrote map[string]Word
	// Writes are files whose whole content is known that the source writes.
	Writes []Write
	// Unparsed are files that would run, of which some text is none that is read.
	Unparsed []string
	// Ran are the programs of other languages than the shell's that stand in files.
	Ran []Ran
}

// Ran is a program that stands in a file and would run.
type Ran struct {
	// File is its path, "" if the source itself writes it, Line the program's first
	// line in it.
	File string
	Line int
	Text string
	// Sure says that it is known to run: a word names it, and no runner has to find it.
	Sure bool
	// Loose says that of what it does no more than some calls are looked for, Unnamed
	// that it may change files of which nobody knows the names.
	Loose, Unnamed bool
	// Inline says that it stands in a command, not in a file.
	Inline bool
}

// Write is a file that a source writes.
type Write struct{ File, Text string }

// Command is one simple command that would run, or one call of an inline
// program that matters, see [Call].
type Command struct {
	// Name is the base name of Argv[0], or "" when that is not known. For a
	// Call it is the language and the function, such as
	// "python:shutil.rmtree".
	Name string
	// Argv are the command's words after every expansion. It is empty for a
	// statement that consists of redirections or assignments alone.
	Argv []Word
	// Redirects are the files that the shell opens for the command.
	Redirects []Redirect
	// Assigns are the variables set for this command alone, by the shell, by
	// env or by sudo; for a statement without words, the variables it sets.
	Assigns []Assign
	// Cwd is the folder in which the command would run.
	Cwd Word
	// Via lists the wrappers that were peeled, outermost first, such as
	// "sudo", "bash -c", "xargs".
	Via []string
	// Stdin says where the command's input comes from.
	Stdin Input
	// Privileged says that the command runs with raised rights (sudo, doas,
	// su, pkexec, runuser).
	Privileged bool
	// Remote is set when the command runs elsewhere: on another machine, in
	// a container or below another root.
	Remote *Remote
	// Call is set when the command stands for a call of an inline program.
	Call *Call
	// Wrapper says that the command carries another one, which is listed by
	// itself; its words include those of the carried command.
	Wrapper bool
	// Background says that the shell does not wait for the command.
	Background bool
	// InLoop says that the command may run many times.
	InLoop bool
	// Conditional says that the command may not run at all, because it stands
	// in a branch, behind && or ||, in a trap or in a function for errors.
	Conditional bool
	// Until is the place in [Script.Commands] of the first one behind the shell in which
	// the command runs, or 0 where nothing is behind it: what it sets holds until there.
	Until int
	// Guess says that it stands in a file of which nobody knows that it runs.
	Guess bool
	// File and Line tell where the command stands when that is a file that the
	// source runs, see [Options.Files].
	File string
	Line int
	// Span is the command's place in the source given to [Read]. A command
	// read from carried text has the place of its carrier.
	Span Span
}

// Span is a half-open range of byte offsets in the source.
type Span struct{ Start, End int }

// Assign is a variable that a command sets. Value is the zero [Word] when the
// variable is set to nothing.
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

// Redirect is one file that the shell opens for a command. Here-documents and
// copies of descriptors are no redirects, see [Command.Stdin].
type Redirect struct {
	Kind   RedirectKind
	Target Word
	// FD is the descriptor as written, "" for the operator's usual one.
	FD string
}

// InputKind says where an [Input] comes from.
type InputKind uint8

// The kinds of inputs.
const (
	// InputInherited is the input of whoever runs the command line.
	InputInherited InputKind = iota
	// InputText is text that the source determines: a here-document, a
	// here-string, or a pipe whose output could be worked out in part.
	InputText
	// InputFile is a redirection from a file.
	InputFile
)

// Input is a command's standard input.
type Input struct {
	Kind InputKind
	// Text is the content, known or not; for InputFile what is known of the
	// file's content.
	Text Word
	// File is the path for InputFile.
	File Word
	// Piped says that the content comes from another command's output.
	Piped bool
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

// Remote says where a command runs when that is not here.
type Remote struct {
	Kind RemoteKind
	// Target is the host, image, container, pod or root.
	Target Word
	// Mounts are the local folders that the remote can reach.
	Mounts []Mount
	// Shares says that it also reaches folders and volumes that the words do not name.
	Shares bool
	// HostAccess says that the remote was given the host's own rights or
	// name spaces (docker --privileged, --pid=host, nsenter -t 1).
	HostAccess bool
	// HostNetwork says that its addresses are the host's.
	HostNetwork bool
}

// Mount is one local folder as a remote sees it.
type Mount struct{ Host, Inside Word }

// ProblemKind names what kept a source from being known fully.
type ProblemKind string

// The kinds of problems.
const (
	// ProblemUnparsable means that the source is no shell program: bash itself
	// would not parse it. Detail says what is wrong and holds nothing of the
	// source but its operators; Span is the place.
	ProblemUnparsable ProblemKind = "unparsable"
	// ProblemUnread means that a text could not be parsed that some shell may
	// well accept: a construct in which shells differ or look only when it
	// runs, text that another command carries, a language or a form that the
	// reader does not know.
	ProblemUnread ProblemKind = "unread"
	// ProblemTooBig means that the source or what it expands to exceeds the
	// limits.
	ProblemTooBig ProblemKind = "too big"
	// ProblemTooDeep means that the source nests deeper than the limit.
	ProblemTooDeep ProblemKind = "too deep"
	// ProblemTooCostly means that the budget of steps was spent.
	ProblemTooCostly ProblemKind = "too costly"
	// ProblemInternal means that the reader itself failed.
	ProblemInternal ProblemKind = "internal"
	// ProblemDynamicName means that a command's name is not known.
	ProblemDynamicName ProblemKind = "dynamic name"
	// ProblemDynamicCode means that an interpreter runs text that is not
	// known at all.
	ProblemDynamicCode ProblemKind = "dynamic code"
	// ProblemPartialCode means that unknown text is spliced into code: what
	// is known was read, but the unknown part could be code too.
	ProblemPartialCode ProblemKind = "partial code"
	// ProblemScriptFile means that an interpreter runs a file whose content
	// is not part of the source.
	ProblemScriptFile ProblemKind = "script file"
	// ProblemClosed means that a file would run that is there and could not be
	// read.
	ProblemClosed ProblemKind = "closed file"
	// ProblemDownload means that downloaded text is run.
	ProblemDownload ProblemKind = "download"
	// ProblemForkBomb means that processes multiply without end.
	ProblemForkBomb ProblemKind = "fork bomb"
)

// Problem is something that the reader found and that no [Command] can carry.
type Problem struct {
	Kind ProblemKind
	// Detail is one sentence for a person.
	Detail wording.Clause
	// Word is the code, file or name in question, if there is one.
	Word Word
	// Interpreter is the program that would run the text, if there is one.
	Interpreter string
	Privileged  bool // it would, with raised rights
	Span        Span
}

// ClosedError is why a file was not read that is there. As an error it is the end of a
// sentence about the file.
type ClosedError struct {
	// Why is a phrase about the file's name.
	Why wording.Phrase
	// Usual says that much of what lies in a project is so, and harmless where a tool
	// looks for its files by itself.
	Usual bool
	// Inert says that no interpreter runs it: it is a folder, or made for the machine.
	Inert bool
}

// Error is the phrase without the name.
func (c *ClosedError) Error() string { return strings.TrimPrefix(string(c.Why), "%s ") }

// shut notes a file that would run and could not be read, if its reason counts.
func (r *reader) shut(f *frame, where string, counts func(c *ClosedError) bool) {
	if c := r.opts.Files.Closed(where); c != nil && counts(c) {
		r.notRead(f, where, c)
	}
}

// notRead notes a file that would run, and of which it is not known what it holds.
func (r *reader) notRead(f *frame, where string, why *ClosedError) {
	r.problem(f, Problem{Kind: ProblemClosed, Detail: wording.Say(why.Why, strings.TrimPrefix(where, r.opts.Cwd+"/")), Word: Text(where)})
}

// Closed tells of a file what the reader of files does.
func (r *reader) Closed(path string) *ClosedError {
	if r.opts.Files == nil {
		return nil
	}
	return r.opts.Files.Closed(path)
}
