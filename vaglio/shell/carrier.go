package shell

import (
	"slices"
	"strings"
)

// runSSH reads ssh and its like: a command on another machine.
func (r *reader) runSSH(f *frame, k *call, name string) Word {
	g := grammar{values: "BbcDEeFIiJLlmOoPpQRSWw", long: "ssh client port command"}
	if name == "pdsh" {
		g.values = "wxlgRfut"
	}
	opts, rest := g.parse(k.argv[1:])
	out := r.optionCode(f, k, name)
	if name == "vagrant" {
		if len(rest) == 0 || !rest[0].Is("ssh") {
			return out
		}
		opts, rest = grammar{values: "c", long: "command", permute: true}.parse(rest[1:])
		if code, ok := opts.get("c", "command"); ok {
			h := f.at(k, name)
			h.remote = &Remote{Kind: RemoteHost, Target: Text("vagrant")}
			return r.scoped(func() Word { r.freshCwd(); return r.carried(h, code, name) })
		}
		return out
	}
	var host Word
	if name != "pdsh" {
		if len(rest) == 0 {
			return out
		}
		host = rest[0]
		rest = rest[1:]
		// Options may follow the host.
		_, rest = g.parse(rest)
	} else {
		host, _ = opts.get("w")
	}
	h := f.at(k, name)
	h.remote = &Remote{Kind: RemoteHost, Target: host}
	if len(rest) == 0 {
		if f.stdin.Kind == InputText && name != "pdsh" {
			h.stdin = Input{}
			return r.scoped(func() Word { r.freshCwd(); return r.carried(h, f.stdin.Text, name) })
		}
		return out
	}
	return r.scoped(func() Word { r.freshCwd(); return r.carried(h, r.code(rest), name) })
}

// freshCwd forgets the current folder, for another machine has its own.
func (r *reader) freshCwd() { r.st.set(keyCwd, unknownHome("PWD")) }

// containerValues are the options of docker and its like that take a value.
const (
	containerShort = "aceElmpuvwh"
	containerLong  = "add-host attach blkio-weight cap-add cap-drop cgroup-parent cidfile cpu-period cpu-quota cpu-shares cpus " +
		"cpuset-cpus cpuset-mems device dns dns-search domainname entrypoint env env-file expose gpus group-add health-cmd " +
		"health-interval health-retries health-timeout hostname ip ipc isolation label label-file link log-driver log-opt " +
		"mac-address memory memory-swap mount name net network network-alias pid pids-limit platform publish pull restart " +
		"runtime security-opt shm-size stop-signal stop-timeout storage-opt sysctl tmpfs ulimit user userns uts volume " +
		"volume-driver volumes-from workdir detach-keys file project-name profile project-directory context host log-level config index scale"
)

// runContainer reads docker run, docker exec and their like.
func (r *reader) runContainer(f *frame, k *call, name string) Word {
	r.wrapper(f, k)
	g := grammar{values: "cHlfp", long: containerLong}
	_, rest := g.parse(k.argv[1:])
	for len(rest) > 0 && (rest[0].Is("container") || rest[0].Is("compose")) {
		_, rest = g.parse(rest[1:])
	}
	if len(rest) == 0 {
		return outputOf(name)
	}
	verb, _ := rest[0].Text()
	switch verb {
	case "run", "create", "exec":
	default:
		return outputOf(name)
	}
	opts, rest := grammar{values: containerShort, long: containerLong}.parse(rest[1:])
	if len(rest) == 0 {
		return outputOf(name)
	}
	h := f.at(k, name+" "+verb)
	h.remote = containerOf(opts, rest[0])
	argv := rest[1:]
	if len(argv) > 0 && argv[0].Is("--") {
		argv = argv[1:]
	}
	if entry, ok := opts.get("entrypoint"); ok {
		argv = append([]Word{entry}, argv...)
	}
	if len(argv) == 0 {
		return outputOf(name)
	}
	return r.scoped(func() Word {
		r.freshCwd()
		if dir, ok := opts.get("w", "workdir"); ok {
			r.st.set(keyCwd, dir)
		}
		return r.run(h, &call{argv: argv, span: k.span, external: true})
	})
}

// containerOf is the container that options describe.
func containerOf(opts options, image Word) *Remote {
	out := &Remote{Kind: RemoteContainer, Target: image}
	for _, v := range opts.all("v", "volume") {
		host, rest, ok := v.splitAt(":")
		inside, _, _ := rest.splitAt(":")
		if ok {
			out.Mounts = append(out.Mounts, Mount{Host: host, Inside: inside})
		}
	}
	for _, v := range opts.all("mount") {
		m := mountOf(v)
		if !m.Inside.Is("") {
			out.Mounts = append(out.Mounts, m)
		}
	}
	for _, o := range opts {
		switch {
		case o.name == "privileged":
			out.HostAccess = true
		case (o.name == "pid" || o.name == "userns" || o.name == "ipc") && o.value.Is("host"):
			out.HostAccess = true
		case o.name == "device":
			host, _, _ := o.value.splitAt(":")
			out.Mounts = append(out.Mounts, Mount{Host: host, Inside: host})
		}
	}
	return out
}

// mountOf reads type=bind,source=/a,target=/b.
func mountOf(v Word) Mount {
	var m Mount
	for {
		field, rest, more := v.splitAt(",")
		key, value, _ := field.splitAt("=")
		switch {
		case key.Is("source") || key.Is("src"):
			m.Host = value
		case key.Is("target") || key.Is("dst") || key.Is("destination"):
			m.Inside = value
		}
		if !more {
			return m
		}
		v = rest
	}
}

// runPod reads kubectl exec and other tools that run a command elsewhere.
func (r *reader) runPod(f *frame, k *call, name string) Word {
	r.wrapper(f, k)
	g := grammar{
		values: "ncfMDu",
		long: "namespace container context cluster kubeconfig filename user machine directory command project zone app image overrides " +
			"name distribution bind bind-ro setenv",
		permute: true,
	}
	cut := slices.IndexFunc(k.argv, func(w Word) bool { return w.Is("--") })
	head, argv := k.argv[1:], []Word(nil)
	if cut > 0 {
		head, argv = k.argv[1:cut], k.argv[cut+1:]
	}
	opts, rest := g.parse(head)
	h := f.at(k, name)
	h.remote = &Remote{Kind: RemotePod, Target: r.code(rest)}
	return r.scoped(func() Word {
		if !strings.HasPrefix(name, "wsl") {
			r.freshCwd()
		}
		if code, ok := opts.get("command"); ok {
			return r.carried(h, code, name)
		}
		if argv == nil {
			argv = podTail(rest, name)
		}
		if len(argv) == 0 {
			return outputOf(name)
		}
		return r.run(h, &call{argv: argv, span: k.span, external: true})
	})
}

// podTail is the command among the operands when no -- marks it.
func podTail(rest []Word, name string) []Word {
	for i, w := range rest {
		if w.Is("exec") || w.Is("shell") || w.Is("run") && name != "kubectl" && name != "oc" {
			return tail(rest, i+2)
		}
	}
	if strings.HasPrefix(name, "wsl") {
		return rest
	}
	if name == "systemd-nspawn" {
		return rest
	}
	return nil
}

// runGit reads git: commands that its settings name.
func (r *reader) runGit(f *frame, k *call) Word {
	g := grammar{values: "cC", long: "git-dir work-tree namespace exec-path config-env super-prefix"}
	opts, rest := g.parse(k.argv[1:])
	h := f.at(k, "git -c")
	h.conditional = true
	for _, setting := range opts.all("c") {
		name, value, _ := setting.splitAt("=")
		key, _ := name.Text()
		if len(rest) > 0 {
			if alias, ok := strings.CutPrefix(strings.ToLower(key), "alias."); ok && !rest[0].Is(alias) {
				continue
			}
		}
		r.gitSetting(h, key, value, tail(rest, 1))
	}
	if len(rest) == 0 {
		return r.plain(f, k)
	}
	return r.scoped(func() Word {
		for _, dir := range opts.all("C") {
			r.st.set(keyCwd, r.resolvePath(dir))
		}
		out := r.plain(f, k)
		r.gitVerb(f, k, rest)
		return out
	})
}

// gitSetting reads a setting whose value git runs.
func (r *reader) gitSetting(f *frame, key string, value Word, args []Word) {
	low := strings.ToLower(key)
	s := value.Prefix()
	switch {
	case strings.HasPrefix(low, "alias."):
		if strings.HasPrefix(s, "!") {
			code := append([]Word{value.cut(1)}, args...)
			r.carried(f, r.code(code), "git alias")
		}
	case low == "core.pager" || low == "core.editor" || low == "core.sshcommand" || low == "core.fsmonitor" ||
		low == "core.askpass" || low == "sequence.editor" || low == "diff.external" || low == "core.gitproxy" ||
		low == "credential.helper" && strings.HasPrefix(s, "!") || strings.HasPrefix(low, "pager.") ||
		low == "gpg.program" || strings.HasPrefix(low, "filter.") || strings.HasSuffix(low, ".textconv") ||
		strings.HasPrefix(low, "difftool.") || strings.HasPrefix(low, "mergetool.") || low == "uploadpack.packobjectshook":
		if s == "true" || s == "false" || value.Is("") {
			return
		}
		if strings.HasPrefix(s, "!") {
			value = value.cut(1)
		}
		r.carried(f, value, "git "+key)
	}
}

// gitVerb reads the subcommands of git that run a command.
func (r *reader) gitVerb(f *frame, k *call, rest []Word) {
	verb, _ := rest[0].Text()
	args := rest[1:]
	h := f.at(k, "git "+verb)
	h.inLoop = true
	switch verb {
	case "config":
		_, ops := grammar{values: "f", long: "file blob type default"}.parse(args)
		if len(ops) > 0 && ops[0].Is("set") {
			ops = ops[1:]
		}
		if len(ops) > 1 {
			key, _ := ops[0].Text()
			h.conditional = true
			r.gitSetting(h, key, ops[1], nil)
		}
	case "submodule":
		if i := slices.IndexFunc(args, func(w Word) bool { return w.Is("foreach") }); i >= 0 {
			_, ops := grammar{}.parse(args[i+1:])
			r.carriedIfAny(h, ops, "git submodule foreach")
		}
	case "bisect":
		if len(args) > 1 && args[0].Is("run") {
			r.run(h, &call{argv: args[1:], span: k.span, external: true})
		}
	case "rebase":
		opts, _ := grammar{values: "xsXCm", long: "exec onto strategy strategy-option", permute: true}.parse(args)
		for _, code := range opts.all("x", "exec") {
			r.carried(h, code, "git rebase --exec")
		}
	case "filter-branch":
		opts, _ := grammar{long: "env-filter tree-filter index-filter parent-filter msg-filter commit-filter tag-name-filter", permute: true}.parse(args)
		for _, o := range opts {
			if strings.HasSuffix(o.name, "-filter") && o.has {
				r.carried(h, o.value, "git filter-branch")
			}
		}
	case "difftool", "mergetool":
		opts, _ := grammar{values: "x", long: "extcmd", permute: true}.parse(args)
		for _, code := range opts.all("x", "extcmd") {
			r.carried(h, code, "git difftool")
		}
	case "clone", "fetch", "pull", "push", "ls-remote":
		opts, ops := grammar{values: "uco", long: "upload-pack receive-pack exec config", permute: true}.parse(args)
		for _, code := range opts.all("u", "upload-pack", "receive-pack", "exec") {
			r.carried(h, code, "git --upload-pack")
		}
		for _, w := range ops {
			if strings.HasPrefix(w.Prefix(), "ext::") {
				r.carried(h, w.cut(len("ext::")), "git ext::")
			}
		}
	}
}

func (r *reader) carriedIfAny(f *frame, words []Word, by string) {
	if len(words) > 0 {
		r.carried(f, r.code(words), by)
	}
}

// runJob reads at, batch and crontab, which take commands from their input.
func (r *reader) runJob(f *frame, k *call, name string) Word {
	r.wrapper(f, k)
	g := f.at(k, name)
	g.stdin = Input{}
	opts, rest := grammar{values: "fqtu", permute: true}.parse(k.argv[1:])
	text := f.stdin.Text
	known := f.stdin.Kind != InputInherited
	if file, ok := opts.get("f"); ok && name == "at" && r.written(file) {
		text, known = r.content(f, file), true
	}
	if name == "crontab" {
		if len(rest) > 0 && !rest[0].Is("-") {
			if !r.written(rest[0]) {
				return Word{}
			}
			text, known = r.content(f, rest[0]), true
		}
		if known {
			r.crontab(g, text)
		}
		return Word{}
	}
	if known && !opts.any("l", "d", "r", "c") {
		return r.carried(g, text, name)
	}
	return Word{}
}

// crontab reads the commands of a table: what follows five fields of time, or
// one of the @names.
func (r *reader) crontab(f *frame, text Word) {
	for _, l := range text.lines() {
		s := strings.TrimLeft(l.Prefix(), " \t")
		l = l.cut(len(l.Prefix()) - len(s))
		if s == "" || s[0] == '#' {
			continue
		}
		n := 5
		if s[0] == '@' {
			n = 1
		}
		ok := true
		for range n {
			s = l.Prefix()
			i := strings.IndexAny(s, " \t")
			if i < 0 {
				ok = false
				break
			}
			l = l.cut(len(s) - len(strings.TrimLeft(s[i:], " \t")))
		}
		if ok {
			r.carried(f, l, "crontab")
		}
	}
}

// runTmux reads tmux and screen: commands for new windows and typed keys.
func (r *reader) runTmux(f *frame, k *call, name string) Word {
	r.wrapper(f, k)
	h := f.at(k, name)
	if name == "screen" {
		opts, rest := grammar{values: "cehpSstTX"}.parse(k.argv[1:])
		if opts.any("X") {
			if v, _ := opts.get("X"); v.Is("stuff") {
				r.carriedIfAny(h, rest, name)
			}
			return Word{}
		}
		if len(rest) > 0 && !opts.any("r", "x", "ls", "l") {
			return r.run(h, &call{argv: rest, span: k.span, external: true})
		}
		return Word{}
	}
	_, rest := grammar{values: "cfLST"}.parse(k.argv[1:])
	if len(rest) == 0 {
		return Word{}
	}
	verb, _ := rest[0].Text()
	_, ops := grammar{values: "cntsxyFeEbpl"}.parse(rest[1:])
	switch verb {
	case "new-session", "new", "new-window", "neww", "split-window", "splitw", "respawn-pane", "respawn-window", "run-shell",
		"run", "if-shell", "if", "pipe-pane", "display-popup", "popup":
		if len(ops) == 1 {
			return r.carried(h, ops[0], name)
		}
		if len(ops) > 1 {
			r.carried(h, r.code(ops), name)
		}
	case "send-keys", "send":
		r.sentKeys(h, ops)
	}
	return Word{}
}

// sentKeys reads what is typed into a terminal.
func (r *reader) sentKeys(f *frame, ops []Word) {
	var b builder
	for _, w := range ops {
		switch {
		case w.Is("Enter") || w.Is("C-m") || w.Is("KPEnter") || w.Is("C-j"):
			b.addText("\n")
		case w.Is("Space"):
			b.addText(" ")
		default:
			b.addWord(w)
		}
	}
	if !b.empty() {
		r.carried(f, b.word(), "tmux send-keys")
	}
}

// runMake reads make: a makefile from its input, and settings that run code.
func (r *reader) runMake(f *frame, k *call) Word {
	opts, rest := grammar{values: "CfIjloWE", long: "directory file makefile eval old-file what-if jobs", permute: true}.parse(k.argv[1:])
	return r.scoped(func() Word {
		if dir, ok := opts.get("C", "directory"); ok {
			r.st.set(keyCwd, r.resolvePath(dir))
		}
		out := r.plain(f, k)
		g := f.at(k, "make")
		g.stdin = Input{}
		for _, text := range opts.all("E", "eval") {
			r.makefile(g, text)
		}
		for _, file := range opts.all("f", "file", "makefile") {
			if isStdin(file) && f.stdin.Kind == InputText || r.written(file) {
				r.makefile(g, r.content(f, file))
			}
		}
		if !opts.any("f", "file", "makefile") && r.written(Text("Makefile")) {
			r.makefile(g, r.content(f, Text("Makefile")))
		}
		for _, w := range rest {
			if name, value, ok := w.splitAt("="); ok && name.Is("SHELL") {
				r.carried(g, value, "make SHELL=")
			}
		}
		return out
	})
}

// makefile reads the recipes and the $(shell …) of a makefile.
func (r *reader) makefile(f *frame, text Word) {
	r.codeProblem(f, text, "make")
	for _, l := range text.lines() {
		for rest := l; ; {
			_, after, ok := rest.splitAt("$(shell ")
			if !ok {
				break
			}
			code, more, _ := after.splitAt(")")
			r.carried(f, code, "make $(shell)")
			rest = more
		}
		s := l.Prefix()
		if _, recipe, ok := l.splitAt(";"); ok && strings.Contains(s, ":") && !strings.HasPrefix(s, "\t") {
			l, s = recipe, "\t"+recipe.Prefix()
		}
		if strings.HasPrefix(s, "\t") {
			cut := len(l.Prefix()) - len(strings.TrimLeft(l.Prefix(), "\t@-+ "))
			code := l.cut(cut).mapText(func(s string) string { return strings.ReplaceAll(s, "$$", "$") })
			if !code.Is("") {
				r.carried(f, code, "make")
			}
		}
	}
}

// runMove reads cp, mv, ln and install, which give a known content another
// name.
func (r *reader) runMove(f *frame, k *call) Word {
	r.plain(f, k)
	g := grammar{values: "tSmog", long: "target-directory suffix mode owner group backup", permute: true}
	opts, rest := g.parse(k.argv[1:])
	if len(rest) != 2 || opts.any("t", "target-directory") {
		return Word{}
	}
	if r.written(rest[0]) || isStdin(rest[0]) {
		r.writeFile(f, rest[1], r.content(f, rest[0]), false)
	}
	return Word{}
}

// runTee reads tee, which writes its input to files.
func (r *reader) runTee(f *frame, k *call) Word {
	out := r.plain(f, k)
	opts, rest := grammar{long: "output-error", permute: true}.parse(k.argv[1:])
	for _, w := range rest {
		r.writeFile(f, w, f.stdin.Text, opts.any("a", "append"))
	}
	return out
}

// runDownload reads programs that write what they fetch to a file.
func (r *reader) runDownload(f *frame, k *call, name string) Word {
	out := r.plain(f, k)
	fetched := NewWord(Part{Kind: PartUnknown, From: name, MayBeEmpty: true, Remote: true})
	var g grammar
	if name == "curl" {
		g = grammar{values: "AbcCdDeEFhHKmoPQrtTuUwxXyYz", long: "output data header user-agent request url form cookie cookie-jar max-time retry user proxy output-dir", permute: true}
	} else {
		g = grammar{values: "aoiOPtTUdQlAeBDRIX", long: "output-document output-file directory-prefix header user-agent post-data out dir tries timeout", permute: true}
	}
	opts, rest := g.parse(k.argv[1:])
	for _, file := range opts.all("o", "O", "output", "output-document", "out") {
		if name == "wget" && !opts.any("O", "output-document") {
			break
		}
		r.writeFile(f, file, fetched, false)
	}
	remoteName := name == "wget" && !opts.any("O", "output-document") || name == "curl" && opts.any("O", "remote-name") || name == "aria2c"
	for _, url := range rest {
		if s, ok := url.Text(); ok && remoteName {
			s, _, _ = strings.Cut(s, "?")
			if i := strings.LastIndexByte(s, '/'); i >= 0 && i+1 < len(s) {
				r.writeFile(f, Text(s[i+1:]), fetched, false)
			}
		}
	}
	return out
}

// runSed reads sed, whose scripts may run commands.
func (r *reader) runSed(f *frame, k *call) Word {
	out := r.plain(f, k)
	opts, rest := grammar{values: "efl", long: "expression file line-length", permute: true}.parse(k.argv[1:])
	scripts := opts.all("e", "expression")
	if len(scripts) == 0 && !opts.any("f", "file") && len(rest) > 0 {
		scripts = rest[:1]
	}
	g := f.at(k, "sed")
	g.stdin = Input{}
	for _, s := range scripts {
		r.sedCode(g, s, f.stdin.Text)
	}
	return out
}

// sedCode reads the e command and the e flag of a sed script.
func (r *reader) sedCode(f *frame, script, in Word) {
	for _, l := range script.lines() {
		s := strings.TrimLeft(l.Prefix(), "0123456789,$!;{} \t")
		if code, ok := strings.CutPrefix(s, "e "); ok {
			r.carried(f, l.cut(len(l.Prefix())-len(code)), "sed e")
			continue
		}
		text, ok := l.Text()
		if !ok || len(s) < 2 || s[0] != 's' {
			continue
		}
		_, with, flags, _, ok := sedCommand(s)
		if !ok || !strings.Contains(flags, "e") {
			continue
		}
		if out, known := r.sedOutput(in, []Word{Text(strings.TrimSuffix(text, flags))}); known {
			r.carried(f, out, "sed s///e")
			continue
		}
		r.carried(f, Text(strings.ReplaceAll(with, `\/`, "/")), "sed s///e")
	}
}

// lateCommand reads the code of programs that take it in ways of their own.
func (r *reader) lateCommand(f *frame, k *call, name string) {
	switch name {
	case "socat":
		for _, w := range k.argv[1:] {
			r.socatAddress(f, w)
		}
	case "nc", "ncat", "netcat":
		opts, _ := grammar{values: "ecsgGiIpqwWxXTOPVm", long: "exec sh-exec", permute: true}.parse(k.argv[1:])
		for _, code := range opts.all("e", "c", "exec", "sh-exec") {
			r.carried(f, code, name)
		}
	case "vim", "vi", "nvim", "ex", "view", "ed", "emacs":
		r.editorCode(f, k, name)
	case "psql", "sqlite3", "mysql":
		r.clientCode(f, k, name)
	case "npx", "bunx":
		_, rest := grammar{values: "pc", long: "package call"}.parse(k.argv[1:])
		if len(rest) > 0 {
			r.run(f, &call{argv: rest, span: k.span, external: true})
		}
	case "npm", "pnpm", "yarn":
		_, rest := grammar{values: "C", long: "prefix workspace"}.parse(k.argv[1:])
		if len(rest) > 1 && (rest[0].Is("exec") || rest[0].Is("x") || rest[0].Is("dlx")) {
			_, rest = grammar{values: "pc", long: "package call"}.parse(rest[1:])
			if len(rest) > 0 {
				r.run(f, &call{argv: rest, span: k.span, external: true})
			}
		}
	case "fd", "fdfind":
		for i, w := range k.argv {
			if (w.Is("-x") || w.Is("-X") || w.Is("--exec") || w.Is("--exec-batch")) && i+1 < len(k.argv) {
				r.run(f, &call{argv: k.argv[i+1:], span: k.span, external: true})
			}
		}
	case "xterm", "konsole", "alacritty", "gnome-terminal", "kitty":
		for i, w := range k.argv {
			if (w.Is("-e") || w.Is("--") || w.Is("-x")) && i+1 < len(k.argv) {
				r.run(f, &call{argv: k.argv[i+1:], span: k.span, external: true})
				break
			}
		}
	case "cmake":
		r.cmakeCommand(f, k)
	case "concurrently", "entr":
		_, rest := grammar{values: "nckp", long: "names prefix"}.parse(k.argv[1:])
		if name == "entr" && len(rest) > 0 {
			r.run(f, &call{argv: rest, span: k.span, external: true})
			return
		}
		for _, w := range rest {
			r.carried(f, w, name)
		}
	}
}

// cmakeCommand reads cmake -E, a wrapper and a set of file tools.
func (r *reader) cmakeCommand(f *frame, k *call) {
	if len(k.argv) < 3 || !k.argv[1].Is("-E") {
		return
	}
	rest := k.argv[2:]
	switch {
	case rest[0].Is("env") || rest[0].Is("time"):
		_, rest = leadingAssigns(rest[1:])
		if len(rest) > 0 {
			r.run(f, &call{argv: rest, span: k.span, external: true})
		}
	case rest[0].Is("rm") || rest[0].Is("remove") || rest[0].Is("remove_directory"):
		r.run(f, &call{argv: append([]Word{Text("rm"), Text("-r")}, rest[1:]...), span: k.span, external: true})
	}
}

// socatAddress reads EXEC:… and SYSTEM:… addresses.
func (r *reader) socatAddress(f *frame, w Word) {
	s := w.Prefix()
	kind, _, ok := strings.Cut(s, ":")
	if !ok {
		return
	}
	switch strings.ToUpper(kind) {
	case "EXEC", "SYSTEM", "SHELL":
		code := w.cut(len(kind) + 1)
		if t, static := code.Text(); static {
			code = Text(strings.ReplaceAll(t, `\ `, " "))
		}
		r.carried(f, code, "socat")
	}
}

// editorCode reads commands that an editor is told to run: :!code.
func (r *reader) editorCode(f *frame, k *call, name string) {
	texts := append([]Word(nil), k.argv[1:]...)
	if f.stdin.Kind == InputText {
		texts = append(texts, f.stdin.Text.lines()...)
	}
	for i, w := range texts {
		s := strings.TrimLeft(w.Prefix(), "+: ")
		lead := len(w.Prefix()) - len(s)
		fromOption := strings.HasPrefix(w.Prefix(), "+") || i > 0 && i < len(k.argv)-1 && (texts[i-1].Is("-c") || texts[i-1].Is("--cmd"))
		if (fromOption || i >= len(k.argv)-1) && strings.HasPrefix(s, "!") {
			r.carried(f, w.cut(lead+1), name)
		}
	}
}

// clientCode reads the shell escapes of database clients.
func (r *reader) clientCode(f *frame, k *call, name string) {
	escapes := map[string][]string{"psql": {`\! `, `\!`}, "sqlite3": {".shell ", ".system "}, "mysql": {`\! `, "system "}}
	texts := append([]Word(nil), k.argv[1:]...)
	if f.stdin.Kind == InputText {
		texts = append(texts, f.stdin.Text.lines()...)
	}
	for _, w := range texts {
		for _, e := range escapes[name] {
			if strings.HasPrefix(strings.TrimSpace(w.Prefix()), e) {
				_, code, _ := w.splitAt(e)
				r.carried(f, code, name)
				break
			}
		}
	}
}

// scanTail looks for a destructive command among the words of a program that
// is not known, which may be a wrapper.
func (r *reader) scanTail(f *frame, k *call) {
	name := baseName(k.argv[0])
	if len(k.argv) < 3 || harmlessWords(name) || programs[versionless(name)] != kindPlain || builtins[name] != kindPlain {
		return
	}
	if _, known := prefixes[name]; known {
		return
	}
	for i := 1; i < len(k.argv)-1; i++ {
		if !destructive(baseName(k.argv[i])) || strings.HasSuffix(k.argv[i].Suffix(), "/") {
			continue
		}
		g := f.at(k, name+"?")
		g.conditional = true
		r.run(g, &call{argv: k.argv[i:], span: k.span, external: true})
		return
	}
}

// destructive reports whether a program's name alone is worth a second look.
func destructive(name string) bool {
	switch name {
	case "rm", "dd", "shred", "wipefs", "blkdiscard", "mkswap", "mke2fs", "chmod", "chown", "chgrp", "fdisk", "sfdisk",
		"sgdisk", "parted", "sh", "bash", "zsh", "dash", "ksh", "eval", "sudo", "srm", "truncate", "unlink", "rmdir":
		return true
	}
	return strings.HasPrefix(name, "mkfs")
}

// harmlessWords reports whether the words of a program are certainly no
// command.
func harmlessWords(name string) bool {
	switch name {
	case "echo", "printf", "grep", "egrep", "fgrep", "rg", "ag", "ack", "man", "which", "type", "whereis", "info", "apropos",
		"whatis", "tldr", "help", "logger", "say", "notify-send", "cowsay", "figlet", "wall", "write", "mail", "git", "gh",
		"glab", "hg", "svn", "apt", "apt-get", "aptitude", "dnf", "yum", "pacman", "brew", "snap", "pip", "pip3", "npm", "cargo",
		"go", "gem", "test", "[", "ls", "cat", "head", "tail", "stat", "file", "wc", "diff", "cmp", "cp", "mv", "ln", "rm",
		"mkdir", "touch", "chmod", "chown", "chgrp", "export", "declare", "local", "alias", "unalias", "set", "unset",
		"docker", "podman", "kubectl", "helm", "aws", "gcloud", "az", "terraform", "systemctl", "service", "pgrep", "pkill",
		"killall", "kill", "pidof", "ps", "dpkg", "rpm", "expr", "hash", "compgen", "complete", "chsh", "usermod",
		"useradd", "update-alternatives", "sed", "awk", "jq", "yq", "tee", "sort", "uniq", "tr", "cut", "paste", "rsync",
		"scp", "tar", "zip", "unzip", "curl", "wget", "ping", "set-x", "shellcheck", "shfmt", "apk", "dd", "shred", "select":
		return true
	}
	return false
}
