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
	// hash says that the items are what @{…} holds.
	hash bool
	// block is the text of a script block.
	isBlock bool
	block   string
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

// madeOf is what a command makes of a value in a way that is not known:
// downloaded text stays so.
func madeOf(v value, from string) value {
	if slices.ContainsFunc(v.items, shell.Word.Remote) {
		return remoteValue(from)
	}
	return unknownValue(from)
}

func (v value) isNothing() bool { return len(v.items) == 0 && !v.isBlock }

// text is the value as one static text.
func (v value) text() (string, bool) {
	if len(v.items) != 1 {
		return "", false
	}
	return v.items[0].Text()
}

// element is what one element of the value may be.
func (v value) element() value {
	v.either = len(v.items) > 1
	return v
}

// weigh is what words cost to copy, in bytes.
func weigh(words ...shell.Word) int {
	const each = 16 // besides their texts
	n := 0
	for _, w := range words {
		n += each + w.Size()
	}
	return n
}

// afford pays for a value of so many elements and bytes before it is made, or
// says that it becomes too large. All that makes a value out of others asks
// here first, so that the budget bounds the memory, too.
func (r *reader) afford(items, bytes int) bool {
	if items > maxItems || bytes > maxValue {
		r.problem(shell.Problem{Kind: shell.ProblemTooBig, Detail: wording.Say("a value becomes too large to be read")})
		return false
	}
	return r.step(1 + items + bytes/bytesPerStep)
}

// joined writes words side by side with a text between them.
func (r *reader) joined(items []shell.Word, between string) shell.Word {
	if len(items) == 1 {
		return items[0]
	}
	if !r.afford(0, weigh(items...)+len(items)*len(between)) {
		return unknownWord("")
	}
	sep := shell.Text(between)
	parts := make([]shell.Word, 0, 2*len(items))
	for i, w := range items {
		if i > 0 {
			parts = append(parts, sep)
		}
		parts = append(parts, w)
	}
	return shell.Glue(parts...)
}

// choices are the texts that the value may be when it stands inside another.
func (r *reader) choices(v value) []shell.Word {
	switch {
	case v.isNothing():
		return []shell.Word{shell.Text("")}
	case len(v.items) == 0:
		return []shell.Word{unknownWord("")}
	case v.either || len(v.items) == 1:
		return v.items
	}
	return []shell.Word{r.joined(v.items, " ")}
}

// word is a value as one word.
func (r *reader) word(v value) shell.Word {
	switch {
	case len(v.items) == 1:
		return v.items[0]
	case v.isBlock:
		return shell.Text("{" + v.block + "}")
	case len(v.items) == 0:
		return shell.Text("")
	case v.either:
		return unknownWord("")
	}
	return r.joined(v.items, " ")
}

// glue writes values side by side, in all ways that they may be.
func (r *reader) glue(list []value) value {
	if len(list) == 1 && !list[0].isBlock && len(list[0].items) == 1 {
		return list[0]
	}
	columns, ways, bytes := make([][]shell.Word, len(list)), 1, 0
	for i, v := range list {
		columns[i] = r.choices(v)
		if len(columns[i])*ways > maxChoices {
			columns[i] = []shell.Word{unknownWord("")}
		}
		ways *= len(columns[i])
		bytes += weigh(columns[i]...)
	}
	if !r.afford(ways*len(list), ways*bytes) {
		return unknownValue("")
	}
	v := value{either: ways > 1}
	for way := range ways {
		words, left := make([]shell.Word, len(list)), ways
		for i, choices := range columns {
			left /= len(choices)
			words[i] = choices[way/left%len(choices)]
		}
		v.items = append(v.items, shell.Glue(words...))
	}
	return v
}

// list is the values as elements of a list.
func (r *reader) list(values []value) value {
	if len(values) == 1 {
		return values[0]
	}
	n := 0
	for i := range values {
		n += len(values[i].items)
	}
	if !r.afford(n, 0) {
		return unknownValue("")
	}
	out := value{items: make([]shell.Word, 0, n)}
	for i := range values {
		v := &values[i]
		out.items = append(out.items, v.items...)
		out.files = out.files || v.files
		out.either = out.either || v.either && len(v.items) > 1
		r.join(&out, *v)
	}
	return out
}

// join adds the block that a value has to that of another: either may be run.
func (r *reader) join(out *value, v value) {
	switch {
	case !v.isBlock || out.isBlock && out.block == v.block:
	case !out.isBlock:
		out.block, out.isBlock = v.block, true
	case r.afford(0, len(out.block)+len(v.block)):
		out.block += "\n" + v.block
	}
}

// merged is what a variable may be after a branch.
func (r *reader) merged(a, b value) value {
	if !r.afford(len(a.items), 0) || !r.step((len(a.items)+1)*weigh(b.items...)/bytesPerStep) {
		return unknownValue("")
	}
	out := a
	out.items = slices.Clone(a.items)
	for _, w := range b.items {
		if len(out.items) < maxChoices && !slices.ContainsFunc(out.items, w.Equal) {
			out.items = append(out.items, w)
		}
	}
	out.either = len(out.items) > 1
	r.join(&out, b)
	out.files, out.hash = a.files || b.files, a.hash || b.hash
	return out
}

// forward writes a path of Windows with the slashes that all tables use.
func forward(path string) string { return strings.ReplaceAll(path, `\`, "/") }

// variable is what a variable holds.
func (r *reader) variable(name string) value {
	if v, ok := r.vars[name]; ok {
		return v
	}
	if f, ok := r.funcs[strings.TrimPrefix(name, "function:")]; ok && strings.HasPrefix(name, "function:") {
		return value{isBlock: true, block: f.body}
	}
	env, isEnv := strings.CutPrefix(name, "env:")
	if isEnv {
		for n, s := range r.o.Env {
			if strings.EqualFold(n, env) {
				return text(s)
			}
		}
	}
	if s, ok := r.t.variables[env]; ok && (isEnv || r.t.own[name]) {
		return r.special(s)
	}
	if isEnv {
		return one(unknownWord(strings.ToUpper(env)))
	}
	return one(unknownWord(name))
}

// special reads a value of the tables.
func (r *reader) special(s string) value {
	switch {
	case s == "":
		return value{}
	case s == "$PWD":
		return r.folder()
	case s[0] == '$':
		return one(unknownWord(s[1:]))
	case s[0] == '~':
		return one(shell.Glue(r.home(), shell.Text(s[1:])))
	}
	return text(s)
}

// folder is the current folder.
func (r *reader) folder() value { return value{items: []shell.Word{r.cwd}, files: true} }
