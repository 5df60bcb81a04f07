package powershell

import (
	_ "embed"
	"fmt"
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
	families  []string
	cmd       map[string]*spec
	programs  map[string][]*spec
	variables map[string]string
	folders   map[string]string
	short     map[string]string
	static    map[string][]role // type::function, in lower case
	pure      map[string]bool
	methods   map[string][]role
	harmless  map[string]bool
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

func parseTables(text string) (*tables, error) {
	t := &tables{
		aliases: map[string]string{}, cmdlets: map[string]*spec{}, cmd: map[string]*spec{}, programs: map[string][]*spec{},
		variables: map[string]string{}, folders: map[string]string{}, short: map[string]string{},
		static: map[string][]role{}, pure: map[string]bool{}, methods: map[string][]role{}, harmless: map[string]bool{},
	}
	section, n := "", 0
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimSpace(line)
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, "[") && strings.HasSuffix(line, "]"):
			section = line[1 : len(line)-1]
		default:
			if err := t.add(section, line, strings.Fields(line)); err != nil {
				return nil, fmt.Errorf("powershell: tables.txt:%d: %w", n, err)
			}
		}
	}
	return t, nil
}

func (t *tables) add(section, line string, words []string) error {
	first, rest := words[0], words[1:]
	key := strings.ToLower(first)
	text := strings.TrimSpace(line[len(first):])
	switch section {
	case "aliases":
		for _, w := range words[:len(words)-1] {
			t.aliases[w] = words[len(words)-1]
		}
	case "families":
		t.families = append(t.families, words...)
	case "variables":
		t.variables[key] = text
	case "short":
		t.short[key] = text
	case "folders":
		names, folder, _ := strings.Cut(line, " ~")
		folder = "~" + folder
		if n, f, ok := strings.Cut(line, " C:"); ok {
			names, folder = n, "C:"+f
		}
		for name := range strings.FieldsSeq(names) {
			t.folders[name] = folder
		}
	case "pure":
		addAll(t.pure, words)
	case "harmless":
		addAll(t.harmless, words)
	default:
		return t.addCalls(section, key, first, rest)
	}
	return nil
}

func (t *tables) addCalls(section, key, first string, rest []string) error {
	var err error
	switch section {
	case "cmdlets":
		t.cmdlets[key], err = parseSpec(first, rest)
	case "cmd":
		t.cmd[key], err = parseSpec(first, rest)
	case "programs":
		var s *spec
		s, err = parseSpec(first, rest)
		t.programs[key] = append(t.programs[key], s)
	case "static":
		if len(rest) == 0 {
			return fmt.Errorf("no function in %q", first)
		}
		t.static[key+"::"+strings.ToLower(rest[0])], err = parseRoles(rest[1:])
	case "methods":
		t.methods[key], err = parseRoles(rest)
	default:
		return fmt.Errorf("unknown section %q", section)
	}
	return err
}

func addAll(set map[string]bool, words []string) {
	for _, w := range words {
		set[strings.ToLower(w)] = true
	}
}

func parseRoles(words []string) ([]role, error) {
	out := []role{}
	for _, w := range words {
		at, what, ok := strings.Cut(w, ":")
		r := role{index: -1, what: what}
		if at != "self" {
			n, err := strconv.Atoi(at)
			if err != nil {
				return nil, fmt.Errorf("%q is no place of an argument", at)
			}
			r.index = n
		}
		if !ok || !knownRole(what) {
			return nil, fmt.Errorf("unknown role in %q", w)
		}
		out = append(out, r)
	}
	return out, nil
}

func parseSpec(name string, words []string) (*spec, error) {
	s := &spec{name: name}
	for _, w := range words {
		key, value, ok := strings.Cut(w, "=")
		switch {
		case w == "pass":
			s.pass = true
		case ok && key == "as":
			s.as = value
		case ok && key == "out":
			s.out = value
		case ok && key == "tree":
			s.tree = strings.ToLower(value)
		case ok && key == "when":
			s.when = strings.Split(value, "|")
		default:
			if err := s.addParam(w); err != nil {
				return nil, err
			}
		}
	}
	return s, nil
}

func (s *spec) addParam(w string) error {
	name, what, _ := strings.Cut(w, ":")
	if what != "" && !knownRole(what) && (s.as == "" || what[0] != '-') {
		return fmt.Errorf("unknown role in %q", w)
	}
	if name == "*" {
		s.rest = what
		return nil
	}
	p := param{role: what, pos: -1}
	name, p.piped = strings.CutSuffix(name, "<")
	name, p.isFlag = strings.CutSuffix(name, "?")
	if n, at, ok := strings.Cut(name, "@"); ok {
		pos, err := strconv.Atoi(at)
		if err != nil {
			return fmt.Errorf("%q is no place of a word", at)
		}
		name, p.pos = n, pos
	}
	p.name = strings.ToLower(name)
	s.params = append(s.params, p)
	return nil
}

// knownRole says whether a word of the tables is a role.
func knownRole(what string) bool {
	switch what {
	case roleDelete, roleDeleteTree, roleWrite, roleAppend, roleRead, roleList, roleCreate, rolePermissions, roleKill, roleCopy, roleMove, roleLink,
		roleTo, roleRename,
		roleChild, roleTarget, roleURL, roleFetch, roleSend, roleCode, roleBlock, roleEach, roleFilter, roleMember, roleScript, roleModule,
		roleProgram, roleArgs, roleElevate,
		roleHost, roleRun, roleSource, roleType, roleCom, roleAlias, roleAliased, roleVariable, roleValue, roleCwd, roleMakeBlock, roleFolder,
		roleGetenv, roleSetenv, roleBase64:
		return true
	default:
		return false
	}
}

// The roles of arguments.
const (
	roleDelete      = "delete"
	roleDeleteTree  = "deletetree"
	roleWrite       = "write"
	roleAppend      = "append"
	roleRead        = "read"
	roleList        = "list"
	roleCreate      = "create"
	rolePermissions = "permissions"
	roleKill        = "kill"
	roleCopy        = "copy"
	roleMove        = "move"
	roleLink        = "link"
	roleTo          = "to"
	roleRename      = "rename"
	roleChild       = "child"
	roleTarget      = "target"
	roleURL         = "url"
	roleFetch       = "fetch"
	roleSend        = "send"
	roleCode        = "code"
	roleBlock       = "block"
	roleEach        = "each"
	roleFilter      = "filter"
	roleMember      = "member"
	roleScript      = "script"
	roleModule      = "module"
	roleProgram     = "program"
	roleArgs        = "args"
	roleElevate     = "elevate"
	roleHost        = "host"
	roleRun         = "run"
	roleSource      = "source"
	roleType        = "type"
	roleCom         = "com"
	roleAlias       = "alias"
	roleAliased     = "aliased"
	roleVariable    = "variable"
	roleValue       = "value"
	roleCwd         = "cwd"
	roleMakeBlock   = "makeblock"
	roleFolder      = "folder"
	roleGetenv      = "getenv"
	roleSetenv      = "setenv"
	roleBase64      = "base64"
)
