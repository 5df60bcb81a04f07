package commands

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/metnos/vaglio/internal/rows"
	"github.com/metnos/vaglio/vaglio/operation"
	"github.com/metnos/vaglio/vaglio/shell"
)

//go:embed tables/*.txt
var tableFiles embed.FS

// Base is the knowledge in the tables. It is read-only.
type Base struct {
	// Judged are the sections that say what a command's lines mean, by program.
	Judged map[string][]*Section
	// Harmless are programs that only read, whatever their options; Devtools are those that work only in the workspace.
	Harmless, Devtools map[string]bool
	// Published are programs that a registry of packages has under their own name. A package that has the name of any other program is somebody else's.
	Published map[string]bool
	// Verbs says what a verb does in a subcommand or in an executor's name.
	Verbs map[string]Verb
	// Nouns holds the classes of nouns, by class.
	Nouns map[string]map[string]bool
	// Vars holds variables that switch safeguards off, as NAME or NAME=value, and what that does.
	Vars map[string]string

	acting   map[string][]*Section // sections that say what is done to which objects
	families []family
}

// family holds the programs whose names match a pattern.
type family struct {
	pattern  string
	sections []*Section
}

// Verb is what a verb does.
type Verb struct {
	Outcome Outcome
	// Light says that the work stays with the agent, Weak that the word is usually a noun, Phrase that it consists of several words.
	Light, Weak, Phrase bool
}

// Messages returns everything that the tables say of programs, as written there.
func (b *Base) Messages() []string {
	said := slices.Collect(maps.Values(b.Vars))
	for _, v := range b.Verbs {
		said = append(said, v.Outcome.Why)
	}
	for _, of := range []map[string][]*Section{b.Judged, b.acting} {
		for _, sections := range of {
			for _, s := range sections {
				said = s.messages(said)
			}
		}
	}
	slices.Sort(said)
	return slices.Compact(said)
}

// Load returns the built-in tables. They are read once and shared by guard, judges and cards. An error names the file, line and column of a mistake.
func Load() (*Base, error) { return builtIn() }

var builtIn = sync.OnceValues(func() (*Base, error) { //nolint:gochecknoglobals // It is read once and never changed.
	b := newBase()
	names, err := fs.Glob(tableFiles, "tables/*.txt")
	const classes = "tables/nouns.txt" // sections refer to its classes
	names = append([]string{classes}, slices.DeleteFunc(names, func(name string) bool { return name == classes })...)
	for _, name := range names {
		data, unread := tableFiles.ReadFile(name)
		err = errors.Join(err, unread, b.read(path.Base(name), string(data)))
	}
	if err != nil {
		return nil, fmt.Errorf("commands: %w", err)
	}
	maps.Copy(b.Published, b.Nouns["known-tool"])
	b.index()
	return b, nil
})

func newBase() *Base {
	return &Base{
		Judged: map[string][]*Section{}, Harmless: map[string]bool{}, Devtools: map[string]bool{}, Published: map[string]bool{},
		Verbs: map[string]Verb{}, Nouns: map[string]map[string]bool{}, Vars: map[string]string{}, acting: map[string][]*Section{},
	}
}

// Known reports whether the tables know a program.
func (b *Base) Known(name string) bool {
	return b.Judged[name] != nil || b.Harmless[name] || b.Devtools[name]
}

// IsInterpreter reports whether a program runs the file that its first operand names.
func (b *Base) IsInterpreter(name string) bool {
	return slices.ContainsFunc(b.Judged[name], func(s *Section) bool { return s.Else.Rule == "script" })
}

// Does reports whether the tables say what a program does to which objects.
func (b *Base) Does(name string) bool { return b.actingOn(name) != nil }

// RunsProject reports whether a program may run project code that its words do not name. It may if it is unknown, a developer tool, an interpreter that is
// given a file, for example of a framework, or if its line works in the workspace, installs from it or runs one of its tasks.
func (b *Base) RunsProject(name string, words []string) bool {
	if b.Nouns["only-named"][name] {
		return false
	}
	sections := b.Judged[name]
	p := &Parsed{Asked: func(string, []Spot) bool { return false }}
	b.Parse(p, name, words)
	for _, sec := range sections {
		if i := slices.IndexFunc(sec.Lines, func(l Line) bool { _, ok := l.Match(p, 0); return ok }); i >= 0 {
			return b.meansProject(&sec.Lines[i].Then, name, words)
		}
	}
	says := func(s *Section) bool { return s.Else.Kind != operation.KindUnknown }
	if at := slices.IndexFunc(sections, says); at >= 0 { // it decides where no line does
		return b.meansProject(&sections[at].Else, name, words)
	}
	return sections != nil || !b.Harmless[name]
}

// meansProject reports whether a command with this outcome may run project code.
func (b *Base) meansProject(o *Outcome, name string, words []string) bool {
	if o.Rule == "compose" {
		return b.RunsProject("docker-compose", words[slices.Index(words, o.Rule)+1:])
	}
	return o.runsProject() ||
		o.Rule == "script" && !b.Nouns["script-alone"][name] && len(words) > 0 && plainWord.MatchString(words[0]) ||
		strings.HasPrefix(o.Rule, "(") && slices.ContainsFunc(b.Judged[o.Rule], func(s *Section) bool { // lines that several programs share
			return s.Else.runsProject() || slices.ContainsFunc(s.Lines, func(l Line) bool { return l.Then.runsProject() })
		})
}

// plainWord matches a word that may name a file or a command, but is not a program itself.
var plainWord = regexp.MustCompile(`^\w[\w./@:-]*$`)

// actingOn returns the sections that say what a program does to which objects.
func (b *Base) actingOn(name string) []*Section {
	if s := b.acting[name]; s != nil {
		return s
	}
	for i := range b.families {
		if shell.Like(name, b.families[i].pattern) {
			return b.families[i].sections
		}
	}
	return nil
}

func (b *Base) read(name, text string) error {
	var cur *Section
	return rows.Read(name, text, func(s string) (err error) {
		switch name {
		case "harmless.txt":
			addAll(b.Harmless, s)
		case "devtools.txt":
			addAll(b.Devtools, s)
			addAll(b.Published, s)
		case "verbs.txt":
			err = b.addVerbs(s)
		case "nouns.txt":
			err = b.addNouns(s)
		case "envvars.txt":
			v, what, _ := strings.Cut(s, " ")
			b.Vars[v] = what
		default:
			if cur, err = b.addLine(cur, s); strings.HasPrefix(s, "[") && b.Nouns["published-table"][strings.TrimSuffix(name, ".txt")] {
				names, _, _ := strings.Cut(s[1:], "]")
				addAll(b.Published, names)
			}
		}
		return err
	})
}

func addAll(set map[string]bool, list string) {
	for w := range strings.FieldsSeq(list) {
		set[w] = true
	}
}

func (b *Base) addNouns(s string) error {
	class, list, ok := strings.Cut(s, " = ")
	if !ok {
		return rows.Wrong(s, "want class = nouns, got %q", s)
	}
	if b.Nouns[class] == nil {
		b.Nouns[class] = map[string]bool{}
	}
	addAll(b.Nouns[class], list)
	return nil
}

func (b *Base) addVerbs(s string) error {
	left, right, ok := strings.Cut(s, " = ")
	if !ok {
		return rows.Wrong(s, "want effect = verbs, got %q", s)
	}
	v := Verb{Light: left == "light"}
	if v.Light {
		left = "own"
	}
	var err error
	if v.Outcome, err = ParseOutcome(left); err != nil {
		return err
	}
	for w := range strings.FieldsSeq(right) {
		v.Weak = strings.HasPrefix(w, "(")
		w = strings.Trim(w, "()")
		v.Phrase = strings.Contains(w, "-")
		if _, ok := b.Verbs[w]; !ok {
			b.Verbs[w] = v
		}
	}
	return nil
}

// kin is how many programs of a section may share all their options, as iptables and the like do.
const kin = 4

// addLine adds a section's header or one of its lines, and returns the section that the next line belongs to.
func (b *Base) addLine(cur *Section, s string) (*Section, error) {
	if strings.HasPrefix(s, "[") {
		names, attrs, ok := strings.Cut(s[1:], "]")
		if !ok {
			return nil, rows.Wrong(s, "unclosed section %q", s)
		}
		sec, err := b.newSection(attrs)
		if err != nil {
			return nil, err
		}
		seen := map[string]bool{}
		for name := range strings.FieldsSeq(names) {
			if seen[name] {
				return nil, rows.Wrong(name, "%s stands twice in one section", name)
			}
			seen[name] = true
			b.Judged[name] = append(b.Judged[name], sec)
		}
		sec.several = len(seen) > kin
		return sec, nil
	}
	if cur == nil {
		return nil, rows.Wrong(s, "line outside a section: %q", s)
	}
	return cur, cur.add(s)
}

// index separates the sections that say what lines mean from those that say what is done to which objects. A section may be both.
func (b *Base) index() {
	for name, list := range b.Judged {
		var judged, acting []*Section
		for _, sec := range list {
			if !sec.settled { // a section with several names comes up several times
				sec.settled, sec.wanted = true, sec.wants()
				sec.Lines, sec.acts = append([]Line{}, sec.Lines...), append([]act{}, sec.acts...) // of their size
			}
			if len(sec.Lines) > 0 || sec.hasElse {
				judged = append(judged, sec)
			}
			if len(sec.acts) > 0 || sec.inert {
				acting = append(acting, sec)
			}
		}
		switch {
		case len(acting) == 0:
		case strings.Contains(name, "*"):
			b.families = append(b.families, family{name, acting})
		default:
			b.acting[name] = acting
		}
		if len(judged) == 0 {
			delete(b.Judged, name)
		} else {
			b.Judged[name] = judged
		}
	}
	slices.SortFunc(b.families, func(x, y family) int { return strings.Compare(x.pattern, y.pattern) })
}
