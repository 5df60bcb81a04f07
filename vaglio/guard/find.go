package guard

import (
	"slices"
	"strings"

	"github.com/metnos/vaglio/vaglio/place"
	"github.com/metnos/vaglio/vaglio/shell"
)

// find deletes, or writes what it finds into files.
func find(l *look) string {
	starts, tests := l.findParts()
	if len(starts) == 0 {
		starts = []string{"."}
	}
	limited, deletes, names := findTests(tests)
	limited = limited && !l.findsTree(tests)
	if l.s != nil {
		l.s.find = findCall{limited: limited}
		for _, s := range starts {
			l.s.find.starts = append(l.s.find.starts, variants(s)...)
		}
	}
	for i, t := range tests {
		if (t == "-fprint" || t == "-fprintf" || t == "-fls" || t == "-fprint0") && i+1 < len(tests) {
			if id := l.touch(writes, tests[i+1]); id != "" {
				return id
			}
		}
		if (t == "-files0-from") && i+1 < len(tests) {
			if id := l.touch(reads, tests[i+1]); id != "" {
				return id
			}
		}
	}
	if !deletes {
		return ""
	}
	for _, s := range starts {
		if id := l.findDeletes(s, limited, names); id != "" {
			return id
		}
	}
	return ""
}

// findsTree says whether a find asks for all below a root, a home or a system
// tree by its path.
func (l *look) findsTree(tests []string) bool {
	for i := range len(tests) - 1 {
		switch tests[i] {
		case "-path", "-ipath", "-wholename", "-regex", "-iregex":
			where := strings.TrimRight(tests[i+1], "*.+?$"+vague)
			if where != tests[i+1] && strings.HasPrefix(where, "/") && (i == 0 || tests[i-1] != "!" && tests[i-1] != "-not") && l.isTree([]string{where}) {
				return true
			}
		}
	}
	return false
}

func (l *look) findDeletes(start string, limited bool, names []string) string {
	id := l.touch(empties, start)
	switch id {
	case treeRoot, treeHome, treeSystem, adminRule, ownID:
		if limited {
			id = ""
		}
	}
	if id != "" {
		return id
	}
	for _, n := range names {
		below := strings.TrimRight(start, "/") + "/"
		if id := l.touch(removes, below+n); id != "" {
			return id
		}
		if id := l.touch(removes, below+anyFolders+"/"+n); id != "" {
			return id
		}
	}
	return ""
}

// findParts splits find's words into where it starts and what it tests.
func (l *look) findParts() (starts, tests []string) {
	for i, a := range l.args {
		if len(a) > 1 && a[0] == '-' && a != "-H" && a != "-L" && a != "-P" || a == "(" || a == "!" {
			if strings.HasPrefix(a, "-O") || a == "-D" {
				continue
			}
			return starts, l.args[i:]
		}
		if a != "-H" && a != "-L" && a != "-P" {
			starts = append(starts, a)
		}
	}
	return starts, nil
}

// findTests says whether the last alternative of a find's tests leaves out
// most files, whether it deletes, and which names it looks for.
func findTests(tests []string) (limited, deletes bool, names []string) {
	negated := false
	for i := 0; i < len(tests); i++ {
		value := ""
		if i+1 < len(tests) {
			value = tests[i+1]
		}
		switch t := tests[i]; t {
		case "!", "-not":
			negated = true
			continue
		case "-o", "-or", ",":
			limited = deletes && limited
		case "-delete":
			if deletes {
				break
			}
			deletes = true
		case "-name", "-iname", "-path", "-ipath", "-wholename", "-regex", "-iregex", "-lname", "-ilname":
			if !negated && isTelling(value) {
				limited = true
				names = append(names, globSpot(value))
			}
			i++
		case "-user", "-group", "-uid", "-gid":
			limited = limited || (!negated && value != "root" && value != "0")
			i++
		case "-newer", "-samefile", "-inum", "-links", "-fstype", "-context":
			limited = limited || !negated
			i++
		case "-size", "-perm":
			limited = limited || (!negated && (t == "-perm" && isRareMode(value) || t == "-size" && strings.Trim(value, "+0ckwbMG") != ""))
			i++
		case "-empty", "-nouser", "-nogroup":
			limited = limited || !negated
		case "-mtime", "-atime", "-ctime", "-mmin", "-amin", "-cmin":
			limited = limited || (!negated && strings.HasPrefix(value, "-"))
			i++
		case "-type", "-maxdepth", "-mindepth", "-exec", "-ok":
			i++
		}
		negated = false
	}
	return limited, deletes, names
}

// isRareMode says that few files of a system have the mode that a find asks
// for: one that lets everybody write, or that lends rights.
func isRareMode(value string) bool {
	mode := strings.TrimLeft(value, "-/+0")
	if mode == "" {
		return false
	}
	const bits = 3
	if strings.Trim(mode, "01234567") != "" {
		return strings.ContainsAny(mode, "st") || strings.Contains(mode, "o+w") || strings.Contains(mode, "a+w")
	}
	return len(mode) > bits || strings.IndexByte("2367", mode[len(mode)-1]) >= 0
}

// isTelling says that a pattern of names leaves out most names.
func isTelling(pattern string) bool {
	return place.IsTelling(strings.ReplaceAll(pattern, string(perhaps), "x"))
}

// globSpot reads a pattern that find itself expands.
func globSpot(pattern string) string {
	if i := strings.LastIndexByte(pattern, '/'); i >= 0 {
		pattern = pattern[i+1:]
	}
	return strings.NewReplacer("*", string([]byte{anyText}), "?", string([]byte{anyByte})).Replace(pattern)
}

// findCall is what is known of a find.
type findCall struct {
	starts  []string
	limited bool
}

// leftOut says whether an operand is what a find that leaves out most files
// would hand on, rather than everything below where it starts.
func (s *survey) leftOut(c *shell.Command, operand string) bool {
	if !s.find.limited || c == nil || !c.InLoop {
		return false
	}
	fed := slices.ContainsFunc(c.Via, func(v string) bool {
		return strings.HasPrefix(v, "find") || strings.HasPrefix(v, "xargs") || strings.HasPrefix(v, "parallel")
	}) || c.Stdin.Piped
	if !fed {
		return false
	}
	return slices.ContainsFunc(s.find.starts, func(start string) bool {
		start = strings.TrimRight(start, "/")
		rest, ok := strings.CutPrefix(operand, start)
		return ok && (rest == "" || rest == "/" || isOpaque(strings.TrimPrefix(rest, "/")))
	})
}
