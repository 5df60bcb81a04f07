package code

// body finds the body of a loop or a function whose first word stands at def
// and whose head has been read up to here.
func (p *program) body(def int) (from, to int) {
	i := p.at
	if p.lang.has("columns") {
		for i < p.end && !p.toks[i].is(":", ";") {
			i = p.over(i) + 1
		}
	}
	switch {
	case i >= p.end:
		return p.end, p.end
	case p.lang.has("columns"):
		return i + 1, p.indented(def, i+1)
	case p.toks[i].text == "{" && p.over(i) > i:
		return i + 1, p.over(i)
	case p.lang.has("ends"):
		return i, p.ended(i)
	}
	return i, p.lineEnd(i)
}

// lineEnd is where a statement ends that is the body of a loop.
func (p *program) lineEnd(from int) int {
	i := from
	for i < p.end && !p.toks[i].is(";") {
		to := p.over(i)
		if i = to + 1; p.toks[to].is("}") {
			break
		}
	}
	p.spend((i - from) / 4)
	return min(i, p.end)
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
	ends := []string{"end", "until"}
	lua := p.lang.name == "lua"
	if !lua {
		ends = ends[:1]
	}
	depth, loop, i := 1, true, from
	if p.toks[from].text == "do" {
		loop = lua
		i++
	}
	for ; i < p.end; i++ {
		t, prev := p.toks[i], p.tok(i-1)
		if t.is(";") || t.line {
			loop = false
		}
		switch {
		case t.kind != tokenName || prev.text == ".":
		case t.word(ends...):
			depth--
		case p.opensBlock(t, prev, loop):
			depth++
			loop = loop || t.word("while", "for")
		}
		if depth == 0 {
			break
		}
	}
	p.spend((i - from) / 4)
	return i
}

// opensBlock reports whether a word begins what ends with "end"; loop says that
// the "do" of a loop is due.
func (p *program) opensBlock(t, prev token, loop bool) bool {
	lua := p.lang.name == "lua"
	first := t.line || prev.text == ";" || prev.text == "=" || prev.text == "then" || prev.text == "do"
	switch t.text {
	case "function", "def", "class", "module", "begin", "case", "repeat":
		return true
	case "do":
		return !loop
	case "if", "unless":
		return first || lua
	case "while", "for":
		return first && !lua
	}
	return false
}

// define reads the definition of a function, whose body is read when it is
// called, or at the end.
func (p *program) define() bool {
	if next := p.peek(1); p.peek(0).text == "async" && next.word("def", "function") || p.peek(0).text == "local" && next.text == "function" {
		p.take()
		return p.define()
	}
	def := p.at
	name, ok := p.definedName()
	if !ok {
		return false
	}
	f := &routine{name: name, toks: p}
	if p.is("(") && p.over(p.at) > p.at {
		f.params = p.params(p.at+1, p.over(p.at))
		p.at = p.over(p.at) + 1
	}
	f.from, f.to = p.body(def)
	f.method = p.lang.name == "python" && len(f.params) > 0 && p.toks[def].column > 0 && p.toks[f.params[0]].word("self", "cls", "s")
	p.fns[name] = f
	p.routines = append(p.routines, f)
	for i := range min(f.from, len(p.seen)) - def {
		p.seen[def+i] = true
	}
	p.at = f.to
	return true
}

// definedName reads the name of the function that is defined here, if one is.
func (p *program) definedName() (string, bool) {
	if p.methodHead() {
		return p.take().text, true
	}
	if !p.word("def", "function", "sub") || p.peek(1).kind != tokenName {
		return "", false
	}
	p.take()
	name := p.take().text
	for p.is(".", "::", ":") && p.peek(1).kind == tokenName {
		p.take()
		name = p.take().text
	}
	return name, true
}

// methodHead reports whether a method of a class of node begins here.
func (p *program) methodHead() bool {
	if p.lang.name != "node" || p.peek(1).text != "(" || p.peek(0).word("if", "for", "while", "switch", "catch", "with", "function") {
		return false
	}
	open := p.at + 1
	to := p.over(open)
	return to > open && to+1 < p.end && p.toks[to+1].text == "{"
}

// params are the places of the parameters between two places.
func (p *program) params(from, to int) []int {
	var out []int
	begin := true
	for i := from; i < to; i++ {
		t := p.toks[i]
		switch {
		case t.is(","):
			begin = true
			continue
		case t.kind == tokenName && i+1 < to && p.toks[i+1].kind == tokenName && p.lang.name == "php":
			continue // a type
		case begin && (t.kind == tokenName || t.is("[", "{", "(")):
			out, begin = append(out, i), false
		}
		i = p.over(i)
	}
	return out
}
