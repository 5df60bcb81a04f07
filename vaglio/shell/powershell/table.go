package powershell

import (
	"cmp"
	_ "embed"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/metnos/vaglio/internal/rows"
)

//go:embed tables.txt
var tableText string

// tables is what is known about commands, from tables.txt. A section whose name ends with a colon
// holds rows of parameters; any other section says what words stand for: "word word = meaning".
type tables struct {
	words map[string]map[string]string // by section; all in lower case
	specs map[string][]*spec           // by section and name, as in "cmd:del"
}

// spec is a command's row: its name, followed by its parameters.
//
//	Name     takes a value        Name@2   may be the third word, without a name
//	Name?    is a switch          Name<    may come through the pipe
//	*        all other words      :role    what is done to the value
//	         or, with the switch, instead of deleting or writing
//	as=X     it is another name of the program X; roles are X's options
//	when=X   the row applies if a word, up to its colon, matches the pattern X
//	out=X    its output, see [work.output]
//	pass     the judges' tables know more about it
//
// The parameters of functions are positions, and self.
type spec struct {
	name                string
	params              []param
	rest                string // the role of all other words
	as, out, when, pass string
	holds               *regexp.Regexp // the compiled when
}

type param struct {
	name   string // in lower case
	role   string
	pos    int // its position among the words without a name, or -1
	isFlag bool
	piped  bool
}

// known returns the tables, which are read once and never change.
//
//nolint:gochecknoglobals // Read once, then only looked at.
var known = sync.OnceValues(func() (*tables, error) { return parseTables(tableText) })

func parseTables(text string) (*tables, error) {
	t := &tables{words: map[string]map[string]string{}, specs: map[string][]*spec{}}
	section := ""
	return t, rows.Read("tables.txt", text, func(row string) error {
		switch words := strings.Fields(row); {
		case row[0] == '[':
			section = strings.Trim(row, "[]")
			t.words[section] = map[string]string{}
			return nil
		case strings.HasSuffix(section, ":"):
			return t.parameters(section, words)
		default:
			return t.meaning(section, words)
		}
	})
}

func (t *tables) meaning(section string, row []string) error {
	value := ""
	if at := slices.Index(row, "="); at > 0 {
		row, value = row[:at], strings.Join(row[at+1:], " ")
	}
	for _, w := range row {
		w = strings.ToLower(w)
		if _, twice := t.words[section][w]; twice {
			return rows.Wrong(w, "a second row of the same name: %q", w)
		}
		t.words[section][w] = value
	}
	return nil
}

func (t *tables) parameters(section string, row []string) error {
	s, key := &spec{name: row[0]}, section+strings.ToLower(row[0])
	if len(t.specs[key]) > 0 && section != "programs:" {
		return rows.Wrong(row[0], "a second row of the same name: %q", row[0])
	}
	t.specs[key] = append(t.specs[key], s)
	settings := map[string]*string{"as": &s.as, "out": &s.out, "pass": &s.pass, "when": &s.when}
	for _, w := range row[1:] {
		name, value, _ := strings.Cut(w, "=")
		if setting := settings[name]; setting != nil {
			*setting = cmp.Or(strings.ToLower(value), name)
			continue
		}
		m := parameter.FindStringSubmatch(w)
		if m == nil || m[5] != "" && !t.is("roles", m[5]) && (s.as == "" || m[5][0] != '-') {
			return rows.Wrong(w, "no parameter: %q", w)
		}
		if m[1] == "*" {
			s.rest = m[5]
			continue
		}
		pos, _ := strconv.Atoi(cmp.Or(m[2], "-1"))
		s.params = append(s.params, param{name: strings.ToLower(m[1]), role: m[5], pos: pos, isFlag: m[3] != "", piped: m[4] != ""})
	}
	if s.when == "" {
		return nil
	}
	var err error
	s.holds, err = regexp.Compile("(?i)^(?:" + s.when + ")(?::|$)")
	return err
}

var parameter = regexp.MustCompile(`^([^@?<:]+)(?:@(\d))?(\?)?(<)?(?::(\S+))?$`)

// spec returns the only row of a name, nil if there is none.
func (t *tables) spec(section, name string) *spec {
	if rows := t.specs[section+strings.ToLower(name)]; len(rows) > 0 {
		return rows[0]
	}
	return nil
}

func (t *tables) is(section, word string) bool {
	_, ok := t.words[section][strings.ToLower(word)]
	return ok
}

// begin returns how many parameters begin with a name.
func (s *spec) begin(name string) (n int) {
	for i := range s.params {
		if strings.HasPrefix(s.params[i].name, name) {
			n++
		}
	}
	return n
}

// find returns the parameter that a name means, in full or abbreviated to at least enough letters. Options with a slash cannot be abbreviated.
func (s *spec) find(name string, enough int) (found *param) {
	for i := range s.params {
		p := &s.params[i]
		if p.name == name {
			return p
		}
		if found == nil && len(name) >= enough && name[0] != '/' && strings.HasPrefix(p.name, name) {
			found = p
		}
	}
	if found == nil && (name == "pspath" || name == "lp") {
		return s.find("literalpath", enough)
	}
	return found
}
