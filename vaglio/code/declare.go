package code

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/metnos/vaglio/internal/lists"
	"github.com/metnos/vaglio/vaglio/shell"
)

// declares reads a call that says something of the program's options, or reads the command line. It is false if the call returns no value of an option.
func (p *program) declares(name string, args []value) (value, bool) {
	how := p.lang.options.call(name)
	if how == nil || len(args) <= how.at("name") { // text.String() declares nothing
		return value{}, false
	}
	plain, named := splitNamed(args)
	for _, a := range plain {
		maps.Copy(named, a.fields())
	}
	fns, all := p.ownFunctions(plain), p.declared(how, plain, named)
	block := how.has("block") && len(fns) > 0
	if block {
		all[0].block = fns[0]
	}
	p.options = append(p.options, all...)
	if s, _ := first(plain).text(); strings.HasSuffix(name, ".command") {
		p.commands = append(p.commands, strings.Fields(s)[:min(len(strings.Fields(s)), 1)]...)
	}
	switch {
	case how.has("command"):
		p.command = how
		return unknown(name + "()"), p.runsCommands(how, fns, named)
	case how.has("parses"):
		p.parses(append(plain, named["args"]), named["into"].holder)
	case how.has("handles"):
		p.handles(how, fns)
		return unknown(name + "()"), len(fns) > 0
	case how.has("to"):
		p.store(nth(plain, how.at("to")).holder, p.told(all...))
	case how.has("result"):
		return p.told(all...).handled(how.has("list")), true
	}
	return unknown(name + "()"), block
}

// runsCommands reads functions that a library runs with the options; false if there are none.
func (p *program) runsCommands(how attributes, fns []*routine, named map[string]value) bool {
	fns = append(fns, lists.All(slices.Sorted(maps.Keys(named)), func(key string) []*routine { return p.ownFunctions([]value{named[key]}) })...)
	if len(fns) == 0 && how.has("operand") {
		fns = p.routines
	}
	for _, f := range fns {
		f.command = how
		p.invoke(f, nil)
	}
	return len(fns) > 0
}

// ownFunctions returns the functions of the program among values.
func (p *program) ownFunctions(args []value) (fns []*routine) {
	for _, a := range args {
		if f := cmp.Or(a.fn, p.fns[a.path]); f != nil && !a.given() {
			fns = append(fns, f)
		}
	}
	return fns
}

// declared returns the options that a call declares.
func (p *program) declared(how attributes, plain []value, named map[string]value) (all []option) {
	group, usual := named[how["keys"]], named[how["usual"]]
	if how["keys"] == "1" {
		group = first(plain)
	}
	add := func(key string, says map[string]value) {
		all = append(all, p.option(attributes{"name": "1"}, []value{text(key)}, says))
	}
	for i, key := range group.keys {
		add(key, group.list[i].fields())
	}
	for i, key := range usual.keys {
		add(key, map[string]value{"default": usual.list[i]})
	}
	for i, key := range named["alias"].keys {
		add(key, map[string]value{"alias": named["alias"].list[i]})
	}
	switch {
	case how.has("spec"):
		p.specified(plain)
	case how.has("usage"):
		return p.usage(plain, named)
	case how.has("fixed"):
		for _, dest := range slices.Sorted(maps.Keys(named)) {
			add(dest, map[string]value{"default": named[dest]})
		}
	case how.has("dashed"), how.has("name"), how.has("operand") && !how.has("command"):
		all = append(all, p.option(how, plain, named))
	}
	return all
}

func (p *program) option(how attributes, plain []value, named map[string]value) option {
	o := option{param: how.has("param"), bare: how.has("operand")}
	named = maps.Clone(named)
	for i, v := range plain {
		if !p.declaredBy(&o, how, i, v) && i == how.at("default") && v.kind != kindMap {
			named["default"] = v
		}
		o.made = o.made || p.converts(v) && !how.has("block") && !how.has("handles")
	}
	for _, key := range slices.Sorted(maps.Keys(named)) {
		p.attribute(&o, key, named[key])
	}
	return o
}

// declaredBy adds the names in one argument of the call that declares an option, if it is no default.
func (p *program) declaredBy(o *option, how attributes, i int, v value) bool {
	s, _ := v.text()
	o.many = o.many || i == 0 && strings.Contains(s, "...")
	switch {
	case strings.HasPrefix(s, "-") && how.has("dashed"):
		o.bare = false
		p.names(o, v)
	case i == how.at("default"):
		return false
	case i == how.at("name"), i == how.at("short"), i == 0 && !how.has("to"):
		p.names(o, v)
	case how.has("param") && s != "":
		p.names(o, v) // of the parameter that has it
	}
	return true
}

// names adds the names in a value. What is no name that is known, or makes a value in another way than the library does by itself, leaves all options unknown.
func (p *program) names(o *option, v value) {
	for _, w := range v.words() {
		s, ok := w.Text()
		o.names = append(o.names, optionNames(s)...)
		p.lost = p.lost || !ok
	}
}

// attribute takes in one attribute of an option.
func (p *program) attribute(o *option, key string, v value) {
	_, known := v.text()
	switch key {
	case "default", "const":
		o.usual = append(o.usual, v.told()...)
	case "nargs", "multiple":
		o.bare = true
	case "dest", "alias", "aliases", "short", "shortFlag":
		p.names(o, v)
	case "action":
		p.lost = p.lost || !known
	case "default_factory":
		p.lost = true
	case "type":
		o.isPath = strings.Contains(v.path, "Path")
		p.lost = p.lost || !known && p.lang.options.names["types"][v.path] == nil
	}
	p.makes(o, key, v)
}

// makes notes that an attribute's value makes what the option is.
func (p *program) makes(o *option, key string, v value) {
	made := &p.lost
	if key == "default" && p.lang.name == "node" { // commander's, which makes the value, stands there
		made = &o.made
	}
	*made = *made || p.converts(v)
}

// told returns the words of a value that is something.
func (v value) told() []shell.Word {
	if v.idle() {
		return nil
	}
	return v.words()
}

// converts reports whether a value is a function or class of the program.
func (p *program) converts(v value) bool {
	return v.fn != nil || !v.given() && (p.fns[v.path] != nil || p.classes[strings.TrimSuffix(v.path, "()")] != nil)
}

// specified reads the names of options with what they take, each before its place.
func (p *program) specified(args []value) {
	if _, ok := first(args).text(); !ok { // read from elsewhere, or into a map
		for _, a := range args {
			p.vars[p.key(a.holder)] = unknown("")
		}
		return
	}
	p.branches++
	for i := 1; i < len(args); i += 2 {
		s, ok := args[i-1].text()
		p.lost = p.lost || !ok
		names := strings.Split(s[:strings.IndexAny(s+"=", "=:!+")], "|")
		switch v := p.told(option{names: names}); {
		case v.kind == kindNone:
		case args[i].fn != nil:
			p.invoke(args[i].fn, []value{text(names[0]), v})
		default:
			p.store(args[i].holder, v)
		}
	}
	p.branches--
}

// usage returns the options with a default in a text that tells how to run the program.
func (p *program) usage(plain []value, named map[string]value) (all []option) {
	s, ok := first(plain).text()
	p.lost = p.lost || !ok || len(plain)+len(named) > 1 // other words, or from elsewhere
	for line := range strings.SplitSeq(s, "\n") {
		if m := usualIn.FindStringSubmatch(line); m != nil {
			all = append(all, option{names: optionNames(m[1]), usual: []shell.Word{shell.Text(m[2])}})
		}
	}
	return all
}

// parses reads a call that reads words, and gives the functions of the options their values.
func (p *program) parses(words []value, into string) {
	p.lost = p.lost || slices.ContainsFunc(words, p.isForeign)
	line, _ := p.commandLine()
	p.branches++
	for _, o := range p.options {
		if o.block == nil && into == "" || !p.lost && !slices.ContainsFunc(line, o.in) {
			continue
		}
		v := p.told(o)
		if o.block != nil {
			p.invoke(o.block, []value{v})
		}
		for _, name := range o.names {
			p.store(into+"\x00"+name, v)
		}
	}
	p.branches--
}

// isForeign reports whether words that are parsed may be others than those of the command line.
func (p *program) isForeign(v value) bool {
	if v.kind != kindList {
		return v.kind != kindMap && (len(v.alts) > 0 || v.path != "") && p.lang.options.names["words"][v.path] == nil
	}
	return !slices.ContainsFunc([]int{0, 1, 2}, func(skip int) bool { return slices.EqualFunc(v.words(), p.arguments(skip).words(), shell.Word.Equal) })
}

// parsedOption returns what a member of what a library found on the command line may be. It is false if anything else may say so.
func (p *program) parsedOption(on, name string) (value, bool) {
	head, _, _ := strings.Cut(on, ".")
	if p.lang.options.names["operands"][head].has(name) {
		return p.operands(), !p.lost
	}
	how := p.lang.options.field(on)
	if how == nil || head == "JSON" { // what it parses is no command line
		return value{}, false
	}
	if name == "_" || name == "positionals" {
		return p.operands(), !p.lost
	}
	all := p.optionsNamed(name)
	if len(all) == 0 && how.has("any") {
		all = []option{{names: []string{plainName(name)}, bare: how.has("dashed") && !strings.HasPrefix(name, "-")}}
	}
	out := p.told(all...)
	return out, len(all) > 0 && !p.lost
}

func (p *program) optionsNamed(name string) (all []option) {
	name = plainName(name)
	for i := 0; i < len(p.options) && p.spend(1); i++ {
		if o := p.options[i]; slices.Contains(o.names, name) {
			all = append(all, o)
		}
	}
	return all
}

// told returns what options may be, from the command line that runs the program and from what it declares.
func (p *program) told(all ...option) value {
	line, ok := p.commandLine()
	out := value{kind: kindNone}
	for i := range all {
		o := &all[i]
		if ok = ok && p.isTellable(o); !ok || !p.spend((1+len(line))*(1+len(o.names))) {
			break
		}
		of := line
		if o.bare {
			of = p.behind(line)
		}
		if words := append(slices.Clone(o.usual), o.takes(of)...); len(words) > 0 {
			out.kind, out.alts = kindText, append(out.alts, words...)
		}
		if o.isPath && out.kind == kindText {
			out.kind = kindPath
		}
	}
	if !ok || len(out.alts) > maxList {
		return unknown("option()")
	}
	return out
}

// commandLine returns the words that the program is run with; false if its options may come from elsewhere.
func (p *program) commandLine() ([]shell.Word, bool) {
	line, own := p.ownWords()
	if found := p.in.Found && p.lang.options.patterns["found"] == nil; found && !own {
		line = []shell.Word{} // a tool gives it none
	} else if !own {
		line = p.ranBy(math.MaxInt)
		line = line[min(1, len(line)):]
	}
	if !p.looked {
		p.looked = true
		mayBeOption := func(w shell.Word) bool { return w.HasUnknown() && strings.Trim(w.Prefix(), "-") == "" } // with its value
		p.lost = p.lost || line == nil || slices.ContainsFunc(line, mayBeOption) ||
			p.finds("lost", "plain", p.src) || !p.nowhere("moved", "plain")
	}
	return line, !p.lost
}

// commanded returns what the parameter at an index of a function is if nothing calls the function
// with a value for it: its default, or what the command line says if the function is a command.
func (p *program) commanded(f *routine, at, eq int) value {
	name, all := p.toks[at].Text, len(p.options)
	v, usual := value{path: name, alts: []shell.Word{unknownWord(name)}}, p.tok(eq).Is("=")
	if f.command != nil && p.tok(at+1).Is(":") {
		p.at = at + 2
		p.binary() // its type may declare an option
	}
	if held, known := f.usual[at]; known {
		v = held
	} else if usual {
		p.at = eq + 1
		v = p.expression()
	}
	told := p.optionsOf(f, at, p.options[all:], !usual)
	if len(told) == 0 {
		return v
	}
	out := p.told(told...)
	switch {
	case !p.onlyRun(f), out.kind == kindNone && !usual && f.command != nil:
		return unknown(name)
	case usual:
		out = out.or(v)
	}
	return out.handled(p.tok(at + 1).Is("[")) // Go's args []string
}

// optionsOf returns the options whose value a parameter may have; own are those that it declares.
func (p *program) optionsOf(f *routine, at int, own []option, needed bool) []option {
	name, told := p.toks[at].Text, slices.Clone(own)
	for _, o := range p.optionsNamed(name) {
		if o.param {
			told = append(told, o)
		}
	}
	if f.command != nil {
		told = append(told, option{
			names: []string{plainName(name), strings.ToLower(name[:1])}, bare: f.command.has("operand") || needed && len(told) == 0,
			isPath: p.tok(at+2).Word("Path") || p.tok(at+4).Word("Path"),
		})
	}
	return told
}

// onlyRun reports whether nothing but a library hands a function values.
func (p *program) onlyRun(f *routine) bool {
	for i, t := range p.toks {
		called := p.tok(i+1).Is("(") && p.tok(i+2).Is(")")
		given := p.tok(i-1).Is("(") && p.lang.options.call(p.tok(i-4).Text+"."+p.tok(i-2).Text).has("command")
		if t.Word(f.name) && !called && !given && !p.tok(i-1).Word("def") {
			return false
		}
	}
	return p.spend(len(p.toks) / bytesPerStep)
}

// unreached reads the functions that stand as values and that nothing which is followed calls: something may, with anything. A class is a type there.
func (p *program) unreached() {
	for _, name := range slices.Sorted(maps.Keys(p.stand)) {
		last := name[strings.LastIndexByte(name, '.')+1:]
		class := p.lang.name != "go" && last >= "A" && last < "["
		if p.at = p.stand[name]; p.at >= 0 && !class && !p.in.Found && !p.lang.has("bare") {
			p.call(unknown(name), value{}, []value{unknown("")})
		}
	}
}
