package shell

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// The limits of one reading. They do not depend on the clock, so that the
// same source always has the same result.
const (
	// MaxSource is the size of the largest source that is read, in bytes.
	MaxSource = 1 << 20
	// MaxDepth is how deep statements, substitutions and carried texts may
	// nest, taken together.
	MaxDepth = 100

	maxSteps    = 1_000_000
	maxCommands = 200_000
	maxValue    = 1 << 20 // the longest value of a word, in bytes
	maxFields   = 10_000  // the most words that one expansion may yield
	maxPasses   = 64      // the most combinations of alternatives per command
	maxFrames   = 4_000   // the deepest stack of the parser, in calls
	maxCalls    = 3       // the most activations of one function at a time
	maxProblems = 1_000
)

// Options say what is known of the world in which a source would run.
type Options struct {
	// Home is the home folder of the user, "" if it is not known.
	Home string
	// User is the name of the user, "" if it is not known.
	User string
	// Cwd is the current folder, "" if it is not known.
	Cwd string
	// Env are the variables of the environment that are known. Any other
	// variable is unknown and may be unset.
	Env map[string]string
	// Args are the positional parameters, $1 first.
	Args []string
}

// reader reads one source.
type reader struct {
	opts    *Options
	out     *Script
	st      state
	steps   int
	depth   int
	stopped bool
	picks   []pick
	active  map[*syntax.Stmt]int // functions being called
	loops   int                  // how many loops are being read twice
	holes   []hole               // the words spliced into carried text
	procs   int                  // how many process substitutions were met
	parser  *syntax.Parser
	called  map[string]bool // functions that were called
	locals  []map[string]*entry
	dynamic bool // some command's name is not known

	allExport bool // set -a
	pcs       []uintptr
	problems  map[problemKey]bool
}

// problemKey is what makes a problem worth saying once only.
type problemKey struct {
	kind  ProblemKind
	text  string
	start int
}

// pick is one variable of which a command is read once per alternative.
type pick struct {
	key    string
	n, cur int
}

// hole is a word that carried text refers to by a mark, see [reader.splice].
type hole struct {
	word Word
}

// function is the body of a shell function.
type function struct {
	name string
	body *syntax.Stmt
	span *Span
}

// frame is where a statement stands: what was peeled on the way to it and
// where its input comes from. Frames are copied before they are changed.
type frame struct {
	via         []string
	privileged  bool
	remote      *Remote
	background  bool
	piped       bool
	inLoop      bool
	conditional bool
	capture     bool // the output is wanted
	limit       int  // the length of the source before it was completed
	retried     bool // the text is read again with its here-document closed
	lenient     bool // text that is no program is passed over
	stdin       Input
	assigns     []Assign
	span        *Span // the carrier's place, for carried text
	fn          *function
}

// Read reads a command line as bash would and returns what it would run. It
// never fails: what cannot be read is a [Problem] of the script.
func Read(src string, o Options) *Script {
	return run(o, func(r *reader, f *frame) {
		if words, ok := plainCommand(src); ok {
			r.run(f, &call{argv: words, span: Span{0, len(src)}})
			return
		}
		r.source(f, src)
	})
}

// plainCommand splits a command line in which no character has a meaning to
// the shell; most commands of an agent are of this kind.
func plainCommand(src string) ([]Word, bool) {
	if len(src) > 4096 {
		return nil, false
	}
	n, word := 0, false
	for i := range len(src) {
		c := src[i]
		switch {
		case c == ' ':
			word = false
			continue
		case !isNameByte(c) && strings.IndexByte("./:@%+,-", c) < 0 && (c != '=' || n < 2):
			return nil, false
		}
		if !word {
			n++
			word = true
		}
	}
	if n == 0 {
		return nil, false
	}
	words := make([]Word, 0, n)
	for w := range strings.SplitSeq(src, " ") {
		if w != "" {
			words = append(words, Word{text: w})
		}
	}
	first := words[0].text
	return words, !syntax.IsKeyword(first) && builtins[first] != kindDeclare && first != "let" && first != "time"
}

// ReadArgv reads a command that runs without a shell, as execve would.
func ReadArgv(argv []string, o Options) *Script {
	return run(o, func(r *reader, f *frame) {
		words := make([]Word, len(argv))
		size := 0
		for i, a := range argv {
			words[i] = Text(a)
			size += len(a)
		}
		if size > MaxSource {
			r.problem(f, Problem{Kind: ProblemTooBig, Detail: "the command is longer than 1 MiB"})
			return
		}
		if len(words) > 0 {
			r.run(f, &call{argv: words})
		}
	})
}

func run(o Options, read func(*reader, *frame)) (out *Script) {
	r := &reader{opts: &o, out: &Script{}}
	defer func() {
		if v := recover(); v != nil {
			out = r.out
			out.Problems = append(out.Problems, Problem{
				Kind: ProblemInternal, Detail: "the reader failed: " + fmt.Sprint(v),
			})
		}
	}()
	r.begin()
	f := &frame{}
	read(r, f)
	r.finish(f)
	return r.out
}

// begin sets the state of a fresh shell.
func (r *reader) begin() {
	r.st.names = make(map[string]*entry, len(r.opts.Env)+8)
	r.st.level = 1
	export := func(name, value string) {
		r.st.put(name, &entry{vals: []Word{Text(value)}, exported: true})
	}
	if r.opts.Home != "" {
		export("HOME", r.opts.Home)
	}
	if r.opts.User != "" {
		export("USER", r.opts.User)
		export("LOGNAME", r.opts.User)
	}
	for name, value := range r.opts.Env {
		export(name, value)
	}
	cwd := unknown("PWD")
	if r.opts.Cwd != "" {
		cwd = Text(path.Clean(r.opts.Cwd))
	}
	r.st.set(keyCwd, cwd)
	args := make([]Word, len(r.opts.Args))
	for i, a := range r.opts.Args {
		args[i] = Text(a)
	}
	r.st.put(keyArgs, &entry{list: args, isList: true, maybe: len(args) == 0})
}

// finish reads the functions that nobody called, when some command's name is
// not known and might be theirs.
func (r *reader) finish(f *frame) {
	if !r.dynamic {
		return
	}
	keys := slices.Sorted(maps.Keys(r.st.names))
	for _, key := range keys {
		if name, ok := strings.CutPrefix(key, keyFunc); ok && !r.called[name] {
			g := *f
			g.conditional = true
			r.callFunction(&g, r.st.names[key], &call{argv: []Word{Text(name)}})
		}
	}
}

// step spends a part of the budget and reports whether some is left.
func (r *reader) step(f *frame, n int) bool {
	if r.stopped {
		return false
	}
	r.steps += n
	if r.steps > maxSteps || len(r.out.Commands) > maxCommands {
		r.stopped = true
		r.problem(f, Problem{Kind: ProblemTooCostly, Detail: "the command does too much to be read in full"})
		return false
	}
	return true
}

// enter goes one level deeper and reports whether that is allowed; if it is,
// leave must follow.
func (r *reader) enter(f *frame) bool {
	if r.stopped {
		return false
	}
	if r.depth >= MaxDepth {
		r.problem(f, Problem{Kind: ProblemTooDeep, Detail: "the command nests deeper than " + strconv.Itoa(MaxDepth) + " levels"})
		return false
	}
	r.depth++
	return true
}

func (r *reader) leave() { r.depth-- }

// problem notes a finding, once per kind, place and text.
func (r *reader) problem(f *frame, p Problem) {
	if f != nil && f.span != nil && p.Span == (Span{}) {
		p.Span = *f.span
	}
	key := problemKey{p.Kind, p.Word.String(), p.Span.Start}
	if r.problems == nil {
		r.problems = make(map[problemKey]bool)
	}
	if r.problems[key] || len(r.out.Problems) >= maxProblems {
		return
	}
	r.problems[key] = true
	r.out.Problems = append(r.out.Problems, p)
}

// source reads a program text and returns its output.
func (r *reader) source(f *frame, src string) Word {
	if len(src) > MaxSource {
		r.problem(f, Problem{Kind: ProblemTooBig, Detail: "the command is longer than 1 MiB"})
		return outputOf("")
	}
	if !r.step(f, 5+len(src)/64) || !r.enter(f) {
		return outputOf("")
	}
	defer r.leave()
	var out []Word
	parser := r.takeParser()
	in := &bounded{src: src, r: r}
	done := false
	// The loop is never left early, for the parser may go on after an error;
	// it is starved instead.
	for stmt, err := range parser.StmtsSeq(in) {
		switch {
		case done:
		case err != nil:
			done = true
			in.off = len(src)
			if o, ok := r.closed(f, src, err); ok {
				out = []Word{o}
			}
		default:
			out = append(out, r.stmt(f, stmt))
			if done = r.stopped; done {
				in.off = len(src)
			}
		}
	}
	r.parser = parser
	if !f.capture {
		return Word{}
	}
	return Glue(out...)
}

// closed reads a source again whose last here-document is open, as a shell
// does, which ends it with the input. Any other error is a problem.
func (r *reader) closed(f *frame, src string, err error) (Word, bool) {
	if end, ok := openDocument(err); ok && !f.retried {
		g := *f
		g.retried, g.limit = true, len(src)
		return r.source(&g, src+"\n"+end+"\n"), true
	}
	r.parseProblem(f, err)
	return Word{}, false
}

// openDocument returns the word that would end the here-document that a parse
// error found open.
func openDocument(err error) (string, bool) {
	pe := syntax.ParseError{}
	if !errors.As(err, &pe) {
		return "", false
	}
	rest, ok := strings.CutPrefix(pe.Text, "unclosed here-document `")
	if !ok || strings.ContainsAny(rest, "\n") {
		return "", false
	}
	return strings.TrimSuffix(rest, "`"), true
}

// takeParser hands out the idle parser, if there is one: carried text is read
// while the parser of its carrier is at work.
func (r *reader) takeParser() *syntax.Parser {
	if p := r.parser; p != nil {
		r.parser = nil
		return p
	}
	return syntax.NewParser(syntax.Variant(syntax.LangBash))
}

func (r *reader) parseProblem(f *frame, err error) {
	if errors.Is(err, errTooDeep) {
		r.problem(f, Problem{Kind: ProblemTooDeep, Detail: "the command nests too deep to be parsed"})
		return
	}
	if f.lenient {
		return
	}
	p := Problem{Kind: ProblemUnparsable, Detail: "the command is no valid shell program: " + err.Error()}
	if pe := (syntax.ParseError{}); errors.As(err, &pe) && f.span == nil {
		at := int(pe.Pos.Offset())
		p.Span = Span{at, at}
	}
	r.problem(f, p)
}

var errTooDeep = errors.New("nested too deep")

// bounded hands the source to the parser in small pieces and looks at the
// depth of the parser's recursion each time, because a parser that descends
// without bound ends the whole process.
type bounded struct {
	src string
	r   *reader
	off int
}

const pieceSize = 512

func (b *bounded) Read(p []byte) (int, error) {
	if b.off >= len(b.src) {
		return 0, io.EOF
	}
	if b.off > 0 {
		if b.r.pcs == nil {
			b.r.pcs = make([]uintptr, maxFrames)
		}
		if runtime.Callers(0, b.r.pcs) >= maxFrames {
			return 0, errTooDeep
		}
	}
	n := copy(p[:min(len(p), pieceSize)], b.src[b.off:])
	b.off += n
	return n, nil
}

// spanOf is the place of a node, or of the carrier of its text.
func (f *frame) spanOf(n syntax.Node) Span {
	if f.span != nil {
		return *f.span
	}
	start, end := int(n.Pos().Offset()), int(n.End().Offset())
	if f.limit > 0 {
		start, end = min(start, f.limit), min(end, f.limit)
	}
	return Span{start, end}
}

// with returns a copy of the frame with one more wrapper.
func (f *frame) with(via string) *frame {
	g := *f
	g.via = append(slices.Clip(f.via), via)
	return &g
}

// pick returns which of n alternatives of a name the present pass follows.
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

// eachAlternative evaluates once per combination of the alternatives that the
// evaluation meets, and joins what the passes leave.
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
			r.problem(f, Problem{Kind: ProblemTooBig, Detail: "the words of the command have too many possible values"})
			break
		}
		if !r.step(f, 1) {
			break
		}
		mark = r.st.mark()
		if o := eval(); !o.Equal(out) {
			out = outputOf("")
		}
		changes = append(changes, r.st.rollback(mark))
	}
	r.st.join(changes...)
	return out
}

// nextPick moves to the next combination. Picks after the one that moves are
// forgotten, for they may depend on it.
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
