package commands

import (
	"cmp"
	"slices"
	"strings"

	"github.com/metnos/vaglio/internal/lists"
	"github.com/metnos/vaglio/vaglio/operation"
	"github.com/metnos/vaglio/vaglio/shell"
)

// Command is what the tables look at of a simple command.
type Command struct {
	// Name is the program's name, without its folder.
	Name string
	// Words are the words after the name.
	Words []shell.Word
	// Texts are the words as texts, if the caller has them.
	Texts []string
	// Fed says that the command's input is a pipe, a file or a text.
	Fed bool
	// Assigns are the variables that are set for the command.
	Assigns []shell.Assign
	// Earlier returns the value that a variable was set to before the command; nil if the caller does not know.
	Earlier func(name string) (shell.Word, bool)
	// Input is the text of the input, as far as it is known.
	Input shell.Word
	// Graded leaves out the operations that only the guard considers.
	Graded bool
}

// Told is what the tables say of a command.
type Told struct {
	// Known says that the tables know its program. Known without operations means that its words do no harm by themselves.
	Known bool
	// Graded says the same, except for what is known to the guard alone.
	Graded bool
	// Operations are in the order of the tables.
	Operations []operation.Operation
	// Spent says that operations were left out because the budget was spent.
	Spent bool
}

// budget limits how many bytes of names are put together for one command.
const budget = 4 << 20

// Tell returns what a command does.
func (b *Base) Tell(c Command) Told {
	sections := b.actingOn(c.Name)
	if sections == nil {
		return Told{}
	}
	texts := c.Texts
	u := use{Command: c, base: b, left: budget}
	known, graded := false, false
	for _, sec := range sections {
		graded = graded || sec.phase != operation.Final
		known = known || (!sec.besides && (len(sec.acts) == 0 || slices.ContainsFunc(sec.acts, func(a act) bool { return a.phase != operation.Graded })))
		if len(sec.acts) == 0 {
			continue
		}
		if len(texts) != len(c.Words) {
			texts = make([]string, len(c.Words))
			for i := range c.Words {
				texts[i] = c.Words[i].String()
			}
		}
		if sec.skips(texts) {
			continue
		}
		if u.parsed.nouns == nil {
			b.Parse(&u.parsed, c.Name, texts)
		}
		u.sec, u.parsed.Fed, u.parsed.Found = sec, c.Fed, ""
		u.tell()
	}
	return Told{Known: known, Graded: graded, Operations: u.out, Spent: u.left < 0}
}

// use is a command whose operations are being collected.
type use struct {
	Command

	base      *Base
	parsed    Parsed
	sec       *Section
	operands  []int        // without the script, and without what the act's words took
	folders   []shell.Word // for each word; nil if no options name any
	folder    shell.Word   // the last of them
	with      []shell.Word // what the objects of an act are given
	sources   []int        // operands that are sources
	to        shell.Word
	hasTarget bool
	recursive bool
	left      int // what is left of the budget
	out       []operation.Operation
}

func (u *use) tell() {
	p := &u.parsed
	all := p.Operands
	if u.sec.script != nil && len(all) > 0 && !p.hasAny(u.sec.script) {
		all = all[1:]
	}
	u.recursive = u.sec.always || u.sec.tree != nil && p.hasAny(u.sec.tree)
	u.sources, u.to, u.hasTarget = all, shell.Word{}, false
	u.place()
	if f := p.flag(u.sec.target); f != nil {
		u.to, u.hasTarget = u.Words[f.At].Cut(f.Cut), true
	} else if n := len(all); n > 1 {
		u.sources, u.to, u.hasTarget = all[:n-1], u.Words[all[n-1]], true
	}
	sources := u.sources
	for i := range u.sec.acts {
		a := &u.sec.acts[i]
		took, ok := holdAll(a.tests, p, 0)
		if !ok || u.leavesOut(a) {
			continue
		}
		u.operands, u.sources = all[min(took, len(all)):], sources[min(took, len(sources)):]
		u.with = u.given(a)
		for j := range a.where {
			u.at(a, &a.where[j])
		}
	}
}

// flag returns the last option with a value that passes a test.
func (p *Parsed) flag(tests []flagTest) *Flag {
	for i := len(p.Flags) - 1; i >= 0; i-- {
		f := &p.Flags[i]
		if f.Has && oneOf(f, tests) {
			return f
		}
	}
	return nil
}

// at adds the operations on the words of one place.
func (u *use) at(a *act, w *where) {
	alone := [whereVariable + 1]func(*use, *act){
		whereTarget: (*use).target, whereStarts: (*use).starts,
		whereInput: (*use).lines, wherePairs: (*use).pairs, whereRest: (*use).rest,
	}
	if add := alone[w.kind]; add != nil {
		add(u, a)
		return
	}
	switch w.kind {
	case whereWhole:
		u.out = append(u.out, operation.Operation{
			Verb: a.verb, Object: operation.Object{Kind: operation.Whole}, Phrase: a.phrase, Recursive: u.recursive, With: u.with,
			Phase: cmp.Or(a.phase, u.sec.phase),
		})
	case whereOperands, whereOperand, whereLast, whereSources:
		u.each(a, u.places(w))
	case whereWords, wherePaths:
		u.mentions(a, w.kind == whereWords)
	case whereField:
		for _, value := range u.fields(w.key) {
			u.add(a, value, operation.Option)
		}
	case whereScript:
		u.scripts(a, w.key)
	case whereHere:
		u.add(a, u.folder, operation.Operand)
	default:
		for _, value := range u.texts(w) {
			if w.below != "" {
				value = u.join(value, shell.Text(w.below))
			}
			u.add(a, value, operation.Option)
		}
	}
}

func (u *use) places(w *where) []int {
	if w.kind == whereSources {
		return u.sources
	}
	return w.among(u.operands)
}

// given returns the words that an act gives to its objects.
func (u *use) given(a *act) []shell.Word {
	return lists.All(a.with, func(w where) []shell.Word { return u.texts(&w) })
}

// pairs adds every second operand, given the one before it, and so the values of options that take two.
func (u *use) pairs(a *act) {
	at := slices.Clone(u.operands[:len(u.operands)&^1])
	for i := range u.parsed.Flags {
		if f := &u.parsed.Flags[i]; f.Second {
			at = append(at, f.At-1, f.At)
		}
	}
	for i := 1; i < len(at); i += 2 {
		u.with = []shell.Word{u.Words[at[i-1]]}
		u.each(a, at[i:i+1])
	}
}

// rest adds an operand, given all words after it.
func (u *use) rest(a *act) {
	if len(u.operands) > 0 {
		at := u.operands[0]
		u.with = u.Words[at+1:]
		u.add(a, u.Words[at], operation.Operand)
	}
}

func (u *use) add(a *act, w shell.Word, role operation.Role) {
	o := operation.Operation{Verb: a.verb, Role: role, Recursive: u.recursive, Phrase: a.phrase, With: u.with, Phase: cmp.Or(a.phase, u.sec.phase)}
	o.Object = operation.Object{Kind: operation.Path, Word: w, Written: w}
	switch a.verb {
	case operation.Copy, operation.Move, operation.Link, operation.Alias:
		if u.hasTarget {
			o.To = u.to
		}
	case operation.Create, operation.MakeFolder, operation.Write, operation.Replace, operation.Empty:
		o.Recursive = false
	case operation.Format, operation.Partition, operation.Destroy:
		o.Object.Kind = operation.Device
	default:
	}
	if role != operation.Inside && u.sec.hosts {
		if path, ok := onHost(w); ok {
			o.Object.Word, o.Object.Host = path, true
		}
	}
	u.out = append(u.out, o)
}

func (u *use) each(a *act, places []int) {
	u.out = slices.Grow(u.out, len(places))
	for _, i := range places {
		w := u.Words[i]
		if u.left < 0 {
			return // each further name would be that of the long folder
		}
		if u.folders != nil {
			w = u.below(u.folders[i], w)
		}
		u.add(a, w, operation.Operand)
	}
}

// place finds the folder that options name before each operand.
func (u *use) place() {
	u.folders, u.folder = nil, shell.Text(".")
	if u.sec.below == nil {
		return
	}
	u.folders = make([]shell.Word, len(u.Words))
	var folder shell.Word
	defer func() {
		if !folder.Is("") {
			u.folder = folder
		}
	}()
	next := 0
	for i := range u.Words {
		for ; next < len(u.parsed.Flags) && u.parsed.Flags[next].At < i; next++ {
			f := &u.parsed.Flags[next]
			if f.Has && oneOf(f, u.sec.below) {
				folder = u.below(folder, u.Words[f.At].Cut(f.Cut))
			}
		}
		u.folders[i] = folder
	}
}

// below returns a name as seen from a folder.
func (u *use) below(folder, name shell.Word) shell.Word {
	if s := name.Prefix(); folder.Is("") || strings.HasPrefix(s, "/") || strings.HasPrefix(s, "~") {
		return name
	}
	return u.join(folder, name)
}

// join returns the path of a name in a folder; the folder alone if the budget is spent.
func (u *use) join(folder, name shell.Word) shell.Word {
	if u.left -= len(folder.String()) + len(name.String()); u.left < 0 {
		return folder
	}
	return shell.Glue(trimSlashes(folder), shell.Text("/"), name)
}

// target adds what is done to the target, which may be a folder that takes the sources. Copying /dev/null over a file empties it.
func (u *use) target(a *act) {
	if !u.hasTarget {
		return
	}
	if len(u.sources) == 1 && u.Words[u.sources[0]].Is("/dev/null") {
		emptied := *a
		emptied.verb = operation.Empty
		u.add(&emptied, u.to, operation.Target)
		return
	}
	u.add(a, u.to, operation.Target)
	switch a.verb {
	case operation.Create, operation.Write, operation.Replace:
		u.inside(a)
	default:
	}
}

// inside adds the names that the sources get if the target is a folder.
func (u *use) inside(a *act) {
	if _, far := onHost(u.to); far && u.sec.hosts {
		return
	}
	for _, i := range u.sources {
		if u.left < 0 {
			return
		}
		if name := base(u.Words[i]); !name.Is("") && !name.Is(".") && !name.Is("..") {
			u.add(a, u.join(u.to, name), operation.Inside)
		}
	}
}

// mentions adds every word, except for the values of options that the program uses itself. With parts, parts of a word may be names, too.
func (u *use) mentions(a *act, parts bool) {
	own := make([]bool, len(u.Words))
	for i := range u.parsed.Flags {
		f := &u.parsed.Flags[i]
		if f.Has && oneOf(f, u.sec.own) && u.parsed.alone(f) {
			own[f.At] = true
		}
	}
	operands := u.operands
	u.out = slices.Grow(u.out, len(u.Words))
	for i, w := range u.Words {
		role := operation.Mention
		if len(operands) > 0 && operands[0] == i {
			role, operands = operation.Operand, operands[1:]
		}
		if own[i] || i == u.parsed.Ended {
			continue
		}
		if !parts {
			role = operation.Mention
		}
		u.add(a, w, role)
		u.out[len(u.out)-1].Parts = parts
	}
}

// texts returns the words, or parts of words, at a place.
func (u *use) texts(w *where) (all []shell.Word) {
	switch w.kind {
	case whereOperands, whereOperand, whereLast, whereSources:
		return lists.Each(u.places(w), func(at int) shell.Word { return u.Words[at] })
	case whereValue, whereKey, whereAt, whereBefore:
		return u.values(w)
	case whereOption:
		return u.option()
	case whereTests:
		return u.expression()
	case whereHere:
		return []shell.Word{u.folder}
	case whereVariable:
		return u.variable(w.key)
	default:
		return nil
	}
}

// leavesOut reports whether the caller does not want an act; see [Command.Graded].
func (u *use) leavesOut(a *act) bool {
	return u.Graded && cmp.Or(a.phase, u.sec.phase) == operation.Final
}
