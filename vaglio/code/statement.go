package code

import (
	"slices"

	"github.com/metnos/vaglio/vaglio/wordclass"
)

// routine is a function of the program: what its parameters bind and where its
// body stands.
type routine struct {
	name     string
	params   []int // where the parameters stand
	from, to int
	toks     *program // whose tokens they are
	called   bool
	active   int
	method   bool // the first parameter is the object
}

// block reads statements and returns the value of the last.
func (p *program) block(from, to int) value {
	if !p.enter() {
		return value{}
	}
	defer p.leave()
	at, end := p.at, p.end
	p.at, p.end = from, min(to, len(p.toks))
	var last value
	for p.at < p.end && p.spend(1) {
		before := p.at
		if v := p.statement(); v.kind != kindNone {
			last = v
		}
		p.forward(before)
	}
	p.at, p.end = at, end
	return last
}

// forward leaves one token behind where nothing was read, and says so.
func (p *program) forward(before int) bool {
	if p.at > before {
		return false
	}
	p.at = before
	p.take()
	return true
}

func (p *program) peek(n int) token {
	if i := p.at + n; i >= 0 && i < p.end {
		return p.toks[i]
	}
	return token{}
}

// take moves on by one token.
func (p *program) take() token {
	t := p.peek(0)
	if p.at < len(p.seen) {
		p.seen[p.at] = true
	}
	p.at = min(p.at+1, len(p.toks))
	return t
}

// is reports whether the next token is one of the operators.
func (p *program) is(ops ...string) bool { return p.peek(0).is(ops...) }

func (p *program) word(words ...string) bool { return p.peek(0).word(words...) }

// takeIf moves on by one token where a condition holds, and says so.
func (p *program) takeIf(here bool) bool {
	if here {
		p.take()
	}
	return here
}

// skip moves on to a place; what is skipped has been read otherwise.
func (p *program) skip(to int) {
	for p.at < min(to, len(p.seen)) {
		p.seen[p.at] = true
		p.at++
	}
	p.at = to
}

// is reports whether a token is one of the operators.
func (t token) is(ops ...string) bool { return t.kind == tokenOp && slices.Contains(ops, t.text) }

// word reports whether a token is one of the words.
func (t token) word(words ...string) bool {
	return t.kind == tokenName && slices.Contains(words, t.text)
}

// quoted reports whether a token begins a text.
func (t token) quoted() bool { return t.kind == tokenString || t.group && t.text == "(" }

// tok is the token at a place of the program, or none.
func (p *program) tok(i int) token {
	if i >= 0 && i < len(p.toks) {
		return p.toks[i]
	}
	return token{}
}

// over is the place of the bracket that closes the one at i, or i.
func (p *program) over(i int) int { return max(i, int(p.tok(i).match)) }

// opens reports whether a bracket that closes again stands at a place.
func (p *program) opens(i int, bracket string) bool { return p.tok(i).is(bracket) && p.over(i) > i }

// find is the place of the first token outside of brackets of which is holds,
// below 0 if none does before until or the end of the statement.
func (p *program) find(from, until int, is func(token) bool) int {
	for i := from; i < min(until, p.end) && p.spend(1); i = p.over(i) + 1 {
		switch t := p.toks[i]; {
		case is(t):
			return i
		case t.is(";", ")", "]", "}"):
			return -1
		}
	}
	return -1
}

func (p *program) statement() value {
	none := value{kind: kindNone}
	t := p.peek(0)
	switch to := p.over(p.at); {
	case t.is("{") && to > p.at && !t.group && !p.lang.has("ends") && !p.pattern(p.at):
		p.take()
		return p.branch(to)
	case p.is(";", "}", ")", "]", ":", ",", "{") && !t.group && !p.pattern(p.at):
		p.take()
		return none
	case p.modified(), t.kind == tokenName && (p.define() || p.keyword(t.text)), p.assigned():
		return none
	}
	return p.expression()
}

// keyword reads the statements that begin with a word of the language.
func (p *program) keyword(name string) bool {
	switch name {
	case "import", "from":
		return p.imports()
	case "for", "foreach":
		p.forLoop()
		return true
	case "while", "until", "loop":
		p.whileLoop()
		return true
	case "return":
		p.returned()
		return true
	case "class", "module":
		return p.class()
	case "use", "no":
		for p.lang.name == "perl" && p.at < p.end && !p.is(";") {
			p.take()
		}
		return p.lang.name == "perl"
	}
	if wordclass.Is("branch-word", name) && !p.peek(1).is("=", ".", ",") {
		def := p.at
		p.take()
		p.branch(p.branchEnd(def))
		return true
	}
	return p.takeIf(wordclass.Is("statement-word", name))
}

// class reads the name of a class.
func (p *program) class() bool {
	if p.peek(1).kind != tokenName || !p.lang.has("class") {
		return false
	}
	p.classes[p.peek(1).text] = true
	p.take()
	p.take()
	return true
}

// branch reads up to a place what may be passed by, and returns its last value.
func (p *program) branch(to int) (last value) {
	p.maybe(func() { last = p.block(p.at, to) })
	p.at = max(p.at, to)
	return last
}

// returned reads what a function returns.
func (p *program) returned() {
	p.take()
	if p.is(";", "}") {
		return
	}
	v := p.expressions()
	if n := len(p.returns); n > 0 {
		p.returns[n-1] = p.returns[n-1].or(v)
	}
}

// modified reads a statement with a loop or a condition behind it: … for @list,
// fork while 1, $d = "x" if $y.
func (p *program) modified() bool {
	if !p.lang.has("bare") || p.lang.name == "lua" || p.at < p.scanned {
		return false
	}
	start := p.at
	for i := start; i < p.end && p.spend(1); i = p.over(i) + 1 {
		t := p.toks[i]
		loop := t.word("for", "foreach", "while", "until")
		switch {
		case loop && i == start, t.is(";", "}", ")"):
			p.scanned = i
			return false
		case loop && p.toks[i-1].text != "->":
			p.repeated(start, i)
			return true
		case i > start && p.conditional(t, p.toks[i-1]):
			p.scanned = i
			p.branch(i)
			p.take()
			p.expression()
			return true
		}
	}
	p.scanned = p.end
	return false
}

// conditional reports whether a word behind another begins a condition of what
// stands before it.
func (p *program) conditional(t, prev token) bool {
	return t.word("if", "unless") && !t.line && p.lang.name != "php" && !prev.is("=", "->", ".", "(") && !prev.word("else", "then", "do")
}

// repeated reads the statement from start to the word that repeats it.
func (p *program) repeated(start, at int) {
	p.at = at
	word := p.take().text
	p.scanned = at
	p.loop++
	list := p.expressions()
	after := p.at
	if word == "for" || word == "foreach" {
		p.turns(list, start, at, -1)
	} else {
		p.maybe(func() { p.block(start, at) })
	}
	p.loop--
	p.at = after
}

// turns reads a part of the program for each element of a list, which target
// stands for.
func (p *program) turns(list value, from, to, target int) {
	p.each(list, to-from, func(e value) {
		if target < 0 {
			p.set("$_", e)
		} else {
			p.bind(target, e)
		}
		p.maybe(func() { p.block(from, to) })
	})
}

// each does something for each element of a list, or once for all if there are
// too many to do what costs so much.
func (p *program) each(list value, cost int, do func(value)) {
	elements := list.elements()
	if len(elements) > 1 && p.again < len(elements)*cost || len(elements) > maxList {
		elements = []value{anyOf(elements[:min(len(elements), maxAlts+2)])}
	}
	if len(elements) == 0 {
		elements = []value{unknown("")}
	}
	p.again -= len(elements) * cost
	unsure := 0
	if !list.multi() {
		unsure = 1
	}
	p.loop++
	p.unsure += unsure
	for _, e := range elements {
		do(e)
	}
	p.unsure -= unsure
	p.loop--
}

// forLoop reads a loop over a list, and what stands before the body of any
// other.
func (p *program) forLoop() {
	def := p.at
	p.take()
	p.takeIf(p.word("await"))
	open, head := p.at, p.over(p.at)
	if head > open && p.is("(") {
		p.take()
	}
	for p.takeIf(p.word("const", "let", "my", "our", "var", "local")) {
	}
	target, list, ok := p.forHead(p.at, max(head, open))
	if !ok {
		p.at = open
		p.whileBody(def)
		return
	}
	if head > open {
		p.at = head + 1
	}
	from, to := p.body(def)
	p.turns(list, from, to, target)
	p.at = to
}

// forHead reads what a loop binds, and its list; false for other loops. The
// head stands in brackets if they close behind at.
func (p *program) forHead(at, shut int) (target int, list value, ok bool) {
	in := p.find(at, p.end, func(t token) bool { return t.word("in", "of", "as", "do") || t.is("{") })
	switch t := p.tok(in); {
	case t.word("as"):
		list = p.expression()
		if arrow := p.find(in, p.end, func(t token) bool { return t.is("=>") }); arrow > 0 {
			in = arrow
		}
		return in + 1, list, true
	case t.word("in", "of"):
		p.skip(in + 1)
		return at, p.expressions(), true
	case !p.lang.has("flat"):
	case shut > at && p.find(at, shut, func(t token) bool { return t.is(";") }) < 0:
		list = listOf(p.items(")")...)
		return -1, list, true
	case p.peek(0).kind == tokenName && p.peek(1).is("("):
		p.take()
		return at, p.primary(), true
	}
	return 0, value{}, false
}

func (p *program) whileLoop() {
	def := p.at
	p.take()
	if p.is("(") {
		p.loop++
		p.primary()
		p.loop--
	}
	p.whileBody(def)
}

// whileBody reads the rest of a loop's head and its body.
func (p *program) whileBody(def int) {
	if p.is("(") && p.over(p.at) > p.at {
		to := p.over(p.at)
		p.block(p.at+1, to)
		p.at = to + 1
	}
	p.loop++
	p.unsure++
	from, to := p.body(def)
	p.block(p.at, from)
	p.maybe(func() { p.block(from, to) })
	p.loop--
	p.unsure--
	p.at = to
}
