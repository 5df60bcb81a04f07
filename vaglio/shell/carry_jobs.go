package shell

import "strings"

// runJob reads at, batch and crontab, which take commands, or a table of them, from their input or
// a file.
func (r *reader) runJob(f *frame, k *call, p *program, name string) Word {
	r.wrapper(f, k)
	g := f.at(k, name)
	g.stdin = Input{}
	opts, rest := p.parse(k.argv[1:])
	text, known := f.stdin.Text, f.stdin.Kind != InputInherited
	file, ok := opts.Get(p.file...)
	if p.script && len(rest) > 0 && !rest[0].Is("-") {
		file, ok = rest[0], true
	}
	if ok {
		text, known = r.content(f, file), r.written(file)
	}
	switch {
	case !known || opts.any(p.unless...):
	case p.script:
		r.crontab(g, text, false)
	default:
		return r.carried(g, text, name)
	}
	return Word{}
}

// crontab reads the commands of a crontab: what follows five time fields or one @name.
func (r *reader) crontab(f *frame, text Word, users bool) {
	for _, l := range text.lines() {
		s := strings.TrimLeft(l.Prefix(), " \t")
		l = l.Cut(len(l.Prefix()) - len(s))
		if s == "" || s[0] == '#' {
			continue
		}
		n := 5
		if s[0] == '@' {
			n = 1
		}
		if users {
			n++ // a system crontab also names the user
		}
		ok := true
		for range n {
			s = l.Prefix()
			i := strings.IndexAny(s, " \t")
			if i < 0 {
				ok = false
				break
			}
			l = l.Cut(len(s) - len(strings.TrimLeft(s[i:], " \t")))
		}
		if ok {
			r.carried(f, l, "crontab")
		}
	}
}

// runTerminal reads tmux and its like: commands for new windows, and typed keys. A ";" separates
// several of its own commands.
func (r *reader) runTerminal(f *frame, k *call, p *program, name string) Word {
	r.wrapper(f, k)
	_, rest := p.parse(k.argv[1:])
	for len(rest) > 0 {
		one, more := cutAt(rest, ";")
		if w, words := p.find(one); w != nil {
			r.carries(f.at(k, name), k, w, words, name)
		}
		rest = more
	}
	return Word{}
}

// runScreen reads screen: a command for a new window, and typed text.
func (r *reader) runScreen(f *frame, k *call, p *program, name string) Word {
	r.wrapper(f, k)
	h := f.at(k, name)
	opts, rest := p.parse(k.argv[1:])
	command, typed := opts.Get("X")
	switch {
	case len(rest) == 0 || typed && !command.Is("stuff"):
	case typed:
		r.carried(h, spaced(rest), name)
	case !opts.any(p.unless...):
		return r.run(h, &call{argv: rest, span: k.span, external: true})
	}
	return Word{}
}

// sentKeys reads keys typed into a terminal as command lines.
func (r *reader) sentKeys(f *frame, ops []Word, by string) {
	var b builder
	for _, w := range ops {
		switch {
		case isOneOf(w, []string{"Enter", "C-m", "KPEnter", "C-j"}):
			b.addText("\n")
		case w.Is("Space"):
			b.addText(" ")
		default:
			b.addWord(w)
		}
	}
	if !b.empty() {
		r.carried(f, b.word(), by+" send-keys")
	}
}

// runMake reads make: a makefile from its input, and settings that run code.
func (r *reader) runMake(f *frame, k *call, p *program, _ string) Word {
	opts, rest := p.parse(k.argv[1:])
	return r.scoped(func() Word {
		r.below(opts, &p.way)
		out := r.plain(f, k)
		g := f.at(k, "make")
		g.stdin = Input{}
		for _, text := range opts.all(p.text...) {
			r.makefile(g, text)
		}
		files := opts.all(p.file...)
		if !opts.any(p.file...) {
			files = []Word{Text("Makefile")}
		}
		for _, file := range files {
			if isStdin(file) && f.stdin.Kind == InputText || r.written(file) {
				r.makefile(g, r.content(f, file))
			}
		}
		for _, w := range rest {
			if name, value, ok := w.Split("="); ok && name.Is("SHELL") {
				r.carried(g, value, "make SHELL=")
			}
		}
		return out
	})
}

// makefile reads the recipes and each $(shell …) of a makefile.
func (r *reader) makefile(f *frame, text Word) {
	r.codeProblem(f, text, "make")
	for _, l := range text.lines() {
		for rest := l; ; {
			_, after, ok := rest.Split("$(shell ")
			if !ok {
				break
			}
			code, more, _ := after.Split(")")
			r.carried(f, code, "make $(shell)")
			rest = more
		}
		s := l.Prefix()
		if _, recipe, ok := l.Split(";"); ok && strings.Contains(s, ":") && !strings.HasPrefix(s, "\t") {
			l, s = recipe, "\t"+recipe.Prefix()
		}
		if strings.HasPrefix(s, "\t") {
			cut := len(l.Prefix()) - len(strings.TrimLeft(l.Prefix(), "\t@-+ "))
			code := l.Cut(cut).mapText(func(s string) string { return strings.ReplaceAll(s, "$$", "$") })
			if !code.Is("") {
				r.carried(f, code, "make")
			}
		}
	}
}

// runMove reads cp, mv, ln and install, which give known content another name.
func (r *reader) runMove(f *frame, k *call, p *program, _ string) Word {
	r.plain(f, k)
	opts, rest := p.parse(k.argv[1:])
	if len(rest) < 2 || opts.any(p.unless...) {
		return Word{}
	}
	last := len(rest) - 1
	to := rest[last]
	folder := last > 1 || strings.HasSuffix(to.Suffix(), "/") || to.Is(".")
	for _, from := range rest[:last] {
		if folder {
			to = Glue(rest[last], Text("/"+baseName(from)))
		}
		r.writeFile(f, to, r.content(f, from), false)
	}
	return Word{}
}

// runDd reads dd, which copies its input to a file.
func (r *reader) runDd(f *frame, k *call, _ *program, _ string) Word {
	g := *f
	g.capture = true
	out := r.plain(&g, k)
	for _, w := range k.argv[1:] {
		if strings.HasPrefix(w.Prefix(), "of=") {
			r.writeFile(f, w.Cut(len("of=")), out, false)
			return Word{}
		}
	}
	return out
}

// runTee reads tee, which writes its input to files.
func (r *reader) runTee(f *frame, k *call, p *program, _ string) Word {
	out := r.plain(f, k)
	opts, rest := p.parse(k.argv[1:])
	for _, w := range rest {
		r.writeFile(f, w, f.stdin.Text, opts.any("a", "append"))
	}
	return out
}

// runDownload reads a program that writes what it fetches to a file: the file that an option
// names, or one named after the last element of the address.
func (r *reader) runDownload(f *frame, k *call, p *program, name string) Word {
	out := r.plain(f, k)
	fetched := NewWord(Part{Kind: PartUnknown, From: name, MayBeEmpty: true, Remote: true})
	opts, rest := p.parse(k.argv[1:])
	for _, file := range opts.all(p.to...) {
		r.writeFile(f, file, fetched, false)
	}
	if p.named != nil && !opts.any(p.named...) || p.named == nil && opts.any(p.to...) {
		return out
	}
	for _, url := range rest {
		s, ok := url.Text()
		s, _, _ = strings.Cut(s, "?")
		if i := strings.LastIndexByte(s, '/'); ok && i >= 0 && i+1 < len(s) {
			r.writeFile(f, Text(s[i+1:]), fetched, false)
		}
	}
	return out
}

// carriedFile reads a file that runs before anything else, if its content is known.
func (r *reader) carriedFile(f *frame, name Word, by string) {
	if content := r.content(f, name); r.written(name) || content.parts != nil {
		if whole, _, ok := r.loaded(f, content); ok || r.written(name) {
			r.carried(f, Glue(content, Text(everyName(whole))), by)
		}
	}
}
