package commands

import (
	"maps"
	"slices"
	"strings"

	"github.com/metnos/vaglio/internal/lists"
	"github.com/metnos/vaglio/internal/rows"
	"github.com/metnos/vaglio/vaglio/operation"
)

// Section is what is known of commands that share a grammar.
type Section struct {
	// Lines say what a command means: the first that matches decides. Else applies if none matches.
	Lines []Line
	Else  Outcome

	hasElse bool
	several bool // more programs than share their options
	inert   bool // its words are data
	besides bool // it does not make a program known
	shows   bool // without words, or asked for help or a dry run, it does nothing
	phase   operation.Phase
	always  bool              // it always recurses
	tree    []flagTest        // the options that make it recurse
	hosts   bool              // operands may be on another machine: host:path
	below   []flagTest        // the options that name the folder of the operands after them
	script  []flagTest        // the options that hold what is otherwise the first operand
	target  []flagTest        // the options that name the target
	classes map[string]string // of the tests of a search
	own     []flagTest        // the options whose value the program uses itself
	nouns   map[string]map[string]bool
	acts    []act
	settled bool
	wanted  map[string]bool // words of which every act needs one as an operand; nil if an act needs none
}

func (s *Section) wants() map[string]bool {
	all := map[string]bool{}
	for i := range s.acts {
		tests := s.acts[i].tests
		at := slices.IndexFunc(tests, func(t test) bool {
			return t.operand && !t.not && !t.atEnd && t.text == nil && t.flags == nil && !strings.ContainsAny(strings.Join(t.words, ""), `*@\`)
		})
		if at < 0 {
			return nil
		}
		for _, w := range tests[at].words {
			first, _, _ := strings.Cut(w, "_")
			all[w], all[first] = true, true
		}
	}
	return all
}

// Line is a pattern and its outcome.
type Line struct {
	tests []test
	// Then is the outcome if the pattern matches.
	Then Outcome
}

// Outcome is an effect, or the name of a rule that finds the effects.
type Outcome struct {
	// Rule names the rule; "" if the effect is given here.
	Rule string
	// Kind, Reversibility and Reach are the effect. Why is its phrase, in which % stands for the operands.
	Kind          operation.Kind
	Reversibility operation.Reversibility
	Reach         operation.Reach
	Own           bool // it is graded as a change of the workspace only, whatever else is said of it
	Here          bool // it happens in the command's folder, and Reach is how far it counts
	Why           string
	Vague         bool    // Why is said only if the words themselves do not tell what is done to what
	of, with      []where // the words that the rule is about, and those after "with"
	// Leaves are marks for the commands that follow.
	Leaves []string
}

// runsProject reports whether project code may run; a command that is marked as alone runs none.
func (o *Outcome) runsProject() bool {
	return !slices.Contains(o.Leaves, "alone") && (o.Own || strings.Contains(o.Rule, "install") ||
		slices.Contains([]operation.Kind{operation.KindInstall, operation.KindDatabase, operation.KindUnknown}, o.Kind) ||
		slices.Contains([]string{"task", "tasks", "scriptOrTool", "execTool", "goRun", "npx"}, o.Rule))
}

// messages adds everything that the section says.
func (s *Section) messages(said []string) []string {
	said = append(append(said, s.Else.Why), lists.Each(s.Lines, func(l Line) string { return l.Then.Why })...)
	return append(said, lists.Each(s.acts, func(a act) string { return a.phrase })...)
}

func (b *Base) newSection(attrs string) (*Section, error) {
	sec := &Section{nouns: b.Nouns, classes: map[string]string{}}
	attrs, fallback, found := strings.Cut(attrs, "else=")
	sec.hasElse = found
	if !found {
		fallback = "unknown"
	}
	for a := range strings.FieldsSeq(attrs) {
		if err := sec.attribute(a); err != nil {
			return nil, err
		}
	}
	var err error
	sec.Else, err = ParseOutcome(fallback)
	return sec, err
}

func (s *Section) attribute(a string) error {
	name, list, _ := strings.Cut(a, "=")
	if sw, ok := map[string]*bool{
		"inert": &s.inert, "shows": &s.shows, "hosts": &s.hosts, "besides": &s.besides,
	}[name]; ok {
		*sw = true
		return nil
	}
	switch phase := operation.Phase(name); phase {
	case operation.Final, operation.Graded:
		s.phase = phase
		return nil
	case operation.Both:
	}
	if class, ok := strings.CutPrefix(name, "class:"); ok {
		for test := range strings.SplitSeq(list, ",") {
			s.classes[test] = class
		}
		return nil
	}
	options, ok := map[string]*[]flagTest{"tree": &s.tree, "script": &s.script, "below": &s.below, "target": &s.target, "own": &s.own}[name]
	if !ok {
		return rows.Wrong(a, "unknown attribute %q", a)
	}
	if class, ok := strings.CutPrefix(list, "@"); ok {
		list = strings.Join(slices.Sorted(maps.Keys(s.nouns[class])), ",")
	}
	*options = flagList(list)
	s.always = s.always || a == "tree"
	return nil
}

func flagList(list string) []flagTest {
	return lists.Each(strings.Split(list, ","), func(name string) flagTest { return flagTest{name: name, abbrev: true} })
}

// add adds a line: `pattern = effect; message`, or `[pattern] > where = verb`.
func (s *Section) add(text string) error {
	left, right, ok := strings.Cut(text, " = ")
	if !ok {
		return rows.Wrong(text, "want pattern = effect or > where = verb, got %q", text)
	}
	if tests, where, acts := strings.Cut(" "+left+" ", " > "); acts {
		a, err := parseAct(strings.TrimSpace(tests), strings.TrimSpace(where), right)
		if err != nil {
			return err
		}
		s.acts = append(s.acts, a)
		return s.knowsClasses(a.tests)
	}
	o, err := ParseOutcome(right)
	if err != nil {
		return err
	}
	tests, err := parseTests(left, o.Kind != operation.KindRead && !o.Own)
	if err != nil {
		return err
	}
	if err := s.knowsClasses(tests); err != nil {
		return err
	}
	l := Line{tests, o}
	if s.mixes(&l) {
		return rows.Wrong(left, "a letter that is an option of several programs tells little beside other options: say which may stand there, with only:")
	}
	s.Lines = append(s.Lines, l)
	return nil
}

// mixes reports whether a line takes a letter for reading although the section's programs, with options of their own, otherwise change more than the workspace.
func (s *Section) mixes(l *Line) bool {
	if !s.several || l.Then.Kind != operation.KindRead || slices.Contains([]operation.Reach{"", operation.ReachWorkspace, operation.ReachUser}, s.Else.Reach) {
		return false
	}
	return !slices.ContainsFunc(l.tests, func(t test) bool { return t.only || t.not || t.atEnd || t.fact != "" }) &&
		slices.ContainsFunc(l.tests, func(t test) bool { return slices.ContainsFunc(t.flags, flagTest.isLetter) })
}

// isLetter reports whether an option is one letter, of any value, that does not just ask for help.
func (t flagTest) isLetter() bool { return len(t.name) == len("-a") && t.values == nil && !t.alone }

// knowsClasses returns an error for an unknown class of words.
func (s *Section) knowsClasses(tests []test) error {
	for i := range tests {
		for _, w := range slices.Concat(tests[i].words, tests[i].among) {
			if class, ok := strings.CutPrefix(w, "@"); ok && s.nouns[class] == nil {
				return rows.Wrong(w, "unknown class of words %q", w)
			}
		}
		if class, ok := strings.CutPrefix(tests[i].fact, Says); ok && s.nouns[class] == nil {
			return rows.Wrong(class, "unknown class of words %q", class)
		}
	}
	return nil
}

// ParseOutcome parses an effect with its message, as written in the tables: `kind
// [reversibility] [reach] [+mark][; message]` or `@rule`. Its error is for package rows.
func ParseOutcome(s string) (Outcome, error) {
	head, why, _ := strings.Cut(s, ";")
	why, vague := strings.CutPrefix(strings.TrimSpace(why), "~")
	fields := strings.Fields(head)
	if len(fields) == 0 {
		return Outcome{}, rows.Wrong(s, "no effect in %q", s)
	}
	o := Outcome{Why: why, Vague: vague, Own: fields[0] == "own"}
	if rule, ok := strings.CutPrefix(fields[0], "@"); ok {
		o.Rule = rule
	} else if k, ok := kindOf(fields[0]); ok {
		o.Kind = k
		o.Reversibility, o.Reach = operation.Usual(k)
	} else {
		return Outcome{}, rows.Wrong(fields[0], "unknown effect %q", fields[0])
	}
	given := []string{""}
	for _, f := range fields[1:] {
		switch {
		case o.Rule != "" && f[0] != '+':
			given = append(given, f)
		case !o.word(f):
			return Outcome{}, rows.Wrong(f, "unknown word %q in %q", f, s)
		}
	}
	of, with, _ := strings.Cut(strings.Join(given, " "), " with ")
	var err error
	if o.of, err = parsePlaces(of); err != nil {
		return Outcome{}, err
	}
	if o.with, err = parsePlaces(with); err != nil {
		return Outcome{}, err
	}
	if why == "" && o.Own {
		o.Why = "works in the workspace"
	}
	return o, nil
}

// word parses a word of an effect after its kind, and reports whether it is valid.
func (o *Outcome) word(f string) bool {
	mark, marks := strings.CutPrefix(f, "+")
	switch {
	case marks:
		o.Leaves = append(o.Leaves, mark)
		return slices.Contains(Marks(), mark) || strings.HasPrefix(mark, Sets)
	case f == "here":
		o.Reach, o.Here = operation.ReachUser, true
	case slices.Contains([]operation.Reversibility{operation.Reversible, operation.Partial, operation.Irreversible}, operation.Reversibility(f)):
		o.Reversibility = operation.Reversibility(f)
	case slices.Contains(operation.Reaches(), operation.Reach(f)):
		o.Reach = operation.Reach(f)
	default:
		return false
	}
	return true
}

// Sets begins a mark that names a file to which a program writes its words.
const Sets = "sets:"

// Marks returns what a line may leave for the commands that follow, besides [Sets].
func Marks() []string {
	return []string{
		"cloned", "repository", "rewired", "listed", "started", "switched", "branched",
		"renamed", "fetched", "downloads", "unpacks", "brings", "makes", "serves", "alone",
	}
}

// kindOf returns the kind that a table names.
func kindOf(s string) (operation.Kind, bool) {
	switch s {
	case "own":
		return operation.KindOverwrite, true
	case "foreign":
		return operation.KindForeignCode, true
	case "guard-off":
		return operation.KindSafeguardOff, true
	}
	k := operation.Kind(s)
	return k, slices.Contains(operation.Kinds(), k)
}

// skips reports whether a command only shows something, or has no word that any act requires.
func (s *Section) skips(texts []string) bool {
	return s.shows && onlyShows(texts) || s.wanted != nil && !slices.ContainsFunc(texts, func(t string) bool { return s.wanted[t] })
}

// onlyShows reports whether a command shows its help, does a dry run, or has no words. A letter
// that asks for help means something else to other programs (mkfs.vfat -h 0), and asks alone.
func onlyShows(texts []string) bool {
	return len(texts) == 0 || len(texts) == 1 && (texts[0] == "-h" || texts[0] == "-V") || slices.ContainsFunc(texts, func(s string) bool {
		return slices.Contains([]string{"--help", "--version", "--dry-run", "--usage"}, s)
	})
}
