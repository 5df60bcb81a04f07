package shell

import (
	"slices"
	"strings"
)

// runPrefix reads a call of a program that runs the command it is given.
//
//nolint:cyclop,funlen // One case per form that the grammar knows.
func (r *reader) runPrefix(f *frame, k *call, name string, p prefix) Word {
	opts, rest := p.parse(k.argv[1:])
	if name == "setarch" && len(rest) > 0 && architecture(rest[0]) {
		opts, rest = p.parse(rest[1:])
	}
	via := name
	g := f.at(k, via)
	r.prefixFrame(g, opts, p)
	var assigns []Assign
	if p.assigns {
		assigns, rest = leadingAssigns(rest)
	}
	if p.verbs != "" && (len(rest) == 0 || !hasField(p.verbs, rest[0])) || len(rest) > 0 && hasField(p.others, rest[0]) {
		return r.plain(f, k)
	}
	if p.verbs != "" {
		if before, after := cutAt(rest, "--"); after != nil && len(before) >= 1 {
			rest = slices.Concat(rest[:min(p.skip, len(before))], after)
			for len(rest) < p.skip {
				rest = append(rest, Word{})
			}
		}
	}
	listed := p.own
	var out Word
	for _, code := range opts.all(p.code...) {
		listed = true
		out = r.carried(g, code, name)
	}
	if listed {
		r.wrapper(f, k)
	}
	if program, ok := opts.get(p.exec...); ok {
		rest = append([]Word{program}, rest...)
	}
	if len(rest) > p.skip+1 && len(p.code) > 0 && (rest[p.skip].Is("-c") || rest[p.skip].Is("--command")) {
		r.wrapper(f, k)
		return r.carried(g, rest[p.skip+1], name) // flock FILE -c CODE
	}
	if len(rest) > p.skip {
		if p.root != nil || name == "chroot" {
			g.remote = r.rootOf(opts, p, rest)
		}
		rest = rest[p.skip:]
	} else {
		rest = nil
	}
	if len(rest) == 0 || opts.any(p.unless...) || slices.Contains(p.unless, "*") {
		if !listed {
			return r.plain(f, k)
		}
		return out
	}
	if _, ok := p.chdirOf(opts); ok {
		mark := r.st.mark()
		dir, _ := p.chdirOf(opts)
		r.st.set(keyCwd, r.resolvePath(dir))
		defer func() { r.st.rollbackButFiles(mark) }()
	}
	g.assigns = append(g.assigns, assigns...)
	if opts.any("i", "s", "login", "shell") && p.assigns {
		// A login shell is given the words as code.
		r.run(g, &call{argv: rest, redirs: k.redirs, span: k.span, external: true})
		return r.carried(g, r.code(rest), name)
	}
	if p.words && !opts.any("x", "exec") {
		return r.carried(g, r.code(rest), name)
	}
	return r.run(g, &call{argv: rest, redirs: k.redirs, span: k.span, external: name != "exec"})
}

func hasField(list string, w Word) bool {
	for s := range strings.FieldsSeq(list) {
		if w.Is(s) {
			return true
		}
	}
	return false
}

func (p prefix) chdirOf(opts options) (Word, bool) { return opts.get(p.chdir...) }

func (r *reader) prefixFrame(g *frame, opts options, p prefix) {
	if p.privileged {
		g.privileged = true
	}
	if opts.any("T") && len(g.via) > 0 && g.via[len(g.via)-1] == "strace" {
		g.privileged = g.privileged || opts.any("u")
	}
}

// rootOf is the other root below which a command runs.
func (r *reader) rootOf(opts options, p prefix, rest []Word) *Remote {
	if root, ok := opts.get(p.root...); ok {
		return &Remote{Kind: RemoteRoot, Target: root, Mounts: []Mount{{Host: root, Inside: Text("/")}}}
	}
	if p.root == nil && p.skip > 0 {
		return &Remote{Kind: RemoteRoot, Target: rest[0], Mounts: []Mount{{Host: rest[0], Inside: Text("/")}}}
	}
	return nil
}

// runEnv reads a call of env.
func (r *reader) runEnv(f *frame, k *call) Word {
	if words, ok := r.envSplit(f, k.argv[1:]); ok {
		return r.runEnv(f, &call{argv: append(k.argv[:1:1], words...), redirs: k.redirs, assigns: k.assigns, span: k.span})
	}
	opts, rest := envGrammar().parse(k.argv[1:])
	if len(rest) > 0 && rest[0].Is("-") {
		rest = rest[1:]
	}
	assigns, rest := leadingAssigns(rest)
	if len(rest) == 0 {
		return r.plain(f, k)
	}
	h := f.at(k, "env")
	h.assigns = append(h.assigns, assigns...)
	inner := &call{argv: rest, redirs: k.redirs, span: k.span, external: true}
	if len(assigns) > 0 {
		r.codeInAssigns(h, &call{argv: rest, assigns: assigns, span: k.span})
	}
	return r.scoped(func() Word {
		for _, a := range assigns {
			r.assign(h, a.Name, a.Value)
		}
		if dir, ok := opts.get("C", "chdir"); ok {
			r.st.set(keyCwd, r.resolvePath(dir))
		}
		return r.run(h, inner)
	})
}

func envGrammar() grammar { return grammar{values: "uCP", long: "unset chdir"} }

// envSplit replaces the first -S option by the words of its text; what follows
// it are further words, options included.
//
//nolint:cyclop // One case per form that the grammar knows.
func (r *reader) envSplit(f *frame, words []Word) ([]Word, bool) {
	for i := 0; i < len(words); i++ {
		s := words[i].Prefix()
		var text Word
		next := i + 1
		switch at := strings.IndexByte(s, 'S'); {
		case strings.HasPrefix(s, "--split-string="):
			text = words[i].cut(len("--split-string="))
		case s == "--split-string" && next < len(words):
			text = words[next]
			next++
		case len(s) < 2 || s[0] != '-' || s == "--":
			return nil, false
		case s[1] != '-' && at > 0 && !strings.ContainsAny(s[1:at], "uCP"):
			text = words[i].cut(at + 1)
			if text.Is("") && next < len(words) {
				text = words[next]
				next++
			}
		case s == "-u" || s == "-C" || s == "-P" || s == "--unset" || s == "--chdir":
			i++
			continue
		default:
			continue
		}
		return slices.Concat(words[:i], r.splitEnv(f, r.splice(text)), words[next:]), true
	}
	return nil, false
}

// scoped reads something in a copy of the shell's state.
func (r *reader) scoped(read func() Word) Word {
	var out Word
	r.isolated(func() { out = read() })
	return out
}

// splitEnv splits the text of env -S, which knows quotes and ${NAME}, but no
// other expansion.
//
//nolint:cyclop // One case per form that the grammar knows.
func (r *reader) splitEnv(f *frame, text string) []Word {
	if !r.step(f, len(text)/8) {
		return nil
	}
	var out []Word
	var b strings.Builder
	quote, has := byte(0), false
	flush := func() {
		if has || b.Len() > 0 {
			out = append(out, r.fillHoles(b.String()))
		}
		b.Reset()
		has = false
	}
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '\\' && i+1 < len(text) && quote != '\'':
			i++
			if text[i] == '_' && quote == 0 {
				flush()
				continue
			}
			b.WriteString(ansiC("\\" + text[i:i+1]))
		case quote == 0 && (c == '"' || c == '\''):
			quote, has = c, true
		case c == quote:
			quote = 0
		case quote == 0 && strings.IndexByte(" \t\n\v\f\r", c) >= 0:
			flush()
		case c == '$' && quote != '\'' && strings.HasPrefix(text[i:], "${"):
			if end := strings.IndexByte(text[i:], '}'); end > 0 {
				v, _ := r.variable(text[i+2 : i+end])
				b.WriteString(r.splice(v))
				i += end
				continue
			}
			b.WriteByte(c)
		default:
			b.WriteByte(c)
		}
	}
	flush()
	return out
}

// variable is the value of a plain variable.
func (r *reader) variable(name string) (Word, bool) {
	e := r.st.get(name)
	switch {
	case e == nil:
		return unknown(name), true
	case e.isList && len(e.list) > 0:
		return e.list[0], true
	case e.unset || len(e.vals) == 0:
		return Word{}, false
	}
	return e.vals[r.pick(name, len(e.vals))], true
}

// runMulticall reads busybox and toybox: the first operand names the program.
func (r *reader) runMulticall(f *frame, k *call, name string) Word {
	rest := k.argv[1:]
	if len(rest) == 0 || strings.HasPrefix(rest[0].Prefix(), "-") {
		return r.plain(f, k)
	}
	return r.inner(f, k, name, rest)
}

// runSu reads su, runuser and machinectl shell: a user, and code by -c.
func (r *reader) runSu(f *frame, k *call, name string) Word {
	g := grammar{values: "cgGsTwu", long: "command group supp-group shell session-command whitelist-environment user", permute: true}
	opts, rest := g.parse(k.argv[1:])
	h := f.at(k, name)
	h.privileged = true
	code := opts.all("c", "command", "session-command")
	switch {
	case len(code) > 0:
		return r.carried(h, code[len(code)-1], name)
	case name == "runuser" && opts.any("u", "user") && len(rest) > 0:
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

// architecture reports whether a word is the machine that setarch may be given.
func architecture(w Word) bool {
	s, _ := w.Text()
	switch s {
	case "linux32", "linux64", "i386", "i486", "i586", "i686", "x86_64", "amd64", "athlon", "uname26", "aarch64", "arm64", "ppc", "ppc64", "ppc64le",
		"s390", "s390x", "riscv64":
		return true
	}
	return strings.HasPrefix(s, "arm")
}
