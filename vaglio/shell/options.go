package shell

import (
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/metnos/vaglio/internal/lists"
	"github.com/metnos/vaglio/internal/unixtext"
	"github.com/metnos/vaglio/vaglio/getopt"
	"github.com/metnos/vaglio/vaglio/shell/word"
	"github.com/metnos/vaglio/vaglio/wordclass"
)

// grammar tells the options of a call from its operands.
type grammar struct {
	*getopt.Grammar
	getopt.Manner
}

// optionsFirst is the grammar of a program whose options precede its operands.
func optionsFirst(program string) *grammar {
	return &grammar{getopt.Of(program), getopt.Manner{Leading: true}}
}

// option is one option as it was given, without dashes.
type option struct {
	name  string
	value Word
	has   bool // a value was given
}

type options []option

// Given holds the options that a command was given.
type Given = options

// ParseOptions separates options, which may stand anywhere, from operands.
func ParseOptions(words []Word, by *getopt.Grammar) (Given, []Word) {
	g := grammar{Grammar: by}
	return g.parse(words)
}

// Get returns the value of the last option with one of the names.
func (o options) Get(names ...string) (Word, bool) {
	for _, opt := range slices.Backward(o) {
		if slices.Contains(names, opt.name) {
			return opt.value, true
		}
	}
	return Word{}, false
}

// all returns the values of every option with one of the names.
func (o options) all(names ...string) (out []Word) {
	for _, opt := range o {
		for _, n := range names {
			if opt.name == n && opt.has {
				out = append(out, opt.value)
			}
		}
	}
	return out
}

func (o options) any(names ...string) bool {
	_, ok := o.Get(names...)
	return ok
}

// parse splits the words after a program's name into options and operands.
func (g *grammar) parse(words []Word) (opts options, operands []Word) {
	if !g.Bundles() && !slices.ContainsFunc(words, func(w Word) bool { return strings.HasPrefix(w.Prefix(), "-") }) {
		return nil, slices.Clip(words)
	}
	var room struct { // one, to allocate once
		texts    [16]string
		flags    [6]getopt.Flag
		operands [8]int
	}
	s := g.Split(g.texts(words, room.texts[:0]), g.Manner, room.flags[:0], room.operands[:0])
	for i := range s.Flags {
		if f := &s.Flags[i]; g.Single || f.Has || len(f.Name) == len("-a") || f.Name[1] == '-' { // and no bundle as a whole
			opts = append(opts, option{name: strings.TrimLeft(f.Name, "-"), value: valueOf(f, words), has: f.Has})
		}
	}
	if len(s.Operands) == 0 {
		return opts, words[s.Tail:]
	}
	operands = lists.Each(s.Operands, func(at int) Word { return words[at] })
	return opts, append(operands, words[s.Tail:]...)
}

// texts appends the words as far as they matter for the options. Of three plain words of a program
// whose options come first, the third is an operand, and so is what follows.
func (g *grammar) texts(words []Word, to []string) []string {
	for i, plain := 0, 0; i < len(words) && (!g.Leading || plain < 3); i++ {
		to = append(to, g.text(words[i]))
		if plain++; len(to[i]) > 1 && to[i][0] == '-' {
			plain = 0
		}
	}
	return to
}

// text returns a word as far as it matters for the options. An unknown part may be a value, or stand before the equals sign of one.
func (g *grammar) text(w Word) string {
	s := w.Prefix()
	switch {
	case w.Known() || len(s) < 2 || s[0] != '-':
		return s
	case len(s) == 2 || !g.Single && s[1] != '-':
		return s + "\x00"
	}
	if _, _, ok := w.Split("="); ok && !strings.Contains(s, "=") {
		return s + "="
	}
	return s
}

func valueOf(f *getopt.Flag, words []Word) Word {
	if !f.Has {
		return Word{}
	}
	w := words[f.At]
	if f.Cut > len(w.Prefix()) {
		_, value, _ := w.Split("=")
		return value
	}
	return w.Cut(f.Cut)
}

// behindDashes returns the words without a leading "--".
func behindDashes(words []Word) []Word {
	if len(words) > 0 && words[0].Is("--") {
		return words[1:]
	}
	return words
}

// leadingAssigns splits off the leading NAME=value words.
func leadingAssigns(words []Word) (assigns []Assign, rest []Word) {
	for len(words) > 0 {
		name, value, ok := words[0].Split("=")
		n, static := name.Text()
		if !ok || !static || n == "" || strings.ContainsAny(n, "/ \t") {
			break
		}
		assigns = append(assigns, Assign{Name: n, Value: value})
		words = words[1:]
	}
	return assigns, words
}

// isOneOf reports whether a word equals one of the texts or matches one of the patterns, see [Like].
func isOneOf(w Word, list []string) bool {
	s, ok := w.Text()
	return ok && slices.ContainsFunc(list, func(pattern string) bool { return Like(s, pattern) })
}

// Like matches a text against a pattern, which may have a star at either end or in the middle. A star behind a backslash is itself.
func Like(s, pattern string) bool {
	before, after, star := strings.Cut(pattern, "*")
	switch inner, both := strings.CutSuffix(after, "*"); {
	case !star:
		return s == pattern
	case pattern == `\*`:
		return s == "*"
	case before == "" && both:
		return strings.Contains(s, inner)
	}
	return len(s) >= len(before)+len(after) && strings.HasPrefix(s, before) && strings.HasSuffix(s, after)
}

// assignedInWords reports whether the words of a command may set a variable for what the command runs: rake x NAME=value.
func (f *frame) assignedInWords(name string) bool {
	sets := func(w Word) bool {
		before := w.Prefix()
		return strings.HasPrefix(before, name+"=") || w.HasUnknown() && strings.HasPrefix(name+"=", before)
	}
	return slices.ContainsFunc(f.Via, func(by string) bool { return wordclass.Is("sets-environment", by) }) &&
		slices.ContainsFunc(f.calls, func(k *call) bool { return slices.ContainsFunc(k.argv, sets) })
}

// namesIn returns the names among which a listing program's output is, one a line: its words, or those that it was piped, but not what it is to leave out.
func namesIn(f *frame, argv []Word, name string) string {
	var names []string
	for _, p := range f.stdin.Text.Parts() {
		if p.Among != "" {
			names = append(names, p.Among)
		}
	}
	if !wordclass.Is("lists", name) || slices.ContainsFunc(argv, func(w Word) bool { return w.Is("-v") || w.Is("--invert-match") }) {
		return strings.Join(names, "\n")
	}
	for i, w := range argv {
		s := w.String()
		leftOut := i > 0 && isOneOf(argv[i-1], []string{"-I", "-E", "--exclude", "--ignore"})
		if !w.HasUnknown() && !leftOut && strings.TrimLeft(s, "-!") == s && len(names) < maxFields {
			names = append(names, strings.Trim(strings.ReplaceAll(s, `\`, ""), "^$"))
		}
	}
	return strings.Join(names, "\n")
}

// ListedAs returns the pattern of the files that a word stands for, if it is what ls lists and ls was given one pattern; else the word.
func ListedAs(w Word) Word {
	part, _ := w.Only()
	if part.From != "ls" {
		return w
	}
	names := strings.Split(strings.TrimPrefix(part.Among, "ls\n"), "\n")
	if len(names) != 1 || !strings.Contains(path.Base(names[0]), "*") {
		return w
	}
	return NewWord(Globs(names[0])...)
}

// selected returns the names that a program passes on, if it selects or orders lines of what a search found.
func selected(in Word, args []Word, name string) (Word, bool) {
	listed := func(p Part) bool { return p.From == "find" || p.From == "ls" }
	some := wordclass.Is("selects-lines", name)
	if !some && !wordclass.Is("orders-lines", name) || !slices.ContainsFunc(in.Parts(), listed) {
		return Word{}, false
	}
	names := slices.Clone(in.Parts())
	for i := range names {
		names[i].Some = names[i].Some || some
	}
	_, files := ParseOptions(args, getopt.Of(name))
	return NewWord(names...), len(files) == 0 && !cutsLines.MatchString(word.Join(args, " ").String())
}

// absentAfter adds to the files that a test says are absent the one that a statement looks for, if its result, which succeeded tells, means so.
func (r *reader) absentAfter(f *frame, s *syntax.Stmt, succeeded bool) []Word {
	file, absent := lookedFor(s.Cmd)
	if file == nil || (succeeded != s.Negated) != absent {
		return f.Unless
	}
	return append(slices.Clip(f.Unless), r.resolvePath(r.word(f, file)))
}

// lookedFor returns the file for which a test looks, and whether it succeeds if the file is absent.
func lookedFor(c syntax.Command) (file *syntax.Word, absent bool) {
	if t, ok := c.(*syntax.TestClause); ok {
		return lookedForBy(t.X)
	}
	call, ok := c.(*syntax.CallExpr)
	if !ok || len(call.Args) < 3 {
		return nil, false
	}
	words := call.Args[1:]
	switch call.Args[0].Lit() {
	case "[":
		words = words[:len(words)-1]
	case "test":
	default:
		return nil, false
	}
	if words[0].Lit() == "!" {
		words, absent = words[1:], true
	}
	if len(words) != 2 || words[0].Lit() != "-f" && words[0].Lit() != "-e" {
		return nil, false
	}
	return words[1], absent
}

func lookedForBy(x syntax.TestExpr) (file *syntax.Word, absent bool) {
	u, ok := x.(*syntax.UnaryTest)
	if ok && u.Op == syntax.TsNot {
		file, absent = lookedForBy(u.X)
		return file, !absent
	}
	if ok && (u.Op == syntax.TsRegFile || u.Op == syntax.TsExists) {
		file, _ = u.X.(*syntax.Word)
	}
	return file, false
}

// runTar reads tar, which may unpack what this source packed, as a copy of it.
func (r *reader) runTar(f *frame, k *call, p *program, name string) Word {
	out := r.runOptions(f, k, p, name)
	opts, members := p.parse(k.argv[1:])
	archive, in := "-", Text(".")
	if file, given := opts.Get("f", "file"); given && !file.Is("-") {
		archive, _ = r.filePath(file)
	}
	if dir, given := opts.Get("C", "directory", "cd"); given {
		in = dir
	}
	if opts.any("x", "extract", "get") {
		to, known := r.filePath(in)
		strip, _ := opts.Get("strip-components", "strip")
		n, _ := strconv.Atoi(strip.String())
		for _, m := range r.packed {
			if known && m.archive == archive {
				r.unpacks(f, m, max(n, 0), to)
			}
		}
		return out
	}
	for _, m := range members {
		r.packs(archive, in, m)
	}
	return out
}

// packs notes what goes into an archive, from a folder.
func (r *reader) packs(archive string, in, member Word) {
	at := Glue(in, Text("/"), member)
	if from, known := r.filePath(at); known {
		r.packed = append(r.packed, packed{archive, from, member.String()})
	}
	files, _ := r.matching(at)
	for _, file := range files {
		r.packed = append(r.packed, packed{archive, file, path.Base(file)})
	}
}

// cutAt splits words at the first that equals mark; after is nil if there is none.
func cutAt(words []Word, mark string) (before, after []Word) {
	if i := slices.IndexFunc(words, func(w Word) bool { return w.Is(mark) }); i >= 0 {
		return words[:i], words[i+1:]
	}
	return words, nil
}

// settings reads the options whose value is a key with its line.
func (r *reader) settings(f *frame, w *way, opts options, by string) {
	for _, v := range opts.all(w.settings...) {
		r.setting(f, w, v, by)
	}
}

// valueOf returns what an option's value says in this way, without the text that must precede it.
func (w *way) valueOf(name string, value Word) (Word, bool) {
	behind, anywhere := strings.CutPrefix(w.behind[name], "*")
	if _, line, found := value.Split(behind); anywhere && found {
		return line, true
	}
	return value.Cut(len(behind)), anywhere || strings.HasPrefix(value.Prefix(), behind)
}

// lastOfEnv matches the last expression of a program of node if it may show the environment.
var lastOfEnv = regexp.MustCompile(`(?:^|[;\n])\s*([^;\n]*\benv\b[^;\n]*?)[;\s]*$`)

// printed returns a program of node whose last expression is printed, if that may be the environment: other values show nothing that counts.
func (p *program) printed(opts options, text Word) Word {
	s, known := text.Text()
	m := lastOfEnv.FindStringSubmatch(s)
	if p.language != "node" || !opts.any("p", "print") || !known || m == nil {
		return text
	}
	return Text(s + "\n;console.log(" + m[1] + ")")
}

// rewrites reports whether a program puts no more than each line of its files into these, and keeps no copy.
func (p *program) rewrites(opts options, text Word) bool {
	how, inPlace := opts.Get("i", "in-place")
	s, known := text.Text()
	marked := how.Is("inplace") || how.Is("") && p.language != "awk"
	return inPlace && known && marked && (p.records || opts.any("n", "p")) && unixtext.Quiet(p.language, s)
}

// firstLine returns the line that fish runs before anything else, if an option gives it one, and the words after it.
func firstLine(w Word, rest []Word) (line Word, left []Word, ok bool) {
	if line, ok = w.Value("--init-command"); ok {
		return line, rest, true
	}
	s := w.Prefix()
	if s != "--init-command" && !strings.HasPrefix(s, "-C") {
		return Word{}, rest, false
	}
	if len(s) > len("-C") && s[1] == 'C' {
		return w.Cut(len("-C")), rest, true
	}
	if len(rest) == 0 {
		return Word{}, nil, false
	}
	return rest[0], rest[1:], true
}

// ExportsAll reports whether an argument of set has all exported that is assigned from then on.
func ExportsAll(option string) bool {
	return option == "allexport" || strings.HasPrefix(option, "-") && strings.Contains(option, "a")
}
