package shell

import (
	"slices"
	"strings"
)

// runPrefix reads a call of a program that runs the command it is given.
func (r *reader) runPrefix(f *frame, k *call, name string, p prefix) Word {
	opts, rest := p.parse(k.argv[1:])
	via := name
	g := f.at(k, via)
	r.prefixFrame(g, opts, p)
	var assigns []Assign
	if p.assigns {
		assigns, rest = leadingAssigns(rest)
	}
	if p.verbs != "" && (len(rest) == 0 || !hasField(p.verbs, rest[0])) {
		return r.plain(f, k)
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

// runFind reads find: the commands of -exec and its kin, and find itself.
func (r *reader) runFind(f *frame, k *call) Word {
	r.wrapper(f, k)
	var starts []Word
	args := k.argv[1:]
	for len(args) > 0 && (args[0].Is("-H") || args[0].Is("-L") || args[0].Is("-P")) {
		args = args[1:]
	}
	for len(args) > 0 && !strings.HasPrefix(args[0].Prefix(), "-") && !args[0].Is("(") && !args[0].Is("!") {
		starts = append(starts, args[0])
		args = args[1:]
	}
	found := foundBelow(starts, args)
	for i := 0; i < len(args); i++ {
		s, _ := args[i].Text()
		if s != "-exec" && s != "-execdir" && s != "-ok" && s != "-okdir" {
			continue
		}
		end := i + 1
		for end < len(args) && !args[end].Is(";") && !args[end].Is("+") {
			end++
		}
		g := f.at(k, "find "+s)
		g.inLoop = true
		g.stdin = Input{}
		argv := slices.Clone(args[i+1 : end])
		for _, target := range found {
			r.run(g, &call{argv: fillBraces(argv, "{}", target), span: k.span, external: true})
		}
		i = end
	}
	if !f.capture {
		return Word{}
	}
	sep := "\n"
	if hasWord(args, "-print0") {
		sep = "\x00"
	}
	var b builder
	for _, w := range found {
		b.addWord(w)
		b.addText(sep)
	}
	return b.word()
}

// foundBelow are the names that find passes on: each start itself and what is
// below it, narrowed by -name if that is the only condition on names.
func foundBelow(starts, args []Word) []Word {
	if len(starts) == 0 {
		starts = []Word{Text(".")}
	}
	if len(starts) > 16 {
		starts = append(starts[:16:16], unknown(""))
	}
	var out []Word
	for _, s := range starts {
		below := Part{Kind: PartUnknown, From: "find", MayBeEmpty: true}
		sep := "/"
		if strings.HasSuffix(s.Suffix(), "/") {
			sep = ""
		}
		if name, ok := nameCondition(args); ok {
			below.MayBeEmpty = false
			out = append(out, Glue(s, Text(sep), name), Glue(s, Text(sep), NewWord(below), Text("/"), name))
			continue
		}
		if !hasWord(args, "-mindepth") {
			out = append(out, s)
		}
		out = append(out, Glue(s, Text(sep), NewWord(below)))
	}
	return out
}

// nameCondition is the pattern of -name, when every name that find passes on
// must match it.
func nameCondition(args []Word) (Word, bool) {
	var name Word
	found := false
	for i, w := range args {
		switch s, _ := w.Text(); s {
		case "-o", "-or", "-not", "!", ",", "-prune":
			return Word{}, false
		case "-name", "-iname":
			if i+1 < len(args) {
				name, found = args[i+1], true
			}
		}
	}
	if s, ok := name.Text(); ok {
		x := expander{globs: true}
		x.active(s)
		name = x.cur.word()
	}
	return name, found
}

// fillBraces puts a word in place of a mark such as {} in each word.
func fillBraces(argv []Word, mark string, value Word) []Word {
	out := make([]Word, len(argv))
	for i, w := range argv {
		out[i] = replaceAll(w, mark, value)
	}
	return out
}

func replaceAll(w Word, mark string, value Word) Word {
	if mark == "" {
		return w
	}
	var b builder
	for range maxFields {
		l, rest, ok := w.splitAt(mark)
		b.addWord(l)
		if !ok {
			break
		}
		b.addWord(value)
		w = rest
	}
	return b.word()
}

// runXargs reads xargs: its command with the items of the input.
func (r *reader) runXargs(f *frame, k *call) Word {
	g := grammar{
		values: "aEde?I?i?L?l?nPsRS",
		long:   "arg-file delimiter eof replace max-lines max-args max-procs max-chars process-slot-var",
	}
	g.values = "aEdILnPsRSJ"
	opts, argv := g.parse(k.argv[1:])
	text := f.stdin.Text
	if f.stdin.Kind == InputInherited {
		text = outputOf("")
	}
	if file, ok := opts.get("a", "arg-file"); ok {
		text = r.content(f, file)
	}
	r.wrapper(f, k)
	if len(argv) == 0 {
		argv = []Word{Text("echo")}
	}
	h := f.at(k, "xargs")
	h.inLoop = true
	h.stdin = Input{}
	items := xargsItems(text, opts)
	mark, replace := opts.get("I", "J", "replace")
	if !replace && opts.any("i", "replace") {
		mark, replace = Text("{}"), true
	}
	if m, ok := mark.Text(); replace && ok {
		if m == "" {
			m = "{}"
		}
		var out builder
		for _, item := range items {
			out.addWord(r.run(h, &call{argv: fillBraces(argv, m, item), span: k.span, external: true}))
			if r.stopped {
				break
			}
		}
		return out.word()
	}
	return r.run(h, &call{argv: slices.Concat(argv, items), span: k.span, external: true})
}

// xargsItems splits the input of xargs.
func xargsItems(text Word, opts options) []Word {
	var items []Word
	if text.IsUnknown() {
		p := text.parts[0]
		p.Splits = true
		return []Word{NewWord(p)}
	}
	for _, l := range text.lines() {
		_, byLine := opts.get("I", "J", "replace", "d", "delimiter")
		if s, ok := l.Text(); ok && !byLine && !opts.any("0", "null") {
			for _, item := range shellFields(s) {
				items = append(items, Text(item))
			}
			continue
		}
		if opts.any("0", "null") {
			for {
				piece, rest, ok := l.splitAt("\x00")
				if !piece.Is("") {
					items = append(items, piece)
				}
				if !ok {
					break
				}
				l = rest
			}
			continue
		}
		if w := trimBlanks(l); !w.Is("") {
			items = append(items, w)
		}
	}
	if len(items) > maxFields {
		items = append(items[:maxFields:maxFields], unknown(""))
	}
	return items
}

// trimBlanks removes the blanks around a word.
func trimBlanks(w Word) Word {
	p := w.Prefix()
	return w.cut(len(p) - len(strings.TrimLeft(p, " \t")))
}

// shellFields splits text at blanks with the quotes that xargs knows.
func shellFields(s string) []string {
	var out []string
	var b strings.Builder
	quote, has := byte(0), false
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case quote == 0 && c == '\\' && i+1 < len(s):
			i++
			b.WriteByte(s[i])
			has = true
		case quote == 0 && (c == '\'' || c == '"'):
			quote, has = c, true
		case c == quote && quote != 0:
			quote = 0
		case quote == 0 && (c == ' ' || c == '\t'):
			if has || b.Len() > 0 {
				out = append(out, b.String())
			}
			b.Reset()
			has = false
		default:
			b.WriteByte(c)
		}
	}
	if has || b.Len() > 0 {
		out = append(out, b.String())
	}
	return out
}

// runParallel reads GNU parallel: its command with each argument in turn.
func (r *reader) runParallel(f *frame, k *call) Word {
	g := grammar{
		values: "ajnNIdELsSPCtM",
		long: "arg-file jobs max-args max-replace-args delimiter results joblog workdir sshlogin colsep max-lines " +
			"tmpdir timeout retries delay load memfree nice halt tagstring rpl trim basefile return transferfile env sshloginfile pipepart block arg-sep arg-file-sep shellquote profile",
	}
	opts, rest := g.parse(k.argv[1:])
	r.wrapper(f, k)
	argv, items := parallelItems(rest)
	if len(items) == 0 && f.stdin.Kind != InputInherited {
		items = f.stdin.Text.lines()
	}
	if len(items) == 0 {
		items = []Word{unknown("")}
	}
	h := f.at(k, "parallel")
	h.inLoop = true
	h.stdin = Input{}
	mark := "{}"
	if m, ok := opts.get("I"); ok {
		mark, _ = m.Text()
	}
	var out builder
	for i, item := range items {
		if i > maxRounds || r.stopped {
			r.problem(h, Problem{Kind: ProblemTooBig, Detail: "parallel runs over too many words to be read for each"})
			break
		}
		out.addWord(r.parallelOne(h, k, argv, mark, item))
	}
	return out.word()
}

// parallelOne reads the command for one argument, which parallel gives to a
// shell as text.
func (r *reader) parallelOne(f *frame, k *call, argv []Word, mark string, item Word) Word {
	if len(argv) == 0 {
		return r.carried(f, item, "parallel")
	}
	filled := argv
	used := false
	for _, m := range []string{mark, "{1}", "{.}", "{/}", "{//}"} {
		for _, w := range filled {
			_, _, ok := w.splitAt(m)
			used = used || ok
		}
		filled = fillBraces(filled, m, item)
	}
	if !used {
		filled = append(slices.Clone(filled), item)
	}
	g := *f
	g.lenient = true
	r.carried(&g, r.code(filled), "parallel")
	return r.run(f, &call{argv: filled, span: k.span, external: true})
}

// parallelItems splits the operands at ::: and its kin.
func parallelItems(rest []Word) (argv, items []Word) {
	for i, w := range rest {
		s, _ := w.Text()
		if s == ":::" || s == ":::+" || s == "::::" {
			for _, item := range rest[i+1:] {
				if t, _ := item.Text(); !strings.HasPrefix(t, ":::") {
					if s == "::::" {
						item = outputOf("cat " + item.String())
					}
					items = append(items, item)
				}
			}
			return rest[:i], items
		}
	}
	return rest, nil
}
