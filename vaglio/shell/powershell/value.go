package powershell

import (
	"slices"
	"strings"

	"github.com/metnos/vaglio/vaglio/shell"
	"github.com/metnos/vaglio/vaglio/shell/word"
	"github.com/metnos/vaglio/vaglio/wording"
)

// value is what an expression or a pipeline may be.
type value struct {
	items   []shell.Word
	either  bool // the items are what one text may be, rather than a list
	files   bool // the items are listed files
	hash    bool // the items are what @{…} holds
	isBlock bool
	block   string // the text of a script block
	// names are the words by which the objects were asked for that it holds: "Get-Service spooler".
	names []shell.Word
}

// named returns the words by which what it holds was asked for, or else what it is.
func (v value) named() []shell.Word {
	if len(v.names) > 0 {
		return v.names
	}
	return v.items
}

func one(w shell.Word) value { return value{items: []shell.Word{w}} }

func text(s string) value { return one(shell.Text(s)) }

// output returns the unknown output of a command, "" if the command is unknown, too.
func output(from string, remote bool) value {
	return one(shell.NewWord(shell.Part{Kind: shell.PartUnknown, From: from, MayBeEmpty: true, Remote: remote}))
}

func unknown() value { return output("", false) }

// madeOf returns what a command turns a value into in an unknown way. Downloaded text stays marked as such.
func madeOf(v value, from string) value {
	return output(from, slices.ContainsFunc(v.items, shell.Word.Remote))
}

func (v value) isNothing() bool { return len(v.items) == 0 && !v.isBlock }

// something returns the value, or an unknown one for nothing.
func something(v value, name string) value {
	if v.isNothing() {
		return one(word.Unknown(name))
	}
	return v
}

func (v value) text() (string, bool) {
	if len(v.items) != 1 {
		return "", false
	}
	return v.items[0].Text()
}

// element returns what one element of the value may be.
func (v value) element() value {
	v.either = len(v.items) > 1
	return v
}

// weigh returns what it costs to copy words, in bytes.
func weigh(words ...shell.Word) int {
	const each = 16 // besides their texts
	n := 0
	for _, w := range words {
		n += each + w.Size()
	}
	return n
}

// pay charges for a value of that many elements and bytes before it is built, so that the budget bounds memory, too.
func (r *reader) pay(items, bytes int) {
	if items > maxItems || bytes > maxValue {
		r.stop(shell.ProblemTooBig, wording.Say("a value becomes too large to be read"))
	}
	r.step(1 + items + bytes/bytesPerStep)
}

func (r *reader) word(v value) shell.Word {
	switch {
	case len(v.items) == 1:
		return v.items[0]
	case v.isBlock:
		return shell.Text("{" + v.block + "}")
	case v.either:
		return word.Unknown("")
	}
	r.pay(0, weigh(v.items...))
	return shell.Spaced(v.items)
}

// choices returns the texts that the value may be inside another text.
func (r *reader) choices(v value) []shell.Word {
	switch {
	case v.isBlock && len(v.items) == 0:
		return []shell.Word{word.Unknown("")}
	case v.either:
		return v.items
	}
	v.isBlock = false
	return []shell.Word{r.word(v)}
}

// glue joins values in all ways that they may be.
func (r *reader) glue(list ...value) value {
	columns, ways, bytes := make([][]shell.Word, len(list)), 1, 0
	for i, v := range list {
		columns[i] = r.choices(v)
		if len(columns[i])*ways > maxChoices {
			columns[i] = []shell.Word{word.Unknown("")}
		}
		ways *= len(columns[i])
		bytes += weigh(columns[i]...)
	}
	r.pay(ways*len(list), ways*bytes)
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

// list returns the values as the elements of a list.
func (r *reader) list(values ...value) value {
	if len(values) == 1 {
		return values[0]
	}
	out := value{}
	for _, v := range values {
		r.pay(len(out.items)/maxChoices+len(v.items), len(out.block)+len(v.block))
		out.items = append(out.items, v.items...)
		out.files, out.either = out.files || v.files, out.either || v.either
		out = out.with(v)
	}
	r.pay(len(out.items), 0)
	return out
}

// with adds the block of another value: either may run.
func (v value) with(o value) value {
	if o.isBlock && v.isBlock && o.block != v.block {
		v.block += "\n" + o.block
	} else if o.isBlock {
		v.isBlock, v.block = true, o.block
	}
	return v
}

// merged returns what a variable may be after a branch.
func (r *reader) merged(a, b value) value {
	r.pay(len(a.items), len(a.block)+len(b.block))
	r.step((len(a.items) + 1) * weigh(b.items...) / bytesPerStep)
	out := a.with(b)
	out.items, out.names = slices.Clone(a.items), nil
	for _, w := range b.items {
		if len(out.items) >= maxChoices {
			out.items[0] = word.Unknown("")
		} else if !slices.ContainsFunc(out.items, w.Equal) {
			out.items = append(out.items, w)
		}
	}
	out.files, out.hash = a.files || b.files, a.hash || b.hash
	return out.element()
}

func (r *reader) variable(name string) value {
	if v, ok := r.vars[name]; ok {
		return v
	}
	env, isEnv := strings.CutPrefix(name, "env:")
	for n, s := range r.o.Env {
		if isEnv && strings.EqualFold(n, env) {
			return text(s)
		}
	}
	if s, ok := r.t.words["variables"][env]; ok && (isEnv || r.t.is("own", name)) {
		return r.preset(s)
	}
	if isEnv {
		env = strings.ToUpper(env)
	}
	return one(word.Unknown(env))
}

func (r *reader) preset(s string) value {
	switch {
	case s == "":
		return value{}
	case s == "$PWD":
		return value{items: []shell.Word{r.cwd}, files: true}
	case s[0] == '$':
		return one(word.Unknown(s[1:]))
	case s[0] == '~':
		return one(shell.Glue(r.home(), shell.Text(s[1:])))
	}
	return text(s)
}

// setVar sets a variable. Where that may not happen, the variable may keep its value.
func (r *reader) setVar(name string, v value) {
	r.writes++
	if old, ok := r.vars[name]; ok && (r.at.Conditional || r.at.InLoop) {
		v = r.merged(old, v)
	}
	r.vars[name] = v
}

func (r *reader) setenv(name string, v value) {
	for _, w := range r.choices(v) {
		r.emit(shell.Command{Assigns: []shell.Assign{{Name: strings.ToUpper(name), Value: w}}})
	}
}
