package place

import (
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
)

// Class is a set of kinds of places.
type Class uint32

// The classes.
const (
	Secret            Class = 1 << iota // what opens accounts and machines
	Authority                           // what decides who may do what
	System                              // what a machine needs to start and run
	Kernel                              // switches of the kernel
	Device                              // devices that every program expects
	Home                                // a home that is not the user's
	Own                                 // the gate's own data
	Control                             // what steers agents, shells, programs, and what starts by itself
	Temporary                           // temporary files
	Nowhere                             // what keeps nothing, such as /dev/null
	Perimeter                           // folders that are nobody's workspace
	Made                                // folders that a build makes again
	MadeFile                            // files that a build makes again
	Cache                               // caches of the user
	Example                             // files that show a form and hold no data
	Scratch                             // files made to be overwritten
	Plain                               // files of programs and texts
	Record                              // what records events, such as logs
	Document                            // what people write for people
	Skill                               // programs that came with skills and plugins of agents
	Repository                          // what only git should change
	SecretVariable                      // variables that hold a secret
	TemporaryVariable                   // variables that name a temporary file
	tree
	common
	disk
	noDisk
)

// variables are the classes of variable names, not paths.
const variables = SecretVariable | TemporaryVariable

// uses are the classes that say what a file is for, not what it is.
const uses = Made | MadeFile | Example | Scratch | Plain | Record | Document

// shapes are the classes with lookups of their own.
const shapes = tree | common | disk | noDisk

func classNames() map[string]Class {
	return map[string]Class{
		"secret": Secret, "authority": Authority, "system": System, "kernel": Kernel, "device": Device, "home": Home, "own": Own,
		"control":   Control,
		"temporary": Temporary, "nowhere": Nowhere, "perimeter": Perimeter, "made": Made, "madefile": MadeFile, "cache": Cache, "example": Example,
		"scratch": Scratch, "plain": Plain, "record": Record, "document": Document, "skill": Skill, "repository": Repository,
		"secretvariable": SecretVariable, "temporaryvariable": TemporaryVariable, "tree": tree, "common": common, "disk": disk, "nodisk": noDisk,
	}
}

// Op is an operation on a path.
type Op uint8

// The operations.
const (
	Uses     Op = iota // what an unknown program does; at least it reads
	Reads              // reads the file
	Writes             // adds to a file or changes it
	Replaces           // rewrites a whole file: its content is gone
	Removes            // removes it
	Empties            // removes it and everything below it
	Copies             // reads it and everything below it
)

// Table says what lies at a path. It is safe for concurrent use.
type Table struct {
	rows []*Row
	// homeSteps are the steps of the user's home, homeFolded the same in lower case.
	homeSteps, homeFolded []string
	fold                  bool
	ruled                 *index // rows with rules
	classed               *index // all rows about paths
	named                 *index // rows about variables
	made                  *index // rows about what a name is for
	copied                []*pattern
	trees                 map[string]struct{} // directly below the root
	deepTrees             [][]string
	commons               map[string]struct{}
	disks                 []string
	volumes               *index
}

// Load returns the table. home is the user's home, "" if unknown; fold says that the system
// ignores case. The error names the file, line and column of a mistake in the data.
func Load(home string, fold bool) (*Table, error) {
	read := shared
	if fold {
		read = sharedFolded
	}
	t, err := read()
	if err != nil {
		return nil, err
	}
	return t.of(home), nil
}

//nolint:gochecknoglobals // The tables of nobody's home are made once, for all, and never changed.
var (
	shared       = sync.OnceValues(func() (*Table, error) { return builtIn(false) })
	sharedFolded = sync.OnceValues(func() (*Table, error) { return builtIn(true) })
)

func builtIn(fold bool) (*Table, error) {
	rows, err := readRows()
	return newTable(rows, fold), err
}

// of returns the table with the user's home.
func (t *Table) of(home string) *Table {
	own := *t
	if home = Clean(home); strings.HasPrefix(home, "/") && home != "/" {
		var r, lower room
		own.homeFolded = slices.Clone(stepsOf(strings.ToLower(home), &lower))
		if own.homeSteps = slices.Clone(stepsOf(home, &r)); t.fold {
			own.homeSteps = own.homeFolded
		}
	}
	return &own
}

func newTable(rows []*Row, fold bool) *Table {
	t := &Table{rows: rows, fold: fold, trees: map[string]struct{}{}, commons: map[string]struct{}{}}
	t.ruled = newIndex(rows, fold, func(r *Row) bool { return r.Reading+r.Writing+r.Replacing+r.Removing != "" })
	// The judges ignore case in any system.
	t.classed = newIndex(rows, true, func(r *Row) bool { return r.Class&(variables|shapes|uses) == 0 })
	t.made = newIndex(rows, true, func(r *Row) bool { return r.Class&uses != 0 })
	t.named = newIndex(rows, true, func(r *Row) bool { return r.Class&variables != 0 })
	t.volumes = newIndex(rows, false, func(r *Row) bool { return r.Class&(disk|noDisk) != 0 })
	t.copied = newIndex(rows, fold, func(r *Row) bool { return r.Copying != "" }).all
	for _, r := range rows {
		for _, p := range r.Where {
			t.shape(r.Class, p)
		}
	}
	return t
}

// shape adds a pattern of a row whose class has a lookup of its own.
func (t *Table) shape(c Class, p string) {
	steps := strings.Split(strings.TrimPrefix(t.cased(p), "/"), "/")
	switch {
	case c == tree && len(steps) == 1:
		t.trees[steps[0]] = struct{}{}
	case c == tree:
		t.deepTrees = append(t.deepTrees, steps)
	case c == common:
		t.commons[steps[1]] = struct{}{}
	case c == disk && len(steps) == 2: // directly below /dev
		t.disks = append(t.disks, steps[1])
	}
}

// Rows returns the rows of the table in order, for documentation.
func (t *Table) Rows() []*Row { return t.rows }

// cased returns a path as the system compares it.
func (t *Table) cased(p string) string {
	if t.fold {
		return strings.ToLower(p)
	}
	return p
}

// Rule returns the ID of the guard's rule about an operation on a clean path, or "".
func (t *Table) Rule(clean string, op Op) string {
	clean = t.cased(clean)
	var r room
	steps := stepsOf(clean, &r)
	at, guess := t.homeOf(steps), guesses(clean)
	for i := range len(steps) + 1 {
		for _, p := range t.ruled.candidates(guess, steps, i) {
			if id := p.row.ruleFor(op); id != "" && p.matches(clean, steps, at) {
				return id
			}
		}
	}
	if op == Copies {
		return t.copying(steps, at)
	}
	return ""
}

// copying returns the rule about what lies below a folder of a home.
func (t *Table) copying(steps []string, at int) string {
	if at == 0 || at == len(steps) {
		return ""
	}
	for _, p := range t.copied {
		if p.home && reaches(p.steps, steps[at:]) {
			return p.row.Copying
		}
	}
	return ""
}

// ruleFor returns a row's rule for an operation.
func (r *Row) ruleFor(op Op) string {
	switch op {
	case Writes:
		return r.Writing
	case Replaces:
		if r.Replacing != "" {
			return r.Replacing
		}
		return r.Writing
	case Removes, Empties:
		return r.Removing
	default:
		return r.Reading
	}
}

// Classes returns the classes of a clean path. Wildcards in it are taken literally; a path that ends in one also gets the classes of the part before it.
func (t *Table) Classes(clean string) Class {
	clean = strings.ToLower(clean)
	c := t.classed.classes(clean, t)
	if cut := strings.TrimRight(clean, "*"); cut != clean && !strings.HasSuffix(cut, "/") {
		c |= t.classed.classes(cut, t)
	}
	return c
}

// Rebuilt reports whether a build, an install or a download can recreate what a clean path or pattern names.
func (t *Table) Rebuilt(clean string) bool {
	clean = strings.ToLower(clean)
	steps := strings.Split(clean, "/")
	for i, s := range steps {
		steps[i] = strings.TrimSuffix(s, "*")
	}
	return t.made.classes(strings.Join(steps, "/"), t)&Made != 0 || t.RebuiltName(clean)
}

// RebuiltName is [Table.Rebuilt] by the last name alone.
func (t *Table) RebuiltName(name string) bool {
	name = strings.ToLower(path.Base(name))
	if strings.HasPrefix(name, "*.") {
		name = "*" + strings.TrimSuffix(name[1:], "*")
	}
	return t.made.classes(name, t)&MadeFile != 0
}

// Purpose returns what a file is for, judging by its last name: [Example], [Scratch], [Plain], [Record] and [Document].
func (t *Table) Purpose(p string) Class {
	return t.made.classes(strings.ToLower(path.Base(p)), t) & (Example | Scratch | Plain | Record | Document)
}

// Variable returns the class of a variable by its name: [SecretVariable], [TemporaryVariable] or 0.
func (t *Table) Variable(name string) Class {
	name = strings.ToLower(name)
	var c Class
	for _, p := range t.named.all {
		if Meet(name, p.steps[0]) && !slices.ContainsFunc(p.except, func(e *pattern) bool { return Meet(name, e.steps[0]) }) {
			c |= p.row.Class
		}
	}
	return c
}

// Below returns the classes of places that lie below a clean path. Only places with a known location count, not those that are recognized by name anywhere.
func (t *Table) Below(clean string) Class {
	clean = strings.ToLower(clean)
	var r room
	steps := stepsOf(clean, &r)
	for len(steps) > 0 && IsWild(steps[len(steps)-1]) {
		steps = steps[:len(steps)-1]
	}
	at := t.homeOf(steps)
	holdsHome := at == 0 && t.aboveHome(steps)
	var c Class
	for _, p := range t.classed.all {
		switch {
		case c&p.row.Class == p.row.Class, !strings.HasPrefix(clean, "/"):
		case p.home && holdsHome, p.home && at > 0 && reaches(p.steps, steps[at:]), p.rooted && p.steps[0][0] != '*' && reaches(p.steps, steps):
			c |= p.row.Class
		}
	}
	return c
}

// aboveHome reports whether homes lie below a folder.
func (t *Table) aboveHome(steps []string) bool {
	if len(steps) == 0 {
		return true
	}
	above := len(steps) < len(t.homeFolded) && MatchSteps(t.homeFolded[:len(steps)], steps)
	return above || len(steps) == 1 && (steps[0] == "home" || steps[0] == "users")
}

// reaches reports whether a pattern's place lies at or below the folder with these steps.
func reaches(pattern, steps []string) bool {
	for i, step := range steps {
		switch {
		case i >= len(pattern):
			return false
		case pattern[i] == "**":
			return true
		case !Meet(step, pattern[i]):
			return false
		}
	}
	return true
}

// String returns the names of the classes, sorted.
func (c Class) String() string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(classNames())) {
		if c&classNames()[name] != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}
