package mask

import (
	"bytes"
	_ "embed"
	"fmt"
	"math"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"sync"

	"github.com/metnos/vaglio/internal/strictjson"
)

// The rules for the tokens of many issuers come from gitleaks as data; see the head of the
// file. The formats of tokens change, and gitleaks keeps track of them. Compiling all rules
// takes longer than starting a daemon, so each rule is compiled when a text first comes
// near it.
//
//go:generate sh -c "go -C ../../tools/secrets run . rules > rules.jsonl"
//go:generate sh -c "go -C ../../tools/secrets run . golden > testdata/secrets.jsonl.gz"
//go:embed rules.jsonl
var builtinRules []byte

// builtin returns the finder for those rules. Making it takes some milliseconds, when the
// first text is masked. It does not change after that.
var builtin = sync.OnceValue(newBuiltinFinder)

func newBuiltinFinder() *finder {
	f, err := newFinder(builtinRules)
	if err != nil {
		panic(err) // the embedded rules are tested
	}
	return f
}

// secretRule is one rule of the file.
type secretRule struct {
	ID string `json:"id"`
	// Regex finds the secret: it is Group, or else the first non-empty group, or else the
	// whole match.
	Regex string `json:"regex"`
	Group int    `json:"group"`
	// Entropy is what a secret must exceed, in bits per character.
	Entropy float64 `json:"entropy"`
	// Starts are lowercase literals, one of which begins every match. A rule without Starts
	// has Needs: the text must contain one of them.
	Starts []string `json:"starts"`
	Needs  []string `json:"needs"`

	// bounded reports that a match begins at the beginning of a word.
	bounded bool
	// window is the number of bytes, from its literal on, that the rule is matched against.
	window  int
	compile func() *regexp.Regexp
}

// finder finds the secrets of a text in one pass over its bytes, with an Aho-Corasick
// automaton over the literals of all rules. It tries a regular expression only where a
// literal occurs.
type finder struct {
	rules []secretRule
	// class maps bytes that the literals do not distinguish to one class. next leads from a
	// state and a class to the next state. A state is the index in next of its first class;
	// endsHere is set in it if literals end there, and ends then lists them.
	class   [256]uint8
	classes int
	next    []uint32
	ends    map[uint32][]ending
}

// endsHere is the bit of a state at which literals end.
const endsHere = 1 << 31

// ending is a literal of a rule, or of the masker's own rules.
type ending struct{ rule, length int }

// ours is the rule of an ending that belongs to the masker's own rules.
const ours = -1

// extent is a part of a text.
type extent struct{ from, to int }

// mostLooked bounds the text that a rule with Starts is matched against, in bytes. Issuers'
// tokens are shorter; a longer one is found by its beginning.
const mostLooked = 2048

// leastSecret is the length in bytes of the shortest part of a secret that is masked. A
// shorter part reveals nothing worth hiding.
const leastSecret = 8

// find returns the secrets of a text, in order and without overlap, and reports whether the
// masker's own rules could find any.
func (f *finder) find(s string) (found []extent, own bool) {
	var tried ruleSet // the rules with Needs
	state, run, drawn, words := uint32(0), 0, 0, 0
	for i := range len(s) {
		if drawn++; !isAlphanumeric(s[i]) {
			words = wordsInRow(words, drawn-1, s, i)
			own = own || words >= leastWords-1
			drawn = 0
		} else if drawn == leastDrawn {
			own = true
		}
		if run++; !inBase64(s[i]) {
			run = 0
		} else if run == leastEncoded {
			own = true
		}
		state = f.next[state+uint32(f.class[s[i]])]
		if state&endsHere == 0 {
			continue
		}
		for _, e := range f.ends[state] {
			if e.rule == ours {
				own = true
				continue
			}
			r := &f.rules[e.rule]
			if r.Starts != nil {
				found = r.at(s, i+1-e.length, found)
			} else if tried.add(e.rule) {
				found = r.anywhere(s, found)
			}
		}
		state &^= endsHere
	}
	return apart(found), own
}

// ruleSet is a set of rules, by index.
type ruleSet [maxRules / 64]uint64

const maxRules = 256

// add adds a rule and reports whether it is new.
func (s *ruleSet) add(rule int) bool {
	word, bit := &s[rule/64], uint64(1)<<(rule%64)
	known := *word&bit != 0
	*word |= bit
	return !known
}

// apart sorts extents and merges those that touch.
func apart(found []extent) []extent {
	if len(found) < 2 {
		return found
	}
	slices.SortFunc(found, func(a, b extent) int { return a.from - b.from })
	joined := found[:1]
	for _, p := range found[1:] {
		if last := &joined[len(joined)-1]; p.from <= last.to {
			last.to = max(last.to, p.to)
		} else {
			joined = append(joined, p)
		}
	}
	return joined
}

// at tries a rule at a literal.
func (r *secretRule) at(s string, from int, found []extent) []extent {
	if r.bounded && from > 0 && isWord(s[from-1]) && isWord(s[from]) {
		return found
	}
	end := min(len(s), from+r.window)
	m := r.compile().FindStringSubmatchIndex(s[from:end])
	if m == nil {
		return found
	}
	p := r.secret(m)
	p.from, p.to = p.from+from, p.to+from
	if p.to == end {
		p.to += span(s[p.to:], isBase64)
	}
	return r.weigh(s, p, found)
}

// anywhere tries a rule on the whole text.
func (r *secretRule) anywhere(s string, found []extent) []extent {
	for _, m := range r.compile().FindAllStringSubmatchIndex(s, -1) {
		found = r.weigh(s, r.secret(m), found)
	}
	return found
}

// secret returns the extent of the secret in a match.
func (r *secretRule) secret(m []int) extent {
	if r.Group > 0 && m[2*r.Group] >= 0 {
		return extent{m[2*r.Group], m[2*r.Group+1]}
	}
	for i := 2; i < len(m); i += 2 {
		if m[i+1] > m[i] { // both are -1 for a group that stands nowhere
			return extent{m[i], m[i+1]}
		}
	}
	return extent{m[0], m[1]}
}

// weigh adds the secret to found if it is random enough. It leaves out anything that a
// shell would act on, and a URL's host.
func (r *secretRule) weigh(s string, p extent, found []extent) []extent {
	text := s[p.from:p.to]
	if r.Entropy > 0 && entropy(text) <= r.Entropy || placeholder(text) {
		return found
	}
	if _, path, ok := strings.Cut(text, "://"); ok {
		p.from = p.to - len(path) + max(strings.IndexByte(path, '/'), 0)
	}
	for at := p.from; at < p.to; {
		n := inertSpan(s[at:p.to], inertQuoted)
		if n >= leastSecret {
			found = append(found, extent{at, at + n})
		}
		at += max(n, 1)
	}
	return found
}

// entropy returns the Shannon entropy of s in bits per character.
func entropy(s string) float64 {
	counts, n := map[rune]int{}, 0
	for _, r := range s {
		counts[r]++
		n++
	}
	bits := 0.0
	for _, c := range counts {
		p := float64(c) / float64(n)
		bits -= p * math.Log2(p)
	}
	return bits
}

// newFinder parses rules, one JSON object per line, and builds the automaton.
func newFinder(rules []byte) (*finder, error) {
	f := &finder{}
	for line := range bytes.Lines(rules) {
		if bytes.HasPrefix(line, []byte("#")) {
			continue
		}
		var r secretRule
		if err := strictjson.Unmarshal(line, &r); err != nil {
			return nil, fmt.Errorf("mask: a rule for secrets: %w", err)
		}
		pattern := r.Regex
		if r.Starts != nil {
			pattern = `\A(?:` + pattern + `)`
		}
		tree, err := syntax.Parse(r.Regex, syntax.Perl)
		if err != nil || len(r.Starts)+len(r.Needs) == 0 {
			return nil, fmt.Errorf("mask: the rule %s for secrets has no literal, or: %w", r.ID, err)
		}
		// The byte after a secret may be what ends it.
		r.bounded, r.window = beginsAtWord(tree), longest(tree)+1
		r.compile = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
		f.rules = append(f.rules, r)
	}
	if len(f.rules) > maxRules {
		return nil, fmt.Errorf("mask: there are %d rules for secrets, and room for %d", len(f.rules), maxRules)
	}
	f.build()
	return f, nil
}

// beginsAtWord reports whether an expression begins with \b.
func beginsAtWord(re *syntax.Regexp) bool {
	for re.Op == syntax.OpConcat || re.Op == syntax.OpCapture {
		re = re.Sub[0]
	}
	return re.Op == syntax.OpWordBoundary
}

// longest returns the length of the longest match in bytes, at most [mostLooked]. Tokens
// are ASCII, so it counts a character as one byte.
func longest(re *syntax.Regexp) int {
	n := 0
	switch re.Op {
	case syntax.OpLiteral:
		n = len(string(re.Rune))
	case syntax.OpCharClass, syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		n = 1
	case syntax.OpCapture, syntax.OpQuest:
		n = longest(re.Sub[0])
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			n += longest(sub)
		}
	case syntax.OpAlternate:
		for _, sub := range re.Sub {
			n = max(n, longest(sub))
		}
	case syntax.OpStar, syntax.OpPlus:
		n = mostLooked
	case syntax.OpRepeat:
		if n = mostLooked; re.Max >= 0 {
			n = re.Max * longest(re.Sub[0])
		}
	default:
	}
	return min(n, mostLooked)
}

// build makes the automaton: a trie of the literals whose missing branches lead on from the
// longest suffix of the input that is in the trie.
func (f *finder) build() {
	f.classes = 1
	f.each(func(l string, _ ending) {
		for _, c := range []byte(l) {
			if f.class[c] == 0 {
				f.class[c] = uint8(f.classes) //nolint:gosec // There are fewer letters than bytes.
				f.classes++
			}
		}
	})
	for c := byte('A'); c <= 'Z'; c++ {
		f.class[c] = f.class[c+'a'-'A']
	}
	// The trie: a state is a row of next, and 0 is the root, to which no branch leads.
	rows := [][]ending{nil}
	f.next = make([]uint32, f.classes)
	f.each(func(l string, e ending) {
		state := uint32(0)
		for _, c := range []byte(l) {
			branch := state + uint32(f.class[c])
			if f.next[branch] == 0 {
				f.next[branch] = uint32(len(f.next)) //nolint:gosec // The literals have some thousand letters.
				f.next = append(f.next, make([]uint32, f.classes)...)
				rows = append(rows, nil)
			}
			state = f.next[branch]
		}
		row := int(state) / f.classes
		rows[row] = append(rows[row], e)
	})
	f.lead(rows)
}

// each calls do for every literal.
func (f *finder) each(do func(string, ending)) {
	for i := range f.rules {
		for _, l := range slices.Concat(f.rules[i].Starts, f.rules[i].Needs) {
			l = strings.ToLower(l)
			do(l, ending{i, len(l)})
		}
	}
	// At least one of these occurs in every text in which the masker's own rules can find something.
	for _, l := range slices.Concat(nameLiterals(), operandLiterals(), []string{" -p ", "basic "}, strings.Fields(`_key= :// :a %3a %3d %40 curl -----begin private-lines: private-key ‹masked pgpass :5432: :*:
		akia asia abia acca aiza gocspx- sg. dop_v1_ dckr_pat_ dapi npm_ ntn_ pypi-age rk_live_ rk_test_ rubygems_
		ghp_ gho_ ghu_ ghs_ ghr_ github_pat_ glpat- gldt- glrt- glptt- glcbt- glsoat- glagent- glft- identified sig= discord rwqaaeiy rwrty0iy rwrcsw
		hf_ hvs. hooks.slack lin_api_ lin_oauth_ sbp_ atatt3 signature= whsec_ sk- sk_ shpat_ xapp- xox ya29. eyj age-secret-`)) {
		do(l, ending{ours, len(l)})
	}
}

// lead fills in the missing branches, shortest prefixes first. back leads from a row to
// that of the longest other suffix of the input in the trie.
func (f *finder) lead(rows [][]ending) {
	f.ends = map[uint32][]ending{}
	back := make([]uint32, len(rows))
	for queue := []uint32{0}; len(queue) > 0; queue = queue[1:] {
		state := queue[0]
		row := int(state) / f.classes
		if rows[row] = append(rows[row], rows[int(back[row])/f.classes]...); len(rows[row]) > 0 {
			f.ends[state|endsHere] = rows[row]
		}
		for c := range uint32(f.classes) { //nolint:gosec // There are at most 256.
			to, other := f.next[state+c], uint32(0)
			if state != 0 {
				other = f.next[back[row]+c]
			}
			if to == 0 {
				f.next[state+c] = other
				continue
			}
			back[int(to)/f.classes] = other
			queue = append(queue, to)
		}
	}
	// The bits come last, because until here a state is also an index into the table.
	for i, to := range f.next {
		if f.ends[to|endsHere] != nil {
			f.next[i] |= endsHere
		}
	}
}
