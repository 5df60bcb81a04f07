package commands

import (
	"strings"
	"unicode"

	"github.com/metnos/vaglio/vaglio/operation"
	"github.com/metnos/vaglio/vaglio/shell"
)

// lines adds the names before a colon in the lines of the input.
func (u *use) lines(a *act) {
	text, _ := u.Input.Text()
	for line := range strings.Lines(text) {
		if name, _, ok := strings.Cut(line, ":"); ok {
			u.add(a, shell.Text(name), operation.Mention)
			u.out[len(u.out)-1].Object.Kind = operation.Name
		}
	}
}

// values returns the values of some options or of a key, or a part of each.
func (u *use) values(w *where) []shell.Word {
	spots := u.parsed.keySpots(w.key)
	if w.kind != whereKey {
		spots = u.parsed.valueSpots(w.flags, true)
	}
	var out []shell.Word
	for _, at := range spots {
		value, ok := u.Words[at.Word].Cut(at.Cut), true
		switch w.kind {
		case whereAt:
			_, value, ok = value.Split(w.key)
		case whereBefore:
			value, _, _ = value.Split(":")
		default:
		}
		if ok {
			out = append(out, value)
		}
	}
	return out
}

// fields returns the values of key=value in words that hold several of them.
func (u *use) fields(key string) (out []shell.Word) {
	for _, w := range u.parsed.Words {
		for field := range strings.FieldsFuncSeq(w, func(r rune) bool { return r == ',' || unicode.IsSpace(r) }) {
			if value, ok := strings.CutPrefix(field, key); ok {
				out = append(out, shell.Text(value))
			}
		}
	}
	return out
}

// option returns the value of the first option, or the option itself without its dash.
func (u *use) option() []shell.Word {
	if len(u.parsed.Flags) == 0 {
		return nil
	}
	f := &u.parsed.Flags[0]
	if f.Has {
		return []shell.Word{u.Words[f.At].Cut(f.Cut)}
	}
	return []shell.Word{u.Words[f.At].Cut(len("-"))}
}

func (u *use) variable(name string) (out []shell.Word) {
	for i := range u.Assigns {
		if u.Assigns[i].Name == name {
			out = append(out, u.Assigns[i].Value)
		}
	}
	if out == nil && u.Earlier != nil {
		if value, ok := u.Earlier(name); ok {
			return []shell.Word{value}
		}
	}
	return out
}
