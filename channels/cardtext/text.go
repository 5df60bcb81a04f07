package cardtext

import (
	"strings"

	"github.com/metnos/vaglio/templates"
)

// Text is what a person reads, piece by piece.
type Text []Piece

// Piece is a part of a text that a chat renders in one way. Theirs, Command and Block hold
// text written by somebody else: a chat must show it verbatim and must not interpret
// anything in it as markup.
type Piece struct {
	Kind Kind
	Text string
}

// Kind says whose words a piece holds, and how to render them.
type Kind int

// The kinds.
const (
	// Ours are our words, within a line.
	Ours Kind = iota
	// Strong are our words, made to stand out.
	Strong
	// Theirs is text written by somebody else, within a line.
	Theirs
	// Command is somebody else's command line, on lines of its own.
	Command
	// Block is any other text of somebody else, on lines of its own.
	Block
	// Named are our words on the line before a Block, which say what it is: they stay
	// visible if a chat folds the block.
	Named
	// End ends a line. It has no text.
	End
)

// Say fills in one of our texts.
func Say(texts *templates.Texts, key templates.Key, values templates.Values) Text {
	w := writer{texts: texts}
	w.say(key, values)
	return w.text
}

// String returns the text for places where its pieces cannot be told apart.
func (t Text) String() string {
	var b strings.Builder
	for _, p := range t {
		if p.Kind == End {
			b.WriteByte('\n')
		}
		b.WriteString(p.Text)
	}
	return b.String()
}

// writer builds a text.
type writer struct {
	texts *templates.Texts
	text  Text
}

func (w *writer) put(k Kind, s string) { w.text = append(w.text, Piece{k, s}) }

func (w *writer) end() { w.put(End, "") }

// say writes one of our texts.
func (w *writer) say(key templates.Key, values templates.Values) {
	for _, part := range w.texts.Say(key, values) {
		kind := Ours
		if part.Theirs {
			kind = Theirs
		}
		w.put(kind, part.Text)
	}
}

// line is say on a line of its own.
func (w *writer) line(key templates.Key, values templates.Values) {
	w.say(key, values)
	w.end()
}

// part writes a text on lines of its own, or as much of it as the budget allows.
func (w *writer) part(k Kind, t seen, budget int) {
	defer w.end()
	if budget == Everything || t.runes <= budget {
		w.put(k, t.String())
		return
	}
	s, left := t.first(budget)
	w.put(k, s)
	w.put(Ours, " ")
	w.say("cut", templates.Values{"left": left})
}
