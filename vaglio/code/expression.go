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
	switch op {
	case "+=", ".=":
		v = p.extended(to, v)
	case "||=":
		v = to.or(v)
	case "-=", "*=", "/=", "%=":
		v = value{kind: kindOther}
	}
	p.store(to.holder, v)
	return v
}

// extended is a value with another behind it.
func (p *program) extended(a, b value) value {
	switch {
	case a.multi() && b.multi():
		return listOf(slices.Concat(a.list, b.list)...)
	case len(a.alts) > 0 || a.path != "":
		return p.glue(a, b)
	}
	return b
}

// choice reads c ? a : b and a if c else b.
func (p *program) choice() value {
	v := p.either()
	switch {
	case p.is("?") && p.lang.name != "python":
		p.take()
		a := p.expression()
		p.takeIf(p.is(":"))
		return a.or(p.expression())
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
	p.takeIf(p.word("return", "next", "last", "exit", "continue", "break", "die", "warn"))
	if p.is(";", "}") {
		return value{kind: kindNone}
	}
	return p.compared()
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
		case p.comparison():
			p.sum()
			v = value{kind: kindOther}
		default:
			return v
		}
	}
	return v
}

// comparison reads an operator that compares, if one stands here.
func (p *program) comparison() bool {
	switch {
	case p.is("<") && p.lang.name == "awk" && p.peek(-1).text == "getline":
		return false
	case p.is("==", "!=", "<=", ">=", "<", "===", "!==", "<=>", "~"), p.is(">") && !p.printing,
		p.word("in", "is", "instanceof", "eq", "ne", "isnt") && p.lang.name != "lua":
		p.take()
		p.takeIf(p.word("not"))
		return true
	case p.word("not") && p.peek(1).text == "in":
		p.take()
		p.take()
		return true
	}
	return false
}

// sum reads operands with the operators that join them.
func (p *program) sum() value {
	v := p.unary()
	for p.at < p.end && p.spend(1) {
		t := p.peek(0)
		switch {
		case p.joins(t):
			p.take()
			p.lines()
			v = p.added(v, p.unary(), t.text)
		case p.piped():
			if p.peek(1).text != "getline" {
				return v
			}
			p.take()
			p.shellLine(v, "getline")
		case p.is("/", "%", "*", "-", "**", "&", "^", "|", ">>", "<<", "+", "==") || p.word("x") && p.lang.name == "perl":
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

// piped reports whether a pipe of awk follows.
func (p *program) piped() bool { return p.is("|") && p.lang.name == "awk" }

// joins reports whether an operator joins texts.
func (p *program) joins(t token) bool {
	return t.kind == tokenOp && (t.text == join || t.text != "" && slices.Contains(p.lang.concat, t.text))
}

// beside reports whether a token of awk continues a text.
func (p *program) beside(t token) bool {
	switch {
	case !p.lang.has("beside"):
		return false
	case t.kind == tokenName:
		return !slices.Contains([]string{
			"getline", "in", "print", "printf", "if", "else", "while", "for", "do", "next", "exit", "END", "delete", "return",
		}, t.text)
	}
	return t.kind == tokenNumber || t.quoted()
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
	if !p.is(";") || !p.peek(0).line || p.lang.has("columns") || t.kind != tokenOp {
		return false
	}
	return t.text == "." && p.peek(2).kind == tokenName || t.text == "+" || t.text == "->" || t.text == "?."
}

// unary reads an operand and the signs before it.
func (p *program) unary() value {
	if !p.enter() {
		return value{}
	}
	defer p.leave()
	switch next := p.peek(1); {
	case p.is("*", "...", "**"):
		return p.spreadOperand()
	case p.is("-") && next.kind == tokenNumber:
		p.take()
		return value{kind: kindNumber, alts: []shell.Word{shell.Text("-" + p.take().text)}}
	case p.is("!", "~"), p.word("not"):
		p.take()
		p.unary()
		return value{kind: kindOther}
	case p.is("-", "+", "&", "\\", "++", "--", "@", "$", "%"), p.word(signs()...) && next.text != ".":
		return p.signed()
	case p.is(":") && next.kind == tokenName:
		p.take()
		return p.postfix(text(p.take().text))
	case p.is("->") && p.lang.name == "ruby":
		p.take()
		return p.postfix(p.arrow())
	}
	return p.postfix(p.primary())
}

// signs are the words that stand before an operand.
func signs() []string {
	return []string{"await", "new", "typeof", "yield", "throw", "void", "delete", "my", "our", "local", "const", "let", "var", "async", "do"}
}

// signed reads a sign and its operand.
func (p *program) signed() value {
	op := p.take()
	switch {
	case op.text == "async" && p.define():
		return value{}
	case op.text == "do" && p.is("{"):
		return p.groupBlock()
	case op.text == "&" && p.is(":") && p.peek(1).kind == tokenName:
		p.take()
		return unknown(p.take().text)
	}
	v := p.unary()
	if op.text == "@" || op.text == "%" {
		v.spread = true
	}
	return v
}

// spreadOperand reads *list and ...list, which stand for their elements.
func (p *program) spreadOperand() value {
	op := p.take()
	v := p.unary()
	if _, ok := v.text(); ok && op.text == "..." {
		v = splitAt(v, "")
	}
	v.spread = true
	return v
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
		return p.glued(textOf(p.fill(t.text)))
	case tokenNumber:
		p.take()
		return value{kind: kindNumber, alts: []shell.Word{shell.Text(t.text)}}
	case tokenName:
		return p.nameOperand()
	case tokenOp, tokenEnd:
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
	p.takeIf(!p.is(";", ")", "]", "}", ",", ":", "=>"))
	return value{}
}
