package guard

import (
	"slices"
	"strings"

	"github.com/metnos/vaglio/vaglio/operation"
	"github.com/metnos/vaglio/vaglio/place"
	"github.com/metnos/vaglio/vaglio/reading"
	"github.com/metnos/vaglio/vaglio/shell"
)

// call returns the rule that a call of an inline program breaks.
func (l *look) call() string {
	call := l.c.Call
	of := l.operation
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
	case shell.VerbNetwork, shell.VerbSend:
		of = l.asks
	case shell.VerbRead, shell.VerbClient:
		isIt := func(w shell.Word) bool { return l.g.itself.HasUnit(reading.Spot(w)) }
		l.s.asksVaglio = l.s.asksVaglio || slices.ContainsFunc(call.Targets, isIt) // by PowerShell's Get-Process
	case shell.VerbCopy, shell.VerbMove, shell.VerbLink:
		if len(call.Targets) > 1 {
			from, to := reading.Spot(call.Targets[0]), reading.Spot(call.Targets[1])
			l.remember(from, to)
			l.lands(from, to)
		}
	default: // The others are what is done to their targets, one by one.
	}
	return callRule(call, of)
}

// callRule returns the first rule that one of a call's operations breaks.
func callRule(call *shell.Call, of func(*operation.Operation) string) string {
	for _, o := range operation.OfCall(call) {
		o.Recursive = o.Recursive || call.Verb == shell.VerbCopy // of a folder, as far as is known
		if id := of(&o); id != "" {
			return id
		}
	}
	return ""
}

// callMode checks a target that gets an unknown mode or owner.
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

func (l *look) asks(o *operation.Operation) string {
	const scheme = "file:"
	s := reading.Spot(o.Object.Word)
	switch {
	case l.answers(s):
		return ownCommand
	case strings.EqualFold(s[:min(len(s), len(scheme))], scheme):
		return l.touch(place.Reads, s)
	}
	return ""
}
