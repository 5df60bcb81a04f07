package shell

import (
	"slices"
	"strings"
)

const (
	// maxElements bounds for how many elements of a list a body is read.
	maxElements = 64
	// maxAgain bounds how many tokens are read again, for another element or
	// another call. Loops in loops would take all the work that a command may
	// cost; what is beyond is read once, for all elements together.
	maxAgain = 20_000
)

// turns reports whether a body of so many tokens is to be read so often.
func (p *program) turns(n, size int) bool {
	if n > maxElements || p.r.again+n*size > maxAgain {
		return false
	}
	p.r.again += n * size
	return true
}

// routine is a function that the program defines.
type routine struct {
	params     []string
	start, end int // its body's tokens
	active     int
}

// closing is the place of the bracket that closes the one at a place, or the
// end of the program.
func (p *program) closing(at int) int {
	depth := 0
	for i := at; i < len(p.toks); i++ {
		if p.toks[i].kind != lexOp {
			continue
		}
		switch p.toks[i].text {
		case "(", "[", "{":
			depth++
		case ")", "]", "}":
			if depth--; depth <= 0 {
				return i
			}
		}
	}
	return len(p.toks)
}

// body reads the statements between two places and yields the last value.
func (p *program) body(start, end int) value {
	if start >= end || end > len(p.toks) || !p.r.enter(p.f) {
		return noValue()
	}
	defer p.r.leave()
	saved := p.toks
	p.toks, p.at = p.toks[:end], start
	defer func() { p.toks, p.at = saved, end }()
	last := noValue()
	for p.at < len(p.toks) && p.r.step(p.f, 1) {
		if v, ok := p.statement(); ok {
			last = v
		}
	}
	return last
}

// parameters reads the parameters of a function that is written in place, from
// a place on, and gives where its body begins.
//
//nolint:cyclop // One case per form that the grammar knows.
func (p *program) parameters(at int) (names []string, start int, ok bool) {
	tok := func(i int) lexeme { return p.peek(i - p.at) }
	if tok(at).text == "async" {
		at++
	}
	switch t := tok(at); {
	case t.kind == lexName && (t.text == "function" || t.text == "sub" || t.text == "fn"):
		at++
		if tok(at).kind == lexName {
			at++
		}
		if tok(at).text != "(" {
			return nil, at, t.text == "sub"
		}
		names, at = p.names(at)
		return names, at, true
	case t.kind == lexName && t.text == "lambda" && p.lang.name == "python":
		for at++; at < len(p.toks) && tok(at).text != ":"; at++ {
			if tok(at).kind == lexName {
				names = append(names, tok(at).text)
			}
		}
		return names, at + 1, true
	case t.kind == lexName && tok(at+1).text == "=>":
		return []string{t.text}, at + 2, true
	case t.text == "(" && t.kind == lexOp:
		names, after := p.names(at)
		return names, after + 1, tok(after).text == "=>"
	}
	return nil, at, false
}

// names reads the names in the brackets at a place, and gives what follows.
func (p *program) names(at int) (names []string, after int) {
	end := p.closing(at)
	for i := at + 1; i < end; i++ {
		if t := p.toks[i]; t.kind == lexName && (i == at+1 || p.toks[i-1].kind == lexOp && p.toks[i-1].text != "=" && p.toks[i-1].text != ":") {
			names = append(names, t.text)
		}
	}
	return names, min(end+1, len(p.toks))
}

// define remembers a function that a name is given to, and reports whether
// there was one. Its body is read where it stands, too.
//
//nolint:cyclop // One case per form that the grammar knows.
func (p *program) define() bool {
	start := p.at
	var name string
	var at int
	switch t := p.peek(0); {
	case t.kind != lexName:
		return false
	case (t.text == "def" || t.text == "function" || t.text == "sub" || t.text == "fn") && p.peek(1).kind == lexName:
		name, at = p.peek(1).text, start+2
	case p.isOp(1, "=") && (p.lang.name == "node" || p.lang.name == "python" || p.lang.name == "php" || p.lang.name == "perl"):
		params, body, ok := p.parameters(start + 2)
		if !ok {
			return false
		}
		p.routines[strings.TrimLeft(t.text, "$")] = &routine{params: params, start: body, end: p.bodyEnd(start, body)}
		p.at = body
		return true
	default:
		return false
	}
	var params []string
	if p.peek(2).text == "(" {
		params, at = p.names(at)
	}
	p.routines[name] = &routine{params: params, start: at, end: p.bodyEnd(start, at)}
	p.at = at
	return true
}

// bodyEnd is where the body of a function ends that begins at a place.
//
//nolint:cyclop // One case per form that the grammar knows.
func (p *program) bodyEnd(def, start int) int {
	if start >= len(p.toks) {
		return len(p.toks)
	}
	switch {
	case p.toks[start].text == "{":
		return p.closing(start)
	case p.lang.name == "python" && p.toks[start].text == ":":
		column := p.toks[def].column
		for i := start + 1; i < len(p.toks); i++ {
			if p.toks[i].first && p.toks[i].column <= column {
				return i
			}
		}
		return len(p.toks)
	case p.lang.name == "ruby" || p.lang.name == "lua":
		return len(p.toks)
	}
	depth := 0
	for i := start; i < len(p.toks); i++ {
		switch p.toks[i].text {
		case "(", "[", "{":
			depth++
		case ")", "]", "}":
			depth--
		}
		if depth < 0 || depth == 0 && p.toks[i].kind == lexOp && (p.toks[i].text == ";" || p.toks[i].text == ",") {
			return i
		}
	}
	return len(p.toks)
}

// callRoutine reads the body of a function of the program for one call.
func (p *program) callRoutine(name string, args []value) (value, bool) {
	f := p.routines[name]
	if f == nil || f.active > 1 || f.start >= f.end {
		return value{}, f != nil && f.active > 1
	}
	if !p.turns(1, f.end-f.start) {
		return noValue(), true
	}
	if f.active > 0 && p.forks > 0 {
		p.r.problem(p.f, Problem{Kind: ProblemForkBomb, Detail: "a function copies its process and calls itself", Interpreter: p.lang.name})
	}
	f.active++
	defer func() { f.active-- }()
	args, named := splitNamed(args)
	saved := p.at
	p.bind(f.params, args)
	for n, v := range named {
		if slices.Contains(f.params, n) {
			v.path = v.ref
			p.set(n, v)
		}
	}
	p.vars["@_"] = value{multi: true, list: args}
	out := p.body(f.start, f.end)
	delete(p.vars, "@_")
	p.at = saved
	return out, true
}

// applied reads a function that is written in brackets and called at once.
func (p *program) applied() {
	names, _, ok := p.parameters(p.at + 1)
	end := p.closing(p.at)
	if !ok || end+1 >= len(p.toks) || p.toks[end+1].text != "(" {
		return
	}
	saved := p.at
	p.at = end + 2
	args := p.listUntil(")")
	p.at = saved
	p.bind(names, args)
}

// handsOn reports whether a method gives each element to a function.
func handsOn(name string) bool {
	switch name {
	case "map", "forEach", "each", "filter", "select", "flatMap", "flat_map", "some", "every", "find", "collect", "reject", "then",
		"each_entry", "each_with_index", "findIndex", "any", "all":
		return true
	}
	return false
}

// eachElement reads the call of a method that gives every element of a value
// to a function that stands in the call.
//
//nolint:cyclop // One case per form that the grammar knows.
func (p *program) eachElement(name string, v value) (value, bool) {
	if !handsOn(name) || !p.isOp(0, "(", "{") && p.peek(0).text != "do" {
		return value{}, false
	}
	open, end := p.at, p.closing(p.at)
	names, start, ok := []string(nil), 0, false
	switch {
	case p.lang.name == "ruby" && (p.isOp(0, "{") || p.peek(0).text == "do") && p.isOp(1, "|"):
		start = open + 2
		for ; start < len(p.toks) && p.toks[start].text != "|"; start++ {
			if p.toks[start].kind == lexName {
				names = append(names, p.toks[start].text)
			}
		}
		start, ok = start+1, true
		if p.peek(0).text == "do" {
			end = open
			for end < len(p.toks) && p.toks[end].text != "end" {
				end++
			}
		}
	case p.isOp(0, "(") && p.isOp(1, "&") && p.isOp(2, ":"):
		method := p.peek(3).text
		p.at = end + 1
		return p.methodOfEach(v, method), true
	case p.isOp(0, "("):
		names, start, ok = p.parameters(open + 1)
	}
	if !ok {
		return value{}, false
	}
	elements := v.listed()
	if v.path != "" && !v.multi && len(v.alts) == 0 {
		elements = []value{v}
	}
	if !p.turns(len(elements), end-start) {
		elements = []value{v.flat()}
	}
	out := value{multi: true}
	for _, e := range elements {
		if len(names) > 1 && e.multi {
			p.bind(names, e.list)
		} else {
			p.bind(names, []value{e})
		}
		out.list = append(out.list, p.body(start, end))
	}
	p.at = min(end+1, len(p.toks))
	if name != "map" && name != "collect" && name != "flatMap" && name != "flat_map" {
		return v, true
	}
	return out, true
}

// methodOfEach is map(&:method) of ruby.
func (p *program) methodOfEach(v value, method string) value {
	out := value{multi: true}
	for _, e := range v.listed() {
		switch w, ok := p.method(method, e, nil); {
		case method == "chr":
			out.list = append(out.list, characters([]value{e}))
		case ok:
			out.list = append(out.list, w)
		default:
			p.call("?."+method, e, nil)
			out.list = append(out.list, noValue())
		}
	}
	return out
}

// handedOn reads a call that gives values to a function it names: map(f, list),
// partial(f, a), Thread(target=f, args=(a,)).
//
//nolint:cyclop // One case per form that the grammar knows.
func (p *program) handedOn(last string, args []value) (value, bool) {
	plain, named := splitNamed(args)
	switch last {
	case "map", "filter", "starmap", "partial", "submit", "Thread", "Process", "Timer", "apply", "apply_async", "run_in_executor", "to_thread", "call",
		"array_map", "array_walk", "setTimeout", "setInterval", "setImmediate", "register", "start_new_thread", "imap", "call_soon":
	default:
		return value{}, false
	}
	fn, rest := named["target"].ref, plain
	for i, a := range plain {
		if fn == "" && a.path != "" && p.callable(a.path) {
			fn, rest = a.path, plain[i+1:]
		}
	}
	if fn == "" || !p.callable(fn) {
		return value{}, false
	}
	if list, ok := named["args"]; ok {
		rest = list.list
	}
	if len(rest) != 1 || !rest[0].multi {
		return p.call(fn, value{}, rest), true
	}
	if last == "apply" || last == "apply_async" || last == "start_new_thread" {
		return p.call(fn, value{}, rest[0].list), true
	}
	out := value{multi: true}
	for _, e := range rest[0].list[:min(len(rest[0].list), maxElements)] {
		v := p.call(fn, value{}, []value{e})
		out.list = append(out.list, v)
	}
	return out, true
}

// callable reports whether a name is that of a function which is looked into.
func (p *program) callable(name string) bool {
	if p.routines[name] != nil || name == "chr" {
		return true
	}
	_, _, ok := p.lookupCall(name)
	return ok
}

// callee reads the call of a function through one of its own methods:
// f.call(null, a), method(:f).call(a).
func (p *program) callee(name, fn string, args []value) (value, bool) {
	if name != "call" && name != "apply" && name != "bind" || !p.callable(fn) {
		return value{}, false
	}
	if p.lang.name == "node" {
		args = args[min(len(args), 1):]
		if name == "apply" && len(args) == 1 {
			args = args[0].list
		}
	}
	return p.call(fn, value{}, args), true
}
