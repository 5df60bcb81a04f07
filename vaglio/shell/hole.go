package shell

import (
	"strconv"
	"strings"
)

// A hole is a mark in carried text that stands for a word which is no plain
// text. The marks are private-use characters that no shell gives a meaning.
const (
	holeOpen  = "\uf8ff"
	holeClose = "\uf8fe"
)

// splice writes a word as text to be parsed; what is not known, or active as a
// pattern, becomes a mark.
func (r *reader) splice(w Word) string {
	if w.parts == nil {
		return w.text
	}
	var b strings.Builder
	for _, p := range w.parts {
		if p.Kind == PartText {
			b.WriteString(p.Text)
			continue
		}
		b.WriteString(r.mark(Word{parts: []Part{p}}))
	}
	return b.String()
}

// mark returns the mark that stands for a whole word.
func (r *reader) mark(w Word) string {
	r.holes = append(r.holes, w)
	return holeOpen + strconv.Itoa(len(r.holes)-1) + holeClose
}

// takeHole returns the word of the mark that s begins with, and the rest.
func (r *reader) takeHole(s string) (w Word, rest string, ok bool) {
	s, ok = strings.CutPrefix(s, holeOpen)
	if !ok {
		return Word{}, s, false
	}
	digits, rest, ok := strings.Cut(s, holeClose)
	if !ok {
		return Word{}, s, false
	}
	n, err := strconv.Atoi(digits)
	if err != nil || n < 0 || n >= len(r.holes) {
		return Word{}, s, false
	}
	return r.holes[n], rest, true
}

// fillHoles turns text with marks back into a word.
func (r *reader) fillHoles(s string) Word {
	var b builder
	for {
		i := strings.Index(s, holeOpen)
		if i < 0 {
			b.addText(s)
			return b.word()
		}
		b.addText(s[:i])
		w, rest, ok := r.takeHole(s[i:])
		if !ok {
			b.addText(holeOpen)
			s = s[i+len(holeOpen):]
			continue
		}
		b.addWord(w)
		s = rest
	}
}

// quote writes a word as one shell word whose value is exactly the word's.
func (r *reader) quote(w Word) string {
	if s, ok := w.Text(); ok {
		return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
	}
	return "\"" + r.mark(w) + "\""
}

// spaced joins words with blanks, as eval does, to text that can be parsed.
func spaced(words []Word) Word { return joined(words, " ") }

// joined are words side by side, with a text between them.
func joined(words []Word, sep string) Word {
	var b builder
	for i, w := range words {
		if i > 0 {
			b.addText(sep)
		}
		b.addWord(w)
	}
	return b.word()
}
