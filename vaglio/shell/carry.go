package shell

import (
	"regexp"
	"slices"
	"strings"

	"github.com/metnos/vaglio/vaglio/shell/word"
)

// evaluators maps the table's names to the functions that read the calls of programs.
func evaluators() map[string]evaluator {
	return map[string]evaluator{
		"elsewhere": (*reader).runElsewhere, "ssh": (*reader).runSSH, "options": (*reader).runOptions,
		"language": (*reader).runProgram, "runner": (*reader).runRunner, "shell": (*reader).runShell, "foreign": (*reader).runShellLike,
		"env": (*reader).runEnv, "su": (*reader).runSu, "find": (*reader).runFind,
		"xargs": (*reader).runXargs, "parallel": (*reader).runParallel, "git": (*reader).runGit,
		"tar":  (*reader).runTar,
		"copy": (*reader).runMove, "tee": (*reader).runTee, "dd": (*reader).runDd, "download": (*reader).runDownload, "sed": (*reader).runSed,
		"fd": (*reader).runFd, "flake": (*reader).runFlake,
	}
}

// runOperands reads a call of a program that runs the command among its operands.
func (r *reader) runOperands(f *frame, k *call, p *program, name string) Word {
	opts, rest := p.options(k)
	g := f.at(k, name)
	if user, _ := opts.Get("u", "user"); p.privileged && !opts.any(p.keeps...) {
		g.raised(user)
	}
	w, assigns, rest := p.operands(rest)
	if w == nil {
		return r.plain(f, k)
	}
	out, listed := r.lines(g, &p.way, opts, name)
	r.settings(g, &p.way, opts, name)
	if listed = listed || p.own; listed {
		r.wrapper(f, k)
	}
	if program, ok := opts.Get(p.program...); ok {
		rest = append([]Word{program}, rest...)
	}
	if code, ok := p.lateLine(w, rest); ok {
		r.wrapper(f, k)
		return r.carried(g, code, name)
	}
	g.enterRoot(p, opts, rest[:min(len(rest), w.from+1)])
	if rest = w.inner(opts, rest); len(rest) == 0 {
		if listed {
			return out
		}
		return r.plain(f, k)
	}
	return r.within(g, k, &p.way, opts, assigns, func() Word { return r.operands(g, k, w, opts, rest, name, k.redirs) })
}

// within reads a command with the variables and the folder that its carrier sets.
func (r *reader) within(f *frame, k *call, w *way, opts options, assigns []Assign, read func() Word) Word {
	enters := opts.any(w.enters...)
	if len(assigns) == 0 && !enters && !opts.any(w.chdir...) {
		return read()
	}
	f.assigns = append(f.assigns, assigns...)
	r.codeInAssigns(f, &call{assigns: assigns, span: k.span})
	return r.scoped(func() Word {
		for _, a := range assigns {
			r.assign(f, a.Name, a.Value)
		}
		if enters {
			user, ok := opts.Get("u", "user")
			if !ok {
				user = Text("root")
			}
			r.becomes(f, user, true)
		}
		r.below(opts, w)
		return read()
	})
}

// below changes to the folders that options name.
func (r *reader) below(opts options, w *way) {
	for _, o := range opts {
		if dir, ok := w.valueOf(o.name, o.value); ok && o.has && slices.Contains(w.chdir, o.name) {
			r.goTo(r.resolvePath(dir))
		}
	}
}

// operands returns the way in which a program runs its operands, the variables that they begin
// with, and those after what selects the way; nil if the program runs nothing.
func (p *program) operands(rest []Word) (w *way, assigns []Assign, left []Word) {
	if len(rest) > 0 && isOneOf(rest[0], p.not) {
		return nil, nil, nil
	}
	if w = &p.way; len(p.ways) > 0 {
		w, rest = p.find(rest)
	}
	if w != nil && w.assigns {
		assigns, rest = leadingAssigns(rest)
	}
	if w == nil || len(p.ways) == 0 {
		return w, assigns, rest
	}
	return w, assigns, w.beyond(rest)
}

// lateLine returns the command line of an option that follows the operands, as in flock FILE -c LINE.
func (p *program) lateLine(w *way, rest []Word) (Word, bool) {
	if len(rest) <= w.from+1 || len(p.line) == 0 || !rest[w.from].Is("-c") && !rest[w.from].Is("--command") {
		return Word{}, false
	}
	return rest[w.from+1], true
}

// inner returns those of the operands that are run in this way; none if nothing is.
func (w *way) inner(opts options, operands []Word) []Word {
	switch {
	case w.run == runNone || opts.any(w.unless...):
		return nil
	case opts.any(w.instead...):
		return operands
	default:
		return tail(operands, w.from)
	}
}

// enterRoot notes the other root in which a command runs, if there is one. The operands are those before the command, and the command's name.
func (f *frame) enterRoot(p *program, opts options, operands []Word) {
	if len(p.root) == 0 || len(operands) <= p.from {
		return
	}
	root, ok := opts.Get(p.root...)
	if slices.Contains(p.root, "operand") {
		root, ok = operands[0], true
	}
	if ok {
		f.Remote = f.Remote.below(root)
	}
}

// lines reads the options whose value is a command line, and reports whether there are any.
func (r *reader) lines(f *frame, w *way, opts options, by string) (out Word, found bool) {
	if w.fed {
		g := *f
		g.stdin = Input{Kind: InputText, Text: word.OutputOf(by), Piped: true}
		f = &g
	}
	for _, o := range opts {
		if !o.has || !slices.Contains(w.line, o.name) {
			continue
		}
		line, ok := w.valueOf(o.name, o.value)
		if found = found || ok; !ok {
			continue
		}
		if key, _, ok := strings.Cut(strings.TrimSpace(line.Prefix()), ":"); w.bindings && ok && !strings.Contains(key, " ") {
			r.binding(f, line, by)
			continue
		}
		out = r.carried(f, line, by)
	}
	return out, found
}

// quotable is what sudo quotes for a login shell.
var quotable = regexp.MustCompile(`[^\w$-]`)

// operands reads what the operands are in one way.
func (r *reader) operands(f *frame, k *call, w *way, opts options, rest []Word, by string, redirs []Redirect) Word {
	if len(rest) == 0 {
		return Word{}
	}
	if w.run == runTasks {
		return r.tasksOf(f, k, w, rest)
	}
	rest = w.withProgram(rest)
	inner := &call{argv: rest, redirs: redirs, span: k.span, external: true}
	switch {
	case opts.any(w.login...): // a login shell takes the words as code, in which sudo quotes all but variables
		r.run(f, inner)
		rest = slices.Clone(rest)
		for i, w := range rest {
			rest[i] = w.MapText(func(s string) string { return quotable.ReplaceAllString(s, `\$0`) })
		}
		return r.carried(f, Spaced(rest), by)
	case opts.any(w.lineWith...), w.run == runLine && !opts.any(w.argvWith...):
		return r.carried(f, Spaced(rest), by)
	}
	switch w.run {
	case runArgv, runLine:
		return r.run(f, inner)
	case runEach:
		for _, line := range rest {
			r.carried(f, line, by)
		}
	case runKeys:
		r.sentKeys(f, rest, by)
	case runText:
		return r.readProgram(f, &Program{Language: w.language, Text: rest[0], Stdin: inputOf(f)}, Word{})
	}
	return Word{}
}

// runOptions reads a program that does more than to run what some of its options and operands carry. Behind a semicolon may stand another call of it.
func (r *reader) runOptions(f *frame, k *call, p *program, name string) Word {
	ends := func(w Word) bool { return p.several && strings.HasSuffix(w.Suffix(), ";") }
	if i := slices.IndexFunc(k.argv, ends); i > 0 {
		c, last := *k, k.argv[i].MapSuffix(func(s string) string { return strings.TrimSuffix(s, ";") })
		c.argv = append(slices.Clone(k.argv[:i]), last)
		r.runOptions(f, &c, p, name)
		c.argv = append([]Word{k.argv[0]}, k.argv[i+1:]...)
		return r.runOptions(f, &c, p, name)
	}
	if len(p.chdir) == 0 {
		return r.optionsIn(f, k, p, name)
	}
	opts, _ := p.parse(k.argv[1:])
	return r.scoped(func() Word {
		r.below(opts, &p.way)
		return r.optionsIn(f, k, p, name)
	})
}

// optionsIn is runOptions in the folder that the options name.
func (r *reader) optionsIn(f *frame, k *call, p *program, name string) (out Word) {
	if out = word.OutputOf(name); p.only {
		r.wrapper(f, k)
	} else {
		out = r.plain(f, k)
	}
	g := f.at(k, name)
	g.Conditional = true
	rest := r.carries(g, k, p, &p.way, k.argv[1:], name)
	if p.mixed { // the operands alone would lack the options of the way
		rest = k.argv[1:]
	}
	if w, words := p.find(rest); w != nil {
		r.carries(g, k, p, w, words, name)
	}
	r.runAfter(g, k, p)
	if p.language != "" {
		r.readLoose(f, k, p, name)
	}
	return out
}

// runAfter reads the command that follows one of the words that the program lists.
func (r *reader) runAfter(f *frame, k *call, p *program) {
	for i, w := range k.argv {
		if i > 0 && w.Is("--") && !slices.Contains(p.after, "--") {
			return
		}
		if i > 0 && i+1 < len(k.argv) && isOneOf(w, p.after) {
			r.run(f, &call{argv: k.argv[i+1:], span: k.span, external: true})
			return
		}
	}
}

// carries reads what words carry in one way, and returns the operands.
func (r *reader) carries(f *frame, k *call, p *program, w *way, words []Word, by string) []Word {
	opts, rest := w.parse(words)
	r.lines(f, w, opts, by)
	r.settings(f, w, opts, by)
	switch {
	case slices.Contains(w.settings, "operands"):
		for _, v := range rest {
			r.setting(f, w, v, by)
		}
	case slices.Contains(w.settings, "pair") && len(rest) > 1:
		f.Conditional = true
		key, _ := rest[0].Text()
		r.settingOf(f, w, key, rest[1], nil, by)
	}
	for _, v := range slices.Concat(words, r.typed(f, w)) {
		r.escape(f, w, v, by)
	}
	operands := tail(rest, w.from)
	if w.dash {
		_, operands = cutAt(words, "--")
	}
	if told, _ := p.find(rest); (w != &p.way || told == nil) && !opts.any(w.unless...) {
		r.operands(f, k, w, opts, operands, by, nil)
	}
	return rest
}

// typed returns the lines of the input if they may hold command lines.
func (r *reader) typed(f *frame, w *way) []Word {
	if len(w.escapes) == 0 || f.stdin.Kind != InputText {
		return nil
	}
	return f.stdin.Text.Lines()
}

// escape reads the command line after one of the escapes.
func (r *reader) escape(f *frame, w *way, v Word, by string) {
	s := v.Prefix()
	lead := len(s) - len(strings.TrimLeft(s, " \t\n+:0123456789,$")) // an editor's lines, too
	for _, e := range w.escapes {
		if end := lead + len(e); len(s) >= end && strings.EqualFold(s[lead:end], e) {
			code := v.Cut(end)
			if w.unescape {
				code = code.MapText(func(s string) string { return strings.ReplaceAll(s, `\ `, " ") })
			}
			r.carried(f, code, by)
			return
		}
	}
}

// setting reads key=line.
func (r *reader) setting(f *frame, w *way, v Word, by string) {
	text := strings.TrimLeft(v.Prefix(), " \t")
	at := strings.IndexAny(text, " =")
	if at < 0 {
		return
	}
	r.settingOf(f, w, text[:at], v.TrimLeft(" \t").Cut(at).TrimLeft(" =\t"), nil, by)
}

// settingOf reads the line of a key if the way lists the key. A key listed as !key is a line only if its value begins with an exclamation mark.
func (r *reader) settingOf(f *frame, w *way, key string, value Word, args []Word, by string) {
	line, bang := value, strings.HasPrefix(value.Prefix(), "!")
	switch {
	case bang:
		line = value.Cut(1)
	case strings.HasPrefix(strings.ToLower(key), "alias.") && !value.Is(""): // of a command of git's
		line, bang = Glue(Text("git "), value), true
	}
	for _, pattern := range w.keys {
		pattern, only := strings.CutPrefix(pattern, "!")
		if !Like(strings.ToLower(key), pattern) {
			continue
		}
		if only && bang || !only && !value.Is("") && !value.Is("true") && !value.Is("false") {
			r.carried(f, Spaced(append([]Word{bare(line)}, args...)), by+" "+key)
		}
		return
	}
}

// bare returns a line without the quotes in which a setting of TOML stands.
func bare(line Word) Word {
	if s, ok := line.Text(); ok && strings.Count(s, `"`) == 2 && strings.HasPrefix(s, `"`) && strings.HasSuffix(s, `"`) {
		return Text(s[1 : len(s)-1])
	}
	return line
}

// listed emits a program that runs nothing.
func (r *reader) listed(f *frame, k *call, p *program, name string) Word {
	if !p.only {
		return r.plain(f, k)
	}
	r.wrapper(f, k)
	return word.OutputOf(name)
}

// command tells the operands before a command that runs elsewhere from the command. It begins behind a "--" there; to a pod options may follow the operands.
func (p *program) command(w *way, words []Word) (opts options, before, argv []Word) {
	opts, rest := w.parse(words)
	if opts.any(w.instead...) {
		return opts, []Word{Text("latest")}, rest // podman names no container then
	}
	if p.container {
		return opts, rest[:min(w.from, len(rest))], behindDashes(tail(rest, w.from))
	}
	if head, dashed := cutAt(words, "--"); dashed != nil {
		if _, named := w.parse(head); !w.Leading || len(named) <= w.from {
			return opts, named[:min(max(1, w.from), len(named))], dashed
		}
	}
	before = rest[:min(w.from, len(rest))]
	switch argv = tail(rest, w.from); {
	case w.dash:
		return opts, rest[:min(max(1, w.from), len(rest))], nil
	case w.Leading:
		more, rest := w.parse(argv)
		opts, argv = append(opts, more...), rest
	}
	if n := len(argv) - 2; w.trails && n > 0 {
		if more, rest := w.parse(argv[n:]); len(rest) == 0 && more.any(w.at...) {
			opts, argv = append(opts, more...), argv[:n]
		}
	}
	return opts, before, argv
}

// rewritten reads a program whose files hold what it prints for each of their lines, and empties them if that is nothing.
func (r *reader) rewritten(f *frame, p *Program, files []Word) {
	f.capture = true
	left, known := r.readProgram(f, p, Text("")).Text()
	for i := 0; i < len(files) && known && strings.TrimSpace(left) == ""; i++ {
		r.emit(f, Command{Redirects: []Redirect{{Kind: RedirectWrite, Target: files[i]}}})
	}
}
