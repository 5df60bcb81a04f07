package shell

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// maxPattern is the longest value, in bytes, on which patterns are tried.
const maxPattern = 4096

// A pattern is a compiled shell pattern.
type pattern []token

type token struct {
	kind tokenKind
	lit  rune
	set  string // the bracket expression, without the brackets
}

type tokenKind uint8

const (
	tokenLit tokenKind = iota
	tokenAny
	tokenStar
	tokenSet
)

// compile turns a word into a pattern; false if the word is not known or uses
// extended patterns.
func compile(w Word) (pattern, bool) {
	var out pattern
	for _, p := range w.Parts() {
		switch {
		case p.Kind == PartText:
			for _, c := range p.Text {
				out = append(out, token{lit: c})
			}
		case p.Kind == PartUnknown:
			return nil, false
		case p.Text == "*":
			out = append(out, token{kind: tokenStar})
		case p.Text == "?":
			out = append(out, token{kind: tokenAny})
		case p.Text[0] == '[':
			out = append(out, token{kind: tokenSet, set: p.Text[1 : len(p.Text)-1]})
		default:
			return nil, false
		}
	}
	return out, true
}

// match reports whether the pattern matches the whole of s.
func (p pattern) match(s string) bool {
	i, star, rest := 0, -1, ""
	for s != "" || i < len(p) {
		if i < len(p) && p[i].kind == tokenStar {
			star, rest = i, s
			i++
			continue
		}
		if s != "" && i < len(p) {
			c, n := utf8.DecodeRuneInString(s)
			if p[i].one(c) {
				s = s[n:]
				i++
				continue
			}
		}
		if star < 0 || rest == "" {
			return false
		}
		_, n := utf8.DecodeRuneInString(rest)
		rest = rest[n:]
		s, i = rest, star+1
	}
	return true
}

func (t token) one(c rune) bool {
	switch t.kind {
	case tokenLit:
		return t.lit == c
	case tokenSet:
		return inSet(t.set, c)
	default:
	}
	return true
}

// inSet reports whether a bracket expression matches a character.
func inSet(set string, c rune) bool {
	negated := set != "" && (set[0] == '!' || set[0] == '^')
	if negated {
		set = set[1:]
	}
	found := false
	for runes := []rune(set); len(runes) > 0; {
		in, n := setItem(runes, c)
		found = found || in
		runes = runes[n:]
	}
	return found != negated
}

// setItem reports whether the class, range or character that a set begins with
// matches a character, and how long it is.
func setItem(set []rune, c rune) (in bool, n int) {
	if len(set) > 1 && set[0] == '[' && set[1] == ':' {
		if name, _, ok := strings.Cut(string(set[2:]), ":]"); ok {
			return strings.ContainsRune(classMembers(name), c), len([]rune(name)) + 4
		}
	}
	if len(set) > 2 && set[1] == '-' {
		return set[0] <= c && c <= set[2], 3
	}
	return set[0] == c, 1
}

// classMembers are the ASCII members of a character class.
func classMembers(name string) string {
	const (
		digit = "0123456789"
		lower = "abcdefghijklmnopqrstuvwxyz"
		upper = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
		punct = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"
	)
	switch name {
	case "alnum":
		return digit + upper + lower
	case "alpha":
		return upper + lower
	case "digit":
		return digit
	case "lower":
		return lower
	case "upper":
		return upper
	case "punct":
		return punct
	case "space":
		return " \t\n\v\f\r"
	case "blank":
		return " \t"
	case "xdigit":
		return digit + "ABCDEFabcdef"
	case "graph":
		return digit + upper + lower + punct
	case "print":
		return " " + digit + upper + lower + punct
	}
	return ""
}

// trim evaluates ${x#p}, ${x##p}, ${x%p} and ${x%%p}.
func (r *reader) trim(pat, w Word, op syntax.ParExpOperator, name string) Word {
	p, ok := compile(pat)
	if !ok {
		return unknown(name)
	}
	suffix := op == syntax.RemSmallSuffix || op == syntax.RemLargeSuffix
	s, known := w.Text()
	if !known {
		return trimKnownEnd(p, w, suffix, name)
	}
	cost := len(p) + 1
	for _, t := range p {
		if t.kind == tokenStar {
			cost = (len(p) + 1) * len(s)
		}
	}
	if len(s) > maxPattern || !r.step(nil, len(s)*cost/8) {
		return unknown(name)
	}
	large := op == syntax.RemLargeSuffix || op == syntax.RemLargePrefix
	best := p.end(s, suffix, large)
	switch {
	case best < 0:
		return w
	case suffix:
		return Text(s[:len(s)-best])
	}
	return Text(s[best:])
}

// end is the length of the shortest or longest end of a text that the pattern
// matches, -1 if it matches none.
func (p pattern) end(s string, suffix, large bool) int {
	for i := 0; i <= len(s); i++ {
		n := i
		if large {
			n = len(s) - i
		}
		cut := s[:n]
		if suffix {
			cut = s[len(s)-n:]
		}
		if p.match(cut) {
			return n
		}
	}
	return -1
}

// trimKnownEnd removes literal text from the known end of a word.
func trimKnownEnd(p pattern, w Word, suffix bool, name string) Word {
	var lit strings.Builder
	for _, t := range p {
		if t.kind != tokenLit {
			return unknown(name)
		}
		lit.WriteRune(t.lit)
	}
	text := lit.String()
	if !suffix {
		if text != "" && strings.HasPrefix(w.Prefix(), text) {
			return w.cut(len(text))
		}
		return w
	}
	if text == "" || !strings.HasSuffix(w.Suffix(), text) {
		return w
	}
	parts := append([]Part(nil), w.parts...)
	last := &parts[len(parts)-1]
	last.Text = strings.TrimSuffix(last.Text, text)
	return NewWord(parts...)
}

// replace evaluates ${x/p/w}, ${x//p/w}, ${x/#p/w} and ${x/%p/w}.
func (r *reader) replace(f *frame, p *syntax.ParamExp, w Word) Word {
	pat, with := r.word(f, p.Repl.Orig), r.text(f, p.Repl.With)
	s, ok := w.Text()
	anchor := byte(0)
	if pre := pat.Prefix(); !p.Repl.All && pre != "" && strings.IndexByte("#%", pre[0]) >= 0 {
		anchor = pre[0]
		pat = pat.cut(1)
	}
	re, okPat := regexpOf(pat, anchor)
	if !ok || !okPat || len(s) > maxPattern || !r.step(f, 100+len(s)) {
		return unknown(p.Param.Value)
	}
	n := 1
	if p.Repl.All {
		n = -1
	}
	var out builder
	last := 0
	for _, m := range re.FindAllStringIndex(s, n) {
		if m[0] == m[1] && anchor == 0 {
			continue
		}
		out.addText(s[last:m[0]])
		out.addWord(with)
		last = m[1]
	}
	out.addText(s[last:])
	return out.word()
}

// regexpOf compiles a pattern for searching; it takes the longest match, as
// the shell does.
func regexpOf(pat Word, anchor byte) (*regexp.Regexp, bool) {
	compiled, ok := compile(pat)
	if !ok || len(compiled) == 0 && anchor == 0 {
		return nil, false
	}
	var b strings.Builder
	b.WriteString("(?s)")
	if anchor == '#' {
		b.WriteString("^")
	}
	b.WriteString("(?:")
	for _, t := range compiled {
		switch t.kind {
		case tokenLit:
			b.WriteString(regexp.QuoteMeta(string(t.lit)))
		case tokenAny:
			b.WriteByte('.')
		case tokenStar:
			b.WriteString(".*")
		case tokenSet:
			b.WriteString(classOf(t.set))
		}
	}
	b.WriteByte(')')
	if anchor == '%' {
		b.WriteString("$")
	}
	re, err := regexp.Compile(b.String())
	if err != nil {
		return nil, false
	}
	re.Longest()
	return re, true
}

// classOf spells a bracket expression for Go.
func classOf(set string) string {
	var b strings.Builder
	b.WriteByte('[')
	if set != "" && (set[0] == '!' || set[0] == '^') {
		b.WriteByte('^')
		set = set[1:]
	}
	for set != "" {
		if strings.HasPrefix(set, "[:") {
			if end := strings.Index(set, ":]"); end > 0 {
				b.WriteString(set[:end+2])
				set = set[end+2:]
				continue
			}
		}
		if strings.IndexByte(`\[]^&~`, set[0]) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(set[0])
		set = set[1:]
	}
	return b.String() + "]"
}
