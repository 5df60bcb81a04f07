package code

import (
	"slices"
	"strings"

	"github.com/metnos/vaglio/vaglio/shell"
	"github.com/metnos/vaglio/vaglio/wordclass"
)

// scan reads a part of the program, expression by expression, and returns the value of the last.
// It skips words such as "if" and the brackets of blocks: a token's block says whether the program
// may skip it.
func (p *program) scan(from, to int) value {
	if !p.enter() {
		return value{}
	}
	defer p.leave()
	at, end := p.at, p.end
	p.at, p.end = from, min(to, len(p.toks))
	var last value
	for p.at < p.end && p.spend(1) {
		before := p.at
		if v := p.statement(); v.kind != kindNone || p.tok(before).word("return") {
			last = v
		}
		p.forward(before)
	}
	p.at, p.end = at, end
	return last
}

// forward skips one token if nothing was read, and reports whether it did.
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

func (p *program) take() token {
	t := p.peek(0)
	p.skip(p.at + 1)
	return t
}

func (p *program) is(ops ...string) bool { return p.peek(0).is(ops...) }

func (p *program) word(words ...string) bool { return p.peek(0).word(words...) }

// takeIf advances by one token if a condition holds, and reports whether it does.
func (p *program) takeIf(here bool) bool {
	if here {
		p.take()
	}
	return here
}

// skip advances to an index and marks the tokens before it as read.
func (p *program) skip(to int) {
	for to = min(to, len(p.toks)); p.at < to; p.at++ {
		p.seen[p.at] = true
	}
}

// is reports whether a token is one of the operators.
func (t token) is(ops ...string) bool { return t.kind == tokenOp && slices.Contains(ops, t.text) }

func (t token) word(words ...string) bool {
	return t.kind == tokenName && slices.Contains(words, t.text)
}

// quoted reports whether a token begins a text.
func (t token) quoted() bool { return t.kind == tokenString || t.group && t.text == "(" }

// tok returns the token at an index, or a zero token.
func (p *program) tok(i int) token {
	if i >= 0 && i < len(p.toks) {
		return p.toks[i]
	}
	return token{}
}

// over returns the index of the bracket that closes the one at i, or i.
func (p *program) over(i int) int { return max(i, int(p.tok(i).match)) }

// opens reports whether an index holds a bracket that is closed again.
func (p *program) opens(i int, bracket string) bool { return p.tok(i).is(bracket) && p.over(i) > i }

// until returns the first index outside brackets at which a condition holds, or the end.
func (p *program) until(from int, stop func(i int) bool) int {
	i := from
	for i < p.end && !stop(i) {
		i = p.over(i) + 1
	}
	p.spend((i - from) / 4)
	return min(i, p.end)
}

// find returns the index of the first token outside brackets that satisfies is, or -1 if there is
// none before the end of the statement.
func (p *program) find(from int, is func(token) bool) int {
	i := p.until(from, func(i int) bool { t := p.toks[i]; return is(t) || t.is(";", ")", "]", "}") })
	if i < p.end && is(p.toks[i]) {
		return i
	}
	return -1
}

func (p *program) statement() value {
	none := value{kind: kindNone}
	t := p.peek(0)
	switch {
	case p.is(";", "}", ")", "]", ":", ",", "{") && !t.group && !p.pattern(p.at) && !p.beginsMap(t):
		p.take()
		return none
	case t.word("yield") && p.lang.name == "ruby": // what the block makes of it
		p.take()
		p.expressions()
		return unknown(t.text)
	case p.in.Imported && p.ifMain(), p.peek(1).is("{") && p.takeIf(p.is("++", "--")): // the end of a loop's head
		return none
	case p.repeated(), t.kind == tokenName && (p.define() || p.keyword(t.text)), p.assigned():
		return none
	}
	return p.expressions()
}

// ifMain skips what python runs only if the file is the program itself.
func (p *program) ifMain() bool {
	if !p.word("if") || !p.peek(1).word("__name__") || p.peek(3).text != "__main__" {
		return false
	}
	_, to := p.body(p.at, p.at+1)
	p.skip(to)
	return true
}

// beginsMap reports whether a statement begins with a map rather than a block.
func (p *program) beginsMap(t token) bool {
	return t.is("{") && (p.at == 0 || p.peek(-1).is(";")) && (p.lang.name == "python" || p.lang.name == "ruby")
}

// keyword reads a keyword that binds a name or repeats what follows, and skips other keywords.
func (p *program) keyword(name string) bool {
	if p.peek(1).is("=", ",", ":") && slices.Contains([]string{"from", "loop", "until", "foreach"}, name) { // a variable's name
		return false
	}
	switch name {
	case "import", "from":
		return p.imports()
	case "for", "foreach", "while", "until", "loop":
		p.looped()
		return true
	case "return", "yield":
		p.returned()
		return true
	case "do":
		if to := p.over(p.at + 1); p.opens(p.at+1, "{") && p.tok(to+1).word("while", "until") {
			from := p.at + 2
			p.each(value{}, 0, func(value) { p.turn(from, to) })
			p.at = to
			return true
		}
	case "del":
		if p.lang.has("columns") {
			p.deleted()
			return true
		}
	case "class":
		p.classes[p.peek(1).text] = p.class()
		p.take()
		return true
	case "use", "no":
		if p.lang.name == "perl" {
			p.skip(p.until(p.at, func(i int) bool { return p.toks[i].is(";") }))
			return true
		}
	}
	variable := p.peek(1).is("=", ".", ",") || callsOrIndexes(name, p.peek(1))
	return p.takeIf(!variable && (wordclass.Is("branch-word", name) || wordclass.Is("statement-word", name)))
}

// callsOrIndexes reports whether a word that declares variables is itself a function or a variable,
// judging by the token behind it: let(:x), local["git"].
func callsOrIndexes(word string, next token) bool {
	return word == "local" && next.is("[") || word == "let" && next.is("(")
}

// returned reads what a function returns, or yields as one of several.
func (p *program) returned() {
	one, n := p.take().text == "yield", len(p.returns)-1
	switch all := p.takeIf(p.word("from") || p.is("*")); {
	case p.is(";", "}"), n < 0:
	case one:
		v := p.expressions()
		v.spread = all
		p.returns[n] = listOf(bounded(spreadInto(p.returns[n].list, v))...)
		p.returns[n].some = true
	default:
		p.returns[n] = p.returns[n].or(p.expressions())
	}
}

// deleted reads python's del, behind which the elements of a list are somewhere else.
func (p *program) deleted() {
	for p.take(); p.spend(1); p.take() {
		if p.drop(p.expression()); !p.is(",") {
			return
		}
	}
}

// drop notes that an element of a list or a map is no longer there.
func (p *program) drop(v value) {
	base, _, element := strings.Cut(v.holder, "\x00")
	held := p.current(p.vars[p.key(base)])
	if held.kind == kindMap || !element && v.holder != "" {
		p.store(v.holder, unknown("drop"))
		return
	}
	held.holder = base
	p.mixes(held, nil)
}

// repeated reads a statement followed by a loop: … for @list, fork while 1.
func (p *program) repeated() bool {
	if !p.lang.has("bare") || p.lang.name == "lua" || p.at < p.scanned || p.peek(0).kind == tokenName && p.over(p.at) > p.at {
		return false
	}
	start, loop := p.at, false
	p.scanned = p.until(start, func(i int) bool {
		t := p.toks[i]
		loop = i > start && t.word("for", "foreach", "while", "until") && p.toks[i-1].text != "->"
		return loop || t.is(";", "}", ")")
	})
	if !loop {
		return false
	}
	at := p.scanned
	p.at = at + 1
	p.loop++
	list := p.expressions()
	after := p.at
	if p.toks[at].word("for", "foreach") {
		p.turns(list, start, at, -1)
	} else {
		p.scan(start, at)
	}
	p.loop--
	p.at = after
	return true
}

// turns reads a part of the program for each element of a list, bound to target.
func (p *program) turns(list value, from, to, target int) {
	p.each(list, to-from, func(e value) {
		p.bindNew(target, e)
		p.turn(from, to)
	})
}

// turn reads the body of a loop once. If how often it runs is not known, it is read once more with what its variables hold
// after the first turn.
func (p *program) turn(from, to int) {
	held := map[string]value{}
	for i := from; i < to && p.unsure > 0 && p.spend(1); i++ {
		t, key := p.tok(i), p.key(p.tok(i).text)
		v, known := p.vars[key]
		switch assigned := p.tok(i+1).is("=", "+=", ".=", "-=", "*="); {
		case t.kind != tokenName || !known || v.multi():
		case v.kind == kindNumber && (assigned || p.tok(i+1).is("++", "--") || p.tok(i-1).is("++", "--")):
			p.vars[key] = unknown("")
		case assigned && v.given():
			held[key] = v
		}
	}
	p.scan(from, to)
	for key, was := range held {
		if now := p.vars[key]; !slices.EqualFunc(was.words(), now.words(), shell.Word.Equal) && p.again >= to-from {
			p.again -= to - from
			p.scan(from, to)
			return
		}
	}
}

// each calls do for each element of a list, or once for all of them if there are too many for the
// cost.
func (p *program) each(list value, cost int, do func(value)) {
	elements := p.iterated(list).elements()
	if len(elements) > 1 && p.again < len(elements)*cost || len(elements) > maxList {
		elements = []value{p.anyOf(bounded(elements))}
	}
	if len(elements) == 0 {
		elements = []value{unknown("")}
	}
	p.again -= len(elements) * cost
	unsure := p.unsure
	if !list.multi() || len(elements) < len(list.list) {
		p.unsure++
	}
	p.loop++
	for _, e := range elements {
		e.some = e.some && e.multi()
		do(e)
	}
	p.unsure = unsure
	p.loop--
}

// iterated returns what goes through a value: python's maps go through their keys.
func (p *program) iterated(list value) value {
	switch {
	case p.lang.name != "python":
		return list
	case p.isEnvironment(list) && !list.given():
		return unknown(list.path + ".keys()")
	case list.kind != kindMap:
		return list
	}
	return list.under()
}

// under returns the keys of a map, or the numbers of a list's elements.
func (v value) under() value {
	out := listOf()
	if !v.multi() {
		return unknown("")
	}
	for i, key := range v.keyed().keys {
		switch key {
		case "": // an element that has no key, or one that is not known
			out.list = append(out.list, v.list[i], unknown(""))
		case anyKey:
			out.list = append(out.list, unknown(""))
		default:
			out.list = append(out.list, text(key))
		}
	}
	return out
}

// looped reads a loop: over a list, once for each element; any other, once.
func (p *program) looped() {
	def := p.at
	p.take()
	p.takeIf(p.word("await"))
	open, head := p.at, p.over(p.at)
	if head > open && p.is("(") {
		p.take()
	}
	for p.takeIf(p.word("const", "let", "my", "our", "var", "local")) {
	}
	if target, list, ok := p.loopHead(head); ok && p.toks[def].word("for", "foreach") {
		if head > open {
			p.skip(head + 1)
		}
		from, to := p.body(def, p.at)
		p.turns(list, from, to, target)
		p.at = max(to, p.at)
		return
	}
	p.at = open
	from, to := p.body(def, open)
	p.each(value{}, 0, func(value) {
		p.scan(open, from)
		p.turn(from, to)
	})
	p.at = max(to, open)
}

// loopHead returns what a loop binds, and reads its list; false for other loops. The head is in
// brackets if shut is after here.
func (p *program) loopHead(shut int) (target int, list value, ok bool) {
	at := p.at
	if p.lang.name == "go" {
		return p.ranges()
	}
	in := p.find(at, func(t token) bool { return t.word("in", "of", "as", "do") || t.is("{") })
	switch t := p.tok(in); {
	case t.word("as"):
		list = p.expression()
		if arrow := p.find(in, func(t token) bool { return t.is("=>") }); arrow > 0 {
			in = arrow
		}
		return in + 1, list, true
	case t.word("in", "of"):
		p.skip(in + 1)
		if list = p.expressions(); t.word("in") && p.lang.name == "node" {
			list = list.under()
		}
		return at, list, true
	case !p.lang.has("flat"):
	case shut > at && p.find(at, func(t token) bool { return t.is(";") }) < 0:
		list = listOf(p.items(")")...)
		return -1, list, true
	case p.peek(0).kind == tokenName && p.peek(1).is("("):
		p.take()
		return at, p.primary(), true
	}
	return 0, value{}, false
}

// ranges reads the list of a loop of Go that binds its elements: for _, x := range list. What it binds to their
// index or key is not known.
func (p *program) ranges() (target int, list value, ok bool) {
	at := p.at
	in := p.find(at, func(t token) bool { return t.word("range") || t.is("{") })
	if !p.tok(in).word("range") || !p.tok(at+1).is(",") || !p.tok(at+3).is(":=", "=") || in != at+4 {
		return 0, value{}, false
	}
	p.bindNew(at, unknown(""))
	p.skip(in + 1)
	return at + 2, p.expression(), true
}

// literal reads a function without a name of Go: func(x, y T) T { … }. The type of one has no braces.
func (p *program) literal() (value, bool) {
	def, to := p.at, p.over(p.at+1)+1
	if !p.word("func") || !p.opens(p.at+1, "(") {
		return value{}, false
	}
	to = p.until(to, func(i int) bool {
		t := p.toks[i]
		return t.is("{") && !p.toks[i-1].word("struct", "interface") || t.kind == tokenOp && !t.is(".", "*", "(", "[", "{", "<-")
	})
	if !p.opens(to, "{") {
		return value{}, false
	}
	p.take()
	params := p.parameters()
	p.skip(to)
	v := p.closure(def, params)
	v.fn.command, v.fn.deferred = p.runner(params), p.tok(def-1).word("defer")
	return v, true
}

// runner returns how a library runs a function that takes what it hands to commands, nil if none does.
func (p *program) runner(params []int) attributes {
	for _, at := range params {
		if how := p.lang.options.names["runner"][p.tok(at+2).text+"."+p.tok(at+4).text]; how != nil { // cmd *cobra.Command
			return how
		}
	}
	return nil
}

// every returns the elements of a map or, where lists hold keys and values in turn, every second one.
func (p *program) every(v value, from int) value {
	if v.kind == kindList && p.lang.has("flat") {
		out := listOf()
		for ; from < len(v.list); from += 2 {
			out.list = append(out.list, v.list[from])
		}
		return out
	}
	if from > 0 {
		v.kind, v.keys = kindList, nil
	}
	return v
}

// perhaps reports whether the program may pass by what was just read, or come
// to it again.
func (p *program) perhaps() bool {
	return p.branches > 0 || p.tok(min(p.at, p.end)-1).perhaps ||
		p.lang.has("bare") && !p.peek(0).line && p.word("if", "unless", "while", "until", "for", "foreach")
}
