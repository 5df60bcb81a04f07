package code

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/metnos/vaglio/vaglio/shell"
)

// operation is a function that yields a value.
type operation func(p *program, args []value, named map[string]value) value

// method is a function of its first argument and the rest.
type method func(p *program, v value, rest []value) value

// decoder turns a text into another; false says that it is not encoded so.
type decoder func(string) (string, bool)

func always(fn func(string) string) decoder {
	return func(s string) (string, bool) { return fn(s), true }
}

// decoders are the functions of one text alone.
func decoders() map[string]decoder {
	return map[string]decoder{
		"base64": decode64,
		"hex":    unhex,
		"strip":  always(strings.TrimSpace), "lower": always(strings.ToLower), "upper": always(strings.ToUpper),
		"dirname": always(path.Dir), "basename": always(path.Base),
	}
}

// operations are the functions that the table knows with a sign "=".
func operations() map[string]operation {
	known := func(w func(p *program) shell.Word) operation {
		return func(p *program, _ []value, _ map[string]value) value { return pathOf(textOf(w(p))) }
	}
	out := map[string]operation{
		"args":  func(p *program, _ []value, _ map[string]value) value { return p.arguments(1) },
		"cwd":   known(func(p *program) shell.Word { return p.in.Env("PWD") }),
		"home":  known(func(p *program) shell.Word { return p.in.Home("") }),
		"temp":  known(func(*program) shell.Word { return shell.Glue(shell.Text("/tmp/"), unknownWord("temporary()")) }),
		"root":  func(*program, []value, map[string]value) value { return text("/") },
		"self":  func(p *program, _ []value, _ map[string]value) value { return text(p.lang.name) },
		"input": func(p *program, _ []value, _ map[string]value) value { return textOf(p.in.Stdin) },
		"env":   environment,
		"format": func(p *program, args []value, named map[string]value) value {
			return p.filled(first(args), braceHoles, tailOf(args, 1), named)
		},
		"path": func(p *program, args []value, _ map[string]value) value { return pathOf(p.joined(args)) },
		"pathjoin": func(p *program, args []value, _ map[string]value) value {
			var flat []value
			for _, a := range args {
				flat = spreadInto(flat, a)
			}
			v := p.joined(flat)
			v.kind = first(args).kind
			return v
		},
	}
	for name, fn := range decoders() {
		out[name] = onFirst(func(_ *program, v value, _ []value) value { return v.each(fn) })
	}
	for name, fn := range methods() {
		out[name] = onFirst(fn)
	}
	return out
}

func onFirst(fn method) operation {
	return func(p *program, args []value, _ map[string]value) value {
		if len(args) == 0 {
			return unknown("")
		}
		return fn(p, args[0], args[1:])
	}
}

func methods() map[string]method {
	return map[string]method{
		"same":   func(_ *program, v value, _ []value) value { v.name = ""; return v },
		"chr":    func(_ *program, v value, rest []value) value { return characters(append([]value{v}, rest...)) },
		"decode": decoded, "buffer": decoded, "reverse": reversed,
		"join": joinTexts, "split": splitText, "replace": replaced,
		"lines":   func(_ *program, v value, _ []value) value { return splitAt(v, "\n") },
		"sprintf": func(p *program, v value, rest []value) value { return p.formatted(v, rest) },

		"printf": func(p *program, v value, rest []value) value {
			p.print(nil, p.formatted(v, rest).word())
			return value{}
		},
		"pickle": pickle,
		"import": imported, "getattr": getattr,
		"expanduser": func(p *program, v value, _ []value) value { return p.expanded(v) },
		"append":     func(p *program, v value, rest []value) value { return p.grow(v, rest) },
		"extend":     func(p *program, v value, rest []value) value { return p.grow(v, first(rest).elements()) },
		"values":     func(_ *program, v value, _ []value) value { v.kind, v.keys = kindList, nil; return v },
		"pairs":      func(_ *program, v value, _ []value) value { return v.pairs() },
		"map":        func(p *program, v value, rest []value) value { return p.eachOf(v, value{}, rest) },
		"call": func(p *program, v value, rest []value) value { // f.call(this, …) of node, f.call(…) of ruby
			if p.lang.name == "node" {
				rest = tailOf(rest, 1)
			}
			return p.call(v, value{}, rest)
		},
		"apply": applied,
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

// environment is the value of a variable, or what stands in its place.
func environment(p *program, args []value, _ map[string]value) value {
	v := p.env(first(args))
	if len(args) > 1 && v.word().HasUnknown() {
		v = v.or(args[1])
	}
	return v
}

// serialised is a call inside a serialised object.
var serialised = regexp.MustCompile(`(?:!!python/object/(?:apply|new):([\w.]+)\s*|^c(\w+)\n(\w+)\n\([SVU])([^\n]*)`)

// pickle reads the call inside a serialised object; of any other nothing is
// known.
func pickle(p *program, v value, _ []value) value {
	s, _ := v.text()
	if m := serialised.FindStringSubmatch(s); m != nil {
		return p.call(unknown(strings.Trim(m[1]+m[2]+"."+m[3], ".")), value{}, []value{text(strings.Trim(m[4], ` []"'-`))})
	}
	p.gap(v.word())
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

// joined are texts joined as the elements of a path.
func (p *program) joined(parts []value) value {
	out := value{}
	for i, v := range parts {
		if i == 0 || strings.HasPrefix(v.word().Prefix(), "/") && p.lang.name != "node" {
			out = v
			continue
		}
		if !strings.HasSuffix(out.word().Suffix(), "/") {
			out = p.glue(out, text("/"))
		}
		out = p.glue(out, v)
	}
	for i, w := range out.alts { // what is not known in full stays as it is
		if s, ok := w.Text(); ok && s != "" && !out.multi() {
			out.alts = slices.Clone(out.alts)
			out.alts[i] = shell.Text(path.Clean(s))
		}
	}
	return out
}

// expanded is a path with the home folder in place of its tilde.
func (p *program) expanded(v value) value {
	out := value{kind: v.kind}
	for _, w := range v.words() {
		s := w.Prefix()
		for _, mark := range [...]string{"~", "$HOME", "${HOME}"} {
			if rest, ok := strings.CutPrefix(s, mark); ok && (rest == "" || rest[0] == '/') {
				w = shell.Glue(p.in.Home(""), w.Cut(len(s)-len(rest)))
				break
			}
		}
		out.alts = append(out.alts, w)
	}
	return out
}
