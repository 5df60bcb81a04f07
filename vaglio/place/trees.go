package place

import (
	"slices"
	"strings"
)

// Tree is what a folder is the root of.
type Tree uint8

// What a folder may be the root of.
const (
	NoTree     Tree = iota
	RootTree        // the whole file system
	HomeTree        // a home
	SystemTree      // a folder of the system
)

// TreeAt says what a clean path is the root of, or everything directly below.
func (t *Table) TreeAt(clean string) Tree {
	if !strings.HasPrefix(clean, "/") {
		return NoTree
	}
	var r room
	steps := stepsOf(clean, &r)
	for len(steps) > 0 && IsWild(steps[len(steps)-1]) {
		steps = steps[:len(steps)-1]
	}
	switch {
	case len(steps) == 0:
		return RootTree
	case IsOpaque(steps[0]):
		return NoTree
	}
	if steps = mounted(steps); t.isHome(steps) {
		return HomeTree
	}
	if t.isSystem(steps) {
		return SystemTree
	}
	return NoTree
}

// mounted writes a drive of Windows that is mounted below /mnt as that drive.
func mounted(steps []string) []string {
	if steps[0] != "mnt" || len(steps) < 2 || len(steps[1]) != 1 || !isLetter(steps[1][0]) {
		return steps
	}
	steps = append([]string{steps[1] + ":"}, steps[2:]...)
	if len(steps) > 1 {
		steps[1] = strings.ToLower(steps[1])
	}
	return steps
}

func (t *Table) isSystem(steps []string) bool {
	const deepest = 3
	first := steps[0]
	switch {
	case len(steps) > deepest:
		return false
	case len(steps) == 1 && len(first) == 2 && first[1] == ':':
		return true // a drive of Windows
	case len(steps) == 1 && !IsVague(first):
		_, ok := t.trees[first]
		return ok
	case len(steps) == 2 && (first == "usr" || first == "var") && !IsVague(steps[1]):
		_, free := t.commons[steps[1]]
		return !free
	case len(steps) == 1:
		for name := range t.trees {
			if Meet(first, name) {
				return true
			}
		}
		return false
	}
	return slices.ContainsFunc(t.deepTrees, func(tree []string) bool {
		return len(tree) == len(steps) && MatchSteps(tree, steps)
	})
}

// isHome says whether steps lead to a home folder. A pattern that fits only
// some names is a home when it fits the user's own.
func (t *Table) isHome(steps []string) bool {
	if len(t.homeSteps) > 0 && MatchSteps(t.homeSteps, steps) {
		return true
	}
	switch len(steps) {
	case 1:
		return steps[0] == "root"
	case 2:
		if !Meet(steps[0], "home") && !Meet(steps[0], "Users") && steps[0] != "c:/users" {
			return steps[0] == "var" && steps[1] == "root"
		}
		return !IsVague(steps[1]) || IsOpaque(steps[1])
	case 3:
		return steps[0] == "c:" && steps[1] == "users"
	default:
		return false
	}
}

// homeOf gives how many of the steps name a home, 0 if they do not begin with
// one.
func (t *Table) homeOf(steps []string) int {
	if n := len(t.homeSteps); n > 0 && len(steps) >= n && (MatchSteps(t.homeSteps, steps[:n]) || t.homeCased && MatchSteps(t.homeFolded, steps[:n])) {
		return n
	}
	switch {
	case len(steps) == 0:
		return 0
	case steps[0] == "root":
		return 1
	case len(steps) > 1 && (Meet(steps[0], "home") || Meet(steps[0], "Users") || steps[0] == "users"):
		return 2
	case len(steps) > 1 && steps[0] == "var" && steps[1] == "root":
		return 2
	case len(steps) > 2 && steps[0] == "c:" && steps[1] == "users":
		return 3
	default:
		return 0
	}
}

// InHome says whether a clean path is a home or lies in one.
func (t *Table) InHome(clean string) bool {
	var r room
	return strings.HasPrefix(clean, "/") && t.homeOf(stepsOf(clean, &r)) > 0
}

// IsDisk says whether a clean path is a device that holds file systems, or a
// piece of raw memory.
func (t *Table) IsDisk(clean string) bool {
	name, ok := strings.CutPrefix(clean, "/dev/")
	if !ok {
		return strings.HasPrefix(clean, "/physicaldrive")
	}
	first, rest, deep := strings.Cut(name, "/")
	if !deep {
		return slices.ContainsFunc(t.disks, func(p string) bool { return Meet(first, p) }) && !strings.HasPrefix(first, "stdin") && !IsWild(first)
	}
	switch c := t.volumes.classes(clean, t); {
	case c&noDisk != 0:
		return false
	case c&disk != 0:
		return true
	default: // a logical volume: a folder there that nothing else is known by
		return !IsVague(first) && rest != ""
	}
}

func isLetter(c byte) bool { return ('a' <= c && c <= 'z') || ('A' <= c && c <= 'Z') }
