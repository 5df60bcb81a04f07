package shell

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/metnos/vaglio/vaglio/shell/word"
	"github.com/metnos/vaglio/vaglio/wording"
)

// The limits of one reading. They do not depend on the clock, so that the same source always gives the same result.
const (
	// MaxSource is the size of the largest source that is read, in bytes.
	MaxSource = 1 << 20
	// MaxDepth is how deep statements, substitutions and carried texts may nest in total.
	MaxDepth = 100

	// maxSteps is the budget of one reading. Whatever is kept or copied costs steps by its length, so that the budget bounds memory, too.
	maxSteps = 500_000
	// bytesPerStep is how many bytes one step may copy or look at.
	bytesPerStep = 16
	// bytesPerLook is how many bytes of files one step may look through for what a command runs.
	bytesPerLook = 64
	// maxMarks limits how many characters that separate words and commands all texts of a reading may have: each becomes a node of the parser's tree.
	maxMarks = 400_000
	// wordCost, entryCost and commandCost are the steps for keeping one word, one name of the state and one command.
	wordCost    = 6
	entryCost   = 12
	commandCost = 20
	deepPath    = 256 // bytes of a folder's path that cost nothing
	maxCommands = 100_000
	maxFields   = 10_000 // the most words that one expansion may yield
	maxPasses   = 64     // the most combinations of alternatives per command
	maxFrames   = 4_000  // the deepest stack of the parser, in calls
	maxCalls    = 3      // the most activations of one function or text at a time
	maxProblems = 1_000
)

// Options say what is known about the environment in which a source would run.
type Options struct {
	// Home is the home folder of the user, "" if unknown.
	Home string
	// User is the name of the user, "" if unknown.
	User string
	// Cwd is the current folder, "" if unknown.
	Cwd string
	// Env holds the known environment variables. Any other variable is unknown and may be unset.
	Env map[string]string
	// Args are the positional parameters, $1 first.
	Args []string
	// Programs reads the programs in other languages. If it is nil, each of them is a [ProblemDynamicCode].
	Programs ProgramReader
	// Foreign reads the interpreters of other languages that a source carries; nil leaves them unread, a problem.
	Foreign Foreign
	// Files reads the files that the source runs; if it is nil, each of them is a [ProblemScriptFile].
	Files Files
	// Tasks knows what tools run from files; it may be nil.
	Tasks Tasks
	// Session is what was done before the source runs; nil knows of nothing.
	Session Session
	// Steers reports whether a file at a path steers what runs by itself; nil knows of none.
	Steers func(file string) bool
	// Depth is how deep the source is nested in other sources.
	Depth int
	// Budget is shared by all readings of one call; nil means a fresh one.
	Budget *Budget
}

// Session is what the calls before this one did.
type Session interface {
	// Changed returns the paths of the files that they wrote, Loaded those among them that would be asked about or denied if they ran.
	Changed() []string
	Loaded() []string
	// Origin returns what a file held before all of them, "" if that is not known, and whether they may have unpacked or cloned it.
	Origin(file string) (text string, unpacked bool)
	// Fetched returns the names, without folders, of the files that they downloaded.
	Fetched() map[string]bool
	// Exported returns the names of the variables that they set, aliases that begin with [Alias], and, behind
	// a name and "=", the values of variables that make programs run other code; of PATH, the folders put first.
	Exported() []string
}

// Alias comes before what an alias stands for, as in "alias ls=ls -l".
const Alias = "alias "

// Budget counts what the readings of one call have spent together. Its zero value is a fresh budget. It is not safe for concurrent use.
type Budget struct{ steps, marks, found int }

// Spend takes steps from the budget for the reader of another language, and reports whether the budget still holds.
func (b *Budget) Spend(steps int) bool {
	b.steps = min(b.steps, maxSteps) + steps
	return b.steps <= maxSteps
}

// Left returns how many steps are left.
func (b *Budget) Left() int { return max(maxSteps-b.steps, 0) }

type reader struct {
	opts     *Options
	out      *Script
	src      string // what [Read] was given
	st       state
	steps    int
	budget   int // the most steps
	marks    int // characters that separate words, in all texts so far
	depth    int
	stopped  bool
	looking  *frame            // of the command whose files are looked for, if any are
	edits    map[string][]edit // of files that the source changes in place
	moves    []move            // of what may be folders
	packed   []packed          // what it packs into archives
	drawn    []Sourced         // by the words being read
	picks    []pick
	active   map[*syntax.Stmt]int // functions being called
	texts    map[string]int       // texts being read
	exports  []string             // variables that the source exports somewhere
	searched string               // the folders that an earlier call put on the PATH
	session  []string             // the files that the session changed, once asked
	runners  int                  // how many interpreters of interpreters are being read
	loops    int                  // how many loops are being read twice
	holes    []Word               // the words spliced into carried text
	procs    int                  // how many process substitutions were met
	called   map[string]bool      // functions that were called
	locals   []map[string]*entry
	brief    map[*syntax.Stmt]bool // the functions that a file has read, if it is read in brief
	inFrame  *frame                // of the innermost file that is being read
	dynamic  bool                  // some command's name is not known

	allExport, physical bool // set -a, set -P
	carriers            *carrierTable
	pcs                 []uintptr
	problems            map[problemKey]bool
}

// problemKey identifies a problem, so that it is reported only once.
type problemKey struct {
	kind  ProblemKind
	text  string
	start int
}

// function is the body of a shell function.
type function struct {
	name string
	body *syntax.Stmt
	span *Span
	base int
}

// frame is the context of a statement: what was peeled before it, its input. Frames are copied before they are changed.
type frame struct {
	Context
	beside   bool   // concurrently with other statements of the same text or function
	capture  bool   // the output is wanted
	limit    int    // the length of the source before it was completed
	retried  bool   // the text is read again with its here-document closed
	lenient  bool   // text that is no program is ignored
	found    bool   // no word names the file that it is in
	ends     bool   // the program that starts it may leave it out
	sets     bool   // what runs the task that is being read may set variables for it
	settings string // the file that tells a tool what to do, which is being read
	stdin    Input
	assigns  []Assign
	calls    []*call  // what carries it
	runs     []string // the texts that they run from files
	span     *Span    // the carrier's place, for carried text
	base     int      // where in the source the carried text is, if it is there
	lines    []Span   // its lines, if so
	fn       *function
	file     *sourceFile // the file whose text is being read, nil for the source's own
	numbered bool        // line numbers count in that file
}

// plainCommand splits a command line in which no character is special to the shell. Most commands of an agent are like that.
func plainCommand(src string) ([]Word, bool) {
	n := plainWords(src)
	if n == 0 {
		return nil, false
	}
	words := make([]Word, 0, n)
	for w := range strings.SplitSeq(src, " ") {
		if w != "" {
			words = append(words, Text(w))
		}
	}
	first := words[0].Prefix()
	return words, !syntax.IsKeyword(first) && !slices.Contains(declaring(), first) && first != "let" && first != "time"
}

// plainWords counts the words of a command line; 0 if it is not plain.
func plainWords(src string) int {
	if len(src) > 4096 {
		return 0
	}
	n, word := 0, false
	for i := range len(src) {
		c := src[i]
		if c == ' ' {
			word = false
			continue
		}
		if !isNameByte(c) && strings.IndexByte("./:@%+,-", c) < 0 && (c != '=' || n < 2) {
			return 0
		}
		if !word {
			n++
			word = true
		}
	}
	return n
}

// ReadArgv reads a command that runs without a shell, as by execve.
func ReadArgv(argv []string, o Options) *Script {
	return ReadCommand(Command{Argv: Texts(argv)}, o)
}

func run(o Options, read func(*reader, *frame)) (out *Script) {
	if o.Budget == nil {
		o.Budget = new(Budget)
	}
	if o.Files == nil {
		o.Files = noFiles{}
	}
	if o.Steers == nil {
		o.Steers = func(string) bool { return false }
	}
	r := &reader{
		opts: &o, out: &Script{Sought: map[string]Word{}}, carriers: defaultCarriers(), budget: maxSteps,
		steps: o.Budget.steps, marks: o.Budget.marks, depth: o.Depth, texts: map[string]int{},
	}
	defer func() {
		o.Budget.steps, o.Budget.marks = r.steps, r.marks
		if v := recover(); v != nil {
			out = r.out
			out.Problems = append(out.Problems, Problem{Kind: ProblemInternal, Detail: wording.Say("the reader failed: %s", fmt.Sprint(v))})
		}
	}()
	f := &frame{}
	if !r.step(f, commandCost+entryCost*len(o.Env)+wordCost*len(o.Args)) {
		return r.out
	}
	r.begin()
	read(r, f)
	r.out.Ends = r.left()
	r.finish(f)
	r.out.Wrote = r.st.files()
	return r.out
}

// begin sets the state of a new shell.
func (r *reader) begin() {
	r.st.names, r.st.given, r.st.level = map[string]*entry{}, r.opts.given, 1
	cwd := word.Unknown("PWD")
	if r.opts.Cwd != "" {
		cwd = Text(path.Clean(r.opts.Cwd))
	}
	r.st.set(keyCwd, cwd)
	args := Texts(r.opts.Args)
	r.st.put(keyArgs, &entry{list: args, isList: true, maybe: len(args) == 0})
	if r.opts.Session == nil {
		return
	}
	for _, e := range r.opts.Session.Exported() {
		alias, is := strings.CutPrefix(e, Alias)
		switch name, text, set := strings.Cut(alias, "="); {
		case is && set:
			r.st.set(keyAlias+name, Text(text))
		case name == "PATH" && set:
			r.searched = text
		case set:
			value := single(Text(text))
			value.exported, r.exports = true, append(r.exports, name)
			r.st.put(name, value)
		}
	}
}

// given returns the value of a variable that the shell is started with.
func (o *Options) given(name string) (string, bool) {
	if value, ok := o.Env[name]; ok {
		return value, true
	}
	switch name {
	case "HOME":
		return o.Home, o.Home != ""
	case "USER", "LOGNAME":
		return o.User, o.User != ""
	}
	return "", false
}

// finish reads the functions that nobody called, if some command's unknown name might be theirs.
func (r *reader) finish(f *frame) {
	if !r.dynamic {
		return
	}
	keys := slices.Sorted(maps.Keys(r.st.names))
	for _, key := range keys {
		if name, ok := strings.CutPrefix(key, keyFunc); ok && !r.called[name] {
			g := *f
			g.Conditional = true
			r.callFunction(&g, r.st.names[key], &call{argv: []Word{Text(name)}})
		}
	}
}

// step spends n steps of the budget and reports whether any are left. Without a frame, they are spent where the innermost file is being read.
func (r *reader) step(f *frame, n int) bool {
	if r.stopped {
		return false
	}
	if r.steps += n; r.steps > r.budget || len(r.out.Commands) > maxCommands {
		r.stopped, r.steps = true, min(r.steps, r.budget+1) // what is not done costs nothing
		r.problem(cmp.Or(f, r.inFrame), Problem{Kind: ProblemTooCostly, Detail: wording.Say("the command does too much to be read in full")})
		return false
	}
	return true
}

// join continues with the union of what the branches leave. It charges for the names that they touched, since nested branches join them again and again.
func (r *reader) join(branches ...change) {
	n := 0
	for _, b := range branches {
		n += len(b)
	}
	if r.step(nil, 2*n) {
		r.st.join(branches...)
	}
}

// enter goes one level deeper and reports whether that is allowed. If it is, the caller must call leave.
func (r *reader) enter(f *frame) bool {
	if r.stopped {
		return false
	}
	if r.depth >= MaxDepth {
		r.problem(f, Problem{Kind: ProblemTooDeep, Detail: wording.Say("the command nests deeper than %s levels", strconv.Itoa(MaxDepth))})
		return false
	}
	r.depth++
	return true
}

func (r *reader) leave() { r.depth-- }

// problem records a finding, once per kind, place and text.
func (r *reader) problem(f *frame, p Problem) {
	if f != nil && f.file != nil {
		if f.file.tolerates(p.Kind) {
			r.unparsed(f.file.path, p.Kind)
			return
		}
		p.File, p.Line = f.file.where()
	}
	if f != nil && f.span != nil && p.Span == (Span{}) {
		p.Span = *f.span
	}
	key := problemKey{p.Kind, p.Word.String(), p.Span.Start}
	if r.problems == nil {
		r.problems = make(map[problemKey]bool)
	}
	// The first problem of a kind always counts, so that many small findings cannot hide that the reading broke off.
	if r.problems[key] || len(r.out.Problems) >= maxProblems && slices.ContainsFunc(r.out.Problems, func(q Problem) bool { return q.Kind == p.Kind }) {
		return
	}
	r.problems[key] = true
	r.out.Problems = append(r.out.Problems, p)
}

// unparsed records a file that holds text which no reader understands, or more than is read.
func (r *reader) unparsed(file string, kind ProblemKind) {
	if kind.unread() && !slices.Contains(r.out.Unparsed, file) {
		r.out.Unparsed = append(r.out.Unparsed, file)
	}
}

// exported returns the variables that the source exported so far.
func (r *reader) exported() (all []Assign) {
	for _, name := range r.exports {
		if e := r.st.get(name); e.hasValue() && e.exported && r.step(nil, wordCost) {
			value := e.vals[0]
			if len(e.vals) > 1 || e.maybe {
				value = NewWord(Part{Kind: PartUnknown, Name: name})
			}
			all = append(all, Assign{Name: name, Value: value})
		}
	}
	return all
}
