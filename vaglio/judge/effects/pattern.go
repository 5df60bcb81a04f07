package effects

import (
	"slices"
	"strings"
)

// test is one condition of a line.
type test struct {
	any     bool     // "."
	not     bool     // none of the flags may be present
	text    []string // an argument contains one of these, lower case
	flags   []flagTest
	words   []string // the next operand is one of these
	atEnd   bool     // no operand is left
	operand bool     // the test looks at operands
}

type flagTest struct {
	name   string
	values []string
	alone  bool // counts only when there is no operand
}

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
	case strings.HasPrefix(s, "!"):
		t.not = true
		s = s[1:]
	}
	texts := strings.HasPrefix(s, "~")
	for alt := range strings.SplitSeq(s, "|") {
		switch {
		case texts:
			t.text = append(t.text, strings.ToLower(strings.TrimPrefix(alt, "~")))
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
	t.helpAlone()
	return t
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

// match reports whether the line's tests hold, and how many operands its
// words took.
func (l line) match(p *parsed) (int, bool) {
	next := 0
	for i := range l.tests {
		took, ok := l.tests[i].holds(p, next)
		if !ok {
			return 0, false
		}
		next += took
	}
	return next, true
}

func (t *test) holds(p *parsed, next int) (int, bool) {
	switch {
	case t.any:
		return 0, true
	case t.text != nil && p.contains(t.text):
		return 0, true
	case t.not:
		return 0, !p.hasAny(t.flags)
	}
	if t.operand {
		if took, ok := t.word(p, next); ok {
			return took, true
		}
	}
	return 0, len(t.flags) > 0 && p.hasAny(t.flags)
}

func (t *test) word(p *parsed, next int) (int, bool) {
	if next >= len(p.operands) {
		return 0, t.atEnd
	}
	op := p.operands[next].text
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
func (p *parsed) follows(next int, w string) bool {
	for part := range strings.SplitSeq(w, "_") {
		if next >= len(p.operands) || !like(p.operands[next].text, part) {
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

// parsed are a command's arguments, told apart.
type parsed struct {
	flags    []flag
	operands []arg
	all      []arg
}

type flag struct {
	name  string
	value arg
	has   bool // a value was given
}

// parse tells options and operands apart.
func parse(args []arg, sec *section) *parsed {
	p := &parsed{all: args}
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch s := a.text; {
		case s == "--":
			p.operands = append(p.operands, args[i+1:]...)
			return p
		case len(s) < 2 || s[0] != '-':
			p.operands = append(p.operands, a)
		default:
			i += p.option(a, args[i+1:], sec)
		}
	}
	return p
}

// option records one option and returns how many further arguments it takes.
func (p *parsed) option(a arg, rest []arg, sec *section) int {
	s := a.text
	name, value, has := strings.Cut(s, "=")
	takes := func(o string) bool { return sec.valued[o] || len(p.operands) == 0 && sec.first[o] }
	if strings.HasPrefix(s, "--") || sec.long || takes(name) {
		f := flag{name: name, value: a.slice(len(s) - len(value)), has: has}
		if !has && takes(name) && len(rest) > 0 {
			f.value, f.has = rest[0], true
		}
		p.flags = append(p.flags, f)
		return b2i(!has && f.has)
	}
	if len(s) > 2 {
		p.flags = append(p.flags, flag{name: s})
	}
	for j := 1; j < len(s); j++ {
		short := "-" + s[j:j+1]
		if !takes(short) {
			p.flags = append(p.flags, flag{name: short})
			continue
		}
		f := flag{name: short, value: a.slice(j + 1), has: j+1 < len(s)}
		took := 0
		if !f.has && len(rest) > 0 {
			f.value, f.has, took = rest[0], true, 1
		}
		p.flags = append(p.flags, f)
		return took
	}
	return 0
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (p *parsed) hasAny(tests []flagTest) bool {
	for _, t := range tests {
		for i := range p.flags {
			f := &p.flags[i]
			if f.name != t.name && (!strings.HasSuffix(t.name, "*") || !like(f.name, t.name)) || t.alone && len(p.operands) > 0 {
				continue
			}
			if t.values == nil || likeAny(f.value.text, t.values) {
				return true
			}
		}
	}
	return false
}

func likeAny(s string, patterns []string) bool {
	for _, w := range patterns {
		if like(s, w) {
			return true
		}
	}
	return false
}

// has reports whether one of the options is present.
func (p *parsed) has(names ...string) bool {
	for i := range p.flags {
		if slices.Contains(names, p.flags[i].name) {
			return true
		}
	}
	return false
}

// value returns the last value given to one of the options.
func (p *parsed) value(names ...string) (arg, bool) {
	for _, v := range slices.Backward(p.flags) {
		for _, n := range names {
			if v.name == n && v.has {
				return v.value, true
			}
		}
	}
	return arg{}, false
}

// values returns all values given to the options.
func (p *parsed) values(names ...string) []arg {
	var out []arg
	for i := range p.flags {
		for _, n := range names {
			if p.flags[i].name == n && p.flags[i].has {
				out = append(out, p.flags[i].value)
			}
		}
	}
	return out
}

func (p *parsed) contains(texts []string) bool {
	for _, a := range p.all {
		s := strings.ToLower(a.text)
		for _, t := range texts {
			if strings.Contains(s, t) {
				return true
			}
		}
	}
	return false
}

// operand returns the text of the n-th operand, "" if there is none.
func (p *parsed) operand(n int) string {
	if n < len(p.operands) {
		return p.operands[n].text
	}
	return ""
}

// rest joins the operands from n on, for a person to read.
func (p *parsed) rest(n int) string {
	if n >= len(p.operands) {
		return ""
	}
	return join(p.operands[n:])
}

func join(args []arg) string {
	var b strings.Builder
	for i, a := range args {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(a.text)
		if b.Len() > 160 {
			b.WriteString(" …")
			break
		}
	}
	return b.String()
}
