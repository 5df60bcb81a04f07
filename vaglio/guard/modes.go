package guard

import (
	"strings"
)

// The rules about permissions and owners.
const (
	modeTree  = "mode.tree"
	modeOpen  = "mode.open"
	modeSetID = "mode.setuid"
)

// chmod may not change a tree of the system, nor open one, nor make a shell
// run as root.
func chmod(l *look) string {
	options, operands := l.splitModes()
	mode := ""
	reference := hasOption(options, 0, "reference")
	if !reference && len(operands) > 0 {
		mode, operands = operands[0], operands[1:]
	}
	recursive := hasOption(options, 'R', "recursive") || l.everything(operands)
	for _, o := range operands {
		if l.s != nil && l.s.leftOut(l.c, o) {
			continue
		}
		if l.isTree([]string{o}) && (recursive || breaksFolder(mode)) {
			if recursive {
				return modeTree
			}
			return modeOpen
		}
		if opens(mode) || reference {
			switch id := l.touch(writes, o); id {
			case authWrite, keyRule, credRule:
				return modeOpen
			case vitalRule:
				return modeOpen
			}
		}
		if setsID(mode) && l.isProgramFile(o) {
			return modeSetID
		}
	}
	return ""
}

// splitModes is split for a program whose operands may begin with a dash:
// chmod -w file, setfacl -m u::rwx file.
func (l *look) splitModes() (options, operands []string) {
	mode := false
	for i, a := range l.args {
		switch {
		case a == "--":
			return options, append(operands, l.args[i+1:]...)
		case len(a) > 1 && a[0] == '-' && a[1] != '-' && !mode && strings.Trim(a[1:], "rwxXstugoa,=+-") == "" && !strings.Contains(a, "R"):
			operands, mode = append(operands, a), true
		case len(a) > 1 && a[0] == '-':
			options = append(options, a)
		default:
			operands, mode = append(operands, a), true
		}
	}
	return options, operands
}

// everything says that the operands are all that a find lists.
func (l *look) everything(operands []string) bool {
	if l.c == nil || !l.c.InLoop || len(l.c.Via) == 0 || l.s.find.limited {
		return false
	}
	for _, o := range operands {
		for _, start := range l.s.find.starts {
			if o == start || strings.TrimRight(o, "/") == strings.TrimRight(start, "/") {
				return true
			}
		}
	}
	return false
}

// breaksFolder says that a mode lets everybody write, or takes away what a
// folder of the system needs.
func breaksFolder(mode string) bool {
	if isVague(mode) {
		return false
	}
	if octal, ok := lastDigits(mode); ok {
		owner, other := octal[0], octal[2]
		return (other-'0')&2 != 0 || owner < '5' || (octal[1] == '0' && other == '0' && owner != '7')
	}
	return opens(mode) || takes(mode)
}

// lastDigits gives the owner's, the group's and the others' digit of an octal
// mode.
func lastDigits(mode string) (string, bool) {
	if mode == "" || strings.Trim(mode, "01234567") != "" {
		return "", false
	}
	const digits = 3
	for len(mode) < digits {
		mode = "0" + mode
	}
	return mode[len(mode)-digits:], true
}

// opens says that a mode lets group or others write, or others read.
func opens(mode string) bool {
	if octal, ok := lastDigits(mode); ok {
		return (octal[1]-'0')&2 != 0 || (octal[2]-'0')&6 != 0
	}
	for clause := range strings.SplitSeq(mode, ",") {
		at := strings.IndexAny(clause, "+=")
		if at < 0 {
			continue
		}
		who, what := clause[:at], clause[at+1:]
		if (who == "" || strings.ContainsAny(who, "oa")) && strings.ContainsAny(what, "rw") {
			if strings.Contains(what, "w") || who != "" {
				return true
			}
		}
	}
	return false
}

// takes says that a symbolic mode takes rights from the owner or everybody.
func takes(mode string) bool {
	for clause := range strings.SplitSeq(mode, ",") {
		at := strings.IndexAny(clause, "-=")
		if at < 0 {
			continue
		}
		who, what := clause[:at], clause[at+1:]
		everybody := who == "" || strings.ContainsAny(who, "ua")
		if clause[at] == '-' && everybody && strings.ContainsAny(what, "rwx") {
			return true
		}
		if clause[at] == '=' && (everybody || who == "o" || who == "go") && !strings.Contains(what, "x") {
			return true
		}
	}
	return false
}

func setsID(mode string) bool {
	if octal, ok := lastDigits(mode); ok {
		const withBits = 4
		return len(mode) >= withBits && len(octal) > 0 && mode[len(mode)-withBits] >= '2' && mode[len(mode)-withBits] != '3' && mode[len(mode)-withBits] != '0'
	}
	for clause := range strings.SplitSeq(mode, ",") {
		if who, what, ok := strings.Cut(clause, "+"); ok && strings.Contains(what, "s") && who != "o" {
			return true
		}
	}
	return false
}

// isProgramFile says whether a file is a shell, an interpreter or a tool that
// would give root to everybody if it ran as root.
func (l *look) isProgramFile(o string) bool {
	if !strings.HasPrefix(l.absolute(o), "/bin/") && !strings.HasPrefix(l.absolute(o), "/usr/bin/") && !strings.HasPrefix(l.absolute(o), "/usr/local/bin/") {
		return false
	}
	base := baseOf(o)
	switch base {
	case "bash", "sh", "dash", "zsh", "ksh", "fish", "busybox", "perl", "ruby", "node", "php", "lua", "awk", "gawk", "find", "vim", "vi", "nano", "cp", "mv", "dd", "tee",
		"cat", "less", "env", "nmap", "gdb", "docker", "tar", "sed", "chmod", "chown", "rsync", "socat", "nc":
		return true
	default:
		return strings.HasPrefix(base, "python")
	}
}

// chown and its kin may not change a tree of the system, nor give away what
// decides about rights.
func chown(l *look) string {
	options, operands := l.split()
	if !hasOption(options, 0, "reference") && len(operands) > 0 {
		operands = operands[1:]
	}
	recursive := hasOption(options, 'R', "recursive") || l.everything(operands)
	for _, o := range operands {
		if l.s != nil && l.s.leftOut(l.c, o) {
			continue
		}
		tree := l.isTree([]string{o})
		if tree && (recursive || l.touch(empties, o) == treeRoot) {
			return modeTree
		}
		if id := l.touch(writes, o); id == authWrite || id == vitalRule {
			return id
		}
	}
	return ""
}

// acl is setfacl, chattr and chcon.
func acl(l *look) string {
	options, operands := l.splitModes()
	recursive := hasOption(options, 'R', "recursive")
	for _, o := range operands {
		if recursive && l.isTree([]string{o}) {
			return modeTree
		}
		if id := l.touch(writes, o); id == authWrite || id == keyRule {
			return id
		}
	}
	return ""
}
