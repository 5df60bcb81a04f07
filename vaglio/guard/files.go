package guard

import (
	"slices"
	"strings"

	"github.com/metnos/vaglio/vaglio/place"
)

// remove gives the rule about an object that a command takes away.
func (l *look) remove(d deed, o string) string {
	if l.leftOut(o) {
		return ""
	}
	if id := l.touch(d, o); id != "" {
		return id
	}
	if l.c.Call != nil && takesAll(d) && l.s.listsRoot && place.IsOpaque(strings.ReplaceAll(o, "/", "")) {
		return treeRoot
	}
	if d == empties && strings.Trim(o, "/") == string(perhaps) && slices.Contains(l.s.listed, "/") && l.comesFrom("sed", "awk", "xargs", "grep") {
		return treeRoot
	}
	if o == string(perhaps) && l.listed() {
		return l.removeListed(d)
	}
	return ""
}

// removeListed gives the rule about removing what the line has listed.
func (l *look) removeListed(d deed) string {
	if id := firstRule(l.s.shown, func(o string) string { return l.touch(d, o) }); id != "" {
		return id
	}
	return firstRule(l.cwds, func(cwd string) string { return l.rule(empties, cwd, true) })
}

// listed says that the command's unknown words come from a listing of its own
// folder.
func (l *look) listed() bool {
	return l.comesFrom("ls", "find", "dir")
}

// comesFrom says that a part of the command's words is the output of one of
// some programs.
func (l *look) comesFrom(programs ...string) bool {
	for _, w := range l.c.Argv {
		for _, p := range w.Parts() {
			if p.From != "" && slices.Contains(programs, p.From) {
				return true
			}
		}
	}
	return false
}

// isTree says whether a spot is a root, a home or a system tree.
func (l *look) isTree(spot string) bool {
	return slices.Contains([]string{treeRoot, treeHome, treeSystem}, l.touch(empties, spot))
}

// isProgramTree says whether a folder holds the system's programs, libraries or
// settings.
func (l *look) isProgramTree(o string) bool {
	return slices.Contains([]string{"/usr", "/etc", "/bin", "/sbin", "/lib", "/lib64", "/usr/bin", "/usr/sbin", "/usr/lib", "/usr/lib64"}, l.absolute(o))
}
