package code

import (
	"fmt"
	"maps"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/metnos/vaglio/internal/lists"
	"github.com/metnos/vaglio/internal/settings"
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
	v.list, v.alts, v.of = slices.Clone(v.list), slices.Clone(v.alts), ""
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

// kept returns the elements of a list that a function keeps, nobody knows which. One that is not told what it decides on keeps all.
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

// orList returns the elements of two lists. Of a map that may be a list instead, the keys may be elements, too.
func (v value) orList(o value) value {
	if len(v.keys)+len(o.keys) > 0 {
		o.list = added(o.list, unknown(""))
	}
	v.some = v.some || o.some
	return v.listed(added(v.list, o.list...))
}

// reordered returns the elements of a list, nobody knows in which order. A function may compare them.
func reordered(p *program, v value, rest []value) value {
	v = p.iterated(v)
	for _, compares := range rest {
		if p.isFunction(compares) {
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

// descends reports whether a call of a function by itself only goes on below the folders that the last one was given: its result lies below that one's.
func (f *routine) descends(args []value) bool {
	known := lists.All(f.held, value.words)
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

// hold puts a value into a variable: anything, if lists of lists, which each line may double, hold over maxFlat.
func (p *program) hold(key string, v value) {
	if slices.ContainsFunc(v.list, value.multi) && v.width(maxFlat) > maxFlat {
		v = unknown(v.path)
	}
	p.vars[key] = p.identified(v)
}

// mixes notes that a method moves the elements of a list, takes some out or puts others in: where one is from there on, is not known.
func (p *program) mixes(v value, args []value) {
	held, ok := p.vars[p.key(v.holder)]
	if held = p.current(held); !ok || held.kind != kindList || v.kind != kindList || !p.spend(1+len(held.list)) {
		return
	}
	for _, e := range flattened(args) {
		if e.fn == nil && e.kind != kindNumber {
			held.list = added(held.list, e)
		}
	}
	held.some = true
	p.hold(p.key(v.holder), held)
	p.touch(held, held)
}

// decodedAs returns a function that decodes a text, or the content of a file of the project, as files of some name are.
func decodedAs(file string) pure {
	return func(p *program, v value, _ []value) value {
		out := value{kind: kindNone}
		for _, w := range v.words() {
			text, known := p.fileText(w)
			held, ok := p.decode(file, text, known && !v.multi())
			if !ok {
				return passedOn("settings()", v.words()...)
			}
			out = out.or(held)
		}
		return out
	}
}

// decode returns the value of a text, where that is known, in the form of files of some name.
func (p *program) decode(file, text string, known bool) (held value, ok bool) {
	var tree any
	if known && p.spend(len(text)/bytesPerStep) {
		ok, _ = settings.Decode(file, text, &tree)
	}
	return p.valueOf(tree), ok
}

// fileText returns a text, or the content of a file of the project that a word stands for.
func (p *program) fileText(w shell.Word) (string, bool) {
	if s, known := w.Text(); known {
		file, held := p.held[s]
		if held {
			p.relies(file)
		}
		return s, !held || !p.changes
	}
	file, ok := contentOf(w)
	if !ok {
		return "", false
	}
	return p.settingsIn(p.pathOf(file))
}

// settingsIn returns the content of a file of the project, by its absolute path.
func (p *program) settingsIn(name string) (string, bool) {
	if p.in.Source == nil || p.entered || !path.IsAbs(name) || p.in.Lies != nil && !p.in.Lies(name) {
		return "", false
	}
	if p.relies(name); p.changes {
		return "", false
	}
	return p.in.Source(name)
}

// valueOf returns the value of what a text was decoded to.
func (p *program) valueOf(tree any) value {
	switch t := tree.(type) {
	case string:
		return text(t)
	case nil:
		return value{kind: kindNone}
	case bool:
		return value{kind: kindOther}
	case []any:
		out := listOf()
		for _, e := range t[:min(len(t), maxList+1)] {
			out.list = append(out.list, p.valueOf(e))
		}
		out.list = bounded(out.list)
		return out
	case map[string]any:
		out := value{kind: kindMap}
		for _, key := range slices.Sorted(maps.Keys(t)) {
			if len(out.keys) > maxList || !p.spend(1) {
				return unknown("settings()")
			}
			out.keys, out.list = append(out.keys, key), append(out.list, p.valueOf(t[key]))
		}
		return out
	}
	return value{kind: kindNumber, alts: []shell.Word{shell.Text(fmt.Sprint(tree))}}
}

// reliance is that a program uses what a file held after the first of its steps, or after all if it is not known when.
type reliance struct {
	file  string
	after int
}

// relies notes that the content of a file is used: now, unless a function or a loop uses it, a file that is read aside, or what may be a block for later.
func (p *program) relies(file string) {
	after := math.MaxInt
	if p.root == p && p.lang.has("ordered") && len(p.returns)+p.later+p.unsure == 0 {
		after = len(p.out.Actions)
	}
	p.relied = append(p.relied, reliance{file, after})
}

// changesRelied reports whether the program may change a file whose content it was read with, before it uses that.
func (p *program) changesRelied() bool {
	for i, s := range slices.Concat(p.aside, p.out.Actions) {
		step := i - len(p.aside)
		is := func(w shell.Word) bool { return p.mayBeRelied(w, step) }
		runs := (s.Shell != nil || s.Argv != nil) && slices.ContainsFunc(p.relied, func(r reliance) bool { return step < r.after })
		reads := s.Call == nil || s.Call.Verb == shell.VerbRead || s.Call.Verb == shell.VerbList
		if runs || s.Writes && is(s.File) || !reads && slices.ContainsFunc(s.Call.Targets, is) {
			return true
		}
	}
	return false
}

// mayBeRelied reports whether a word of a step may name a file whose content is used after it, or a folder above that.
func (p *program) mayBeRelied(w shell.Word, step int) bool {
	s, known := w.Text()
	at := p.pathOf(w)
	if at == "" && p.changes {
		return false // it may be known once the settings are
	}
	return slices.ContainsFunc(p.relied, func(r reliance) bool {
		if !known {
			return step < r.after && strings.HasPrefix(r.file, at)
		}
		return step < r.after && (s == "" || at == r.file || strings.HasPrefix(r.file, strings.TrimSuffix(at, "/")+"/"))
	})
}

// isData reports whether a module is a file of data that lies beside the program's own.
func isData(module string) bool {
	return strings.HasPrefix(module, ".") && strings.HasSuffix(module, ".json")
}

// importsData gives the name of a file of data, if that is what was imported, what the file holds.
func (p *program) importsData(name string) {
	file := p.tok(p.at + 1).Text
	if p.lang.name != "node" || !isData(file) || !p.word("from") || !p.tok(p.at-1).Word(name) {
		return
	}
	if held := p.data(path.Dir(p.in.Path), file); held.given() {
		p.vars[name] = held
	}
}

// data returns what a file of the project holds, named as seen from a folder.
func (p *program) data(folder, file string) value {
	text, known := p.settingsIn(path.Join(folder, file))
	if held, ok := p.decode(file, text, known); ok {
		return held
	}
	return unknown("")
}

// merged returns a map that takes over what others hold, or what has a name.
func (v value) merged(others []value) value {
	for _, o := range others {
		switch {
		case o.name != "":
			v = v.with(o.name, o)
		case o.kind == kindMap:
			v = v.orMap(o)
		default:
			v = v.with(anyKey, unknown(o.path))
		}
	}
	return v
}

// ofMap returns what python's d.get(key, default) and d.pop return of a map.
func (p *program) ofMap(v value, name string, args []value) (value, bool) {
	switch key := first(args).key(); {
	case p.lang.full[p.canonical(v.path+"."+key)] != nil && p.lang.find(v.path+"."+name, "") == nil: // os.__dict__.get("system")
		return unknown(v.path + "." + key), true
	case v.kind != kindMap || !p.lang.has("columns") || len(args) == 0:
		return value{}, false
	case name == "update":
		p.puts(v, v.merged(args))
		return value{kind: kindNone}, true
	case name != "get" && name != "pop":
		return value{}, false
	}
	if e, found := p.keyedElement(v, args[0]); found {
		return e, true
	}
	out := value{kind: kindNone}
	if _, more := v.field(anyKey); more || !args[0].known() {
		out = p.anyOf(v.list).or(unknown(name + "()"))
	}
	return out.or(nth(args, 1)), true
}

// eachOf calls a function with each of the values.
func (p *program) eachOf(fn value, list []value) value {
	if len(list) == 0 {
		p.call(fn, value{}, nil)
		return fn
	}
	out := value{kind: kindList, spread: p.lang.has("flat")}
	for _, e := range bounded(list) {
		some := e.some
		e.spread, e.some = false, some && e.multi()
		made := p.call(fn, value{}, []value{e})
		made.some = made.some || some
		out.list = append(out.list, made)
	}
	return out
}

// asMap returns the fields of an object of the program's classes.
func asMap(p *program, v value, _ []value) value {
	class := p.classOf(strings.TrimSuffix(v.path, "()"))
	if class == nil || v.given() || class.toks != p || len(class.bases) > 0 {
		return unknown("asdict()")
	}
	out := value{kind: kindMap}
	for _, at := range class.params {
		name := p.toks[at].Text
		e, held := p.stored(v, name, "")
		if !held {
			e = unknown(name)
		}
		out = out.with(name, e)
	}
	return out
}

func keysOf(p *program, v value, _ []value) value {
	if !v.multi() {
		return passedOn("keys()", v.word())
	}
	return p.iterated(p.every(v, 0))
}

// goesBelow reports whether a path is that of names which were found in a folder.
func goesBelow(w, folder shell.Word) bool {
	name, below := strings.CutPrefix(w.String(), folder.String()+"/")
	return below && (name == "*" || name == chosenNames) && severalNames(w)
}

// folder returns the program's own folder: where it lies, or runs if it is in no file.
func folder(p *program, _ value, _ []value) value {
	if p.in.Path == "" && p.in.Cwd == "" {
		return value{}
	}
	return pathOf(text(p.ownFolder()))
}
