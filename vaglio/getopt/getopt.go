// Package getopt tells the options of a command from its operands, by what the tables say of the command's program. It is the one reader of options: what a
// command carries and what it does are found in the same words.
package getopt

import (
	"regexp"
	"slices"
	"strings"

	"github.com/metnos/vaglio/internal/lists"
)

// Grammar is what the table says of a program's options. That of a program which the table does not list is the zero Grammar: its options take no values.
type Grammar struct {
	// Values are the options that take a value, Glued those that take one only in their own word. They are written with their dashes.
	Values, Glued map[string]bool
	// Single says that one dash begins a long option.
	Single bool

	pairs   map[string]bool // those of Values that take two words
	exact   bool            // long options cannot be abbreviated
	bundle  bool            // the first word holds options even without a dash
	once    bool            // only the first word can be an option
	modes   bool            // an operand may be a mode that begins with a dash
	signals bool            // an option may be a signal: -9, -KILL
	colon   bool            // a colon stands for the equals sign, too
	carries bool            // what follows its first operand is a command with options of its own
	after   int             // how many operands of the program stand before those of this grammar

	long []string        // Values, sorted
	bare map[string]bool // switches that would be taken for an abbreviation
	ways []way           // by the first operands
}

// way is the grammar of what follows the first operands of a program, or an option: python -m.
type way struct {
	words   [][]string // each may be one of several; * stands for any operand
	grammar *Grammar
}

// Manner is what a reader makes of a program's options. In the zero Manner they stand anywhere.
type Manner struct {
	// Last are the options behind which all words are operands.
	Last []string
	// Leading says that all options precede the operands, Signs that a short option's value may follow an equals sign.
	Leading, Signs bool
	// Loose says that there may be more options than are known. What an abbreviation takes as its value is an operand, too, then.
	Loose bool
}

// Takes reports whether an option takes a value, in its own word or in the next, at least behind some other words.
func (g *Grammar) Takes(name string) bool {
	behind := func(w way) bool { return w.grammar.Takes(name) }
	return g.Values[g.oneDash(name)] || g.Glued[name] || slices.ContainsFunc(g.ways, behind)
}

// Under returns the grammar of what follows the first operands of a program, or an option.
func (g *Grammar) Under(operands ...string) *Grammar {
	for i := range g.ways {
		if w := &g.ways[i]; len(w.words) <= len(operands) && slices.EqualFunc(w.words, operands[:len(w.words)], isOne) {
			return w.grammar
		}
	}
	return g
}

// isOne reports whether a word is one of those of a way.
func isOne(words []string, word string) bool {
	return words[0] == "*" && !strings.HasPrefix(word, "-") || slices.Contains(words, word)
}

// oneDash returns a name as it is known where one dash begins a long option, and two may.
func (g *Grammar) oneDash(name string) string {
	if g.Single && strings.HasPrefix(name, "--") {
		return name[1:]
	}
	return name
}

// Flag is one option. A bundle of letters counts as one flag for the whole, and one for each letter.
type Flag struct {
	// Name is written with its dashes. An abbreviation is written out, unless the grammar is loose.
	Name string
	// Has says that there is a value, which begins at byte Cut of word At. Off says that the value switches the option off: --dry-run=none. Guessed says that
	// it may be an operand instead, Second that it is the second of two values in a row, each of which has a flag. Whole says that the name is short for
	// no other: that of a known option, or of any where none can be abbreviated.
	Has, Off, Guessed, Second, Whole bool
	At, Cut                          int
}

// Split are the words of a command after its name, separated. It refers to words by their index.
type Split struct {
	// Flags are the options in order, Operands the other words before Tail. From Tail on, all words are operands.
	Flags    []Flag
	Operands []int
	Tail     int
	// Ended is the index of the word -- that ends the options, or -1.
	Ended int

	words []string
	by    *Grammar
	in    Manner
}

// Split separates options from operands. It appends to the two slices.
func (g *Grammar) Split(words []string, in Manner, flags []Flag, operands []int) Split {
	s := Split{Flags: flags, Operands: operands, Ended: -1, words: words, by: g, in: in}
	i := 0
	if g.beginsBundled(words) {
		i = 1 + s.bundle()
	}
	for ; i < len(words); i++ {
		switch n := len(s.Flags); {
		case words[i] == "--":
			s.Ended, s.Tail = i, i+1
			return s
		case n > 0 && slices.Contains(in.Last, s.Flags[n-1].Name):
			s.Tail = i
			return s
		case g.modes && mode.MatchString(words[i]): // it counts as the first operand, wherever it stands
			s.Operands = slices.Insert(s.Operands, 0, i)
		case !g.isOperand(words, i):
			i += s.option(i)
			if next := g.Under(s.Flags[len(s.Flags)-1].Name); next != g {
				g, s.by = next, next
			}
		case in.Leading:
			s.Tail = i
			return s
		case s.lastOperand(g, i):
			s.Tail = i + 1
			return s
		}
	}
	s.Tail = len(words)
	return s
}

// lastOperand records an operand, and reports whether what follows has options of its own.
func (s *Split) lastOperand(g *Grammar, at int) bool {
	s.Operands = append(s.Operands, at)
	s.by = s.under(g)
	return s.by.carries && len(s.Operands) > s.by.after
}

// under returns the grammar of what follows the operands so far.
func (s *Split) under(g *Grammar) *Grammar {
	const most = 4 // operands that select a way
	if len(g.ways) == 0 || len(s.Operands) > most {
		return s.by
	}
	var room [most]string
	first := room[:0]
	for _, at := range s.Operands {
		first = append(first, s.words[at])
	}
	return g.Under(first...)
}

// Bundles reports whether the first word may hold option letters without a dash.
func (g *Grammar) Bundles() bool { return g != nil && g.bundle }

// isOperand reports whether the word at an index before -- is no option.
func (g *Grammar) isOperand(words []string, at int) bool {
	w := words[at]
	return g.once && at > 0 || len(w) < 2 || w[0] != '-'
}

// short returns the name of a letter's option. Letters are sliced from a constant to avoid an allocation.
func short(letter byte) string {
	const names = "-a-b-c-d-e-f-g-h-i-j-k-l-m-n-o-p-q-r-s-t-u-v-w-x-y-z-A-B-C-D-E-F-G-H-I-J-K-L-M-N-O-P-Q-R-S-T-U-V-W-X-Y-Z"
	if at := strings.IndexByte(names, letter); at > 0 {
		return names[at-1 : at+1]
	}
	return "-" + string([]byte{letter})
}

// A mode may begin with a dash: chmod -w file. An option may be a signal, by number or name.
var (
	mode   = regexp.MustCompile(`^-[rwxXstugoa,=+][rwxXstugoa,=+-]*$`)
	signal = regexp.MustCompile(`^-(?:[0-9]*|[A-Z0-9+]{2,})$`)
)

// isOff reports whether the value after an option's equals sign means that the option is not set.
func isOff(name, value string) bool {
	switch strings.ToLower(value) {
	case "false", "no", "none", "off", "never":
		return true
	case "0":
		return strings.Contains(name, "dry")
	}
	return false
}

// bundle reads a first word that holds option letters without a dash. Each takes its value
// from the words that follow: tar cfC x.tar folder. It returns how many words they took.
func (s *Split) bundle() int {
	took := 0
	var seen [1 << 8]bool
	for _, letter := range []byte(s.words[0]) {
		if seen[letter] {
			continue
		}
		seen[letter] = true
		f := Flag{Name: short(letter)}
		if s.by.Values[f.Name] && took+1 < len(s.words) {
			took++
			f.At, f.Has = took, true
		}
		s.Flags = append(s.Flags, f)
	}
	return took
}

// option records the option at an index and returns how many further words it takes.
func (s *Split) option(at int) int {
	w := s.words[at]
	if s.by.signals && signal.MatchString(w) {
		s.Flags = append(s.Flags, Flag{Name: w, At: at})
		return 0
	}
	name, value, has := strings.Cut(w, "=")
	if i := strings.IndexByte(name, ':'); s.by.colon && i > 0 {
		name, value, has = w[:i], w[i+1:], true
	}
	f := Flag{Name: name, At: at, Cut: len(w) - len(value), Has: has, Off: has && isOff(name, value)}
	switch takes := s.by.Values[s.by.oneDash(name)]; {
	case !strings.HasPrefix(w, "--") && !s.by.Single && (!takes || has && !s.in.Signs):
		return s.short(at)
	case takes:
		f.Whole = true
		return s.take(f, !has)
	}
	return s.abbreviated(f)
}

// abbreviated records a long option that may be short for one that takes a value.
func (s *Split) abbreviated(f Flag) int {
	full := s.complete(f.Name)
	switch {
	case full == "":
		return s.take(f, false)
	case s.in.Loose:
		f.Guessed = !f.Has
		s.take(f, !f.Has)
		return 0 // the next word is an operand, too
	}
	f.Name = full
	return s.take(f, !f.Has)
}

// complete returns the option with a value that a name abbreviates, or "". An abbreviation of one or two letters is too little to take an operand away.
func (s *Split) complete(name string) string {
	const least = len("abc")
	name = s.by.oneDash(name)
	if len(name) < len("--a") || s.by.exact || s.by.bare[name] || !s.in.Loose && len(strings.TrimLeft(name, "-")) < least {
		return ""
	}
	if i, _ := slices.BinarySearch(s.by.long, name); i < len(s.by.long) && strings.HasPrefix(s.by.long[i], name) {
		return s.by.long[i]
	}
	return ""
}

// short records the short options in a word and returns how many further words they take.
func (s *Split) short(at int) int {
	w := s.words[at]
	if len(w) > len("-a") {
		s.Flags = append(s.Flags, Flag{Name: w, At: at})
	}
	var seen [1 << 8]bool // a letter counts once, which bounds long bundles
	for j := 1; j < len(w); j++ {
		if seen[w[j]] {
			continue
		}
		seen[w[j]] = true
		f := Flag{Name: short(w[j]), At: at}
		if takes := s.by.Values[f.Name]; takes || s.by.Glued[f.Name] { // all that follows is its value; BSD's sed -i '' has an empty word
			f.Cut, f.Has = j+1, j+1 < len(w)
			return s.take(f, !f.Has && (takes || at+1 < len(s.words) && s.words[at+1] == ""))
		}
		s.Flags = append(s.Flags, f)
	}
	return 0
}

// Bundled reports whether a flag is several letters in one word, which are flags of their own, too.
func (s *Split) Bundled(f *Flag) bool {
	return !s.by.Single && len(f.Name) > len("-a") && !strings.HasPrefix(f.Name, "--")
}

// take records an option. If it wants a value, it takes the next word. It returns how many words it took.
func (s *Split) take(f Flag, wants bool) int {
	took := 0
	f.Whole = f.Whole || s.by.exact || s.by.bare[f.Name]
	if next := f.At + 1; wants && next < len(s.words) {
		f.At, f.Cut, f.Has, took = next, 0, true, 1
	}
	if s.by.pairs[f.Name] && took > 0 && f.At+1 < len(s.words) {
		s.Flags = append(s.Flags, f)
		f.At, f.Second, took = f.At+1, true, 2
	}
	s.Flags = append(s.Flags, f)
	return took
}

// Values returns what some options are given.
func (s *Split) Values(names ...string) (all []string) {
	for i := range s.Flags {
		if f := &s.Flags[i]; f.Has && slices.Contains(names, f.Name) {
			all = append(all, s.words[f.At][f.Cut:])
		}
	}
	return all
}

// All returns the operands.
func (s *Split) All() []string {
	return append(lists.Each(s.Operands, func(at int) string { return s.words[at] }), s.words[s.Tail:]...)
}

// beginsBundled reports whether the first word holds option letters.
func (g *Grammar) beginsBundled(words []string) bool {
	return g.bundle && len(words) > 0 && words[0] != "" && words[0][0] != '-'
}
