package shell

import "github.com/metnos/vaglio/vaglio/shell/word"

// Words are a subject of their own. What a shell tells of consists of them, so that whoever reads
// it finds them here.
type (
	// Word is what one word of a command may be: static text, or a sequence of parts some of which
	// are unknown.
	Word = word.Word
	// Part is one section of a [Word].
	Part = word.Part
	// PartKind tells the parts of a [Word] apart.
	PartKind = word.PartKind
)

// The kinds of parts, and where the root of a repository comes from.
const (
	PartText    = word.PartText
	PartGlob    = word.PartGlob
	PartUnknown = word.PartUnknown
	Toplevel    = word.Toplevel
)

// Text returns the word for a static text.
func Text(s string) Word { return word.Text(s) }

// NewWord returns the word that consists of the parts.
func NewWord(parts ...Part) Word { return word.New(parts...) }

// Glue returns the concatenation of the words.
func Glue(words ...Word) Word { return word.Glue(words...) }

// Spaced joins words with blanks, as eval does, into text that can be parsed.
func Spaced(words []Word) Word { return word.Join(words, " ") }

// Globs splits a file name pattern into its parts.
func Globs(s string) []Part { return word.Globs(s) }

// Texts returns the words for static texts.
func Texts(list []string) []Word {
	words := make([]Word, len(list))
	for i, s := range list {
		words[i] = Text(s)
	}
	return words
}

// TooMuch reports whether the problem is that there is more than is read.
func (k ProblemKind) TooMuch() bool {
	return k == ProblemTooBig || k == ProblemTooDeep || k == ProblemTooCostly
}

// unread reports whether the problem is text that no reader understands, or more than is read.
func (k ProblemKind) unread() bool {
	return k == ProblemUnparsable || k == ProblemUnread || k.TooMuch()
}
