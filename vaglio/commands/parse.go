package commands

import (
	"slices"
	"strings"
)

// Parsed are the words of a command after its name, separated into options and operands. It
// refers to words by their index.
type Parsed struct {
	// Words are the texts of all words.
	Words []string
	// Flags are the options in order, Operands the indexes of all other words.
	Flags    []Flag
	Operands []int
	// Ended is the index of the word -- that ends the options, or -1.
	Ended int
	// Fed says that the command is given input.
	Fed bool
	// Asked reports whether a fact holds of some words; nil if nothing is known besides the
	// words.
	Asked func(fact string, of []Spot) bool

	// Found is the word that a test for an operand anywhere has found.
	Found string

	nouns       map[string]map[string]bool // the classes of words
	flagRoom    [3]Flag
	operandRoom [6]int
}

// Flag is one option. A bundle of letters counts as one flag for the whole, and one for each
// letter.
type Flag struct {
	Name string
	// Has says that there is a value, which begins at byte Cut of word At. Off says that the
	// value switches the option off: --dry-run=none.
	Has, Off bool
	At, Cut  int
}

// isOff reports whether the value after an option's equal sign means that the option is not
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

// Parse separates options from operands.
func Parse(words []string, sec *Section) *Parsed {
	p := &Parsed{Words: words, Ended: -1, nouns: sec.nouns}
	p.Flags, p.Operands = p.flagRoom[:0], p.operandRoom[:0]
	i := 0
	if len(words) > 0 && sec.beginsBundled(words) {
		i = 1 + p.bundle(sec)
	}
	for ; i < len(words); i++ {
		switch {
		case words[i] == "--":
			p.Ended = i
			for i++; i < len(words); i++ {
				p.Operands = append(p.Operands, i)
			}
		case sec.dashed && isMode(words[i]): // it counts as the first operand, wherever it stands
			p.Operands = slices.Insert(p.Operands, 0, i)
		case p.isOperand(i, sec):
			p.Operands = append(p.Operands, i)
		default:
			i += p.option(i, sec)
		}
	}
	return p
}

// beginsBundled reports whether the first word holds option letters.
func (sec *Section) beginsBundled(words []string) bool {
	return sec.bundle && words[0] != "" && words[0][0] != '-' && (!sec.once || len(words) > 1)
}

// isOperand reports whether the word at an index before -- is no option.
func (p *Parsed) isOperand(at int, sec *Section) bool {
	s := p.Words[at]
	return sec.once && (at > 0 || len(p.Words) == 1) || len(s) < 2 || s[0] != '-'
}

// shortOption returns the name of a letter's option. Letters are sliced from a constant to
// avoid an allocation.
func shortOption(letter byte) string {
	const small, big = "-a-b-c-d-e-f-g-h-i-j-k-l-m-n-o-p-q-r-s-t-u-v-w-x-y-z", "-A-B-C-D-E-F-G-H-I-J-K-L-M-N-O-P-Q-R-S-T-U-V-W-X-Y-Z"
	switch {
	case 'a' <= letter && letter <= 'z':
		at := int(letter-'a') * len("-a")
		return small[at : at+len("-a")]
	case 'A' <= letter && letter <= 'Z':
		at := int(letter-'A') * len("-A")
		return big[at : at+len("-A")]
	}
	return "-" + string([]byte{letter})
}

// bundle reads a first word that holds option letters without a dash. Each takes its value
// from the words that follow: tar cfC x.tar folder.
func (p *Parsed) bundle(sec *Section) int {
	took := 0
	var seen [1 << 8]bool
	for j := range len(p.Words[0]) {
		letter := p.Words[0][j]
		if seen[letter] {
			continue
		}
		seen[letter] = true
		f := Flag{Name: shortOption(p.Words[0][j])}
		if sec.Values[f.Name] && took+1 < len(p.Words) {
			took++
			f.At, f.Has = took, true
		}
		p.Flags = append(p.Flags, f)
	}
	return took
}

// among reports whether an operand begins with one of the words.
func (p *Parsed) among(words []string) bool {
	return slices.ContainsFunc(p.Operands, func(at int) bool {
		first, _, _ := strings.Cut(p.Words[at], " ")
		if !likeAny(first, words) && !slices.ContainsFunc(words, func(w string) bool { return p.ofClass(first, w) }) {
			return false
		}
		p.Found = p.Words[at]
		return true
	})
}

// isMode reports whether a word that begins with a dash is a mode: chmod -w file.
func isMode(s string) bool {
	return len(s) > 1 && s[0] == '-' && s[1] != '-' && strings.Trim(s[1:], "rwxXstugoa,=+-") == "" && !strings.Contains(s, "R")
}

// isSignal reports whether an option is a signal by its number or name.
func isSignal(s string) bool {
	const shortest = 2 // of a name
	name := s[1:]
	return strings.Trim(name, "0123456789") == "" || len(name) >= shortest && strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+") == ""
}

// option records the option at an index and returns how many further words it takes.
func (p *Parsed) option(at int, sec *Section) int {
	s := p.Words[at]
	if sec.signals && isSignal(s) {
		p.Flags = append(p.Flags, Flag{Name: s, At: at})
		return 0
	}
	name, value, has := strings.Cut(s, "=")
	if strings.HasPrefix(s, "--") || sec.Long || p.takes(name, sec) {
		return p.take(Flag{Name: name, At: at, Cut: len(s) - len(value), Has: has, Off: isOff(name, value)}, !has && p.takes(name, sec))
	}
	if len(s) > 2 {
		p.Flags = append(p.Flags, Flag{Name: s, At: at})
	}
	return p.letters(s, at, sec)
}

// letters records the short options in a word and returns how many further words they take.
func (p *Parsed) letters(s string, at int, sec *Section) int {
	var seen [1 << 8]bool // a letter counts once, to bound long bundles
	for j := 1; j < len(s); j++ {
		if seen[s[j]] {
			continue
		}
		seen[s[j]] = true
		f := Flag{Name: shortOption(s[j]), At: at}
		if takes := p.takes(f.Name, sec); takes || sec.Glued[f.Name] { // all that follows is its value
			f.Cut, f.Has = j+1, j+1 < len(s)
			return p.take(f, takes && !f.Has)
		}
		p.Flags = append(p.Flags, f)
	}
	return 0
}

// takes reports whether an option takes a value at its place.
func (p *Parsed) takes(name string, sec *Section) bool {
	return sec.Values[name] || len(p.Operands) == 0 && sec.First[name]
}

// take records an option. If it wants a value, it takes the next word. It returns how many
// words it took.
func (p *Parsed) take(f Flag, wants bool) int {
	took := 0
	if next := f.At + 1; wants && next < len(p.Words) {
		f.At, f.Cut, f.Has, took = next, 0, true, 1
	}
	p.Flags = append(p.Flags, f)
	return took
}

// Operand returns the text of the n-th operand, or "".
func (p *Parsed) Operand(n int) string {
	if n < len(p.Operands) {
		return p.Words[p.Operands[n]]
	}
	return ""
}

// alone reports whether an option and its value share their words with nothing else.
func (p *Parsed) alone(f *Flag) bool {
	if f.Cut > 0 {
		return strings.HasPrefix(p.Words[f.At], f.Name+"=")
	}
	return f.At > 0 && p.Words[f.At-1] == f.Name
}

// value returns the text of an option's value.
func (p *Parsed) value(f *Flag) string {
	if !f.Has {
		return ""
	}
	return p.Words[f.At][min(f.Cut, len(p.Words[f.At])):]
}

func (p *Parsed) hasAny(tests []flagTest) bool {
	for i := range p.Flags {
		f := &p.Flags[i]
		for j := range tests {
			t := &tests[j]
			if !f.matches(t) || t.alone && len(p.Operands) > 0 {
				continue
			}
			if t.values == nil && !f.Off || t.values != nil && likeAny(p.value(f), t.values) {
				return true
			}
		}
	}
	return false
}

// matches reports whether an option is the one that a test names. A test's name that ends
// with a star matches all options that begin like it.
func (f *Flag) matches(t *flagTest) bool {
	const least = len("--ab")
	switch {
	case f.Name == t.name:
		return true
	case strings.HasSuffix(t.name, "*"):
		return like(f.Name, t.name)
	}
	return t.abbrev && len(f.Name) >= least && strings.HasPrefix(f.Name, "--") && strings.HasPrefix(t.name, f.Name)
}

func (f *Flag) oneOf(tests []flagTest) bool {
	return slices.ContainsFunc(tests, func(t flagTest) bool { return f.matches(&t) })
}

func (p *Parsed) contains(texts []string) bool {
	return slices.ContainsFunc(p.Words, func(a string) bool {
		s := strings.ToLower(a)
		return slices.ContainsFunc(texts, func(t string) bool { return strings.Contains(s, t) })
	})
}

func likeAny(s string, patterns []string) bool {
	return slices.ContainsFunc(patterns, func(w string) bool { return like(s, w) })
}
