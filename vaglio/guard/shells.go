package guard

import (
	"strings"
)

// shellNames are executors that are shells by their names, without the words
// that only say whose they are.
func shellNames() map[string]bool {
	names := map[string]bool{}
	for n := range strings.FieldsSeq("bash sh zsh shell terminal console shellexec execshell shelltool bashtool runcommand runcommands executecommand executecommands execcommand commandexec " +
		"exec execute command runshell runbash executeshell executebash runshellcommand executeshellcommand shellcommand bashcommand runterminalcmd runterminalcommand runinterminal " +
		"terminalexec terminalrun terminalexecute localshell cmdrun runcmd execcmd cmdexec containerexec dockerexec sshexec processexec execprocess startprocess runprocess spawnprocess subprocess " +
		"interactivebash commandrun commandexecute commandexecution systemexec ossystem shellrun shellexecute bashexec bashrun runscript executescript " +
		"executecode runcode codeexec codeexecution codeinterpreter pythonexec runpython executepython pythonrun python ipython nodeexec runnode runjavascript executejavascript jupyterexecute " +
		"nodeeval evalnode noderun pythoneval evalpython javascripteval evaljavascript jseval jsexec runjs rubyexec rubyeval runruby perlexec perleval runperl phpexec phpeval runphp luaexec runlua " +
		"denorun denoeval bunrun pythonrepl noderepl replexec runrepl typescriptexec runtypescript notebookrun executecell runcell notebookexecute sendkeys terminalinput terminalsend writestdin") {
		names[n] = true
	}
	return names
}

// isNamedShell says whether an executor runs what its command says: by its
// whole name, by its last part behind a server's or a plugin's name, or by its
// last two or three words.
func (g *Guard) isNamedShell(executor string) bool {
	for t := range tokens(executor) {
		switch t {
		case "bash", "zsh", "ksh", "dash", "powershell", "pwsh", "shell", "terminal", "ssh", "repl", "ipython", "jupyter", "interpreter", "subprocess":
			return true
		}
	}
	const most = 3
	words := 0
	for i := len(executor) - 1; i >= 0; i-- {
		begins := isAlnum(executor[i]) && (i == 0 || !isAlnum(executor[i-1]) || isHump(executor, i))
		if !begins {
			continue
		}
		words++
		if g.isShellName(executor[i:]) && (words > 1 || i == 0 || isNamespace(executor[:i])) {
			return true
		}
		if words == most {
			return false
		}
	}
	return false
}

// isShellName looks a name up without the marks between its words.
func (g *Guard) isShellName(name string) bool {
	var room [32]byte
	plain := room[:0]
	for i := range len(name) {
		if c := name[i]; isAlnum(c) {
			if len(plain) == len(room) {
				return false
			}
			if 'A' <= c && c <= 'Z' {
				c += 'a' - 'A'
			}
			plain = append(plain, c)
		}
	}
	return g.shells[string(plain)]
}

// isNamespace says that the beginning of a name ends in the mark that sets a
// server or a plugin apart.
func isNamespace(head string) bool {
	return strings.HasSuffix(head, "__") || strings.HasSuffix(head, ".") || strings.HasSuffix(head, "/") || strings.HasSuffix(head, ":")
}
