package guard

import (
	"slices"
	"strings"

	"github.com/metnos/vaglio/vaglio/place"
	"github.com/metnos/vaglio/vaglio/shell"
)

// call tries a call of an inline program.
func (l *look) call() string {
	call := l.c.Call
	spots := make([]string, len(call.Targets))
	for i, w := range call.Targets {
		spots[i] = spotOf(w)
	}
	if d, ok := callDeeds()[call.Verb]; ok {
		return l.callOn(d, spots)
	}
	switch call.Verb {
	case shell.VerbMove, shell.VerbCopy, shell.VerbLink:
		return l.callPair(spots)
	case shell.VerbPermissions:
		return l.callMode(spots)
	case shell.VerbKill:
		return l.callKill(spots)
	case shell.VerbFork:
		if l.c.InLoop {
			return forkRule
		}
		return ""
	case shell.VerbList:
		l.s.listsRoot = l.s.listsRoot || slices.ContainsFunc(spots, l.isTree)
		return ""
	case shell.VerbNetwork:
		return l.fileURLs(spots)
	default:
		return l.callOn(reads, spots)
	}
}

// callDeeds are the verbs that do one thing to each of their targets.
func callDeeds() map[shell.Verb]deed {
	return map[shell.Verb]deed{
		shell.VerbDelete: removes, shell.VerbDeleteTree: empties, shell.VerbWrite: replaces, shell.VerbAppend: writes, shell.VerbCreate: writes,
	}
}

func (l *look) callOn(d deed, spots []string) string {
	return firstRule(spots, func(s string) string {
		if takesAll(d) && l.s.listsRoot && place.IsOpaque(strings.ReplaceAll(s, "/", "")) {
			return treeRoot
		}
		return l.touch(d, s)
	})
}

func (l *look) callPair(spots []string) string {
	first := reads
	if l.c.Call.Verb == shell.VerbMove {
		first = empties
	}
	for i, s := range spots {
		d := writes
		if i == 0 {
			d = first
		}
		if id := l.touch(d, s); id != "" {
			return id
		}
		if i == 0 && first == empties {
			if id := l.touch(reads, s); id != "" {
				return id
			}
		}
	}
	return ""
}

func (l *look) callMode(spots []string) string {
	for _, s := range spots {
		if l.s.listsRoot && strings.ContainsAny(s, vague) {
			return modeTree
		}
		if l.isTree(s) {
			return modeTree
		}
		switch id := l.touch(writes, s); id {
		case authWrite, keyRule:
			return id
		case vitalRule, diskRule, memoryRule:
			return modeOpen
		}
	}
	return ""
}

func (l *look) callKill(spots []string) string {
	switch {
	case len(spots) > 0 && (spots[0] == "1" || spots[0] == "-1"):
		return killRule
	case slices.ContainsFunc(spots[:min(1, len(spots))], l.g.itself.HasProcess):
		return ownProcess
	default:
		return ""
	}
}

func (l *look) fileURLs(spots []string) string {
	for _, s := range spots {
		if l.reachesHere() && l.g.itself.Answers(s) {
			return ownCommand
		}
		if len(s) > 5 && strings.EqualFold(s[:5], "file:") {
			if id := l.touch(reads, s); id != "" {
				return id
			}
		}
	}
	return ""
}
