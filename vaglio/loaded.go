package vaglio

import (
	"path"
	"slices"
	"strings"

	"github.com/metnos/vaglio/vaglio/reading"
)

// loaded says whether a file that is written holds what would be asked about or denied
// if it ran. Of a file that is changed in part that is what was put into it, and what
// it held before; of one that a program changes, what that was told in words.
func (e *Engine) loaded(p *Proposal, r *reading.Reading, name, text string, known bool) bool {
	texts := []reading.Written{{File: name, Text: text}}
	if !known && r != nil {
		if was, _ := p.Facts.last(name); was.Loaded {
			return true
		}
		texts = slices.DeleteFunc(r.Written(), func(w reading.Written) bool { return w.File != name })
		words := toldIn(r)
		if namesLoaded(p, name, words) {
			return true
		}
		texts = append(texts, reading.Written{File: name, Text: strings.Join(words, "\n")})
	}
	for _, g := range e.gates {
		if j, ok := g.Judge.(Weigher); ok && slices.ContainsFunc(texts, func(w reading.Written) bool { return w.Text != "" && j.Loaded(*p, w) }) {
			return true
		}
	}
	return false
}

// toldIn are the words of a call's commands, behind the programs' names.
func toldIn(r *reading.Reading) (words []string) {
	for i := range r.Commands {
		for _, c := range r.Commands[i].Script.Commands {
			for _, w := range c.Argv[min(1, len(c.Argv)):] {
				text, _ := w.Text()
				words = append(words, text)
			}
		}
	}
	return words
}

// namesLoaded says whether words name another file than the one which they change that
// is loaded, or a folder with one.
func namesLoaded(p *Proposal, name string, words []string) bool {
	loaded := slices.DeleteFunc(p.Facts.Loaded(), func(file string) bool { return file == name })
	parts := strings.FieldsFunc(strings.Join(words, " "), func(c rune) bool { return strings.ContainsRune("= '\"!;", c) })
	return len(loaded) > 0 && slices.ContainsFunc(parts, func(w string) bool {
		at := joined(p.Context.Cwd, w)
		return at != path.Clean(p.Context.Cwd) && slices.ContainsFunc(loaded, func(file string) bool { return isBelow(at, file) })
	})
}
