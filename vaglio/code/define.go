package code

// body finds the body of a loop or a function whose first word stands at def
// and whose head has been read up to here.
func (p *program) body(def int) (from, to int) { return p.bodyAt(def, p.at) }

// bodyAt is [program.body] where the head is known to end at i.
func (p *program) bodyAt(def, i int) (from, to int) {
	columns := p.lang.has("columns")
	if columns {
		i = p.until(i, func(i int) bool { return p.toks[i].is(":", ";") })
	}
	switch {
	case i >= p.end:
		return p.end, p.end
	case columns:
		return i + 1, p.indented(def, i+1)
	case p.opens(i, "{"):
		return i + 1, p.over(i)
	case p.lang.has("ends"):
		return i, p.ended(i)
	}
	return i, p.lineEnd(i)
}

// until is the first place outside of brackets at which a condition holds, or
// the end.
func (p *program) until(from int, stop func(i int) bool) int {
	i := from
	for i < p.end && !stop(i) {
		i = p.over(i) + 1
	}
	p.spend((i - from) / 4)
	return min(i, p.end)
}

// branchEnd is where a branch ends whose first word stands at def.
func (p *program) branchEnd(def int) int {
	i := p.at
	if braces := !p.lang.has("columns") && !p.lang.has("ends"); braces && p.toks[def].word("case", "default") {
		return p.until(i, func(i int) bool { return p.toks[i].word("case", "default") })
	} else if braces && p.is("(") {
		i = p.over(i) + 1
	}
	for p.tok(i).line && p.tok(i).is(";") && !p.lang.has("ends") {
		i++
	}
	_, to := p.bodyAt(def, i)
	if p.tok(to).is("}") && p.opens(i, "{") {
		to++
	}
	return to
}

// lineEnd is where a statement ends that is the body of a loop.
func (p *program) lineEnd(from int) int {
	return p.until(from, func(i int) bool { return p.toks[i].is(";") || i > from && p.toks[i-1].is("}") })
}

// indented is where a block ends that is indented more than the line of def.
func (p *program) indented(def, from int) int {
	column, sameLine := p.toks[def].column, from < p.end && !p.toks[from].line
	return p.until(from, func(i int) bool {
		t := p.toks[i]
		return t.line && (sameLine || t.text != ";" && t.column <= column)
	})
}

// ended is where a block ends that ends with a word.
func (p *program) ended(from int) int {
	lua := p.lang.name == "lua"
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
		case p.endsBlock(t, depth == 1 && i > from):
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

// endsBlock reports whether a word ends a block, or one of its parts.
func (p *program) endsBlock(t token, parts bool) bool {
	return t.text == "end" || p.lang.name == "lua" && t.text == "until" || parts && t.word("else", "elsif", "elseif", "when", "rescue", "ensure")
}

// opensBlock reports whether a word begins what ends with "end"; loop says that
// the "do" of a loop is due.
func (p *program) opensBlock(t, prev token, loop bool) bool {
	lua := p.lang.name == "lua"
	first := t.line || prev.is(";", "=") || prev.word("then", "do")
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
	def := p.at
	if next := p.peek(1); p.word("async", "local") && next.word("def", "function") {
		p.take()
	}
	name, ok := p.definedName()
	if !ok {
		p.at = def
		return false
	}
	f := &routine{name: name, toks: p}
	p.parameters(f)
	f.from, f.to = p.body(def)
	f.method = p.lang.name == "python" && len(f.params) > 0 && p.toks[def].column > 0 && p.toks[f.params[0]].word("self", "cls", "s")
	p.fns[name] = f
	p.routines = append(p.routines, f)
	p.at = def
	p.skip(f.from)
	p.at = f.to
	return true
}

// parameters reads those in round brackets.
func (p *program) parameters(f *routine) {
	if end := p.over(p.at); p.opens(p.at, "(") {
		f.params = p.params(p.at+1, end)
		p.at = end + 1
	}
}

// definedName reads the name of the function that is defined here, if one is.
func (p *program) definedName() (string, bool) {
	if to := p.over(p.at + 1); p.lang.name == "node" && p.peek(1).is("(") && p.tok(to+1).text == "{" &&
		!p.word("if", "for", "while", "switch", "catch", "with", "function") {
		return p.take().text, true // a method
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

// anonymous reads a function without a name: lambda x: …, function (x) { … },
// sub { … }, proc { |x| … }.
func (p *program) anonymous() (value, bool) {
	def, f := p.at, &routine{toks: p}
	switch {
	case p.word("lambda") && p.lang.name == "python":
		p.take()
		colon := p.until(p.at, func(i int) bool { return p.toks[i].is(":") })
		f.params = p.params(p.at, colon)
		p.at = colon + 1
		return p.closure(f, p.at), true
	case p.opens(p.at+1, "{") && !p.word("function", "fn"):
		p.take()
		return p.blockValue(), true
	case p.opens(p.at+1, "(") && !p.word("lambda"):
		p.take()
		p.parameters(f)
		if p.takeIf(p.is("=>")) {
			return p.closure(f, p.at), true
		}
	default:
		return value{}, false
	}
	if p.word("use") {
		p.at = p.over(p.at+1) + 1
	}
	f.from, f.to = p.body(def)
	end := f.to
	if t := p.tok(end); t.is("}") || t.word("end") {
		end++
	}
	return p.function(f, max(end, p.at)), true
}

// closure is a function whose body is the expression that begins here.
func (p *program) closure(f *routine, from int) value {
	f.from, f.to = from, p.expressionEnd(from)
	return p.function(f, max(f.to, from))
}

// function is the value of a function whose text ends at end.
func (p *program) function(f *routine, end int) value {
	p.at = end
	p.routines = append(p.routines, f)
	return value{fn: f}
}

// blockValue reads { |a, b| … } or do |a| … end.
func (p *program) blockValue() value {
	f, open := &routine{toks: p}, p.at
	t := p.take()
	f.from = p.at
	if p.is("|") {
		to := p.until(p.at+1, func(i int) bool { return p.toks[i].is("|") })
		f.params = p.params(p.at+1, to)
		f.from = to + 1
	}
	if f.to = int(t.match); t.text != "{" {
		f.to = p.ended(open)
	}
	return p.function(f, min(f.to+1, p.end))
}

// arrow reads (a, b) => …, a => … and ->(a) { … }.
func (p *program) arrow() value {
	f := &routine{toks: p}
	if p.peek(0).kind == tokenName {
		f.params = []int{p.at}
		p.take()
	}
	p.parameters(f)
	if p.takeIf(p.is("=>")) {
		p.lines()
	}
	if to := p.over(p.at); p.opens(p.at, "{") {
		f.from, f.to = p.at+1, to
		return p.function(f, to+1)
	}
	return p.closure(f, p.at)
}

// expressionEnd is where the expression that begins at i ends.
func (p *program) expressionEnd(i int) int {
	return p.until(i, func(i int) bool {
		t := p.toks[i]
		return t.is(")", "]", "}", ",") || t.is(";") && (!t.line || i+1 >= p.end || p.toks[i+1].text != ".")
	})
}
