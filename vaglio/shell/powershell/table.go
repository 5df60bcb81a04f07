package powershell

import (
	_ "embed"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
)

//go:embed tables.txt
var tableText string

// tables is what is known of commands, kept in tables.txt.
type tables struct {
	aliases   map[string]string // to the name of a cmdlet
	cmdlets   map[string]*spec
	shared    []param // what every cmdlet has
	start     []startOption
	families  []string // the beginnings of names that only read
	cmd       map[string]*spec
	programs  map[string][]*spec
	variables map[string]string
	own       map[string]bool // of the variables, those of PowerShell
	short     map[string]string
	static    map[string][]role // type::function, in lower case
	pure      map[string]bool   // types whose functions touch nothing
	plain     map[string]bool   // types that leave a text what it is
	methods   map[string][]role
	harmless  map[string]bool
}

// startOption is an option of powershell and pwsh, in the order in which the
// beginning of a name is taken for one of them.
type startOption struct {
	name  string
	value bool
}

// spec is a command's row: its name, then its parameters.
//
//	Name     takes a value        Name@2   that may stand as third word without a name
//	Name?    is a switch          Name<    may come through the pipe
//	*        all other words      :role    what is done to the value
//	tree=P   with the switch P what is deleted is a whole tree
//	as=X     it is another name of the program X, roles being X's options
//	when=a|b the row holds when one of the words is there (* always)
//	out=X    what it puts out, see [work.output]
//	pass     the tables of those who judge know more of it
type spec struct {
	name   string
	params []param
	rest   string // the role of all other words
	as     string
	tree   string
	out    string // what it puts out
	when   []string
	pass   bool
}

type param struct {
	name   string // in lower case
	role   string
	pos    int // its place among the words without a name, or -1
	isFlag bool
	piped  bool
}

// role says what is done to an argument; index is -1 for the object itself.
type role struct {
	index int
	what  string
}

// known returns the tables, which are read once and never change.
//
//nolint:gochecknoglobals // Read once, then only looked at.
var known = sync.OnceValues(func() (*tables, error) { return parseTables(tableText) })

// field is one word of the tables and where it stands.
type field struct {
	text   string
	column int
	rest   string // of the line, from here
}

// wrong is a mistake in the tables.
func (f field) wrong(what string) error {
	return fmt.Errorf("%d: %s: %q", f.column, what, f.text)
}

func fields(line string) []field {
	var out []field
	for w := range strings.FieldsSeq(line) {
		at := strings.Index(line, w)
		if n := len(out); n > 0 {
			last := out[n-1].column - 1 + len(out[n-1].text)
			at = last + strings.Index(line[last:], w)
		}
		out = append(out, field{text: w, column: at + 1, rest: strings.TrimSpace(line[at:])})
	}
	return out
}

func parseTables(text string) (*tables, error) {
	t := &tables{
		aliases: map[string]string{}, cmdlets: map[string]*spec{}, cmd: map[string]*spec{}, programs: map[string][]*spec{},
		variables: map[string]string{}, own: map[string]bool{}, short: map[string]string{}, static: map[string][]role{},
		pure: map[string]bool{}, plain: map[string]bool{}, methods: map[string][]role{}, harmless: map[string]bool{},
	}
	sections := t.sections()
	add := sections[""]
	n := 0
	for line := range strings.Lines(text) {
		n++
		words := fields(line)
		if len(words) == 0 || strings.HasPrefix(words[0].text, "#") {
			continue
		}
		err := error(nil)
		if name := words[0].text; len(words) == 1 && strings.HasPrefix(name, "[") {
			if add = sections[strings.Trim(name, "[]")]; add == nil {
				err = words[0].wrong("unknown section")
			}
		} else {
			err = add(words)
		}
		if err != nil {
			return nil, fmt.Errorf("powershell: tables.txt:%d:%w", n, err)
		}
	}
	return t, nil
}

// sections are what adds a row, by the name of the section.
func (t *tables) sections() map[string]func(row []field) error {
	return map[string]func([]field) error{
		"":          func(row []field) error { return row[0].wrong("a row outside sections") },
		"aliases":   t.addAliases,
		"cmdlets":   func(row []field) error { return addSpec(t.cmdlets, row) },
		"cmd":       func(row []field) error { return addSpec(t.cmd, row) },
		"common":    t.addShared,
		"start":     t.addStart,
		"programs":  t.addProgram,
		"families":  func(row []field) error { return each(row, func(w string) { t.families = append(t.families, w) }) },
		"own":       func(row []field) error { return each(row, func(w string) { t.own[w] = true }) },
		"pure":      func(row []field) error { return each(row, func(w string) { t.pure[w] = true }) },
		"plain":     func(row []field) error { return each(row, func(w string) { t.plain[w] = true }) },
		"harmless":  func(row []field) error { return each(row, func(w string) { t.harmless[w] = true }) },
		"variables": func(row []field) error { return addText(t.variables, row) },
		"short":     func(row []field) error { return addText(t.short, row) },
		"static":    func(row []field) error { return addRoles(t.static, row) },
		"methods":   func(row []field) error { return addRoles(t.methods, row) },
	}
}

func each(row []field, add func(word string)) error {
	for _, w := range row {
		add(strings.ToLower(w.text))
	}
	return nil
}

// put adds what a name stands for, once.
func put[T any](to map[string]T, name field, v T) error {
	key := strings.ToLower(name.text)
	if _, ok := to[key]; ok {
		return name.wrong("a second row of the same name")
	}
	to[key] = v
	return nil
}

func (t *tables) addAliases(row []field) error {
	last := row[len(row)-1]
	for _, w := range row[:len(row)-1] {
		if err := put(t.aliases, w, last.text); err != nil {
			return err
		}
	}
	return nil
}

// addText adds a name and the text that follows it, if there is one.
func addText(to map[string]string, row []field) error {
	if len(row) == 1 {
		return put(to, row[0], "")
	}
	return put(to, row[0], row[1].rest)
}

func (t *tables) addShared(row []field) error {
	for _, w := range row {
		p, err := parseParam(w, false)
		if err != nil {
			return err
		}
		t.shared = append(t.shared, p)
	}
	return nil
}

func (t *tables) addStart(row []field) error {
	for _, w := range row {
		name, value := strings.CutSuffix(w.text, "=")
		t.start = append(t.start, startOption{name, value})
	}
	return nil
}

func (t *tables) addProgram(row []field) error {
	s, err := parseSpec(row)
	key := strings.ToLower(row[0].text)
	t.programs[key] = append(t.programs[key], s)
	return err
}

func addSpec(to map[string]*spec, row []field) error {
	s, err := parseSpec(row)
	if err != nil {
		return err
	}
	return put(to, row[0], s)
}

// addRoles adds a function and what it does to its arguments.
func addRoles(to map[string][]role, row []field) error {
	var out []role
	for _, w := range row[1:] {
		at, what, _ := strings.Cut(w.text, ":")
		n, err := strconv.Atoi(at)
		if at == "self" {
			n, err = -1, nil
		}
		if err != nil || !knownRole(what) {
			return w.wrong("neither a place nor a role")
		}
		out = append(out, role{index: n, what: what})
	}
	return put(to, row[0], out)
}

func parseSpec(row []field) (*spec, error) {
	s := &spec{name: row[0].text}
	for _, w := range row[1:] {
		key, value, _ := strings.Cut(w.text, "=")
		switch key {
		case "pass":
			s.pass = true
		case "as":
			s.as = value
		case "out":
			s.out = value
		case "tree":
			s.tree = strings.ToLower(value)
		case "when":
			s.when = strings.Split(value, "|")
		default:
			p, err := parseParam(w, s.as != "")
			if err != nil {
				return nil, err
			}
			if p.name == "*" {
				s.rest = p.role
			} else {
				s.params = append(s.params, p)
			}
		}
	}
	if len(s.params) == 0 && slices.Contains([]string{"path", "join"}, s.out) {
		return nil, row[0].wrong("no path to put out")
	}
	return s, nil
}

// parseParam reads a parameter; the role of one of a program may be the
// program's option.
func parseParam(w field, program bool) (param, error) {
	name, what, _ := strings.Cut(w.text, ":")
	if what != "" && !knownRole(what) && (!program || what[0] != '-') {
		return param{}, w.wrong("unknown role")
	}
	p := param{role: what, pos: -1}
	name, p.piped = strings.CutSuffix(name, "<")
	name, p.isFlag = strings.CutSuffix(name, "?")
	if n, at, ok := strings.Cut(name, "@"); ok {
		pos, err := strconv.Atoi(at)
		if err != nil {
			return param{}, w.wrong("no place of a word")
		}
		name, p.pos = n, pos
	}
	p.name = strings.ToLower(name)
	return p, nil
}

// common is the parameter of every cmdlet that a name means, if it means one.
func (t *tables) common(name string) *param {
	const enough = 4 // letters that stand for a longer name
	for i := range t.shared {
		if p := &t.shared[i]; p.name == name || len(name) >= enough && strings.HasPrefix(p.name, name) {
			return p
		}
	}
	return nil
}

// startOption is the option of powershell that a name or its beginning means.
func (t *tables) startOption(name string) startOption {
	for _, o := range t.start {
		if name != "" && strings.HasPrefix(o.name, name) {
			return o
		}
	}
	return startOption{}
}

// knownRole says whether a word of the tables is a role: what is done to an
// argument.
func knownRole(what string) bool {
	return slices.Contains(strings.Fields("delete deletetree write append read list create permissions kill copy move to rename child target "+
		"url fetch send code block each script module program args elevate host cwd unread"), what)
}

// The roles of arguments that stand in several places here.
const (
	roleDelete     = "delete"
	roleDeleteTree = "deletetree"
	roleWrite      = "write"
	roleRead       = "read"
	roleCreate     = "create"
	roleMove       = "move"
	roleTo         = "to"
	roleRename     = "rename"
	roleChild      = "child"
	roleTarget     = "target"
	roleBlock      = "block"
	roleEach       = "each"
	roleProgram    = "program"
	roleArgs       = "args"
)
