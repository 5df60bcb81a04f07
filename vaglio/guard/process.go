package guard

import (
	"regexp"
	"slices"
	"strings"
)

// The rules about processes and about vaglio as a program.
const (
	forkRule   = "process.fork_bomb"
	killRule   = "process.kill_all"
	ownCommand = "own.command"
	ownProcess = "own.process"
)

// kill may not hit init or every process.
func kill(l *look) string {
	args := l.args
	if len(args) == 0 {
		return ""
	}
	signal := ""
	switch a := args[0]; {
	case a == "-l" || a == "-L" || a == "--list" || a == "--table":
		return ""
	case (a == "-s" || a == "-n" || a == "--signal") && len(args) > 1:
		signal, args = args[1], args[2:]
	case strings.HasPrefix(a, "--signal="):
		signal, args = a[len("--signal="):], args[1:]
	case len(a) > 1 && a[0] == '-' && a != "--" && len(args) > 1:
		signal, args = a[1:], args[1:]
	}
	if id := l.killsListed(args); id != "" {
		return id
	}
	switch strings.TrimPrefix(strings.ToUpper(signal), "SIG") {
	case "0", "HUP", "CONT", "WINCH", "18", "28":
		return ""
	case "1":
		signal = "HUP"
	}
	for _, a := range args {
		if a == "-1" || (a == "1" && signal != "HUP") {
			return killRule
		}
	}
	return ""
}

// killsListed says what is hit by process ids that the line asks for.
func (l *look) killsListed(args []string) string {
	if l.s == nil || !slices.ContainsFunc(args, isVague) {
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

// killByName is pkill, killall and their kin.
func killByName(l *look) string {
	name, valued := programName(l.c), "uUgGPtsF"
	if name == "killall" {
		valued = "usnoyZ"
	}
	in := *l
	in.args = slices.DeleteFunc(slices.Clone(l.args), isSignal)
	l = &in
	options, operands := l.splitBy(valued, "user", "uid", "euid", "group", "parent", "session", "terminal", "signal", "pidfile", "ns")
	if name == "killall" && hasOption(options, 'l', "list") {
		return ""
	}
	if slices.ContainsFunc(operands, namesVaglio) {
		return ownProcess
	}
	if l.picksAll(operands) || (hasOption(options, 'v', "inverse") && name == "pkill") {
		return killRule
	}
	return ""
}

// isSignal says whether a word is a signal by its name or number: -KILL, -9.
func isSignal(a string) bool {
	const shortest = 2
	return len(a) >= shortest && a[0] == '-' && (strings.Trim(a[1:], "0123456789") == "" ||
		(len(a) > shortest && strings.Trim(a[1:], "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+") == ""))
}

// picksAll says whether the words of pkill, killall or pgrep pick the first
// process, everybody's or all of them.
func (l *look) picksAll(patterns []string) bool {
	for _, o := range patterns {
		switch strings.ToLower(o) {
		case "init", "systemd", "launchd", ".", ".*", "", "^", "/", ".+", "[a-z]", "dbus-daemon", "^init$", "^systemd$":
			return true
		}
	}
	if len(patterns) > 0 {
		return false
	}
	for i, a := range l.args {
		value := ""
		switch {
		case len(a) == 2 && a[0] == '-' && i+1 < len(l.args), slices.Contains([]string{"--euid", "--uid", "--user", "--parent"}, a) && i+1 < len(l.args):
			value = l.args[i+1]
		case strings.HasPrefix(a, "--"):
			_, value, _ = strings.Cut(a, "=")
		case len(a) > 2:
			a, value = a[:2], a[2:]
		}
		switch {
		case strings.HasPrefix(a, "-u"), strings.HasPrefix(a, "-U"), strings.HasPrefix(a, "--u"), strings.HasPrefix(a, "--euid"):
			if value == "root" || value == "0" {
				return true
			}
		case strings.HasPrefix(a, "-P"), strings.HasPrefix(a, "--parent"):
			if value == "1" {
				return true
			}
		}
	}
	return false
}

// namesVaglio says whether a pattern fits vaglio's process and hardly another.
func namesVaglio(pattern string) bool {
	if strings.Contains(pattern, "vaglio") {
		return true
	}
	const least = 3
	if len(pattern) < least || isVague(pattern) || len(pattern) > 64 {
		return false
	}
	re, err := regexp.Compile(pattern)
	return err == nil && re.MatchString("vaglio")
}

// isAdminWord says whether a word is one of vaglio's commands that an agent may
// not run, so that the word before it is hardly a folder.
func isAdminWord(word string) bool {
	switch word {
	case "inbox", "pending", "why", "serve", "policy", "pair", "doctor", "digest", "log", "forget":
		return true
	default:
		return false
	}
}

// loader is the system's program loader, whose first operand is the program.
func loader(l *look) string {
	for i, a := range l.args {
		if a == "" || a[0] == '-' || l.depth > 1 {
			continue
		}
		in := *l
		in.depth, in.args = l.depth+1, l.args[i+1:]
		return in.program(baseOf(a))
	}
	return ""
}

// vaglio lets an agent ask what is judged and what the hook says, and nothing
// else: the other commands show or change what is between the person and the
// gate.
func vaglioCommand(l *look) string {
	for _, a := range l.args {
		if a == "--help" || a == "-h" || a == "--version" {
			return ""
		}
	}
	for i, a := range l.args {
		if strings.HasPrefix(a, "-") {
			continue
		}
		switch a {
		case "judge", "hook", "version", "help", "explain", "completion", "mcp":
			return ""
		case "policy":
			if i+1 < len(l.args) && l.args[i+1] == "check" {
				return ""
			}
		}
		return ownCommand
	}
	return ""
}
