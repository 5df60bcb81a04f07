package model

import (
	"crypto/rand"
	"fmt"
	"strings"
	"unicode"

	"github.com/metnos/vaglio/vaglio"
)

// Quote is text that somebody else wrote, with the frame that holds it. Its zero
// value quotes nothing.
type Quote struct {
	name, text, frame string
}

// NewQuote quotes a text under one of our names for it, such as "intent". The
// frame is random, so that no text can hold its own end. What cannot be seen is
// written as \u{…}: a text that people do not see speaks to nobody.
func NewQuote(name, text string) Quote {
	text = seen(text)
	frame := rand.Text()
	for strings.Contains(text, frame) {
		frame = rand.Text()
	}
	return Quote{name, text, frame}
}

// mostShown bounds what a model is shown of one call, in bytes: about the tokens
// that a judge may use. Who grades a part would not know what the rest says.
const mostShown = 256 << 10

// Fit says whether quotations are not more than a model is shown; its error
// rejects the call.
func Fit(all []Quote) error {
	size := 0
	for _, q := range all {
		size += len(q.text)
	}
	if size > mostShown {
		return &vaglio.JudgeError{Fault: fmt.Sprintf("what it would be shown has %d bytes, at most %d", size, mostShown), Class: vaglio.FaultLimit}
	}
	return nil
}

// Text is what is quoted, as the model reads it.
func (q Quote) Text() string { return q.text }

// Name is our name for it.
func (q Quote) Name() string { return q.name }

// String is the quotation in its frame, with its length in bytes.
func (q Quote) String() string {
	if q.frame == "" {
		return ""
	}
	return fmt.Sprintf("<quoted name=%q frame=%q bytes=\"%d\">\n%s\n</quoted frame=%q>", q.name, q.frame, len(q.text), q.text, q.frame)
}

// Framed is the turn's own text with the quotations behind it.
func (t *Turn) Framed() string {
	var b strings.Builder
	b.WriteString(t.Text)
	for _, q := range t.Quoted {
		if b.Len() > 0 {
			b.WriteString("\n\n")
		}
		b.WriteString(q.String())
	}
	return b.String()
}

// seen spells out what is not printed, except for line ends and tabs.
func seen(text string) string {
	plain := func(r rune) bool { return r == '\n' || r == '\t' || unicode.IsPrint(r) }
	if strings.IndexFunc(text, func(r rune) bool { return !plain(r) || r == unicode.ReplacementChar }) < 0 {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if plain(r) {
			b.WriteRune(r)
			continue
		}
		fmt.Fprintf(&b, `\u{%x}`, r)
	}
	return b.String()
}
