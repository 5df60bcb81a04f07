package code

import (
	"slices"
	"strings"
)

// body stands.
// body finds the body of a loop or a function whose first word stands at def
// and whose head has been read up to here.
func (p *program) body(def int) (from, to int) {
	i := p.at
	for p.lang.has("columns") && i < p.end && (p.toks[i].kind != tokenOp || p.toks[i].text != ":" && p.toks[i].text != ";") {
		if m := int(p.toks[i].match); m > i {
			i = m
		}
		i++
	}
	switch {
	case i >= p.end:
		return p.end, p.end
	case p.lang.has("columns"):
		return i + 1, p.indented(def, i+1)
	case p.toks[i].text == "{" && p.toks[i].match > 0:
		return i + 1, int(p.toks[i].match)
	case p.lang.has("ends"):
		return i, p.ended(i)
	}
	from = i
	for i < p.end && (p.toks[i].kind != tokenOp || p.toks[i].text != ";") {
		if m := int(p.toks[i].match); m > i {
			if i = m; p.toks[i].text == "}" {
				return from, i + 1
			}
		}
		i++
	}
	p.spend((i - from) / 4)
	return from, i
}

// indented is where a block ends that is indented more than the line of def.
func (p *program) indented(def, from int) int {
	column, i := p.toks[def].column, from
	sameLine := from < p.end && !p.toks[from].line
	for ; i < p.end; i++ {
		t := p.toks[i]
		if t.line && (sameLine || t.text != ";" && t.column <= column) {
			break
		}
	}
	p.spend((i - from) / 4)
	return i
}

// ended is where a block ends that ends with a word.
func (p *program) ended(from int) int {
	depth, loop := 1, p.toks[from].text != "do" || p.lang.name == "lua"
	i := from
	if p.toks[from].text == "do" {
		i++
	}
	for ; i < p.end; i++ {
		t := p.toks[i]
		if t.kind == tokenOp && t.text == ";" || t.line {
			loop = false
		}
		if t.kind != tokenName || i > 0 && p.toks[i-1].text == "." {
			continue
		}
		first := t.line || i > 0 && (p.toks[i-1].text == ";" || p.toks[i-1].text == "=" || p.toks[i-1].text == "then" || p.toks[i-1].text == "do")
		switch t.text {
		case "end", "until":
			if t.text == "end" || p.lang.name == "lua" {
				depth--
			}
		case "function", "def", "class", "module", "begin", "case", "repeat":
			depth++
		case "do":
			if !loop {
				depth++
			}
		case "if", "unless":
			if first || p.lang.name == "lua" {
				depth++
			}
		case "while", "for":
			if first && p.lang.name != "lua" {
				depth++
				loop = true
			}
		}
		if depth == 0 {
			break
		}
	}
	p.spend((i - from) / 4)
	return i
}

// define reads the definition of a function, whose body is read when it is
// called, or at the end.
func (p *program) define() bool {
	t, next := p.peek(0), p.peek(1)
	def := p.at
	name := next.text
	switch {
	case t.text == "async" && (next.text == "def" || next.text == "function"):
		p.take()
		return p.define()
	case t.text == "local" && next.text == "function":
		p.take()
		return p.define()
	case t.text == "def" && next.kind == tokenName, (t.text == "function" || t.text == "sub") && next.kind == tokenName && t.text != p.lang.name:
		p.take()
		p.take()
		for p.is(".", "::", ":") && p.peek(1).kind == tokenName {
			p.take()
			name = p.take().text
		}
	case p.lang.name == "node" && next.text == "(" && next.match > 0 && int(next.match)+1 < p.end && p.toks[next.match+1].text == "{" &&
		!slices.Contains([]string{"if", "for", "while", "switch", "catch", "with", "function"}, t.text):
		name = t.text
		p.take()
	default:
		return false
	}
	f := &routine{name: name, toks: p}
	if p.is("(") && p.toks[p.at].match > 0 {
		f.params = p.params(p.at+1, int(p.toks[p.at].match))
		p.at = int(p.toks[p.at].match) + 1
	}
	f.from, f.to = p.body(def)
	f.method = p.lang.name == "python" && len(f.params) > 0 && p.toks[def].column > 0 && slices.Contains([]string{"self", "cls", "s"}, p.toks[f.params[0]].text)
	p.fns[name] = f
	p.routines = append(p.routines, f)
	for i := def; i < f.from && i < len(p.seen); i++ {
		p.seen[i] = true
	}
	p.at = f.to
	return true
}

// params are the places of the parameters between two places.
func (p *program) params(from, to int) []int {
	var out []int
	begin := true
	for i := from; i < to; i++ {
		t := p.toks[i]
		switch {
		case t.kind == tokenOp && t.text == ",":
			begin = true
			continue
		case begin && (t.kind == tokenName || t.kind == tokenOp && strings.Contains("[{(", t.text)):
			if t.kind == tokenName && i+1 < to && p.toks[i+1].kind == tokenName && p.lang.name == "php" {
				continue // a type
			}
			out, begin = append(out, i), false
		}
		if m := int(t.match); m > i {
			i = m
		}
	}
	return out
}
