package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/metnos/vaglio/vaglio/wording"
)

func (r *reader) whileClause(f *frame, c *syntax.WhileClause) Word {
	g := *f
	g.inLoop = true
	endless := endlessLoop(c)
	if !endless {
		g.conditional = true
	} else {
		r.spawning(f, c, c.Do)
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
		r.join(after)
		return
	}
	r.join(after, nil)
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
		endless := l.Cond == nil || alwaysTrue(l.Cond)
		if endless {
			r.spawning(f, c, c.Do)
		}
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
				r.problem(f, Problem{Kind: ProblemTooBig, Detail: wording.Say("a loop runs over too many words to be read for each"), Span: f.spanOf(l)})
				item = unknown(l.Name.Value)
			}
			r.st.set(l.Name.Value, item.quoted())
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
	if sum, ok := c.Cond[0].Cmd.(*syntax.ArithmCmd); ok && !c.Until {
		return alwaysTrue(sum.X)
	}
	call, ok := c.Cond[0].Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) == 0 {
		return false
	}
	switch name := call.Args[0].Lit(); {
	case c.Until:
		return name == "false"
	case len(call.Args) == map[string]int{"[": 3, "test": 2}[name]:
		return call.Args[1].Lit() != ""
	default:
		return name == "true" || name == ":"
	}
}

// alwaysTrue reports whether a number stands for a condition, and not zero.
func alwaysTrue(x syntax.ArithmExpr) bool {
	w, ok := x.(*syntax.Word)
	return ok && w.Lit() != "" && strings.Trim(w.Lit(), "0123456789") == "" && strings.Trim(w.Lit(), "0") != ""
}

// spawning notes an endless loop that starts processes and nothing else.
func (r *reader) spawning(f *frame, loop syntax.Node, body []*syntax.Stmt) {
	if onlyBackground(body) {
		r.problem(f, Problem{
			Kind: ProblemForkBomb, Detail: wording.Say("an endless loop starts processes and waits for none of them"), Span: f.spanOf(loop),
		})
	}
}

func onlyBackground(list []*syntax.Stmt) bool {
	return len(list) > 0 && !slices.ContainsFunc(list, func(s *syntax.Stmt) bool { return !s.Background })
}

func (r *reader) testClause(f *frame, x syntax.TestExpr) {
	syntax.Walk(x, func(n syntax.Node) bool {
		w, ok := n.(*syntax.Word)
		if ok && r.step(f, 1) {
			r.eachAlternative(f, func() Word { r.word(f, w); return Word{} })
		}
		return !ok
	})
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
