package word

import (
	"slices"
	"strings"
)

// Builder joins parts into a word. Its zero value is ready for use.
type Builder struct {
	text  strings.Builder // pending static text
	one   string          // the pending text while it is a single piece
	parts []Part
	added int // bytes
}

// Add appends a part.
func (b *Builder) Add(p Part) {
	if p.Kind == PartText {
		b.AddText(p.Text)
		return
	}
	b.flush()
	b.added += len(p.Text) + PartSize
	b.parts = append(b.parts, p)
}

// AddText appends static text.
func (b *Builder) AddText(s string) {
	b.added += len(s)
	switch {
	case s == "":
	case b.text.Len() > 0:
		b.text.WriteString(s)
	case b.one == "":
		b.one = s
	default:
		b.text.WriteString(b.one)
		b.text.WriteString(s)
		b.one = ""
	}
}

// AddWord appends the parts of a word.
func (b *Builder) AddWord(w Word) {
	if w.parts == nil {
		b.AddText(w.text)
		return
	}
	b.parts = slices.Grow(b.parts, len(w.parts)+1)
	for i := range w.parts {
		b.Add(w.parts[i])
	}
}

func (b *Builder) pending() string {
	if b.one != "" {
		return b.one
	}
	return b.text.String()
}

func (b *Builder) flush() {
	if s := b.pending(); s != "" {
		b.parts = append(b.parts, Part{Text: s})
	}
	b.text.Reset()
	b.one = ""
}

// Word returns what was added.
func (b *Builder) Word() Word {
	if b.parts == nil {
		return Word{text: b.pending()}
	}
	b.flush()
	return Word{parts: b.parts}
}

// Size returns the size of what was added, as [Word.Size] counts it.
func (b *Builder) Size() int { return b.added }

// Empty reports whether nothing but empty texts was added.
func (b *Builder) Empty() bool { return b.parts == nil && b.one == "" && b.text.Len() == 0 }

// Glue returns the concatenation of the words.
func Glue(words ...Word) Word {
	var b Builder
	for _, w := range words {
		b.AddWord(w)
	}
	return b.Word()
}

// Join joins words with a separator between them.
func Join(words []Word, sep string) Word {
	var b Builder
	for i, w := range words {
		if i > 0 {
			b.AddText(sep)
		}
		b.AddWord(w)
	}
	return b.Word()
}

// Replace returns a word with a value in the place of each mark; what becomes too long is unknown.
func Replace(w Word, mark string, value Word) Word {
	if mark == "" || w.Known() && !strings.Contains(w.Prefix(), mark) {
		return w
	}
	var b Builder
	for _, p := range w.Parts() {
		for p.Kind == PartText && b.Size() <= MaxSize {
			before, rest, ok := strings.Cut(p.Text, mark)
			if !ok {
				break
			}
			b.AddText(before)
			b.AddWord(value)
			p.Text = rest
		}
		b.Add(p)
	}
	if b.Size() > MaxSize {
		return Unknown("")
	}
	return b.Word()
}

// InFolder returns the path of a name in a folder.
func InFolder(folder, name Word) Word {
	if strings.HasSuffix(folder.Suffix(), "/") {
		return Glue(folder, name)
	}
	return Glue(folder, Text("/"), name)
}
