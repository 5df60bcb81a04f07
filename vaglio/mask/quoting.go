package mask

import (
	"slices"
	"strings"
)

// quoting says of the quotation marks of a text which open a string and where that ends. Marks nest, as
// in ssh h "mysql -p'…'".
type quoting struct {
	read bool
	// strings are the strings that end, by what follows their first mark, in order.
	strings []extent
	// plain is how far the text is one in which a shell sees the same marks: it holds no
	// here-document and no substitution.
	plain int
}

// quoteMark is an open quotation mark, with the backslashes that a string around it requires.
// dollar reports that a dollar sign precedes it, and at is its place in strings.
type quoteMark struct {
	sign        byte
	escapes, at int
	dollar      bool
}

// quotes reads the quotation marks of the text, once.
func (sc *scanner) quotes() *quoting {
	q := &sc.marks
	if q.read {
		return q
	}
	s := sc.text
	*q = quoting{read: true, plain: beforeAny(s, "<<", "`", "$(", "${")}
	var open []quoteMark
	escapes := 0
	for at := 0; at < len(s); at++ {
		c := s[at]
		if c == '\\' {
			escapes++
			continue
		}
		switch {
		case c == '"' || c == '\'':
			open = q.mark(open, quoteMark{c, escapes, len(q.strings), strings.HasSuffix(s[:at], "$")}, at)
		case c == '#' && len(open) == 0 && (at == 0 || strings.IndexByte(" \t\n;|&(", s[at-1]) >= 0) && !strings.HasSuffix(s[:at+1], maskMiddle):
			at += max(0, span(s[at:], func(c byte) bool { return c != '\n' })-1) // a comment
		}
		escapes = 0
	}
	q.strings = slices.DeleteFunc(q.strings, func(p extent) bool { return p.to == 0 })
	return q
}

// mark takes the quotation mark at a place, and returns which are open behind it.
func (q *quoting) mark(open []quoteMark, m quoteMark, at int) []quoteMark {
	const most = 8 // strings in strings: a bound on the work
	escaped, odd := m.escapes > 0, m.escapes%2 == 1
	if m.sign == '\'' || !odd {
		m.escapes = 0
	}
	same := slices.IndexFunc(open, func(o quoteMark) bool { return o.sign == m.sign && o.escapes == m.escapes })
	switch {
	case same >= 0 && (m.sign == '"' || !odd || !open[same].dollar):
		q.strings[open[same].at].to = at - m.escapes
		return open[:same]
	case same >= 0, escaped && len(open) > 0 && m.sign == '\'', odd && len(open) == 0, len(open) == most:
		return open
	}
	q.strings = append(q.strings, extent{at + 1, 0})
	return append(open, m)
}

// closing returns where the string ends whose first mark is before a place, or -1 if none begins there.
func (sc *scanner) closing(from int) int {
	if from == 0 || strings.IndexByte(`"'`, sc.text[from-1]) < 0 { // most do not
		return -1
	}
	all := sc.quotes().strings
	i, ok := slices.BinarySearchFunc(all, from, func(p extent, from int) int { return p.from - from })
	if !ok {
		return -1
	}
	return all[i].to
}

// pastString returns what follows the string that begins at a place, with its mark, or -1 if none does.
func (sc *scanner) pastString(at int) int {
	mark := at + span(sc.text[at:], func(c byte) bool { return c == '\\' })
	if mark == len(sc.text) || sc.closing(mark+1) < 0 {
		return -1
	}
	return sc.closing(mark+1) + mark - at + 1
}

// goesOnTo returns where a secret ends that is known up to a place, if it is the beginning of a string,
// or of a word that goes on behind a backslash. A text that could be a command, too, is not hidden.
func (sc *scanner) goesOnTo(from, to int) int {
	end := sc.closing(from)
	if before, named := strings.CutSuffix(sc.text[:from], "="); end < 0 && named { // 'NAME=…'
		end = sc.closing(len(before) - len(dottedBefore(before)))
		if end >= 0 && strings.ContainsAny(sc.text[from:end], signs+",\n") {
			return to
		}
	}
	if end < 0 {
		return sc.bareTo(to)
	}
	const again = `'\''` // a mark between two strings
	for strings.HasPrefix(sc.text[end:], again) && sc.closing(end+len(again)) >= 0 {
		end = sc.closing(end + len(again))
	}
	if end <= to || substitutes(sc.text[from:end]) < end-from || commandLike(sc.text[from:end]) {
		return to
	}
	return end
}

// bareTo returns where a word without quotation marks ends that is known up to a place: behind what
// backslashes join to it, and a string.
func (sc *scanner) bareTo(to int) int {
	to += escapedSpan(sc.text[to:])
	if end := sc.pastString(to); end >= 0 && sc.text[to] != '\\' && !strings.ContainsAny(sc.text[to:end], signs+"`\n") {
		return end
	}
	return to
}

// endOfWord returns where a secret ends that is known up to a place, as the end of the word of a
// command from at to end. The secret may hold anything where a shell is known to see one word.
func (sc *scanner) endOfWord(at, from, to, end int) int {
	if !sc.marksPair(at, end) {
		return to
	}
	if end = sc.beforeMarks(at, from, end); end <= to {
		return to
	}
	text := sc.text[from:end]
	text = text[:substitutes(text)]
	for strings.HasSuffix(text, `\n`) || strings.HasSuffix(text, `\r`) { // Enter
		text = text[:len(text)-len(`\n`)]
	}
	if end > sc.quotes().plain && commandLike(text) || strings.ContainsAny(text, " \t\n") && strings.ContainsAny(text, "&|<>") {
		return to
	}
	return max(to, from+len(text))
}

// beforeMarks returns where a word that ends at end ends without the marks of the strings that begin
// between at and from.
func (sc *scanner) beforeMarks(at, from, end int) int {
	for i := at; i < from && end > from; i++ {
		if strings.IndexByte(`"'`, sc.text[i]) < 0 || sc.text[end-1] != sc.text[i] {
			continue
		}
		end--
		if strings.HasSuffix(sc.text[:i], `\`) {
			end = from + len(strings.TrimRight(sc.text[from:end], `\`))
		}
	}
	return end
}

// marksPair reports whether each quotation mark between two places belongs to a string that begins there.
func (sc *scanner) marksPair(at, end int) bool {
	for ; at < end; at++ {
		past := sc.pastString(at)
		switch c := sc.text[at]; {
		case past > at:
			at = past - 1
		case c == '\\':
			at++
		case c == '"' || c == '\'':
			return false
		}
	}
	return at == end
}

// substitutes returns where in a text a shell would put something else, or a mask stands, or its length.
func substitutes(s string) int {
	return beforeAny(s, "`", "$(", "${", strings.TrimSuffix(maskPrefix, " "))
}

// beforeAny returns where the first of some texts begins in s, or its length.
func beforeAny(s string, texts ...string) int {
	for _, other := range texts {
		s, _, _ = strings.Cut(s, other)
	}
	return len(s)
}

// escapedSpan returns the length of what follows a bare word by backslashes: \ more\ words.
func escapedSpan(s string) (n int) {
	for n+2 < len(s) && s[n] == '\\' && strings.IndexByte(" ;$!#*?()[]{}~", s[n+1]) >= 0 && inertBare(s[n+2]) {
		n += 2
		n += inertSpan(s[n:], inertBare)
	}
	return n
}
