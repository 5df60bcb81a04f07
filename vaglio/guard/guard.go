// Package guard is phase one: the list of what is not up for debate. It is binary, has no setting, no exception list and no score, and never asks a model.
// What it denies stays denied.
//
// Its core is eleven forbidden paths and six quasi-irrecoverable shell commands. Around the core, everything is only stricter: map keys are scanned like
// values, every string is also read in its other spellings, and vaglio's own files are forbidden. Then comes the structural layer. It reads a command line as
// a shell does, and checks what the line would do to which target against a table of rules; it checks what other tools do to their paths the same way. For
// the structural layer, text quoted as data is no command.
//
// The package works on plain values, so that callers have no wiring to forget. It keeps no state between calls; all that it asks the system is where a path
// leads and where a user's home is.
package guard

import (
	"cmp"
	"errors"
	"path"
	"runtime"
	"slices"
	"strings"

	"github.com/metnos/vaglio/internal/own"
	"github.com/metnos/vaglio/internal/realpath"
	"github.com/metnos/vaglio/vaglio/commands"
	"github.com/metnos/vaglio/vaglio/operation"
	"github.com/metnos/vaglio/vaglio/place"
	"github.com/metnos/vaglio/vaglio/reading"
)

// Guard holds the compiled rules. It is safe for concurrent use.
type Guard struct {
	// paths and commands are the rules of the core.
	paths    []*rule
	commands []*rule
	home     string
	itself   *own.Facts
	own      []ownPlace
	mentions []string // how a text may name the closed places
	inHome   []string // the same below the home
	fold     bool
	user     string // the user's name, taken from the home
	// adminHome says that the user's home is the administrator's.
	adminHome bool
	// The rest is for the structural layer.
	rules  map[string]*rule
	table  *place.Table
	verbs  map[operation.Verb]weigh
	broken error // why the tables cannot be used; then every call is denied
	base   *commands.Base
	reader *reading.Reader
	// machine answers the guard's questions to the system.
	machine realpath.Machine
	packed  func(file string) (names []string, whole, found bool)
	hooked  func(file string) bool
}

// Config is what the rules cannot know by themselves.
type Config struct {
	// Home replaces ~ and $HOME; empty leaves them as they are.
	Home string
	// Own describes what vaglio itself is made of.
	Own own.Facts
}

// Call is one proposed call as plain values.
type Call struct {
	Executor string
	// Args hold nil, bool, number, string, []any and map[string]any, nested.
	Args map[string]any
	// Capabilities are all that anybody claims for the executor; "code:exec" makes its command a shell command.
	Capabilities []string
	// Shell marks an executor that the catalog knows as a shell.
	Shell bool
	// Cwd is the folder in which relative paths begin; may be empty.
	Cwd string
	// Reading is the call's reading; nil lets the guard read the call itself.
	Reading *reading.Reading
	// Machine answers this call's questions to the system; nil is [realpath.Here].
	Machine realpath.Machine
	// Packed lists the archive in a file, by its real path: the names of its entries, those of links
	// with a slash at the end, whether that is all, and whether there is such a file. nil lists none.
	Packed func(file string) (names []string, whole, found bool)
	// Hooked reports whether a file of settings names the gate's hook, or could not be read. nil knows none.
	Hooked func(file string) bool
}

// Denial says which rule denied a call. It contains nothing from the call.
type Denial struct {
	// ID names the rule, stable across releases.
	ID string
	// Reason is the outcome in one line.
	Reason string
	// Why says in one sentence why the rule exists, Instead what can be done instead.
	Why, Instead string
	// File and Line say where the forbidden command stands, if that is in a file that the call runs.
	File string
	Line int
}

// New compiles the rules.
func New(c Config) *Guard {
	g := &Guard{
		home: c.Home, machine: realpath.Here{},
		fold: runtime.GOOS == "darwin" || runtime.GOOS == "windows",
	}
	g.setOwn(&c.Own)
	g.compile()
	return g
}

// compile prepares the tables of the structural layer.
func (g *Guard) compile() {
	g.rules = map[string]*rule{}
	table, broken := builtIn()
	for _, r := range table {
		switch g.rules[r.id] = r; {
		case r.pattern == "":
		case r.isPlace():
			g.paths = append(g.paths, r)
		default:
			g.commands = append(g.commands, r)
		}
	}
	if home := path.Clean(g.home); strings.HasPrefix(home, "/") && home != "/" {
		g.user = path.Base(home)
		g.adminHome = home == "/root" || strings.HasPrefix(home, "/root/") || home == "/var/root"
	}
	// If a table has a mistake it is nil, and then every call is denied.
	g.table, _ = place.Load(g.home, g.fold)
	g.verbs = verbTable()
	if g.base, g.broken = commands.Load(); g.broken != nil {
		g.base = &commands.Base{}
	}
	g.broken = errors.Join(g.broken, broken)
	g.reader = reading.NewReader(reading.Options{Home: g.home, User: g.user, Env: g.itself.Env})
}

// ruleOf returns the rule with that ID, or nil for "". A missing rule is a fault of the guard.
func (g *Guard) ruleOf(id string) *rule {
	if id == "" {
		return nil
	}
	if r := g.rules[id]; r != nil {
		return r
	}
	return faultRule()
}

// Examine checks a call against every rule; the first broken rule wins. The order is fixed: first the strings of args as they stand, map entries sorted by
// key, each against the path rules in their order; then the command line; then the same again with map keys and other spellings; then what the call would do.
// A panic inside is a denial. A call that breaks no rule but cannot be read to its end is reported as unreadable.
func (g *Guard) Examine(c Call) (out Outcome) {
	defer func() {
		if recover() != nil || g.table == nil || g.broken != nil {
			out = denied(faultRule())
		}
	}()
	if c.Machine != nil || c.Packed != nil {
		asking := *g
		asking.machine, asking.packed, asking.hooked = cmp.Or(c.Machine, g.machine), c.Packed, c.Hooked
		g = &asking
	}
	return g.examineCall(c)
}

func denied(r *rule) Outcome {
	d := r.denial()
	return Outcome{Denial: &d}
}

func (g *Guard) examineCall(c Call) Outcome {
	s := g.scanOf(c)
	s.texts = s.room[:0]
	if s.rd.Failed {
		return denied(faultRule())
	}
	r := s.core(c)
	if s.t.first = cmp.Or(s.t.first, s.rd.Mistyped); r == nil && s.t.first == nil {
		r = s.structural()
	}
	if r == nil {
		return Outcome{Unreadable: s.t.first, Doubt: s.t.doubt}
	}
	out := denied(r)
	out.Denial.File, out.Denial.Line = s.t.file, s.t.line
	return out
}

func (g *Guard) scanOf(c Call) scan {
	rd := c.Reading
	if rd == nil {
		rd = g.reader.Read(reading.Call{Executor: c.Executor, Args: c.Args, Cwd: c.Cwd, Capabilities: c.Capabilities, Shell: c.Shell})
	}
	return scan{g: g, rd: rd, shell: c.Shell || c.Executor == "shell_exec" || slices.Contains(c.Capabilities, "code:exec"), t: trouble{means: rd.Means}}
}

// core checks the forbidden paths and commands, literally and in other spellings.
func (s *scan) core(c Call) *rule {
	if s.t.first = s.collect(c.Args, 0, text{}); s.t.first != nil {
		return nil // args that nest too deep are not examined
	}
	for _, t := range s.texts {
		if t.key {
			continue
		}
		if r := firstBroken(s.g.paths, s.expandUser(t.s)); r != nil {
			return r
		}
	}
	if s.shell {
		if r := firstBroken(s.g.commands, reading.SeedLine(c.Args)); r != nil {
			return r
		}
	}
	s.setBases(c)
	for _, t := range s.texts {
		if r := s.forms(t); r != nil {
			return r
		}
	}
	for _, line := range s.lines {
		if r := s.g.commandForms(line); r != nil {
			return r
		}
	}
	return nil
}

// structural checks what the call would do.
func (s *scan) structural() *rule {
	for _, try := range [...]func() *rule{s.commands, s.operations, s.written, s.ran, s.statements} {
		if r := try(); r != nil {
			return r
		}
	}
	return s.found
}

// commands checks every command line and program of the call.
func (s *scan) commands() *rule {
	for i := range s.rd.Commands {
		c := &s.rd.Commands[i]
		if r := s.g.ruleOf(s.g.examine(c.Script, &s.t)); r != nil {
			return r
		}
		if c.IsProgram() && s.g.itself.Answers(c.Text) {
			return s.g.ruleOf(ownCommand)
		}
		if !c.Doubt {
			s.t.note(c.At, c.Script.Problems, c.Text, c.Shift, c.Final)
		}
	}
	return nil
}
