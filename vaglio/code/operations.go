package code

import (
	"encoding/base32"
	"html"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/metnos/vaglio/vaglio/shell"
)

// operation is a function that yields a value.
type operation func(p *program, args []value, named map[string]value) value

// onFirst applies a function to the first argument's text.
func onFirst(fn func(string) (string, bool)) operation {
	return func(_ *program, args []value, _ map[string]value) value {
		if len(args) == 0 {
			return unknown("")
		}
		return args[0].each(fn)
	}
}

func always(fn func(string) string) func(string) (string, bool) {
	return func(s string) (string, bool) { return fn(s), true }
}

// onList applies a function to the first argument and the rest.
func onList(fn func(p *program, v value, rest []value) value) operation {
	return func(p *program, args []value, _ map[string]value) value {
		if len(args) == 0 {
			return unknown("")
		}
		return fn(p, args[0], args[1:])
	}
}

func textOperations() map[string]operation {
	return map[string]operation{
		"base64": onFirst(decode64),
		"base32": onFirst(func(s string) (string, bool) {
			b, err := base32.StdEncoding.DecodeString(s)
			return string(b), err == nil
		}),
		"hex":         onFirst(unhex),
		"rot13":       onFirst(always(rot13)),
		"inflate":     onFirst(inflate),
		"url":         onFirst(func(s string) (string, bool) { s, err := url.PathUnescape(s); return s, err == nil }),
		"html":        onFirst(always(html.UnescapeString)),
		"strip":       onFirst(always(strings.TrimSpace)),
		"lower":       onFirst(always(strings.ToLower)),
		"upper":       onFirst(always(strings.ToUpper)),
		"dirname":     onFirst(always(path.Dir)),
		"basename":    onFirst(always(path.Base)),
		"same":        onList(func(_ *program, v value, _ []value) value { v.name = ""; return v }),
		"chr":         onList(func(_ *program, v value, rest []value) value { return characters(append([]value{v}, rest...)) }),
		"ord":         onList(func(_ *program, v value, _ []value) value { return ordinal(v) }),
		"charAt":      onList(func(_ *program, v value, _ []value) value { return ordinal(v) }),
		"reverse":     onList(func(p *program, v value, _ []value) value { return p.reversed(v) }),
		"reversed":    onList(func(p *program, v value, _ []value) value { return p.reversed(v) }),
		"decode":      onList(decoded),
		"join":        onList(joinTexts),
		"join2":       onList(func(p *program, v value, rest []value) value { return joinWith(p, first(rest), v.list) }),
		"split":       onList(splitText),
		"lines":       onList(func(_ *program, v value, _ []value) value { return splitAt(v, "\n") }),
		"replace":     onList(replaced),
		"strreplace":  onList(func(p *program, v value, r []value) value { return replaced(p, nth(r, 1), []value{v, nth(r, 0)}) }),
		"strreplace2": onList(replaced),
		"format":      format,
		"substitute":  substitute,
		"sprintf":     onList(func(p *program, v value, rest []value) value { return p.formatted(v, rest) }),
		"vsprintf":    onList(func(p *program, v value, rest []value) value { return p.formatted(v, first(rest).list) }),
		"printf": onList(func(p *program, v value, rest []value) value {
			p.print(nil, p.formatted(v, rest).word())
			return value{}
		}),
		"translate": onList(translate),
		"maketrans": onList(maketrans),
		"substr":    onList(substr),
		"slice":     onList(slice),
		"concat":    onList(concat),
		"pack":      onList(pack),
		"buffer":    onList(buffer),
		"literal":   onList(literal),
		"pickle":    onList(pickle),
		"tr":        onList(func(p *program, _ value, _ []value) value { return p.subject }),
	}
}

func listOperations() map[string]operation {
	return map[string]operation{
		"append": onList(func(p *program, v value, rest []value) value { return p.grow(v, rest) }),
		"extend": onList(func(p *program, v value, rest []value) value { return p.grow(v, first(rest).elements()) }),
		"insert": onList(func(p *program, v value, rest []value) value {
			if i, ok := first(rest).int(); ok && v.kind == kindList && len(rest) > 1 {
				v.list = slices.Insert(slices.Clone(v.list), max(min(i, len(v.list)), 0), rest[1])
				p.store(v.holder, v)
			}
			return v
		}),
		"pop":   onList(func(p *program, v value, rest []value) value { return p.taken(v, rest, len(v.list)-1) }),
		"shift": func(p *program, args []value, _ map[string]value) value { return p.shift(args) },
		"first": onList(func(p *program, v value, _ []value) value { return p.taken(v, nil, 0) }),
		"rest": onList(func(_ *program, v value, rest []value) value {
			n, _ := first(rest).int()
			return sliced(v, n, 0, false)
		}),
		"keys":   onList(func(_ *program, v value, _ []value) value { return v.keyList() }),
		"values": onList(func(_ *program, v value, _ []value) value { v.kind, v.keys = kindList, nil; return v }),
		"pairs":  onList(func(p *program, v value, _ []value) value { return v.pairs(p) }),
		"get": onList(func(p *program, v value, rest []value) value {
			e, ok := v.field(first(rest).word().Prefix())
			if !ok && len(rest) > 1 {
				return unknown(v.path).or(rest[1])
			} else if !ok {
				return p.index(v, first(rest))
			}
			return e
		}),
		"each": func(p *program, args []value, _ map[string]value) value {
			return p.handedOn("each", first(args), tailOf(args, 1))
		},
		"map": func(p *program, args []value, _ map[string]value) value { return p.perlMap(args) },
		"call": onList(func(p *program, v value, rest []value) value {
			if p.lang.name == "node" {
				rest = tailOf(rest, 1)
			}
			return p.call(v, value{}, rest)
		}),
		"apply": onList(applied),
		"split2": onList(func(p *program, v value, rest []value) value {
			p.store(first(rest).holder, splitText(p, v, tailOf(rest, 1)))
			return value{}
		}),
		"method":  onList(func(_ *program, v value, _ []value) value { s, _ := v.text(); return unknown(s) }),
		"getattr": onList(getattr),
		"import": onList(func(_ *program, v value, _ []value) value {
			s, ok := v.text()
			if !ok {
				return unknown("import")
			}
			return unknown(moduleName(s))
		}),
		"content": onList(func(_ *program, v value, _ []value) value { return v }),
		"bytes": onList(func(_ *program, v value, _ []value) value {
			if v.multi() {
				return characters(v.list)
			}
			return v
		}),
		"cwd": func(p *program, _ []value, _ map[string]value) value {
			v := textOf(p.in.Env("PWD"))
			v.kind = kindPath
			return v
		},
		"temp": func(_ *program, _ []value, _ map[string]value) value {
			return value{kind: kindPath, alts: []shell.Word{shell.Glue(shell.Text("/tmp/"), unknownWord("temporary()"))}}
		},
		"args": func(p *program, _ []value, _ map[string]value) value { return p.arguments(1) },
		"env":  func(p *program, args []value, _ map[string]value) value { return environment(p, args) },
		"home": func(p *program, _ []value, _ map[string]value) value {
			v := textOf(p.in.Home(""))
			v.kind = kindPath
			return v
		},
		"root":  func(_ *program, _ []value, _ map[string]value) value { return text("/") },
		"self":  func(p *program, _ []value, _ map[string]value) value { return text(p.lang.name) },
		"input": func(p *program, _ []value, _ map[string]value) value { return textOf(p.in.Stdin) },
		"path": func(p *program, args []value, _ map[string]value) value {
			v := p.joined(args)
			v.kind = kindPath
			return v
		},
		"pathjoin": func(p *program, args []value, _ map[string]value) value {
			var flat []value
			for _, a := range args {
				flat = spreadInto(flat, a)
			}
			v := p.joined(flat)
			if len(args) > 0 {
				v.kind = args[0].kind
			}
			return v
		},
		"expanduser":   onList(func(p *program, v value, _ []value) value { return p.expanded(v) }),
		"substitution": onList(func(_ *program, _ value, _ []value) value { return value{} }),
	}
}

func first(vs []value) value { return nth(vs, 0) }

func nth(vs []value, n int) value {
	if n < len(vs) {
		return vs[n]
	}
	return value{}
}

// inflate unpacks a text, up to the longest text that is read.
// joinTexts is sep.join(list) of python, join(sep, list) and list.join(sep).
// format fills {}, {0} and {name}.
// fillNamed fills %(name)s.
// formatted fills a format of printf.
// pack turns numbers or digits into a text.
// literal reads a text as an expression.
var applyTag = regexp.MustCompile(`!!python/object/(?:apply|new):([\w.]+)`)

// pickle reads the calls inside serialised objects.
// grow adds elements to a list that a variable holds.
// taken removes an element from a list and returns it.
// shift is shift of perl: of a list, a function's arguments or the program's.
// perlMap is map { … } @list.
// applied calls what its first argument names: send(:system, …),
// array_map("unlink", …), f.apply(this, […]).
// expanded is a path with the home folder in place of its tilde.
// behind is a word without its first bytes.
// globbed is a word whose metacharacters stand for the names that match.
// substituted reads s/…/…/ and tr/…/…/, which change what =~ stands behind or $_.
