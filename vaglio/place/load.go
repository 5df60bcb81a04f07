package place

import (
	"embed"
	"fmt"
	"regexp"
	"strings"
)

//go:embed tables/*.txt
var files embed.FS

// Row is one row of the table of places.
type Row struct {
	// What names the place for people, as a plural or a mass noun.
	What string
	// Class is the kind of place.
	Class Class
	// Reading, Writing and Removing are the IDs of the guard's rules about it; "" leaves it
	// to the judges. Replacing is for rewriting a whole file, if that is worse than adding to
	// it. Copying is for copying a folder above it.
	Reading, Writing, Replacing, Removing, Copying string
	// Where are the patterns, Except those of exceptions below them.
	Where, Except []string
	// Endings are the file extensions by which a search for files selects the place. Other
	// extensions say too little.
	Endings []string
}

// parser reads one file of the table.
type parser struct {
	name string
	line int
	rows []*Row
}

func (p *parser) fault(column int, format string, args ...any) error {
	return fmt.Errorf("place: %s:%d:%d: %s", p.name, p.line, column+1, fmt.Sprintf(format, args...))
}

// readRows reads all built-in files. If several rows are about a path, the first decides, so
// the order of the files matters.
func readRows() ([]*Row, error) {
	var all []*Row
	for name := range strings.FieldsSeq("system secrets names rebuild trees") {
		name = "tables/" + name + ".txt"
		text, err := files.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("place: %w", err)
		}
		rows, err := parseRows(name, string(text))
		if err != nil {
			return nil, err
		}
		all = append(all, rows...)
	}
	return all, nil
}

// parseRows reads the rows of one file. Its error names file, line and column.
func parseRows(name, text string) ([]*Row, error) {
	p := &parser{name: name}
	for line := range strings.SplitSeq(text, "\n") {
		p.line++
		var err error
		switch {
		case strings.TrimSpace(line) == "" || line[0] == '#':
		case line[0] == '\t' || line[0] == ' ':
			err = p.patterns(line)
		default:
			err = p.header(line)
		}
		if err != nil {
			return nil, err
		}
	}
	for _, r := range p.rows {
		if len(r.Where) == 0 {
			return nil, p.fault(0, "the row %q has no pattern", r.What)
		}
	}
	return p.rows, nil
}

func (p *parser) header(line string) error {
	head, what, ok := strings.Cut(line, " | ")
	if !ok || strings.TrimSpace(what) == "" {
		return p.fault(len(line), "a row needs its name behind a bar")
	}
	words := strings.Fields(head)
	if len(words) == 0 {
		return p.fault(0, "a row begins with its class")
	}
	class, ok := classNames()[words[0]]
	if !ok {
		return p.fault(0, "there is no class %q", words[0])
	}
	r := &Row{What: strings.TrimSpace(what), Class: class}
	for _, w := range words[1:] {
		deed, rule, _ := strings.Cut(w, "=")
		field := r.field(deed)
		switch {
		case field == nil:
			return p.fault(strings.Index(line, w), "nothing is done to a place that is called %q", deed)
		case *field != "":
			return p.fault(strings.LastIndex(line, w), "%s is said twice", deed)
		case !strings.Contains(rule, ".") || strings.Trim(rule, "abcdefghijklmnopqrstuvwxyz_.") != "":
			return p.fault(strings.Index(line, w), "%q is no rule", rule)
		}
		*field = rule
	}
	p.rows = append(p.rows, r)
	return nil
}

func (r *Row) field(deed string) *string {
	return map[string]*string{"read": &r.Reading, "write": &r.Writing, "replace": &r.Replacing, "remove": &r.Removing, "copy": &r.Copying}[deed]
}

// quotable are the words of a line, of which one with blanks stands in quotes.
var quotable = regexp.MustCompile(`"[^"]*"|[^ \t]+`)

func (p *parser) patterns(line string) error {
	if len(p.rows) == 0 {
		return p.fault(0, "a pattern stands before the first row")
	}
	for _, at := range quotable.FindAllStringIndex(line, -1) {
		word := line[at[0]:at[1]]
		if quoted, ok := strings.CutPrefix(word, `"`); ok {
			if word, ok = strings.CutSuffix(quoted, `"`); !ok {
				return p.fault(at[0], "the quote is not closed")
			}
		}
		if err := p.pattern(p.rows[len(p.rows)-1], word, at[0]); err != nil {
			return err
		}
	}
	return nil
}

func (p *parser) pattern(r *Row, word string, column int) error {
	if word == "" || strings.Count(word, "{") != strings.Count(word, "}") {
		return p.fault(column, "%q is no pattern", word)
	}
	if ending, ok := strings.CutPrefix(word, "="); ok {
		r.Endings = append(r.Endings, ending)
		return nil
	}
	into := &r.Where
	if free, ok := strings.CutPrefix(word, "!"); ok {
		word, into = free, &r.Except
	}
	for _, one := range alternatives(word) {
		if rest, ok := strings.CutSuffix(one, "/+"); ok {
			one = rest + "/*/**"
		}
		if one != Clean(one) || strings.Contains(one, "..") || strings.TrimLeft(one, "*/~") == "" {
			return p.fault(column, "%q is no path in its normal form", one)
		}
		*into = append(*into, one)
	}
	return nil
}

// alternatives returns the patterns that a pattern with {a,b} stands for, in order.
func alternatives(word string) []string {
	start := strings.IndexByte(word, '{')
	if start < 0 {
		return []string{word}
	}
	end := start + strings.IndexByte(word[start:], '}')
	if end < start {
		return []string{word}
	}
	var all []string
	for part := range strings.SplitSeq(word[start+1:end], ",") {
		all = append(all, alternatives(word[:start]+part+word[end+1:])...)
	}
	return all
}
