package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/metnos/vaglio/vaglio/shell/word"
)

// stmt reads one statement and returns its output, if the frame wants it.
func (r *reader) stmt(f *frame, s *syntax.Stmt) Word {
	if !r.step(f, 3) || !r.enter(f) {
		return word.OutputOf("")
	}
	defer r.leave()
	if f.numbered {
		f.file.line = f.file.first - 1 + int(s.Pos().Line())
	}
	if s.Background || s.Coprocess || s.Disown {
		g := *f
		g.Background, g.beside = true, true
		return r.scoped(func() Word { return r.foreground(&g, s) })
	}
	return r.foreground(f, s)
}

// foreground reads a statement that its shell waits for.
func (r *reader) foreground(f *frame, s *syntax.Stmt) Word {
	if call, ok := s.Cmd.(*syntax.CallExpr); ok {
		return r.callExpr(f, call, s)
	}
	g := *f
	g.stdin.shared = true
	f = &g
	if len(s.Redirs) == 0 {
		return r.command(f, s)
	}
	return r.redirected(f, s)
}

// redirected reads a compound command with redirections of its own.
func (r *reader) redirected(f *frame, s *syntax.Stmt) Word {
	return r.eachAlternative(f, func() Word {
		g := *f
		red := r.redirects(&g, s.Redirs)
		g.stdin.shared = true
		if len(red.list) > 0 || s.Cmd == nil {
			r.emit(&g, Command{Redirects: red.list, Span: f.spanOf(s), Wrapper: s.Cmd != nil})
		}
		g.capture = f.capture || red.wants()
		switch {
		case s.Cmd != nil && red.wants():
			return r.asOne(func() Word { return r.deliver(f, red, r.command(&g, s)) })
		case s.Cmd != nil:
			return r.command(&g, s)
		case g.stdin.Kind == InputFile: // $(<file)
			return r.asOne(func() Word { return r.deliver(f, red, g.stdin.Text) })
		}
		return r.deliver(f, red, Word{})
	})
}

func (r *reader) stmts(f *frame, list []*syntax.Stmt) Word {
	if len(list) == 1 {
		return r.stmt(f, list[0])
	}
	var b word.Builder
	for _, s := range list {
		b.AddWord(r.stmt(f, s))
	}
	return b.Word()
}

func (r *reader) command(f *frame, s *syntax.Stmt) Word {
	switch c := s.Cmd.(type) {
	case *syntax.Block:
		return r.stmts(f, c.Stmts)
	case *syntax.Subshell:
		return r.subshell(f, c.Stmts)
	case *syntax.BinaryCmd:
		return r.binary(f, c)
	case *syntax.IfClause:
		return r.ifClause(f, c)
	case *syntax.WhileClause:
		return r.asOne(func() Word { return r.whileClause(f, c) })
	case *syntax.ForClause:
		return r.asOne(func() Word { return r.forClause(f, c) })
	case *syntax.CaseClause:
		return r.caseClause(f, c)
	case *syntax.DeclClause:
		return r.eachAlternative(f, func() Word { return r.declClause(f, c) })
	case *syntax.TimeClause:
		if c.Stmt != nil {
			return r.stmt(f.with("time"), c.Stmt)
		}
	}
	r.silent(f, s.Cmd)
	return Word{}
}

// silent reads a compound command that writes nothing to standard output.
func (r *reader) silent(f *frame, c syntax.Command) {
	switch c := c.(type) {
	case *syntax.FuncDecl:
		r.declareFunction(f, c)
	case *syntax.ArithmCmd:
		r.arithmStmt(f, c.X)
	case *syntax.LetClause:
		for _, x := range c.Exprs {
			r.arithmStmt(f, x)
		}
	case *syntax.TestClause:
		r.testClause(f, c.X)
	case *syntax.CoprocClause:
		g := *f
		g.Background, g.beside, g.capture = true, true, true
		g.stdin = Input{Kind: InputText, Text: word.OutputOf(""), Piped: true} // what later commands write to it
		name := "COPROC"
		if c.Name != nil {
			name = c.Name.Lit()
		}
		fd := r.numbered("{" + name + "}")
		r.descriptor(fd, r.scoped(func() Word { return r.stmt(&g, c.Stmt) }))
		r.st.put(name, &entry{isList: true, list: []Word{Text(fd), Text(fd)}})
	}
}

func (r *reader) subshell(f *frame, list []*syntax.Stmt) Word {
	var ways, returned []Word
	out := r.scoped(func() (out Word) {
		ways, returned = r.gathered(func() { out = r.stmts(f, list) })
		return out
	})
	r.flow(either(ways, returned), nil)
	return out
}

// link is one statement of a chain and the operator before it.
type link struct {
	op syntax.BinCmdOperator
	s  *syntax.Stmt
}

// chain unrolls a pipeline, or a chain of && and ||, iteratively: the parser nests it to the left without bound.
func chain(c *syntax.BinaryCmd) (first *syntax.Stmt, links []link) {
	for b, ok := c, true; ok; b, ok = first.Cmd.(*syntax.BinaryCmd) {
		if first != nil && (isPipe(b.Op) != isPipe(c.Op) || len(first.Redirs) > 0 || first.Background) {
			break
		}
		links = append(links, link{b.Op, b.Y})
		first = b.X
	}
	slices.Reverse(links)
	return first, links
}

func isPipe(op syntax.BinCmdOperator) bool { return op == syntax.Pipe || op == syntax.PipeAll }

// binary reads a chain of &&, || and pipes.
func (r *reader) binary(f *frame, c *syntax.BinaryCmd) Word {
	if isPipe(c.Op) {
		return r.asOne(func() Word { return r.pipe(f, c) })
	}
	first, links := chain(c)
	from := r.st.get(keyCwd)
	var out word.Builder
	written := outcome{ok: []Word{{}}}
	read := func(f *frame, op syntax.BinCmdOperator, s *syntax.Stmt) {
		written.add(r, op, s, func() { out.AddWord(r.stmt(f, s)) })
	}
	read(f, syntax.AndStmt, first)
	g := *f
	sure := surelySucceeds(first)
	if slices.ContainsFunc(links, func(l link) bool { return l.op == syntax.OrStmt }) {
		g.Conditional = true
		for i, l := range links {
			if i == 0 {
				g.Unless = r.absentAfter(f, first, l.op == syntax.AndStmt)
			} else {
				g.Unless = f.Unless
			}
			after := r.branch(func() { r.unmoved(from, i == 0 && l.op == syntax.OrStmt, func() { read(&g, l.op, l.s) }) })
			r.join(r.goesOn([]change{nil}, []*syntax.Stmt{l.s}, after)...)
		}
		return written.end(r, out.Word())
	}
	// Within a chain of && each link sees what the links before it did. What follows the chain may also run when the chain broke off.
	for len(links) > 0 && sure {
		read(&g, syntax.AndStmt, links[0].s)
		sure = surelySucceeds(links[0].s)
		links = links[1:]
	}
	g.Conditional = true
	g.Unless = r.absentAfter(f, first, true)
	r.join(r.branch(func() {
		for _, l := range links {
			read(&g, syntax.AndStmt, l.s)
		}
	}), nil)
	return written.end(r, out.Word())
}

// unmoved reads what runs if the change of a folder before it failed: what leaves there is still in the old one.
func (r *reader) unmoved(from *entry, failed bool, read func()) {
	to := r.st.get(keyCwd)
	if !failed || to == from {
		read()
		return
	}
	r.st.put(keyCwd, from)
	read()
	if r.st.get(keyCwd) == from {
		r.st.put(keyCwd, to)
	}
}

// outcome is what a chain may have written to a substitution when it succeeded, when it failed and when it returned.
type outcome struct{ ok, failed, returned []Word }

// add reads one more link. What fails is taken to have written nothing, or all it would.
func (o *outcome) add(r *reader, op syntax.BinCmdOperator, s *syntax.Stmt, read func()) {
	ways, returned := r.gathered(read)
	from, kept := o.ok, []Word(nil)
	if op == syntax.OrStmt {
		from, kept, o.failed = o.failed, o.ok, nil
	}
	all := r.followed(from, ways)
	o.ok, o.returned = either(kept, all), either(o.returned, r.followed(from, returned))
	if surelySucceeds(s) || len(ways) == 0 {
		return
	}
	o.failed = either(o.failed, from)
	if !slices.ContainsFunc(ways, Word.HasUnknown) {
		o.failed = either(o.failed, all)
	}
}

// end hands the outcome on and returns the output as one word.
func (o *outcome) end(r *reader, out Word) Word {
	r.flow(either(o.ok, o.failed), o.returned)
	return out
}

// surelySucceeds reports whether a statement hardly ever fails, so that what follows its && is taken to run.
func surelySucceeds(s *syntax.Stmt) bool {
	call, ok := s.Cmd.(*syntax.CallExpr)
	names := []string{"cd", "pushd", "popd", "export", "echo", "printf", "true", ":", "set", "mkdir", "pwd", "alias"}
	return ok && !s.Negated && (len(call.Args) == 0 || slices.Contains(names, call.Args[0].Lit()))
}

// pipe reads a pipeline: each stage in its own shell, with the output of the stage before as its input.
func (r *reader) pipe(f *frame, c *syntax.BinaryCmd) Word {
	first, links := chain(c)
	links = slices.Insert(links, 0, link{s: first})
	g := *f
	g.beside = true
	var out Word
	for i, l := range links {
		last := i == len(links)-1
		g.capture = f.capture || !last
		if last {
			r.perhaps(func() { out = r.stmt(&g, l.s) }) // zsh and lastpipe run it in the shell itself
		} else {
			out = r.subshell(&g, []*syntax.Stmt{l.s})
		}
		g.stdin = Input{Kind: InputText, Text: out, Piped: true}
	}
	return out
}

func (r *reader) ifClause(f *frame, c *syntax.IfClause) Word {
	var branches []change
	var out word.Builder
	closed := false
	g := *f
	g.Conditional = true
	for i := c; i != nil; i = i.Else {
		if len(i.Cond) > 0 {
			out.AddWord(r.stmts(f, i.Cond))
		} else {
			closed = true
		}
		then := g
		if len(i.Cond) == 1 {
			then.Unless = r.absentAfter(f, i.Cond[0], true)
		}
		branches = r.goesOn(branches, i.Then, r.branch(func() { out.AddWord(r.stmts(&then, i.Then)) }))
		f = &g
		if r.stopped {
			break
		}
	}
	if !closed {
		branches = append(branches, nil)
	}
	r.join(branches...)
	return out.Word()
}

// pieces reads what stands between semicolons, braces and ends of lines in a text that does not parse
// because it is for a shell in whose grammar other words stand around the same commands.
func (r *reader) pieces(f *frame, src string) {
	if f.lenient || !f.otherGrammar() {
		return
	}
	g := *f
	g.lenient = true
	blocks := strings.NewReplacer(" {", "\n", "} ", "\n", " }", "\n")
	for piece := range strings.FieldsFuncSeq(blocks.Replace(src), func(c rune) bool { return c == ';' || c == '\n' }) {
		r.source(&g, piece)
	}
}

// gathered reads something and returns what it may write to a substitution, one word for each way through it, and what it may have written when it returned.
// There is nothing if no substitution is being read.
func (r *reader) gathered(read func()) (ways, returned []Word) {
	out, before := r.st.get(keyOut), r.st.get(keyReturned)
	if out == nil {
		read()
		return nil, nil
	}
	ways, returned = r.outputs(read)
	r.st.put(keyOut, out)
	r.st.put(keyReturned, before)
	return ways, returned
}

// outputs reads something that writes to a substitution of its own; see [reader.gathered].
func (r *reader) outputs(read func()) (ways, returned []Word) {
	r.st.set(keyOut, Word{})
	r.st.put(keyReturned, &entry{})
	read()
	return r.st.get(keyOut).vals, r.st.get(keyReturned).vals
}

// flow adds what a statement may write to what the substitution may have written before it.
func (r *reader) flow(ways, returned []Word) {
	out, before := r.st.get(keyOut), r.st.get(keyReturned)
	if out == nil {
		return
	}
	r.st.put(keyOut, &entry{vals: r.followed(out.vals, ways)})
	if len(returned) > 0 {
		r.st.put(keyReturned, &entry{vals: either(before.vals, r.followed(out.vals, returned))})
	}
}

// followed returns each of some words followed by each of some others.
func (r *reader) followed(first, then []Word) (all []Word) {
	for _, a := range first {
		for _, b := range then {
			w := Glue(a, b)
			if w.Size() > word.MaxSize || !r.step(nil, w.Size()/bytesPerStep) {
				w = word.OutputOf("")
			}
			all = addAlternative(all, w)
		}
	}
	return all
}

func either(a, b []Word) []Word {
	all := slices.Clone(a)
	for _, w := range b {
		all = addAlternative(all, w)
	}
	return all
}

// attributes returns an entry without a value that has the attributes of both.
func attributes(a, b *entry) *entry {
	return &entry{
		maybe: a.maybe || b.maybe, unset: a.unset && b.unset, ref: a.ref, exported: a.exported || b.exported,
		inherited: a.inherited || b.inherited, lower: a.lower, upper: a.upper, ints: a.ints,
	}
}

func addAlternative(vals []Word, w Word) []Word {
	if len(vals) >= maxAlternatives && !slices.ContainsFunc(vals, w.Equal) {
		w = word.Unknown("")
	}
	if len(vals) > maxAlternatives || slices.ContainsFunc(vals, w.Equal) {
		return vals
	}
	return append(vals, w)
}
