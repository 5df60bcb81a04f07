package guard

import (
	"slices"
	"strings"
)

// The rules about permissions and owners.
const (
	modeTree  = "mode.tree"
	modeOpen  = "mode.open"
	modeSetID = "mode.setuid"
)

// chmod may not change a tree of the system, nor open or lock what decides
// about rights, nor make a shell run as root.
func chmod(l *look) string {
	options, operands := l.splitModes()
	mode := ""
	reference := hasOption(options, 0, "reference")
	if !reference && len(operands) > 0 {
		mode, operands = operands[0], operands[1:]
	}
	recursive := hasOption(options, 'R', "recursive") || l.everything(operands)
	if l.s != nil && l.listed() && slices.Contains(operands, string(perhaps)) {
		operands = append(operands, l.s.shown...)
	}
	for _, o := range operands {
		if l.s != nil && l.s.leftOut(l.c, o) {
			continue
		}
		if recursive && l.isTree([]string{o}) {
			return modeTree
		}
		if reference && l.isGuarded(o) {
			return modeOpen
		}
		if id := l.modeAt(mode, o); id != "" {
			return id
		}
	}
	return ""
}

// modeAt gives the rule about one path that gets a mode.
func (l *look) modeAt(mode, o string) string {
	touched := l.touch(writes, o)
	switch {
	case l.isTree([]string{o}):
		if breaksFolder(mode) || (l.isCore(o) && closesFolder(mode)) {
			return modeOpen
		}
	case touched == ownProcess || touched == ownID:
		return touched
	case opens(mode) && l.isGuarded(o), shows(mode) && l.isSecret(o):
		return modeOpen
	case touched == vitalRule && bars(mode, !strings.Contains(baseOf(o), "libc")):
		return modeOpen
	}
	if setsID(mode) && l.isProgramFile(o) {
		return modeSetID
	}
	return ""
}

// isGuarded says whether whoever may write to a path owns the machine, or what
// is on its disks.
func (l *look) isGuarded(o string) bool {
	switch l.touch(writes, o) {
	case authWrite, keyRule, credRule, vitalRule, diskRule, memoryRule:
		return true
	default:
		return l.isSecret(o)
	}
}

// isSecret says whether a path is not for everybody to read.
func (l *look) isSecret(o string) bool {
	switch l.touch(reads, o) {
	case authRead, keyRule, credRule, memoryRule:
		return true
	default:
		return false
	}
}

// isCore says whether a path is a folder of the system that nobody else uses.
func (l *look) isCore(o string) bool {
	folder := strings.TrimPrefix(l.absolute(o), "/")
	return folder == "" || l.g.base.Nouns["core-folder"][folder]
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
	if l.c == nil || !l.c.InLoop || l.s.find.limited {
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

// isProgramFile says whether a file is a shell, an interpreter or a tool that
// would give root to everybody if it ran as root, or a copy of one that the
// same line makes.
func (l *look) isProgramFile(o string) bool {
	where := l.absolute(o)
	if l.s != nil {
		if from, ok := l.s.copies[where]; ok {
			where = from
		}
	}
	return strings.HasPrefix(where, "/") && l.g.isPowerful(baseOf(where), inProgramFolder(where))
}

// inProgramFolder says whether a path is in one of the folders of programs.
func inProgramFolder(where string) bool {
	folder := where[:strings.LastIndexByte(where, '/')+1]
	switch folder {
	case "/bin/", "/usr/bin/", "/usr/local/bin/", "/sbin/", "/usr/sbin/":
		return true
	default:
		return false
	}
}

// isPowerful says whether a program of this name runs what it is told. A tool
// only counts where it is installed; a shell does anywhere.
func (g *Guard) isPowerful(name string, installed bool) bool {
	switch name {
	case "bash", "sh", "dash", "zsh", "ksh", "fish", "busybox", "rbash", "ash", "csh", "tcsh":
		return true
	default:
		return installed && (g.base.Nouns["powerful-tool"][name] || strings.HasPrefix(name, "python") || strings.HasPrefix(name, "perl") ||
			strings.HasPrefix(name, "ruby") || strings.HasPrefix(name, "lua"))
	}
}

// chown and its kin may not change a tree of the system, nor give away what
// decides about rights.
func chown(l *look) string {
	options, operands := l.split()
	owner := ""
	if !hasOption(options, 0, "reference") && len(operands) > 0 {
		owner, operands = operands[0], operands[1:]
	}
	recursive := hasOption(options, 'R', "recursive") || l.everything(operands)
	back := owner == "root" || owner == "0" || strings.HasPrefix(owner, "root:") || strings.HasPrefix(owner, "0:")
	for _, o := range operands {
		if l.s != nil && l.s.leftOut(l.c, o) {
			continue
		}
		if l.isTree([]string{o}) && (recursive || (l.isCore(o) && !back)) {
			return modeTree
		}
		switch id := l.touch(writes, o); id {
		case authWrite, vitalRule, diskRule, memoryRule, ownProcess, ownID:
			if !back {
				return id
			}
		}
	}
	return ""
}

// acl is setfacl, chattr and chcon.
func acl(l *look) string {
	options, operands := l.splitModes()
	recursive := hasOption(options, 'R', "recursive")
	for _, o := range operands {
		tree := l.isTree([]string{o})
		if tree && (recursive || (l.isCore(o) && locksOrOpens(l.args))) {
			return modeTree
		}
		switch id := l.touch(writes, o); id {
		case authWrite, keyRule, diskRule, kernelRule:
			return id
		}
	}
	return ""
}

// locksOrOpens says that the words of setfacl or chattr let others write, or
// nobody any more.
func locksOrOpens(args []string) bool {
	for _, a := range args {
		switch {
		case a == "+i", a == "+a", a == "=i", a == "+ai", a == "+ia":
			return true
		case strings.Contains(a, ":") && strings.Contains(a[strings.LastIndexByte(a, ':'):], "w"):
			return true
		}
	}
	return false
}

// capabilities is setcap. What can become root by itself is as good as a shell
// that runs as root.
func capabilities(l *look) string {
	_, operands := l.split()
	for i := 1; i < len(operands); i += 2 {
		if givesRoot(operands[i-1]) && l.isProgramFile(operands[i]) {
			return modeSetID
		}
	}
	return ""
}

// givesRoot says whether capabilities make a program as mighty as root.
func givesRoot(text string) bool {
	text = strings.ToLower(text)
	for _, c := range [...]string{
		"setuid", "setgid", "dac_override", "dac_read_search", "sys_admin", "sys_ptrace", "sys_module", "sys_rawio", "chown", "fowner", "setfcap", "mknod",
		"fsetid", "linux_immutable", "mac_admin",
	} {
		if strings.Contains(text, c) {
			return true
		}
	}
	return strings.HasPrefix(text, "all") || strings.HasPrefix(text, "=")
}

// install copies like cp, and sets modes and makes folders.
func install(l *look) string {
	options, sources, to := l.destination()
	mode := ""
	for i, a := range l.args {
		name, value, joined := strings.Cut(a, "=")
		switch {
		case (a == "-m" || a == "--mode") && i+1 < len(l.args):
			mode = l.args[i+1]
		case joined && name == "--mode":
			mode = value
		case len(a) > 2 && strings.HasPrefix(a, "-m"):
			mode = a[2:]
		}
	}
	folders := hasOption(options, 'd', "directory")
	if folders && to != "" {
		sources = append(sources, to)
	}
	for _, s := range sources {
		if mode != "" && ((folders && l.modeAt(mode, s) != "") || (!folders && setsID(mode) && l.isProgramFile(s))) {
			if folders {
				return l.modeAt(mode, s)
			}
			return modeSetID
		}
	}
	if folders {
		return ""
	}
	return l.words("cp")
}
