// Package word holds what one word of a command, or one value of a program, may be: a text of which some parts may be patterns or unknown. It knows how such
// texts are joined, split, matched and printed, and nothing of where they come from.
package word

import (
	"slices"
	"strings"

	"github.com/metnos/vaglio/vaglio/shell/filter"
)

// Word is what one word of a command may be: static text, or a sequence of parts some of which are unknown. The zero Word is the empty text.
type Word struct {
	text  string
	parts []Part // not nil if some part is not plain text
}

// PartKind tells the parts of a [Word] apart.
type PartKind uint8

// The kinds of parts.
const (
	// PartText is static text.
	PartText PartKind = iota
	// PartGlob is one active metacharacter of a pattern: *, ?, a bracket expression or an extended pattern such as @(a|b). Text is its spelling.
	PartGlob
	// PartUnknown is text that cannot be known.
	PartUnknown
)

// Part is one section of a [Word].
type Part struct {
	Kind PartKind
	// MayBeEmpty says that an unknown part can be the empty text.
	MayBeEmpty bool
	// Splits says that an unknown part is unquoted, so that it may become several words or none.
	Splits bool
	// Remote says that an unknown part was fetched from a network.
	Remote bool
	// Level says that an unknown part is a name or a number that a program prints: no step of it leads up. Of a
	// pattern it says that it stands for one such name, and matches nothing that was there.
	Level bool
	// Default says that an unknown part is a variable of the environment for which there is a default, with which the same words are read once more.
	Default bool
	// Text is the text or the pattern; "" for an unknown part.
	Text string
	// Name is the variable that an unknown part comes from, "~name" for the home of another user, "" if it comes from elsewhere.
	Name string
	// From is the command whose output an unknown part is, if any.
	From string
	// Among are the names that the command was given, one a line, if it prints some of them.
	Among string
	// Some says that an unknown part is some of the lines that From prints, not all.
	Some bool
	// File is the path of the file whose content an unknown part is, if any.
	File string
	// Made says what an unknown part was made of, if that is a file's content.
	Made *Made
}

// Made is the content of a file after it went through filters.
type Made struct {
	File    string
	Through []*filter.Filter
}

// MaxSize is the size in bytes of the longest word that is kept.
const MaxSize = 1 << 20

// Toplevel is where the root of the repository that holds the current folder comes from.
const Toplevel = "toplevel"

// Text returns the word for a static text.
func Text(s string) Word { return Word{text: s} }

// Texts returns the words for static texts.
func Texts(list []string) []Word {
	words := make([]Word, len(list))
	for i, s := range list {
		words[i] = Text(s)
	}
	return words
}

// New returns the word that consists of the parts.
func New(parts ...Part) Word {
	if len(parts) == 1 && parts[0].Kind == PartUnknown {
		return Word{parts: parts}
	}
	var b Builder
	for _, p := range parts {
		b.Add(p)
	}
	return b.Word()
}

// Unknown returns a word of which nothing is known but the variable that it comes from, if any.
func Unknown(name string) Word {
	return Word{parts: []Part{{Kind: PartUnknown, Name: name, MayBeEmpty: true}}}
}

// OutputOf returns the unknown output of a command.
func OutputOf(command string) Word {
	return Word{parts: []Part{{Kind: PartUnknown, From: command, MayBeEmpty: true}}}
}

// NotEmpty is like [Unknown] for a text that is never empty, such as a home or a number.
func NotEmpty(name string) Word {
	return New(Part{Kind: PartUnknown, Name: name})
}

// Text returns the word's text, and whether it is static and free of active pattern characters.
func (w Word) Text() (string, bool) { return w.text, w.parts == nil }

// Known reports whether the word is static text.
func (w Word) Known() bool { return w.parts == nil }

// Only returns the part that the whole word consists of, if that is not static text.
func (w Word) Only() (Part, bool) {
	if len(w.parts) != 1 {
		return Part{}, false
	}
	return w.parts[0], true
}

// Fetched returns the word with what is unknown of it marked as come from a network.
func (w Word) Fetched() Word {
	w.parts = slices.Clone(w.parts)
	for i := range w.parts {
		w.parts[i].Remote = w.parts[i].Remote || w.parts[i].Kind == PartUnknown
	}
	return w
}

// AsFolder returns the word as what begins a path: if it is empty, the current folder, not the root.
func (w Word) AsFolder() Word {
	if !w.IsUnknown() {
		return w
	}
	parts := slices.Clone(w.parts)
	parts[0].MayBeEmpty = false
	return New(parts...)
}

// Is reports whether the word is exactly the static text.
func (w Word) Is(s string) bool { return w.parts == nil && w.text == s }

// Parts returns the word's parts; none for the empty text.
func (w Word) Parts() []Part {
	if w.parts != nil {
		return w.parts
	}
	if w.text == "" {
		return nil
	}
	return []Part{{Text: w.text}}
}

// Prefix returns the static text that the word certainly begins with.
func (w Word) Prefix() string {
	if w.parts == nil {
		return w.text
	}
	if p := w.parts[0]; p.Kind == PartText {
		return p.Text
	}
	return ""
}

// Suffix returns the static text that the word certainly ends with.
func (w Word) Suffix() string {
	if w.parts == nil {
		return w.text
	}
	if p := w.parts[len(w.parts)-1]; p.Kind == PartText {
		return p.Text
	}
	return ""
}

// HasGlob reports whether the word has active pattern characters, so that the shell replaces it by the matching names.
func (w Word) HasGlob() bool { return w.has(PartGlob) }

// HasUnknown reports whether some part of the word is unknown.
func (w Word) HasUnknown() bool { return w.has(PartUnknown) }

func (w Word) has(kind PartKind) bool {
	return slices.ContainsFunc(w.parts, func(p Part) bool { return p.Kind == kind })
}

// OfFiles reports whether what is unknown of a word is the content of files that exist, which is read where it runs.
func (w Word) OfFiles() bool {
	return !slices.ContainsFunc(w.parts, func(p Part) bool { return p.Kind == PartUnknown && p.File == "" && p.Made == nil })
}

// IsUnknown reports whether nothing of the word is known.
func (w Word) IsUnknown() bool {
	return w.parts != nil && !slices.ContainsFunc(w.parts, func(p Part) bool { return p.Kind != PartUnknown })
}

// MayBeEmpty reports whether the word can be the empty text.
func (w Word) MayBeEmpty() bool {
	return w.text == "" && !slices.ContainsFunc(w.parts, func(p Part) bool { return p.Kind != PartUnknown || !p.MayBeEmpty })
}

// Remote reports whether a part of the word was fetched from a network.
func (w Word) Remote() bool {
	return slices.ContainsFunc(w.parts, func(p Part) bool { return p.Remote })
}

// String renders the word for people: text and patterns as they are, unknown parts as ${NAME}, $(command) or ${?}.
func (w Word) String() string {
	if w.parts == nil {
		return w.text
	}
	var b strings.Builder
	for _, p := range w.parts {
		switch {
		case p.Kind != PartUnknown:
			b.WriteString(p.Text)
		case strings.HasPrefix(p.Name, "~"):
			b.WriteString(p.Name)
		case p.Name != "":
			b.WriteString("${" + p.Name + "}")
		case p.From != "":
			b.WriteString("$(" + p.From + ")")
		default:
			b.WriteString("${?}")
		}
	}
	return b.String()
}

// Equal reports whether two words are the same in every part.
func (w Word) Equal(o Word) bool { return w.text == o.text && slices.Equal(w.parts, o.parts) }

// PartSize is the approximate size of a part besides its text, in bytes.
const PartSize = 64

// Size returns what it costs to keep or copy the word, in bytes.
func (w Word) Size() int {
	n := len(w.text)
	for _, p := range w.parts {
		n += len(p.Text) + PartSize
	}
	return n
}

// Quoted returns the word as it reads inside double quotes, where nothing splits, and as a variable keeps it. A pattern in a value stands for the names that
// matched when the value was set, so it stays a pattern.
func (w Word) Quoted() Word {
	if w.parts == nil {
		return w
	}
	return w.mapParts(func(p *Part) { p.Splits = false })
}

// mapParts applies a function to each part of a word that is not plain text.
func (w Word) mapParts(fn func(p *Part)) Word {
	parts := slices.Clone(w.parts)
	for i := range parts {
		fn(&parts[i])
	}
	return New(parts...)
}

// Cut returns the word without its first n bytes of static text.
func (w Word) Cut(n int) Word {
	if w.parts == nil {
		return Word{text: w.text[min(n, len(w.text)):]}
	}
	return w.mapParts(func(p *Part) {
		if p.Kind != PartText {
			n = 0
		}
		k := min(n, len(p.Text))
		n -= k
		p.Text = p.Text[k:]
	})
}

// Split splits the word at the first occurrence of sep in its static text. Without one, left is the whole word.
func (w Word) Split(sep string) (left, right Word, ok bool) {
	if w.parts == nil {
		l, r, ok := strings.Cut(w.text, sep)
		return Word{text: l}, Word{text: r}, ok
	}
	var l, r Builder
	for _, p := range w.parts {
		if ok {
			r.Add(p)
			continue
		}
		if p.Kind == PartText {
			var a, c string
			if a, c, ok = strings.Cut(p.Text, sep); ok {
				l.Add(Part{Text: a})
				r.Add(Part{Text: c})
				continue
			}
		}
		l.Add(p)
	}
	return l.Word(), r.Word(), ok
}

// Value returns the value in --option=value.
func (w Word) Value(option string) (Word, bool) {
	if !strings.HasPrefix(w.Prefix(), option+"=") {
		return Word{}, false
	}
	return w.Cut(len(option) + 1), true
}

// Lines splits the word at newlines of its static text, the last of which ends a line.
func (w Word) Lines() []Word {
	out := w.SplitAll("\n")
	if last := len(out) - 1; out[last].Is("") {
		out = out[:last]
	}
	return out
}

// SplitAll splits the word at a separator in its static text.
func (w Word) SplitAll(sep string) (out []Word) {
	var b Builder
	for _, p := range w.Parts() {
		for p.Kind == PartText {
			line, rest, ok := strings.Cut(p.Text, sep)
			if !ok {
				break
			}
			b.AddText(line)
			out = append(out, b.Word())
			b = Builder{}
			p.Text = rest
		}
		b.Add(p)
	}
	return append(out, b.Word())
}

// TrimLeft removes leading characters of the static text that the word certainly begins with.
func (w Word) TrimLeft(set string) Word {
	s := w.Prefix()
	return w.Cut(len(s) - len(strings.TrimLeft(s, set)))
}

// MapSuffix applies a function to the static text that the word certainly ends with.
func (w Word) MapSuffix(fn func(string) string) Word {
	if w.parts == nil {
		return Word{text: fn(w.text)}
	}
	parts := slices.Clone(w.parts)
	if last := &parts[len(parts)-1]; last.Kind == PartText {
		last.Text = fn(last.Text)
	}
	return New(parts...)
}

// MapText applies a function to each part of static text.
func (w Word) MapText(fn func(string) string) Word {
	if w.parts == nil {
		return Word{text: fn(w.text)}
	}
	return w.mapParts(func(p *Part) {
		if p.Kind == PartText {
			p.Text = fn(p.Text)
		}
	})
}
