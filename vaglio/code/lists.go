package code

import (
	"slices"
	"strings"

	"github.com/metnos/vaglio/vaglio/shell"
)

// some returns some of the elements of a list, nobody knows which: each may be any of them. A function may choose them.
func some(p *program, v value, rest []value) value {
	names := shell.NewWord(shell.Part{Kind: shell.PartUnknown, From: "ls", Some: true})
	if v = reordered(p, v, rest); len(v.alts) == 0 && p.lists(v) {
		return value{path: v.path, alts: []shell.Word{names}}
	}
	for i, w := range v.alts { // of a text, only a part may be wanted
		if w.HasGlob() {
			v.alts[i] = shell.Glue(shell.Text(w.Prefix()[:strings.LastIndexByte(w.Prefix(), '/')+1]), names)
		}
	}
	return v
}

// picked returns a value with other names for all that are in a folder.
func (v value) picked(names shell.Word) value {
	v.list, v.alts = slices.Clone(v.list), slices.Clone(v.alts)
	for i, e := range v.list {
		v.list[i] = e.picked(names)
	}
	for i, w := range v.alts {
		parts := w.Parts()
		if n := len(parts) - 1; n >= 0 && parts[n].Kind == shell.PartGlob && parts[n].Text == "*" && (n == 0 || parts[n-1].Kind != shell.PartGlob) {
			v.alts[i] = shell.Glue(shell.NewWord(parts[:n]...), names)
		}
	}
	return v
}

// chosenNames is the pattern of the names in a folder that a function keeps: not of all that are in it.
const chosenNames = "?*"

// kept returns the elements of a list that a function keeps, nobody knows which. One that is not told what it
// decides on keeps all.
func kept(p *program, v value, rest []value) value {
	out := v
	for _, keeps := range rest {
		if _, named := keeps.text(); p.isFunction(keeps) || named && p.lang.name == "php" {
			p.eachOf(keeps, flattened([]value{v}))
		}
		if keeps.fn != nil && (len(keeps.fn.params) > 0 || p.lang.name == "ruby") {
			out = v.picked(globbed(shell.Text(chosenNames)))
		}
	}
	if !v.multi() && !p.lists(v) {
		return passedOn(v.path, v.word())
	}
	out.some = v.multi()
	return out
}

// sure returns a value of which nothing is known if it may be missing.
func (v value) sure() value {
	if v.some && !v.multi() {
		return unknown(v.path)
	}
	return v
}

// orList returns the elements of two lists.
func (v value) orList(o value) value {
	v.list, v.some = added(v.list, o.list...), v.some || o.some
	return v
}

// setOf returns a set, which has the elements of a list once each, and others that are added.
func setOf(p *program, v value, _ []value) value {
	switch {
	case v.multi(), p.lists(v):
		v.some = v.multi()
		return v
	case v.given() || v.path != "":
		return passedOn(v.path, v.words()...)
	}
	out := listOf()
	out.some = true
	return out
}

// flatly calls a function with each element of a list, and returns the elements of all the lists that it returns.
func flatly(p *program, v value, rest []value) value {
	out := p.handedOn("flatMap", v, rest)
	if out.multi() {
		out.list = bounded(flattened(out.list))
	}
	return out
}

// reordered returns the elements of a list, nobody knows in which order. A function may compare them.
func reordered(p *program, v value, rest []value) value {
	v = p.iterated(v)
	for _, compares := range rest {
		if compares.fn != nil {
			p.call(compares, value{}, []value{p.anyOf(v.elements())})
		}
	}
	switch {
	case v.multi():
		v = p.anyOf(v.list)
	case !p.lists(v):
		return passedOn(v.path, v.word())
	}
	return v
}

// lists reports whether a value stands for names, how many is not known: those that match a pattern, or are in a folder.
func (p *program) lists(v value) bool {
	f := p.lang.find(p.canonical(strings.TrimSuffix(v.path, "()")), "")
	return f != nil && f.verb == string(shell.VerbList) || slices.ContainsFunc(v.alts, severalNames) || slices.ContainsFunc(v.list, p.lists)
}

func severalNames(w shell.Word) bool {
	return w.HasGlob() || slices.ContainsFunc(w.Parts(), func(part shell.Part) bool { return part.Some })
}

// descends reports whether a call of a function by itself only goes on below the folders that the last one was
// given: what it returns lies below what that one returns.
func (f *routine) descends(args []value) bool {
	var known []shell.Word
	for _, v := range f.held {
		known = append(known, v.words()...)
	}
	deeper := false
	for _, v := range args {
		for _, w := range v.words() {
			at := slices.IndexFunc(known, func(k shell.Word) bool { return w.Equal(k) || goesBelow(w, k) })
			if at < 0 && v.kind != kindNumber && !v.idle() {
				return false
			}
			deeper = deeper || at >= 0 && !w.Equal(known[at])
		}
	}
	return deeper
}

// goesBelow reports whether a path is that of names which were found in a folder.
func goesBelow(w, folder shell.Word) bool {
	name, below := strings.CutPrefix(w.String(), folder.String()+"/")
	return below && (name == "*" || name == chosenNames) && severalNames(w)
}

// globbed returns a word whose metacharacters stand for the matching names.
func globbed(w shell.Word) shell.Word {
	var out []shell.Part
	for _, part := range w.Parts() {
		if part.Kind == shell.PartText {
			out = append(out, shell.Globs(part.Text)...)
		} else {
			out = append(out, part)
		}
	}
	return shell.NewWord(out...)
}

// mixes notes that a method moves the elements of a list, takes some out or puts others in: where one is from there on, is
// not known.
func (p *program) mixes(v value, args []value) {
	held, ok := p.vars[p.key(v.holder)]
	if !ok || held.kind != kindList || v.kind != kindList || !p.spend(1+len(held.list)) {
		return
	}
	for _, e := range flattened(args) {
		if e.fn == nil && e.kind != kindNumber {
			held.list = added(held.list, e)
		}
	}
	held.some = true
	p.vars[p.key(v.holder)] = held
}
