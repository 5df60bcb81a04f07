package clients

import (
	"slices"
	"strings"

	"github.com/metnos/vaglio/internal/rows"
	"github.com/metnos/vaglio/vaglio/commands"
	"github.com/metnos/vaglio/vaglio/operation"
	"github.com/metnos/vaglio/vaglio/reading"
)

// unknown returns what a call does that no line of the table describes.
func unknown() commands.Outcome {
	reversibility, reach := operation.Usual(operation.KindUnknown)
	return commands.Outcome{
		Kind: operation.KindUnknown, Reversibility: reversibility, Reach: reach,
		Why: "is called in a way that is not known of this tool",
	}
}

func parse(file, text string) (Client, error) {
	p := parser{client: Client{}}
	for n, raw := range rows.Of(text) {
		s := strings.TrimSpace(raw)
		if strings.HasPrefix(s, "[") {
			if err := p.closed(); err != nil {
				return nil, rows.Located(file, p.at, p.head, err)
			}
			p.at, p.head = n, raw
		}
		if err := p.line(s); err != nil {
			return nil, rows.Located(file, n, raw, err)
		}
	}
	if err := p.closed(); err != nil {
		return nil, rows.Located(file, p.at, p.head, err)
	}
	return p.client, nil
}

// parser parses one table. head is the header of the current section, at its line.
type parser struct {
	client Client
	cur    *Tool
	head   string
	at     int
}

func (p *parser) line(s string) error {
	if strings.HasPrefix(s, "[") {
		return p.header(s)
	}
	if p.cur == nil {
		return rows.Wrong(s, "line outside a section: %q", s)
	}
	if n := len(p.cur.lines); n > 0 && len(p.cur.lines[n-1].tests) == 0 {
		return rows.Wrong(s, "no call reaches this line: the one before always holds")
	}
	tests, does, ok := strings.Cut(s, " = ")
	if !ok {
		return rows.Wrong(s, "want tests = effect, got %q", s)
	}
	var l line
	var err error
	if l.does, err = commands.ParseOutcome(does); err != nil {
		return err //nolint:wrapcheck // the caller says where
	}
	if r := l.does.Rule; r != "" && !slices.Contains([]string{RuleShape, RuleRuns, RuleFetches, RuleWrites}, r) {
		return rows.Wrong("@"+r, "there is no rule @%s", r)
	}
	if l.tests, err = p.tests(tests); err != nil {
		return err
	}
	p.cur.lines = append(p.cur.lines, l)
	return nil
}

// closed returns an error if the section does not say what its tools do.
func (p *parser) closed() error {
	if p.cur != nil && len(p.cur.lines) == 0 {
		return rows.Wrong("[", "the section does not say what its tools do")
	}
	return nil
}

func (p *parser) tests(s string) ([]test, error) {
	if s == "." {
		return nil, nil
	}
	var out []test
	for word := range strings.FieldsSeq(s) {
		key, values, valued := strings.Cut(word, "=")
		t := test{}
		t.key, t.absent = strings.CutPrefix(key, "!")
		switch {
		case !slices.Contains(p.cur.keys, t.key):
			return nil, rows.Wrong(word, "the section lists no argument %q", t.key)
		case valued && (t.absent || values == ""):
			return nil, rows.Wrong(word, "want key, !key or key=value, got %q", word)
		case valued:
			t.values = strings.Split(values, "|")
		}
		out = append(out, t)
	}
	if len(out) == 0 {
		return nil, rows.Wrong(s, "nothing is tested; write . for all calls")
	}
	return out, nil
}

func (p *parser) header(s string) error {
	names, attrs, ok := strings.Cut(s[1:], "]")
	if !ok {
		return rows.Wrong(s, "unclosed section %q", s)
	}
	p.cur = &Tool{Read: reading.Tool{Args: map[string]reading.Role{}}}
	for word := range strings.FieldsSeq(attrs) {
		if err := p.attribute(word); err != nil {
			return err
		}
	}
	if strings.TrimSpace(names) == "" {
		return rows.Wrong(s, "the section names no tool")
	}
	for name := range strings.FieldsSeq(names) {
		if p.client[name] != nil {
			return rows.Wrong(name, "%s stands twice", name)
		}
		p.client[name] = p.cur
	}
	return nil
}

func (p *parser) attribute(word string) error {
	name, value, valued := strings.Cut(word, "=")
	switch {
	case word == "shell":
		p.cur.Read.Shell = true
		return nil
	case !valued || value == "":
		return rows.Wrong(word, "unknown word %q", word)
	case name == "language":
		if !reading.IsLanguage(value) {
			return rows.Wrong(value, "unknown language %q", value)
		}
		p.cur.Read.Language = value
		return nil
	}
	role, known := reading.RoleByName(name)
	if name == "shape" {
		role = 0 // as for the key's shape
	} else if !known {
		return rows.Wrong(word, "unknown role %q", name)
	}
	for key := range strings.SplitSeq(value, ",") {
		if err := p.argument(key, word, role); err != nil {
			return err
		}
	}
	return nil
}

func (p *parser) argument(key, word string, role reading.Role) error {
	key, text := strings.CutSuffix(key, ":text")
	if key == "" || slices.Contains(p.cur.keys, key) {
		return rows.Wrong(word, "argument %q is empty or stands twice in %q", key, word)
	}
	p.cur.keys = append(p.cur.keys, key)
	if text {
		p.cur.Read.Texts = append(p.cur.Read.Texts, key)
	}
	if role != 0 {
		p.cur.Read.Args[key] = role
	}
	return nil
}
