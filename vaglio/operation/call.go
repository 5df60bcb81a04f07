package operation

import "github.com/metnos/vaglio/vaglio/shell"

// byCall says what a call of an inline program does to its first target, and to the others.
//
//nolint:gochecknoglobals // A table.
var byCall = map[shell.Verb][2]Verb{
	shell.VerbDelete:     {Delete, Delete},
	shell.VerbDeleteTree: {Delete, Delete},
	shell.VerbWrite:      {Replace, Replace},
	shell.VerbEmpty:      {Replace, Replace},
	shell.VerbAppend:     {Write, Write},
	shell.VerbCreate:     {Write, Write},
	shell.VerbRead:       {Read, Read},
	shell.VerbMove:       {Move, Write},
	shell.VerbCopy:       {Read, Write},
	shell.VerbLink:       {Read, Write},
	shell.VerbKill:       {Kill},
}

// OfCall are the operations of a call of an inline program on its targets. What does nothing to a file or a process reads them.
func OfCall(c *shell.Call) []Operation {
	done, ok := byCall[c.Verb]
	if !ok {
		done = byCall[shell.VerbRead]
	}
	out := make([]Operation, len(c.Targets))
	for i, w := range c.Targets {
		object := Object{Kind: Path, Word: w, Written: w}
		out[i] = Operation{Verb: done[min(i, 1)], Object: object, Role: Operand, Recursive: c.Verb == shell.VerbDeleteTree}
	}
	return out
}
