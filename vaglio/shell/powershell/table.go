package powershell

import (
	_ "embed"
	"errors"
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
	own       map[string]bool   // of the variables, those of PowerShell
	roots     map[string]string // of the registry, as reg spells them
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

// sections are what takes a row, by the name of the section.
func (t *tables) sections() map[string]func(row []string) error {
	set := func(to map[string]bool) func([]string) error {
		return func(row []string) error {
			for _, w := range row {
				to[strings.ToLower(w)] = true
			}
			return nil
		}
	}
	text := func(to map[string]string) func([]string) error {
		return func(row []string) error { return put(to, row[0], strings.Join(row[1:], " ")) }
	}
	specs := func(to map[string]*spec) func([]string) error {
		return func(row []string) error {
			s, err := parseSpec(row)
			return errors.Join(err, put(to, row[0], s))
		}
	}
	roles := func(to map[string][]role) func([]string) error {
		return func(row []string) error {
			list, err := parseRoles(row[1:])
			return errors.Join(err, put(to, row[0], list))
		}
	}
	return map[string]func([]string) error{
		"cmdlets": specs(t.cmdlets), "cmd": specs(t.cmd), "variables": text(t.variables), "roots": text(t.roots),
		"static": roles(t.static), "methods": roles(t.methods),
		"own": set(t.own), "pure": set(t.pure), "plain": set(t.plain), "harmless": set(t.harmless),
		"aliases": func(row []string) error {
			last, err := row[len(row)-1], error(nil)
			for _, w := range row[:len(row)-1] {
				err = errors.Join(err, put(t.aliases, w, last))
			}
			return err
		},
		"common": func(row []string) error {
			s, err := parseSpec(append([]string{""}, row...))
			t.shared = append(t.shared, s.params...)
			return err
		},
		"start": func(row []string) error {
			for _, w := range row {
				name, value := strings.CutSuffix(w, "=")
				t.start = append(t.start, startOption{name, value})
			}
			return nil
		},
		"families": func(row []string) error {
			for _, w := range row {
				t.families = append(t.families, strings.ToLower(w))
			}
			return nil
		},
		"programs": func(row []string) error {
			s, err := parseSpec(row)
			key := strings.ToLower(row[0])
			t.programs[key] = append(t.programs[key], s)
			return err
		},
	}
}

func parseTables(text string) (*tables, error) {
	t := &tables{
		aliases: map[string]string{}, cmdlets: map[string]*spec{}, cmd: map[string]*spec{}, programs: map[string][]*spec{},
		variables: map[string]string{}, own: map[string]bool{}, roots: map[string]string{}, static: map[string][]role{}, pure: map[string]bool{},
		plain: map[string]bool{}, methods: map[string][]role{}, harmless: map[string]bool{},
	}
	sections := t.sections()
	add := sections["own"]
	for i, line := range strings.Split(text, "\n") {
		row := strings.Fields(line)
		if len(row) == 0 || strings.HasPrefix(row[0], "#") {
			continue
		}
		var err error
		if strings.HasPrefix(line, "[") && len(row) == 1 {
			if add = sections[strings.Trim(row[0], "[]")]; add == nil {
				err = fmt.Errorf("unknown section: %q", line)
			}
		} else {
			err = add(row)
		}
		if err != nil {
			return nil, fmt.Errorf("powershell: tables.txt:%d: %w", i+1, err)
		}
	}
	return t, nil
}

// put adds what a name stands for, once.
func put[T any](to map[string]T, name string, v T) error {
	key := strings.ToLower(name)
	if _, ok := to[key]; ok {
		return fmt.Errorf("a second row of the same name: %q", name)
	}
	to[key] = v
	return nil
}

// parseRoles reads what a function does to its arguments.
func parseRoles(row []string) ([]role, error) {
	var out []role
	for _, w := range row {
		at, what, _ := strings.Cut(w, ":")
		n, err := strconv.Atoi(at)
		if at == "self" {
			n, err = -1, nil
		}
		if err != nil || !knownRole(what) {
			return nil, fmt.Errorf("neither a place nor a role: %q", w)
		}
		out = append(out, role{index: n, what: what})
	}
	return out, nil
}

func parseSpec(row []string) (*spec, error) {
	s := &spec{name: row[0]}
	for _, w := range row[1:] {
		key, value, _ := strings.Cut(w, "=")
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
				return s, err
			}
			if p.name == "*" {
				s.rest = p.role
			} else {
				s.params = append(s.params, p)
			}
		}
	}
	return s, nil
}

// parseParam reads a parameter; the role of one of a program may be the
// program's option.
func parseParam(w string, program bool) (param, error) {
	name, what, _ := strings.Cut(w, ":")
	if what != "" && !knownRole(what) && (!program || what[0] != '-') {
		return param{}, fmt.Errorf("unknown role: %q", w)
	}
	p := param{role: what, pos: -1}
	name, p.piped = strings.CutSuffix(name, "<")
	name, p.isFlag = strings.CutSuffix(name, "?")
	name, at, placed := strings.Cut(name, "@")
	if pos, err := strconv.Atoi(at); placed {
		if err != nil {
			return param{}, fmt.Errorf("no place of a word: %q", w)
		}
		p.pos = pos
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
