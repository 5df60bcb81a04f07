package code

import (
	"encoding/base32"
	"html"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/metnos/vaglio/vaglio/shell"
)

// operation is a function that yields a value.
type operation func(p *program, args []value, named map[string]value) value

// decoder turns a text into another; false says that it is not encoded so.
type decoder func(string) (string, bool)

func always(fn func(string) string) decoder {
	return func(s string) (string, bool) { return fn(s), true }
}

// decoders are the functions of one text alone.
func decoders() map[string]decoder {
	return map[string]decoder{
		"base64": decode64,
		"base32": func(s string) (string, bool) {
			b, err := base32.StdEncoding.DecodeString(s)
			return string(b), err == nil
		},
		"hex": unhex, "rot13": always(rot13), "inflate": inflate, "unicodeescape": always(unescape),
		"url":   func(s string) (string, bool) { s, err := url.PathUnescape(s); return s, err == nil },
		"html":  always(html.UnescapeString),
		"strip": always(strings.TrimSpace), "lower": always(strings.ToLower), "upper": always(strings.ToUpper),
		"dirname": always(path.Dir), "basename": always(path.Base),
	}
}

// operations are the functions that the table knows with a sign "=".
func operations() map[string]operation {
	out := map[string]operation{
		"shift":    func(p *program, args []value, _ map[string]value) value { return p.shift(args) },
		"map":      func(p *program, args []value, _ map[string]value) value { return p.perlMap(args) },
		"args":     func(p *program, _ []value, _ map[string]value) value { return p.arguments(1) },
		"cwd":      func(p *program, _ []value, _ map[string]value) value { return pathOf(textOf(p.in.Env("PWD"))) },
		"home":     func(p *program, _ []value, _ map[string]value) value { return pathOf(textOf(p.in.Home(""))) },
		"temp":     func(*program, []value, map[string]value) value { return pathOf(textOf(temporary())) },
		"root":     func(*program, []value, map[string]value) value { return text("/") },
		"self":     func(p *program, _ []value, _ map[string]value) value { return text(p.lang.name) },
		"input":    func(p *program, _ []value, _ map[string]value) value { return textOf(p.in.Stdin) },
		"env":      func(p *program, args []value, _ map[string]value) value { return environment(p, args) },
		"path":     func(p *program, args []value, _ map[string]value) value { return pathOf(p.joined(args)) },
		"pathjoin": pathJoined,
		"format":   format, "substitute": substitute,
	}
	for name, fn := range decoders() {
		out[name] = onFirst(func(_ *program, v value, _ []value) value { return v.each(fn) })
	}
	for _, fns := range []map[string]method{textMethods(), listMethods()} {
		for name, fn := range fns {
			out[name] = onFirst(fn)
		}
	}
	return out
}

// method is a function of its first argument and the rest.
type method func(p *program, v value, rest []value) value

func onFirst(fn method) operation {
	return func(p *program, args []value, _ map[string]value) value {
		if len(args) == 0 {
			return unknown("")
		}
		return fn(p, args[0], args[1:])
	}
}

func textMethods() map[string]method {
	return map[string]method{
		"same":   func(_ *program, v value, _ []value) value { v.name = ""; return v },
		"chr":    func(_ *program, v value, rest []value) value { return characters(append([]value{v}, rest...)) },
		"ord":    func(_ *program, v value, _ []value) value { return ordinal(v) },
		"decode": decoded, "buffer": buffer, "pack": pack, "concat": concat, "reverse": reversed,
		"join": joinTexts, "split": splitText, "replace": replaced, "substr": substr, "slice": slice,
		"lines":      func(_ *program, v value, _ []value) value { return splitAt(v, "\n") },
		"strreplace": func(p *program, v value, r []value) value { return replaced(p, nth(r, 1), []value{v, nth(r, 0)}) },
		"sprintf":    func(p *program, v value, rest []value) value { return p.formatted(v, rest) },
		"vsprintf":   func(p *program, v value, rest []value) value { return p.formatted(v, first(rest).list) },
		"printf": func(p *program, v value, rest []value) value {
			p.print(nil, p.formatted(v, rest).word())
			return value{}
		},
		"literal": literal, "pickle": pickle, "import": imported, "getattr": getattr,
		"translate": translate, "maketrans": maketrans,
		"expanduser": func(p *program, v value, _ []value) value { return p.expanded(v) },
	}
}

func listMethods() map[string]method {
	return map[string]method{
		"append": func(p *program, v value, rest []value) value { return p.grow(v, rest) },
		"extend": func(p *program, v value, rest []value) value { return p.grow(v, first(rest).elements()) },
		"insert": inserted,
		"pop":    func(p *program, v value, rest []value) value { return p.taken(v, rest, len(v.list)-1) },
		"first":  func(p *program, v value, _ []value) value { return p.taken(v, nil, 0) },
		"keys":   func(_ *program, v value, _ []value) value { return v.keyList() },
		"values": func(_ *program, v value, _ []value) value { v.kind, v.keys = kindList, nil; return v },
		"pairs":  func(_ *program, v value, _ []value) value { return v.pairs() },
		"get":    got, "call": called, "apply": applied,
		"split2": func(p *program, v value, rest []value) value {
			p.store(first(rest).holder, splitText(p, v, tailOf(rest, 1)))
			return value{}
		},
	}
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

func temporary() shell.Word { return shell.Glue(shell.Text("/tmp/"), unknownWord("temporary()")) }

func pathJoined(p *program, args []value, _ map[string]value) value {
	var flat []value
	for _, a := range args {
		flat = spreadInto(flat, a)
	}
	v := p.joined(flat)
	v.kind = first(args).kind
	return v
}

// environment is the value of a variable, or what stands in its place.
func environment(p *program, args []value) value {
	if len(args) == 0 {
		return unknown("environment")
	}
	v := p.env(args[0])
	if len(args) > 1 && v.word().HasUnknown() {
		v = v.or(args[1])
	}
	return v
}

// literal reads a text as an expression.
func literal(p *program, v value, _ []value) value {
	s, ok := v.text()
	if p.evals++; !ok || p.evals > maxEvals {
		return unknown("parse()")
	}
	return p.inner().read(shell.Text(s))
}

// pickle reads the call inside a serialised object.
func pickle(p *program, v value, _ []value) value {
	s, ok := v.text()
	m := serialised.FindStringSubmatch(s)
	if m != nil {
		return p.call(unknown(strings.Trim(m[1]+m[2]+"."+m[3], ".")), value{}, []value{text(strings.Trim(m[4], ` []"'-`))})
	}
	if !ok || strings.HasPrefix(s, "\x80") {
		p.gap(v.word())
	}
	return unknown("loads()")
}

// imported is what a name stands for.
func imported(_ *program, v value, _ []value) value {
	s, ok := v.text()
	if !ok {
		return unknown("import")
	}
	return unknown(moduleName(s))
}

func getattr(_ *program, v value, rest []value) value {
	name, ok := first(rest).text()
	if !ok || v.path == "" {
		return unknown("getattr()")
	}
	return unknown(v.path + "." + name)
}

// called calls its first argument: f.call(this, …) of node, f.call(…) of ruby.
func called(p *program, v value, rest []value) value {
	if p.lang.name == "node" {
		rest = tailOf(rest, 1)
	}
	return p.call(v, value{}, rest)
}

// applied calls what its first argument names, for each element of a list:
// send(:system, …), array_map("unlink", …), f.apply(this, […]).
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
	return p.eachOf(v, value{}, rest)
}

func inserted(p *program, v value, rest []value) value {
	if i, ok := first(rest).int(); ok && v.kind == kindList && len(rest) > 1 {
		v.list = slices.Insert(slices.Clone(v.list), max(min(i, len(v.list)), 0), rest[1])
		p.store(v.holder, v)
	}
	return v
}

// got is the value under a key, or what stands in its place.
func got(p *program, v value, rest []value) value {
	e, ok := v.field(first(rest).word().Prefix())
	switch {
	case ok:
		return e
	case len(rest) > 1:
		return unknown(v.path).or(rest[1])
	}
	return p.index(v, first(rest))
}
