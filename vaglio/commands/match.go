package commands

import (
	"slices"
	"strings"

	"github.com/metnos/vaglio/internal/lists"
	"github.com/metnos/vaglio/internal/rows"
	"github.com/metnos/vaglio/vaglio/shell"
)

// test is one condition of a line.
type test struct {
	any     bool     // "."
	only    bool     // there is no option besides the flags
	not     bool     // none of the flags may be present
	text    []string // an argument contains one of these, in lower case
	flags   []flagTest
	words   []string // the next operand is one of these
	among   []string // an operand begins with one of these words
	atEnd   bool     // no operand is left
	fed     bool     // the command is given input
	bare    bool     // the command has no words
	fact    string   // something that the caller knows besides the words
	of      *where   // the words that a fact is about, or nil
	operand bool     // the test looks at operands
}

type flagTest struct {
	name   string
	values []string
	alone  bool // counts only if there is no operand
	abbrev bool // may be abbreviated, as getopt_long allows
}

// pipe stands for a literal pipe sign, which does not separate alternatives.
const pipe = "\x00"

// parseTests parses a pattern. An option may be abbreviated if it makes the command harmful: if a pattern for harm asks for it, or another that it is absent.
func parseTests(s string, harm bool) ([]test, error) {
	fields := strings.Fields(s)
	out := make([]test, 0, len(fields))
	for _, f := range fields {
		t := parseTest(f)
		if fact, places, about := strings.Cut(t.fact, ":"); about && !strings.HasPrefix(t.fact, Says) {
			of, err := parseWhere(places)
			if err != nil {
				return nil, err
			}
			t.fact, t.of = fact, &of
		}
		if t.fact != "" && !slices.Contains(Facts(), t.fact) && !strings.HasPrefix(t.fact, Says) {
			return nil, rows.Wrong(f, "unknown fact %q", t.fact)
		}
		for i := range t.flags {
			t.flags[i].abbrev = t.not != harm && !t.only
		}
		out = append(out, t)
	}
	closeOptions(out)
	return out, nil
}

// closeOptions adds to an "only:" the options that the line's other tests ask for.
func closeOptions(tests []test) {
	at := slices.IndexFunc(tests, func(t test) bool { return t.only })
	if at < 0 {
		return
	}
	for i := range tests {
		if i != at && !tests[i].not {
			tests[at].flags = append(tests[at].flags, tests[i].flags...)
		}
	}
}

func parseTest(s string) (t test) {
	switch {
	case s == ".":
		t.any = true
		return t
	case s == "$$":
		t.bare = true
		return t
	case s == "<", s == "!<":
		t.fed, t.not = true, s != "<"
		return t
	case strings.HasPrefix(s, "!"):
		t.not = true
		s = s[1:]
	}
	if fact, ok := strings.CutPrefix(s, "?"); ok {
		t.fact = fact
		return t
	}
	if s, t.only = strings.CutPrefix(s, "only:"); s == "" {
		return t
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

// alternative adds one of the alternatives of a test.
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

// Says begins the name of the fact that what a command is given contains a word of a class.
const Says = "says:"

// Facts returns what a line may ask of the caller, besides the words of the command: where they lie, what they name, and what came before.
func Facts() []string {
	return strings.Fields("cloned wrapped root testing secret secret-filter inside workspace temporary known url local foreign rebuilt secret-name tells-env " +
		"own-database own-server placed stray number reads told sends brought far near bulk aliased emulated strange-channel read abroad versioned hoard " +
		"outside beyond plain own-files own-refs taken-ref own-boxes file-database production unknown-database " +
		"system fetched sed-acts writes-by-path setting masks filtered own-jobs own-processes empty " +
		"code-outside dotenv keeps-nothing other-user continued")
}

// Given returns the words that a rule is about, after the operands that were matched, and those after "with".
func (o *Outcome) Given(p *Parsed, took int) (of, with []Spot) {
	at := func(w where) []Spot { return p.spots(&w, took) }
	return lists.All(o.of, at), lists.All(o.with, at)
}

// Spot is a word, or the part of it from byte Cut on.
type Spot struct{ Word, Cut int }

// spots returns the words of a place, after the operands that were matched; nil without a place.
func (p *Parsed) spots(w *where, next int) []Spot {
	if w == nil {
		return nil
	}
	out := []Spot{}
	switch w.kind {
	case whereValue:
		return p.valueSpots(w.flags, false)
	case whereKey:
		return p.keySpots(w.key)
	case whereAt:
		for _, at := range p.valueSpots(w.flags, false) {
			if i := strings.Index(p.Words[at.Word][at.Cut:], w.key); i >= 0 {
				out = append(out, Spot{at.Word, at.Cut + i + len(w.key)})
			}
		}
		return out
	case whereOperands, whereOperand, whereLast, whereSources:
		return lists.Each(w.among(p.Operands[min(next, len(p.Operands)):]), func(at int) Spot { return Spot{Word: at} })
	default:
		return nil
	}
}

// among are those of some operands that the place names.
func (w *where) among(operands []int) []int {
	n := len(operands)
	switch w.kind {
	case whereOperands:
		return operands[min(w.from, n):]
	case whereOperand:
		return operands[min(w.from, n):min(w.from+1, n)]
	case whereLast:
		return operands[max(n-1, min(w.from, n)):]
	default:
		return operands[:max(0, n-1)]
	}
}

// valueSpots returns the values of some options, with those that are only guessed or without.
func (p *Parsed) valueSpots(tests []flagTest, guessed bool) []Spot {
	out := []Spot{}
	for i := range p.Flags {
		if f := &p.Flags[i]; f.Has && (guessed || !f.Guessed) && oneOf(f, tests) {
			out = append(out, Spot{f.At, f.Cut})
		}
	}
	return out
}

// keySpots returns the values in words of the form key=value.
func (p *Parsed) keySpots(key string) []Spot {
	out := []Spot{}
	for i, word := range p.Words {
		if strings.HasPrefix(word, key) {
			out = append(out, Spot{i, len(key)})
		}
	}
	return out
}

// helpAlone makes the options that usually ask for help count only if there are no operands, and
// the letters only without other options, because -h, -v and --version often mean something else.
func (t *test) helpAlone() {
	help := false
	for _, f := range t.flags {
		help = help || f.name == "--help" || f.name == "--version"
	}
	for i := range t.flags {
		if slices.Contains([]string{"-h", "-v", "-V", "-?", "--version", "-version"}, t.flags[i].name) {
			t.flags[i].alone = help && !t.not
		}
	}
}

// Match reports whether the line's tests hold for a command, beginning after the first took operands, and returns how many are taken then.
func (l Line) Match(p *Parsed, took int) (int, bool) { return holdAll(l.tests, p, took) }

func holdAll(tests []test, p *Parsed, next int) (int, bool) {
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
		return 0, p.Fed != t.not
	case t.bare:
		return 0, len(p.Words) == 0
	case t.fact != "":
		return 0, p.Asked != nil && p.Asked(t.fact, p.spots(t.of, next)) != t.not
	case t.only:
		return 0, !p.hasOther(t.flags)
	case t.not:
		return t.fails(p, next)
	case t.among != nil:
		return 0, p.among(t.among)
	default:
		return t.anyOf(p, next)
	}
}

// anyOf reports whether one of the test's texts, words and options is present.
func (t *test) anyOf(p *Parsed, next int) (int, bool) {
	if t.text != nil && p.contains(t.text) {
		return 0, true
	}
	if t.operand {
		if took, ok := t.word(p, next); ok {
			return took, true
		}
	}
	return 0, p.hasAny(t.flags)
}

// fails reports whether none of what the test asks for is present. If it asks about the next operand, there must be one, which differs; it is not taken.
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
		if shell.Like(op, w) || p.ofClass(op, w) {
			return 1, true
		}
		if n := strings.Count(w, "_"); n > 0 && strings.HasPrefix(w, op+"_") && p.follows(next, w) {
			return n + 1, true
		}
	}
	return 0, false
}

// ofClass reports whether a word, as written or in upper case, is of the class that a test names.
func (p *Parsed) ofClass(word, test string) bool {
	class, ok := strings.CutPrefix(test, "@")
	return ok && (p.nouns[class][word] || p.nouns[class][strings.ToUpper(word)])
}

// follows reports whether the operands from next on are the words of w, which are joined by underscores.
func (p *Parsed) follows(next int, w string) bool {
	for part := range strings.SplitSeq(w, "_") {
		if next >= len(p.Operands) || !shell.Like(p.Operand(next), part) {
			return false
		}
		next++
	}
	return true
}
