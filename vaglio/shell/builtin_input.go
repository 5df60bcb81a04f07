package shell

import (
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"

	"github.com/metnos/vaglio/vaglio/getopt"
	"github.com/metnos/vaglio/vaglio/shell/word"
	"github.com/metnos/vaglio/vaglio/wording"
)

func (r *reader) runUnset(f *frame, k *call, name string) {
	opts, rest := optionsFirst(name).parse(k.argv[1:])
	for _, w := range rest {
		name, ok := w.Text()
		r.subscriptCode(f, w)
		if !ok {
			continue
		}
		if base, _, isElement := strings.Cut(name, "["); isElement {
			if syntax.ValidName(base) { // the arguments have no elements to unset
				r.st.put(base, nil)
			}
			continue
		}
		if !opts.any("f") {
			r.st.put(name, &entry{unset: true})
		}
		if opts.any("f") || r.st.get(name) == nil {
			r.st.put(keyFunc+name, nil)
		}
	}
}

// runSet reads set, which replaces the positional parameters. Each o among the option letters takes a word as its name.
func (r *reader) runSet(f *frame, k *call, _ string) {
	args := k.argv[1:]
	for len(args) > 0 {
		s := args[0].Prefix()
		if args[0].Is("--") || args[0].Is("-") {
			args = args[1:]
			r.setArgs(args)
			return
		}
		if len(s) < 2 || s[0] != '-' && s[0] != '+' {
			break
		}
		names := args[1:min(1+strings.Count(s, "o"), len(args))]
		r.setOptions(f, k, s, names)
		args = args[1+len(names):]
	}
	if len(args) > 0 {
		r.setArgs(args)
	}
}

// setOptions reads one word of set's options and the names that it takes.
func (r *reader) setOptions(f *frame, k *call, letters string, names []Word) {
	named := func(name string) bool { return slices.ContainsFunc(names, func(w Word) bool { return w.Is(name) }) }
	if w, ok := r.variable("PS4"); ok && r.st.get("PS4") != nil && (strings.ContainsRune(letters, 'x') || named("xtrace")) {
		r.promptCode(f.at(k, "PS4"), w)
	}
	r.allExport = r.allExport || letters[0] == '-' && (ExportsAll(letters) || named("allexport"))
	r.physical = r.physical || letters[0] == '-' && (strings.ContainsRune(letters, 'P') || named("physical"))
}

func (r *reader) setArgs(args []Word) {
	r.st.put(keyArgs, (&entry{isList: true}).append(args))
}

func (r *reader) runShift(_ *frame, k *call, _ string) {
	n := 1
	if len(k.argv) > 1 {
		s, _ := k.argv[1].Text()
		v, err := strconv.Atoi(s)
		if err != nil || v < 0 {
			r.st.put(keyArgs, &entry{isList: true, maybe: true})
			return
		}
		n = v
	}
	e := r.array(keyArgs)
	if n > len(e.list) {
		return
	}
	r.st.put(keyArgs, &entry{isList: true, list: e.list[n:], maybe: e.maybe, opaque: e.opaque, sure: max(e.sure-n, 0)})
}

// optionRounds returns the options that getopts finds among the arguments if it is the condition of a
// loop, and the variable for their letters, "" if they are not known.
func (r *reader) optionRounds(f *frame, c *syntax.WhileClause) (opts options, name string) {
	call, args := getoptsAlone(c), r.st.get(keyArgs)
	if call == nil || args.maybe || args.others != nil || r.st.get("OPTIND") != nil || r.st.get(keyFunc+"getopts") != nil {
		return nil, ""
	}
	spec, known := r.word(f, call.Args[1]).Text()
	opts, rest := optionLetters(spec).parse(args.list)
	isOther := func(o option) bool { return len(o.name) > 1 || !strings.Contains(spec, o.name) }
	if !known || len(rest) > 0 && rest[0].HasUnknown() || slices.ContainsFunc(opts, isOther) {
		return nil, ""
	}
	r.st.set("OPTIND", Text(strconv.Itoa(len(args.list)-len(rest)+1)))
	return opts, call.Args[2].Lit()
}

// getoptsAlone returns the call of getopts that alone decides whether a loop goes on, or nil.
func getoptsAlone(c *syntax.WhileClause) *syntax.CallExpr {
	cond := c.Cond[0]
	call, _ := cond.Cmd.(*syntax.CallExpr)
	if len(c.Cond) != 1 || c.Until || cond.Negated || len(cond.Redirs) > 0 || call == nil || len(call.Assigns) > 0 ||
		len(call.Args) != 3 || call.Args[0].Lit() != "getopts" {
		return nil
	}
	return call
}

// optionLetters is the grammar that getopts is told: letters, with a colon behind those with a value.
func optionLetters(spec string) *grammar {
	var takes []string
	for i := range len(spec) - 1 {
		if spec[i+1] == ':' {
			takes = append(takes, "-"+spec[i:i+1])
		}
	}
	return &grammar{getopt.Of("").Taking(takes...), getopt.Manner{Leading: true}}
}

var plainPattern = regexp.MustCompile(`^[\w.+-]+$`)

// caseClause reads all items. If the word is known, those that are for other words change no variables.
func (r *reader) caseClause(f *frame, c *syntax.CaseClause) Word {
	ways, subject := 0, Word{}
	r.eachAlternative(f, func() Word { ways++; subject = r.word(f, c.Word); return Word{} })
	value, known := subject.Text()
	isOther := func(p *syntax.Word) bool { // whatever nocasematch says
		return plainPattern.MatchString(p.Lit()) && !strings.EqualFold(p.Lit(), value)
	}
	g := *f
	g.Conditional = true
	var branches []change
	var out word.Builder
	closed, falls := false, false
	for _, item := range c.Items {
		other := known && ways == 1 && !falls
		for _, p := range item.Patterns {
			closed, other = closed || p.Lit() == "*", other && isOther(p)
			r.eachAlternative(f, func() Word { r.word(f, p); return Word{} })
		}
		after := r.branch(func() { out.AddWord(r.stmts(&g, item.Stmts)) })
		switch falls = item.Op != syntax.Break; {
		case other:
		case falls:
			r.join(after, nil) // the next item may run after this one
		default:
			branches = r.goesOn(branches, item.Stmts, after)
		}
	}
	if !closed {
		branches = append(branches, nil)
	}
	r.join(branches...)
	return out.Word()
}

// runRead reads read, which takes the fields of the input's first line.
func (r *reader) runRead(f *frame, k *call, name string) {
	opts, names := optionsFirst(name).parse(k.argv[1:])
	text, known, goesOn := f.stdin.Text, f.stdin.Kind != InputInherited, f.InLoop || f.stdin.shared
	if fd, ok := opts.Get("u"); ok {
		text, known, goesOn = r.content(f, Glue(Text("/dev/fd/"), fd)), true, true
	}
	if !known {
		text = word.Unknown("")
	}
	lines := text.Lines()
	line := Word{}
	if len(lines) > 0 {
		line = lines[0]
	}
	if delim, ok := opts.Get("d"); ok {
		line = firstUntil(text, delim)
		lines = nil
	}
	ifs := r.ifs()
	if w, ok := assigned(k.assigns, "IFS"); ok {
		if s, static := w.Text(); static {
			ifs = s
		}
	}
	for _, w := range names {
		r.subscriptCode(f, w)
	}
	if (goesOn || passed(text)) && len(lines) > 1 {
		// A loop reads every line, commands may share an input, and a filter may pass on any: all are alternatives.
		r.readLines(opts, names, lines, ifs)
		return
	}
	r.readLine(opts, names, line, ifs)
}

// firstUntil returns the text before the first delimiter; an empty delimiter means NUL.
func firstUntil(text, delim Word) Word {
	d, ok := delim.Text()
	if !ok || d == "" {
		d = "\x00"
	}
	line, _, _ := text.Split(d[:1])
	return line
}

// tested reads a word of a test. One that is a number or a name may have a subscript.
func (r *reader) tested(f *frame, word *syntax.Word, counts bool) {
	if !counts {
		r.word(f, word)
		return
	}
	w := r.text(f, word)
	if s, ok := w.Text(); ok && syntax.ValidName(s) {
		w, _ = r.variable(s)
	}
	r.subscriptCode(f, w)
}

// runTest reads test and [, whose -v takes the name of a variable.
func (r *reader) runTest(f *frame, k *call, _ string) Word {
	for i, w := range k.argv[:len(k.argv)-1] {
		if w.Is("-v") {
			r.subscriptCode(f, k.argv[i+1])
		}
	}
	return r.plain(f, k)
}

// subscriptCode reads the substitutions in the subscript of a name that a builtin takes as a word, as in printf -v 'a[$(id)]'.
func (r *reader) subscriptCode(f *frame, name Word) {
	_, sub, ok := name.Split("[")
	if s := sub.String(); ok && strings.ContainsAny(s, "$`") {
		r.carried(f.with("subscript"), Glue(Text(": \""), sub, Text("\"")), "prompt")
	}
}

// readLines assigns every line of the input to the names, as alternatives.
func (r *reader) readLines(opts options, names, lines []Word, ifs string) {
	var changes []change
	for i, l := range lines {
		if i >= maxPasses {
			l = word.Unknown("")
		}
		changes = append(changes, r.branch(func() { r.readLine(opts, names, l, ifs) }))
		if i >= maxPasses {
			break
		}
	}
	r.join(changes...)
}

// readLine assigns the fields of a line to the names.
func (r *reader) readLine(opts options, names []Word, line Word, ifs string) {
	array, isArray := opts.Get("a")
	n := len(names)
	switch {
	case isArray:
		n = -1
	case n == 0:
		names, n, ifs = []Word{Text("REPLY")}, 1, "" // REPLY keeps its blanks
	}
	fields, known := fieldsOf(line, ifs, n, opts.any("r"))
	if name, static := array.Text(); isArray && static {
		r.st.put(name, &entry{isList: true, list: fields, opaque: !known})
		return
	}
	for i, w := range names {
		value := Word{}
		if i < len(fields) || !known {
			value = fields[min(i, len(fields)-1)]
		}
		if name, ok := w.Text(); ok {
			r.st.set(name, value.Quoted())
		}
	}
}

// fieldsOf splits a line into n fields, or all if n is negative. Of a line that is not known, each of several fields may be anything.
func fieldsOf(line Word, ifs string, n int, raw bool) (fields []Word, known bool) {
	text, known := line.Text()
	if !known && n != 1 {
		line = NewWord(slices.DeleteFunc(slices.Clone(line.Parts()), func(p Part) bool { return p.Kind != PartUnknown })...)
	}
	if !known {
		return []Word{line}, false
	}
	return Texts(expand.ReadFields(&expand.Config{Env: expand.ListEnviron("IFS=" + ifs)}, text, n, raw)), true
}

// runMapfile reads mapfile, which fills an array with lines and runs the code of -C.
func (r *reader) runMapfile(f *frame, k *call, _ string) {
	opts, names := optionsFirst("mapfile").parse(k.argv[1:])
	for _, code := range opts.all("C") {
		r.carried(f.at(k, "mapfile"), Glue(code, Text(" 0 "), Text("''")), "mapfile")
	}
	name := "MAPFILE"
	if len(names) > 0 {
		name, _ = names[0].Text()
	}
	text := f.stdin.Text
	if f.stdin.Kind == InputInherited {
		text = word.Unknown("")
	}
	lines := text.Lines()
	if opts.any("d") {
		lines = []Word{word.Unknown(name)}
	}
	if !r.step(f, len(lines)/4) || len(lines) > maxFields {
		r.problem(f, Problem{Kind: ProblemTooBig, Detail: wording.Say("an array has too many elements")})
		lines = append(lines[:min(len(lines), maxFields):maxFields], word.Unknown(name))
	}
	r.st.put(name, &entry{isList: true, list: lines, opaque: opts.any("d") || text.HasUnknown()})
}

func (r *reader) runAlias(_ *frame, k *call, _ string) {
	for _, w := range k.argv[1:] {
		name, value, ok := w.Split("=")
		if n, static := name.Text(); ok && static && n != "" {
			r.st.set(keyAlias+n, value.Quoted())
		}
	}
}

func (r *reader) runUnalias(_ *frame, k *call, _ string) {
	for _, w := range k.argv[1:] {
		if n, ok := w.Text(); ok {
			r.st.put(keyAlias+n, nil)
		}
	}
}

// runTrap reads the code that a trap runs later.
func (r *reader) runTrap(f *frame, k *call, name string) {
	opts, rest := optionsFirst(name).parse(k.argv[1:])
	if len(rest) < 2 || opts.any("p", "l") || rest[0].Is("") || rest[0].Is("-") {
		return
	}
	g := f.at(k, "trap")
	g.Conditional = true
	r.scoped(func() Word { return r.carried(g, rest[0], "trap") })
}

// runHash reads hash -p, which makes a name run another program.
func (r *reader) runHash(_ *frame, k *call, name string) {
	opts, rest := optionsFirst(name).parse(k.argv[1:])
	target, ok := opts.Get("p")
	if !ok {
		return
	}
	for _, w := range rest {
		if name, static := w.Text(); static {
			r.st.set(keyHash+name, target)
			r.stays(name, r.resolvePath(target).String())
		}
	}
}

// runPrintf reads printf, which may assign its output.
func (r *reader) runPrintf(f *frame, k *call, _ string) Word {
	if len(k.argv) > 3 && k.argv[1].Is("-v") {
		name, ok := k.argv[2].Text()
		r.subscriptCode(f, k.argv[2])
		if ok {
			r.assign(f, name, word.Printf(k.argv[3:]))
		}
		return Word{}
	}
	return r.plain(f, k)
}

func (i Input) files() (all []string) {
	for _, p := range i.Text.Parts() {
		if path.IsAbs(p.File) {
			all = append(all, p.File)
		}
	}
	return all
}

// namesCode reports whether the name of a file for which a pattern in code stands is code itself: a; rm -rf b.txt.
func (r *reader) namesCode(w Word) bool {
	files, _ := r.matching(w.MapText(func(s string) string { return strings.Trim(s, `"'`) }))
	return w.HasGlob() && slices.ContainsFunc(files, func(name string) bool { return strings.ContainsAny(path.Base(name), ";&|<>`$\n") })
}
