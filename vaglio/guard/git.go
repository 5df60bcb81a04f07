package guard

import (
	"slices"
	"strings"
)

// gitCommand is a clean of a root, a home or a system tree, or a use of a secret as a
// file.
func gitCommand(l *look) string {
	sub := slices.IndexFunc(l.args, func(a string) bool { return a == "clean" })
	if sub >= 0 {
		options := l.args[sub+1:]
		if hasShortOrLong(options, 'f', "--force") && !hasShortOrLong(options, 'n', "--dry-run") {
			if id := l.cleanTree(l.args[:sub]); id != "" {
				return id
			}
			after := *l
			after.args = options
			_, operands := after.splitBy("e", "exclude")
			if id := l.removeAll(empties, operands); id != "" {
				return id
			}
		}
	}
	for i, a := range l.args {
		if i > 0 && isTextOption(l.args[i-1]) {
			continue
		}
		if looksLikePath(a) {
			d := reads
			if i > 0 && (l.args[i-1] == "-o" || l.args[i-1] == "--output") {
				d = replaces
			}
			if id := l.touch(d, a); id != "" {
				return id
			}
		}
	}
	return ""
}

func isTextOption(a string) bool {
	switch a {
	case "-m", "--message", "--grep", "-S", "-G", "--author", "-c", "--trailer", "-F", "-C", "--git-dir", "--work-tree":
		return true
	default:
		return false
	}
}

func hasShortOrLong(options []string, letter byte, long string) bool {
	for _, o := range options {
		if o == long || (len(o) > 1 && o[0] == '-' && o[1] != '-' && strings.IndexByte(o, letter) > 0) {
			return true
		}
	}
	return false
}

func (l *look) cleanTree(before []string) string {
	places := append([]string(nil), l.cwds...)
	for _, a := range l.c.Assigns {
		if a.Name == "GIT_WORK_TREE" {
			places = append(places, spotOf(a.Value))
		}
	}
	for i, a := range before {
		if dir, ok := strings.CutPrefix(a, "--work-tree="); ok {
			places = append(places, dir)
		}
		if (a == "-C" || a == "--work-tree") && i+1 < len(before) {
			places = append(places, before[i+1])
		}
	}
	for _, p := range places {
		if l.isTree([]string{p}) {
			return l.touch(empties, p)
		}
	}
	return ""
}
