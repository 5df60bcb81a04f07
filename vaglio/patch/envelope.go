package patch

import (
	"strings"

	"github.com/metnos/vaglio/vaglio/shell"
)

// The lines around the parts of an envelope.
const (
	beginPatch = "*** Begin Patch"
	endPatch   = "*** End Patch"
	endOfFile  = "*** End of File"
)

// envelope reads the part of an envelope that starts with the line marker, and reports whether there is one. Parts are recognized on their own, because some
// programs read them without the envelope's first line, and after any text.
func (r *reader) envelope(marker string) bool {
	at := r.n
	switch marker {
	case beginPatch, endPatch, endOfFile:
		r.flush()
		r.open = marker != endPatch && (r.open || marker == beginPatch)
		return true
	}
	verb, name, ok := strings.Cut(strings.TrimPrefix(marker, "*** "), ": ")
	name = strings.TrimSpace(name)
	if !ok {
		return false
	}
	switch verb {
	case "Add File":
		r.part(at, Create, name)
	case "Update File":
		r.part(at, shell.VerbWrite, name)
	case "Delete File":
		r.part(at, shell.VerbDelete, name)
	case "Move to":
		r.flush()
		r.fail(at, "moves a file that it does not name")
		r.change(Change{Verb: Create, Path: name, Line: at})
	case "Environment ID":
	default:
		return false
	}
	return true
}

func (r *reader) part(at int, verb shell.Verb, name string) {
	r.flush()
	c := Change{Verb: verb, Path: name, Line: at}
	if name == "" {
		r.fail(at, "names no file")
	}
	if line, ok := r.peek(); ok && verb == shell.VerbWrite {
		if to, moves := strings.CutPrefix(strings.TrimSpace(line), "*** Move to:"); moves {
			r.next()
			c.Verb, c.To = shell.VerbMove, strings.TrimSpace(to)
		}
	}
	c.Added = r.body(verb)
	r.change(c)
}

// body reads the lines of one file of an envelope up to the next marker and returns the added ones.
func (r *reader) body(verb shell.Verb) string {
	var added strings.Builder
	for {
		line, ok := r.peek()
		if !ok || strings.HasPrefix(line, "***") && line != endOfFile {
			return added.String()
		}
		if verb == shell.VerbDelete && strings.TrimSpace(line) != "" {
			return "" // a deletion has no lines of its own
		}
		marked := strings.TrimSpace(line)
		if verb == Create && strings.HasPrefix(marked, "*** ") {
			return added.String()
		}
		r.next()
		r.bodyLine(verb, line, &added)
	}
}

func (r *reader) bodyLine(verb shell.Verb, line string, added *strings.Builder) {
	switch {
	case line == "", line == endOfFile, verb != Create && (strings.HasPrefix(line, "@@") || line[0] == ' ' || line[0] == '-'):
	case line[0] == '+':
		addLine(added, line[1:])
	default:
		r.fail(r.n, "is neither a mark nor a line of a file")
	}
}

// change records a change that names its file.
func (r *reader) change(c Change) {
	if c.Path != "" || c.To != "" {
		r.out = append(r.out, c)
	}
}
