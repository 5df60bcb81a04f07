// Package patch reads patches as operations on files: the envelopes that coding agents send (***
// Begin Patch) and the diffs that patch, git apply and git am accept (unified, plain and git's
// own).
//
// It reads for safety, not to apply. Everything that one of the programs might act on becomes a
// [Change], so a file that either of two names could mean is named twice, and a line that could
// belong to a patch but is not understood is an error. The maintained diff libraries skip such
// lines as garbage, and patch would then act where nobody looked.
package patch

import (
	"fmt"
	"strings"

	"github.com/metnos/vaglio/vaglio/shell"
)

// Create makes the file at Path.
const Create shell.Verb = "create file"

// Change is one operation on a file.
type Change struct {
	// Verb is [Create], or writes, deletes, moves, copies, links or changes the permissions of Path.
	Verb shell.Verb
	// Path is the file, as the patch names it after stripping. It is relative to where the patch is applied, or absolute, and may contain dots.
	Path string
	// To is the new name of what is moved or copied, and what a link points to.
	To string
	// Mode holds the permission bits that git states for the file, 0 if none.
	Mode uint32
	// Added are the lines that the patch adds, each with its newline.
	Added string
	// Line is the line of the patch at which the change begins, counted from 1.
	Line int
}

// How many leading folders are stripped from a name unless an option says so.
const (
	// StripGit strips one folder if git puts it before names.
	StripGit = -1
	// StripBase does the same, and also considers the last element of the name, as patch does without -p.
	StripBase = -2
)

// Options say how a patch is applied.
type Options struct {
	// Strip is how many leading folders are stripped from names, as with -p, or StripGit or StripBase.
	Strip int
	// Reverse says that the patch is reversed (-R).
	Reverse bool
	// File is changed regardless of what the patch names, "" if there is none.
	File string
}

// Error is a part of a patch that was not understood.
type Error struct {
	// Line is its line, counted from 1.
	Line int
	// Why says what is wrong, as the end of a sentence.
	Why string
}

// Error returns the line and what is wrong with it.
func (e *Error) Error() string { return fmt.Sprintf("line %d of the patch %s", e.Line, e.Why) }

// Parse reads a patch. The error is an [*Error] about the first part that was not understood; Parse returns the understood changes with it. A text without
// any change is an error. The work is proportional to the size of the text.
func Parse(text string, o Options) ([]Change, error) {
	r := &reader{o: o, rest: text}
	r.all()
	if len(r.out) == 0 {
		r.fail(1, "names no change to a file")
		if o.File != "" {
			r.out = append(r.out, Change{Verb: shell.VerbWrite, Path: o.File, Line: 1})
		}
	}
	if r.err != nil {
		return r.out, r.err
	}
	return r.out, nil
}

// Looks reports whether a text is meant as a patch: an envelope, or a diff that names its files.
func Looks(text string) bool {
	if IsEnvelope(text) {
		return true
	}
	named := false
	for line := range strings.Lines(text) {
		switch {
		case strings.HasPrefix(line, "diff --git "):
			return true
		case strings.HasPrefix(line, "--- "), strings.HasPrefix(line, "+++ "), strings.HasPrefix(line, "Index: "), strings.HasPrefix(line, "*** "):
			named = true
		case named && beginsHunk(line):
			return true
		}
	}
	return false
}

// IsEnvelope reports whether a text begins with an envelope, possibly inside a here-document.
func IsEnvelope(text string) bool {
	text = strings.TrimSpace(text)
	if strings.HasPrefix(text, "<<") {
		_, text, _ = strings.Cut(text, "\n")
		text = strings.TrimSpace(text)
	}
	return strings.HasPrefix(text, beginPatch)
}

// reader reads one patch line by line.
type reader struct {
	o    Options
	rest string
	n    int // the number of the line that was read last
	out  []Change
	err  *Error
	file *file // the file whose header or hunks are being read
	open bool  // inside an envelope, where every line has a meaning
}

func (r *reader) fail(line int, why string) {
	if r.err == nil {
		r.err = &Error{Line: line, Why: why}
	}
}

// next returns the next line without its end, and whether there is one.
func (r *reader) next() (string, bool) {
	line, ok := r.peek()
	if ok {
		r.n++
		if i := strings.IndexByte(r.rest, '\n'); i >= 0 {
			r.rest = r.rest[i+1:]
		} else {
			r.rest = ""
		}
	}
	return line, ok
}

func (r *reader) peek() (string, bool) {
	if r.rest == "" {
		return "", false
	}
	line, _, _ := strings.Cut(r.rest, "\n")
	return strings.TrimSuffix(line, "\r"), true
}

// all reads the lines outside hunks to the end.
func (r *reader) all() {
	for {
		line, ok := r.next()
		if !ok {
			r.flush()
			return
		}
		if marker := strings.TrimSpace(line); strings.HasPrefix(marker, "*** ") && r.envelope(marker) {
			continue
		}
		if r.open && strings.TrimSpace(line) != "" {
			r.fail(r.n, "is not a line of an envelope")
		}
		r.header(line)
	}
}
