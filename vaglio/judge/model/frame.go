package model

import (
	"crypto/rand"
	"fmt"
	"strings"
	"unicode"

	"github.com/metnos/vaglio/vaglio"
)

// Quote is text that somebody else wrote, in a frame. The zero value quotes nothing.
type Quote struct {
	name, text, frame string
}

// NewQuote quotes a text under our name for it, such as "intent". The frame is random, so that no
// text can contain its own end. Invisible characters are written as \u{…}: text that people cannot
// see must not reach the model unseen.
func NewQuote(name, text string) Quote {
	text = seen(text)
	frame := rand.Text()
	for strings.Contains(text, frame) {
		frame = rand.Text()
	}
	return Quote{name, text, frame}
}

// mostShown limits what a model is shown of one call, in bytes, to about the tokens that a judge may
// use. A model that grades a part would not know what the rest says.
const mostShown = 256 << 10

// Fit returns an error, which rejects the call, if the quotations are more than a model is shown.
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

// Text returns the quoted text as the model reads it.
func (q Quote) Text() string { return q.text }

// Name returns our name for the text.
func (q Quote) Name() string { return q.name }

// String returns the quotation in its frame, with its length in bytes.
func (q Quote) String() string {
	if q.frame == "" {
		return ""
	}
	return fmt.Sprintf("<quoted name=%q frame=%q bytes=\"%d\">\n%s\n</quoted frame=%q>", q.name, q.frame, len(q.text), q.text, q.frame)
}

// Framed returns the turn's own text followed by its quotations.
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

// seen escapes characters that are not printable, except for newlines and tabs.
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
