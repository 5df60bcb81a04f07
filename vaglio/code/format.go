package code

import (
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/metnos/vaglio/vaglio/shell"
)

// The places of a text that a format fills, that match names, or that call.
var (
	braceHoles   = regexp.MustCompile(`\{\{|\}\}|\{[^{}]*\}`)
	percentHoles = regexp.MustCompile(`%(?:\(\w*\))?[-+ #0-9.*]*[^-+ #0-9.*]`)
	dollarHoles  = regexp.MustCompile(`\$\w+|\$\{\w*\}`)
	serialised   = regexp.MustCompile(`(?:!!python/object/(?:apply|new):([\w.]+)\s*|^c(\w+)\n(\w+)\n\([SVU])([^\n]*)`)
	globs        = regexp.MustCompile(`\*|\?|\[[^\]]*\]?`)
)

// filled puts values into the holes of a text, into all or the first most.
func (p *program) filled(s string, holes *regexp.Regexp, most int, with func(hole string) value) value {
	out, from := text(""), 0
	for _, at := range holes.FindAllStringIndex(s, most) {
		out = p.glue(p.glue(out, text(s[from:at[0]])), with(s[at[0]:at[1]]))
		from = at[1]
	}
	return p.glue(out, text(s[from:]))
}

// format fills {}, {0} and {name}.
func format(p *program, args []value, named map[string]value) value {
	s, ok := first(args).text()
	if !ok {
		return first(args)
	}
	next := 0
	return p.filled(s, braceHoles, -1, func(hole string) value {
		if len(hole) == 2 && hole != "{}" {
			return text(hole[:1])
		}
		key, spec, _ := strings.Cut(hole[1:len(hole)-1], ":")
		key, _, _ = strings.Cut(key, "!")
		v, found := named[key]
		if n, err := strconv.Atoi(key); err == nil && n >= 0 {
			v = nth(args, n+1)
		} else if key == "" {
			next++
			v = nth(args, next)
		} else if !found {
			v = unknown(key)
		}
		if spec == "c" {
			v = characters([]value{v})
		}
		return v
	})
}

// substitute fills $name and ${name}.
func substitute(p *program, args []value, named map[string]value) value {
	s, ok := first(args).text()
	if !ok {
		return unknown("substitute()")
	}
	return p.filled(s, dollarHoles, -1, func(hole string) value {
		if v, ok := named[strings.Trim(hole, "${}")]; ok {
			return v
		}
		return unknown(hole)
	})
}

// formatted fills a format of printf, and %(name)s from a map.
func (p *program) formatted(format value, args []value) value {
	s, ok := format.text()
	if !ok {
		return format
	}
	var flat []value
	for _, a := range args {
		flat = spreadInto(flat, a)
	}
	n := -1
	return p.filled(s, percentHoles, -1, func(hole string) value {
		letter := hole[len(hole)-1]
		if letter == '%' {
			return text("%")
		}
		v, found := value{}, false
		if name, _, ok := strings.Cut(strings.TrimPrefix(hole, "%("), ")"); ok {
			v, found = first(flat).field(name)
		}
		if !found {
			n++
			v = nth(flat, n)
		}
		if i, isInt := v.int(); letter == 'c' && isInt && i > 9 {
			return characters([]value{v})
		}
		if v.multi() {
			return unknown("")
		}
		return v
	})
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

// substituted reads s/…/…/ and tr/…/…/, which change what =~ stands behind or $_.
func (p *program) substituted() value {
	table := p.take().text != "s///"
	if !p.is("(") {
		return value{}
	}
	p.take()
	args := p.items(")")
	v := p.subject
	if len(v.alts) == 0 && v.holder == "" {
		v = p.vars["$_"]
		v.holder = "$_"
	}
	holder := v.holder
	pattern, _ := first(args).text()
	if table {
		v = v.each(always(translator(pattern, nth(args, 1).word().Prefix()).Replace))
	} else {
		flags, _ := nth(args, 2).text()
		v = p.matched(v, pattern, flags, nth(args, 1))
	}
	p.store(holder, v)
	v.holder = holder
	return v
}

// matched puts a text in the place of what a pattern matches.
func (p *program) matched(v value, pattern, flags string, with value) value {
	re, err := regexp.Compile(pattern)
	to, known := with.text()
	most := 1
	if strings.Contains(flags, "g") {
		most = -1
	}
	return v.each(func(s string) (string, bool) {
		if err != nil || !known || strings.Contains(to, "$") {
			return "", false
		}
		return p.filled(s, re, most, func(string) value { return with }).text()
	})
}

// translator puts the characters of one list in the place of another's.
func translator(from, to string) *strings.Replacer {
	a, b := []rune(ranges(from)), []rune(ranges(to))
	var pairs []string
	for i := range min(len(a), len(b)) {
		pairs = append(pairs, string(a[i]), string(b[i]))
	}
	return strings.NewReplacer(pairs...)
}

// maketrans is the table of translate: what stands for each character.
func maketrans(_ *program, v value, rest []value) value {
	if v.multi() {
		return v
	}
	from, _ := v.text()
	to := splitAt(first(rest), "").list
	out := value{kind: kindMap}
	for i, c := range strings.Split(from, "") {
		out = out.with(c, nth(to, i))
	}
	return out
}

func translate(_ *program, v value, rest []value) value {
	table := first(rest)
	var pairs []string
	for i, k := range table.keys {
		to := table.list[i]
		if to.kind == kindNumber {
			to = characters([]value{to})
		}
		s, ok := to.text()
		if !ok && to.kind != kindNone {
			return unknown("translate()")
		}
		if n, err := strconv.Atoi(k); err == nil && n > 9 {
			k = string(rune(n)) //nolint:gosec // What is no character becomes the replacement.
		}
		pairs = append(pairs, k, s)
	}
	if len(pairs) == 0 {
		return unknown("translate()")
	}
	return v.each(always(strings.NewReplacer(pairs...).Replace))
}

// ranges spells a-z of tr out.
func ranges(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if i+2 < len(s) && s[i+1] == '-' {
			for c := s[i]; c < s[i+2]; c++ {
				b.WriteByte(c)
			}
			i++
			continue
		}
		b.WriteByte(s[i])
	}
	return b.String()
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

// expanded is a path with the home folder in place of its tilde.
func (p *program) expanded(v value) value {
	out := value{kind: v.kind}
	for _, w := range v.words() {
		s := w.Prefix()
		for _, mark := range [...]string{"~", "$HOME", "${HOME}"} {
			if rest, ok := strings.CutPrefix(s, mark); ok && (rest == "" || rest[0] == '/') {
				w = shell.Glue(p.in.Home(""), w.Cut(len(s)-len(rest)))
				break
			}
		}
		out.alts = append(out.alts, w)
	}
	return out
}
