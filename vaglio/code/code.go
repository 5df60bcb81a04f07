package code

import (
	"fmt"
	"maps"
	"strconv"
	"strings"
	"sync"

	"github.com/metnos/vaglio/vaglio/shell"
	"github.com/metnos/vaglio/vaglio/wording"
)

const (
	bytesPerStep = 16
	maxEvals     = 30
	// maxAgain is how many tokens are read more than once: the bodies of
	// functions for each call, of loops for each element.
	maxAgain = 60_000
	// maxProblems is how many problems of one program are told apart; the
	// budget's own is noted beyond it.
	maxProblems = 200
)

// markOpen and markClose stand around the number of a word that is not known
// in the text of a program; they are private-use characters.
const (
	markOpen  = "\uf8fd"
	markClose = "\uf8fc"
)

// Reader reads inline programs. It is a [shell.ProgramReader] and may be used
// by many at a time.
type Reader struct {
	table *table
}

// New returns a reader with the verbs that the package knows. An error names
// the line of the table that is wrong.
func New() (*Reader, error) {
	table, err := parseTable(verbsText)
	if err != nil {
		return nil, err
	}
	return &Reader{table}, nil
}

// Read says what a program does. It does not fail: what it cannot read is a
// problem among the steps.
func (r *Reader) Read(in *shell.Program) (out *shell.ProgramResult) {
	run := &run{left: max(in.Steps, 1), again: maxAgain, said: map[string]bool{}, out: &shell.ProgramResult{}}
	defer func() {
		if v := recover(); v != nil {
			out = run.out
			out.Actions = append(out.Actions, shell.ProgramStep{Problem: &shell.Problem{
				Kind: shell.ProblemInternal, Detail: wording.Say("the reader of programs failed: %s", fmt.Sprint(v)), Interpreter: in.Language,
			}})
		}
	}()
	lang := r.table.languages[in.Language]
	p := newProgram(run, r.table, lang, in)
	run.out.Loose = lang == nil || len(lang.comments) == 0
	switch {
	case lang == nil:
		p.problem(shell.ProblemDynamicCode, wording.Say("programs of %s are not read", in.Language), in.Text)
	case run.out.Loose:
		p.loose(in.Text)
	default:
		if in.Record != nil {
			p.set("$_", textOf(in.Record[0]))
		}
		p.read(in.Text)
		if in.Prints {
			p.print(nil, shell.Glue(p.vars["$_"].word(), shell.Text("\n")))
		}
	}
	run.out.Output = shell.Glue(run.wrote...)
	run.out.Wrote = len(run.wrote) > 0
	run.out.Steps = max(in.Steps, 1) - run.left
	return run.out
}

type run struct {
	left    int // steps
	again   int // tokens that may be read once more
	stopped bool
	depth   int
	evals   int
	size    int
	wrote   []shell.Word
	said    map[string]bool // the problems that were noted
	out     *shell.ProgramResult
}

// program is the reading of one text.
type program struct {
	*run

	table *table
	lang  *language
	in    *shell.Program

	toks    []token
	seen    []bool
	at, end int
	holes   []shell.Word

	vars     map[string]value
	fns      map[string]*routine
	classes  map[string]bool
	routines []*routine
	opened   map[string]bool
	stars    []string // modules all of whose names are imported
	returns  []value  // what the functions that are being read return
	subject  value    // what =~ applies to
	scanned  int      // up to where no statement has a loop behind it
	loop     int      // how many loops are being read
	unsure   int      // how many of them may turn any number of times
	fresh    bool     // what is bound is new, whatever had its name
	branches int      // how many operands that may be passed by are being read
	printing bool     // > and | belong to print of awk
	forks    int
	later    int             // how many functions are being read that nobody has called yet
	modules  map[string]bool // that are taken in, by the first of their names
}

func newProgram(r *run, t *table, lang *language, in *shell.Program) *program {
	return &program{
		run: r, table: t, lang: lang, in: in,
		vars: map[string]value{}, fns: map[string]*routine{}, classes: map[string]bool{}, opened: map[string]bool{}, modules: map[string]bool{},
	}
}

// inner is the reading of code that the program evaluates.
func (p *program) inner() *program {
	sub := newProgram(p.run, p.table, p.lang, p.in)
	sub.loop, sub.unsure, sub.forks, sub.stars = p.loop, p.unsure, p.forks, p.stars
	sub.inherit(p)
	return sub
}

// inherit takes over the variables of another program.
func (p *program) inherit(o *program) {
	maps.Copy(p.modules, o.modules)
	maps.Copy(p.vars, o.vars)
}

// spend takes steps from the budget and reports whether some are left.
func (p *program) spend(n int) bool {
	if p.stopped {
		return false
	}
	if p.left -= n; p.left < 0 {
		p.left = 0
		p.stopped = true
		p.problem(shell.ProblemTooCostly, wording.Say("the program does too much to be read in full"), shell.Word{})
	}
	return !p.stopped
}

// enter goes one level deeper; leave must follow if it may.
func (p *program) enter() bool {
	if p.stopped {
		return false
	}
	if p.depth >= maxDepth*4 {
		p.stopped = true
		p.problem(shell.ProblemTooDeep, wording.Say("the program nests deeper than %s levels", strconv.Itoa(maxDepth)), shell.Word{})
		return false
	}
	p.depth++
	return true
}

func (p *program) leave() { p.depth-- }

func (p *program) step(s shell.ProgramStep) {
	if p.spend(3) {
		p.out.Actions = append(p.out.Actions, s)
	}
}

// problem notes what could not be read, each finding once.
func (p *program) problem(kind shell.ProblemKind, detail wording.Clause, w shell.Word) {
	key := string(kind) + "\x00" + w.String()
	if p.said[key] || len(p.said) >= maxProblems && kind != shell.ProblemTooCostly && kind != shell.ProblemTooDeep { // each is said once, and the first of many
		return
	}
	p.said[key] = true
	p.out.Actions = append(p.out.Actions, shell.ProgramStep{Problem: &shell.Problem{
		Kind: kind, Detail: detail, Word: w,
		Interpreter: p.in.Language,
	}})
}

// read reads a program text and returns the value of its last statement. What
// no statement led to, such as functions that nobody calls, is read at the end.
func (p *program) read(w shell.Word) value {
	src := p.mark(w)
	if len(src) > maxText {
		p.problem(shell.ProblemTooBig, wording.Say("the program is longer than 1 MiB"), shell.Word{})
		return value{}
	}
	if !p.spend(len(src) / bytesPerStep) {
		return value{}
	}
	if w.HasUnknown() {
		p.gap(w)
	}
	p.toks = make([]token, 0, min(len(src)/3, p.left)+1) // about as many as there are
	newLexer(p, src).run()
	p.seen = make([]bool, len(p.toks))
	p.end = len(p.toks)
	out := p.scan(0, p.end)
	if f := p.fns["main"]; f != nil && p.lang.name == "go" {
		p.invoke(f, nil)
	}
	p.others()
	return out
}

// others reads what others call, if anybody does: functions that no statement led to, and
// what stands between them.
func (p *program) others() {
	p.later++
	for i := 0; i < len(p.routines) && !p.stopped; i++ {
		if f := p.routines[i]; !f.called {
			f.called = true
			p.through(f, nil)
		}
	}
	for p.at = 0; p.at < len(p.toks) && p.spend(1); {
		p.end, p.scanned = len(p.toks), len(p.toks)
		if p.seen[p.at] || p.toks[p.at].kind != tokenName {
			p.at++
			continue
		}
		at := p.at
		p.expression()
		p.seen[at] = true
		p.at = at + 1
	}
}

// mark writes a word as the text of a program; what is not known becomes a
// mark.
func (p *program) mark(w shell.Word) string {
	var b strings.Builder
	for _, part := range w.Parts() {
		if part.Kind != shell.PartUnknown {
			b.WriteString(part.Text)
			continue
		}
		b.WriteString(markOpen + strconv.Itoa(len(p.holes)) + markClose)
		p.holes = append(p.holes, shell.NewWord(part))
	}
	return b.String()
}

// unmark is the word that a text with marks stands for.
func (p *program) unmark(s string) shell.Word {
	if !strings.Contains(s, markOpen) {
		return shell.Text(s)
	}
	var words []shell.Word
	for {
		before, rest, ok := strings.Cut(s, markOpen)
		words = append(words, shell.Text(before))
		if !ok {
			return shell.Glue(words...)
		}
		digits, after, _ := strings.Cut(rest, markClose)
		if n, err := strconv.Atoi(digits); err == nil && n >= 0 && n < len(p.holes) {
			words = append(words, p.holes[n])
		}
		s = after
	}
}

//nolint:gochecknoglobals // Made once, never changed.
var shared = sync.OnceValues(New)

// Default returns the reader over the package's own table. It is made once; a
// table with a mistake, which the tests rule out, stops the program.
func Default() *Reader {
	r, err := shared()
	if err != nil {
		panic("vaglio/code: " + err.Error())
	}
	return r
}
