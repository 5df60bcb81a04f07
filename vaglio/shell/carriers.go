package shell

import (
	_ "embed" // The table of what programs carry.
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/metnos/vaglio/internal/lists"
	"github.com/metnos/vaglio/internal/rows"
	"github.com/metnos/vaglio/vaglio/getopt"
	"github.com/metnos/vaglio/vaglio/shell/word"
	"github.com/metnos/vaglio/vaglio/wordclass"
)

//go:embed carriers.txt
var carriersText string

// evaluator reads a call of a program in the table.
type evaluator func(r *reader, f *frame, k *call, p *program, name string) Word

// program is the table's entry for programs that carry something.
type program struct {
	way
	read  evaluator
	shell bool  // a shell, which reads its command line itself
	ways  []way // by the first operands
}

// way is one way in which a program carries something.
type way struct {
	grammar

	words [][]string // the operands that select it; each may be one of several
	run   string     // what the operands are: one of [modes]
	from  int        // how many operands precede them

	// Options whose value is: a command line (behind holds the prefix that it must have); key=line, for the given keys; a program in the language; the name
	// of the program that takes the operands; that program's file; the folder to run in; another root; the file that is written; where the command runs.
	line, settings, keys, text, program, file, chdir, root, to, at []string
	behind                                                         map[string]string
	// Options that make the operands a command line, a command, or a login shell's line; that enter the home of the
	// user of -u; that keep them from running; that precede a command; that replace the first operand; that name the file.
	lineWith, argvWith, login, enters, unless, after, instead, named []string
	// Options that name the mark in whose place an item stands in the command; that keep the caller's home.
	marks, keeps []string
	// Operands that may precede the others, and behind which options may follow, and first operands that show that a different program is meant.
	may, not []string
	// escapes lists what precedes a command line in words and in the input.
	escapes  []string
	language string
	usual    string // the file that it takes if none is named: its operands are no files
	with     string // the program that takes the operands
	ending   string // only those whose first one has this ending

	assigns    bool // NAME=value operands precede the command
	privileged bool // the command gets raised rights
	own        bool // the program has effects of its own and is listed too
	only       bool // it has none of its own
	container  bool // its command runs in a container
	dash       bool // the command must follow a "--"
	here       bool // the command sees this machine's files at their usual paths
	operand    bool // the first operand is program text
	records    bool // the program runs once for each line of the input
	stdin      bool // text on the input is also a program
	script     bool // the first operand is a program file
	bindings   bool // a line may have the form KEY:ACTION(line)
	unescape   bool // a backslash escapes the blanks of a line
	mixed      bool // options may follow operands
	appends    bool // an item stands at the end of a command without marks
	several    bool // another call of it may follow a semicolon
	fed        bool // the lines of options read what the program works on as their input
	trails     bool // what names where the command runs may stand behind it
}

// What the operands are.
const (
	runArgv   = "argv"   // a command
	runLine   = "line"   // joined by blanks, a command line
	runEach   = "each"   // each is a command line
	runWhole  = "whole"  // a command, together with the operands that select the way
	runKeys   = "keys"   // keys typed into a terminal
	runText   = "text"   // program text
	runScript = "script" // a program file
	runTasks  = "tasks"  // words of its own program, with commas or plus signs between the calls
	runNone   = "none"
)

// carrierTable holds all programs that carry something, by name, and what readers share besides.
type carrierTable struct {
	programs map[string]*program
	builtins map[string]builtin
	tellers  map[string]teller
	last     []string  // the programs of the last header
	parsers  sync.Pool // idle ones
}

// program looks up a program by its name, with or without a version.
func (c *carrierTable) program(name string) *program {
	if p := c.programs[name]; p != nil {
		return p
	}
	return c.programs[strings.TrimRight(name, "0123456789.")] // as in python3.12
}

// known reports whether the reader knows what a program's words are.
func (c *carrierTable) known(name string) bool {
	p := c.program(name)
	return p != nil && p.usual != "-" || c.builtins[name] != nil
}

//nolint:gochecknoglobals // Read once, then only looked at.
var defaultCarriers = rows.Once("vaglio/shell", func() (*carrierTable, error) { return readCarriers("carriers.txt", carriersText) })

// readCarriers reads a table. An error names the file, the line and the column.
func readCarriers(file, text string) (*carrierTable, error) {
	c := &carrierTable{programs: map[string]*program{}, builtins: builtins(), tellers: tellers()}
	return c, rows.Sections(file, text, c.addPrograms, c.addWay)
}

// addWay adds a way to the programs of the last header.
func (c *carrierTable) addWay(words, attributes []string) error {
	w := way{keys: c.programs[c.last[0]].keys, run: c.programs[c.last[0]].run}
	for _, t := range words {
		if t != "." { // whatever they are
			w.words = append(w.words, strings.Split(t, "|"))
		}
	}
	err := c.attributes(nil, &w, attributes)
	for _, name := range c.last {
		c.programs[name].ways = append(c.programs[name].ways, w)
	}
	return err
}

// addPrograms adds the programs of a header.
func (c *carrierTable) addPrograms(names, attributes []string) error {
	like := program{read: (*reader).runOperands, way: way{run: runArgv}}
	c.last = names
	if err := c.attributes(&like, &like.way, attributes); err != nil {
		return err
	}
	for _, name := range names {
		if c.programs[name] != nil {
			return rows.Wrong(name, "%q is named already", name)
		}
		p := like
		p.Grammar = getopt.Of(name)
		c.programs[name] = &p
	}
	return nil
}

// attributes reads attributes of a way, and of a program unless p is nil.
func (c *carrierTable) attributes(p *program, w *way, words []string) error {
	for _, t := range words {
		name, value, given := strings.Cut(t, "=")
		ok := p == nil || name != "by"
		if ok {
			ok = c.attribute(w, name, value, given)
		} else {
			p.shell = value == "shell"
			if p.read = evaluators()[value]; value != "elsewhere" {
				p.run = runNone // its words are read by the evaluator
			}
			ok = p.read != nil
		}
		if !ok {
			return rows.Wrong(t, "unknown attribute %q", t)
		}
	}
	w.Leading = !w.mixed
	return nil
}

func (c *carrierTable) attribute(w *way, name, value string, given bool) bool {
	switch f := w.field(name).(type) {
	case *bool:
		*f = true
		return !given
	case *string:
		*f = value
		return name != "run" || slices.Contains([]string{runArgv, runLine, runEach, runWhole, runKeys, runText, runScript, runTasks, runNone}, value)
	case *int:
		n, err := strconv.Atoi(value)
		*f = n
		return err == nil
	case *[]string:
		for e := range strings.SplitSeq(value, ",") {
			*f = append(*f, w.listed(name, e))
		}
		return value != ""
	default:
		return false
	}
}

// field returns where a way keeps the value of an attribute.
func (w *way) field(name string) any {
	return map[string]any{
		"assigns": &w.assigns, "privileged": &w.privileged, "own": &w.own, "only": &w.only, "container": &w.container, "dash": &w.dash,
		"here": &w.here, "operand": &w.operand, "records": &w.records, "stdin": &w.stdin, "script": &w.script, "bindings": &w.bindings,
		"unescape": &w.unescape, "mixed": &w.mixed, "appends": &w.appends, "several": &w.several, "fed": &w.fed, "trails": &w.trails,
		"run": &w.run, "from": &w.from, "language": &w.language, "usual": &w.usual, "with": &w.with, "ending": &w.ending,
		"keys": &w.keys, "escapes": &w.escapes, "may": &w.may, "not": &w.not,
		"line": &w.line, "settings": &w.settings, "text": &w.text, "program": &w.program, "file": &w.file, "chdir": &w.chdir,
		"root": &w.root, "to": &w.to, "at": &w.at, "line-with": &w.lineWith, "argv-with": &w.argvWith, "login": &w.login, "enters": &w.enters,
		"unless": &w.unless, "after": &w.after, "instead": &w.instead, "named": &w.named, "marks": &w.marks, "keeps": &w.keeps,
	}[name]
}

// listed returns an element of a list as calls are compared with it: an option without its dashes.
func (w *way) listed(attribute, e string) string {
	switch attribute {
	case "keys", "may", "not":
		return e
	case "escapes":
		return strings.ReplaceAll(e, "_", " ")
	}
	o, behind, has := strings.Cut(e, "/")
	if o == "-" && has {
		o, has = e, false // the option -/
	}
	bare := strings.TrimSuffix(strings.TrimLeft(o, "-"), "?")
	switch attribute {
	case "after":
		return o // as it is written
	case "line-with", "argv-with", "login", "enters", "unless", "instead", "named", "marks", "keeps":
		return bare
	}
	if has {
		w.behind = maps.Collect(maps.All(w.behind))
		w.behind[bare] = behind
	}
	return bare
}

// find returns the way that the operands select and the words after them, or nil if they select none. Options may stand between the words.
func (p *program) find(operands []Word) (*way, []Word) {
	for i := range p.ways {
		rest, ok := operands, true
		verb := make([]string, 0, 4)
		for _, alternatives := range p.ways[i].words {
			for len(rest) > 0 && len(rest) < len(operands) && strings.HasPrefix(rest[0].Prefix(), "-") {
				rest = rest[1:]
			}
			if ok = len(rest) > 0 && isOneOf(rest[0], alternatives); !ok {
				break
			}
			verb, rest = append(verb, rest[0].Prefix()), rest[1:]
		}
		if ok {
			w := p.ways[i]
			w.Grammar = p.Under(verb...)
			return &w, rest
		}
	}
	return nil, nil
}

// options reads the options and operands of a call, and the operands that may precede them.
func (p *program) options(k *call) (opts options, operands []Word) {
	opts, operands = p.parse(k.argv[1:])
	for len(operands) > 0 && isOneOf(operands[0], p.may) {
		under := p.grammar
		under.Grammar = p.Under(operands[0].String())
		more, rest := under.parse(operands[1:])
		opts, operands = append(opts, more...), rest
	}
	return opts, operands
}

// carriedIn returns the words of a call that are a command of their own, read by itself.
func (p *program) carriedIn(k *call) []Word {
	opts, rest := p.options(k)
	w, _, rest := p.operands(rest)
	if w == nil || w.run != runArgv || w.container {
		return nil
	}
	return w.inner(opts, rest)
}

// ownWords returns the words of a call that are not read by themselves, with the program of a command that is, if there is one, and its words.
func (p *program) ownWords(k *call) (words, behind []Word, command bool) {
	words = k.argv[1:]
	if inner := p.carriedIn(k); len(inner) > 0 {
		words, behind, command = k.argv[1:len(k.argv)-len(inner)+1], inner[1:], true
	}
	if p.shell {
		words = slices.DeleteFunc(slices.Clone(words), func(w Word) bool { return strings.ContainsAny(w.Prefix(), " \n") })
	}
	return words, behind, command
}

// withProgram returns a command with the program that takes it, if there is one.
func (w *way) withProgram(argv []Word) []Word {
	if w.with == "" || !strings.HasSuffix(argv[0].Suffix(), w.ending) {
		return argv
	}
	return append([]Word{Text(w.with)}, argv...)
}

// trustsWhole lets what is unknown in a command line count that stands whole in a file read loosely, until the returned function is called.
func (f *frame) trustsWhole(line ...Word) func() {
	words := lists.Each(line, Word.String)
	if f.file == nil || !f.file.wrote || slices.ContainsFunc(line, Word.HasUnknown) || !IsWhole(words...) {
		return func() {}
	}
	file := f.file
	file.own = true
	return func() { file.own = false }
}

// IsWhole reports whether a text in a program is a command line with nothing left out: several words, none of them
// a place for values. An option as the last of the texts may have lost its value.
func IsWhole(words ...string) bool {
	text, last := strings.Join(words, " "), words[len(words)-1]
	return strings.Contains(strings.TrimSpace(text), " ") && text == strings.TrimRight(text, " \t=/") && !places.MatchString(text) &&
		!strings.HasPrefix(last, "-")
}

var places = regexp.MustCompile(`%[-+.\d]*[a-zA-Z@]|[$#]\{|\{\w*\}|\\\(`)

// pathOf returns the path of the file that a program is in, if it is known.
func (f *frame) pathOf(p *Program) string {
	if !p.File || f.file == nil {
		return ""
	}
	return f.file.path
}

// module reads the program texts among the words of python -m, if the module takes any.
func (r *reader) module(f *frame, k *call, module Word) {
	name, _ := module.Text()
	p := r.carriers.program(strings.ToLower(name))
	at := slices.IndexFunc(k.argv, func(w Word) bool { return w.Is(name) })
	if at > 0 {
		r.tasks(f, &call{argv: k.argv[at:], assigns: k.assigns, span: k.span, module: true}, name)
	}
	if p == nil || p.language != "python" || at < 0 {
		return
	}
	opts, rest := p.parse(k.argv[at+1:])
	texts, _ := p.texts(opts, rest)
	if p.run == "text" {
		texts = append(slices.Clip(texts), rest...)
	}
	r.escapes(f, p, k.argv[at+1:], nil, name)
	if len(texts) > 0 {
		r.readProgram(f, &Program{Language: p.language, Text: word.Join(texts, "\n")}, Word{})
	}
}

// escapes reads the command lines in the lines of words and of the input.
func (r *reader) escapes(f *frame, p *program, words, input []Word, by string) {
	if p.escapes == nil {
		return
	}
	input = append(slices.Clip(input), lists.All(words, Word.Lines)...)
	for _, v := range input {
		r.escape(f, &p.way, v, by)
	}
}

// raised gives what runs in the frame the rights of a user.
func (f *frame) raised(user Word) {
	f.Privileged, f.User = true, user.String()
	if slices.Contains([]string{"root", "0", "#0"}, f.User) {
		f.User = ""
	}
}

// becomes takes the home of another user, and goes there if that user logs in.
func (r *reader) becomes(f *frame, user Word, login bool) {
	name, known := user.Text()
	home, ok := r.home(name)
	if !known || !ok {
		return
	}
	r.assign(f, "HOME", home)
	if login {
		r.st.set(keyCwd, home)
	}
}

// soughtAs matches the port of processes, maybe behind an option, and a word that is no option.
var soughtAs = regexp.MustCompile(`(?m)^(?:-\w*i)?(?:tcp|udp)?(:\d+)$|^([^-$()\s][^$()\n]*)$`)

// processesOf returns what a program that looks for processes looks for, behind a blank, if that is one thing.
func processesOf(argv []Word, name string) (sought string) {
	if wordclass.Is("prints-processes", name) {
		if one := soughtAs.FindAllStringSubmatch(strings.Join(lists.Each(argv[1:], Word.String), "\n"), 2); len(one) == 1 {
			sought = " " + one[0][1] + one[0][2]
		}
	}
	return sought
}
