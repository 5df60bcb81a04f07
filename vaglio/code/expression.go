package code

import (
	"slices"

	"github.com/metnos/vaglio/vaglio/shell"
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

// expression reads one expression, and the assignment it may be.
func (p *program) expression() value {
	if !p.enter() {
		return value{}
	}
	defer p.leave()
	v := p.choice()
	for p.at < p.end && p.spend(1) {
		switch {
		case p.is("=", ":=", "+=", ".=", "||=", "??=", "//=", "<<=") || p.is("-=", "*=", "/=", "%="):
			op := p.take().text
			v = p.assign(v, op, p.expression())
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
	if op == "+=" || op == ".=" || op == "||=" {
		switch {
		case to.multi() && v.multi():
			v = listOf(slices.Concat(to.list, v.list)...)
		case op == "||=":
			v = to.or(v)
		case len(to.alts) > 0 || to.path != "":
			v = p.glue(to, v)
		}
	}
	if op == "-=" || op == "*=" || op == "/=" || op == "%=" {
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
		a := p.expression()
		if p.is(":") {
			p.take()
		}
		return a.or(p.expression())
	case p.word("if") && p.lang.name == "python" && !p.peek(0).line:
		p.take()
		p.either()
		if p.word("else") {
			p.take()
			return v.or(p.expression())
		}
	}
	return v
}

// either reads a or b: what it yields may be one or the other.
func (p *program) either() value {
	v := p.compared()
	for p.at < p.end && p.spend(1) {
		switch {
		case p.is("||", "??") || p.word("or") && !p.peek(0).line:
			p.take()
			v = v.or(p.statementOr())
		case p.is("&&", "and") || p.word("and"):
			p.take()
			v = p.statementOr()
		default:
			return v
		}
	}
	return v
}

// statementOr reads an operand, which may be a return or the like.
func (p *program) statementOr() value {
	if p.word("return", "next", "last", "exit", "continue", "break", "die", "warn") {
		p.take()
	}
	if p.is(";", "}") {
		return value{kind: kindNone}
	}
	return p.compared()
}

func (p *program) compared() value {
	v := p.sum()
	for p.at < p.end && p.spend(1) {
		switch {
		case p.is("=~", "!~"):
			p.take()
			p.subject = v
			v = p.sum()
			p.subject = value{}
		case p.is("<") && p.lang.name == "awk" && p.peek(-1).text == "getline":
			return v
		case p.is("==", "!=", "<=", ">=", "<", "===", "!==", "<=>", "~") || p.is(">") && !p.printing || p.word("in", "is", "instanceof", "eq", "ne",
			"isnt") && !p.heading():
			p.take()
			if p.word("not") {
				p.take()
			}
			p.sum()
			v = value{kind: kindOther}
		case p.word("not") && p.peek(1).text == "in":
			p.take()
			p.take()
			p.sum()
			v = value{kind: kindOther}
		default:
			return v
		}
	}
	return v
}

// heading reports whether "in" belongs to a loop that is being read.
func (p *program) heading() bool { return p.lang.name == "lua" }

// sum reads operands with the operators that join them.
func (p *program) sum() value {
	v := p.unary()
	for p.at < p.end && p.spend(1) {
		t := p.peek(0)
		switch {
		case t.kind == tokenOp && (slices.Contains(p.lang.concat, t.text) && t.text != "" || t.text == join):
			p.take()
			p.lines()
			v = p.added(v, p.unary(), t.text)
		case t.kind == tokenOp && t.text == "|" && p.lang.name == "awk":
			if p.peek(1).text != "getline" {
				return v
			}
			p.take()
			p.shellLine(v, "getline")
		case p.is("/", "%", "*", "-", "**", "&", "^", "|", ">>", "<<", "+", "==") || t.kind == tokenName && t.text == "x" && p.lang.name == "perl" && p.at > 0:
			op := p.take().text
			p.lines()
			v = p.operated(v, op)
		case p.lang.has("beside") && (t.kind == tokenString || t.kind == tokenNumber || t.group && t.text == "(" || t.kind == tokenName && p.besides(t.text)):
			v = p.glue(v, p.unary())
		case t.kind == tokenOp && t.text == ";" && t.line && p.continued():
			p.take()
		default:
			return v
		}
	}
	return v
}

// lines skips the ends of lines where an operand is due.
func (p *program) lines() {
	for p.is(";") && p.peek(0).line {
		p.take()
	}
}

// continued reports whether the next line goes on with this expression.
func (p *program) continued() bool {
	t := p.peek(1)
	return !p.lang.has("columns") && t.kind == tokenOp && (t.text == "." && p.peek(2).kind == tokenName || t.text == "+" || t.text == "->" || t.text == "?.")
}

// besides reports whether a name of awk continues a text.
func (p *program) besides(name string) bool {
	return !slices.Contains([]string{"getline", "in", "print", "printf", "if", "else", "while", "for", "do", "next", "exit", "END", "delete", "return"}, name)
}

// added joins two values.
// operated applies the operators that do not join texts.
// joined are texts joined as the elements of a path.
// unary reads an operand and the signs before it.
func (p *program) unary() value {
	if !p.enter() {
		return value{}
	}
	defer p.leave()
	t := p.peek(0)
	switch {
	case t.kind == tokenOp && (t.text == "*" || t.text == "..." || t.text == "**"):
		p.take()
		v := p.unary()
		if _, ok := v.text(); ok && t.text == "..." {
			v = splitAt(v, "")
		}
		v.spread = true
		return v
	case p.is("-") && p.peek(1).kind == tokenNumber:
		p.take()
		s := "-" + p.take().text
		return value{kind: kindNumber, alts: []shell.Word{shell.Text(s)}}
	case p.is("!", "~") || p.word("not"):
		p.take()
		p.unary()
		return value{kind: kindOther}
	case p.is("-", "+", "&", "\\", "++", "--", "@", "$", "%"), p.word("await", "new", "typeof", "yield", "throw", "void", "delete", "my", "our",
		"local", "const", "let", "var", "async", "do") && p.peek(1).text != ".":
		op := p.take()
		if op.text == "async" && p.define() {
			return value{}
		}
		if op.text == "do" && p.is("{") {
			return p.groupBlock()
		}
		if op.text == "&" && p.is(":") && p.peek(1).kind == tokenName {
			p.take()
			return unknown(p.take().text)
		}
		v := p.unary()
		if op.text == "@" || op.text == "%" {
			v.spread = true
		}
		return v
	case p.is(":") && p.peek(1).kind == tokenName:
		p.take()
		return p.postfix(text(p.take().text))
	case p.is("->") && p.lang.name == "ruby":
		p.take()
		return p.postfix(p.arrow())
	}
	return p.postfix(p.primary())
}

// groupBlock reads a block that stands for its last value.
func (p *program) groupBlock() value {
	to := int(p.peek(0).match)
	if to <= p.at {
		p.take()
		return value{}
	}
	v := p.block(p.at+1, to)
	p.at = to + 1
	return v
}

// primary reads what stands for itself.
func (p *program) primary() value {
	t := p.peek(0)
	switch t.kind {
	case tokenString:
		p.take()
		v := textOf(p.fill(t.text))
		for p.lang.has("prefixes") && (p.peek(0).kind == tokenString || p.is("(") && p.peek(0).group) {
			v = p.glue(v, p.primary())
		}
		return v
	case tokenNumber:
		p.take()
		return value{kind: kindNumber, alts: []shell.Word{shell.Text(t.text)}}
	case tokenName:
		return p.nameOperand()
	}
	switch t.text {
	case "(":
		return p.group()
	case "[":
		p.take()
		return listOf(p.items("]")...)
	case "{":
		return p.mapping()
	}
	if !p.is(";", ")", "]", "}", ",", ":", "=>") {
		p.take()
	}
	return value{}
}

// group reads what stands in round brackets: a function's parameters, a text
// of several parts, a list or one expression.
// close moves behind the bracket at end.
// rest reads what an expression left before a bracket.
// items reads a list up to a bracket. A name with "=" or ":" behind it names
// the item.
// comprehends returns where the "for" stands that gives values to the
// expression which begins here, 0 if none does.
// itemName reads the name of an argument: name=, name: or "name" =>.
// each reads "for x in list if c" behind the expression at start, for every
// element.
// mapping reads what stands in braces: a map, a set, or statements.
// entry reads one entry of a map: a key, and the value if there is one.
