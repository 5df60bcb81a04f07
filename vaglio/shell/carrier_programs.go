package shell

import (
	"slices"
	"strings"
)

// lateCommand reads the code of programs that take it in ways of their own.
//
//nolint:cyclop,funlen // One case per form that the grammar knows.
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
		r.packageScripts(f, name, rest)
		if len(rest) > 1 && (rest[0].Is("exec") || rest[0].Is("x") || rest[0].Is("dlx")) {
			_, rest = grammar{values: "pc", long: "package call"}.parse(rest[1:])
			if len(rest) > 0 {
				r.run(f, &call{argv: rest, span: k.span, external: true})
			}
		}
	case "fd", "fdfind":
		for i, w := range k.argv {
			if (w.Is("-x") || w.Is("-X") || w.Is("--exec") || w.Is("--exec-batch")) && i+1 < len(k.argv) {
				r.fdCommand(f, k, k.argv[1:i], k.argv[i+1:])
				break
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
	case "entr":
		opts, rest := grammar{}.parse(k.argv[1:])
		switch {
		case len(rest) > 0 && opts.any("s"):
			r.carried(f, rest[0], name)
		case len(rest) > 0:
			r.run(f, &call{argv: rest, span: k.span, external: true})
		}
	case "concurrently":
		_, rest := grammar{values: "nckp", long: "names prefix"}.parse(k.argv[1:])
		for _, w := range rest {
			r.carried(f, w, name)
		}
	default:
		r.laterCommand(f, k, name)
	}
}

// laterCommand reads more programs that take code in ways of their own.
//
//nolint:cyclop // One case per form that the grammar knows.
func (r *reader) laterCommand(f *frame, k *call, name string) {
	switch name {
	case "less", "more", "ftp", "tftp", "telnet":
		texts := slices.Clone(k.argv[1:])
		for _, l := range f.stdin.Text.lines() {
			texts = append(texts, Glue(Text("+"), l))
		}
		for _, w := range texts {
			if strings.HasPrefix(w.Prefix(), "+!") || strings.HasPrefix(w.Prefix(), "++!") {
				_, code, _ := w.splitAt("!")
				r.carried(f, code, name)
			}
		}
	case "nix", "guix":
		for i, w := range k.argv {
			if (w.Is("-c") || w.Is("--command") || w.Is("--") && name == "guix") && i+1 < len(k.argv) {
				r.run(f, &call{argv: k.argv[i+1:], span: k.span, external: true})
				return
			}
			if w.Is("--") && i > 1 {
				_, program, ok := k.argv[i-1].splitAt("#")
				if ok {
					r.run(f, &call{argv: append([]Word{program}, k.argv[i+1:]...), span: k.span, external: true})
				}
				return
			}
		}
	case "apt", "apt-get", "aptitude":
		opts, _ := grammar{values: "otcaq?", long: "option target-release config-file host-architecture", permute: true}.parse(k.argv[1:])
		for _, o := range opts.all("o", "option") {
			key, value, ok := o.splitAt("=")
			low := strings.ToLower(key.Prefix())
			if ok && (strings.Contains(low, "-invoke") || strings.Contains(low, "pre-install") || strings.Contains(low, "post-install")) {
				r.carried(f, value, name)
			}
		}
	case "logrotate":
		for _, w := range k.argv[1:] {
			if r.written(w) {
				r.rotateScripts(f, r.content(f, w))
			}
		}
	}
}

// rotateScripts reads the scripts in a configuration of logrotate.
func (r *reader) rotateScripts(f *frame, text Word) {
	var code builder
	inside := false
	for _, l := range text.lines() {
		switch s := strings.TrimSpace(l.Prefix()); {
		case s == "endscript":
			inside = false
		case s == "prerotate" || s == "postrotate" || s == "firstaction" || s == "lastaction" || s == "preremove":
			inside = true
		case inside:
			code.addWord(l)
			code.addText("\n")
		}
	}
	if !code.empty() {
		r.carried(f, code.word(), "logrotate")
	}
}

// fzfBinding reads the execute actions of KEY:ACTION(code).
func (r *reader) fzfBinding(f *frame, v Word) {
	for _, action := range []string{"execute(", "execute-silent(", "execute:", "become(", "reload("} {
		if _, code, ok := v.splitAt(action); ok {
			if s, static := code.Text(); static && strings.HasSuffix(action, "(") {
				code = Text(strings.TrimSuffix(s, ")"))
			}
			r.carried(f, code, "fzf")
		}
	}
}

// fdCommand reads the command that fd runs on what it finds: below the second
// operand, or the current folder.
func (r *reader) fdCommand(f *frame, k *call, head, argv []Word) {
	argv, _ = cutAt(argv, ";")
	opts, rest := grammar{
		values:  "dteESocjM",
		long:    "max-depth type extension exclude size owner color threads base-directory search-path changed-within changed-before min-depth",
		permute: true,
	}.parse(head)
	found := Part{Kind: PartUnknown, From: "fd", MayBeEmpty: true}
	target := Glue(Text("./"), NewWord(found))
	if dirs := append(tail(rest, 1), opts.all("base-directory", "search-path")...); len(dirs) > 0 {
		target = Glue(dirs[0], Text(strings.Repeat("/", 1-truthInt(strings.HasSuffix(dirs[0].Suffix(), "/")))), NewWord(found))
	}
	filled := fillBraces(argv, "{}", target)
	if slices.EqualFunc(filled, argv, Word.Equal) {
		filled = append(slices.Clone(argv), target)
	}
	r.run(f, &call{argv: filled, span: k.span, external: true})
}

// cmakeCommand reads cmake -E, a wrapper and a set of file tools.
//
//nolint:cyclop // One case per form that the grammar knows.
func (r *reader) cmakeCommand(f *frame, k *call) {
	if len(k.argv) > 2 && k.argv[1].Is("-P") && r.written(k.argv[2]) {
		for text := r.content(f, k.argv[2]); ; {
			_, rest, ok := text.splitAt("COMMAND ")
			if !ok {
				return
			}
			code, more, _ := rest.splitAt(")")
			r.carried(f, code, "cmake")
			text = more
		}
	}
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
		for _, modifier := range []string{"silent! ", "silent ", "sil! ", "sil ", "noautocmd ", "execute ", "exe ", "r ", "read ", "r", "%", "."} {
			s = strings.TrimLeft(strings.TrimPrefix(s, modifier), ": ")
		}
		s = strings.TrimLeft(s, "\"'")
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

// packageScripts reads the command lines that npm pkg set and npm set-script
// keep, which a later call runs by name.
func (r *reader) packageScripts(f *frame, name string, rest []Word) {
	switch {
	case len(rest) > 2 && rest[0].Is("pkg") && rest[1].Is("set"):
		for _, w := range rest[2:] {
			if key, code, ok := w.splitAt("="); ok && strings.HasPrefix(key.Prefix(), "scripts") {
				r.carried(f, code, name+" script")
			}
		}
	case len(rest) > 2 && rest[0].Is("set-script"):
		r.carried(f, rest[2], name+" script")
	}
}
