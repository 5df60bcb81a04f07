package place

import (
	"slices"
	"strings"
)

// Tree says what a folder is the root of.
type Tree uint8

// What a folder can be the root of.
const (
	NoTree     Tree = iota
	RootTree        // the whole file system
	HomeTree        // a home
	SystemTree      // a folder of the system
)

// TreeAt returns the tree whose root a clean path is. A path to everything directly below the root also counts.
func (t *Table) TreeAt(clean string) Tree {
	if !strings.HasPrefix(clean, "/") {
		return NoTree
	}
	var r room
	steps := stepsOf(t.cased(clean), &r)
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

// mounted replaces a Windows drive that is mounted below /mnt by that drive.
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

// isSystem reports whether steps lead to a folder of the system.
func (t *Table) isSystem(steps []string) bool {
	switch first := steps[0]; {
	case len(steps) == 1:
		return t.isTop(first)
	case len(steps) == 2 && (first == "usr" || first == "var") && !IsVague(steps[1]):
		_, free := t.commons[steps[1]]
		return !free
	}
	return slices.ContainsFunc(t.deepTrees, func(tree []string) bool {
		return len(tree) == len(steps) && MatchSteps(tree, steps)
	})
}

// isTop reports whether a step below the root may be a folder of the system.
func (t *Table) isTop(step string) bool {
	if _, ok := t.trees[step]; ok || len(step) == 2 && step[1] == ':' {
		return true // the latter is a Windows drive
	}
	if IsVague(step) {
		for name := range t.trees {
			if Meet(step, name) {
				return true
			}
		}
	}
	return false
}

// isHome reports whether steps lead to a home. A pattern that matches only some names is a home if it matches the user's own.
func (t *Table) isHome(steps []string) bool {
	if MatchSteps(t.homeSteps, steps) {
		return true
	}
	switch len(steps) {
	case 1:
		return steps[0] == "root"
	case 2:
		if holdsHomes(steps[0]) && (!IsWild(steps[0]) || IsVague(steps[1])) || t.fold && steps[0] == "users" {
			return !IsVague(steps[1]) || IsOpaque(steps[1])
		}
		return begins(steps, "var", "root")
	case 3:
		return begins(steps, "c:", "users")
	default:
		return false
	}
}

// homeOf returns how many leading steps name a home; 0 if they do not begin with one.
func (t *Table) homeOf(steps []string) int {
	if n := len(t.homeSteps); n > 0 && len(steps) >= n && (MatchSteps(t.homeSteps, steps[:n]) || MatchSteps(t.homeFolded, steps[:n])) {
		return n
	}
	switch {
	case begins(steps, "root"):
		return 1
	case len(steps) > 1 && (holdsHomes(steps[0]) || steps[0] == "users"), begins(steps, "var", "root"):
		return 2
	case len(steps) > 2 && begins(steps, "c:", "users"):
		return 3
	}
	return 0
}

// holdsHomes reports whether a step below the root may hold homes.
func holdsHomes(step string) bool { return Meet(step, "home") || Meet(step, "Users") }

// begins reports whether steps begin with the given ones.
func begins(steps []string, with ...string) bool {
	return len(steps) >= len(with) && slices.Equal(steps[:len(with)], with)
}

// InHome reports whether a clean path is a home or lies in one.
func (t *Table) InHome(clean string) bool {
	var r room
	return strings.HasPrefix(clean, "/") && t.homeOf(stepsOf(t.cased(clean), &r)) > 0
}

// IsDisk reports whether a clean path is a device with file systems, or raw memory.
func (t *Table) IsDisk(clean string) bool {
	name, ok := strings.CutPrefix(clean, "/dev/")
	if !ok {
		return strings.HasPrefix(clean, "/physicaldrive")
	}
	first, _, deep := strings.Cut(name, "/")
	if !deep {
		return slices.ContainsFunc(t.disks, func(p string) bool { return Meet(first, p) }) && !strings.HasPrefix(first, "stdin") && !IsWild(first)
	}
	switch c := t.volumes.classes(clean, t); {
	case c&noDisk != 0:
		return false
	case c&disk != 0:
		return true
	default: // a logical volume: any other folder there
		return !IsVague(first)
	}
}

func isLetter(c byte) bool { return ('a' <= c && c <= 'z') || ('A' <= c && c <= 'Z') }
