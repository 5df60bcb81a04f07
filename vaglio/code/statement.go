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
	bound    []value
	target   *value // what a bound call calls, for one without a body
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
		v := p.statement()
		if v.kind != kindNone {
			last = v
		}
		if p.at <= before {
			p.at = before
			p.take()
		}
	}
	p.at, p.end = at, end
	return last
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

func (p *program) statement() value {
	none := value{kind: kindNone}
	if p.is(";", "}", ")", "]", ":", ",", "{") && !p.peek(0).group && !p.pattern(p.at) {
		p.take()
		return none
	}
	if p.modified() {
		return none
	}
	if t := p.peek(0); t.kind == tokenName {
		if p.define() || p.keyword(t.text) {
			return none
		}
	}
	if p.assigned() {
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
		if p.lang.name != "ruby" || p.peek(1).kind == tokenName {
			p.forLoop()
		}
		return true
	case "while", "until", "loop":
		p.whileLoop()
		return true
	case "return":
		p.returned()
		return true
	case "class", "module":
		if p.peek(1).kind != tokenName || !p.lang.has("class") {
			return false
		}
		p.classes[p.peek(1).text] = true
		p.take()
		p.take()
		return true
	case "use", "no":
		return p.pragma()
	}
	if wordclass.Is("statement-word", name) {
		p.take()
		return true
	}
	return false
}

// pragma skips use strict and the like of perl.
func (p *program) pragma() bool {
	perl := p.lang.name == "perl"
	for perl && p.at < p.end && !p.is(";") {
		p.take()
	}
	return perl
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

// modified reads a statement with a condition or a loop behind it: … for @list,
// fork while 1.
func (p *program) modified() bool {
	if !p.lang.has("bare") || p.lang.name == "lua" || p.at < p.scanned {
		return false
	}
	start := p.at
	for i := start; i < p.end && p.spend(1); i = p.over(i) + 1 {
		t := p.toks[i]
		loop := t.word("for", "foreach", "while", "until") && (i == start || p.toks[i-1].text != "->")
		switch {
		case loop && i == start, t.is(";", "}", ")"):
			p.scanned = i
			return false
		case loop:
			p.repeated(start, i)
			return true
		}
	}
	p.scanned = p.end
	return false
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
		p.turns(list, start, at, func(e value) { p.set("$_", e) })
	} else {
		p.block(start, at)
	}
	p.loop--
	p.at = after
}

// turns reads a part of the program for each element of a list.
func (p *program) turns(list value, from, to int, bind func(value)) {
	elements := list.elements()
	if len(elements) > 1 && p.again < len(elements)*(to-from) || len(elements) > maxList {
		elements = []value{anyOf(elements[:min(len(elements), maxAlts+2)])}
	}
	p.again -= len(elements) * (to - from)
	unsure := 0
	if !list.multi() {
		unsure = 1
	}
	p.loop++
	p.unsure += unsure
	for _, e := range elements {
		bind(e)
		p.block(from, to)
	}
	p.unsure -= unsure
	p.loop--
	if len(elements) == 0 {
		p.block(from, to)
	}
}

// forLoop reads the loops over a list, and what stands before the body of any
// other.
func (p *program) forLoop() {
	def := p.at
	p.take()
	paren := p.is("(") && (p.lang.name != "perl")
	open := p.at
	if paren || p.word("await") {
		p.take()
	}
	for p.takeIf(p.word("const", "let", "my", "our", "var", "local")) {
	}
	target, list, ok := p.forHead()
	if !ok {
		p.at = max(open, def+1)
		p.whileBody(def)
		return
	}
	if paren && p.toks[open].match > 0 {
		p.at = int(p.toks[open].match) + 1
	}
	from, to := p.body(def)
	p.turns(list, from, to, func(e value) {
		if target >= 0 {
			p.bind(target, e)
		} else {
			p.set("$_", e)
		}
	})
	p.at = to
}

// forHead reads what a loop binds, and its list; false for other loops.
func (p *program) forHead() (target int, list value, ok bool) {
	start := p.at
	switch {
	case p.is("(") && p.lang.name == "perl":
		if p.hasSemicolon(p.at, p.over(p.at)) {
			return 0, value{}, false
		}
		return -1, p.primary(), true
	case p.lang.name == "php":
		return p.phpHead()
	}
	for i := range 24 {
		t := p.peek(0)
		switch {
		case t.word("in", "of"):
			p.take()
			return start, p.expressions(), true
		case t.text == "(" && p.lang.name == "perl" && i == 1:
			return start, p.primary(), true
		case t.kind == tokenName, t.is("(", "[", "{", ",", ")", "]", "}", ":", "*"):
			p.take()
		default:
			return 0, value{}, false
		}
	}
	return 0, value{}, false
}

// phpHead reads list as $x and list as $k => $x.
func (p *program) phpHead() (target int, list value, ok bool) {
	list = p.expression()
	if !p.takeIf(p.word("as")) {
		return 0, value{}, false
	}
	target = p.at
	for i := range 6 {
		if p.peek(i).text == "=>" {
			target = p.at + i + 1
		}
	}
	return target, list, true
}

func (p *program) hasSemicolon(from, to int) bool {
	return slices.ContainsFunc(p.toks[from:to], func(t token) bool { return t.is(";") })
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
	if p.is("(") && p.toks[p.at].match > 0 {
		to := int(p.toks[p.at].match)
		p.block(p.at+1, to)
		p.at = to + 1
	}
	p.loop++
	p.unsure++
	from, to := p.body(def)
	p.block(p.at, from)
	p.block(from, to)
	p.loop--
	p.unsure--
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
func (p *program) over(i int) int { return max(i, int(p.toks[i].match)) }
