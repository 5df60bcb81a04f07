package code

import (
	"slices"
	"strconv"
	"strings"

	"github.com/metnos/vaglio/vaglio/shell"
)

type kind uint8

const (
	kindText kind = iota
	kindNone      // null, undefined, false
	kindList
	kindMap
	kindPath // a text that is a file path
	kindNumber
	kindOther // a result that is not text: of a comparison, a pattern
)

// value is what an expression may be.
type value struct {
	kind kind
	alts []shell.Word // what the text may be; none if only the path is known
	list []value
	keys []string // the keys of a map, parallel to its list
	of   string   // which lists or maps it is that several names may stand for, see [program.current]
	// path is the dotted name of a function, a module or something unknown.
	path string
	// holder is the variable or field that holds the value, for assignments to it.
	holder string
	fn     *routine
	file   *handle
	spread bool // stands for its elements
	some   bool // any of its elements may be missing, or it may be itself from a list
	name   string
}

// handle is a file opened for writing, or a command that was started and reads what is written to it.
type handle struct {
	file  shell.Word
	start *shell.ProgramStep
}

func text(s string) value { return value{alts: []shell.Word{shell.Text(s)}} }

func textOf(w shell.Word) value { return value{alts: []shell.Word{w}} }

func number(n int) value {
	return value{kind: kindNumber, alts: []shell.Word{shell.Text(strconv.Itoa(n))}}
}

func listOf(vs ...value) value { return value{kind: kindList, list: vs} }

// unknown returns a value of which only the origin is known.
func unknown(from string) value { return value{path: ending(from)} }

// maxFrom limits how much of a value's origin is kept, in bytes: its end, because functions match by the end of their names.
const maxFrom = 1024

// ending returns what is kept of a name: its end.
func ending(name string) string { return name[max(0, len(name)-maxFrom):] }

func remote(from string) value {
	return value{path: from, alts: []shell.Word{shell.NewWord(shell.Part{Kind: shell.PartUnknown, From: from, MayBeEmpty: true, Remote: true})}}
}

// passedOn returns an unknown value that was made of words: it is as remote as they are, and still holds what they hold of a file.
func passedOn(path string, words ...shell.Word) value {
	out := unknown(path)
	for _, w := range words {
		for _, part := range w.Parts() {
			switch {
			case part.Remote:
				return remote(path)
			case strings.HasPrefix(part.From, fileContent):
				out.alts = []shell.Word{shell.NewWord(shell.Part{Kind: shell.PartUnknown, From: part.From, MayBeEmpty: true})}
			}
		}
	}
	return out
}

// fileContent begins the origin of what a file holds.
const fileContent = "cat "

func unknownWord(from string) shell.Word {
	p := shell.Part{Kind: shell.PartUnknown, Name: from, MayBeEmpty: true}
	if strings.ContainsAny(from, "(.") {
		p.Name, p.From = "", from
	}
	return shell.NewWord(p)
}

func (v value) word() shell.Word {
	if len(v.alts) == 0 || v.multi() {
		return unknownWord(v.path)
	}
	return v.alts[0]
}

func (v value) multi() bool { return v.kind == kindList || v.kind == kindMap }

// text returns the value if it is one known text.
func (v value) text() (string, bool) {
	if len(v.alts) != 1 || v.multi() {
		return "", false
	}
	return v.alts[0].Text()
}

func (v value) known() bool {
	_, ok := v.text()
	return ok || v.multi()
}

func (v value) int() (int, bool) {
	s, ok := v.text()
	n, err := strconv.ParseInt(s, 0, 32)
	return int(n), ok && err == nil
}

// words returns the alternatives of a text, or each element of a list. What is behind maxFlat of them in lists of lists may be anything.
func (v value) words() []shell.Word {
	if !v.multi() {
		if len(v.alts) == 0 {
			return []shell.Word{unknownWord(v.path)}
		}
		return v.alts
	}
	return v.flat(make([]shell.Word, 0, min(len(v.list), maxFlat)))
}

const maxFlat = 4 * maxList

// flat adds the words of a list to others.
func (v value) flat(out []shell.Word) []shell.Word {
	for _, e := range bounded(v.list) {
		switch {
		case len(out) > maxFlat:
			return out
		case len(out) == maxFlat:
			return append(out, unknownWord(""))
		case e.multi():
			out = e.flat(out)
		default:
			out = append(out, e.word())
		}
	}
	return out
}

// upTo is what of a list is told apart: what is behind the limit may be anything.
func upTo[E any](most int, list []E, anything E) []E {
	if len(list) > most {
		list = append(list[:most:most], anything)
	}
	return list
}

// bounded are the elements of a list that are told apart.
func bounded(list []value) []value { return upTo(maxList, list, unknown("")) }

// isFull reports whether a list is at the limit of [bounded]: its last element stands for whatever else is added.
func isFull(list []value) bool { return len(list) > maxList }

// elements returns the elements of a list, the alternatives of a text, or the unknown value itself.
func (v value) elements() []value {
	switch {
	case v.kind == kindMap && slices.Contains(v.keys, anyKey): // which may be what is gone through
		return append(slices.Clip(v.list), unknown(""))
	case v.multi():
		return v.list
	case v.kind == kindNone:
		return nil
	}
	out := make([]value, 0, len(v.alts))
	for _, w := range v.alts {
		e := v
		e.alts = []shell.Word{w}
		out = append(out, e)
	}
	if len(out) == 0 {
		return []value{v}
	}
	return out
}

func (v value) field(key string) (value, bool) {
	i := slices.Index(v.keys, key)
	if i < 0 || v.kind != kindMap {
		return value{}, false
	}
	if some := slices.Index(v.keys, anyKey); some >= 0 && some != i {
		return v.list[i].or(v.list[some]), true
	}
	return v.list[i], true
}

// nth returns an element of a list; a negative n counts from the end.
func (v value) nth(n int) value {
	if n < 0 {
		n += len(v.list)
	}
	switch {
	case v.some && len(v.list) > 0:
		return v.either()
	case n >= 0 && n < len(v.list):
		return v.list[n]
	case v.path == allArguments:
		return value{kind: kindNone, path: v.path}
	}
	return unknown(v.path)
}

// allArguments is the path of a list that holds everything that the program is run with: behind its end there is nothing.
const allArguments = "arguments()"

// either returns what any element of a list may be.
func (v value) either() value {
	out := v.list[0]
	for _, e := range v.list[1:] {
		out = out.or(e)
	}
	return out
}

// lacks reports whether something may be missing in a list, or from it.
func (v value) lacks() bool {
	return v.some || slices.ContainsFunc(v.list, func(e value) bool { return e.some })
}

// part returns the elements of a list between two indexes. Behind its end, a part of all arguments has none.
func (v value) part(from, to int) value {
	if v.some {
		return v
	}
	from = place(from, len(v.list))
	out := listOf(v.list[from:max(from, place(to, len(v.list)))]...)
	if v.path == allArguments && to >= len(v.list) {
		out.path = allArguments
	}
	return out
}

func (v value) or(o value) value {
	switch {
	case v.idle():
		return o
	case o.idle() || v.fn != nil || v.file != nil:
		return v
	case v.kind == kindMap && o.kind == kindMap:
		return v.orMap(o).oneOf(v, o)
	case v.multi() && o.multi():
		return v.orList(o).oneOf(v, o)
	case o.multi():
		return o.orUnknown(v).oneOf(v, o)
	case v.multi():
		return v.orUnknown(o).oneOf(v, o)
	default:
		return v.orText(o)
	}
}

func (v value) orText(o value) value {
	a, b := v.words(), o.words()
	if len(a) <= maxAlts && slices.ContainsFunc(b, func(w shell.Word) bool { return !slices.ContainsFunc(a, w.Equal) }) {
		a = capped(slices.Concat(a, b))
	}
	v.alts = a
	return v
}

// idle reports whether a value says nothing about a text.
func (v value) idle() bool { return v.kind == kindNone }

// capped are the texts that a value may be and that are told apart.
func capped(words []shell.Word) (out []shell.Word) {
	for i := 0; i < len(words) && len(out) <= maxAlts; i++ {
		if !slices.ContainsFunc(out, words[i].Equal) {
			out = append(out, words[i])
		}
	}
	return upTo(maxAlts, out, unknownWord(""))
}

// each applies a function to every alternative of the text.
func (v value) each(fn func(string) (string, bool)) value {
	if v.multi() {
		return v
	}
	out := value{kind: v.kind, path: v.path}
	for _, w := range v.words() {
		s, ok := w.Text()
		if ok {
			s, ok = fn(s)
		}
		switch {
		case ok:
			out.alts = append(out.alts, shell.Text(s))
		default:
			out.alts = append(out.alts, passedOn(v.path, w).word())
		}
	}
	return out
}

// glue joins two texts in all ways that they may be.
func (p *program) glue(a, b value) value {
	var out []shell.Word
	for _, x := range a.words() {
		for _, y := range b.words() {
			out = append(out, p.concat(x, y))
		}
		if out = capped(out); len(out) > maxAlts {
			break
		}
	}
	if len(out) > 1 && len(out)*out[0].Size() > maxVaried {
		out = []shell.Word{unknownWord("")}
	}
	v := value{alts: out}
	if a.kind == kindPath {
		v.kind = kindPath
	}
	return v
}

// concat joins words; the result is unknown if it is too long or the budget is spent.
func (p *program) concat(words ...shell.Word) shell.Word {
	n := 0
	for _, w := range words {
		n += w.Size()
	}
	if n > maxText || !p.spend(1+n/bytesPerStep) {
		return unknownWord("")
	}
	return shell.Glue(words...)
}

func (p *program) spaced(words []shell.Word, sep string) shell.Word {
	all := make([]shell.Word, 0, 2*len(words))
	for i, w := range words {
		if i > 0 {
			all = append(all, shell.Text(sep))
		}
		all = append(all, w)
	}
	return p.concat(all...)
}

// fields returns the elements of a map by key.
func (v value) fields() map[string]value {
	out := map[string]value{}
	for i, k := range v.keys {
		out[k] = v.list[i]
	}
	return out
}

func first(vs []value) value { return nth(vs, 0) }

func nth(vs []value, n int) value {
	if n < len(vs) {
		return vs[n]
	}
	return value{}
}

func pathOf(v value) value {
	v.kind = kindPath
	return v
}

// pairs returns the keys of a map, or the indexes of a list, with their values.
func (v value) pairs() value {
	if !v.multi() {
		return listOf(listOf(unknown(v.path), value{path: v.path, alts: v.alts}))
	}
	var out []value
	for i, e := range v.list {
		k := number(i)
		if v.kind == kindMap {
			if k = text(v.keys[i]); v.keys[i] == anyKey {
				k = unknown("")
			}
		}
		out = append(out, listOf(k, e))
	}
	return listOf(out...)
}

// freshName returns the name of something new, which is never empty.
func freshName() shell.Word {
	return shell.NewWord(shell.Part{Kind: shell.PartUnknown, From: "temporary()"})
}
