package code

import (
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/metnos/vaglio/vaglio/shell"
)

// The places of a text that a format fills.
var (
	braceHoles   = regexp.MustCompile(`\{\{|\}\}|\{[^{}]*\}`)
	percentHoles = regexp.MustCompile(`%(?:\(\w*\))?[-+ #0-9.*]*[^-+ #0-9.*]`)
	holeKey      = regexp.MustCompile(`^(?:\{|%\()(\w*)`)
)

// filled puts arguments into the holes of a text: {}, {0}, {name}, %s, %(name)s.
func (p *program) filled(format value, holes *regexp.Regexp, args []value, named map[string]value) value {
	s, ok := format.text()
	if !ok {
		return format
	}
	var flat []value
	for _, a := range args {
		flat = spreadInto(flat, a)
	}
	next := -1
	with := func(hole string) value {
		var v value
		key, found := "", false
		if m := holeKey.FindStringSubmatch(hole); m != nil {
			key = m[1]
		}
		n, err := strconv.Atoi(key)
		switch {
		case len(hole) == 2 && hole[0] == hole[1]:
			return text(hole[:1])
		case hole[0] == '%':
			v, found = first(flat).field(key)
		case err == nil:
			v, found = nth(flat, n), true
		default:
			v, found = named[key]
		}
		if next++; !found {
			v = nth(flat, next)
		}
		return shown(v, strings.HasSuffix(strings.TrimRight(hole, "}"), "c"))
	}
	out, from := text(""), 0
	for _, at := range holes.FindAllStringIndex(s, -1) {
		out = p.glue(p.glue(out, text(s[from:at[0]])), with(s[at[0]:at[1]]))
		from = at[1]
	}
	return p.glue(out, text(s[from:]))
}

// shown is what a format makes of a value: of the number of a character, that.
func shown(v value, character bool) value {
	if i, ok := v.int(); ok && i > 9 && character {
		return characters([]value{v})
	}
	if v.multi() {
		return unknown("")
	}
	return v
}

// formatted fills a format of printf.
func (p *program) formatted(format value, args []value) value {
	return p.filled(format, percentHoles, args, nil)
}

// replaced puts a text in the place of another.
func replaced(p *program, v value, rest []value) value {
	from, ok := first(rest).text()
	to := nth(rest, 1)
	if !ok || v.multi() || to.fn != nil {
		return textOf(unknownWord("replace()"))
	}
	out := value{kind: v.kind}
	for _, w := range v.words() {
		s, known := w.Text()
		switch {
		case !known:
			out.alts = append(out.alts, w)
		case from == "" || !p.spend(len(s)/bytesPerStep+1):
			out.alts = append(out.alts, unknownWord("replace()"))
		default:
			out.alts = append(out.alts, joinWith(p, to, splitAt(text(s), from).list).words()...)
		}
	}
	out.alts = capped(out.alts)
	return out
}

// substituted reads s/…/…/ and tr/…/…/: what =~ stands behind, or $_, is not
// known from there on.
func (p *program) substituted() value {
	p.take()
	if p.takeIf(p.is("(")) {
		p.items(")")
	}
	v := p.subject
	if len(v.alts) == 0 && v.holder == "" {
		v = p.vars["$_"]
		v.holder = "$_"
	}
	out := value{alts: []shell.Word{unknownWord("s///")}, holder: v.holder}
	if v.word().Remote() {
		out.alts = remote("s///").alts
	}
	p.store(v.holder, out)
	return out
}

// escapes are the characters that are written as their numbers: \x41, \u0041,
// \u{41}, \101.
var escapes = regexp.MustCompile(`^(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})|[xu]\{([0-9a-fA-F]+)\}|([0-7]{1,3}))`)

// unescape decodes the escapes that the languages have in common.
func unescape(s string) string {
	var b strings.Builder
	for {
		before, rest, ok := strings.Cut(s, `\`)
		b.WriteString(before)
		if !ok || rest == "" {
			b.WriteString(s[len(before):])
			return b.String()
		}
		s = rest[1:]
		at := strings.IndexByte("abefnrtv", rest[0])
		switch m := escapes.FindStringSubmatch(rest); {
		case m != nil:
			b.WriteString(character(m))
			s = rest[len(m[0]):]
		case at >= 0:
			b.WriteByte("\a\b\x1b\f\n\r\t\v"[at])
		case rest[0] != '\n':
			b.WriteByte(rest[0])
		}
	}
}

// character is what an escape of a number stands for: a byte for two digits,
// a character for others.
func character(m []string) string {
	base, digits := 16, m[1]+m[2]+m[3]+m[4]
	if digits == "" {
		base, digits = 8, m[5]
	}
	n, err := strconv.ParseUint(digits, base, 32)
	switch {
	case err != nil || n > utf8.MaxRune:
		return m[0]
	case m[1] != "" && n > 0x7f:
		return string([]byte{byte(n)}) //nolint:gosec // Two digits.
	}
	return string(rune(n))
}
