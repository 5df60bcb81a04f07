package effects

import (
	"slices"
	"strings"

	"github.com/metnos/vaglio/vaglio/shell"
)

// call is one command while it is being judged.
type call struct {
	*invocation
	*parsed
	r    *reading
	sec  *section
	took int // operands that the matching line took
}

// rule finds the effects of a command for which a table line is not enough.
// No effect means that the command only reads.
type rule func(c *call) []Effect

// shellText reads a command line.
func (r *reading) shellText(src string) {
	r.script(shell.Read(src, r.shellOptions()))
}

// shellArgv reads a command that is given as words.
func (r *reading) shellArgv(argv []string) {
	r.script(shell.ReadArgv(argv, r.shellOptions()))
}

func (r *reading) shellOptions() shell.Options {
	return shell.Options{Home: r.world.home, User: r.world.user, Cwd: r.world.cwd}
}

func (r *reading) script(s *shell.Script) {
	for i := range s.Problems {
		r.problem(&s.Problems[i])
	}
	commands := s.Commands
	if len(commands) > maxCommands {
		commands = commands[:maxCommands]
		r.add(usual(KindUnknown).with("runs more commands than are read", ""))
	}
	list := make([]*invocation, len(commands))
	for i := range commands {
		list[i] = invocationOf(&s.Commands[i])
	}
	for i, v := range list {
		if i+1 < len(list) {
			v.into = list[i+1]
		}
		if v.upstream(list[:i]) || v.foundRebuildable(list[:i]) || v.noSession() {
			continue
		}
		r.add(r.invocation(v)...)
	}
	if len(s.Commands) == 0 && len(s.Problems) == 0 {
		r.add(reads()...)
	}
}

// maxCommands bounds the commands of a call that are judged, and maxWords the
// words of one: what people write stays far below. A call with more is asked.
const (
	maxCommands = 4096
	maxWords    = 16 << 10
)

// upstream reports whether a command is only the remote's name after git's -u,
// which sets the upstream of a branch. The shell reader takes the word for the
// program that -u names for git clone. Any option that really names a program
// keeps the command.
func (v *invocation) upstream(before []*invocation) bool {
	if len(v.via) == 0 || len(v.args) > 0 || v.path == "" {
		return false
	}
	verb, ok := strings.CutPrefix(v.via[len(v.via)-1], "git ")
	if !ok || verb != "push" && verb != "pull" && verb != "fetch" {
		return false
	}
	for _, g := range before {
		if g.name == "git" && g.setsUpstream(verb, v.path) {
			return true
		}
	}
	return false
}

func (v *invocation) setsUpstream(verb, remote string) bool {
	isVerb, after := false, false
	for i, a := range v.args {
		isVerb = isVerb || a.text == verb
		if strings.HasPrefix(a.text, "--upload-pack") || strings.HasPrefix(a.text, "--receive-pack") || strings.HasPrefix(a.text, "--exec") {
			return false
		}
		after = after || a.text == "-u" && i+1 < len(v.args) && v.args[i+1].text == remote
	}
	return isVerb && after
}

// noSession reports whether a command is only the last noun of a cloud CLI
// that could have opened a session elsewhere, such as gcloud run services list.
func (v *invocation) noSession() bool {
	if !v.pod || len(v.via) == 0 {
		return false
	}
	switch v.via[len(v.via)-1] {
	case "gcloud", "fly", "flyctl":
		return !strings.Contains(" "+v.box+" ", " ssh ") && !strings.Contains(" "+v.box+" ", " console ") && !strings.Contains(" "+v.box+" ", " exec ")
	}
	return false
}

// foundRebuildable reports whether find runs a deletion on names that can all
// be rebuilt; find's own rule has judged it then.
func (v *invocation) foundRebuildable(before []*invocation) bool {
	if len(v.via) == 0 || !strings.HasPrefix(v.via[len(v.via)-1], "find -exec") || !removes([]arg{literal(v.name)}) {
		return false
	}
	for _, b := range slices.Backward(before) {
		if b.name == "find" {
			return searchOf(b.args).rebuilds()
		}
	}
	return false
}

// problem turns what the shell reader could not read into an effect or a note.
func (r *reading) problem(p *shell.Problem) {
	switch p.Kind {
	case shell.ProblemScriptFile:
		r.note("It runs a script file that was not read: " + argOf(p.Word).text + ".")
	case shell.ProblemDownload:
		what := "runs code downloaded from the network without review"
		if a := argOf(p.Word); a.known && a.text != "" {
			what += ": " + a.text
		}
		r.add(usual(KindForeignCode).with(what, argOf(p.Word).text))
	case shell.ProblemForkBomb:
		r.add(usual(KindPower).with("starts processes without end until the machine stalls", ""))
	case shell.ProblemDynamicCode:
		if a := argOf(p.Word); p.Interpreter == "eval" && trustedSetup(a) {
			r.add(own("sets the shell up by " + a.from[0])...)
			return
		}
		r.unread(p)
	case shell.ProblemUnparsable, shell.ProblemTooBig, shell.ProblemTooDeep, shell.ProblemTooCostly,
		shell.ProblemInternal, shell.ProblemDynamicName, shell.ProblemPartialCode:
		r.unread(p)
	default:
		r.add(usual(KindUnknown).with("could not be read: "+p.Detail, ""))
	}
}

// unread is the effect of what the shell reader could not read.
func (r *reading) unread(p *shell.Problem) {
	what := "could not be read: " + p.Detail
	a := argOf(p.Word)
	if a.text != "" && !strings.Contains(what, a.text) {
		what += ": " + a.text
	}
	r.add(usual(KindUnknown).with(what, a.text))
}

// trustedSetup reports whether text that eval runs is the output of a program
// that is made to set a shell up.
func trustedSetup(a arg) bool {
	if len(a.from) != 1 || len(a.names) > 0 || a.remote || a.text != "$("+a.from[0]+")" {
		return false
	}
	switch a.from[0] {
	case "ssh-agent", "direnv", "pyenv", "rbenv", "nodenv", "fnm", "brew", "starship", "zoxide", "dircolors", "opam", "mise", "rtx", "keychain", "conda", "thefuck", "resize", "lesspipe", "jenv", "goenv", "luarocks", "perlbrew", "docker-machine", "minikube", "mcfly", "atuin", "navi", "fzf", "asdf", "register-python-argcomplete":
		return true
	}
	return false
}

// invocation judges one command with all that surrounds it.
func (r *reading) invocation(v *invocation) []Effect {
	var out []Effect
	if len(v.args) >= maxWords {
		out = append(out, usual(KindUnknown).with("runs "+v.name+" with more words than are read", v.name))
	}
	out = append(out, r.named(v)...)
	for i, w := range v.writes {
		if v.restores(w) {
			out = append(out, usual(KindDelete).with("throws away the uncommitted changes in "+w.text, w.text))
			continue
		}
		if v.empties(i) {
			out = append(out, r.empty(v, w)...)
			continue
		}
		out = append(out, r.write(v, w, "writes")...)
	}
	for _, f := range v.reads {
		if r.world.placeOf(f, v.cwd) == placeSecret && v.host == "" && v.box == "" {
			out = append(out, usual(KindCredentials).with("reads the secrets in "+f.text, f.text))
		}
	}
	out = append(out, r.variables(v)...)
	return r.placed(v, out)
}

// variables are the effects of variables that are set for a command.
func (r *reading) variables(v *invocation) []Effect {
	var out []Effect
	for _, a := range v.assigns {
		if what, ok := r.judge.tables.vars[a.name+"="+a.value.text]; ok {
			out = append(out, usual(KindSafeguardOff).with(what, a.name))
		} else if what, ok := r.judge.tables.vars[a.name]; ok && a.value.text != "" && a.value.text != "0" {
			out = append(out, usual(KindSafeguardOff).with(what, a.name))
		}
	}
	return out
}

// placed adjusts effects to where a command runs.
func (r *reading) placed(v *invocation, out []Effect) []Effect {
	changes := false
	for i := range out {
		e := &out[i]
		if e.Kind == KindRead {
			continue
		}
		changes = true
		switch {
		case v.box != "" && !v.fresh && !v.pod && e.Reach == ReachWorkspace && liveName(v.box):
			e.Reach = ReachShared
			e.Why += " on " + v.box
		case v.host != "" || v.pod:
			if e.Reach == ReachWorkspace || e.Reach == ReachUser || e.Reach == ReachSystem {
				e.Reach = ReachShared
				e.Why += " on " + v.host + v.box
			}
		case v.box != "" && v.fresh && !v.exposed && !r.reachesHost(v):
			if e.Reach != ReachShared && e.Reach != ReachPublic && e.Kind != KindUnknown {
				*e = usual(KindCreate).with(e.Why+" in a throw-away container", e.Target)
			}
		}
	}
	if v.root && changes && v.box == "" {
		out = append(out, usual(KindPrivilege).with("runs "+v.name+" with the rights of the administrator", v.name))
	}
	return out
}

// reachesHost reports whether a container sees folders of the host outside
// the workspace.
func (r *reading) reachesHost(v *invocation) bool {
	for _, m := range v.mounts {
		if p := r.world.placeOf(arg{text: m, known: true}, r.world.cwd); p != placeWorkspace && p != placeTemp {
			if strings.HasPrefix(m, "/") || strings.HasPrefix(m, "~") || strings.HasPrefix(m, "$") || strings.HasPrefix(m, "..") {
				return true
			}
		}
	}
	return false
}
