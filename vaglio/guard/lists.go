package guard

import (
	"slices"
	"strings"
)

// processList is what a line has found out about the processes that run.
type processList struct {
	// all says that it lists all of them, filtered that it then picks some.
	all, filtered bool
	// init says that it asks for the first one.
	init bool
}

// searchProcess is pgrep and pidof: harmless, but remembered.
func searchProcess(l *look) string {
	if l.s == nil {
		return ""
	}
	_, patterns := l.splitBy("uUgGPtsFo", "user", "uid", "euid", "group", "parent", "session", "terminal", "delimiter")
	l.s.asksVaglio = l.s.asksVaglio || slices.ContainsFunc(l.args, namesVaglio)
	l.s.processes.init = l.s.processes.init || l.picksAll(patterns)
	return ""
}

// listProcesses is ps: harmless, but remembered.
func listProcesses(l *look) string {
	if l.s == nil {
		return ""
	}
	for i, a := range l.args {
		switch {
		case a == "-C" || a == "-p" || a == "-u" || a == "-U" || a == "--ppid" || a == "-t" || strings.HasPrefix(a, "--pid"):
			l.s.processes.filtered = true
			l.s.asksVaglio = l.s.asksVaglio || (a == "-C" && i+1 < len(l.args) && namesVaglio(l.args[i+1]))
		case a == "-A", a != "" && a[0] == '-' && len(a) > 1 && a[1] != '-' && strings.ContainsAny(a[1:], "e"), a != "" && a[0] != '-' &&
			strings.Contains(a, "x"):
			l.s.processes.all = true
		}
	}
	return ""
}

// pick remembers that a command of a pipe behind a list of processes keeps
// some of its lines only.
func (l *look) pick(text string) {
	if l.s == nil || l.c == nil || !l.c.Stdin.Piped || !l.s.processes.all || strings.HasPrefix(text, "-") {
		return
	}
	l.s.processes.filtered = true
	text, _, _ = strings.Cut(text, "{")
	if namesVaglio(strings.Trim(text, "/^$ ")) {
		l.s.asksVaglio = true
	}
}

// mounts is findmnt, lsblk and df: they print disks, or where those are.
func mounts(l *look) string {
	if l.s != nil && slices.ContainsFunc(l.args, func(a string) bool {
		a = strings.ToLower(a)
		return strings.Contains(a, "target") || strings.Contains(a, "mountpoint")
	}) {
		l.s.asksMounts = true
	}
	return ""
}

// closeFiles is fuser, which may kill whoever uses a file system.
func closeFiles(l *look) string {
	options, operands := l.splitBy("n", "namespace")
	if !hasOption(options, 'k', "kill") {
		return ""
	}
	for _, o := range operands {
		if l.g.isOwnAt(l.absolute(o), uses) {
			return ownProcess
		}
		if where := l.absolute(o); l.isTree([]string{o}) && !strings.HasPrefix(where, "/mnt") && !strings.HasPrefix(where, "/media") {
			return killRule
		}
	}
	return ""
}

// openFiles is lsof: harmless, but remembered.
func openFiles(l *look) string {
	if l.s == nil {
		return ""
	}
	for _, a := range l.args {
		if namesVaglio(a) || (a != "" && l.g.isOwnAt(l.absolute(a), uses)) {
			l.s.asksVaglio = true
		}
	}
	return ""
}

// debugger is gdb and its kin, which take hold of a process.
func debugger(l *look) string {
	if l.s != nil && l.s.asksVaglio && slices.ContainsFunc(l.args, isVague) {
		return ownProcess
	}
	return l.unknownProgram()
}

// service stops, masks or changes vaglio's own service, or what everything
// else runs in.
func service(l *look) string {
	stops := slices.ContainsFunc(l.args, func(a string) bool { return a == "stop" || a == "kill" || a == "freeze" })
	for _, a := range l.args {
		switch a {
		case "init.scope", "-.slice", "system.slice", "*", "*.service", string(anyText):
			if stops {
				return killRule
			}
		}
	}
	if slices.Contains(l.args, "show") && slices.ContainsFunc(l.args, namesVaglio) && l.s != nil {
		l.s.asksVaglio = true
	}
	return l.stopsVaglio()
}

// stopsVaglio says whether a tool that manages services, packages or sessions
// is told to stop or to remove vaglio.
func (l *look) stopsVaglio() string {
	changes := slices.ContainsFunc(l.args, func(a string) bool { return l.g.base.Nouns["stops-service"][a] })
	if changes && slices.ContainsFunc(l.args, func(a string) bool { return namesVaglio(strings.TrimSuffix(a, ".service")) }) {
		return ownProcess
	}
	return ""
}

// pickLines is pick for awk: a program that begins with an action works on
// every line.
func (l *look) pickLines() {
	for _, a := range l.args {
		if a != "" && a[0] != '-' && (!strings.HasPrefix(strings.TrimSpace(a), "{") || strings.Contains(a, "if")) {
			l.pick(a)
		}
	}
}
