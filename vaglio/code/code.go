// Package code reads inline programs in languages other than the shell's: python -c, a here-document for node, perl -e, awk.
//
// [Reader] is the product's [shell.ProgramReader]. In one pass it cuts a program into tokens, using the comments, strings and operators that the table lists
// for the language, and notes which brackets and words belong together and which parts the program may skip. Then one scan for all languages reads the
// program expression by expression, without a grammar of statements: literals, concatenations, variables, decoders, lists, and the program's own functions. A
// variable that is set in a part that may be skipped has one more possible value. The table verbs.txt says what functions do, by language. A call that
// touches files, processes or the network becomes a [shell.Call]; the shell reader reads a command that the program runs.
//
// What cannot be known stays unknown, and unknown text that is run or evaluated is a problem. Every limit is one, too: a program that is too long, too deep
// or too costly never passes silently. Names that the scan did not reach are read separately at the end, so that what it does not understand hides nothing.
package code

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/metnos/vaglio/internal/imports"
	"github.com/metnos/vaglio/internal/memo"
	"github.com/metnos/vaglio/internal/rows"
	"github.com/metnos/vaglio/vaglio/code/dial"
	"github.com/metnos/vaglio/vaglio/code/lex"
	"github.com/metnos/vaglio/vaglio/code/page"
	"github.com/metnos/vaglio/vaglio/shell"
	"github.com/metnos/vaglio/vaglio/wording"
)

const (
	bytesPerStep = 16
	maxEvals     = 30
	// maxAgain limits how many tokens are read more than once: function bodies for each call, loop bodies for each element.
	maxAgain = 60_000
	// maxBeside limits how many files are looked through for what changes the command line.
	maxBeside = 100
	// maxProblems limits the distinct problems of one program; running out of the budget is recorded beyond it.
	maxProblems = 200
)

// markOpen and markClose surround the number of an unknown word in a program's text. They are private-use characters.
const (
	markOpen  = "\uf8fd"
	markClose = "\uf8fc"
)

// Reader reads inline programs. It is a [shell.ProgramReader] and safe for concurrent use.
type Reader struct {
	table    *table
	choosers *memo.Map[[2]string, *chooser] // by language and text
}

// New returns a reader with the package's own verbs. Its error names the line of the table that is wrong.
func New() (*Reader, error) {
	table, err := parseTable(verbsText)
	if err != nil {
		return nil, err
	}
	for name, f := range imports.Finders() {
		table.languages[name].imports = f
	}
	return &Reader{table, memo.New[[2]string, *chooser](maxText)}, nil
}

// Read says what a program does. It never fails: what it cannot read becomes a problem among the steps.
func (r *Reader) Read(in *shell.Program) (out *shell.ProgramResult) {
	run := r.run(in, true)
	if used := max(in.Steps, 1) - run.left; len(run.relied) > 0 && !run.root.changesRelied() {
		if with := r.run(in, false); !with.root.changesRelied() {
			run = with
			run.left = max(run.left-used, 0)
		}
	}
	run.out.Steps = max(in.Steps, 1) - run.left
	return run.out
}

// run reads a program; changes says that it may change the settings in files that it uses, which are not known then.
func (r *Reader) run(in *shell.Program, changes bool) (done *run) {
	run := &run{left: max(in.Steps, 1), again: maxAgain, said: map[string]bool{}, files: map[string]*program{}, out: &shell.ProgramResult{}}
	run.of, run.held, run.changes = map[string]string{}, map[string]string{}, changes
	run.objects, run.stand = map[string]value{}, map[string]int{}
	defer func() {
		if v := recover(); v != nil {
			done = run
			run.out.Actions = append(run.out.Actions, shell.ProgramStep{Problem: &shell.Problem{
				Kind: shell.ProblemInternal, Detail: wording.Say("the reader of programs failed: %s", fmt.Sprint(v)), Interpreter: in.Language,
			}})
		}
	}()
	lang := r.table.languages[in.Language]
	p := newProgram(run, r.table, lang, in)
	run.root = p
	run.out.Loose = lang == nil || len(lang.comments) == 0
	if lang == nil {
		p.problem(shell.ProblemDynamicCode, wording.Say("programs of %s are not read", in.Language), in.Text)
	} else {
		if in.Record != nil {
			p.set("$_", textOf(in.Record[0]))
		}
		p.read(in.Text)
		if in.Prints {
			p.print(nil, shell.Glue(p.vars["$_"].word(), shell.Text("\n")))
		}
	}
	dial.Note(run.out.Actions)
	run.out.Output = shell.Glue(run.wrote...)
	run.out.Wrote = len(run.wrote) > 0
	return run
}

// tokens returns a program of which only the tokens are read.
func (r *Reader) tokens(language, text string) *program {
	run := &run{left: len(text) + 1, again: maxAgain, said: map[string]bool{}, of: map[string]string{}, out: &shell.ProgramResult{}}
	run.objects, run.stand = map[string]value{}, map[string]int{}
	p := newProgram(run, r.table, r.table.languages[language], &shell.Program{Language: language})
	p.begins = []int{}
	p.lex(text)
	p.begins = append(p.begins, len(text)) // as if a token were at the end
	return p
}

// objectMark begins the name of a list or map.
const objectMark = "\x02"

type run struct {
	left    int // steps
	again   int // tokens that may be read once more
	stopped bool
	depth   int
	evals   int
	size    int
	wrote   []shell.Word
	asked   map[string]bool     // the variables of the environment whose values are not known
	said    map[string]bool     // the problems recorded so far
	sought  map[sought]bool     // which patterns texts match
	of      map[string]string   // the only text that a library's function was given, by its result
	files   map[string]*program // the files that it imports from, nil if they are not known
	root    *program            // the program that imports them
	held    map[string]string   // the files whose content texts are
	objects map[string]value    // the lists and maps that were changed, as they are by now
	known   int                 // how many lists and maps have names
	relied  []reliance          // on the files whose content it uses
	changes bool                // it may change one of them, so that their content is not known
	aside   []shell.ProgramStep // what the own statements of imported files do
	stand   map[string]int      // where functions of the table stand as values, -1 where something calls them by another name
	out     *shell.ProgramResult
}

// surroundings are what a call gives the commands that it starts: the folders in which they run, the
// variables that they get besides, and what they read, nil if it says nothing of that.
type surroundings struct {
	dirs  []shell.Word
	gets  []shell.Assign
	input *shell.Word
}

type program struct {
	*run

	table *table
	lang  *language
	in    *shell.Program

	src     string
	links   []*program // what it imports, nil until a call asks
	plain   []string   // the names that it imports in so many words, nil until a call asks
	toks    lex.Tokens
	begins  []int              // where the tokens begin in the text, if that is asked
	rows    []int              // for each line but the first, the token that it begins with
	other   bool               // the text is not the program's own
	around  surroundings       // of the commands of the call being read
	exports []shell.Assign     // what the program has set for all
	feeds   *bool              // whether it may write what they read, nil until one starts
	started *shell.ProgramStep // what the call that is read started, if the program may write what it reads
	seen    []bool
	at, end int
	holes   []shell.Word

	vars      map[string]value
	fns       map[string]*routine
	classes   map[string]*routine // what makes an object of them
	routines  []*routine
	getters   map[string][]*routine // properties, by name
	opened    map[string]bool
	stars     []string // modules whose names are all imported
	returns   []value  // what the functions being read return
	subject   value    // what =~ applies to
	scanned   int      // no statement before this index has a loop after it
	loop      int      // how many loops are being read
	unsure    int      // how many of them may run any number of times
	fresh     bool     // what is bound is new, regardless of what had its name
	branches  int      // how many conditional operands are being read
	bare      int      // how many calls without brackets have their arguments being read
	printing  bool     // > and | belong to awk's print
	forks     int
	later     int             // how many functions are being read that nothing has called yet
	modules   map[string]bool // the imported modules, by the first part of their name
	entered   bool            // it went to another folder
	elsewhere bool            // a function is being read that something calls in a way that is not followed;
	led       bool            // a library does, or it is deferred
	single    bool            // it is one line, on a command line
	records   bool            // calls on modules of a program that is not followed change what an application keeps
	inside    func() bool     // whether nothing in a program that is not followed leads out of the project
	options   []option
	defined   int        // where the last function is
	refields  bool       // it may set any field of its objects
	looked    bool       // at whether its options may come from elsewhere than the command line:
	lost      bool       // they may
	command   attributes // what decorates the function that is defined next
	commands  []string   // the names of its commands
}

func newProgram(r *run, t *table, lang *language, in *shell.Program) *program {
	return &program{
		run: r, table: t, lang: lang, in: in,
		getters: map[string][]*routine{},
		vars:    map[string]value{}, fns: map[string]*routine{}, classes: map[string]*routine{}, opened: map[string]bool{}, modules: map[string]bool{},
	}
}

// inner returns a program for code that this program evaluates.
func (p *program) inner() *program {
	sub := newProgram(p.run, p.table, p.lang, p.in)
	sub.other = true
	sub.loop, sub.unsure, sub.forks, sub.stars = p.loop, p.unsure, p.forks, p.stars
	sub.inherit(p)
	return sub
}

// inherit copies the variables and modules of another program.
func (p *program) inherit(o *program) {
	maps.Copy(p.modules, o.modules)
	maps.Copy(p.vars, o.vars)
}

// spend takes steps from the budget and reports whether any are left.
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

// enter goes one level deeper and reports whether it may; if so, the caller must call leave.
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
	p.tells(s.Write)
	if parts := s.Write.Parts(); s.Writes && len(parts) == 1 && p.dumps(parts[0].From) {
		s.Write = shell.Text(shell.Dumped)
	}
	if p.spend(3) {
		s.Line = p.line()
		p.out.Actions = append(p.out.Actions, s)
	}
}

// line returns the line of the program that is being read, from 1; 0 in other texts.
func (p *program) line() int {
	if p.other {
		return 0
	}
	n, _ := slices.BinarySearch(p.rows, p.at)
	return n + 1
}

// problem records what could not be read, each finding once.
func (p *program) problem(kind shell.ProblemKind, detail wording.Clause, w shell.Word) {
	key := string(kind) + "\x00" + w.String()
	if p.said[key] || len(p.said) >= maxProblems && kind != shell.ProblemTooCostly && kind != shell.ProblemTooDeep { // once each, up to the limit
		return
	}
	p.said[key] = true
	p.out.Actions = append(p.out.Actions, shell.ProgramStep{Problem: &shell.Problem{
		Kind: kind, Detail: detail, Word: w,
		Interpreter: p.in.Language,
	}})
}

// read reads a program text and returns the value of its last statement. It reads what no statement led to, such as functions that nothing calls, at the end.
func (p *program) read(w shell.Word) value {
	if p.out.Loose {
		p.loose(w)
		return value{}
	}
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
	p.lex(src)
	p.initialize()
	out := p.scan(0, p.end)
	if f := p.fns["main"]; f != nil && p.lang.name == "go" {
		p.invoke(f, nil)
	}
	p.others()
	if !p.in.Imported {
		p.unled()
		p.unreached()
	}
	return out
}

func (p *program) lex(src string) {
	if p.lang.name == "perl" && strings.Contains(src, "$^X") { // perl itself
		src = strings.ReplaceAll(src, "$^X", "$_X")
		p.vars["$_X"] = text(p.lang.name)
	}
	p.src = src
	p.toks = make([]token, 0, min(len(src)/3, p.left)+1) // roughly the number of tokens
	newLexer(p, src).run()
	p.seen = make([]bool, len(p.toks))
	p.end = len(p.toks)
}

// others reads what nothing has called yet: functions that no statement led to, and what is between them.
func (p *program) others() {
	p.later++
	for i := 0; i < len(p.routines) && !p.stopped; i++ {
		if f := p.routines[i]; !f.called || f.deferred {
			f.called = true
			p.elsewhere, p.led = p.lang.name == "go" && (f.name == "" || f.command != nil), f.command != nil || f.deferred
			p.through(f, nil)
		}
	}
	p.elsewhere = false
	for p.at = 0; p.at < len(p.toks) && !p.stopped; { // to skip one costs next to nothing
		p.end, p.scanned = len(p.toks), len(p.toks)
		if p.seen[p.at] || !p.toks[p.at].Word() {
			p.at++
			continue
		}
		at := p.at
		p.expression()
		p.seen[at] = true
		p.at = at + 1
	}
}

// mark writes a word as program text, with a mark for each unknown part.
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

//nolint:gochecknoglobals // Made once, never changed.
var shared = rows.Once("vaglio/code", New)

// Default returns the shared reader with the package's own table.
func Default() *Reader { return shared() }

// IsComment reports whether a line of a program is a comment up to its end. Without a blank it may be what a tool reads: "//go:generate".
func (r *Reader) IsComment(language, line string) bool {
	l := r.table.languages[language]
	return l != nil && slices.ContainsFunc(l.comments, func(mark string) bool { return strings.HasPrefix(line, mark+" ") })
}

// LooksOnly reports whether a script that runs on a web page only looks at the page, see [page.LooksOnly].
func (r *Reader) LooksOnly(script string) bool {
	if len(script) > maxText {
		return false
	}
	p := r.tokens("node", script)
	return !p.stopped && page.LooksOnly(p.toks)
}
