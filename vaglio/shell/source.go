package shell

import (
	"errors"
	"io"
	"runtime"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/metnos/vaglio/vaglio/shell/search"
	"github.com/metnos/vaglio/vaglio/shell/word"
	"github.com/metnos/vaglio/vaglio/wordclass"
	"github.com/metnos/vaglio/vaglio/wording"
)

// Read reads a command line as bash would and returns what it would run. It never fails: what it cannot read becomes a [Problem] of the script.
func Read(src string, o Options) *Script {
	return run(o, func(r *reader, f *frame) {
		r.src = src
		if words, ok := plainCommand(src); ok && r.st.get(keyAlias+words[0].Prefix()) == nil {
			r.run(f, &call{argv: words, span: Span{0, len(src)}})
			return
		}
		r.source(f, src)
	})
}

// source reads a program text and returns its output.
func (r *reader) source(f *frame, src string) Word {
	if !r.enterText(f, src) {
		return word.OutputOf("")
	}
	defer func(of string) { r.texts[of]-- }(src)
	defer r.leave()
	f, src = f.within(src), strings.ReplaceAll(src, "\x00", "") // as a shell does
	f = r.placed(f, src)
	var out []Word
	parser := r.takeParser()
	in := &bounded{src: src, r: r}
	var line []*syntax.Stmt
	flush := func() {
		out = r.line(f, line, out)
		line = line[:0]
	}
	done := false
	// The loop is never left early, because the parser may go on after an error; it is starved instead. A statement is only read once the next line has
	// begun, because the body of its here-document follows the line.
	for stmt, err := range parser.StmtsSeq(in) {
		switch {
		case done:
		case err != nil:
			flush()
			done = true
			in.off = len(src)
			if o, ok := r.closed(f, src, err); ok {
				out = []Word{o}
			}
		default:
			if n := len(line); n > 0 && stmt.Pos().Line() > line[n-1].End().Line() {
				flush()
			}
			line = append(line, stmt)
			if done = r.stopped; done {
				in.off = len(src)
			}
		}
	}
	flush()
	r.carriers.parsers.Put(parser)
	return Glue(out...)
}

// line reads the statements of a line and appends their output to out.
func (r *reader) line(f *frame, line []*syntax.Stmt, out []Word) []Word {
	for _, stmt := range line {
		if !r.stopped {
			out = append(out, r.stmt(f, stmt))
		}
	}
	return out
}

// enterText counts a text that is being read and reports whether to read it at all. A text that runs itself, such as a file that names itself or an eval of
// its own variable, would double with every level.
func (r *reader) enterText(f *frame, src string) bool {
	if len(src) > MaxSource {
		r.problem(f, Problem{Kind: ProblemTooBig, Detail: wording.Say("the command is longer than 1 MiB")})
		return false
	}
	if !r.step(f, 5+len(src)/64) {
		return false
	}
	n := r.texts[src]
	if n > 0 && f.beside && !f.Conditional && !f.Guess && !f.found {
		r.problem(f, Problem{Kind: ProblemForkBomb, Detail: wording.Say("a text starts copies of itself beside itself, without end")})
		return false
	}
	if n >= maxCalls || !r.enter(f) {
		return false
	}
	r.texts[src]++
	return true
}

// closed reads a source with an open last here-document again and ends the document with the input, as a shell does. Any other error is a problem.
func (r *reader) closed(f *frame, src string, err error) (Word, bool) {
	if end, ok := openDocument(err); ok && !f.retried {
		g := *f
		g.retried, g.limit = true, len(src)
		return r.source(&g, src+"\n"+end+"\n"), true
	}
	r.parseProblem(f, src, err)
	r.pieces(f, src)
	return Word{}, false
}

// openDocument returns the word that would end the here-document that a parse error reports as open.
func openDocument(err error) (string, bool) {
	pe := syntax.ParseError{}
	_ = errors.As(err, &pe) // any other error has no text
	rest, ok := strings.CutPrefix(pe.Text, "unclosed here-document `")
	if !ok || strings.ContainsAny(rest, "\n") {
		return "", false
	}
	return strings.TrimSuffix(rest, "`"), true
}

// takeParser returns an idle parser, or a new one: carried text is read while the parser of its carrier is still at work.
func (r *reader) takeParser() *syntax.Parser {
	if p, ok := r.carriers.parsers.Get().(*syntax.Parser); ok {
		return p
	}
	return syntax.NewParser(syntax.Variant(syntax.LangBash))
}

func (r *reader) parseProblem(f *frame, src string, err error) {
	if errors.Is(err, errTooMany) {
		r.problem(f, Problem{Kind: ProblemTooBig, Detail: wording.Say("the command has too many words to be read in full")})
		return
	}
	if errors.Is(err, errTooDeep) {
		r.problem(f, Problem{Kind: ProblemTooDeep, Detail: wording.Say("the command nests too deep to be parsed")})
		return
	}
	if f.lenient {
		return
	}
	p := Problem{Kind: ProblemUnread, Detail: wording.Say("the command is not a valid shell program: %s", err.Error())}
	if pe := (syntax.ParseError{}); errors.As(err, &pe) && f.span == nil {
		at := f.clipped(min(int(pe.Pos.Offset()), len(src)))
		p.Span = Span{at, at}
		if bashRefuses(src, pe.Text, at) {
			p.Kind, p.Detail = ProblemUnparsable, wording.Clause{Text: pe.Text}
		}
	}
	r.problem(f, p)
}

// bashRefuses reports whether bash, too, would reject a source for the error that the parser found at an offset. Bash only checks backquotes, parameter
// expansions and arithmetic when it runs them, and accepts more in words and tests than the parser does.
func bashRefuses(src, text string, at int) bool {
	switch {
	case strings.HasPrefix(text, "reached EOF without closing quote"):
		return true
	case strings.Contains(src[:at], "`") && strings.Contains(src[at:], "`"):
		return false
	case strings.Contains(text, " without matching "):
		return strings.Contains(text, "matching `(`") || strings.Contains(text, "matching `{`") || strings.Contains(text, "matching `$(`")
	case strings.Contains(text, "expression"):
		return false
	}
	return slices.ContainsFunc([]string{
		"a command can only contain", "must be followed by", "can only immediately follow", "statements must be separated",
		"can only be used", "statement must end with", "is not a valid start", "word list can only contain", "cannot form a statement alone",
	}, func(certain string) bool { return strings.Contains(text, certain) })
}

var (
	errTooDeep = errors.New("nested too deep")
	errTooMany = errors.New("too many words")
)

// bounded feeds the source to the parser in small pieces and checks the depth of the parser's recursion each time, because unbounded recursion would crash
// the whole process. It also counts the characters that separate words, because each takes many times its length in the tree.
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
	for _, c := range p[:n] {
		if strings.IndexByte(" \t\n;&|()<>{}$`'\"", c) >= 0 {
			b.r.marks++
		}
	}
	if b.r.marks > maxMarks {
		return 0, errTooMany
	}
	return n, nil
}

// spanOf returns the place of a node, or of the carrier of its text.
func (f *frame) spanOf(n syntax.Node) Span {
	if c := f.carrier(); c != nil {
		return *c
	}
	return Span{f.base + f.clipped(int(n.Pos().Offset())), f.base + f.clipped(int(n.End().Offset()))}
}

// clipped returns an offset, or the end of what was written if it lies in what completed the source.
func (f *frame) clipped(at int) int {
	if f.limit > 0 {
		return min(at, f.limit)
	}
	return at
}

// with returns a copy of the frame with one more wrapper.
func (f *frame) with(via string) *frame {
	g := *f
	g.Via = append(slices.Clip(f.Via), via)
	return &g
}

// NoFolders is the part of [Files] that finds nothing in any folder.
type NoFolders struct{}

// Closed returns nil.
func (NoFolders) Closed(string) *ClosedError { return nil }

// Below returns nothing.
func (NoFolders) Below(string, int, func(string) bool) ([]string, bool) { return nil, true }

// ProblemKind says what kept a source from being fully known.
type ProblemKind string

// The kinds of problems.
const (
	// ProblemUnparsable means that the source is not a shell program: bash itself would not parse it. Detail says what is wrong and quotes nothing of the
	// source but its operators; Span is the place.
	ProblemUnparsable ProblemKind = "unparsable"
	// ProblemUnread means that a text could not be parsed although some shell may accept it: a construct that shells treat differently or only check when it
	// runs, text that another command carries, or a language or form that the reader does not know.
	ProblemUnread ProblemKind = "unread"
	// ProblemTooBig means that the source or its expansion exceeds the limits.
	ProblemTooBig ProblemKind = "too big"
	// ProblemTooDeep means that the source nests deeper than the limit.
	ProblemTooDeep ProblemKind = "too deep"
	// ProblemTooCostly means that the budget of steps was spent.
	ProblemTooCostly ProblemKind = "too costly"
	// ProblemInternal means that the reader itself failed.
	ProblemInternal ProblemKind = "internal"
	// ProblemDynamicName means that a command's name is unknown.
	ProblemDynamicName ProblemKind = "dynamic name"
	// ProblemDynamicCode means that an interpreter runs entirely unknown text.
	ProblemDynamicCode ProblemKind = "dynamic code"
	// ProblemPartialCode means that code contains unknown text: the rest was read, but the unknown part could be code, too.
	ProblemPartialCode ProblemKind = "partial code"
	// ProblemScriptFile means that an interpreter runs a file whose content is not part of the source.
	ProblemScriptFile ProblemKind = "script file"
	// ProblemClosed means that an existing file would run but could not be read.
	ProblemClosed ProblemKind = "closed file"
	// ProblemDownload means that downloaded text runs.
	ProblemDownload ProblemKind = "download"
	// ProblemForkBomb means that processes multiply without end.
	ProblemForkBomb ProblemKind = "fork bomb"
)

// TooMuch reports whether the problem is that there is more than is read.
func (k ProblemKind) TooMuch() bool {
	return k == ProblemTooBig || k == ProblemTooDeep || k == ProblemTooCostly
}

// unread reports whether the problem is text that no reader understands, or more than is read.
func (k ProblemKind) unread() bool {
	return k == ProblemUnparsable || k == ProblemUnread || k.TooMuch()
}

// Problem is a finding that no [Command] can express.
type Problem struct {
	Kind ProblemKind
	// Detail is one sentence for a person.
	Detail wording.Clause
	// Word is the code, file or name in question, if there is one.
	Word Word
	// Interpreter is the program that would run the text, if there is one. Args are what it hands to downloaded text.
	Interpreter string
	Args        []Word
	// Below is the folder of this machine below which it changes files, if that is all that is known.
	Below      Word
	Privileged bool // it would run with raised rights
	// File and Line are where it is, if that is a file that the session wrote.
	File string
	Line int
	Span Span
}

// ClosedError says why an existing file was not read. As an error it is the end of a sentence about the file.
type ClosedError struct {
	// Why is a phrase about the file's name.
	Why wording.Phrase
	// Usual says that many files of a project are like this, and that it is harmless when a tool finds such a file by itself.
	Usual bool
	// Inert says that no interpreter runs it: it is a folder, or machine code.
	Inert bool
}

// Error returns the phrase without the name.
func (c *ClosedError) Error() string { return strings.TrimPrefix(string(c.Why), "%s ") }

// notRead records a file that would run and whose content is unknown.
func (r *reader) notRead(f *frame, where string, why *ClosedError) {
	r.problem(f, Problem{Kind: ProblemClosed, Detail: wording.Say(why.Why, strings.TrimPrefix(where, r.opts.Cwd+"/")), Word: Text(where)})
}

// Closed implements [Files].
func (r *reader) Closed(path string) *ClosedError { return r.opts.Files.Closed(path) }

// setVariable reads set, also as fish (set -gx name value) and csh (set name = value) take it.
func (r *reader) setVariable(f *frame, k *call, by string) {
	args := k.argv[1:]
	for len(args) > 0 && strings.HasPrefix(args[0].Prefix(), "-") {
		args = args[1:]
	}
	name, value, _ := strings.Cut(append(args, Word{})[0].Prefix(), "=")
	if !f.otherGrammar() || !syntax.ValidName(name) {
		r.runSet(f, k, by)
		return
	}
	values := append([]Word{Text(value)}, args[1:]...)
	r.assign(f, name, Spaced(slices.DeleteFunc(values, func(w Word) bool { return w.Is("") || w.Is("=") })))
}

// asOne reads something whose output has one way: that of a pipe, or of the rounds of a loop.
func (r *reader) asOne(read func() Word) Word {
	out := r.st.get(keyOut)
	if out == nil {
		return read()
	}
	r.st.put(keyOut, nil)
	w := read()
	r.st.put(keyOut, out)
	r.flow([]Word{w}, nil)
	return w
}

// finds takes the steps of a program that a tool finds by itself from those besides, and returns how many.
func (b *Budget) finds(p *Program, steps int) int {
	if !p.Found {
		return 0
	}
	steps = min(steps, foundSteps-b.found)
	b.found += steps
	return steps
}

// readsListed notes the files whose names a program takes from a list or from its input: they are read as if cat were given them.
func (r *reader) readsListed(f *frame, k *call, name string) {
	for _, option := range wordclass.Kinds("names-files")[name] {
		if list, ok := search.Listed(k.argv[1:], option); ok {
			names := slices.DeleteFunc(xargsItems(r.content(f, list), options{}, true), func(w Word) bool {
				p, only := w.Only()
				return w.Prefix() == "" && (!only || p.From != "ls")
			})
			if len(names) > 0 && r.step(f, wordCost*len(names)) {
				r.emit(f, Command{Argv: append(Texts([]string{"cat", "--"}), names...), Span: k.span})
			}
			return
		}
	}
}
