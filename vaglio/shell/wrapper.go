package shell

import "strings"

// runEnv reads a call of env.
func (r *reader) runEnv(f *frame, k *call, p *program, _ string) Word {
	g := p.grammar
	g.last = []string{"S", "split-string"}
	opts, rest := g.parse(k.argv[1:])
	if text, ok := opts.Get(g.last...); ok { // what follows it are further words, options included
		line := []Word{k.argv[0]}
		if dir, ok := opts.Get(p.chdir...); ok {
			line = append(line, Text("-C"), Text(r.quote(dir)))
		}
		line = append(line, text)
		for _, w := range rest {
			line = append(line, Text(r.quote(w)))
		}
		return r.carried(f.at(k, "env"), spaced(line), "env -S")
	}
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
		r.below(opts, &p.way)
		return r.run(h, inner)
	})
}

// variable is the value of a plain variable.
func (r *reader) variable(name string) (Word, bool) {
	e := r.st.get(name)
	switch {
	case e == nil:
		return unknown(name), true
	case e.isList && len(e.list) > 0:
		return e.list[0], true
	}
	return r.value(name)
}

// runSu reads su and its like: a user, and code by -c.
func (r *reader) runSu(f *frame, k *call, p *program, name string) Word {
	opts, rest := p.parse(k.argv[1:])
	h := f.at(k, name)
	h.privileged = p.privileged
	code := opts.all(p.line...)
	switch {
	case len(code) > 0:
		return r.carried(h, code[len(code)-1], name)
	case opts.any(p.argvWith...) && len(rest) > 0:
		command := p.grammar
		command.permute = false // what follows its name are its own options
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
