package shell

import "strings"

// builder joins parts to a word. Its zero value is ready for use.
type builder struct {
	text  strings.Builder // pending static text
	one   string          // the pending text while it is a single piece
	parts []Part
	size  int // what was added, as [Word.size] counts it
}

func (b *builder) add(p Part) {
	if p.Kind == PartText {
		b.addText(p.Text)
		return
	}
	b.flush()
	b.size += len(p.Text) + partSize
	b.parts = append(b.parts, p)
}

func (b *builder) addText(s string) {
	b.size += len(s)
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

func (b *builder) addWord(w Word) {
	if w.parts == nil {
		b.addText(w.text)
		return
	}
	for _, p := range w.parts {
		b.add(p)
	}
}

func (b *builder) pending() string {
	if b.one != "" {
		return b.one
	}
	return b.text.String()
}

func (b *builder) flush() {
	if s := b.pending(); s != "" {
		b.parts = append(b.parts, Part{Text: s})
	}
	b.text.Reset()
	b.one = ""
}

func (b *builder) word() Word {
	if b.parts == nil {
		return Word{text: b.pending()}
	}
	b.flush()
	return Word{parts: b.parts}
}

func (b *builder) empty() bool { return b.parts == nil && b.one == "" && b.text.Len() == 0 }
