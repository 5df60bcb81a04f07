package approval

import (
	"slices"
	"strings"

	"github.com/metnos/vaglio/vaglio"
)

// commandLine returns the command line that a call to a shell would run, or
// nothing when the call is none. A list of words is written as a shell would
// have to read it.
func commandLine(p vaglio.Proposal) string {
	if !isShell(p) {
		return ""
	}
	line, ok := p.Args["command"]
	if other, both := p.Args["cmd"]; both {
		if ok {
			return ""
		}
		line = other
	}
	switch line := line.(type) {
	case string:
		return line
	case []any:
		words := make([]string, len(line))
		for i, v := range line {
			word, ok := v.(string)
			if !ok {
				return ""
			}
			words[i] = shellWord(word)
		}
		return strings.Join(words, " ")
	default:
		return ""
	}
}

// isShell reports whether the call runs a command line: its capability says so,
// or it has the name of one of the agents' shell tools.
func isShell(p vaglio.Proposal) bool {
	if slices.Contains(p.Context.Capability, "code:exec") {
		return true
	}
	name := strings.ToLower(p.Executor)
	name = name[strings.LastIndexAny(name, "./:")+1:]
	if i := strings.LastIndex(name, "__"); i >= 0 {
		name = name[i+2:]
	}
	switch name {
	case "shell_exec", "shell", "local_shell", "bash", "sh", "zsh", "powershell", "pwsh", "terminal", "exec", "execute",
		"exec_command", "execute_command", "run_command", "run_shell_command", "run_terminal_cmd", "run_in_terminal":
		return true
	default:
		return false
	}
}

// shellWord quotes a word where a shell would not take it as it is.
func shellWord(w string) string {
	plain := func(c byte) bool { return isWord(c) || strings.IndexByte("%+,-./:=@", c) >= 0 }
	if w != "" && span(w, plain) == len(w) {
		return w
	}
	return "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
}
