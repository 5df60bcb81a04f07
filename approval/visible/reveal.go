// Package visible shows text written by somebody else in a way that cannot mislead its
// readers.
package visible

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/metnos/vaglio/vaglio/mask"
)

// RunKind says what a [Run] shows.
type RunKind int

// The kinds of runs.
const (
	// Plain is text as it was written: it is what it looks like.
	Plain RunKind = iota
	// Hidden stands for something that would be invisible, or would change how its
	// neighbours look.
	Hidden
	// Lookalike stands for a character that is easily mistaken for another.
	Lookalike
	// Space stands for unusual spaces, tabs, and padding that could push text out of sight.
	Space
)

// Run is a piece of revealed text.
type Run struct {
	// Text is what to show. Except for [Plain], it is a mark such as ⟨U+202E⟩ that names
	// what was there.
	Text string
	Kind RunKind
	// Note explains the mark in words; empty for plain text.
	Note string
}

// The longest padding that is shown as it is, in characters. Trailing spaces are always
// marked.
const (
	maxSpaces   = 32
	maxNewlines = 3
	maxRepeats  = 3
)

// Runs splits text written by somebody else into runs that a person can read without being
// misled: whatever is invisible, changes the reading direction, pads, or looks like
// something else is replaced by a visible mark. Different texts never give the same runs,
// and no run contains an invisible character, except single spaces and line breaks between
// plain text.
func Runs(s string) []Run {
	r := revealer{text: s}
	for r.at < len(s) {
		switch c := s[r.at]; {
		case c == ' ':
			r.spaces()
		case c == '\n':
			r.newlines()
		case c < utf8.RuneSelf && !isASCIIWord(c):
			r.ascii(c)
		default:
			r.piece()
		}
	}
	r.flush(len(s))
	return r.runs
}

// Text returns [Runs] as one text. Different texts never give the same result.
func Text(s string) string {
	runs := Runs(s)
	if len(runs) == 1 {
		return runs[0].Text
	}
	var b strings.Builder
	for _, r := range runs {
		b.WriteString(r.Text)
	}
	return b.String()
}

// Line returns the line of [Text] on which the nth line of s is, both counted from 1: padding takes fewer lines there.
func Line(s string, n int) int {
	line, at := 1, 0
	for n > 1 {
		next := strings.IndexByte(s[at:], '\n')
		if next < 0 {
			break
		}
		at += next
		breaks := len(s) - at - len(strings.TrimLeft(s[at:], "\n"))
		switch {
		case at == 0:
		case breaks <= maxNewlines:
			line += breaks
		default:
			line += 2
		}
		at, n = at+breaks, n-breaks
	}
	return line
}

// revealer walks through a text. The text between plain and at is plain.
type revealer struct {
	text      string
	plain, at int
	runs      []Run
}

// flush ends the plain run at an offset.
func (r *revealer) flush(end int) {
	if r.plain < end {
		r.runs = append(r.runs, Run{Text: r.text[r.plain:end]})
	}
	r.plain = end
}

// mark replaces the next n bytes with a run.
func (r *revealer) mark(n int, run Run) {
	r.flush(r.at)
	r.at += n
	r.plain = r.at
	r.runs = append(r.runs, run)
}

// repeats counts how often the n bytes at the current position occur in a row.
func (r *revealer) repeats(n int) int {
	unit, rest := r.text[r.at:r.at+n], r.text[r.at:]
	count := 0
	for strings.HasPrefix(rest, unit) {
		count++
		rest = rest[n:]
	}
	return count
}

func (r *revealer) spaces() {
	n := r.repeats(1)
	end := r.at + n
	trailing := end == len(r.text) || r.text[end] == '\n'
	if r.at > 0 && !trailing && n <= maxSpaces {
		r.at = end
		return
	}
	r.mark(n, Run{"⟨" + many(n, "space") + "⟩", Space, "padding"})
}

func (r *revealer) newlines() {
	n := r.repeats(1)
	switch {
	case r.at == 0 || r.at+n == len(r.text):
		r.mark(n, Run{"⟨" + many(n, "newline") + "⟩", Space, "line ends"})
	case n <= maxNewlines:
		r.at += n
	default:
		r.at++
		r.mark(n-2, Run{"⟨" + many(n-1, "blank line") + "⟩", Space, "padding"})
		r.at++
	}
}

func many(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// ascii handles one ASCII character that is not part of a word.
func (r *revealer) ascii(c byte) {
	switch {
	case c == '\t':
		r.repeated(1, "tab", Run{Kind: Space, Note: "tab"})
	case c < ' ' || c == 0x7F:
		r.unseen(rune(c), 1)
	default:
		r.at++
	}
}

// unseen marks a character by its code point.
func (r *revealer) unseen(c rune, size int) {
	kind := Hidden
	if unicode.In(c, unicode.Z) || c == brailleBlank {
		kind = Space
	}
	r.repeated(size, fmt.Sprintf("U+%04X", c), Run{Kind: kind, Note: unseenNote(c)})
}

// repeated marks a character; several equal ones in a row get one mark.
func (r *revealer) repeated(size int, name string, run Run) {
	n := r.repeats(size)
	if n <= maxRepeats {
		n = 1
	} else {
		name = fmt.Sprintf("%s ×%d", name, n)
	}
	run.Text = "⟨" + name + "⟩"
	r.mark(n*size, run)
}

// piece handles a word, or one character that is not part of a word.
func (r *revealer) piece() {
	if end, odd := r.wordEnd(); end > r.at {
		if !odd {
			r.at = end
			return
		}
		r.word(end)
		return
	}
	c, size := utf8.DecodeRuneInString(r.text[r.at:])
	switch {
	case c == utf8.RuneError && size == 1:
		r.repeated(1, fmt.Sprintf("0x%02X", r.text[r.at]), Run{Kind: Hidden, Note: "byte that is not UTF-8"})
	case c == openMark || c == closeMark:
		r.repeated(size, fmt.Sprintf("U+%04X", c), Run{Kind: Lookalike, Note: "a bracket that these marks are written with"})
	case unseen(c) || unicode.IsMark(c):
		r.unseen(c, size)
	default:
		r.symbol(c, size)
	}
}

// symbol handles a visible character that is not part of a word.
func (r *revealer) symbol(c rune, size int) {
	switch n := mask.Shape(r.text[r.at:]); {
	case n > 0:
		r.at += n
	case c == mask.Open || c == mask.Close || misleading(c) && !r.punctuates(c) || r.dash(c, size) || r.apostrophe(c, size):
		r.lookalike(c, size, misleadingNote(c))
	default:
		r.at += size
	}
}

// wordEnd returns the end of the word that begins here, and whether it contains anything
// but ASCII.
func (r *revealer) wordEnd() (end int, odd bool) {
	end = r.at
	for end < len(r.text) {
		c, size := utf8.DecodeRuneInString(r.text[end:])
		if !inWord(c) || (end == r.at && unicode.IsMark(c)) {
			break
		}
		end += size
		odd = odd || size > 1
	}
	return end, odd
}

// word handles a word with non-ASCII letters, one character at a time.
func (r *revealer) word(end int) {
	scripts := scriptsOf(r.text[r.at:end])
	for r.at < end {
		segment := norm.NFC.NextBoundaryInString(r.text[r.at:end], true)
		stable := norm.NFC.IsNormalString(r.text[r.at : r.at+segment])
		base, last := rune(0), r.at+segment
		for r.at < last {
			c, size := utf8.DecodeRuneInString(r.text[r.at:])
			first := base == 0
			if first {
				base = c
			}
			switch {
			case !first && (!stable || !belongs(base, c)):
				r.unseen(c, size)
			case misleading(c):
				r.lookalike(c, size, misleadingNote(c))
			case scripts.misleads(c):
				r.lookalike(c, size, scripts.note(c))
			default:
				r.at += size
			}
		}
	}
}

func (r *revealer) lookalike(c rune, size int, note string) {
	r.mark(size, Run{fmt.Sprintf("⟨U+%04X %c⟩", c, c), Lookalike, note})
}

// dash reports whether a dash other than "-" starts what looks like a command option.
// Within prose it is left alone.
func (r *revealer) dash(c rune, size int) bool {
	if c < 0x2012 || c > 0x2015 {
		return false
	}
	before, _ := utf8.DecodeLastRuneInString(r.text[:r.at])
	after, _ := utf8.DecodeRuneInString(r.text[r.at+size:])
	opens := r.at == 0 || !inWord(before)
	return opens && (inWord(after) && !unicode.IsDigit(after) || after == '-' || after >= 0x2010 && after <= 0x2015)
}

// punctuates reports whether a wide mark ends or joins parts of a sentence in Chinese, Japanese or Korean, where it is
// how everyone writes: behind one of their letters it is not taken for that of a command. A path or an option has none.
func (r *revealer) punctuates(c rune) bool {
	const wide = "！，：；？（）"
	near := r.text[max(0, r.at-(maxRepeats+1)*len("！")):r.at] // no more marks in a row than that
	before, _ := utf8.DecodeLastRuneInString(strings.TrimRight(near, wide))
	return strings.ContainsRune(wide, c) && unicode.In(before, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul)
}

// apostrophe reports whether a curly quotation mark is anywhere but between two letters.
func (r *revealer) apostrophe(c rune, size int) bool {
	if c != 0x2018 && c != 0x2019 {
		return false
	}
	before, _ := utf8.DecodeLastRuneInString(r.text[:r.at])
	after, _ := utf8.DecodeRuneInString(r.text[r.at+size:])
	return !unicode.IsLetter(before) || !unicode.IsLetter(after)
}

func isASCIIWord(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}
