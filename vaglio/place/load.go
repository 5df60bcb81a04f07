package place

import (
	"embed"
	"fmt"
	"regexp"
	"strings"

	"github.com/metnos/vaglio/internal/lists"
	"github.com/metnos/vaglio/internal/rows"
)

//go:embed tables/*.txt
var files embed.FS

// Row is one row of the table of places.
type Row struct {
	// What names the place for people, as a plural or a mass noun.
	What string
	// Class is the kind of place.
	Class Class
	// Reading, Writing and Removing are the IDs of the guard's rules about it; "" leaves it to the judges. Replacing is for rewriting a whole file, if that
	// is worse than adding to it. Copying is for copying a folder above it.
	Reading, Writing, Replacing, Removing, Copying string
	// Where are the patterns, Except those of exceptions below them.
	Where, Except []string
	// Endings are the file extensions by which a search for files selects the place. Other extensions say too little.
	Endings []string
}

// readRows reads all built-in files. If several rows are about a path, the first decides, so the order of the files matters.
func readRows() ([]*Row, error) {
	var all []*Row
	for name := range strings.FieldsSeq("system secrets names rebuild trees") {
		name = "tables/" + name + ".txt"
		text, err := files.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("place: %w", err)
		}
		read, err := parseRows(name, string(text))
		if err != nil {
			return nil, err
		}
		all = append(all, read...)
	}
	return all, nil
}

// parseRows reads the rows of one file. Its error names file, line and column.
func parseRows(name, text string) (all []*Row, err error) {
	for n, line := range rows.Of(text) {
		switch inner := line[0] == '\t' || line[0] == ' '; {
		case !inner:
			var r *Row
			r, err = header(line)
			all = append(all, r)
		case len(all) == 0:
			err = rows.Wrong("", "a pattern stands before the first row")
		default:
			err = all[len(all)-1].patterns(line)
		}
		if err != nil {
			return nil, fmt.Errorf("place: %w", rows.Located(name, n, line, err))
		}
	}
	for _, r := range all {
		if len(r.Where) == 0 {
			return nil, fmt.Errorf("place: %s: the row %q has no pattern", name, r.What)
		}
	}
	return all, nil
}

func header(line string) (*Row, error) {
	head, what, ok := strings.Cut(line, " | ")
	if !ok || strings.TrimSpace(what) == "" {
		return nil, rows.Wrong("", "a row needs its name behind a bar")
	}
	words := strings.Fields(head)
	if len(words) == 0 {
		return nil, rows.Wrong("", "a row begins with its class")
	}
	class, ok := classNames()[words[0]]
	if !ok {
		return nil, rows.Wrong(words[0], "there is no class %q", words[0])
	}
	r := &Row{What: strings.TrimSpace(what), Class: class}
	for _, w := range words[1:] {
		deed, rule, _ := strings.Cut(w, "=")
		field := r.field(deed)
		switch {
		case field == nil:
			return nil, rows.Wrong(w, "nothing is done to a place that is called %q", deed)
		case *field != "":
			return nil, rows.Wrong(w, "%s is said twice", deed)
		case !strings.Contains(rule, ".") || strings.Trim(rule, "abcdefghijklmnopqrstuvwxyz_.") != "":
			return nil, rows.Wrong(w, "%q is not a rule", rule)
		}
		*field = rule
	}
	return r, nil
}

func (r *Row) field(deed string) *string {
	return map[string]*string{"read": &r.Reading, "write": &r.Writing, "replace": &r.Replacing, "remove": &r.Removing, "copy": &r.Copying}[deed]
}

// quotable are the words of a line, of which one with blanks stands in quotes.
var quotable = regexp.MustCompile(`"[^"]*"|[^ \t\n]+`)

func (r *Row) patterns(line string) error {
	for _, word := range quotable.FindAllString(line, -1) {
		plain := word
		if quoted, ok := strings.CutPrefix(word, `"`); ok {
			if plain, ok = strings.CutSuffix(quoted, `"`); !ok {
				return rows.Wrong(word, "the quote is not closed")
			}
		}
		if err := r.pattern(plain); err != nil {
			return err
		}
	}
	return nil
}

func (r *Row) pattern(word string) error {
	if word == "" || strings.Count(word, "{") != strings.Count(word, "}") {
		return rows.Wrong(word, "%q is not a pattern", word)
	}
	if ending, ok := strings.CutPrefix(word, "="); ok {
		r.Endings = append(r.Endings, ending)
		return nil
	}
	into, free := &r.Where, word
	if strings.HasPrefix(word, "!") {
		into, free = &r.Except, word[1:]
	}
	for _, one := range alternatives(free) {
		if rest, ok := strings.CutSuffix(one, "/+"); ok {
			one = rest + "/*/**"
		}
		if one != Clean(one) || strings.Contains(one, "..") || strings.TrimLeft(one, "*/~") == "" {
			return rows.Wrong(word, "%q is not a path in its normal form", one)
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
	return lists.All(strings.Split(word[start+1:end], ","), func(part string) []string { return alternatives(word[:start] + part + word[end+1:]) })
}
