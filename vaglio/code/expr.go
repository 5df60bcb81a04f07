package code

import (
	"slices"

	"github.com/metnos/vaglio/vaglio/code/lex"
	"github.com/metnos/vaglio/vaglio/wordclass"
)

// expressions reads comma-separated expressions as one value.
func (p *program) expressions() value {
	v := p.expression()
	if !p.is(",") {
		return v
	}
	list := spreadInto(nil, v)
	for p.takeIf(p.is(",")) && p.spend(1) && !p.is(";", ")", "]", "}") && !p.word("for", "do", "then") {
		list = spreadInto(list, p.expression())
	}
	p.deferred(list)
	return listOf(list...)
}

// deferred reads a function and the list of what it is to be called with, as what makes an object anew is stored: (os.system, ("ls",)).
func (p *program) deferred(pair []value) {
	if p.lang.name == "python" && len(pair) > 1 && pair[1].kind == kindList && p.isFunction(pair[0]) {
		p.call(pair[0], value{}, pair[1].list)
	}
}

func spreadInto(list []value, v value) []value {
	if v.spread && v.multi() {
		for _, e := range v.list {
			e.some = e.some || v.some
			list = append(list, e)
		}
		return list
	}
	return append(list, v)
}

// expression reads one expression, including an assignment.
func (p *program) expression() value {
	if !p.enter() {
		return value{}
	}
	defer p.leave()
	v := p.binary()
	for p.at < p.end && p.spend(1) {
		switch {
		case p.is("=", ":=", "+=", ".=", "||=", "&&=", "??=", "//=", "<<=", "-=", "*=", "/=", "%=", "|="):
			v = p.assign(v, p.take().Text, p.expression())
		case p.word("as") && p.lang.name == "python" && p.peek(1).Word():
			p.take()
			p.set(p.take().Text, v)
		case p.word("as", "satisfies") && p.lang.name == "node" && p.peek(1).Word():
			p.skip(p.until(p.at, func(i int) bool { return p.toks[i].Is(",", ";", ")", "]", "}", "=", "??", "||", "&&", "?", ":") }))
		default:
			return v
		}
	}
	return v
}

// assign assigns a value to what an expression stands for.
func (p *program) assign(to value, op string, v value) value {
	switch op {
	case "+=", ".=":
		return p.addedTo(to, v)
	case "||=", "&&=", "??=", "//=":
		v = to.or(v)
	case "|=":
		if to.kind == kindMap && p.lang.has("columns") {
			p.puts(to, to.merged([]value{v}))
			return v
		}
		return assignedTo(p, to, []value{v})
	case "-=", "*=", "/=", "%=":
		v = value{kind: kindOther}
	}
	p.shares(to, v)
	p.store(to.holder, v)
	return v
}

// shares assigns the parts of a value to a list of names within other brackets: ($k, $v) = each %h.
func (p *program) shares(to, v value) {
	for i, part := range to.list {
		if to.holder == "" && part.holder != "" && p.spend(1) {
			p.store(part.holder, v.share(i, false))
		}
	}
}

// addedTo adds a value to what an expression stands for: python's lists stay the same ones.
func (p *program) addedTo(to, v value) value {
	if to.given() || to.path != "" {
		v = p.added(to, v, "+")
	}
	if to.multi() && v.multi() && p.lang.has("columns") {
		p.puts(to, v)
		return v
	}
	if p.unsure > 0 && v.given() && !v.multi() {
		v = v.or(unknown(""))
	}
	p.store(to.holder, v)
	return v
}

// binary reads texts that are joined, with what stands between them that chooses or compares.
func (p *program) binary() value { return p.operation("") }

// operation is [program.binary] up to a word that goes on with something else here.
func (p *program) operation(stop string) value {
	v := p.sum()
	for p.at < p.end && p.spend(1) {
		t := p.peek(0)
		switch {
		case stop != "" && t.Word(stop):
			return v
		case p.chooses(t):
			p.take()
			p.lines()
			v = p.chosen(v, t)
		case p.compares(t):
			p.take()
			p.lines()
			v = p.compared(v, t)
		default:
			return v
		}
	}
	return v
}

// sum reads operands with the operators between them that join texts.
func (p *program) sum() value {
	v := p.unary()
	for p.at < p.end && p.spend(1) {
		t := p.peek(0)
		switch {
		case p.beside(t):
			v = p.operated(v, t)
		case p.joins(t):
			p.take()
			p.lines()
			v = p.operated(v, t)
		default:
			return v
		}
	}
	return v
}

// joins reports whether a token stands between operands that may become one text.
func (p *program) joins(t token) bool {
	switch {
	case t.Is(">") && p.printing, t.Is("<") && p.peek(-1).Text == "getline", t.Is("|") && p.lang.name == "awk" && p.peek(1).Text != "getline":
		return false
	case t.Word():
		return t.Text == "x" && p.lang.name == "perl"
	}
	return t.Is() && slices.Contains(p.lang.concat, t.Text) || t.Is("/", "%", "*", "-", "**", "&", "^", ">>", "<<", "+", "|")
}

// chooses reports whether a token stands between what may be one or the other.
func (p *program) chooses(t token) bool {
	python := p.lang.name == "python"
	return t.Is("&&", "||", "??") || t.Is("?") && !python || !t.Line && (t.Word("and", "or") || t.Word("if") && python)
}

// chosen reads the rest of c ? a : b, of a if c else b, and of a or b: what it yields may be one or the other.
func (p *program) chosen(v value, op token) value {
	if op.Word("if") {
		p.binary()
		if p.takeIf(p.word("else")) {
			return v.or(p.expression())
		}
		return v
	}
	p.branches++
	defer func() { p.branches-- }()
	if op.Is("?") && p.takeIf(p.is(":")) {
		return v.or(p.expression())
	}
	if op.Is("?") {
		a := p.expression()
		p.takeIf(p.is(":"))
		return a.or(p.expression())
	}
	leaves := p.takeIf(p.word("return", "next", "last", "exit", "continue", "break", "die", "warn"))
	o := value{kind: kindNone}
	if !p.is(";", "}") {
		o = p.sum()
		if p.is("=") { // $x or $y = 1
			o = p.assign(o, p.take().Text, p.expression())
		}
	}
	if leaves {
		o = value{kind: kindNone}
	}
	if op.Is("&&") || op.Word("and") {
		return o
	}
	return v.or(o)
}

// compares reports whether a token compares what stands around it.
func (p *program) compares(t token) bool {
	return t.Is("==", "!=", "<=", ">=", "===", "!==", "<=>", "~", "=~", "!~") || t.Is("<") && p.peek(-1).Text != "getline" || t.Is(">") && !p.printing ||
		t.Text == "not" && p.peek(1).Text == "in" || t.Word("in", "is", "instanceof", "eq", "ne", "isnt") && p.lang.name != "lua"
}

// compared reads the rest of a comparison, whose result is not text. What a pattern is applied to may change.
func (p *program) compared(v value, op token) value {
	if op.Is("=~", "!~") {
		p.subject = v
		v = p.sum()
		p.subject = value{}
		return v
	}
	p.takeIf(p.word("not", "in"))
	p.sum()
	return value{kind: kindOther}
}

// beside reports whether a token continues a text in awk.
func (p *program) beside(t token) bool {
	prev := p.peek(-1)
	headed := prev.Is(")") && p.tok(prev.Match-1).Word("if", "while")
	return p.lang.has("beside") && !headed && (t.Kind == lex.Number || t.Quoted() || t.Is("(") || t.Word() && !wordclass.Is("awk-word", t.Text))
}

// added joins two texts or lists; the sum of numbers stays unknown.
func (p *program) added(a, b value, op string) value {
	switch {
	case a.multi() && b.multi():
		a = a.or(b)
		a.of = ""
		return a
	case a.kind == kindNumber && b.kind == kindNumber && op == "+":
		return value{kind: kindOther}
	}
	return p.glue(a, b)
}

// operated reads the second operand of an operator that joins texts, paths or lists. The results of other operators are unknown.
func (p *program) operated(a value, op token) value {
	if op.Is("|") && p.word("getline") {
		p.shellLine(a, "getline")
		return p.unary()
	}
	b := p.unary()
	switch {
	case p.dividesPath(op, a, b):
		return pathOf(p.joined([]value{a, b}))
	case !op.Is() && op.Text != "x", op.Group, slices.Contains(p.lang.concat, op.Text):
		return p.added(a, b, op.Text)
	case op.Is("%") && len(a.alts) > 0 && a.kind != kindNumber && p.lang.has("formats"):
		b.spread = b.kind == kindList
		return p.filled(a, percentHoles, []value{b})
	case op.Is("|"): // the flags of a file
		return unknown(a.path + "|" + b.path)
	case op.Is("<<"):
		return p.shifted(a, b)
	}
	return value{kind: kindOther}
}

// shifted reads list << element. What it does to a text is unknown.
func (p *program) shifted(a, b value) value {
	if a.multi() {
		return p.grow(a, []value{b})
	}
	p.store(a.holder, unknown("<<"))
	return value{kind: kindOther}
}

// dividesPath reports whether an operator joins two path elements: a slash or, in ruby, a plus.
func (p *program) dividesPath(op token, a, b value) bool {
	if !op.Is("/") {
		return op.Is("+") && a.kind == kindPath && p.lang.name == "ruby"
	}
	return a.kind == kindPath || b.kind == kindPath || a.kind != kindNumber && b.known() && b.kind == kindText
}

func (p *program) unary() value {
	if !p.enter() {
		return value{}
	}
	defer p.leave()
	t, next := p.peek(0), p.peek(1)
	switch {
	case t.Is("*", "...", "**"):
		return p.spreadOut()
	case t.Is("!", "~"), t.Word("not", "typeof"):
		p.take()
		p.unary()
		return value{kind: kindOther}
	case p.prefixes(t, next):
		return p.signed()
	case t.Is(":") && next.Word() && p.lang.name != "php":
		p.take()
		return p.postfix(text(p.take().Text))
	case t.Is("->") && p.lang.name == "ruby":
		p.take()
		return p.postfix(p.arrow())
	}
	return p.postfix(p.primary())
}

// prefixes reports whether a token is an operator or a word that stands before an operand. Most of the words are names in python.
func (p *program) prefixes(t, next token) bool {
	if t.Is("-", "+", "&", "\\", "++", "--", "@", "$", "%") {
		return true
	}
	if p.lang.has("columns") && !t.Word("await", "yield", "async") {
		return false
	}
	return next.Text != "." && !p.callsOrIndexes(t.Text, next) && t.Word(
		"await", "new", "yield", "throw", "void", "delete", "my", "our", "local", "const", "let", "var", "async", "do")
}

// spreadOut reads an operator that spreads its operand, and the operand.
func (p *program) spreadOut() value {
	t := p.take()
	v := p.unary()
	switch {
	case p.lang.name == "go" && t.Text == "*": // what a pointer leads to
		return v
	case t.Text != "..." || v.multi():
	case v.kind == kindNone:
		v = listOf()
	default:
		v = splitAt(v, "")
	}
	v.spread = true
	return v
}

// signed reads a prefix operator and its operand.
func (p *program) signed() value {
	t := p.peek(0)
	if t.Text == "async" && p.define() {
		return value{}
	}
	p.take()
	if to := p.over(p.at); (t.Text == "do" || t.Text == "&") && p.opens(p.at, "{") { // a block, with the value of its last statement
		v := p.scan(p.at+1, to)
		if p.at = to + 1; t.Text == "&" && p.is("(") {
			return p.postfix(p.calledWith(v, p.callArguments))
		}
		return v
	}
	if t.Text == "&" && p.takeIf(p.is(":")) {
		return value{fn: &routine{method: p.take().Text}}
	}
	return p.operatedOn(t, p.unary())
}

// operatedOn returns what a prefix operator makes of its operand.
func (p *program) operatedOn(t token, v value) value {
	switch n, counts := v.int(); {
	case t.Is("&") && (p.lang.name == "php" || p.lang.name == "go" && len(v.alts) > 0): // what it holds may be changed by another name
		p.store(v.holder, unknown("&"))
		return value{path: "&", holder: v.holder}
	case t.Is("++", "--"):
		return p.counted(v, t)
	case t.Word("delete") && v.holder != "":
		p.drop(v)
		return v
	case counts && t.Is("-") && v.kind == kindNumber:
		return number(-n)
	}
	v.spread = v.spread || t.Is("@", "%")
	return v
}

// arrow reads (a, b) => …, a => … and ->(a) { … }.
func (p *program) arrow() value {
	def, params := p.at, []int{p.at}
	if !p.takeIf(p.peek(0).Word()) {
		params = p.parameters()
	}
	if p.takeIf(p.is("=>")) {
		p.lines()
	}
	return p.closure(def, params)
}
