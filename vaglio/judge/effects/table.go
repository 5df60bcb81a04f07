package effects

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"strings"
)

//go:embed tables/*.txt
var tableFiles embed.FS

// tables is the knowledge that is kept as data, see tables/README.md.
type tables struct {
	sections map[string][]*section
	harmless map[string]bool
	devtools map[string]bool
	verbs    map[string]verb
	nouns    map[string]map[string]bool // class to nouns
	vars     map[string]string          // variables that switch safeguards off
}

// section is what is known of a command's lines.
type section struct {
	valued   map[string]bool // options that take a value
	first    map[string]bool // the same, but only before the first operand
	long     bool            // one dash opens a long option
	rules    []line
	fallback outcome
}

// line is one pattern and what it means.
type line struct {
	tests []test
	then  outcome
}

// outcome is an effect, or the name of a rule that finds the effects.
type outcome struct {
	rule   string
	effect Effect
	why    string
}

// verb is what a verb does, and whether it is usually a noun.
type verb struct {
	effect Effect
	light  bool // stays with the agent
	weak   bool // usually a noun
	phrase bool // of two words
}

// loadTables reads the embedded tables.
func loadTables() (*tables, error) {
	t := &tables{
		sections: map[string][]*section{}, harmless: map[string]bool{}, devtools: map[string]bool{},
		verbs: map[string]verb{}, nouns: map[string]map[string]bool{}, vars: map[string]string{},
	}
	names, err := fs.Glob(tableFiles, "tables/*.txt")
	if err != nil {
		return nil, fmt.Errorf("effects: list tables: %w", err)
	}
	for _, name := range names {
		data, err := tableFiles.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("effects: read table: %w", err)
		}
		if err := t.load(path.Base(name), string(data)); err != nil {
			return nil, err
		}
	}
	return t, nil
}

func (t *tables) load(name, text string) error {
	var cur []*section
	n := 0
	for raw := range strings.Lines(text) {
		n++
		s := strings.TrimSpace(raw)
		if s == "" || strings.HasPrefix(s, "#") {
			continue
		}
		var err error
		switch name {
		case "harmless.txt":
			addAll(t.harmless, s)
		case "devtools.txt":
			addAll(t.devtools, s)
		case "verbs.txt":
			err = t.addVerbs(s)
		case "nouns.txt":
			class, list, _ := strings.Cut(s, " = ")
			if t.nouns[class] == nil {
				t.nouns[class] = map[string]bool{}
			}
			addAll(t.nouns[class], list)
		case "envvars.txt":
			v, what, _ := strings.Cut(s, " ")
			t.vars[v] = what
		default:
			cur, err = t.addLine(cur, s)
		}
		if err != nil {
			return fmt.Errorf("effects: table %s, line %d: %w", name, n, err)
		}
	}
	return nil
}

func addAll(set map[string]bool, list string) {
	for w := range strings.FieldsSeq(list) {
		set[w] = true
	}
}

func (t *tables) addVerbs(s string) error {
	left, right, ok := strings.Cut(s, " = ")
	if !ok {
		return fmt.Errorf("want effect = verbs, got %q", s)
	}
	v := verb{light: left == "light"}
	if v.light {
		left = "own"
	}
	o, err := parseOutcome(left)
	if err != nil {
		return err
	}
	v.effect = o.effect
	for w := range strings.FieldsSeq(right) {
		v.weak = strings.HasPrefix(w, "(")
		w = strings.Trim(w, "()")
		v.phrase = strings.Contains(w, "-")
		if _, ok := t.verbs[w]; !ok {
			t.verbs[w] = v
		}
	}
	return nil
}

func (t *tables) addLine(cur []*section, s string) ([]*section, error) {
	if strings.HasPrefix(s, "[") {
		names, attrs, ok := strings.Cut(s[1:], "]")
		if !ok {
			return nil, fmt.Errorf("unclosed section %q", s)
		}
		sec, err := newSection(attrs)
		if err != nil {
			return nil, err
		}
		for name := range strings.FieldsSeq(names) {
			t.sections[name] = append(t.sections[name], sec)
		}
		return []*section{sec}, nil
	}
	if len(cur) == 0 {
		return nil, fmt.Errorf("line outside a section: %q", s)
	}
	left, right, ok := strings.Cut(s, " = ")
	if !ok {
		return nil, fmt.Errorf("want pattern = effect, got %q", s)
	}
	o, err := parseOutcome(right)
	if err != nil {
		return nil, err
	}
	sec := cur[0]
	sec.rules = append(sec.rules, line{parseTests(left), o})
	return cur, nil
}

func newSection(attrs string) (*section, error) {
	sec := &section{valued: map[string]bool{}, first: map[string]bool{}}
	attrs, fallback, found := strings.Cut(attrs, "else=")
	if !found {
		fallback = "unknown"
	}
	for a := range strings.FieldsSeq(attrs) {
		name, list, _ := strings.Cut(a, "=")
		switch name {
		case "values":
			addAll(sec.valued, strings.ReplaceAll(list, ",", " "))
		case "first":
			addAll(sec.first, strings.ReplaceAll(list, ",", " "))
		case "long":
			sec.long = true
		default:
			return nil, fmt.Errorf("unknown attribute %q", a)
		}
	}
	var err error
	sec.fallback, err = parseOutcome(fallback)
	return sec, err
}

// parseOutcome reads `kind [reversibility] [reach][; message]` or `@rule`.
func parseOutcome(s string) (outcome, error) {
	head, why, _ := strings.Cut(s, ";")
	why = strings.TrimSpace(why)
	fields := strings.Fields(head)
	if len(fields) == 0 {
		return outcome{}, fmt.Errorf("no effect in %q", s)
	}
	if rule, ok := strings.CutPrefix(fields[0], "@"); ok {
		return outcome{rule: rule}, nil
	}
	k, ok := kindOf(fields[0])
	if !ok {
		return outcome{}, fmt.Errorf("unknown effect %q", fields[0])
	}
	e := usual(k)
	for _, f := range fields[1:] {
		switch f {
		case string(Reversible), string(Partial), string(Irreversible):
			e.Reversibility = Reversibility(f)
		case string(ReachWorkspace), string(ReachUser), string(ReachSystem), string(ReachShared), string(ReachPublic):
			e.Reach = Reach(f)
		default:
			return outcome{}, fmt.Errorf("unknown word %q in %q", f, s)
		}
	}
	if why == "" && fields[0] == "own" {
		why = "works in the workspace"
	}
	return outcome{effect: e, why: why}, nil
}
