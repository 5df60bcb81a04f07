// Package wording says in any language what the engine found. It keeps a sentence as English
// phrases and the things that they are about; each language has its own words for a phrase.
package wording

import (
	"bytes"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Sentence is a judge's message as data, so that it can be shown in other languages than the
// judge's English. It is a sequence of clauses.
type Sentence []Clause

// Phrase is the English of a clause, with a %s for each thing that it is about. It is the key
// under which other languages find their translation. Phrases in Go code are constants of
// this type, so that translators can find them.
type Phrase string

// Clause is a part of a sentence: a phrase with its things, or a thing itself.
type Clause struct {
	Phrase Phrase `json:"phrase,omitempty"`
	// Args are what the phrase is about.
	Args []Clause `json:"args,omitempty"`
	// Text is a thing as it stands in the call, in no language; it excludes a phrase.
	Text string `json:"text,omitempty"`
}

// Placeholder stands for a thing in a phrase.
const Placeholder = "%s"

// The phrases by which code recognizes what a clause is for.
const (
	Something       Phrase = "something"
	Outside         Phrase = "outside the workspace"
	Somewhere       Phrase = "in a folder that is not known"
	Unread          Phrase = "could not be read: %s"
	AsFarAsRead     Phrase = "(as far as it could be read)"
	MoreLikeThese   Phrase = "and %s more like these."
	AsAdministrator Phrase = "runs %s with the rights of the administrator"
	AsUser          Phrase = "runs %s with the rights of %s"
	ByTheTool       Phrase = "by the tool %s"
)

// Language translates a phrase; false if it has no translation.
type Language func(phrase Phrase) (string, bool)

// English returns phrases unchanged.
func English(phrase Phrase) (string, bool) { return string(phrase), true }

// String returns the sentence in English, as it would read within another.
func (s Sentence) String() string {
	var room sentenceRoom
	w := worder{language: English}
	return string(w.clauses(room[:0], s))
}

// In returns the sentence in a language, beginning with a capital; false if the language
// lacks one of its phrases.
func (s Sentence) In(language Language) (string, bool) {
	var room sentenceRoom
	w := worder{language: language}
	b := w.clauses(room[:0], s)
	first, n := utf8.DecodeRune(b)
	if upper := unicode.ToUpper(first); n > 0 && upper != first {
		var letter [utf8.UTFMax]byte
		b = slices.Replace(b, 0, n, utf8.AppendRune(letter[:0], upper)...)
	}
	return string(b), !w.lacks && len(b) > 0
}

// Each returns the sentence with every thing replaced.
func (s Sentence) Each(replaced func(text string) string) Sentence {
	if s == nil {
		return nil
	}
	out := make(Sentence, len(s))
	for i := range s {
		out[i] = Clause{Phrase: s[i].Phrase, Args: Sentence(s[i].Args).Each(replaced)}
		if s[i].Text != "" {
			out[i].Text = replaced(s[i].Text)
		}
	}
	return out
}

// String returns the clause in English.
func (c Clause) String() string { return Sentence{c}.String() }

// worder writes sentences in a language.
type worder struct {
	language Language
	lacks    bool
	// depth is the number of clauses that the written one is in.
	depth int
}

// sentenceRoom holds most sentences without an allocation.
type sentenceRoom [256]byte

// clauses appends clauses to b with blanks between them, except before punctuation.
func (w *worder) clauses(b []byte, s Sentence) []byte {
	for i := range s {
		before := len(b)
		if joined := s[i].Phrase != "" && strings.ContainsRune(",;:.", rune(s[i].Phrase[0])); before > 0 && !joined {
			b = append(b, ' ')
		}
		from := len(b)
		if b = w.clause(b, &s[i]); len(b) == from {
			b = b[:before]
		}
	}
	return b
}

// clause appends a clause to b; nothing if there is nothing to write.
func (w *worder) clause(b []byte, c *Clause) []byte {
	if c.Phrase == "" {
		return append(b, c.Text...)
	}
	from := len(b)
	for i, phrase := 0, w.phrase(c.Phrase); ; i++ {
		before, after, found := strings.Cut(phrase, Placeholder)
		if b = append(b, before...); !found {
			return b
		}
		phrase = after
		at := len(b)
		if i < len(c.Args) {
			w.depth++
			b = w.clause(b, &c.Args[i])
			w.depth--
		}
		if len(b) == at {
			b = w.closeGap(b, from, strings.TrimSpace(phrase) == "")
		}
	}
}

// closeGap removes the text that leads to a missing thing; from is where its clause begins. A
// single verb at the end says nothing, so it gets "something" as its object; in another clause it is
// a noun.
func (w *worder) closeGap(b []byte, from int, ends bool) []byte {
	before := bytes.TrimRight(b[from:], " :")
	b = b[:from+len(before)]
	if ends && w.depth == 0 && len(before) > 0 && !bytes.ContainsAny(before, " ’") { // an article is joined to its noun
		b = append(append(b, ' '), w.phrase(Something)...)
	}
	return b
}

// phrase translates a phrase. One without words needs no translation, but may have one: a language
// may set apart what stays in another.
func (w *worder) phrase(english Phrase) string {
	said, ok := w.language(english)
	if !ok {
		w.lacks = w.lacks || english.HasWords()
		return string(english)
	}
	return said
}

// HasWords reports whether the phrase has words of its own, which need translation.
func (p Phrase) HasWords() bool {
	for before, rest, found := "", string(p), true; found; {
		before, rest, found = strings.Cut(rest, Placeholder)
		if strings.ContainsFunc(before, unicode.IsLetter) {
			return true
		}
	}
	return false
}

// Say returns the clause of a phrase about things from the call.
func Say(p Phrase, texts ...string) Clause {
	c := Clause{Phrase: p}
	if len(texts) > 0 {
		c.Args = make([]Clause, len(texts))
	}
	for i, t := range texts {
		c.Args[i].Text = t
	}
	return c
}

// And returns the sentence with another clause appended.
func (s Sentence) And(p Phrase, texts ...string) Sentence {
	return append(slices.Clip(s), Say(p, texts...))
}

// About returns the sentence with the first occurrence of a thing replaced by a clause.
func (s Sentence) About(was string, is Clause) Sentence {
	for i := range s {
		c := s[i]
		if c.Phrase == "" && c.Text == was {
			c = is
		} else if args := Sentence(c.Args).About(was, is); !args.is(c.Args) {
			c.Args = args
		} else {
			continue
		}
		s = slices.Clone(s)
		s[i] = c
		return s
	}
	return s
}

// is reports whether two sentences are one and the same.
func (s Sentence) is(other Sentence) bool {
	return len(s) == len(other) && (len(s) == 0 || &s[0] == &other[0])
}

// Shortened returns the sentence with its longest things clipped until its English has at
// most longest bytes, or nothing in it is long any more.
func (s Sentence) Shortened(longest int, clip func(text string, most int) string) Sentence {
	for most := longest; ; most /= 2 {
		over := len(s.String()) - longest
		if over <= 0 || most < longest/16 {
			return s
		}
		s = s.Each(func(text string) string {
			if len(text) < most {
				return text
			}
			return clip(text, max(most/2, len(text)-over))
		})
	}
}

// Trim removes these characters from the end of the last thing, in place. Nobody else may
// share the sentence.
func (s Sentence) Trim(signs string) {
	for in := s; len(in) > 0; in = in[len(in)-1].Args {
		last := &in[len(in)-1]
		last.Text = strings.TrimRight(last.Text, signs)
	}
}

// Worded returns a table's message, with value(of) for each thing that it mentions; nil if the
// message is empty.
func Worded(message string, value func(of string) string) Sentence {
	if message == "" {
		return nil
	}
	phrase, of := Template(message)
	about := make([]string, len(of))
	for i := range of {
		about[i] = value(of[i])
	}
	return Sentence{Say(phrase, about...)}
}
