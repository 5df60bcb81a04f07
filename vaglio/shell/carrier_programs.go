package shell

import (
	"slices"
	"strings"
	"unicode"
)

// oddities read what programs carry whose grammar the table has no words for,
// by the name that the table gives.
func oddities() map[string]oddity {
	return map[string]oddity{
		"flake": (*reader).flake, "fd": (*reader).fdCommand, "editor": (*reader).editorCode,
	}
}

// flake reads INSTALLABLE#PROGRAM -- ARGUMENTS of nix run.
func (r *reader) flake(f *frame, k *call, name string) {
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
			r.run(f, &call{argv: argv, span: k.span, external: true})
		}
		return
	}
}

// isBinding reports whether a text has the form KEY:ACTION.
func isBinding(v Word) bool {
	key, _, ok := strings.Cut(strings.TrimSpace(v.Prefix()), ":")
	return ok && !strings.Contains(key, " ")
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

// fdCommand reads the command that fd runs on what it finds: below the operands
// behind the first, or the current folder.
func (r *reader) fdCommand(f *frame, k *call, _ string) {
	at := slices.IndexFunc(k.argv, func(w Word) bool { return isOneOf(w, []string{"-x", "-X", "--exec", "--exec-batch"}) })
	if at < 1 || at+1 == len(k.argv) {
		return
	}
	argv, _ := cutAt(k.argv[at+1:], ";")
	opts, rest := grammar{
		values:  "dteESocjM",
		long:    "max-depth type extension exclude size owner color threads base-directory search-path changed-within changed-before min-depth",
		permute: true,
	}.parse(k.argv[1:at])
	dirs := append(tail(rest, 1), opts.all("base-directory", "search-path")...)
	if len(dirs) == 0 {
		dirs = []Word{Text(".")}
	}
	var targets []Word
	for _, dir := range dirs {
		targets = append(targets, inFolder(dir, NewWord(Part{Kind: PartUnknown, From: "fd", MayBeEmpty: true})))
	}
	if !opts.any("e", "extension") && !slices.ContainsFunc(rest[:min(len(rest), 1)], isTelling) {
		targets = append(targets, dirs...) // it finds all that is there
	}
	if !r.step(f, wordCost*len(argv)*len(targets)) {
		return
	}
	for _, target := range targets {
		filled := fillBraces(argv, "{}", target)
		if slices.EqualFunc(filled, argv, Word.Equal) {
			filled = append(slices.Clone(argv), target)
		}
		r.run(f, &call{argv: filled, span: k.span, external: true})
	}
}

// isTelling reports whether a pattern of names leaves out most names: it has a
// letter or a digit.
func isTelling(pattern Word) bool {
	return strings.ContainsFunc(pattern.Prefix(), func(c rune) bool { return unicode.IsLetter(c) || unicode.IsDigit(c) })
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
			r.carried(f, w.Cut(lead+1), name)
		}
	}
}

// runGit reads git: commands that its settings name, and its subcommands that
// run one.
func (r *reader) runGit(f *frame, k *call, p *program, name string) Word {
	opts, rest := p.parse(k.argv[1:])
	h := f.at(k, "git -c")
	h.conditional = true
	settings := gitEnvironment(append(slices.Clone(f.assigns), k.assigns...))
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
		for _, dir := range opts.all(p.chdir...) {
			r.st.set(keyCwd, r.resolvePath(dir))
		}
		out := r.plain(f, k)
		if w, words := p.find(rest); w != nil {
			verb := name + " " + rest[0].text
			g := f.at(k, verb)
			g.inLoop = true
			r.carries(g, k, w, words, verb)
		}
		return out
	})
}

// gitEnvironment are the settings that GIT_CONFIG_KEY_n and GIT_CONFIG_VALUE_n
// give.
func gitEnvironment(assigns []Assign) []Assign {
	var out []Assign
	for _, a := range assigns {
		n, ok := strings.CutPrefix(a.Name, "GIT_CONFIG_KEY_")
		if !ok {
			continue
		}
		if key, static := a.Value.Text(); static {
			value, _ := assigned(assigns, "GIT_CONFIG_VALUE_"+n)
			out = append(out, Assign{Name: key, Value: value})
		}
	}
	return out
}

// runsOperand reports whether a program runs the file that its first operand names.
func (r *reader) runsOperand(name string) bool {
	p := r.carriers.program(name)
	return name == "." || name == "source" || p != nil && p.script && !p.operand
}
