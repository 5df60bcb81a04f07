package shell

import (
	_ "embed" // The table of what programs carry.
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/metnos/vaglio/internal/rows"
)

//go:embed carriers.txt
var carriersText string

// evaluator reads a call of a program in the table.
type evaluator func(r *reader, f *frame, k *call, p *program, name string) Word

// oddity reads what a program with a grammar of its own carries.
type oddity func(r *reader, f *frame, k *call, name string)

// program is the table's entry for programs that carry something.
type program struct {
	way
	read evaluator
	odd  oddity
	ways []way // by the first operands

	// may lists operands that may precede the others; options may follow each.
	may []string
	// not lists first operands that show that a different program is meant.
	not []string
}

// way is one way in which a program carries something.
type way struct {
	grammar

	words [][]string // the operands that select it; each may be one of several
	run   string     // what the operands are: one of [modes]
	from  int        // how many operands precede them

	// Options whose value is: a command line (behind holds the prefix that it must have);
	// key=line, for the given keys; a program in the language; the name of the program that takes
	// the operands; that program's file; the folder to run in; another root; the file that is
	// written.
	line, settings, keys, text, program, file, chdir, root, to []string
	behind                                                     map[string]string
	// Options that make the operands a command line, a command, or a login shell's line, or that
	// keep them from running; that precede a command; that replace the first operand; that name
	// the fetched file.
	lineWith, argvWith, login, unless, after, instead, named []string
	// escapes lists what precedes a command line in words and in the input.
	escapes  []string
	language string
	with     string // the program that takes the operands

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
	runNone   = "none"
)

func modes() []string {
	return []string{runArgv, runLine, runEach, runWhole, runKeys, runText, runScript, runNone}
}

// carrierTable holds all programs that carry something, by name.
type carrierTable struct {
	programs map[string]*program
	builtins map[string]builtin
	lists    map[string]string // the shared lists, by @name
}

// program looks up a program by its name, with or without a version.
func (c *carrierTable) program(name string) *program {
	if p := c.programs[name]; p != nil {
		return p
	}
	return c.programs[strings.TrimRight(name, "0123456789.")] // as in python3.12
}

// known reports whether the reader knows more about a program than its name.
func (c *carrierTable) known(name string) bool {
	return c.program(name) != nil || c.builtins[name] != nil
}

//nolint:gochecknoglobals // Read once, then only looked at.
var sharedCarriers = sync.OnceValues(func() (*carrierTable, error) { return readCarriers("carriers.txt", carriersText) })

// defaultCarriers returns the package's own table. It panics on a mistake in the table, which the
// tests rule out.
func defaultCarriers() *carrierTable {
	c, err := sharedCarriers()
	if err != nil {
		panic("vaglio/shell: " + err.Error())
	}
	return c
}

// tableWord is a word of the table with its position.
type tableWord struct {
	text      string
	line, col int
}

func (t tableWord) wrong(format string, args ...any) error {
	return fmt.Errorf("%d:%d: %s", t.line, t.col, fmt.Sprintf(format, args...))
}

// readCarriers reads a table. An error names the file, the line and the column.
func readCarriers(file, text string) (*carrierTable, error) {
	c := &carrierTable{programs: map[string]*program{}, builtins: builtins(), lists: map[string]string{}}
	var last *program
	for _, words := range statements(text) {
		if err := c.statement(&last, words); err != nil {
			return nil, fmt.Errorf("%s:%w", file, err)
		}
	}
	return c, nil
}

// statements splits a table into statements. A line that begins with a blank continues the line
// before it; after a comma it continues that line's last word.
func statements(text string) [][]tableWord {
	var out [][]tableWord
	for n, l := range rows.Of(text) {
		if l[0] != ' ' || len(out) == 0 {
			out = append(out, nil)
		}
		now := &out[len(out)-1]
		at := 0
		for w := range strings.FieldsSeq(l) {
			at += strings.Index(l[at:], w)
			if last := len(*now) - 1; last >= 0 && strings.HasSuffix((*now)[last].text, ",") {
				(*now)[last].text += w
			} else {
				*now = append(*now, tableWord{w, n, at + 1})
			}
			at += len(w)
		}
	}
	return out
}

// statement reads `[names] attributes`, `words = attributes` or `@list = a,b`.
func (c *carrierTable) statement(last **program, words []tableWord) error {
	first := words[0]
	if strings.HasPrefix(first.text, "[") {
		return c.header(last, words)
	}
	at := slices.IndexFunc(words, func(t tableWord) bool { return t.text == "=" })
	if at < 1 {
		return first.wrong("want [names], words = attributes or @list = options, got %q", first.text)
	}
	if strings.HasPrefix(first.text, "@") {
		if len(words) != 3 {
			return first.wrong("want one list behind %s =", first.text)
		}
		c.lists[first.text] = words[2].text
		return nil
	}
	if *last == nil {
		return first.wrong("%q stands below no [names]", first.text)
	}
	w := way{}
	for _, t := range words[:at] {
		w.words = append(w.words, strings.Split(t.text, "|"))
	}
	w.keys, w.run = (*last).keys, (*last).run
	if err := c.attributes(nil, &w, words[at+1:]); err != nil {
		return err
	}
	(*last).ways = append((*last).ways, w)
	return nil
}

// header reads the names and the attributes of programs.
func (c *carrierTable) header(last **program, words []tableWord) error {
	end := slices.IndexFunc(words, func(t tableWord) bool { return strings.HasSuffix(t.text, "]") })
	if end < 0 {
		return words[0].wrong("no ] behind %q", words[0].text)
	}
	p := &program{read: (*reader).runOperands}
	p.run = runArgv
	if err := c.attributes(p, &p.way, words[end+1:]); err != nil {
		return err
	}
	for _, t := range words[:end+1] {
		name := strings.Trim(t.text, "[]")
		if name == "" || c.programs[name] != nil {
			return t.wrong("%q is named already", name)
		}
		c.programs[name] = p
	}
	*last = p
	return nil
}

func (c *carrierTable) attributes(p *program, w *way, words []tableWord) error {
	for _, t := range words {
		name, value, given := strings.Cut(t.text, "=")
		ok := p != nil && c.ofProgram(p, name, value) || c.ofOperands(w, name, value) || c.ofOptions(w, name, value)
		if flag := w.flag(name); !ok && flag != nil && !given {
			*flag, ok = true, true
		}
		if !ok {
			return t.wrong("unknown attribute %q", t.text)
		}
	}
	return nil
}

// ofProgram reads an attribute that only a header has.
func (c *carrierTable) ofProgram(p *program, name, value string) bool {
	switch name {
	case "by":
		p.read = evaluators()[value]
		if value != "elsewhere" {
			p.run = runNone // its words are read by the evaluator
		}
		return p.read != nil
	case "odd":
		p.odd = oddities()[value]
		return p.odd != nil
	case "may":
		p.may = c.list(value)
	case "not":
		p.not = c.list(value)
	default:
		return false
	}
	return true
}

// ofOperands reads an attribute that says what the operands are.
func (c *carrierTable) ofOperands(w *way, name, value string) bool {
	switch name {
	case "run":
		w.run = value
		return slices.Contains(modes(), value)
	case "from":
		n, err := strconv.Atoi(value)
		w.from = n
		return err == nil
	case "language":
		w.language = value
	case "with":
		w.with = value
	case "keys":
		w.keys = c.list(value)
	case "escapes":
		for _, e := range c.list(value) {
			w.escapes = append(w.escapes, strings.ReplaceAll(e, "_", " "))
		}
	default:
		return false
	}
	return true
}

// ofOptions reads an attribute that lists options, and notes which of them take a value.
func (c *carrierTable) ofOptions(w *way, name, value string) bool {
	valued := map[string]*[]string{
		"values": new([]string), "line": &w.line, "settings": &w.settings, "text": &w.text, "program": &w.program, "file": &w.file, "chdir": &w.chdir,
		"root": &w.root, "to": &w.to,
	}
	list := valued[name]
	takes := list != nil
	if !takes {
		list = map[string]*[]string{
			"line-with": &w.lineWith, "argv-with": &w.argvWith, "login": &w.login, "unless": &w.unless, "after": &w.after,
			"instead": &w.instead, "named": &w.named,
		}[name]
	}
	if list == nil || value == "" {
		return false
	}
	for _, o := range c.list(value) {
		o, behind, has := strings.Cut(o, "/")
		if o == "-" && has {
			o, behind, has = "-/", "", false // the option -/
		}
		bare := strings.TrimSuffix(strings.TrimLeft(o, "-"), "?")
		if takes && strings.HasPrefix(o, "-") {
			w.take(bare, strings.HasSuffix(o, "?"))
		}
		if has {
			w.behind = map[string]string{bare: behind}
		}
		if name == "after" {
			bare = o // as it is written
		}
		*list = append(*list, bare)
	}
	return true
}

// flag returns the boolean attribute of that name, or nil.
func (w *way) flag(name string) *bool {
	return map[string]*bool{
		"assigns": &w.assigns, "privileged": &w.privileged, "own": &w.own, "only": &w.only, "container": &w.container, "dash": &w.dash,
		"here": &w.here, "operand": &w.operand, "records": &w.records, "stdin": &w.stdin, "script": &w.script, "bindings": &w.bindings,
		"unescape": &w.unescape, "mixed": &w.permute, "single": &w.single,
	}[name]
}

// list splits a comma-separated list and expands the shared lists in it.
func (c *carrierTable) list(value string) []string {
	var out []string
	for e := range strings.SplitSeq(value, ",") {
		if shared, ok := c.lists[e]; ok {
			out = append(out, strings.Split(shared, ",")...)
		} else if e != "" {
			out = append(out, e)
		}
	}
	return out
}

// take notes that an option takes a value, or takes one only when it is glued on.
func (g *grammar) take(name string, glued bool) {
	switch {
	case len(name) > 1 && !g.takesValue(name):
		g.long += " " + name
	case len(name) == 1 && !strings.Contains(g.values, name):
		g.values += name
		if glued {
			g.values += "?"
		}
	}
}

// find returns the way that the operands select and the words after them, or nil if they select
// none. Options may stand between the words.
func (p *program) find(operands []Word) (*way, []Word) {
	for i := range p.ways {
		rest, ok := operands, true
		for _, alternatives := range p.ways[i].words {
			for len(rest) > 0 && len(rest) < len(operands) && strings.HasPrefix(rest[0].Prefix(), "-") {
				rest = rest[1:]
			}
			if ok = len(rest) > 0 && isOneOf(rest[0], alternatives); !ok {
				break
			}
			rest = rest[1:]
		}
		if ok {
			return &p.ways[i], rest
		}
	}
	return nil, nil
}

// options reads the options and operands of a call, and the operands that may precede them.
func (p *program) options(k *call) (opts options, operands []Word) {
	opts, operands = p.parse(k.argv[1:])
	for len(operands) > 0 && isOneOf(operands[0], p.may) {
		var more options
		more, operands = p.parse(operands[1:])
		opts = append(opts, more...)
	}
	return opts, operands
}
