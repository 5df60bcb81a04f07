package code

import (
	"slices"
)

// expressions reads expressions with commas between them, as one value.
func (p *program) expressions() value {
	v := p.expression()
	if !p.is(",") {
		return v
	}
	list := spreadInto(nil, v)
	for p.is(",") && p.spend(1) {
		p.take()
		if p.is(";", ")", "]", "}") || p.word("for", "do", "then") {
			break
		}
		list = spreadInto(list, p.expression())
	}
	return listOf(list...)
}

func spreadInto(list []value, v value) []value {
	if v.spread && v.multi() {
		return append(list, v.list...)
	}
	return append(list, v)
}

// expression reads one expression, the choice and the assignment it may be.
func (p *program) expression() value {
	if !p.enter() {
		return value{}
	}
	defer p.leave()
	v := p.choice()
	for p.at < p.end && p.spend(1) {
		switch {
		case p.is("=", ":=", "+=", ".=", "||=", "&&=", "??=", "//=", "<<=", "-=", "*=", "/=", "%="):
			v = p.assign(v, p.take().text, p.expression())
		case p.word("as") && p.lang.name == "python" && p.peek(1).kind == tokenName:
			p.take()
			p.set(p.take().text, v)
		default:
			return v
		}
	}
	return v
}

// assign gives a value to what an expression stands for.
func (p *program) assign(to value, op string, v value) value {
	switch op {
	case "+=", ".=":
		if len(to.alts) > 0 || to.path != "" || to.multi() {
			v = p.added(to, v, "+")
		}
	case "||=", "&&=", "??=", "//=":
		v = to.or(v)
	case "-=", "*=", "/=", "%=":
		v = value{kind: kindOther}
	}
	p.store(to.holder, v)
	return v
}

// choice reads c ? a : b and a if c else b.
func (p *program) choice() value {
	v := p.either()
	switch {
	case p.is("?") && p.lang.name != "python":
		p.take()
		var a, b value
		p.maybe(func() { a = p.expression() })
		p.takeIf(p.is(":"))
		p.maybe(func() { b = p.expression() })
		return a.or(b)
	case p.word("if") && p.lang.name == "python" && !p.peek(0).line:
		p.take()
		p.either()
		if p.takeIf(p.word("else")) {
			return v.or(p.expression())
		}
	}
	return v
}

// either reads a or b: what it yields may be one or the other.
func (p *program) either() value {
	v := p.compared()
	for p.at < p.end && p.spend(1) {
		and := p.is("&&") || p.word("and")
		if !and && !p.is("||", "??") && (!p.word("or") || p.peek(0).line) {
			return v
		}
		p.take()
		p.takeIf(p.word("return", "next", "last", "exit", "continue", "break", "die", "warn"))
		o := value{kind: kindNone}
		if !p.is(";", "}") {
			p.maybe(func() { o = p.compared() })
		}
		if !and {
			o = v.or(o)
		}
		v = o
	}
	return v
}

// compared reads operands with the operators that yield no text.
func (p *program) compared() value {
	v := p.sum()
	for p.at < p.end && p.spend(1) {
		switch {
		case p.is("=~", "!~"):
			p.take()
			p.subject = v
			v = p.sum()
			p.subject = value{}
		case p.is("<") && p.peek(-1).text == "getline":
			return v
		case p.is("==", "!=", "<=", ">=", "<", "===", "!==", "<=>", "~"), p.is(">") && !p.printing, p.word("not") && p.peek(1).text == "in",
			p.word("in", "is", "instanceof", "eq", "ne", "isnt") && p.lang.name != "lua":
			p.take()
			p.takeIf(p.word("not", "in"))
			p.sum()
			v = value{kind: kindOther}
		default:
			return v
		}
	}
	return v
}

// sum reads operands with the operators that join them.
func (p *program) sum() value {
	v := p.unary()
	for p.at < p.end && p.spend(1) {
		t := p.peek(0)
		switch {
		case t.kind == tokenOp && slices.Contains(p.lang.concat, t.text):
			p.take()
			p.lines()
			v = p.added(v, p.unary(), t.text)
		case p.lang.name == "awk" && t.is("|"):
			if p.peek(1).text != "getline" {
				return v
			}
			p.take()
			p.shellLine(v, "getline")
		case p.operates(t):
			p.take()
			p.lines()
			v = p.operated(v, t.text)
		case p.beside(t):
			v = p.glue(v, p.unary())
		case p.continued():
			p.take()
		default:
			return v
		}
	}
	return v
}

// operates reports whether a token is an operator of numbers and the like.
func (p *program) operates(t token) bool {
	return t.is("/", "%", "*", "-", "**", "&", "^", "|", ">>", "<<", "+", "==") || t.word("x") && p.lang.name == "perl"
}

// beside reports whether a token of awk continues a text.
func (p *program) beside(t token) bool {
	return p.lang.has("beside") && (t.kind == tokenNumber || t.quoted() || t.kind == tokenName && !t.word(
		"getline", "in", "print", "printf", "if", "else", "while", "for", "do", "next", "exit", "END", "delete", "return"))
}

// lines skips the ends of lines where an operand is due.
func (p *program) lines() {
	for p.is(";") && p.peek(0).line {
		p.take()
	}
}

// continued reports whether a new line goes on with this expression.
func (p *program) continued() bool {
	t := p.peek(1)
	return p.is(";") && p.peek(0).line && !p.lang.has("columns") && (t.is("+", "->", "?.") || t.is(".") && p.peek(2).kind == tokenName)
}

// added joins two values, or adds two numbers.
func (p *program) added(a, b value, op string) value {
	if a.multi() && b.multi() {
		return listOf(slices.Concat(a.list, b.list)[:min(len(a.list)+len(b.list), maxList)]...)
	}
	if a.kind == kindNumber && b.kind == kindNumber && op == "+" {
		return value{kind: kindOther}
	}
	return p.glue(a, b)
}

// operated applies the operators that do not join texts.
func (p *program) operated(a value, op string) value {
	b := p.unary()
	switch {
	case op == "/" && dividesPath(a, b):
		return pathOf(p.joined([]value{a, b}))
	case op == "%" && a.textual():
		b.spread = b.kind == kindList
		return p.formatted(a, []value{b})
	case op == "<<" && a.multi():
		return p.grow(a, []value{b})
	case op == "<<":
		p.store(a.holder, unknown("<<"))
	case op == "|" && a.path != "":
		return unknown(a.path + "|" + b.path)
	}
	return value{kind: kindOther}
}

// textual reports whether a value is a text, in part at least.
func (v value) textual() bool { return len(v.alts) > 0 && v.kind != kindNumber }

// dividesPath reports whether a slash joins a path and what stands below it.
func dividesPath(a, b value) bool {
	return a.kind == kindPath || b.kind == kindPath || a.path != "" && len(a.alts) == 0 && b.known() && b.kind == kindText
}

// unary reads an operand and the signs before it.
func (p *program) unary() value {
	if !p.enter() {
		return value{}
	}
	defer p.leave()
	t, next := p.peek(0), p.peek(1)
	switch {
	case t.is("*", "...", "**"):
		p.take()
		v := p.unary()
		if t.text == "..." && !v.multi() {
			v = splitAt(v, "")
		}
		v.spread = true
		return v
	case t.is("!", "~"), t.word("not"):
		p.take()
		p.unary()
		return value{kind: kindOther}
	case t.is("-", "+", "&", "\\", "++", "--", "@", "$", "%"), next.text != "." && t.word(
		"await", "new", "typeof", "yield", "throw", "void", "delete", "my", "our", "local", "const", "let", "var", "async", "do"):
		return p.signed()
	case t.is(":") && next.kind == tokenName:
		p.take()
		return p.postfix(text(p.take().text))
	case t.is("->") && p.lang.name == "ruby":
		p.take()
		return p.postfix(p.arrow())
	}
	return p.postfix(p.primary())
}

// signed reads a sign and its operand.
func (p *program) signed() value {
	t := p.peek(0)
	if t.text == "async" && p.define() {
		return value{}
	}
	p.take()
	switch to := p.over(p.at); {
	case t.text == "do" && p.is("{") && to > p.at: // a block that stands for its last value
		v := p.block(p.at+1, to)
		p.at = to + 1
		return v
	case t.text == "&" && p.is(":") && p.peek(1).kind == tokenName:
		p.take()
		return unknown(p.take().text)
	}
	v := p.unary()
	if t.is("-") {
		return v.negated()
	}
	v.spread = v.spread || t.is("@", "%")
	return v
}

// negated is a number below zero for one above; of a text, nothing changes.
func (v value) negated() value {
	if n, ok := v.int(); ok && v.kind == kindNumber {
		return number(-n)
	}
	return v
}
