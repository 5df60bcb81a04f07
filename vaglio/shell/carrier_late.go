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

// runShellLike reads a shell of another family, whose simple commands are
// close enough to be read as ours.
func (r *reader) runShellLike(f *frame, k *call, name string) Word {
	out := r.plain(f, k)
	g := f.at(k, name)
	g.stdin, g.lenient, g.conditional = Input{}, true, true
	for i, w := range k.argv[1:] {
		switch strings.ToLower(w.Prefix()) {
		case "-c", "-command", "--command", "/c":
			if rest := tail(k.argv, i+2); len(rest) > 0 {
				r.carried(g, powerShellWords(r.code(rest)), name)
			}
			return out
		case "-file", "-f", "--file":
			return out
		}
	}
	if f.stdin.Kind == InputText {
		r.carried(g, powerShellWords(f.stdin.Text), name)
	}
	return out
}

// powerShellWords spells the commands that remove and read files as ours.
func powerShellWords(code Word) Word {
	words := strings.NewReplacer("Remove-Item", "rm", "remove-item", "rm", "-Recurse", "-r", "-recurse", "-r", "-Force", "-f", "-force", "-f",
		"-LiteralPath ", "", "-Path ", "", "Get-Content", "cat", "get-content", "cat", "Clear-Content", "truncate -s0", "$env:", "$")
	return code.mapText(words.Replace)
}

// fdCommand reads the command that fd runs on what it finds: below the second
// operand, or the current folder.
func (r *reader) fdCommand(f *frame, k *call, head, argv []Word) {
	argv, _ = cutAt(argv, ";")
	opts, rest := grammar{values: "dteESocjM", long: "max-depth type extension exclude size owner color threads base-directory search-path changed-within changed-before min-depth", permute: true}.parse(head)
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
	last := lastCommandLike(k.argv)
	for i := 1; i < last; i++ {
		if !destructive(baseName(k.argv[i])) || strings.HasSuffix(k.argv[i].Suffix(), "/") {
			continue
		}
		g := f.at(k, name+"?")
		g.conditional = true
		r.run(g, &call{argv: k.argv[i:], span: k.span, external: true})
		return
	}
}

// lastCommandLike is the place of the last word that looks like one of a file
// tool: an option or a path, other than in "tool rm NAME"; 0 if there is none.
func lastCommandLike(words []Word) int {
	for i, w := range slices.Backward(words) {
		s := w.Prefix()
		if w.parts != nil || strings.HasPrefix(s, "-") || strings.ContainsAny(s, "/~=") || s == "." || s == ".." {
			return i
		}
	}
	return 0
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
