package shell

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// runCommand reads command and builtin.
func (r *reader) runCommand(f *frame, k *call, name string) Word {
	opts, rest := grammar{}.parse(k.argv[1:])
	if len(rest) == 0 || opts.any("v", "V") {
		return r.plain(f, k)
	}
	return r.run(f.at(k, name), &call{argv: rest, redirs: k.redirs, assigns: k.assigns, span: k.span, external: true})
}

// runExec reads exec, which may only redirect.
func (r *reader) runExec(f *frame, k *call) Word {
	_, rest := grammar{values: "a"}.parse(k.argv[1:])
	if len(rest) == 0 {
		if f.stdin.Kind != InputInherited {
			r.descriptor("0", f.stdin.Text)
		}
		r.emit(f, Command{Argv: k.argv, Redirects: k.redirs, Span: k.span})
		return Word{}
	}
	return r.inner(f, k, "exec", rest)
}

// resolvePath is a path as seen from the current folder.
func (r *reader) resolvePath(p Word) Word {
	s, ok := p.Text()
	if !ok {
		if strings.HasPrefix(p.Prefix(), "/") || len(p.parts) > 0 && p.parts[0].Kind == PartUnknown {
			return p
		}
		return Glue(r.cwd(), Text("/"), p)
	}
	if path.IsAbs(s) {
		return Text(path.Clean(s))
	}
	cwd := r.cwd()
	if c, ok := cwd.Text(); ok {
		return Text(path.Join(c, s))
	}
	if s = path.Clean(s); s == "." {
		return cwd
	}
	return Glue(cwd, Text("/"+s))
}

// runCd reads cd and pushd, which are taken to succeed.
func (r *reader) runCd(k *call, name string) {
	_, rest := grammar{}.parse(k.argv[1:])
	old := r.cwd()
	if name == "pushd" {
		e := r.st.get(keyStack)
		stack := &entry{isList: true}
		if e != nil {
			stack.list = slices.Clone(e.list)
		}
		stack.list = append(stack.list, old)
		r.st.put(keyStack, stack)
	}
	target := Word{}
	switch {
	case len(rest) == 0 && name == "pushd":
		target = unknownHome("OLDPWD")
	case len(rest) == 0:
		target, _ = r.home("")
	case rest[0].Is("-") || len(k.argv) > 1 && k.argv[len(k.argv)-1].Is("-"):
		target = r.prevCwd()
	case rest[0].Is(""):
		target = old
	default:
		target = r.resolvePath(rest[0])
	}
	r.st.set(keyPrev, old)
	r.st.set(keyCwd, target)
}

func (r *reader) runPopd() {
	e := r.st.get(keyStack)
	if e == nil || len(e.list) == 0 {
		r.st.set(keyCwd, unknownHome("PWD"))
		return
	}
	last := e.list[len(e.list)-1]
	r.st.put(keyStack, &entry{isList: true, list: slices.Clone(e.list[:len(e.list)-1])})
	r.st.set(keyPrev, r.cwd())
	r.st.set(keyCwd, last)
}

// declClause reads declare, local, export, readonly and typeset as the parser
// knows them.
func (r *reader) declClause(f *frame, c *syntax.DeclClause) Word {
	d := &declaration{variant: c.Variant.Value, export: c.Variant.Value == "export"}
	cmd := Command{Span: f.spanOf(c), Argv: []Word{Text(c.Variant.Value)}}
	// Every word is expanded before the first is assigned.
	values := make([]Word, len(c.Args))
	for i, a := range c.Args {
		values[i] = r.text(f, a.Value)
	}
	for i, a := range c.Args {
		if a.Naked && a.Name == nil {
			for _, w := range r.fields(f, a.Value) {
				r.declareWord(f, d, w)
				cmd.Argv = append(cmd.Argv, w)
			}
			continue
		}
		as := Assign{}
		if a.Name != nil {
			as.Name = a.Name.Value
		}
		if i < len(values) {
			as.Value = values[i]
		}
		if a.Naked {
			cmd.Argv = append(cmd.Argv, Text(as.Name))
			r.declareName(f, d, as.Name, Word{}, false)
			continue
		}
		cmd.Assigns = append(cmd.Assigns, as)
		if a.Array != nil || a.Index != nil || a.Append {
			if d.variant == "local" || d.inFunction(r) {
				r.local(as.Name)
			}
			if d.assoc {
				r.st.put(as.Name, &entry{isList: true, assoc: map[string]Word{}})
			}
			r.assignNode(f, a, as.Value)
			continue
		}
		r.declareName(f, d, as.Name, as.Value, true)
	}
	if interestingAssign(cmd.Assigns) {
		r.emit(f, cmd)
		if c.Variant.Value == "export" {
			r.codeInAssigns(f, &call{assigns: cmd.Assigns, span: cmd.Span})
		}
	}
	return Word{}
}

// declaration is what the options of a declaring command say.
type declaration struct {
	variant                          string
	ref, lower, upper, ints, assoc   bool
	array, global, functions, export bool
}

// inFunction reports whether the declared variables are local to a function.
func (d *declaration) inFunction(r *reader) bool {
	return len(r.locals) > 0 && !d.global && (d.variant == "local" || d.variant == "declare" || d.variant == "typeset")
}

// declareWord reads an option or a computed name=value.
func (r *reader) declareWord(f *frame, d *declaration, w Word) {
	s := w.Prefix()
	if strings.HasPrefix(s, "-") {
		for _, c := range s[1:] {
			switch c {
			case 'n':
				d.ref = d.variant != "export"
			case 'l':
				d.lower = true
			case 'u':
				d.upper = true
			case 'i':
				d.ints = true
			case 'A':
				d.assoc = true
			case 'a':
				d.array = true
			case 'g':
				d.global = true
			case 'f':
				d.functions = true
			case 'x':
				d.export = true
			}
		}
		return
	}
	name, value, ok := w.splitAt("=")
	if n, static := name.Text(); static && n != "" {
		r.declareName(f, d, n, value, ok)
	}
}

func (r *reader) declareName(f *frame, d *declaration, name string, value Word, has bool) {
	if d.functions {
		if d.export {
			r.export(name)
		}
		return
	}
	if d.inFunction(r) {
		r.local(name)
		if !has {
			r.st.put(name, &entry{unset: true})
		}
	}
	if d.ref {
		target, ok := value.Text()
		if ok && has {
			r.st.put(name, &entry{ref: target})
		}
		return
	}
	if d.assoc || d.array {
		if !has {
			e := &entry{isList: true}
			if d.assoc {
				e.assoc = map[string]Word{}
			}
			r.st.put(name, e)
		}
		return
	}
	if !has && !d.lower && !d.upper && !d.ints {
		if d.export {
			r.export(name)
		}
		return
	}
	if d.lower || d.upper || d.ints {
		e := &entry{lower: d.lower, upper: d.upper, ints: d.ints, unset: !has}
		if old := r.st.get(name); old != nil && !has {
			e.vals, e.unset = old.vals, old.unset
		}
		r.st.put(name, e)
	}
	if has {
		r.assign(f, name, value)
	}
	if d.export {
		r.export(name)
	}
}

// export lets the shells below see a name.
func (r *reader) export(name string) {
	for _, key := range []string{name, keyFunc + name} {
		if e := r.st.get(key); e != nil && !e.exported {
			c := *e
			c.exported = true
			r.st.put(key, &c)
		}
	}
}

// runDeclare reads a declaring command whose name was computed or quoted.
func (r *reader) runDeclare(f *frame, k *call, name string) {
	d := &declaration{variant: name, export: name == "export"}
	for _, w := range k.argv[1:] {
		r.declareWord(f, d, w)
	}
}

func (r *reader) runUnset(k *call) {
	opts, rest := grammar{}.parse(k.argv[1:])
	for _, w := range rest {
		name, ok := w.Text()
		if !ok {
			continue
		}
		if base, _, isElement := strings.Cut(name, "["); isElement {
			name = base
			r.st.put(name, nil)
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

// runSet reads set, which replaces the positional parameters.
func (r *reader) runSet(f *frame, k *call) {
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
		if strings.ContainsRune(s, 'x') {
			if w, ok := r.variable("PS4"); ok && r.st.get("PS4") != nil {
				r.promptCode(f.at(k, "PS4"), w)
			}
		}
		r.allExport = r.allExport || s[0] == '-' && strings.ContainsRune(s, 'a') || s == "-o" && len(args) > 1 && args[1].Is("allexport")
		if s == "-o" || s == "+o" {
			args = tail(args, 2)
			continue
		}
		args = args[1:]
	}
	if len(args) > 0 {
		r.setArgs(args)
	}
}

func (r *reader) setArgs(args []Word) {
	r.st.put(keyArgs, &entry{isList: true, list: r.values(slices.Clone(args))})
}

func (r *reader) runShift(k *call) {
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
	e := r.st.get(keyArgs)
	if e == nil || n > len(e.list) {
		return
	}
	r.st.put(keyArgs, &entry{isList: true, list: e.list[n:], maybe: e.maybe})
}

// runRead reads read: the fields of the input's first line.
func (r *reader) runRead(f *frame, k *call) {
	opts, names := grammar{values: "adiNnptu"}.parse(k.argv[1:])
	text, known := f.stdin.Text, f.stdin.Kind != InputInherited
	if fd, ok := opts.get("u"); ok {
		text, known = r.content(f, Glue(Text("/dev/fd/"), fd)), true
	}
	if !known {
		text = unknown("")
	}
	lines := text.lines()
	line := Word{}
	if len(lines) > 0 {
		line = lines[0]
	}
	if f.inLoop && len(lines) > 1 {
		// A loop reads every line: all are alternatives.
		r.readLines(opts, names, lines)
		return
	}
	r.readLine(opts, names, line)
}

// readLines gives the names every line of the input as an alternative.
func (r *reader) readLines(opts options, names, lines []Word) {
	var changes []change
	for i, l := range lines {
		if i >= maxPasses {
			l = unknown("")
		}
		mark := r.st.mark()
		r.readLine(opts, names, l)
		changes = append(changes, r.st.rollback(mark))
		if i >= maxPasses {
			break
		}
	}
	r.st.join(changes...)
}

func (r *reader) readLine(opts options, names []Word, line Word) {
	if s, ok := line.Text(); ok && !opts.any("r") {
		line = Text(strings.ReplaceAll(s, "\\", ""))
	}
	if array, ok := opts.get("a"); ok {
		if n, static := array.Text(); static {
			e := &entry{isList: true}
			x := expander{r: r, f: &frame{}, ifs: r.ifs(), split: true}
			x.value(line, false)
			x.end()
			e.list = x.out
			r.st.put(n, e)
		}
		return
	}
	if len(names) == 0 {
		names = []Word{Text("REPLY")}
	}
	for i, w := range names {
		name, ok := w.Text()
		if !ok {
			continue
		}
		value := line
		if i < len(names)-1 {
			value, line = firstField(line, r.ifs())
		} else if len(names) > 1 || name != "REPLY" {
			value = value.mapText(func(s string) string { return strings.Trim(s, " \t") })
		}
		r.st.set(name, value.value())
	}
}

// firstField splits off the first field of a line.
func firstField(line Word, ifs string) (first, rest Word) {
	s, ok := line.Text()
	if !ok {
		return line, line
	}
	s = strings.TrimLeft(s, " \t")
	i := strings.IndexAny(s, ifs)
	if i < 0 || ifs == "" {
		return Text(s), Word{}
	}
	return Text(s[:i]), Text(strings.TrimLeft(s[i+1:], " \t"))
}

// runMapfile reads mapfile: an array of lines, and code by -C.
func (r *reader) runMapfile(f *frame, k *call) {
	opts, names := grammar{values: "dnOsuCc"}.parse(k.argv[1:])
	for _, code := range opts.all("C") {
		r.carried(f.at(k, "mapfile"), Glue(code, Text(" 0 "), Text("''")), "mapfile")
	}
	name := "MAPFILE"
	if len(names) > 0 {
		name, _ = names[0].Text()
	}
	text := f.stdin.Text
	if f.stdin.Kind == InputInherited {
		text = unknown("")
	}
	r.st.put(name, &entry{isList: true, list: text.lines()})
}

func (r *reader) runAlias(k *call) {
	for _, w := range k.argv[1:] {
		name, value, ok := w.splitAt("=")
		if n, static := name.Text(); ok && static && n != "" {
			r.st.set(keyAlias+n, value.value())
		}
	}
}

func (r *reader) runUnalias(k *call) {
	for _, w := range k.argv[1:] {
		if n, ok := w.Text(); ok {
			r.st.put(keyAlias+n, nil)
		}
	}
}

// runTrap reads the code that a trap runs later.
func (r *reader) runTrap(f *frame, k *call) {
	opts, rest := grammar{}.parse(k.argv[1:])
	if len(rest) < 2 || opts.any("p", "l") || rest[0].Is("") || rest[0].Is("-") {
		return
	}
	g := f.at(k, "trap")
	g.conditional = true
	r.isolated(func() { r.carried(g, rest[0], "trap") })
}

// runHash reads hash -p, which lets a name stand for another program.
func (r *reader) runHash(k *call) {
	opts, rest := grammar{values: "p"}.parse(k.argv[1:])
	target, ok := opts.get("p")
	if !ok {
		return
	}
	for _, w := range rest {
		if name, static := w.Text(); static {
			r.st.set(keyHash+name, target)
		}
	}
}

// runPrintf reads printf, which may assign its output.
func (r *reader) runPrintf(f *frame, k *call) Word {
	if len(k.argv) > 3 && k.argv[1].Is("-v") {
		name, ok := k.argv[2].Text()
		if ok {
			r.assign(f, name, formatted(k.argv[3:]))
		}
		return Word{}
	}
	return r.plain(f, k)
}
