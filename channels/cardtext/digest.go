package cardtext

import (
	"slices"

	"github.com/metnos/vaglio/approval/headline"
	"github.com/metnos/vaglio/approval/report"
	"github.com/metnos/vaglio/templates"
)

// maxDigested is the most characters of each foreign text in a digest.
const maxDigested = 120

// DigestLine puts one line of a digest into words.
func DigestLine(texts *templates.Texts, l *report.DigestLine) Text {
	said, does := Digested(texts, l, func(s string, whole bool) templates.Theirs {
		if whole {
			return templates.Theirs(s)
		}
		return Within(s, maxDigested)
	})
	return spliced(texts, said, does)
}

// Wanting says one of our texts whose field wanted is what a call does.
func Wanting(texts *templates.Texts, key templates.Key, values templates.Values, h *headline.Headline) Text {
	values["wanted"] = templates.Theirs(deed)
	return spliced(texts, Say(texts, key, values), h)
}

// spliced returns a line with what the call does in the place that stands for it.
func spliced(texts *templates.Texts, said Text, does *headline.Headline) Text {
	at := slices.IndexFunc(said, Piece.Deed)
	if at < 0 {
		return said
	}
	w := writer{texts: texts}
	if does.Consequence.Final() {
		w.put(Ours, warns+" ")
	}
	return slices.Replace(said, at, at+1, append(w.text, Deed(texts, does)...)...)
}

// Digested puts one line of a digest into words, with text from others as theirs returns
// it; whole is set for text to copy. If the line says what a call does, a piece of it
// stands for that: see [Piece.Deed].
func Digested(texts *templates.Texts, l *report.DigestLine, theirs func(s string, whole bool) templates.Theirs) (line Text, does *headline.Headline) {
	values := l.Fill(texts.Word, func(h headline.Headline) any {
		does = &h
		return templates.Theirs(deed)
	}, func(s string, whole bool) any { return theirs(s, whole) })
	return Say(texts, templates.Key("digest."+l.Key), values), does
}

// deed stands for a deed within a line. No text of a record holds it.
const deed = "\xffdeed"

// Deed reports whether a piece that [Digested] returned stands for what the call does.
func (p Piece) Deed() bool { return p.Kind == Theirs && p.Text == deed }

// Deed says in one line of a list what a call would do, and what follows from it.
func Deed(texts *templates.Texts, h *headline.Headline) Text {
	w := writer{texts: texts}
	w.headline(h)
	if h.Consequence.Known() {
		w.put(Ours, " · "+follows(texts, &h.Consequence))
	}
	return w.text
}
