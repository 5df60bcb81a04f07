package shell

import (
	"slices"
	"strconv"
	"strings"
)

// arguments is the list of the program's own words, if a name stands for it.
//
//nolint:cyclop // One case per form that the grammar knows.
func (p *program) arguments(name string) (value, bool) {
	before := 0
	switch lang := p.lang.name; {
	case lang == "python" && name == "sys.argv", lang == "lua" && name == "arg", lang == "php" && (name == "$argv" || name == "$_SERVER.argv"), lang == "awk" && name == "ARGV":
		before = 1
	case lang == "node" && (name == "process.argv" || name == "Bun.argv"):
		before = 1
		if p.file {
			before = 2
		}
	case lang == "node" && name == "Deno.args", lang == "ruby" && (name == "ARGV" || name == "$*"), lang == "perl" && (name == "@ARGV" || name == "$ARGV"):
	default:
		return value{}, false
	}
	out := value{multi: true, list: slices.Repeat([]value{noValue()}, before)}
	for _, w := range p.args {
		out.list = append(out.list, textValue(w))
	}
	return out, true
}

// listed is the value as a list: its own elements, or its alternatives as one.
func (v value) listed() []value {
	switch {
	case v.multi:
		return v.list
	case len(v.alts) > 0:
		return []value{{alts: v.alts, file: v.file}}
	}
	return []value{noValue()}
}

// flat is a list as one value of many alternatives.
func (v value) flat() value {
	if !v.multi {
		return v
	}
	out := value{alts: v.words()}
	if len(out.alts) == 0 {
		return noValue()
	}
	return out
}

// field is the value under a key of a map.
func (v value) field(key string) (value, bool) {
	for i, e := range v.fields {
		switch {
		case e.path == key+"=":
			e.path = e.ref
			return e, true
		case i+1 < len(v.fields) && i%2 == 0 && (e.path == key || e.word().Is(key)):
			return v.fields[i+1], true
		}
	}
	return value{}, false
}

// pairs reads a list as a map, as perl does.
func (v value) pairs() value {
	if v.multi {
		v.fields = v.list
	}
	return v
}

// integer is the number that a value is.
func (v value) integer() (int, bool) {
	s, ok := v.word().Text()
	n, err := strconv.ParseInt(strings.ReplaceAll(s, "_", ""), 0, 32)
	return int(n), ok && err == nil && !v.multi
}

func numberValue(n int) value {
	v := textValue(Text(strconv.Itoa(n)))
	v.num = true
	return v
}

// computed applies an operator to two numbers.
//
//nolint:cyclop // One case per form that the grammar knows.
func computed(op string, a, b value) (value, bool) {
	x, ok := a.integer()
	y, known := b.integer()
	if !ok || !known || !a.num || !b.num {
		return value{}, false
	}
	switch op {
	case "+":
		return numberValue(x + y), true
	case "-":
		return numberValue(x - y), true
	case "*":
		return numberValue(x * y), true
	case "^":
		return numberValue(x ^ y), true
	case "/":
		if y != 0 {
			return numberValue(x / y), true
		}
	case "%":
		if y != 0 {
			return numberValue(x % y), true
		}
	}
	return value{}, false
}

// subscript reads what stands in brackets behind a value: an element, or a
// stretch of it.
//
//nolint:cyclop // One case per form that the grammar knows.
func (p *program) subscript(v value) value {
	bounds, colons, span := make([]value, 1, 3), 0, false
	for p.at < len(p.toks) && !p.isOp(0, "]") && p.r.step(p.f, 1) {
		switch {
		case p.isOp(0, ":") && p.lang.name == "python", p.isOp(0, "..", "...") && p.lang.name == "ruby":
			p.at++
			colons, span = colons+1, true
			bounds = append(bounds, value{})
		case p.isOp(0, ",") && p.lang.name == "ruby":
			p.at++
			bounds, span = append(bounds, value{}), true
		default:
			before := p.at
			bounds[len(bounds)-1] = p.expression()
			if p.at == before {
				p.at++
			}
		}
	}
	p.at++
	if !span {
		return p.index(v, bounds)
	}
	from, hasFrom := bounds[0].integer()
	to, hasTo := bounds[1].integer()
	if p.lang.name == "ruby" && hasTo {
		if colons == 0 {
			to += from
		} else if p.peek(-2).text != "..." && to != -1 {
			to++
		} else if to == -1 {
			hasTo = false
		}
	}
	if !hasFrom {
		from = 0
	}
	if len(bounds) > 2 {
		if step, _ := bounds[2].integer(); step == -1 && !hasFrom && !hasTo {
			return p.reversed(v)
		}
		return noValue()
	}
	return sliced(v, from, to, hasTo)
}

// sliced is the stretch of a text or of a list between two places; places
// below zero count from the end.
func sliced(v value, from, to int, hasTo bool) value {
	if v.multi {
		from, to = clamped(from, to, hasTo, len(v.list))
		return value{multi: true, list: v.list[from:to]}
	}
	return sameEach(v, func(s string) string {
		from, to := clamped(from, to, hasTo, len(s))
		return s[from:to]
	})
}

func clamped(from, to int, hasTo bool, n int) (low, high int) {
	if from < 0 {
		from += n
	}
	if !hasTo {
		to = n
	} else if to < 0 {
		to += n
	}
	to = min(max(to, 0), n)
	return min(max(from, 0), to), to
}

// sameEach applies a function to every alternative that is a known text.
func sameEach(v value, fn func(string) string) value {
	out := value{}
	for _, w := range v.alts {
		s, ok := w.Text()
		if !ok {
			return noValue()
		}
		out.alts = append(out.alts, Text(fn(s)))
	}
	if len(out.alts) == 0 {
		return noValue()
	}
	return out
}

// anyName is the name of whatever a folder holds.
func anyName() Word { return NewWord(Part{Kind: PartGlob, Text: "*"}) }

// listing is what a call yields that reads a folder: the paths that a pattern
// matches, or the names in the folder, or the paths below it. A program that
// chooses among them leaves most as they are, so that nothing is known of what
// it takes.
func (p *program) listing(name string, args []value) value {
	args, _ = splitNamed(args)
	if len(args) == 0 || p.chooses() {
		return noValue()
	}
	dir := args[0]
	switch last := name[strings.LastIndexByte(name, '.')+1:]; last {
	case "glob", "rglob", "iglob":
		if len(args) > 1 { // Path(dir).glob(pattern)
			return p.onEach(joinPaths(args[:2]), globbed)
		}
		return p.onEach(dir, globbed)
	case "iterdir", "walk", "scandir":
		below := p.onEach(dir, func(w Word) Word { return Glue(w, Text("/"), anyName()) })
		if last == "walk" {
			names := textValue(anyName())
			return value{multi: true, list: []value{{multi: true, list: []value{{alts: append(below.alts, dir.alts...)}, names, names}}}}
		}
		return below
	}
	return textValue(anyName())
}

// chooses reports whether a condition stands in the rest of the program.
func (p *program) chooses() bool {
	for _, t := range p.toks[min(p.at, len(p.toks)):] {
		switch t.text {
		case "if", "unless", "filter", "select", "reject", "grep", "continue", "next", "endswith", "endsWith", "startsWith", "startswith", "&&", "?":
			return true
		}
	}
	return false
}
