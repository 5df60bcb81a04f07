package shell

import (
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
	}
	return true
}

// inSet reports whether a bracket expression matches a character.
func inSet(set string, c rune) bool {
	negated := false
	if set != "" && (set[0] == '!' || set[0] == '^') {
		negated = true
		set = set[1:]
	}
	found := false
	runes := []rune(set)
	for i := 0; i < len(runes); i++ {
		if runes[i] == '[' && i+1 < len(runes) && runes[i+1] == ':' {
			if end := strings.Index(string(runes[i+2:]), ":]"); end >= 0 {
				found = found || inClass(string(runes[i+2:])[:end], c)
				i += 2 + len([]rune(string(runes[i+2:])[:end])) + 1
				continue
			}
		}
		if i+2 < len(runes) && runes[i+1] == '-' {
			found = found || runes[i] <= c && c <= runes[i+2]
			i += 2
			continue
		}
		found = found || runes[i] == c
	}
	return found != negated
}

func inClass(name string, c rune) bool {
	for _, m := range classMembers(name) {
		if m == c {
			return true
		}
	}
	return false
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
	if len(s) > maxPattern || !r.step(nil, len(s)*len(p)/16) {
		return unknown(name)
	}
	large := op == syntax.RemLargeSuffix || op == syntax.RemLargePrefix
	best := -1
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
			best = n
			break
		}
	}
	switch {
	case best < 0:
		return w
	case suffix:
		return Text(s[:len(s)-best])
	}
	return Text(s[best:])
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
	if pre := pat.Prefix(); !p.Repl.All && pre != "" && (pre[0] == '#' || pre[0] == '%') {
		anchor = pre[0]
		pat = pat.cut(1)
	}
	compiled, okPat := compile(pat)
	if !ok || !okPat || len(s) > maxPattern || !r.step(f, len(s)*len(s)/64+1) {
		return unknown(p.Param.Value)
	}
	var out builder
	for i := 0; i <= len(s); {
		n := longest(compiled, s[i:], anchor)
		if n <= 0 && anchor == 0 || n < 0 || anchor == '#' && i > 0 {
			if i < len(s) {
				out.addText(s[i : i+1])
			}
			i++
			continue
		}
		out.addWord(with)
		i += n
		if !p.Repl.All {
			if i < len(s) {
				out.addText(s[i:])
			}
			break
		}
	}
	return out.word()
}

// longest is the length of the longest match at the start of s, or -1.
func longest(p pattern, s string, anchor byte) int {
	if anchor == '%' {
		if p.match(s) {
			return len(s)
		}
		return -1
	}
	simple := true
	for _, t := range p {
		simple = simple && t.kind != tokenStar
	}
	if simple {
		rest := s
		for _, t := range p {
			c, n := utf8.DecodeRuneInString(rest)
			if n == 0 || !t.one(c) {
				return -1
			}
			rest = rest[n:]
		}
		return len(s) - len(rest)
	}
	for n := len(s); n >= 0; n-- {
		if p.match(s[:n]) {
			return n
		}
	}
	return -1
}
