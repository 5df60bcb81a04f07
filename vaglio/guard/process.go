package guard

import (
	"slices"
	"strings"

	"github.com/metnos/vaglio/vaglio/operation"
	"github.com/metnos/vaglio/vaglio/place"
)

// killed is for a process that gets a signal: not the first one, and not every
// one.
func (l *look) killed(o *operation.Operation, spot string) string {
	if id := l.killsListed(spot); id != "" {
		return id
	}
	if l.isOwnProcess(o, spot) {
		return ownProcess
	}
	switch signal := strings.TrimPrefix(strings.ToUpper(given(o)), "SIG"); signal {
	case "0", "HUP", "CONT", "WINCH", "18", "28":
		return ""
	default:
		return l.killsEverything(spot, signal)
	}
}

// killsEverything is for a signal to the first process, or to every one. Those of
// a container are its own, unless the gate runs in it.
func (l *look) killsEverything(spot, signal string) string {
	switch {
	case spot != "-1" && (spot != "1" || signal == "1"):
		return ""
	case !l.inside:
		return killRule
	case l.namesOwn(spotOf(l.c.Remote.Target)):
		return ownProcess
	default:
		return ""
	}
}

// killsListed says what is hit by process ids that the line asks for.
func (l *look) killsListed(spot string) string {
	if !place.IsVague(spot) {
		return ""
	}
	switch list := &l.s.processes; {
	case l.s.asksVaglio:
		return ownProcess
	case list.init, list.all && !list.filtered && (l.comesFrom(processTexts()...) || l.isField()):
		return killRule
	default:
		return ""
	}
}

// isField says whether one of the command's words is a column that awk prints.
func (l *look) isField() bool {
	for _, w := range l.c.Argv {
		for _, p := range w.Parts() {
			if p.Name == "$" && p.MayBeEmpty {
				return true
			}
		}
	}
	return false
}

// processTexts are the programs that a list of processes goes through.
func processTexts() []string {
	return []string{"ps", "awk", "gawk", "mawk", "cut", "sed", "tr", "sort", "tail", "uniq", "ls", "pgrep", "grep", "cat", "tac", "xargs"}
}

// killedByName is for the processes of a name.
func (l *look) killedByName(_ *operation.Operation, spot string) string {
	switch {
	case l.namesOwn(spot):
		return ownProcess
	case picksAll(spot):
		return killRule
	default:
		return ""
	}
}

// picksAll says whether a pattern of names picks the first process,
// everybody's or all of them.
func picksAll(pattern string) bool {
	return slices.Contains([]string{
		"init", "systemd", "launchd", ".", ".*", "", "^", "/", ".+", "*", "[a-z]", "dbus-daemon", "^init$", "^systemd$",
	}, strings.ToLower(pattern))
}

// closed is for a file whose users are stopped.
func (l *look) closed(_ *operation.Operation, spot string) string {
	where := l.absolute(spot)
	switch {
	case l.g.isOwnAt(where, uses), l.g.itself.HasPort(spot):
		return ownProcess
	case l.isTree(spot) && !strings.HasPrefix(where, "/mnt") && !strings.HasPrefix(where, "/media"):
		return killRule
	default:
		return ""
	}
}

// stopped is for a service that is stopped: not what all others run in.
func (l *look) stopped(_ *operation.Operation, spot string) string {
	switch spot {
	case "init.scope", "-.slice", "system.slice", "*", "*.service", string(anyText):
		return killRule
	default:
		return ""
	}
}

// disabled is for a service, a package or a session that is changed.
func (l *look) disabled(_ *operation.Operation, spot string) string {
	pattern := strings.NewReplacer(string([]byte{anyText}), "*", string([]byte{anyByte}), "?").Replace(spot)
	if l.g.itself.Picked(strings.TrimSuffix(spot, ".service"), false) || l.g.itself.HasUnit(pattern) {
		return ownProcess
	}
	return ""
}

// attached is for a process that a debugger takes hold of.
func (l *look) attached(o *operation.Operation, spot string) string {
	if l.s.asksVaglio && place.IsVague(spot) || l.isOwnProcess(o, spot) {
		return ownProcess
	}
	return ""
}
