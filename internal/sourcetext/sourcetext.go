// Package sourcetext looks for patterns in the texts of programs, however they are laid out.
package sourcetext

import (
	"hash/maphash"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"sync/atomic"
)

// Patterns are regular expressions of which a text may match any. They are safe for concurrent use.
type Patterns struct {
	any  *regexp.Regexp
	each []pattern
	// seen holds what was last found in texts: a hash of each, with the answer in its lowest bit.
	seen [1 << 9]atomic.Uint64
	// seed keeps whoever writes a text from knowing its hash.
	seed maphash.Seed
}

// pattern is an expression and the longest text that all its matches have, "" if there is none. To
// look for that text is a hundred times faster, and most programs lack it.
type pattern struct {
	re    *regexp.Regexp
	needs string
}

// Compile returns the patterns of a list.
func Compile(list []string) (*Patterns, error) {
	anyOf, err := regexp.Compile("(?:" + strings.Join(list, ")|(?:") + ")")
	if err != nil {
		return nil, err
	}
	p := &Patterns{any: anyOf, seed: maphash.MakeSeed()}
	for _, s := range list {
		re, err := regexp.Compile(s)
		if err != nil {
			return nil, err
		}
		tree, err := syntax.Parse(s, syntax.Perl)
		if err != nil {
			return nil, err
		}
		p.each = append(p.each, pattern{re, needed(tree)})
	}
	return p, nil
}

// In reports whether a text matches any of the patterns, however it is laid out: blanks do not
// count, and a line's end before a word is a semicolon. What matches plain, which may be nil, does
// not count either. The same sources are read for one call after another, so the answer is kept.
func (p *Patterns) In(text string, plain *Patterns) bool {
	const answer, full = 1, 2
	hash := maphash.Comparable(p.seed, asked{text, plain})&^answer | full
	kept := &p.seen[hash>>2%uint64(len(p.seen))]
	if was := kept.Load(); was&^answer == hash {
		return was&answer != 0
	}
	text = squeezed(text)
	is := p.match(text) && (plain == nil || p.match(plain.any.ReplaceAllString(text, "")))
	kept.Store(hash)
	if is {
		kept.Store(hash | answer)
	}
	return is
}

type asked struct {
	text  string
	plain *Patterns
}

func (p *Patterns) match(text string) bool {
	return slices.ContainsFunc(p.each, func(e pattern) bool { return strings.Contains(text, e.needs) && e.re.MatchString(text) })
}

// needed returns the longest text that all matches have.
func needed(re *syntax.Regexp) (longest string) {
	switch {
	case re.Op == syntax.OpLiteral && re.Flags&syntax.FoldCase == 0:
		return string(re.Rune)
	case re.Op == syntax.OpConcat || re.Op == syntax.OpCapture || re.Op == syntax.OpPlus:
		for _, sub := range re.Sub {
			if s := needed(sub); len(s) > len(longest) {
				longest = s
			}
		}
	}
	return longest
}

// squeezed returns a text without its blanks. A line's end before a word becomes a semicolon.
func squeezed(text string) string {
	var out strings.Builder
	out.Grow(len(text))
	ended := false
	for i := range len(text) {
		switch c := text[i]; {
		case c == '\n':
			ended = true
		case !strings.ContainsRune(" \t\r\f", rune(c)):
			if ended && isWord(c) {
				out.WriteByte(';')
			}
			out.WriteByte(c)
			ended = false
		}
	}
	return out.String()
}

func isWord(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z'
}
