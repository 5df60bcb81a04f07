package commands

import (
	"slices"
	"strings"

	"github.com/metnos/vaglio/vaglio/getopt"
	"github.com/metnos/vaglio/vaglio/shell"
)

// Flag is one option of a command.
type Flag = getopt.Flag

// Parsed are the words of a command after its name, separated into options and operands.
type Parsed struct {
	getopt.Split
	// Words are the texts of all words.
	Words []string
	// Fed says that the command is given input.
	Fed bool
	// Asked reports whether a fact holds of some words; nil if nothing is known besides the words.
	Asked func(fact string, of []Spot) bool

	// Found is the word that a test for an operand anywhere has found.
	Found string

	nouns       map[string]map[string]bool // the classes of words
	flagRoom    [3]Flag
	operandRoom [6]int
}

// Parse separates options from operands into p, by what is known of a program's options.
func (b *Base) Parse(p *Parsed, program string, words []string) {
	p.Words, p.nouns = words, b.Nouns
	p.Split = getopt.Of(program).Split(words, getopt.Manner{Signs: true, Loose: true}, p.flagRoom[:0], p.operandRoom[:0])
	for at := p.Tail; at < len(words); at++ {
		p.Operands = append(p.Operands, at)
	}
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

// Operand returns the text of the n-th operand, or "".
func (p *Parsed) Operand(n int) string {
	if n < len(p.Operands) {
		return p.Words[p.Operands[n]]
	}
	return ""
}

// alone reports whether an option and its value share their words with nothing else.
func (p *Parsed) alone(f *Flag) bool {
	if f.Guessed {
		return false
	}
	if f.Cut > 0 {
		return strings.HasPrefix(p.Words[f.At], f.Name+"=")
	}
	return p.Words[f.At-1] == f.Name // a value of its own stands behind its option
}

func (p *Parsed) hasAny(tests []flagTest) bool {
	for i := range p.Flags {
		f := &p.Flags[i]
		for j := range tests {
			t := &tests[j]
			if !t.matches(f) || t.alone && p.more(t, tests) {
				continue
			}
			if t.values == nil && !f.Off || t.values != nil && f.Has && likeAny(p.Words[f.At][min(f.Cut, len(p.Words[f.At])):], t.values) {
				return true
			}
		}
	}
	return false
}

// more reports whether a command has more to say than an option that counts alone: an operand or, beside a letter, an option that none of the tests is about.
func (p *Parsed) more(t *flagTest, tests []flagTest) bool {
	return len(p.Operands) > 0 || len(t.name) == len("-h") && p.hasOther(tests)
}

// hasOther reports whether there is an option that none of the tests is about.
func (p *Parsed) hasOther(tests []flagTest) bool {
	return slices.ContainsFunc(p.Flags, func(f Flag) bool { return !p.Bundled(&f) && !oneOf(&f, tests) })
}

// matches reports whether an option is the one that a test names. A test's name that ends with a star matches all options that begin like it.
func (t *flagTest) matches(f *Flag) bool {
	switch {
	case f.Name == t.name:
		return true
	case strings.HasSuffix(t.name, "*"):
		return shell.Like(f.Name, t.name)
	}
	return t.abbrev && Abbreviates(f, t.name)
}

// Abbreviates reports whether an option that the tables do not list may be short for one, as getopt_long allows.
func Abbreviates(f *Flag, name string) bool {
	least := len("--ab")
	if f.Has {
		least = len("--a")
	}
	return !f.Whole && len(f.Name) >= least && strings.HasPrefix(f.Name, "--") && strings.HasPrefix(name, f.Name)
}

func oneOf(f *Flag, tests []flagTest) bool {
	return slices.ContainsFunc(tests, func(t flagTest) bool { return t.matches(f) })
}

func (p *Parsed) contains(texts []string) bool {
	return slices.ContainsFunc(p.Words, func(a string) bool {
		s := strings.ToLower(a)
		return slices.ContainsFunc(texts, func(t string) bool { return strings.Contains(s, t) })
	})
}

func likeAny(s string, patterns []string) bool {
	return slices.ContainsFunc(patterns, func(w string) bool { return shell.Like(s, w) })
}
