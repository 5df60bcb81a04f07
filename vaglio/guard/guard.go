// Package guard is phase one: the list of what is not up for debate. It is
// binary, has no setting, no exception list and no score, and never asks a
// model. What it denies stays denied.
//
// Its core are eleven forbidden paths and six quasi-irrecoverable shell
// commands. Around the core stand only stricter things: map keys are scanned
// like values, every string is also read in its normal forms, and vaglio's own
// files are forbidden. Behind the core stands the structural layer: a command
// line is read as a shell reads it, and what it would do to which target is
// held against a table of rules, as is what other tools do to their paths.
// There, what is quoted as data is no command.
//
// The package works on plain values, so that no wiring can forget it. It keeps
// no state between calls; the one thing it asks the system is where a path
// leads.
package guard

import (
	"path"
	"runtime"
	"slices"
	"strings"

	"github.com/metnos/vaglio/internal/realpath"
)

// Guard holds the compiled rules. It is safe for concurrent use.
type Guard struct {
	paths    []pathRule
	commands []commandRule
	home     string
	own      []string // vaglio's own places, clean, as configured and as resolved
	mentions []string // how a text may name them
	fold     bool
	user     string // the user's name as the home tells it
	// adminHome says that the user's home is the administrator's.
	adminHome bool
	// The rest are the tables of the structural layer.
	rules       map[string]*rule
	ownSteps    [][]string
	homeSteps   []string
	topTrees    map[string]struct{}
	trees       [][]string
	disks       []string
	places      *placeIndex
	tools       map[string]tool
	carried     map[string]bool
	credentials []string
	shells      map[string]bool
}

// Config says what the rules cannot know by themselves.
type Config struct {
	// Home replaces ~ and $HOME; empty leaves them as they are.
	Home string
	// Own are vaglio's own files and folders, as absolute paths: data, sockets,
	// tokens, configuration. They and all below them are forbidden.
	Own []string
}

// Call is one proposed call as plain values.
type Call struct {
	Executor string
	// Args hold nil, bool, number, string, []any and map[string]any, nested.
	Args map[string]any
	// Capabilities are all that anybody claims of the executor; "code:exec"
	// makes its command a shell's.
	Capabilities []string
	// Shell marks an executor that the catalog knows as a shell.
	Shell bool
	// Cwd is the folder in which relative paths begin; may be empty.
	Cwd string
}

// Denial says which rule denied a call. It holds nothing out of the call.
type Denial struct {
	// ID names the rule, stable across releases.
	ID string
	// Reason is the outcome in one line.
	Reason string
	// Why says in one sentence why the rule exists, Instead what can be done.
	Why, Instead string
}

// New compiles the rules.
func New(c Config) *Guard {
	g := &Guard{
		paths:    pathRules(),
		commands: commandRules(),
		home:     c.Home,
		fold:     runtime.GOOS == "darwin" || runtime.GOOS == "windows",
	}
	for _, place := range c.Own {
		if place == "" {
			continue
		}
		place = path.Clean(place)
		g.own = append(g.own, place)
		if resolved := realpath.Resolve(place); resolved != place {
			g.own = append(g.own, resolved)
		}
	}
	g.mentions = append(g.mentions, g.own...)
	for _, place := range g.own {
		if rest, ok := strings.CutPrefix(place, strings.TrimRight(g.home, "/")+"/"); ok && g.home != "" {
			g.mentions = append(g.mentions, "~/"+rest, "$HOME/"+rest, "${HOME}/"+rest)
		}
	}
	g.compile()
	return g
}

// compile prepares the tables of the structural layer.
func (g *Guard) compile() {
	g.rules = map[string]*rule{}
	for _, r := range append(structuralRules(), *ownRule()) {
		g.rules[r.id] = &r
	}
	var r room
	for _, own := range g.own {
		g.ownSteps = append(g.ownSteps, strings.Split(strings.Trim(own, "/"), "/"))
	}
	if home := path.Clean(g.home); strings.HasPrefix(home, "/") && home != "/" {
		g.homeSteps = slices.Clone(stepsOf(home, &r))
		g.user = path.Base(home)
		g.adminHome = home == "/root" || strings.HasPrefix(home, "/root/") || home == "/var/root"
	}
	g.topTrees = map[string]struct{}{}
	for _, t := range systemTrees() {
		steps := strings.Split(t[1:], "/")
		g.trees = append(g.trees, steps)
		if len(steps) == 1 {
			g.topTrees[steps[0]] = struct{}{}
		}
	}
	g.disks = diskNames()
	g.places = newPlaceIndex(places(), g.fold)
	g.tools = toolTable()
	g.carried = carriedPrograms()
	g.credentials = credentialOptions()
	g.shells = shellNames()
}

// ruleOf gives the rule of an id; a rule that is missing is a fault.
func (g *Guard) ruleOf(id string) *rule {
	if id == "" {
		return nil
	}
	if r := g.rules[id]; r != nil {
		return r
	}
	return faultRule()
}

// Check tries every rule on a call; the first that hits wins. The order is
// fixed: the strings of args as they stand, map entries by key, each against
// the path rules in their order; the command line; then the same again with
// map keys and normal forms. A panic inside is a denial.
func (g *Guard) Check(c Call) (d Denial, denied bool) {
	defer func() {
		if recover() != nil {
			d, denied = faultRule().denial(), true
		}
	}()
	return g.check(c)
}

func (g *Guard) check(c Call) (Denial, bool) {
	s := scan{g: g, executor: c.Executor, shell: isShell(c)}
	s.texts = s.room[:0]
	s.action = actionOf(c.Args)
	s.runs = mayRun(c.Args) && (s.shell || g.isNamedShell(c.Executor))
	if r := s.core(c); r != nil {
		return r.denial(), true
	}
	if r := s.structural(c); r != nil {
		return r.denial(), true
	}
	return Denial{}, false
}

// core tries the forbidden paths and commands, as they stand and in their
// normal forms.
func (s *scan) core(c Call) *rule {
	if r := s.collect(c.Args, 0, false); r != nil {
		return r
	}
	for _, t := range s.texts {
		if t.key {
			continue
		}
		if r := s.g.matchPath(s.expandUser(t.s)); r != nil {
			return r
		}
	}
	if s.shell {
		if r := s.g.matchCommand(seedCommand(c.Args)); r != nil {
			return r
		}
	}
	s.setBases(c)
	for _, t := range s.texts {
		if r := s.forms(t); r != nil {
			return r
		}
	}
	if s.shell {
		for _, line := range commandLines(c.Args) {
			if r := s.g.commandForms(line); r != nil {
				return r
			}
		}
	}
	return nil
}

// structural tries what the call would do.
func (s *scan) structural(c Call) *rule {
	if s.runs {
		if r := s.g.ruleOf(s.g.runs(c)); r != nil {
			return r
		}
	}
	if killsAll(c.Args) && s.handling().kills {
		return s.g.ruleOf(killRule)
	}
	if r := s.named(c.Args); r != nil {
		return r
	}
	if r := s.statement(c.Args); r != nil {
		return r
	}
	return s.found
}

// isShell says whether the call's command is run by a shell.
func isShell(c Call) bool {
	return c.Shell || c.Executor == "shell_exec" || slices.Contains(c.Capabilities, "code:exec")
}
