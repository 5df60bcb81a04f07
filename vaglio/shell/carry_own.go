package shell

import (
	"path"
	"slices"
	"strings"

	"github.com/metnos/vaglio/internal/lists"
	"github.com/metnos/vaglio/vaglio/shell/word"
	"github.com/metnos/vaglio/vaglio/wording"
)

// splitByEnv parses the words behind env. Its -S is the last option: the words in line and rest follow.
func splitByEnv(words []Word) (opts options, line Word, split bool, rest []Word) {
	g := optionsFirst("env")
	g.Last = []string{"-S", "--split-string"}
	opts, rest = g.parse(words)
	line, split = opts.Get("S", "split-string")
	return opts, line, split, rest
}

func (r *reader) runEnv(f *frame, k *call, p *program, name string) Word {
	opts, text, split, rest := splitByEnv(k.argv[1:])
	if split {
		line := k.argv[:1:1]
		if dir, ok := opts.Get(p.chdir...); ok {
			line = append(line, Text("-C"), Text(r.quote(dir)))
		}
		line = append(append(line, text), lists.Each(rest, func(w Word) Word { return Text(r.quote(w)) })...)
		return r.carried(f.at(k, name), Spaced(line), "env -S")
	}
	if opts.any("i", "ignore-environment") || len(rest) > 0 && rest[0].Is("-") {
		name = "env -i"
	}
	return r.runOperands(f, k, p, name)
}

// variable returns the value of a plain variable; of an array, its first element.
func (r *reader) variable(name string) (Word, bool) {
	e := r.st.get(name)
	switch {
	case e == nil:
		return word.Unknown(name), true
	case e.isList && len(e.list) > 0:
		return r.arrayLookup(nil, r.array(name), name, nil), true
	}
	return r.value(name)
}

// runSu reads su and its like, which take a user, and code by -c.
func (r *reader) runSu(f *frame, k *call, p *program, name string) Word {
	opts, rest := p.parse(k.argv[1:])
	h := f.at(k, name)
	user := append(slices.DeleteFunc(slices.Clone(rest), func(w Word) bool { return w.Is("-") }), Text("root"))[0]
	if named, ok := opts.Get(p.argvWith...); ok {
		user = named
	}
	if p.privileged {
		h.raised(user)
	}
	return r.scoped(func() Word {
		if !opts.any(p.keeps...) {
			r.becomes(h, user, opts.any(p.enters...) || slices.ContainsFunc(rest, func(w Word) bool { return w.Is("-") }))
		}
		return r.suRuns(h, k, p, name, opts, rest)
	})
}

// suRuns reads what su and its like run.
func (r *reader) suRuns(h *frame, k *call, p *program, name string, opts options, rest []Word) Word {
	switch code := opts.all(p.line...); {
	case len(code) > 0:
		return r.carried(h, code[len(code)-1], name)
	case opts.any(p.argvWith...) && len(rest) > 0:
		command := p.grammar
		command.Leading = true // what follows the command's name are its own options
		_, rest = command.parse(k.argv[1:])
		return r.run(h, &call{argv: rest, redirs: k.redirs, span: k.span, external: true})
	}
	// su root -- -c "…" hands the rest to the shell.
	for i, w := range rest {
		if s := w.Prefix(); strings.HasPrefix(s, "-") && strings.HasSuffix(s, "c") && i+1 < len(rest) {
			return r.carried(h, rest[i+1], name)
		}
	}
	r.emit(h, Command{Argv: k.argv, Redirects: k.redirs, Span: k.span})
	if h.stdin.Kind != InputInherited {
		return r.carried(h, h.stdin.Text, name)
	}
	return Word{}
}

// runSSH reads ssh and its like, which run a command on another machine.
func (r *reader) runSSH(f *frame, k *call, p *program, name string) Word {
	opts, rest := p.parse(k.argv[1:])
	out := r.plain(f, k)
	h := f.at(k, name)
	host, _ := opts.Get(p.at...)
	if p.from > 0 && len(rest) > 0 {
		var more options
		host = rest[0]
		more, rest = p.parse(rest[1:]) // options may follow the host
		opts = append(opts, more...)
	}
	g := f.at(k, name)
	g.Conditional = true
	for _, v := range opts.all(p.settings...) {
		r.setting(g, &p.way, v, name)
	}
	h.Remote = &Remote{Kind: RemoteHost, Target: host}
	switch {
	case len(rest) > 0:
		return r.onOther(func() Word { return r.carried(h, Spaced(rest), name) })
	case f.stdin.Kind == InputText && p.from > 0 && !host.Is(""):
		h.stdin = Input{}
		return r.onOther(func() Word { return r.carried(h, f.stdin.Text, name) })
	}
	return out
}

// onOther reads something on another machine.
func (r *reader) onOther(read func() Word) Word {
	return r.scoped(func() Word { r.freshCwd(); return read() })
}

// maxMounts is how many folders of a container are told apart: each word of its command is looked for in all of them.
const maxMounts = 64

// reachesOut reports whether options give a container variables, or a network with others.
func reachesOut(opts options, network Word) bool {
	return opts.any("e", "env", "env-file") || !slices.ContainsFunc([]string{"", "none", "bridge"}, network.Is)
}

// containerOf returns the container that the options describe.
func (r *reader) containerOf(f *frame, k *call, opts options, image Word) *Remote {
	network, _ := opts.Get("network", "net")
	composed := slices.ContainsFunc(k.argv, func(w Word) bool { return strings.HasSuffix(w.Suffix(), "compose") })
	out := &Remote{Kind: RemoteContainer, Target: image, HostNetwork: network.Is("host"), Mounts: mountsOf(opts)}
	out.Shares, out.Given, out.Filled = composed || opts.any("volumes-from"), reachesOut(opts, network), composed || opts.any("env-file")
	for i, m := range out.Mounts {
		if strings.HasPrefix(m.Host.Prefix(), ".") {
			out.Mounts[i].Host = r.resolvePath(m.Host)
		}
	}
	for _, o := range opts {
		space := o.name == "pid" || o.name == "userns" || o.name == "ipc"
		out.HostAccess = out.HostAccess || o.name == "privileged" || space && o.value.Is("host")
	}
	if len(out.Mounts) > maxMounts {
		r.problem(f, Problem{Kind: ProblemTooBig, Detail: wording.Say("a container has too many folders mounted"), Span: k.span})
		out.Mounts = out.Mounts[:maxMounts]
	}
	return out
}

// below returns where a command runs that changes the root of where it is: it sees the mounts there, and what else is below the new root unless in a container.
func (r *Remote) below(root Word) *Remote {
	if r == nil {
		return &Remote{Kind: RemoteRoot, Target: root, Mounts: []Mount{{Host: root, Inside: Text("/")}}}
	}
	in := *r
	in.Mounts = nil
	if r.Kind != RemoteContainer && r.Mounts == nil {
		in.Mounts = []Mount{{Host: root, Inside: Text("/")}}
	}
	to, known := root.Text()
	for _, m := range r.Mounts {
		at, ok := m.Inside.Text()
		to, at := path.Join(to, "x"), path.Join(at, "x") // for whole steps, "/" too
		deeper, above := strings.CutPrefix(to, at[:len(at)-1])
		inner, below := strings.CutPrefix(at, to[:len(to)-1])
		switch {
		case !ok || !known || deeper == "x":
			in.Mounts = append(in.Mounts, Mount{Host: m.Host, Inside: Text("/")})
		case above:
			in.Mounts = append(in.Mounts, Mount{Host: Glue(m.Host, Text(path.Dir("/"+deeper))), Inside: Text("/")})
		case below:
			in.Mounts = append(in.Mounts, Mount{Host: m.Host, Inside: Text(path.Dir("/" + inner))})
		}
	}
	return &in
}

// begins enters the folder in which a command elsewhere begins: the one that an option names, or else where a container has its caller's, as those for work do.
func (r *reader) begins(at *Remote, w *way, opts options, caller Word) {
	dir, ok := opts.Get(w.chdir...)
	for _, m := range at.Mounts {
		if !ok && m.Host.String() == caller.String() {
			dir, ok = m.Inside, true
		}
	}
	if ok {
		r.st.set(keyCwd, dir)
	}
}

// mountsOf returns the folders and devices of the host that the options give to a container.
func mountsOf(opts options) (out []Mount) {
	for _, v := range append(opts.all("v", "volume"), opts.all("mount")...) {
		if m, ok := MountOf(v); ok {
			out = append(out, m)
		}
	}
	for _, v := range opts.all("device") {
		host, _, _ := v.Split(":")
		out = append(out, Mount{Host: host, Inside: host})
	}
	return out
}

// MountOf reads what an option gives to a container: /a:/b:ro, or type=bind,source=/a,target=/b. It returns false if that names no place in the container.
func MountOf(v Word) (m Mount, ok bool) {
	for field, rest, more := v.Split(","); ; field, rest, more = rest.Split(",") {
		switch key, value, _ := field.Split("="); {
		case key.Is("source") || key.Is("src"):
			m.Host = value
		case key.Is("target") || key.Is("dst") || key.Is("destination"):
			m.Inside, ok = value, !value.Is("")
		case key.Is("readonly") || key.Is("ro"):
			m.ReadOnly = !value.Is("false")
		}
		if !more {
			break
		}
	}
	if host, inside, bound := v.Split(":"); bound && !ok {
		inside, how, _ := inside.Split(":")
		return Mount{host, inside, slices.Contains(strings.Split(how.String(), ","), "ro")}, true
	}
	return m, ok
}

// runFlake reads nix and guix, and INSTALLABLE#PROGRAM -- ARGUMENTS of nix run.
func (r *reader) runFlake(f *frame, k *call, p *program, name string) Word {
	out := r.runOptions(f, k, p, name)
	for i, w := range k.argv {
		if !w.Is("--") || i < 2 {
			continue
		}
		argv := k.argv[i+1:]
		_, program, ok := k.argv[i-1].Split("#")
		if ok {
			argv = append([]Word{program}, argv...)
		}
		if ok || name == "guix" && len(argv) > 0 {
			r.run(f.at(k, name), &call{argv: argv, span: k.span, external: true})
		}
		break
	}
	return out
}

// binding reads the actions of KEY:ACTION(line) that run a line.
func (r *reader) binding(f *frame, v Word, by string) {
	for _, action := range []string{"execute(", "execute-silent(", "execute:", "become(", "reload("} {
		if _, code, ok := v.Split(action); ok {
			if s, static := code.Text(); static && strings.HasSuffix(action, "(") {
				code = Text(strings.TrimSuffix(s, ")"))
			}
			r.carried(f, code, by)
		}
	}
}

// runGit reads git: the commands that its settings name, and the subcommands that run one.
func (r *reader) runGit(f *frame, k *call, p *program, name string) Word {
	opts, rest := p.parse(k.argv[1:])
	h := f.at(k, "git -c")
	h.Conditional = true
	settings := GitSettings(append(slices.Clone(f.assigns), k.assigns...))
	for _, setting := range opts.all(p.settings...) {
		key, value, _ := setting.Split("=")
		s, _ := key.Text()
		settings = append(settings, Assign{Name: s, Value: value})
	}
	for _, set := range settings {
		alias, isAlias := strings.CutPrefix(strings.ToLower(set.Name), "alias.")
		var args []Word
		if isAlias && len(rest) > 0 {
			if !rest[0].Is(alias) {
				continue
			}
			args = rest[1:]
		}
		r.settingOf(h, &p.way, set.Name, set.Value, args, name)
	}
	if len(rest) == 0 {
		return r.plain(f, k)
	}
	return r.scoped(func() Word {
		r.below(opts, &p.way)
		out := r.plain(f, k)
		if w, words := p.find(rest); w != nil {
			verb := name + " " + rest[0].Prefix()
			g := f.at(k, verb)
			g.InLoop = true
			r.carries(g, k, p, w, words, verb)
		}
		return out
	})
}

// GitSettings returns the settings of git that variables hold: GIT_CONFIG_KEY_n and GIT_CONFIG_VALUE_n.
func GitSettings(assigns []Assign) (out []Assign) {
	values := map[string]Word{}
	for _, a := range assigns {
		values[a.Name] = a.Value
	}
	for _, a := range assigns {
		n, ok := strings.CutPrefix(a.Name, "GIT_CONFIG_KEY_")
		if key, static := a.Value.Text(); ok && static {
			out = append(out, Assign{Name: key, Value: values["GIT_CONFIG_VALUE_"+n]})
		}
	}
	return out
}

// runsOperand reports whether a program runs the file that its first operand names.
func (r *reader) runsOperand(name string) bool {
	p := r.carriers.program(name)
	return name == "." || name == "source" || p != nil && p.script && !p.operand
}

// runElsewhere reads a program that runs a command on another machine or in a container.
func (r *reader) runElsewhere(f *frame, k *call, p *program, name string) Word {
	w, words, verb := &p.way, k.argv[1:], Word{}
	leading, rest := p.options(k)
	if len(p.ways) > 0 {
		if w, words = p.find(rest); w == nil {
			return r.listed(f, k, p, name)
		}
		verb = rest[0]
	}
	if w.run == runWhole {
		return r.inner(f, k, name, append([]Word{verb}, behindDashes(words)...))
	}
	opts, before, argv := p.command(w, words)
	h := r.remoteFrame(f, k, p, w, slices.Concat(leading, opts), before, name, verb)
	if program, ok := opts.Get(w.program...); ok {
		argv = append([]Word{program}, argv...)
	}
	if len(argv) == 0 && !opts.any(w.line...) {
		return r.listed(f, k, p, name)
	}
	r.wrapper(f, k)
	return r.scoped(func() Word {
		here := r.cwd()
		if !w.here {
			r.freshCwd()
		}
		r.begins(h.Remote, w, opts, here)
		for _, code := range opts.all(w.line...) {
			r.carried(h, word.JSONCommands(code), name)
		}
		if len(argv) == 0 {
			return word.OutputOf(name)
		}
		return r.operands(h, k, w, opts, argv, name, nil)
	})
}

// remoteFrame returns the frame of a command that runs elsewhere: in a container, or where an option or the operands before it say.
func (r *reader) remoteFrame(f *frame, k *call, p *program, w *way, opts options, before []Word, name string, verb Word) *frame {
	if file, ok := r.filePath(f.stdin.File); ok && f.stdin.Here && r.opts.Files != nil { // what it reads is this machine's
		_, _ = r.from(file)
		g := *f
		g.stdin.File, f = Text(file), &g
	}
	if p.container && len(before) > 0 {
		h := f.at(k, name+" "+verb.Prefix())
		h.Remote = r.containerOf(h, k, opts, before[0])
		return h
	}
	h := f.at(k, name)
	if where, ok := opts.Get(w.at...); ok {
		before = []Word{where}
	} else if in := opts.all("n", "namespace", "context"); len(in) > 0 && len(before) > 0 { // where the pod is
		before = append(slices.Clip(before), Text("("+word.Join(in, ", ").String()+")"))
	}
	h.Remote = &Remote{Kind: RemotePod, Target: Spaced(before)}
	if w.here {
		h.Remote.Kind, h.Remote.Mounts = RemoteContainer, []Mount{{Host: Text("/"), Inside: Text("/")}}
	}
	return h
}

// beyond returns the operands without a way's own options, and without the -- that ends them.
func (w *way) beyond(rest []Word) []Word {
	before, after := cutAt(rest, "--")
	if _, named := w.parse(before); after != nil && (w.dash || len(named) <= w.from) {
		head := named[:min(len(named), w.from)]
		return slices.Concat(head, make([]Word, w.from-len(head)), after)
	}
	if len(rest) > 0 && strings.HasPrefix(rest[0].Prefix(), "-") {
		_, rest = w.parse(rest)
	}
	return rest
}
