package guard

import (
	"cmp"
	"slices"
	"strings"

	"github.com/metnos/vaglio/internal/filemode"
	"github.com/metnos/vaglio/vaglio/operation"
	"github.com/metnos/vaglio/vaglio/place"
	"github.com/metnos/vaglio/vaglio/reading"
	"github.com/metnos/vaglio/vaglio/wordclass"
)

// permitted checks a target that gets a mode. It allows no change to a tree of the system,
// none that opens or locks what decides about rights, and no shell that would run as root.
func (l *look) permitted(o *operation.Operation, spot string) string {
	if id := l.permits(o, spot); id != "" || spot != string(place.Perhaps) || !l.listed() {
		return id
	}
	return l.firstOf(l.s.shown, func(shown string) string { return l.permits(o, shown) })
}

func (l *look) permits(o *operation.Operation, spot string) string {
	switch {
	case l.leftOut(spot):
		return ""
	case l.meansAll(o, spot) && l.isTree(spot):
		return modeTree
	case len(o.With) == 0 && l.isGuarded(spot):
		return modeOpen
	}
	if filemode.Bars(strings.ReplaceAll(given(o), "X", "x"), true) { // what lies below cannot be reached, as if it were gone
		if id := cmp.Or(l.empties(spot), l.touch(place.Removes, spot)); strings.HasPrefix(id, "own.") {
			return id
		}
	}
	return l.modeAt(given(o), spot)
}

// given returns what an object gets, if that is one word.
func given(o *operation.Operation) string {
	if len(o.With) == 0 {
		return ""
	}
	return reading.Spot(o.With[0])
}

// meansAll reports whether an operation reaches everything below its object.
func (l *look) meansAll(o *operation.Operation, spot string) bool {
	return o.Recursive || l.everything(spot)
}

// modeAt returns the rule that giving a mode to one path breaks.
func (l *look) modeAt(mode, o string) string {
	touched := l.touch(place.Writes, o)
	switch {
	case l.isTree(o):
		if !place.IsVague(mode) && filemode.BreaksFolder(mode) || (l.isCore(o) && filemode.ClosesFolder(mode)) {
			return modeOpen
		}
	case touched == ownProcess || touched == ownID || touched == ownSettings:
		return touched
	case l.modeOpens(mode, o, touched):
		return modeOpen
	}
	if filemode.SetsID(mode) && l.isProgramFile(o) {
		return modeSetID
	}
	return ""
}

// modeOpens reports whether a mode gives others a right to a file that they must not have, or takes from everybody a right that the system needs.
func (l *look) modeOpens(mode, o, touched string) bool {
	return filemode.Opens(mode) && l.isGuarded(o) || filemode.Shows(mode) && l.isSecret(o) ||
		touched == vitalRule && filemode.Bars(mode, !strings.Contains(place.Base(o), "libc"))
}

// isGuarded reports whether anybody who may write to a path owns the machine, or the data on its disks.
func (l *look) isGuarded(o string) bool {
	return slices.Contains([]string{authWrite, keyRule, credRule, vitalRule, diskRule, memoryRule}, l.touch(place.Writes, o)) || l.isSecret(o)
}

// isSecret reports whether not everybody may read a path.
func (l *look) isSecret(o string) bool {
	return slices.Contains([]string{authRead, keyRule, credRule, memoryRule}, l.touch(place.Reads, o))
}

// isCore reports whether a path is a system folder that nobody else uses.
func (l *look) isCore(o string) bool {
	folder := strings.TrimPrefix(l.absolute(o), "/")
	return folder == "" || l.g.base.Nouns["core-folder"][folder]
}

// everything reports whether an operand is everything that a find lists.
func (l *look) everything(o string) bool {
	same := func(start string) bool { return strings.TrimRight(o, "/") == strings.TrimRight(start, "/") }
	return l.c.InLoop && !l.s.find.limited && slices.ContainsFunc(l.s.find.starts, same)
}

// isProgramFile reports whether a file is a shell, an interpreter or a tool that as root would make everybody root, or a copy that the same line makes.
func (l *look) isProgramFile(o string) bool {
	where := l.absolute(o)
	if from, ok := l.s.copies[where]; ok {
		where = from
	}
	name := place.Base(where)
	kind := wordclass.Kind("interpreter", wordclass.Bare(name)) // a shell counts anywhere
	return strings.HasPrefix(where, "/") && (kind == "shell" || inProgramFolder(where) && (kind != "" || l.g.base.Nouns["powerful-tool"][name]))
}

// inProgramFolder reports whether a path is in one of the program folders.
func inProgramFolder(where string) bool {
	return slices.Contains([]string{"/bin/", "/usr/bin/", "/usr/local/bin/", "/sbin/", "/usr/sbin/"}, where[:strings.LastIndexByte(where, '/')+1])
}

// owned checks a target that gets an owner. It allows no change to a tree of the system, and none to what decides about rights unless given back to root.
func (l *look) owned(o *operation.Operation, spot string) string {
	if l.leftOut(spot) {
		return ""
	}
	owner := given(o)
	back := owner == "root" || owner == "0" || strings.HasPrefix(owner, "root:") || strings.HasPrefix(owner, "0:")
	if l.isTree(spot) && (l.meansAll(o, spot) || (l.isCore(spot) && !back)) {
		return modeTree
	}
	if id := l.touch(place.Writes, spot); !back && slices.Contains([]string{authWrite, vitalRule, diskRule, memoryRule, ownProcess, ownSettings, ownID}, id) {
		return id
	}
	return ""
}

// marked checks a target that gets an access list, an attribute or a label.
func (l *look) marked(o *operation.Operation, spot string) string {
	if l.isTree(spot) && (o.Recursive || (l.isCore(spot) && locksOrOpens(o))) {
		return modeTree
	}
	if id := l.touch(place.Writes, spot); slices.Contains([]string{authWrite, keyRule, diskRule, kernelRule, ownID, ownProcess, ownSettings}, id) {
		return id
	}
	return ""
}

// locksOrOpens reports whether an access list lets others write, or an attribute keeps everybody from writing.
func locksOrOpens(o *operation.Operation) bool {
	for _, w := range o.With {
		switch a := reading.Spot(w); {
		case a == "+i", a == "+a", a == "=i", a == "+ai", a == "+ia":
			return true
		case strings.Contains(a, ":") && strings.Contains(a[strings.LastIndexByte(a, ':'):], "w"):
			return true
		}
	}
	return false
}

// lent checks a program that gets privileges of its own. A program that can become root by itself is as bad as a shell that runs as root.
func (l *look) lent(o *operation.Operation, spot string) string {
	with := strings.ToLower(given(o)) // or capabilities, of which some are as mighty as root
	root := wordclass.Within("root-capability", with) || strings.HasPrefix(with, "all") || strings.HasPrefix(with, "=")
	if (filemode.SetsID(given(o)) || root) && l.isProgramFile(spot) {
		return modeSetID
	}
	return ""
}
