package code

import (
	"encoding/hex"
	"maps"
	"path"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/metnos/vaglio/internal/lists"
	"github.com/metnos/vaglio/vaglio/shell"
)

// pure computes the value of a function from its first argument and the rest.
type pure func(p *program, v value, rest []value) value

// pures returns the functions that the table marks with "=".
func pures() map[string]pure {
	out := map[string]pure{
		"args":    func(p *program, _ value, _ []value) value { return p.arguments(1) },
		"workdir": func(p *program, _ value, _ []value) value { return pathOf(p.env(text("PWD"))) },
		"cwd": func(p *program, _ value, _ []value) value {
			if p.entered {
				return unknown("cwd()")
			}
			return pathOf(p.env(text("PWD")))
		},
		"parents": parents, "dirname": dirname, "clean": cleaned, "shown": digits,
		"home": func(p *program, _ value, _ []value) value { return pathOf(textOf(p.in.Home(""))) },
		"temp": func(p *program, v value, rest []value) value {
			out := pathOf(textOf(shell.Glue(shell.Text("/tmp/"), freshName())))
			if block := append([]value{v}, rest...)[len(rest)]; block.fn != nil {
				p.invoke(block.fn, []value{out})
			}
			return out
		},
		"root":   func(*program, value, []value) value { return text("/") },
		"file":   func(p *program, _ value, _ []value) value { return p.own(p.in.Path) },
		"folder": folder,
		"self":   func(p *program, _ value, _ []value) value { return text(p.lang.name) },
		"input":  func(p *program, _ value, _ []value) value { return textOf(p.in.Stdin) },
		"env":    environment,
		"path":   (*program).pathFrom,
		"pathjoin": func(p *program, v value, rest []value) value {
			out := p.joined(append([]value{v}, rest...))
			out.kind = v.kind
			return out
		},
		"url": relativeURL, "sibling": sibling, "ending": withEnding, "stem": withStem, "basename": lastStep, "lists": groups, "default": defaulted,
		"same": func(_ *program, v value, _ []value) value { v.name = ""; return v },
		"chr":  func(_ *program, v value, rest []value) value { return characters(append([]value{v}, rest...)) },
		"some": some, "order": reordered, "kept": kept, "flatmap": flatly, "set": setOf,
		"decode": decoded, "buffer": decoded, "reverse": reversed,
		"join": joinTexts, "split": splitText, "replace": replaced,
		"lines":   func(_ *program, v value, _ []value) value { return splitAt(v, "\n") },
		"format":  func(p *program, v value, rest []value) value { return p.filled(v, braceHoles, rest) },
		"sprintf": func(p *program, v value, rest []value) value { return p.filled(v, percentHoles, rest) },
		"json":    decodedAs("x.json"), "toml": decodedAs("x.toml"), "field": fieldDefault, "printf": printedAs,
		"getattr": func(p *program, v value, rest []value) value { return p.memberOf(v, first(rest)) },
		"pickle":  pickle, "import": imported, "include": included,
		"expanduser": below, "thaw": func(p *program, v value, _ []value) value { return p.thaws(v, false) },
		"append": func(p *program, v value, rest []value) value { return p.grow(v, rest) },
		"extend": func(p *program, v value, rest []value) value { return p.grow(v, first(rest).elements()) },
		"values": func(p *program, v value, _ []value) value { return p.every(v, 1) },
		"dotenv": secretsIn, "asdict": asMap,
		"hash": func(*program, value, []value) value { return textOf(oneName()) }, "keys": keysOf,
		"fresh": func(*program, value, []value) value { return textOf(freshName()) },
		"pairs": func(p *program, v value, _ []value) value { p.memberOf(v, value{}); return v.pairs() },
		"map":   func(p *program, v value, rest []value) value { return p.eachOf(v, flattened(rest)) },
		"apply": applied, "send": sent, "setenv": exported, "dict": named, "assign": assignedTo, "let": lets, "describe": describes,
	}
	maps.Copy(out, changing())
	for name, fn := range decoders() {
		out[name] = func(_ *program, v value, _ []value) value { return v.each(fn) }
	}
	return out
}

// printedAs prints a text with values in it.
func printedAs(p *program, v value, rest []value) value {
	p.print(nil, p.filled(v, percentHoles, rest).word())
	return value{}
}

// oneName returns a text that may be any name without a folder, not that of a file that was there.
func oneName() shell.Word {
	return shell.NewWord(shell.Part{Kind: shell.PartGlob, Text: "?", Level: true}, shell.Part{Kind: shell.PartGlob, Text: "*", Level: true})
}

// own returns a path of the program's own file, nothing if it is in none.
func (p *program) own(name string) value {
	if p.in.Path == "" {
		return value{}
	}
	return pathOf(text(name))
}

// dirname returns the folder of a path. Of one that is known up to a folder, it may be that one or below it.
func dirname(_ *program, v value, _ []value) value {
	var out []shell.Word
	for _, w := range v.words() {
		s, known := w.Text()
		switch at := strings.LastIndexByte(w.Prefix(), '/'); {
		case known:
			out = append(out, shell.Text(path.Dir(s)))
		case at >= 0:
			out = append(out, shell.Text(w.Prefix()[:max(at, 1)]), w)
		default:
			out = append(out, passedOn(v.path, w).word())
		}
	}
	return value{kind: v.kind, path: v.path, alts: capped(out)}
}

// decoder converts a text; false says that the text does not have that encoding.
type decoder func(string) (string, bool)

// decoders returns the functions of a single text.
func decoders() map[string]decoder {
	always := func(fn func(string) string) decoder {
		return func(s string) (string, bool) { return fn(s), true }
	}
	return map[string]decoder{
		"base64": decode64,
		"hex": func(s string) (string, bool) {
			b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
			return string(b), err == nil
		},
		"lower": always(strings.ToLower), "upper": always(strings.ToUpper),
	}
}

// decoded applies the decoder of a name: "hex", "base64". The result of an encoding that is not read is unknown.
func decoded(_ *program, v value, rest []value) value {
	name, _ := first(rest).text()
	switch fn := decoders()[name]; {
	case v.multi():
		return characters(v.list)
	case fn != nil:
		return v.each(fn)
	case name == "" || strings.HasPrefix(strings.ToLower(name), "utf") || name == "ascii" || name == "latin1":
		return v
	}
	return unknown("decode()")
}

// characters returns the text for character codes.
func characters(args []value) value {
	var b strings.Builder
	for _, a := range args {
		for _, e := range a.elements() {
			n, ok := e.int()
			if !ok || n < 0 || n > utf8.MaxRune {
				return unknown("chr()")
			}
			b.WriteRune(rune(n))
		}
	}
	return text(b.String())
}

// joinTexts reads python's sep.join(list), join(sep, list) and list.join(sep).
func joinTexts(p *program, v value, rest []value) value {
	with := first(rest)
	switch {
	case v.lacks(), with.lacks(), v.multi() && len(rest) > 1:
		return passedOn("join()", append(v.words(), with.words()...)...)
	case v.multi():
		if len(rest) == 0 && p.lang.name == "node" {
			with = text(",")
		}
		return joinWith(p, with, v.list)
	case len(rest) == 1 && with.multi():
		return joinWith(p, v, with.list)
	case p.lang.has("flat"), p.lang.name == "php":
		return joinWith(p, v, rest)
	case p.lang.name == "python" && with.known():
		return joinWith(p, v, splitAt(with, "").list)
	}
	return unknown("join()")
}

func joinWith(p *program, sep value, list []value) value {
	out := text("")
	for i, e := range list {
		if i > 0 && (len(sep.alts) > 0 || sep.path != "") {
			out = p.glue(out, sep)
		}
		out = p.glue(out, e)
	}
	return out
}

// splitText splits a text at another, or at blanks.
func splitText(p *program, v value, rest []value) value {
	sep := first(rest)
	if p.lang.name == "php" && len(rest) > 0 {
		v, sep = sep, v
	}
	s, ok := sep.text()
	t, known := v.text()
	if !known || ok && (s != " " || p.lang.name != "awk") || !p.spend(len(t)/bytesPerStep) {
		return splitAt(v, s)
	}
	return listOf(bounded(lists.Each(strings.Fields(t), func(f string) value { return text(strings.Trim(f, `'"`)) }))...)
}

func splitAt(v value, sep string) value {
	s, ok := v.text()
	if !ok {
		out := unknown("split()")
		if v.word().HasUnknown() {
			out.alts = capped(v.words())
		}
		return out
	}
	return listOf(bounded(lists.Each(strings.SplitN(s, sep, maxList+1), text))...)
}

func replaced(p *program, v value, rest []value) value {
	from, ok := first(rest).text()
	to := nth(rest, 1)
	if !ok || v.multi() || to.fn != nil || from == "" {
		return textOf(unknownWord("replace()"))
	}
	out := value{kind: v.kind}
	for _, w := range v.words() {
		s, known := p.fileText(w)
		switch {
		case !known:
			out.alts = append(out.alts, w)
		case p.spend(len(s)/bytesPerStep + 1):
			out.alts = append(out.alts, joinWith(p, to, splitAt(text(s), from).list).words()...)
		}
	}
	out.alts = capped(out.alts)
	return out
}

// The places in a text that a format fills.
var (
	braceHoles   = regexp.MustCompile(`\{\{|\}\}|\{[^{}]*\}`)
	percentHoles = regexp.MustCompile(`%(?:\(\w*\))?[-+ #0-9.*]*[^-+ #0-9.*]`)
	holeKey      = regexp.MustCompile(`^(?:\{|%\()(\w*)`)
)

// filled fills the holes of a text with arguments: {}, {0}, {name}, %s, %(name)s.
func (p *program) filled(format value, holes *regexp.Regexp, args []value) value {
	s, ok := format.text()
	if !ok {
		return format
	}
	args, named := splitNamed(args)
	var flat []value
	for _, a := range args {
		flat = spreadInto(flat, a)
	}
	if m := first(flat); m.kind == kindMap {
		named = m.fields()
	}
	out, from, next := text(""), 0, 0
	for _, at := range holes.FindAllStringIndex(s, -1) {
		hole := s[at[0]:at[1]]
		v := nth(flat, next)
		out = p.glue(out, text(s[from:at[0]]))
		from = at[1]
		if len(hole) == 2 && hole[0] == hole[1] {
			out = p.glue(out, text(hole[:1]))
			continue
		}
		next++
		if m := holeKey.FindStringSubmatch(hole); m != nil && m[1] != "" {
			v = named[m[1]]
			if n, err := strconv.Atoi(m[1]); err == nil {
				v = nth(flat, n)
			}
		}
		out = p.glue(out, shown(v, hole))
	}
	return p.glue(out, text(s[from:]))
}

// environment returns the value of a variable, or its default.
func environment(p *program, v value, rest []value) value {
	out := p.env(v)
	if len(rest) > 0 && out.word().HasUnknown() {
		out = out.or(rest[0])
	}
	return out
}

// serialised matches a call inside a serialized object.
var serialised = regexp.MustCompile(`(?:!!python/object/(?:apply|new):([\w.]+)\s*|^c(\w+)\n(\w+)\n\([SVU])([^\n]*)`)

// imported returns the module that a name stands for.
func imported(p *program, v value, _ []value) value {
	s, ok := v.text()
	if !ok {
		return unknown("import")
	}
	if isData(s) && p.lang.name == "node" {
		if out := p.data(path.Dir(p.in.Path), s); out.given() {
			return out
		}
	}
	if strings.Contains(s, "://") && !strings.HasPrefix(s, "file:") {
		p.gap(remote(s).word())
	}
	if strings.HasSuffix(s, ".node") {
		p.loads(&function{from: 0}, "require", []value{v}, nil)
	}
	p.takes(moduleName(s))
	included(p, v, nil)
	return unknown(moduleName(s))
}

// applied calls what its first argument names, for each element of a list: send(:system, …), array_map("unlink", …), f.apply(this, […]).
func applied(p *program, v value, rest []value) value {
	node := p.lang.name == "node"
	if node {
		rest = tailOf(rest, 1)
	}
	switch list := first(rest); {
	case v.fn == nil && v.path == "" && !v.known():
		return unknown("")
	case len(rest) != 1 || !list.multi():
		return p.call(v, value{}, rest)
	case node:
		return p.call(v, value{}, list.list)
	}
	return p.eachOf(v, flattened(rest))
}

// sent calls a method of a value by its name, which is the first argument.
func sent(p *program, v value, rest []value) value {
	p.memberOf(v, first(rest))
	name, _ := first(rest).text()
	if full := ending(strings.TrimPrefix(p.canonical(v.path)+"."+name, ".")); p.lang.full[name] == nil || p.lang.find(full, "") != nil {
		return p.method(v, name, full, tailOf(rest, 1))
	}
	return p.call(value{path: name}, value{}, tailOf(rest, 1)) // what every object has
}

// memberOf returns what a module or an object has by a name. One that is not known may be a function that runs what it is given.
func (p *program) memberOf(v, name value) value {
	key, known := name.text()
	if !known && !v.multi() && p.lang.runners[p.canonical(v.path)] {
		p.gap(unknownWord(v.path + "." + shell.AnyOf))
	}
	return unknown(v.path + "." + key)
}

// flattened returns values with lists replaced by their elements.
func flattened(vs []value) (out []value) {
	for _, v := range vs {
		if v.spread = true; v.name == "" || v.kind != kindOther { // no flag
			out = spreadInto(out, v)
		}
	}
	return out
}

// defaulted returns an element of a map, or puts another value there, as d.setdefault(key, value) does.
func defaulted(p *program, v value, rest []value) value {
	held := v.holder != "" && !strings.Contains(v.holder, "\x00")
	if len(rest) < 2 || !v.multi() || !held {
		return unknown("setdefault")
	}
	out := rest[1].or(p.element(v, rest[0]))
	out.holder = v.holder + "\x00" + rest[0].key()
	p.store(out.holder, out)
	return out
}

// runRemote reads a function that runs a command line on another machine.
func (p *program) runRemote(_ *function, name string, args []value, _ map[string]value) value {
	p.argv([]shell.Word{shell.Text("ssh"), unknownWord(name), first(args).word()})
	return unknown(name + "()")
}

// opensDatabase reads a call of a library that opens a database in a file.
func (p *program) opensDatabase(_ *function, name string, args []value, _ map[string]value) value {
	if at := first(args).word(); at.Prefix() != "" && !strings.HasPrefix(at.Prefix(), ":") {
		p.emit(name, shell.VerbRead, at)
	}
	return p.callOther(name, value{}, args)
}

// groups returns a map whose elements are lists until something else is put there, as defaultdict(list) does.
func groups(_ *program, v value, _ []value) value {
	if v.path != "list" && v.path != "set" {
		return passedOn("defaultdict", v.word())
	}
	return value{kind: kindMap}.with(anyKey, listOf())
}
