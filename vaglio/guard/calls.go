package guard

import (
	"slices"
	"strings"

	"github.com/metnos/vaglio/vaglio/operation"
	"github.com/metnos/vaglio/vaglio/place"
	"github.com/metnos/vaglio/vaglio/reading"
	"github.com/metnos/vaglio/vaglio/shell"
)

// doneBy says what a call of an inline program does to its first target, and to
// the others.
func doneBy() map[shell.Verb][2]operation.Verb {
	return map[shell.Verb][2]operation.Verb{
		shell.VerbDelete:     {operation.Delete, operation.Delete},
		shell.VerbDeleteTree: {operation.Delete, operation.Delete},
		shell.VerbWrite:      {operation.Replace, operation.Replace},
		shell.VerbAppend:     {operation.Write, operation.Write},
		shell.VerbCreate:     {operation.Write, operation.Write},
		shell.VerbMove:       {operation.Move, operation.Write},
		shell.VerbCopy:       {operation.Read, operation.Write},
		shell.VerbLink:       {operation.Read, operation.Write},
		shell.VerbKill:       {operation.Kill},
	}
}

// call tries a call of an inline program.
func (l *look) call() string {
	call := l.c.Call
	done, of := l.g.calls[call.Verb], l.operation
	switch call.Verb {
	case shell.VerbFork:
		if l.c.InLoop {
			return forkRule
		}
		return ""
	case shell.VerbList:
		l.s.listsRoot = l.s.listsRoot || slices.ContainsFunc(call.Targets, func(w shell.Word) bool { return l.isTree(reading.Spot(w)) })
		return ""
	case shell.VerbPermissions:
		of = l.callMode
	case shell.VerbNetwork:
		of = l.asks
	default:
		if done[0] == "" {
			done = [2]operation.Verb{operation.Read, operation.Read}
			isIt := func(w shell.Word) bool { return l.g.itself.HasUnit(reading.Spot(w)) }
			l.s.asksVaglio = l.s.asksVaglio || slices.ContainsFunc(call.Targets, isIt) // by PowerShell's Get-Process
		}
	}
	for i, w := range call.Targets {
		tree := slices.Contains([]shell.Verb{shell.VerbDeleteTree, shell.VerbCopy}, call.Verb)
		o := operation.Operation{Object: operation.Object{Kind: operation.Path, Word: w}, Recursive: tree}
		o.Verb = done[min(i, 1)]
		if id := of(&o); id != "" {
			return id
		}
	}
	return ""
}

// callMode is for what gets a mode or an owner that is not known.
func (l *look) callMode(o *operation.Operation) string {
	s := reading.Spot(o.Object.Word)
	if l.s.listsRoot && strings.ContainsAny(s, place.Marks) || l.isTree(s) {
		return modeTree
	}
	switch id := l.touch(place.Writes, s); id {
	case authWrite, keyRule, ownID, ownProcess, ownSettings:
		return id
	case vitalRule, diskRule, memoryRule:
		return modeOpen
	}
	return ""
}

// asks is for an address that is talked to.
func (l *look) asks(o *operation.Operation) string {
	const scheme = "file:"
	s := reading.Spot(o.Object.Word)
	switch {
	case l.answers(s):
		return ownCommand
	case len(s) > len(scheme) && strings.EqualFold(s[:len(scheme)], scheme):
		return l.touch(place.Reads, s)
	}
	return ""
}
