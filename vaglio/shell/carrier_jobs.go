package shell

import (
	"strings"
)

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
			r.crontab(g, text, false)
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
func (r *reader) crontab(f *frame, text Word, users bool) {
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
		if users {
			n++ // a table of the system names the user
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
	for len(rest) > 0 {
		one, more := cutAt(rest, ";")
		r.tmuxCommand(h, name, one)
		rest = more
	}
	return Word{}
}

// tmuxCommand reads one command of tmux; several stand with ";" between them.
func (r *reader) tmuxCommand(h *frame, name string, rest []Word) Word {
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
