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
	if id := l.killsVaglio(args); id != "" {
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

// killsVaglio says that the process ids come from a search for vaglio.
func (l *look) killsVaglio(args []string) string {
	if l.s == nil || !l.s.asksVaglio {
		return ""
	}
	if slices.ContainsFunc(args, isVague) {
		return ownProcess
	}
	return ""
}

// killByName is pkill, killall and their kin.
func killByName(l *look) string {
	options, operands := l.split()
	if hasOption(options, 'l', "list") && programName(l.c) == "killall" {
		return ""
	}
	for i, a := range l.args {
		user := ""
		switch {
		case (a == "-u" || a == "-U" || a == "--euid" || a == "--uid" || a == "--user") && i+1 < len(l.args):
			user = l.args[i+1]
		case strings.HasPrefix(a, "-u") && len(a) > 2:
			user = a[2:]
		case strings.HasPrefix(a, "--user="), strings.HasPrefix(a, "--euid="), strings.HasPrefix(a, "--uid="):
			_, user, _ = strings.Cut(a, "=")
		}
		if user == "root" || user == "0" {
			return killRule
		}
	}
	for _, o := range operands {
		switch strings.ToLower(o) {
		case "init", "systemd", "launchd", ".", ".*", "":
			return killRule
		}
		if namesVaglio(o) {
			return ownProcess
		}
	}
	if hasOption(options, 'v', "inverse") && programName(l.c) == "pkill" {
		return killRule
	}
	return ""
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

// searchProcess is pgrep and pidof: harmless, but remembered.
func searchProcess(l *look) string {
	if l.s != nil && slices.ContainsFunc(l.args, namesVaglio) {
		l.s.asksVaglio = true
	}
	return ""
}

// service stops, masks or changes vaglio's own service.
func service(l *look) string {
	changes, own := false, false
	for _, a := range l.args {
		switch a {
		case "stop", "kill", "disable", "mask", "restart", "edit", "revert", "set-property", "unload", "bootout", "remove", "rm", "pause", "down", "try-restart", "reload", "freeze":
			changes = true
		}
		own = own || namesVaglio(strings.TrimSuffix(a, ".service"))
	}
	if changes && own {
		return ownProcess
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
