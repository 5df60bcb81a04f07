package powershell

import (
	"slices"
	"strings"

	"github.com/metnos/vaglio/vaglio/shell"
	"github.com/metnos/vaglio/vaglio/wording"
)

// value is what an expression or a pipeline may be.
type value struct {
	items []shell.Word
	// either says that the items are what one text may be, not a list.
	either bool
	// files says that the items are files that were listed.
	files bool
	// block is a script block; table what @{…} holds, by name in lower case.
	block []token
	table map[string]value
	// program says that the items were given as the name of a type of objects.
	client bool
}

func one(w shell.Word) value { return value{items: []shell.Word{w}} }

func text(s string) value { return one(shell.Text(s)) }

func unknownWord(name string) shell.Word {
	return shell.NewWord(shell.Part{Kind: shell.PartUnknown, Name: name, MayBeEmpty: true})
}

// unknownValue is the output of a command, or of nothing that is known.
func unknownValue(from string) value {
	return one(shell.NewWord(shell.Part{Kind: shell.PartUnknown, From: from, MayBeEmpty: true}))
}

func remoteValue(from string) value {
	return one(shell.NewWord(shell.Part{Kind: shell.PartUnknown, From: from, MayBeEmpty: true, Remote: true}))
}

func (v value) isNothing() bool { return len(v.items) == 0 && v.block == nil && v.table == nil }

// text is the value as one static text.
func (v value) text() (string, bool) {
	if len(v.items) != 1 {
		return "", false
	}
	return v.items[0].Text()
}

// size is what the value costs to copy, in bytes.
func (v value) size() int {
	n := 0
	for _, w := range v.items {
		n += len(w.String()) + 16
	}
	return n
}

// choices are the texts that the value may be when it stands inside another.
func (v value) choices() []shell.Word {
	switch {
	case len(v.items) == 0 && v.block == nil && v.table == nil:
		return []shell.Word{shell.Text("")}
	case len(v.items) == 0:
		return []shell.Word{unknownWord("")}
	case v.either || len(v.items) == 1:
		return v.items
	}
	return []shell.Word{joined(v.items, shell.Text(" "))}
}

func joined(items []shell.Word, sep shell.Word) shell.Word {
	parts := make([]shell.Word, 0, 2*len(items))
	for i, w := range items {
		if i > 0 {
			parts = append(parts, sep)
		}
		parts = append(parts, w)
	}
	return shell.Glue(parts...)
}

// glue writes values side by side, in all ways that they may be.
func (r *reader) glue(list []value) value {
	if len(list) == 1 && list[0].block == nil && list[0].table == nil && len(list[0].items) == 1 {
		return list[0]
	}
	out := [][]shell.Word{nil}
	for _, v := range list {
		choices := v.choices()
		if len(choices)*len(out) > maxChoices {
			choices = []shell.Word{unknownWord("")}
		}
		if !r.step(len(choices) * len(out)) {
			return unknownValue("")
		}
		if len(choices) == 1 {
			for i := range out {
				out[i] = append(out[i], choices[0])
			}
			continue
		}
		next := make([][]shell.Word, 0, len(choices)*len(out))
		for _, head := range out {
			for _, w := range choices {
				next = append(next, append(slices.Clone(head), w))
			}
		}
		out = next
	}
	v := value{either: len(out) > 1}
	for _, words := range out {
		v.items = append(v.items, shell.Glue(words...))
	}
	return r.bounded(v)
}

// bounded pays for a value that was made, or gives it up when it is too large.
func (r *reader) bounded(v value) value {
	n := v.size()
	if len(v.items) > maxItems || n > maxValue {
		r.problem(shell.Problem{Kind: shell.ProblemTooBig, Detail: wording.Say("a value becomes too large to be read")})
		return unknownValue("")
	}
	if !r.step(1 + n/bytesPerStep) {
		return unknownValue("")
	}
	return v
}

// list is the value as elements of a list.
func list(values []value) value {
	if len(values) == 1 {
		return values[0]
	}
	out, n := value{}, 0
	for i := range values {
		n += len(values[i].items)
	}
	out.items = make([]shell.Word, 0, n)
	for i := range values {
		v := &values[i]
		out.items = append(out.items, v.items...)
		out.files = out.files || v.files
		out.either = out.either || v.either && len(v.items) > 1
		if v.block != nil {
			out.block = v.block
		}
		if v.table != nil {
			out.table = v.table
		}
	}
	return out
}

// element is what one element of the value may be.
func (v value) element() value {
	v.either = len(v.items) > 1
	return v
}

// merged is what a variable may be after a branch.
func merged(a, b value) value {
	out := a
	out.items = slices.Clone(a.items)
	for _, w := range b.items {
		if len(out.items) < maxChoices && !slices.ContainsFunc(out.items, w.Equal) {
			out.items = append(out.items, w)
		}
	}
	out.either = len(out.items) > 1
	if out.block == nil {
		out.block = b.block
	}
	if out.table == nil {
		out.table = b.table
	}
	out.files = a.files || b.files
	return out
}

// mapped applies a function to the static texts of a value; what is not known
// stays so.
func (v value) mapped(fn func(string) string) value {
	out := value{either: v.either, files: v.files}
	for _, w := range v.items {
		parts := slices.Clone(w.Parts())
		for i := range parts {
			if parts[i].Kind == shell.PartText {
				parts[i].Text = fn(parts[i].Text)
			}
		}
		out.items = append(out.items, shell.NewWord(parts...))
	}
	return out
}

// forward writes a path of Windows with the slashes that all tables use.
func forward(path string) string { return strings.ReplaceAll(path, `\`, "/") }
