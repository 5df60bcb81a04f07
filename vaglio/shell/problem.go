package shell

import (
	"strings"

	"github.com/metnos/vaglio/vaglio/wording"
)

// ProblemKind says what kept a source from being fully known.
type ProblemKind string

// The kinds of problems.
const (
	// ProblemUnparsable means that the source is not a shell program: bash itself would not parse
	// it. Detail says what is wrong and quotes nothing of the source but its operators; Span is
	// the place.
	ProblemUnparsable ProblemKind = "unparsable"
	// ProblemUnread means that a text could not be parsed although some shell may accept it: a
	// construct that shells treat differently or only check when it runs, text that another
	// command carries, or a language or form that the reader does not know.
	ProblemUnread ProblemKind = "unread"
	// ProblemTooBig means that the source or its expansion exceeds the limits.
	ProblemTooBig ProblemKind = "too big"
	// ProblemTooDeep means that the source nests deeper than the limit.
	ProblemTooDeep ProblemKind = "too deep"
	// ProblemTooCostly means that the budget of steps was spent.
	ProblemTooCostly ProblemKind = "too costly"
	// ProblemInternal means that the reader itself failed.
	ProblemInternal ProblemKind = "internal"
	// ProblemDynamicName means that a command's name is unknown.
	ProblemDynamicName ProblemKind = "dynamic name"
	// ProblemDynamicCode means that an interpreter runs entirely unknown text.
	ProblemDynamicCode ProblemKind = "dynamic code"
	// ProblemPartialCode means that code contains unknown text: the rest was read, but the unknown
	// part could be code, too.
	ProblemPartialCode ProblemKind = "partial code"
	// ProblemScriptFile means that an interpreter runs a file whose content is not part of the
	// source.
	ProblemScriptFile ProblemKind = "script file"
	// ProblemClosed means that an existing file would run but could not be read.
	ProblemClosed ProblemKind = "closed file"
	// ProblemDownload means that downloaded text runs.
	ProblemDownload ProblemKind = "download"
	// ProblemForkBomb means that processes multiply without end.
	ProblemForkBomb ProblemKind = "fork bomb"
)

// TooMuch reports whether the problem is that there is more than is read.
func (k ProblemKind) TooMuch() bool {
	return k == ProblemTooBig || k == ProblemTooDeep || k == ProblemTooCostly
}

// unread reports whether the problem is text that no reader understands, or more than is read.
func (k ProblemKind) unread() bool {
	return k == ProblemUnparsable || k == ProblemUnread || k.TooMuch()
}

// Problem is a finding that no [Command] can express.
type Problem struct {
	Kind ProblemKind
	// Detail is one sentence for a person.
	Detail wording.Clause
	// Word is the code, file or name in question, if there is one.
	Word Word
	// Interpreter is the program that would run the text, if there is one. Args are what it hands
	// to downloaded text.
	Interpreter string
	Args        []Word
	// Below is the folder of this machine below which it changes files, if that is all that is
	// known.
	Below      Word
	Privileged bool // it would run with raised rights
	// File and Line are where it is, if that is a file that the session wrote.
	File string
	Line int
	Span Span
}

// ClosedError says why an existing file was not read. As an error it is the end of a sentence
// about the file.
type ClosedError struct {
	// Why is a phrase about the file's name.
	Why wording.Phrase
	// Usual says that many files of a project are like this, and that it is harmless when a tool
	// finds such a file by itself.
	Usual bool
	// Inert says that no interpreter runs it: it is a folder, or machine code.
	Inert bool
}

// Error returns the phrase without the name.
func (c *ClosedError) Error() string { return strings.TrimPrefix(string(c.Why), "%s ") }

// notRead records a file that would run and whose content is unknown.
func (r *reader) notRead(f *frame, where string, why *ClosedError) {
	r.problem(f, Problem{Kind: ProblemClosed, Detail: wording.Say(why.Why, strings.TrimPrefix(where, r.opts.Cwd+"/")), Word: Text(where)})
}

// Closed implements [Files].
func (r *reader) Closed(path string) *ClosedError { return r.opts.Files.Closed(path) }
