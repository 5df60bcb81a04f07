package shell

import "strings"

// kind says how a command is read.
type kind uint8

const (
	kindPlain kind = iota
	kindShell
	kindEval
	kindSource
	kindCommand
	kindExec
	kindCd
	kindPopd
	kindDeclare
	kindUnset
	kindSet
	kindShift
	kindRead
	kindMapfile
	kindAlias
	kindUnalias
	kindTrap
	kindHash
	kindPrintf
	kindCode // code in the first operand
	kindPrefix
	kindEnv
	kindMulticall
	kindSu
	kindFind
	kindXargs
	kindParallel
	kindSSH
	kindCopy
	kindContainer
	kindRemote
	kindGit
	kindTar
	kindRsync
	kindJob
	kindTmux
	kindMake
	kindProgram
	kindDebugger
	kindMove
	kindTee
	kindDownload
	kindSocat
	kindSed
	kindEditor
	kindOptionCode
	kindShellLike
	kindDd
)

// builtins are the commands that only a plain name runs, for they are part of
// the shell.
//
//nolint:gochecknoglobals // A table that is only read.
var builtins = map[string]kind{
	"eval": kindEval, "source": kindSource, ".": kindSource, "command": kindCommand, "builtin": kindCommand,
	"exec": kindExec, "cd": kindCd, "chdir": kindCd, "pushd": kindCd, "popd": kindPopd, "export": kindDeclare,
	"declare": kindDeclare, "typeset": kindDeclare, "local": kindDeclare, "readonly": kindDeclare, "unset": kindUnset,
	"set": kindSet, "shift": kindShift, "read": kindRead, "mapfile": kindMapfile, "readarray": kindMapfile,
	"alias": kindAlias, "unalias": kindUnalias, "trap": kindTrap, "hash": kindHash, "printf": kindPrintf,
	"compgen": kindOptionCode, "complete": kindOptionCode, "bind": kindOptionCode, "fc": kindOptionCode,
}

// programs are the commands that carry code or another command, other than
// those of [prefixes].
//
//nolint:gochecknoglobals // A table that is only read.
var programs = map[string]kind{
	"sh": kindShell, "bash": kindShell, "zsh": kindShell, "dash": kindShell, "ksh": kindShell, "ash": kindShell,
	"mksh": kindShell, "rbash": kindShell, "yash": kindShell, "fish": kindShell, "pdksh": kindShell, "lksh": kindShell,
	"oksh": kindShell, "rzsh": kindShell, "sash": kindShell, "hush": kindShell, "csh": kindShell, "tcsh": kindShell,
	"env": kindEnv, "genv": kindEnv, "busybox": kindMulticall, "toybox": kindMulticall,
	"su": kindSu, "runuser": kindSu, "find": kindFind, "gfind": kindFind, "xargs": kindXargs, "gxargs": kindXargs,
	"parallel": kindParallel, "ssh": kindSSH, "autossh": kindSSH, "mosh": kindSSH, "dbclient": kindSSH, "slogin": kindSSH,
	"scp": kindCopy, "sftp": kindCopy, "docker": kindContainer, "podman": kindContainer, "nerdctl": kindContainer,
	"docker-compose": kindContainer, "podman-compose": kindContainer, "lxc": kindContainer, "incus": kindContainer,
	"lxc-attach": kindRemote, "kubectl": kindRemote, "oc": kindRemote, "k3s": kindRemote, "microk8s": kindRemote, "minikube": kindRemote,
	"systemd-nspawn": kindRemote, "machinectl": kindRemote, "vagrant": kindSSH, "gcloud": kindRemote, "flyctl": kindRemote,
	"heroku": kindRemote, "toolbox": kindRemote, "distrobox": kindRemote, "wsl": kindRemote, "wsl.exe": kindRemote, "crictl": kindRemote,
	"ctr": kindRemote, "fly": kindRemote, "salt": kindRemote, "pssh": kindRemote, "parallel-ssh": kindRemote, "aws": kindRemote, "az": kindRemote,
	"git": kindGit, "tar": kindTar, "gtar": kindTar, "bsdtar": kindTar, "rsync": kindRsync, "at": kindJob, "batch": kindJob,
	"crontab": kindJob, "tmux": kindTmux, "screen": kindTmux, "byobu": kindTmux, "zellij": kindTmux,
	"make": kindMake, "gmake": kindMake, "python": kindProgram, "pypy": kindProgram, "python-config": kindPlain,
	"ipython": kindProgram, "perl": kindProgram, "ruby": kindProgram, "irb": kindProgram, "node": kindProgram,
	"nodejs": kindProgram, "bun": kindProgram, "deno": kindProgram, "php": kindProgram, "awk": kindProgram,
	"mawk": kindProgram, "nawk": kindProgram, "lua": kindProgram, "luajit": kindProgram,
	"tclsh": kindProgram, "expect": kindProgram, "tsx": kindProgram, "ts-node": kindProgram, "jruby": kindProgram,
	"uv": kindProgram, "pwsh": kindShellLike, "powershell": kindShellLike, "cmd": kindShellLike,
	"pwsh.exe": kindShellLike, "powershell.exe": kindShellLike, "cmd.exe": kindShellLike,
	"gdb": kindDebugger, "lldb": kindDebugger, "tee": kindTee, "sponge": kindTee, "dd": kindDd, "cp": kindMove, "mv": kindMove, "ln": kindMove,
	"install": kindMove, "curl": kindDownload, "wget": kindDownload, "aria2c": kindDownload, "socat": kindSocat,
	"nc": kindSocat, "ncat": kindSocat, "netcat": kindSocat, "sed": kindSed, "gsed": kindSed,
	"vim": kindEditor, "vi": kindEditor, "nvim": kindEditor, "ex": kindEditor, "ed": kindEditor, "view": kindEditor,
	"emacs": kindEditor, "man": kindOptionCode, "zip": kindOptionCode, "less": kindOptionCode, "more": kindOptionCode, "ftp": kindOptionCode,
	"tftp": kindOptionCode, "telnet": kindOptionCode, "gem": kindOptionCode, "nix": kindOptionCode, "guix": kindOptionCode,
	"logrotate": kindOptionCode, "gawk": kindProgram, "sort": kindOptionCode,
	"split": kindOptionCode, "mutt": kindOptionCode, "psql": kindOptionCode, "sqlite3": kindOptionCode,
	"mysql": kindOptionCode, "fzf": kindOptionCode, "rg": kindOptionCode, "fd": kindOptionCode, "fdfind": kindOptionCode,
	"npm": kindOptionCode, "pnpm": kindOptionCode, "yarn": kindOptionCode, "npx": kindOptionCode, "bunx": kindOptionCode,
	"tcpdump": kindOptionCode, "date": kindPlain, "nmap": kindOptionCode, "dpkg": kindOptionCode, "apt": kindOptionCode,
	"apt-get": kindOptionCode, "openvpn": kindOptionCode, "xterm": kindOptionCode, "gnome-terminal": kindOptionCode,
	"konsole": kindOptionCode, "alacritty": kindOptionCode, "inotifywait": kindPlain,
	"on_ac_power": kindPlain, "sysctl": kindPlain, "nsupdate": kindPlain, "ffmpeg": kindPlain, "capsh": kindOptionCode,
	"cmake": kindOptionCode, "ansible": kindOptionCode, "pdsh": kindSSH, "rsh": kindSSH, "jq": kindPlain, "rlogin": kindSSH,
	"tclsh8": kindProgram, "wish": kindProgram, "entr": kindOptionCode, "nodemon": kindOptionCode, "concurrently": kindOptionCode,
}

// dispatch reads a call by its name; false if the name says nothing.
func (r *reader) dispatch(f *frame, k *call, name string) (Word, bool) {
	if k.argv[0].Is(name) {
		if kd, ok := builtins[name]; ok {
			return r.builtin(f, k, name, kd), true
		}
	}
	kd, ok := programs[name]
	if !ok {
		kd, ok = programs[versionless(name)]
	}
	if ok && kd != kindPlain {
		return r.carrier(f, k, name, kd), true
	}
	if p, ok := prefixes[name]; ok {
		return r.runPrefix(f, k, name, p), true
	}
	if lang, ok := looseOf(name); ok {
		out := r.plain(f, k)
		r.readLoose(f, k, name, lang)
		return out, true
	}
	return Word{}, false
}

//nolint:cyclop,funlen // One case per kind.
func (r *reader) builtin(f *frame, k *call, name string, kd kind) Word {
	switch kd {
	case kindEval:
		args := k.argv[1:]
		if len(args) > 0 && args[0].Is("--") {
			args = args[1:]
		}
		if len(k.redirs) > 0 {
			r.emit(f, Command{Redirects: k.redirs, Span: k.span})
		}
		return r.carried(f.at(k, "eval"), r.code(args), "eval")
	case kindSource:
		return r.runSource(f, k)
	case kindCommand:
		return r.runCommand(f, k, name)
	case kindExec:
		return r.runExec(f, k)
	case kindCd:
		r.emit(f, Command{Argv: k.argv, Redirects: k.redirs, Assigns: k.assigns, Span: k.span})
		r.runCd(k, name)
		return Word{}
	case kindPopd:
		r.runPopd()
	case kindDeclare:
		r.runDeclare(f, k, name)
	case kindUnset:
		r.runUnset(f, k)
	case kindSet:
		r.runSet(f, k)
	case kindShift:
		r.runShift(k)
	case kindRead:
		r.runRead(f, k)
	case kindMapfile:
		r.runMapfile(f, k)
	case kindAlias:
		r.runAlias(k)
	case kindUnalias:
		r.runUnalias(k)
	case kindTrap:
		r.runTrap(f, k)
	case kindHash:
		r.runHash(k)
	case kindPrintf:
		return r.runPrintf(f, k)
	default:
		return r.optionCode(f, k, name)
	}
	r.emit(f, Command{Argv: k.argv, Redirects: k.redirs, Assigns: k.assigns, Span: k.span})
	return Word{}
}

//nolint:cyclop,funlen // One case per kind.
func (r *reader) carrier(f *frame, k *call, name string, kd kind) Word {
	switch kd {
	case kindShell:
		return r.runShell(f, k, name)
	case kindEnv:
		return r.runEnv(f, k)
	case kindMulticall:
		return r.runMulticall(f, k, name)
	case kindSu:
		return r.runSu(f, k, name)
	case kindFind:
		return r.runFind(f, k)
	case kindXargs:
		return r.runXargs(f, k)
	case kindParallel:
		return r.runParallel(f, k)
	case kindSSH:
		return r.runSSH(f, k, name)
	case kindContainer:
		return r.runContainer(f, k, name)
	case kindRemote:
		return r.runRemote(f, k, name)
	case kindGit:
		return r.runGit(f, k)
	case kindJob:
		return r.runJob(f, k, name)
	case kindTmux:
		return r.runTmux(f, k, name)
	case kindMake:
		return r.runMake(f, k)
	case kindProgram:
		return r.runProgram(f, k, name)
	case kindMove:
		return r.runMove(f, k)
	case kindTee:
		return r.runTee(f, k)
	case kindDd:
		return r.runDd(f, k)
	case kindDownload:
		return r.runDownload(f, k, name)
	case kindSed:
		return r.runSed(f, k)
	case kindShellLike:
		return r.runShellLike(f, k, name)
	default:
		return r.optionCode(f, k, name)
	}
}

// codeOption is an option whose value a program runs as shell code.
type codeOption struct {
	flag string // as written, "-e" or "--rsh"; ending in = for a glued value
	glue bool   // the value may be glued to a short option
}

// optionCodes are the options that carry shell code, by program.
//
//nolint:gochecknoglobals // A table that is only read.
var optionCodes = map[string][]codeOption{
	"tar": {
		{flag: "--to-command"},
		{flag: "--checkpoint-action=exec"},
		{flag: "--use-compress-program"},
		{flag: "-I"},
		{flag: "--info-script"},
		{flag: "--new-volume-script"},
		{flag: "-F"},
		{flag: "--rsh-command"},
		{flag: "--rmt-command"},
	},
	"rsync":   {{flag: "-e", glue: true}, {flag: "--rsh"}, {flag: "--rsync-path"}, {flag: "--early-input"}},
	"scp":     {{flag: "-S"}, {flag: "-D"}},
	"sftp":    {{flag: "-S"}, {flag: "-D"}},
	"gdb":     {{flag: "-ex"}, {flag: "--ex"}, {flag: "--eval-command"}, {flag: "-iex"}},
	"lldb":    {{flag: "-o"}, {flag: "-O"}, {flag: "--one-line"}},
	"gem":     {{flag: "-e"}, {flag: "--editor"}},
	"entr":    {},
	"dpkg":    {{flag: "--pre-invoke"}, {flag: "--post-invoke"}},
	"zip":     {{flag: "-TT"}, {flag: "--unzip-command"}},
	"sort":    {{flag: "--compress-program"}},
	"split":   {{flag: "--filter"}},
	"man":     {{flag: "-P"}, {flag: "--pager"}, {flag: "-H"}},
	"compgen": {{flag: "-C"}}, "complete": {{flag: "-C"}},
	"fzf":     {{flag: "--preview"}, {flag: "--bind"}},
	"rg":      {{flag: "--pre"}},
	"tcpdump": {{flag: "-z"}},
	"npm":     {{flag: "-c"}, {flag: "--call"}, {flag: "--script-shell"}}, "npx": {{flag: "-c"}, {flag: "--call"}},
	"xterm": {{flag: "-e"}}, "konsole": {{flag: "-e"}}, "alacritty": {{flag: "-e"}}, "gnome-terminal": {{flag: "-e"}, {flag: "--command"}},
	"ansible": {{flag: "-a"}, {flag: "--args"}},
	"capsh":   {{flag: "-c"}},
	"openvpn": {{flag: "--up"}, {flag: "--down"}},
	"nodemon": {{flag: "--exec"}, {flag: "-x"}}, "concurrently": {},
}

// optionCode reads a program some of whose options carry shell code.
func (r *reader) optionCode(f *frame, k *call, name string) Word {
	out := r.plain(f, k)
	g := f.at(k, name)
	g.conditional = true
	for i, w := range k.argv {
		if i == 0 {
			continue
		}
		if w.Is("--checkpoint-action") && i+1 < len(k.argv) && strings.HasPrefix(k.argv[i+1].Prefix(), "exec=") {
			r.toolCode(g, name, k.argv[i+1].cut(len("exec=")))
		}
		for _, o := range optionCodes[versionless(name)] {
			if v, ok := o.value(w, tail(k.argv, i+1)); ok {
				r.toolCode(g, name, v)
			}
		}
		r.dashO(g, name, w, tail(k.argv, i+1))
	}
	r.lateCommand(g, k, name)
	if lang, ok := looseOf(name); ok {
		r.readLoose(f, k, name, lang)
	}
	return out
}

// value returns the value of the option, if the word is that option.
//
//nolint:cyclop // One case per form that the grammar knows.
func (o codeOption) value(w Word, rest []Word) (Word, bool) {
	if w.Is(o.flag) {
		if len(rest) > 0 {
			return rest[0], true
		}
		return Word{}, false
	}
	s := w.Prefix()
	if strings.HasPrefix(s, o.flag+"=") {
		return w.cut(len(o.flag) + 1), true
	}
	if !strings.HasPrefix(o.flag, "--") && len(o.flag) == 2 {
		// The option may end a cluster, or have its value glued on.
		if o.glue && len(s) > 2 && s[0] == '-' && s[1] != '-' && strings.HasSuffix(s, o.flag[1:]) && w.parts == nil && len(rest) > 0 {
			return rest[0], true
		}
		if strings.HasPrefix(s, o.flag) && len(s) > 2 {
			return w.cut(2), true
		}
	}
	return Word{}, false
}

// toolCode reads the code that a tool runs, in the tool's own notation.
func (r *reader) toolCode(f *frame, name string, v Word) {
	s := strings.TrimSpace(v.Prefix())
	switch name {
	case "gdb", "lldb":
		for _, p := range []string{"!", "shell ", "platform shell ", "pipe "} {
			if strings.HasPrefix(s, p) {
				_, rest, _ := v.splitAt(p)
				r.carried(f, rest, name)
			}
		}
		return
	case "fzf":
		if key, _, ok := strings.Cut(s, ":"); ok && !strings.Contains(key, " ") {
			r.fzfBinding(f, v)
			return
		}
	case "ansible":
		if !strings.Contains(s, " ") && !v.HasUnknown() {
			return
		}
	}
	r.carried(f, v, name)
}

// dashO reads the option that names a proxy or local command, in the notation
// of ssh: -o ProxyCommand=….
func (r *reader) dashO(f *frame, name string, w Word, rest []Word) {
	switch name {
	case "ssh", "scp", "sftp", "autossh", "slogin":
	default:
		return
	}
	s := w.Prefix()
	if len(s) < 2 || s[0] != '-' || s[1] == '-' {
		return
	}
	at := strings.IndexByte(s, 'o')
	if at < 0 || strings.ContainsAny(s[:at], "BbcDEeFIiJLlmOPpQRSWw/=") {
		return
	}
	v := w.cut(at + 1)
	if v.Is("") {
		if len(rest) == 0 {
			return
		}
		v = rest[0]
	}
	r.sshOption(f, v)
}
