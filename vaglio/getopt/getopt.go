// Package getopt tells the options of a command from its operands, by what the tables say of the
// command's program. It is the one reader of options: what a command carries and what it does are
// found in the same words.
package getopt

import (
	"regexp"
	"slices"
	"strings"
)

// Grammar is what must be known of a program's options. The zero Grammar is that of a program
// whose options take no values and stand anywhere.
type Grammar struct {
	// Values are the options that take a value, First those that take one only before the
	// first operand, Glued those that take one only in their own word. They are written with
	// their dashes.
	Values, First, Glued map[string]bool
	// Last are the options behind which all words are operands.
	Last []string
	// Leading says that all options precede the operands, Single that one dash begins a long
	// option, Signs that a short option's value may follow an equals sign.
	Leading, Single, Signs bool
	// Loose says that there may be more options than are known. What an abbreviation takes as
	// its value is an operand, too, then.
	Loose bool
	// Bundle says that the first word holds options even without a dash, Once that only the
	// first word can be an option, if others follow.
	Bundle, Once bool
	// Modes says that an operand may be a mode that begins with a dash, Signals that an option
	// may be a signal: -9, -KILL.
	Modes, Signals bool

	long []string // the long ones of Values, sorted
}

// Settle prepares a grammar for use; its lists are complete then.
func (g *Grammar) Settle() {
	g.long = nil
	for name := range g.Values {
		if g.Single {
			name = g.oneDash(name)
			g.Values[name] = true
		}
		if len(name) > len("-a") {
			g.long = append(g.long, name)
		}
	}
	slices.Sort(g.long)
}

// oneDash returns a name as it is known where one dash begins a long option, and two may.
func (g *Grammar) oneDash(name string) string {
	if g.Single && strings.HasPrefix(name, "--") {
		return name[1:]
	}
	return name
}

// Flag is one option. A bundle of letters counts as one flag for the whole, and one for each
// letter.
type Flag struct {
	// Name is written with its dashes. An abbreviation is written out, unless the grammar is
	// loose.
	Name string
	// Has says that there is a value, which begins at byte Cut of word At. Off says that the
	// value switches the option off: --dry-run=none. Guessed says that it may be an operand
	// instead.
	Has, Off, Guessed bool
	At, Cut           int
}

// Split are the words of a command after its name, separated. It refers to words by their index.
type Split struct {
	// Flags are the options in order, Operands the other words before Tail. From Tail on,
	// all words are operands.
	Flags    []Flag
	Operands []int
	Tail     int
	// Ended is the index of the word -- that ends the options, or -1.
	Ended int

	words []string
}

// Split separates options from operands. It appends to the two slices.
func (g *Grammar) Split(words []string, flags []Flag, operands []int) Split {
	s := Split{Flags: flags, Operands: operands, Ended: -1, words: words}
	i := 0
	if g.beginsBundled(words) {
		i = 1 + s.bundle(g)
	}
	for ; i < len(words); i++ {
		switch n := len(s.Flags); {
		case words[i] == "--":
			s.Ended, s.Tail = i, i+1
			return s
		case n > 0 && slices.Contains(g.Last, s.Flags[n-1].Name):
			s.Tail = i
			return s
		case g.Modes && mode.MatchString(words[i]): // it counts as the first operand, wherever it stands
			s.Operands = slices.Insert(s.Operands, 0, i)
		case !g.isOperand(words, i):
			i += s.option(g, i)
		case g.Leading:
			s.Tail = i
			return s
		default:
			s.Operands = append(s.Operands, i)
		}
	}
	s.Tail = len(words)
	return s
}

// beginsBundled reports whether the first word holds option letters.
func (g *Grammar) beginsBundled(words []string) bool {
	return g.Bundle && len(words) > 0 && words[0] != "" && words[0][0] != '-' && (!g.Once || len(words) > 1)
}

// isOperand reports whether the word at an index before -- is no option.
func (g *Grammar) isOperand(words []string, at int) bool {
	w := words[at]
	return g.Once && (at > 0 || len(words) == 1) || len(w) < 2 || w[0] != '-'
}

// short returns the name of a letter's option. Letters are sliced from a constant to avoid an
// allocation.
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

// isOff reports whether the value after an option's equals sign means that the option is not
// set.
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
func (s *Split) bundle(g *Grammar) int {
	took := 0
	var seen [1 << 8]bool
	for _, letter := range []byte(s.words[0]) {
		if seen[letter] {
			continue
		}
		seen[letter] = true
		f := Flag{Name: short(letter)}
		if g.Values[f.Name] && took+1 < len(s.words) {
			took++
			f.At, f.Has = took, true
		}
		s.Flags = append(s.Flags, f)
	}
	return took
}

// option records the option at an index and returns how many further words it takes.
func (s *Split) option(g *Grammar, at int) int {
	w := s.words[at]
	if g.Signals && signal.MatchString(w) {
		s.Flags = append(s.Flags, Flag{Name: w, At: at})
		return 0
	}
	name, value, has := strings.Cut(w, "=")
	f := Flag{Name: name, At: at, Cut: len(w) - len(value), Has: has, Off: has && isOff(name, value)}
	switch takes := s.takes(g, name); {
	case !strings.HasPrefix(w, "--") && !g.Single && (!takes || has && !g.Signs):
		return s.short(g, at)
	case takes:
		return s.take(f, !has)
	}
	return s.abbreviated(g, f)
}

// abbreviated records a long option that may be short for one that takes a value.
func (s *Split) abbreviated(g *Grammar, f Flag) int {
	full := g.complete(f.Name)
	switch {
	case full == "":
		return s.take(f, false)
	case g.Loose:
		f.Guessed = !f.Has
		s.take(f, !f.Has)
		return 0 // the next word is an operand, too
	}
	f.Name = full
	return s.take(f, !f.Has)
}

// complete returns the option with a value that a name abbreviates, or "". An abbreviation of
// one or two letters is too little to take an operand away.
func (g *Grammar) complete(name string) string {
	const least = len("abc")
	name = g.oneDash(name)
	if len(name) < len("--a") || !g.Loose && len(strings.TrimLeft(name, "-")) < least {
		return ""
	}
	if i, _ := slices.BinarySearch(g.long, name); i < len(g.long) && strings.HasPrefix(g.long[i], name) {
		return g.long[i]
	}
	return ""
}

// short records the short options in a word and returns how many further words they take.
func (s *Split) short(g *Grammar, at int) int {
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
		if takes := s.takes(g, f.Name); takes || g.Glued[f.Name] { // all that follows is its value
			f.Cut, f.Has = j+1, j+1 < len(w)
			return s.take(f, takes && !f.Has)
		}
		s.Flags = append(s.Flags, f)
	}
	return 0
}

// takes reports whether an option takes a value at its place.
func (s *Split) takes(g *Grammar, name string) bool {
	return g.Values[g.oneDash(name)] || len(s.Operands) == 0 && g.First[name]
}

// take records an option. If it wants a value, it takes the next word. It returns how many
// words it took.
func (s *Split) take(f Flag, wants bool) int {
	took := 0
	if next := f.At + 1; wants && next < len(s.words) {
		f.At, f.Cut, f.Has, took = next, 0, true, 1
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
func (s *Split) All() (all []string) {
	for _, at := range s.Operands {
		all = append(all, s.words[at])
	}
	return append(all, s.words[s.Tail:]...)
}
