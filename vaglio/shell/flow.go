package shell

import (
	"slices"
	"strconv"

	"mvdan.cc/sh/v3/syntax"

	"github.com/metnos/vaglio/vaglio/shell/word"
	"github.com/metnos/vaglio/vaglio/wording"
)

// pick is one variable for which a command is read once per alternative.
type pick struct {
	key    string
	n, cur int
	vals   []Word // the alternatives, if they are a substitution's
}

// eachAlternative evaluates once per combination of the alternatives that the evaluation meets, and joins the results.
func (r *reader) eachAlternative(f *frame, eval func() Word) Word {
	saved := r.picks
	r.picks = nil
	defer func() { r.picks = saved }()
	mark := r.st.mark()
	out := eval()
	if len(r.picks) == 0 {
		r.st.keep()
		return out
	}
	changes := []change{r.st.rollback(mark)}
	for n := 1; r.nextPick(); n++ {
		if n >= maxPasses {
			r.problem(f, Problem{Kind: ProblemTooBig, Detail: wording.Say("the words of the command have too many possible values")})
			break
		}
		if !r.step(f, 1) {
			break
		}
		changes = append(changes, r.branch(func() {
			if o := eval(); !o.Equal(out) {
				out = word.OutputOf("")
			}
		}))
	}
	r.join(changes...)
	return out
}

// nextPick moves to the next combination. It forgets the picks after the one that moves, because they may depend on it.
func (r *reader) nextPick() bool {
	for i := len(r.picks) - 1; i >= 0; i-- {
		r.picks[i].cur++
		if r.picks[i].cur < r.picks[i].n {
			r.picks = r.picks[:i+1]
			return true
		}
	}
	return false
}

// maxOutputs limits how many combinations of alternatives a command has because of its substitutions. What a further one writes counts as unknown.
const maxOutputs = 16

// chosen returns the output that the current pass follows, if an earlier pass read the substitution.
func (r *reader) chosen(key string) (Word, bool) {
	for _, p := range r.picks {
		if p.key == key && p.vals != nil {
			return p.vals[min(p.cur, p.n-1)], true
		}
	}
	return Word{}, false
}

// choose returns the output that the current pass follows: one of the ways through a substitution, or all that it writes if nothing in it may be skipped.
func (r *reader) choose(key string, all Word, ways []Word) Word {
	passes := len(ways)
	for _, p := range r.picks {
		passes *= p.n
	}
	switch {
	case len(ways) == 0 || len(ways) == 1 && ways[0].Size() == 0:
		return all
	case len(ways) == 1:
		return ways[0]
	case passes > maxOutputs:
		return word.OutputOf("")
	}
	first := ways[r.pick(key, len(ways))]
	r.picks[len(r.picks)-1].vals = ways
	return first
}

// array returns the array that a name is in the current pass; nil if it is none.
func (r *reader) array(key string) *entry {
	e := r.st.get(key)
	if e == nil || !e.isList {
		return nil
	}
	at := r.pick(key, 1+len(e.others))
	if at == 0 {
		return e
	}
	c := *e.others[at-1]
	c.maybe, c.exported, c.inherited = e.maybe, e.exported, e.inherited
	return &c
}

// value returns the value of a name that the current pass follows; false if it has none.
func (r *reader) value(key string) (Word, bool) {
	e := r.st.get(key)
	if !e.hasValue() || e.unset {
		return Word{}, false
	}
	return e.vals[r.pick(key, len(e.vals))], true
}

// scoped reads something whose changes the calling shell does not see, except those to files.
func (r *reader) scoped(read func() Word) Word {
	mark, from, exits := r.st.mark(), len(r.out.Commands), r.st.exits
	r.st.exits = nil // none of them is left from another shell
	out := read()
	r.st.exits = exits
	r.st.rollbackButFiles(mark)
	for i := from; i < len(r.out.Commands); i++ {
		if c := &r.out.Commands[i]; c.Until == 0 {
			c.Until = len(r.out.Commands)
		}
	}
	return out
}

// perhaps reads something of which it depends on the shell whether it changes anything but files.
func (r *reader) perhaps(read func()) {
	after := r.branch(read)
	for key, e := range after {
		if ofFile(key) {
			r.st.put(key, e)
			delete(after, key)
		}
	}
	r.join(after, nil)
}

// exit is where break, continue or return goes on, and what was changed on each way that left for it.
type exit struct {
	by   string // the builtin that leaves for it
	ways []change
	keys map[string]bool // what was changed up to the place seen in the journal
	seen int
}

// leaving reads something that a builtin may leave early. What follows sees what holds at its end, and what held where it was left.
func (r *reader) leaving(by string, read func() Word) Word {
	mark := r.st.mark()
	e := &exit{by: by, seen: mark}
	r.st.exits = append(r.st.exits, e)
	out := read()
	r.st.exits = r.st.exits[:len(r.st.exits)-1]
	if len(e.ways) == 0 {
		r.st.keep()
		return out
	}
	end := r.st.rollback(mark)
	r.join(append(e.ways, end)...)
	for _, key := range []string{keyOut, keyReturned} { // which are followed on each way by themselves
		if written, is := end[key]; is {
			r.st.put(key, written)
		}
	}
	return out
}

// leaves returns what a builtin leaves: the nth of its kind from the inside, or the outermost; nil if there is none.
func (s *state) leaves(by string, n int) (left *exit) {
	for _, e := range slices.Backward(s.exits) {
		if e.by == by && n > 0 {
			left, n = e, n-1
		}
		if e.by == "return" {
			break
		}
	}
	return left
}

// runLeave reads break, continue and return.
func (r *reader) runLeave(_ *frame, k *call, name string) {
	n := 1
	if name != "return" && len(k.argv) > 1 {
		s, _ := k.argv[1].Text()
		n, _ = strconv.Atoi(s) // with anything else it leaves nothing
	}
	if e := r.st.leaves(name, n); e != nil && r.step(nil, len(e.keys)) {
		e.ways = append(e.ways, r.st.since(e))
	}
}

// branch reads something that may not run, rolls back what it changed and returns the changes.
func (r *reader) branch(read func()) change {
	mark := r.st.mark()
	read()
	return r.st.rollback(mark)
}

func (r *reader) whileClause(f *frame, c *syntax.WhileClause) Word {
	g := *f
	g.InLoop = true
	if opts, name := r.optionRounds(f, c); name != "" {
		return r.leaving("break", func() Word { return r.eachOption(&g, opts, name, c.Do) })
	}
	endless := endlessLoop(c)
	if endless {
		r.spawning(f, c, c.Do)
	}
	g.Conditional = !endless || f.Conditional
	return r.loop(&g, endless, func() Word { return Glue(r.stmts(&g, c.Cond), r.stmts(&g, c.Do)) })
}

// loop reads a loop's body, and reads it again if the first pass changed any values, so that one round sees what the round before set. Values that are still
// others after the second pass, as those of a counter, are unknown in a third.
func (r *reader) loop(f *frame, always bool, body func() Word) Word {
	if r.loops >= 3 {
		f.Conditional = true
	}
	var out Word
	pass := func() (changes bool, grown []string) {
		after := r.branch(func() { out = r.leaving("continue", body) })
		for key, e := range after {
			if !r.st.entry(key).covers(e) {
				grown = append(grown, key)
			}
		}
		if always {
			r.join(after)
		} else {
			r.join(after, nil)
		}
		return len(after) > 0, grown
	}
	return r.leaving("break", func() Word {
		changes, grown := pass()
		if !changes || r.stopped {
			return out
		}
		if r.loops < 3 {
			r.loops++
			_, grown = pass()
			r.st.widen(grown)
			if len(grown) > 0 {
				pass()
			}
			r.loops--
		}
		r.st.widen(grown)
		return word.OutputOf("")
	})
}

// maxRounds limits how many words a loop is read for one by one. One more round with an unknown word stands for the rest.
const maxRounds = 2_000

func (r *reader) forClause(f *frame, c *syntax.ForClause) Word {
	g := *f
	g.InLoop = true
	switch l := c.Loop.(type) {
	case *syntax.WordIter:
		return r.wordIter(&g, c, l)
	case *syntax.CStyleLoop:
		r.arithmStmt(f, l.Init)
		endless := l.Cond == nil || alwaysTrue(l.Cond)
		if endless {
			r.spawning(f, c, c.Do)
		}
		g.Conditional = !endless || f.Conditional
		return r.loop(&g, false, func() Word {
			r.arithmStmt(f, l.Cond)
			out := r.stmts(&g, c.Do)
			r.arithmStmt(f, l.Post)
			return out
		})
	}
	return Word{}
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
	return r.leaving("break", func() Word {
		var out word.Builder
		var ways []change
		for _, items := range rounds { // the lists that it may run over
			ways = append(ways, r.branch(func() { out.AddWord(r.eachItem(f, c, l, items)) }))
		}
		r.join(ways...)
		return out.Word()
	})
}

// eachItem reads a loop's body once for each item of a list.
func (r *reader) eachItem(f *frame, c *syntax.ForClause, l *syntax.WordIter, items []Word) Word {
	var out word.Builder
	for n, item := range items {
		if n >= maxRounds {
			r.problem(f, Problem{Kind: ProblemTooBig, Detail: wording.Say("a loop runs over too many words to be read for each"), Span: f.spanOf(l)})
			item = word.Unknown(l.Name.Value)
		}
		r.st.set(l.Name.Value, item.Quoted())
		out.AddWord(r.leaving("continue", func() Word { return r.stmts(f, c.Do) }))
		if n >= maxRounds || r.stopped {
			break
		}
	}
	return out.Word()
}

// goesOn adds what a branch changes to what others do. If the branch leaves, nothing but what it has written goes on.
func (r *reader) goesOn(branches []change, list []*syntax.Stmt, after change) []change {
	if !r.ends(list, 0) {
		return append(branches, after)
	}
	if left := after[keyReturned]; left != nil {
		r.st.put(keyReturned, &entry{vals: either(r.st.get(keyReturned).vals, left.vals)})
		for _, b := range branches {
			if e := b[keyReturned]; e != nil {
				b[keyReturned] = &entry{vals: either(e.vals, left.vals)}
			}
		}
	}
	return branches
}

// ends reports whether the last of some statements certainly leaves: the shell by exit, or by a function
// that only comes to that; at no depth in functions, also what is being read.
func (r *reader) ends(list []*syntax.Stmt, depth int) bool {
	const deepest = 8
	if len(list) == 0 || depth == deepest {
		return false
	}
	words := soleWords(list[len(list)-1])
	name := words[0].Lit()
	e := r.st.get(keyFunc + name)
	switch {
	case r.st.get(keyAlias+name) != nil:
		return false
	case e == nil:
		// With more words it fails.
		return len(words) <= 2 && (name == "exit" || depth == 0 && r.st.leaves(name, 1) != nil)
	case len(e.bodies) != 1:
		return false
	}
	body, ok := e.bodies[0].body.Cmd.(*syntax.Block)
	return ok && !r.mayReturn(body) && r.ends(body.Stmts, depth+1)
}

// pick returns which of n alternatives of a name the current pass follows.
func (r *reader) pick(key string, n int) int {
	if n <= 1 {
		return 0
	}
	for i := range r.picks {
		if r.picks[i].key == key {
			return min(r.picks[i].cur, n-1)
		}
	}
	r.picks = append(r.picks, pick{key: key, n: n})
	return 0
}

// eachOption reads the body of a loop for each option that getopts finds.
func (r *reader) eachOption(f *frame, opts options, name string, body []*syntax.Stmt) Word {
	var out word.Builder
	for _, o := range opts {
		r.st.set(name, Text(o.name))
		r.st.set("OPTARG", o.value.Quoted())
		out.AddWord(r.leaving("continue", func() Word { return r.stmts(f, body) }))
	}
	r.st.set(name, Text("?")) // which getopts says at the end
	return out.Word()
}

// Dumped stands in a file for an object of a program, which is no text that another one could run.
const Dumped = "\x04\b object"
