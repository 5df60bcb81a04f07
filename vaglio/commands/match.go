package commands

import "strings"

// test is one condition of a line.
type test struct {
	any     bool     // "."
	not     bool     // none of the flags may be present
	text    []string // an argument contains one of these, lower case
	flags   []flagTest
	words   []string // the next operand is one of these
	among   []string // an operand begins with one of these words
	atEnd   bool     // no operand is left
	fed     bool     // the command is given its input
	bare    bool     // the command has no words
	operand bool     // the test looks at operands
}

type flagTest struct {
	name   string
	values []string
	alone  bool // counts only when there is no operand
	abbrev bool // may be abbreviated, as getopt_long allows
}

// pipe stands for a pipe sign that does not part alternatives.
const pipe = "\x00"

func parseTests(s string) []test {
	var out []test
	for f := range strings.FieldsSeq(s) {
		out = append(out, parseTest(f))
	}
	return out
}

func parseTest(s string) test {
	var t test
	switch {
	case s == ".":
		t.any = true
		return t
	case s == "$$":
		t.bare = true
		return t
	case s == "<":
		t.fed = true
		return t
	case strings.HasPrefix(s, "!"):
		t.not = true
		s = s[1:]
	}
	s = strings.ReplaceAll(s, `\|`, pipe)
	if strings.HasPrefix(s, "+") {
		t.among = strings.Split(s[1:], "|")
		return t
	}
	if strings.HasPrefix(s, "~") {
		for alt := range strings.SplitSeq(strings.ToLower(s), "|") {
			t.text = append(t.text, strings.ReplaceAll(strings.TrimPrefix(alt, "~"), pipe, "|"))
		}
		t.helpAlone()
		return t
	}
	for alt := range strings.SplitSeq(s, "|") {
		t.alternative(alt)
	}
	t.helpAlone()
	return t
}

// alternative adds one of the words of which a test asks for any.
func (t *test) alternative(alt string) {
	switch {
	case alt == "$":
		t.atEnd, t.operand = true, true
	case strings.HasPrefix(alt, "-") && len(alt) > 1:
		name, value, ok := strings.Cut(alt, "=")
		f := flagTest{name: name}
		if ok {
			f.values = []string{value}
		}
		t.flags = append(t.flags, f)
	case len(t.flags) > 0 && t.flags[len(t.flags)-1].values != nil:
		f := &t.flags[len(t.flags)-1]
		f.values = append(f.values, alt)
	case strings.HasPrefix(alt, "~"):
		t.text = append(t.text, strings.ToLower(alt[1:]))
	default:
		t.words = append(t.words, alt)
		t.operand = true
	}
}

// helpAlone makes the short options that usually ask for help count only when
// nothing else is wanted, for -h, -v and --version mean something else often.
func (t *test) helpAlone() {
	help := false
	for _, f := range t.flags {
		help = help || f.name == "--help" || f.name == "--version"
	}
	for i := range t.flags {
		switch t.flags[i].name {
		case "-h", "-v", "-V", "-?", "--version", "-version":
			t.flags[i].alone = help && !t.not
		}
	}
}

// Match reports whether the line's tests hold for a command, and how many
// operands its words took.
func (l Line) Match(p *Parsed) (int, bool) { return holdAll(l.tests, p) }

func holdAll(tests []test, p *Parsed) (int, bool) {
	next := 0
	for i := range tests {
		took, ok := tests[i].holds(p, next)
		if !ok {
			return 0, false
		}
		next += took
	}
	return next, true
}

func (t *test) holds(p *Parsed, next int) (int, bool) {
	switch {
	case t.any:
		return 0, true
	case t.fed:
		return 0, p.Fed
	case t.bare:
		return 0, len(p.Words) == 0
	case t.not:
		return t.fails(p, next)
	case t.among != nil:
		return 0, p.among(t.among)
	case t.text != nil && p.contains(t.text):
		return 0, true
	}
	if t.operand {
		if took, ok := t.word(p, next); ok {
			return took, true
		}
	}
	return 0, len(t.flags) > 0 && p.hasAny(t.flags)
}

// fails reports whether nothing holds of what the test asks for. The next
// operand that it asks for must be there, to be another one; it is not taken.
func (t *test) fails(p *Parsed, next int) (int, bool) {
	if t.operand {
		_, ok := t.word(p, next)
		return 0, !ok && next < len(p.Operands)
	}
	return 0, !p.hasAny(t.flags) && (t.text == nil || !p.contains(t.text)) && (t.among == nil || !p.among(t.among))
}

func (t *test) word(p *Parsed, next int) (int, bool) {
	if next >= len(p.Operands) {
		return 0, t.atEnd
	}
	op := p.Operand(next)
	for _, w := range t.words {
		if like(op, w) {
			return 1, true
		}
		if n := strings.Count(w, "_"); n > 0 && strings.HasPrefix(w, op+"_") && p.follows(next, w) {
			return n + 1, true
		}
	}
	return 0, false
}

// follows reports whether the operands from next on are the words of w, which
// are joined by underscores.
func (p *Parsed) follows(next int, w string) bool {
	for part := range strings.SplitSeq(w, "_") {
		if next >= len(p.Operands) || !like(p.Operand(next), part) {
			return false
		}
		next++
	}
	return true
}

// like matches a text with a pattern that may begin or end with a star.
func like(s, pattern string) bool {
	switch {
	case pattern == "*":
		return true
	case strings.HasSuffix(pattern, "*") && strings.HasPrefix(pattern, "*"):
		return strings.Contains(s, strings.Trim(pattern, "*"))
	case strings.HasSuffix(pattern, "*"):
		return strings.HasPrefix(s, pattern[:len(pattern)-1])
	case strings.HasPrefix(pattern, "*"):
		return strings.HasSuffix(s, pattern[1:])
	}
	return s == pattern
}
