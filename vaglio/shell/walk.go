package shell

import (
	"slices"

	"mvdan.cc/sh/v3/syntax"
)

// stmt reads one statement and returns its output, if the frame wants it.
func (r *reader) stmt(f *frame, s *syntax.Stmt) Word {
	if !r.step(f, 3) || !r.enter(f) {
		return outputOf("")
	}
	defer r.leave()
	if s.Background || s.Coprocess || s.Disown {
		g := *f
		g.background = true
		f = &g
		mark := r.st.mark()
		defer func() { r.st.rollback(mark) }()
	}
	if call, ok := s.Cmd.(*syntax.CallExpr); ok {
		return r.callExpr(f, call, s)
	}
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
		if len(red.list) > 0 || s.Cmd == nil {
			r.emit(&g, Command{Redirects: red.list, Span: f.spanOf(s)})
		}
		g.capture = f.capture || red.wants()
		var out Word
		if s.Cmd != nil {
			out = r.command(&g, s)
		} else if g.stdin.Kind == InputFile {
			out = g.stdin.Text // $(<file)
		}
		return r.deliver(f, red, out)
	})
}

func (r *reader) stmts(f *frame, list []*syntax.Stmt) Word {
	if len(list) == 1 {
		return r.stmt(f, list[0])
	}
	var b builder
	for _, s := range list {
		b.addWord(r.stmt(f, s))
	}
	return b.word()
}

// command reads a compound command.
//
//nolint:cyclop // One case per node type.
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
		return r.whileClause(f, c)
	case *syntax.ForClause:
		return r.forClause(f, c)
	case *syntax.CaseClause:
		return r.caseClause(f, c)
	case *syntax.FuncDecl:
		r.declareFunction(f, c)
	case *syntax.ArithmCmd:
		r.eachAlternative(f, func() Word { r.arithm(f, c.X); return Word{} })
	case *syntax.LetClause:
		for _, x := range c.Exprs {
			r.eachAlternative(f, func() Word { r.arithm(f, x); return Word{} })
		}
	case *syntax.TestClause:
		r.testClause(f, c.X)
	case *syntax.DeclClause:
		return r.eachAlternative(f, func() Word { return r.declClause(f, c) })
	case *syntax.TimeClause:
		if c.Stmt != nil {
			return r.stmt(f.with("time"), c.Stmt)
		}
	case *syntax.CoprocClause:
		g := *f
		g.background = true
		r.isolated(func() { r.stmt(&g, c.Stmt) })
	case *syntax.TestDecl:
		return r.stmt(f, c.Body)
	}
	return Word{}
}

// isolated reads something whose changes the shell does not see.
func (r *reader) isolated(read func()) {
	mark := r.st.mark()
	read()
	r.st.rollbackButFiles(mark)
}

func (r *reader) subshell(f *frame, list []*syntax.Stmt) Word {
	var out Word
	r.isolated(func() { out = r.stmts(f, list) })
	return out
}

// binary reads a chain of &&, || and pipes. The chain is walked iteratively,
// for the parser nests it to the left without bound.
func (r *reader) binary(f *frame, c *syntax.BinaryCmd) Word {
	if c.Op == syntax.Pipe || c.Op == syntax.PipeAll {
		return r.pipe(f, c)
	}
	type link struct {
		op syntax.BinCmdOperator
		s  *syntax.Stmt
	}
	var links []link
	first := c.X
	links = append(links, link{c.Op, c.Y})
	for {
		b, ok := first.Cmd.(*syntax.BinaryCmd)
		if !ok || b.Op == syntax.Pipe || b.Op == syntax.PipeAll || len(first.Redirs) > 0 || first.Background {
			break
		}
		links = append(links, link{b.Op, b.Y})
		first = b.X
	}
	slices.Reverse(links)
	var out builder
	out.addWord(r.stmt(f, first))
	g := *f
	sure := surelySucceeds(first)
	if slices.ContainsFunc(links, func(l link) bool { return l.op == syntax.OrStmt }) {
		g.conditional = true
		for _, l := range links {
			mark := r.st.mark()
			out.addWord(r.stmt(&g, l.s))
			r.st.join(r.st.rollback(mark), nil)
		}
		return out.word()
	}
	// Within a chain of && each link sees what the links before it did; what
	// follows the chain may also run when the chain broke off.
	for len(links) > 0 && sure {
		out.addWord(r.stmt(&g, links[0].s))
		sure = surelySucceeds(links[0].s)
		links = links[1:]
	}
	g.conditional = true
	mark := r.st.mark()
	for _, l := range links {
		out.addWord(r.stmt(&g, l.s))
	}
	r.st.join(r.st.rollback(mark), nil)
	return out.word()
}

// surelySucceeds reports whether a statement hardly ever fails, so that what
// stands behind its && is taken to run.
func surelySucceeds(s *syntax.Stmt) bool {
	call, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || s.Negated {
		return false
	}
	if len(call.Args) == 0 {
		return true
	}
	switch call.Args[0].Lit() {
	case "cd", "pushd", "popd", "export", "echo", "printf", "true", ":", "set", "mkdir", "pwd", "alias":
		return true
	}
	return false
}

// pipe reads a pipeline: each stage in a shell of its own, its input the
// output of the stage before.
func (r *reader) pipe(f *frame, c *syntax.BinaryCmd) Word {
	stages := []*syntax.Stmt{c.Y}
	first := c.X
	for {
		b, ok := first.Cmd.(*syntax.BinaryCmd)
		if !ok || (b.Op != syntax.Pipe && b.Op != syntax.PipeAll) || len(first.Redirs) > 0 || first.Background {
			break
		}
		stages = append(stages, b.Y)
		first = b.X
	}
	stages = append(stages, first)
	slices.Reverse(stages)
	g := *f
	g.piped = true
	var out Word
	for i, s := range stages {
		last := i == len(stages)-1
		g.capture = f.capture || !last
		read := func() { out = r.stmt(&g, s) }
		if last {
			read() // zsh and lastpipe run it in the shell itself
		} else {
			r.isolated(read)
		}
		g.stdin = Input{Kind: InputText, Text: out, Piped: true}
	}
	return out
}

func (r *reader) ifClause(f *frame, c *syntax.IfClause) Word {
	var branches []change
	var out builder
	closed := false
	g := *f
	g.conditional = true
	for i := c; i != nil; i = i.Else {
		if len(i.Cond) > 0 {
			out.addWord(r.stmts(f, i.Cond))
		} else {
			closed = true
		}
		mark := r.st.mark()
		out.addWord(r.stmts(&g, i.Then))
		branches = append(branches, r.st.rollback(mark))
		f = &g
		if r.stopped {
			break
		}
	}
	if !closed {
		branches = append(branches, nil)
	}
	r.st.join(branches...)
	return out.word()
}

func (r *reader) caseClause(f *frame, c *syntax.CaseClause) Word {
	r.eachAlternative(f, func() Word { r.word(f, c.Word); return Word{} })
	g := *f
	g.conditional = true
	branches := []change{nil}
	var out builder
	for _, item := range c.Items {
		for _, p := range item.Patterns {
			r.eachAlternative(f, func() Word { r.word(f, p); return Word{} })
		}
		mark := r.st.mark()
		out.addWord(r.stmts(&g, item.Stmts))
		after := r.st.rollback(mark)
		if item.Op != syntax.Break {
			r.st.join(after, nil) // the next item may run after this one
			continue
		}
		branches = append(branches, after)
	}
	r.st.join(branches...)
	return out.word()
}

func (r *reader) whileClause(f *frame, c *syntax.WhileClause) Word {
	g := *f
	g.inLoop = true
	endless := endlessLoop(c)
	if !endless {
		g.conditional = true
	} else if onlyBackground(c.Do) {
		r.problem(f, Problem{
			Kind: ProblemForkBomb, Detail: "an endless loop starts processes and waits for none of them", Span: f.spanOf(c),
		})
	}
	return r.loop(&g, endless, func() Word {
		return Glue(r.stmts(&g, c.Cond), r.stmts(&g, c.Do))
	})
}

// loop reads a loop's body, and again when the first pass left other values
// than it found, so that what one round sets the next round sees.
func (r *reader) loop(f *frame, always bool, body func() Word) Word {
	if r.loops >= 3 {
		f.conditional = true
	}
	mark := r.st.mark()
	out := body()
	after := r.st.rollback(mark)
	r.joinLoop(after, always)
	if len(after) == 0 || r.loops >= 3 || r.stopped {
		return out
	}
	r.loops++
	defer func() { r.loops-- }()
	mark = r.st.mark()
	body()
	r.joinLoop(r.st.rollback(mark), always)
	return outputOf("")
}

func (r *reader) joinLoop(after change, always bool) {
	if always {
		r.st.join(after)
		return
	}
	r.st.join(after, nil)
}

// maxRounds bounds how many words a loop is read for one by one; a sequence of
// numbers that is longer is read for its ends and for an unknown number.
const maxRounds = 2_000

func (r *reader) forClause(f *frame, c *syntax.ForClause) Word {
	g := *f
	g.inLoop = true
	switch l := c.Loop.(type) {
	case *syntax.WordIter:
		return r.wordIter(&g, c, l)
	case *syntax.CStyleLoop:
		r.arithmStmt(f, l.Init)
		endless := l.Cond == nil
		g.conditional = !endless || f.conditional
		return r.loop(&g, false, func() Word {
			r.arithmStmt(f, l.Cond)
			out := r.stmts(&g, c.Do)
			r.arithmStmt(f, l.Post)
			return out
		})
	}
	return Word{}
}

func (r *reader) arithmStmt(f *frame, x syntax.ArithmExpr) {
	if x != nil {
		r.eachAlternative(f, func() Word { r.arithm(f, x); return Word{} })
	}
}

func (r *reader) wordIter(f *frame, c *syntax.ForClause, l *syntax.WordIter) Word {
	var rounds [][]Word
	r.eachAlternative(f, func() Word {
		if l.InPos.IsValid() {
			rounds = append(rounds, r.words(f, l.Items))
		} else {
			rounds = append(rounds, r.args())
		}
		return Word{}
	})
	var out builder
	n := 0
	for _, items := range rounds {
		for _, item := range items {
			if n++; n > maxRounds {
				r.problem(f, Problem{Kind: ProblemTooBig, Detail: "a loop runs over too many words to be read for each", Span: f.spanOf(l)})
				item = unknown(l.Name.Value)
			}
			r.st.set(l.Name.Value, item.value())
			out.addWord(r.stmts(f, c.Do))
			if n > maxRounds || r.stopped {
				break
			}
		}
	}
	return out.word()
}

// endlessLoop reports whether a loop's condition is constantly true.
func endlessLoop(c *syntax.WhileClause) bool {
	if len(c.Cond) != 1 || c.Cond[0].Negated {
		return false
	}
	call, ok := c.Cond[0].Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) == 0 {
		return false
	}
	name := call.Args[0].Lit()
	if c.Until {
		return name == "false"
	}
	return name == "true" || name == ":"
}

func onlyBackground(list []*syntax.Stmt) bool {
	for _, s := range list {
		if !s.Background {
			return false
		}
	}
	return len(list) > 0
}

func (r *reader) testClause(f *frame, x syntax.TestExpr) {
	switch t := x.(type) {
	case *syntax.BinaryTest:
		r.testClause(f, t.X)
		r.testClause(f, t.Y)
	case *syntax.UnaryTest:
		r.testClause(f, t.X)
	case *syntax.ParenTest:
		r.testClause(f, t.X)
	case *syntax.Word:
		if r.step(f, 1) {
			r.eachAlternative(f, func() Word { r.word(f, t); return Word{} })
		}
	}
}

func (r *reader) declareFunction(f *frame, c *syntax.FuncDecl) {
	names := c.Names
	if c.Name != nil {
		names = []*syntax.Lit{c.Name}
	}
	for _, n := range names {
		fn := &function{name: n.Value, body: c.Body, span: f.span}
		r.st.put(keyFunc+n.Value, &entry{bodies: []*function{fn}})
	}
	if len(names) == 0 {
		r.stmt(f, c.Body)
	}
}
