package powershell

import (
	"strconv"
	"strings"

	"github.com/metnos/vaglio/vaglio/shell"
	"github.com/metnos/vaglio/vaglio/wordclass"
)

// expression is one expression while it is being read. Only next goes on.
type expression struct {
	r    *reader
	toks []token
}

// eval reads an expression. Words that are put together of texts are followed,
// for commands are hidden so; what all else yields is not known.
func (r *reader) eval(toks []token) value {
	if len(toks) == 0 {
		return value{}
	}
	if len(toks) == 1 && toks[0].kind == tokText {
		return r.text(&toks[0])
	}
	if !r.step(1+len(toks)) || !r.enter() {
		return unknownValue("")
	}
	defer r.leave()
	e := &expression{r: r, toks: r.pieces(toks)}
	return e.chain()
}

func (e *expression) more() bool { return len(e.toks) > 0 && !e.r.stopped }

// sees says whether a token of the kind comes next.
func (e *expression) sees(k kind) bool { return e.more() && e.toks[0].kind == k }

func (e *expression) next() *token {
	t := &e.toks[0]
	e.toks = e.toks[1:]
	return t
}

// chain reads operands and the operators between them. The operators that make
// texts bind in three degrees: -f and arithmetic, +, all others.
func (e *expression) chain() value {
	vals := []value{e.list()}
	var ops []string
	for e.more() {
		op := "?"
		switch e.toks[0].kind {
		case tokAssign, tokRedirect, tokAmp:
			e.next()
			continue
		case tokOp:
			op = e.next().text
		default:
			e.r.unread("an expression of a form that is not read")
		}
		if op != "++" && op != "--" {
			ops, vals = append(ops, op), append(vals, e.list())
		}
	}
	for degree := range 3 {
		vals, ops = e.r.reduce(vals, ops, degree)
	}
	return vals[0]
}

// reduce applies the operators of one degree, from left to right.
func (r *reader) reduce(vals []value, ops []string, degree int) ([]value, []string) {
	out, rest := vals[:1:1], []string(nil)
	for i, op := range ops {
		if degreeOf(op) != degree {
			out, rest = append(out, vals[i+1]), append(rest, op)
			continue
		}
		last := len(out) - 1
		out[last] = r.binary(op, out[last], vals[i+1])
	}
	return out, rest
}

func degreeOf(op string) int {
	switch op {
	case "-f", "*", "/", "%", "..":
		return 0
	case "+", "-":
		return 1
	default:
		return 2
	}
}

// binary applies an operator.
func (r *reader) binary(op string, a, b value) value {
	switch op {
	case "+":
		return r.plus(a, b)
	case "-f":
		return r.format(a, b)
	case "-join":
		if sep, ok := b.text(); ok && !a.either {
			return one(r.joined(a.items, sep))
		}
	case "-as":
		return a
	case "??", "?":
		return r.merged(a, b)
	case "..":
		return aNumber()
	}
	if wordclass.Is("powershell-test", op) {
		return truth()
	}
	return madeOf(a, "")
}

func (v value) number() (int, bool) {
	s, ok := v.text()
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseInt(strings.TrimSpace(s), 0, 32)
	return int(n), err == nil
}

func (r *reader) plus(a, b value) value {
	if len(a.items) > 1 && !a.either {
		return r.list([]value{a, b})
	}
	if x, ok := a.number(); ok {
		if y, ok := b.number(); ok {
			return text(strconv.Itoa(x + y))
		}
	}
	if len(a.items) == 0 && a.block == nil {
		return b
	}
	return r.glue([]value{a, b})
}

// format fills the places {0}, {1} of a text.
func (r *reader) format(a, b value) value {
	f, ok := a.text()
	if !ok || !r.step(1+len(f)/bytesPerStep) {
		return madeOf(a, "")
	}
	var parts []value
	for {
		before, after, opened := strings.Cut(f, "{")
		place, rest, closed := strings.Cut(after, "}")
		if !opened || !closed {
			return r.glue(append(parts, text(f)))
		}
		parts = append(parts, text(before))
		if i := strings.IndexAny(place, ":,"); i >= 0 {
			place = place[:i]
		}
		n, err := strconv.Atoi(place)
		switch {
		case err != nil || n < 0:
			parts = append(parts, unknownValue(""))
		case b.either && n == 0:
			parts = append(parts, b)
		case n < len(b.items):
			parts = append(parts, one(b.items[n]))
		}
		f = rest
	}
}

// list reads operands between commas.
func (e *expression) list() value {
	vals := []value{e.unary()}
	for e.sees(tokComma) {
		e.next()
		vals = append(vals, e.unary())
	}
	return e.r.list(vals)
}

// unary reads an operand with what stands before it; it takes a token if there
// is one.
func (e *expression) unary() value {
	if !e.more() {
		return value{}
	}
	if !e.r.enter() {
		e.next()
		return unknownValue("")
	}
	defer e.r.leave()
	if !e.sees(tokOp) {
		return e.postfix(e.primary())
	}
	op := e.next().text
	v := e.unary()
	switch op {
	case "-join":
		return one(e.r.joined(v.items, ""))
	case "+":
		return v
	}
	return madeOf(v, "")
}

// primary reads one operand.
func (e *expression) primary() value {
	switch t := e.next(); t.kind {
	case tokText:
		return e.r.text(t)
	case tokVar:
		return e.r.variable(t.text)
	case tokGroup:
		return e.r.group(t)
	case tokType:
		return e.typed(t.text)
	case tokWord:
		return text(t.text)
	case tokIndex:
		return e.r.indexed(unknownValue(""), t)
	default:
		e.r.unread("an expression of a form that is not read")
		return unknownValue("")
	}
}

// call takes the arguments of a function, if they stand here.
func (e *expression) call() ([]value, bool) {
	if !e.sees(tokGroup) || !e.toks[0].glued {
		return nil, false
	}
	switch t := &e.toks[0]; t.open {
	case openParen:
		return e.r.arguments(e.next().kids), true
	case openBlock:
		return []value{e.r.group(e.next())}, true
	}
	return nil, false
}

// typed reads what stands behind the name of a type: a static member, or what
// is turned into the type.
func (e *expression) typed(typ string) value {
	if e.sees(tokMember) {
		member := e.next().text
		if args, ok := e.call(); ok {
			return e.r.static(typ, member, args)
		}
		if s, ok := e.r.t.constants[typ+"::"+strings.ToLower(member)]; ok {
			return e.r.special(s)
		}
		return unknownValue("")
	}
	if !e.more() || e.sees(tokOp) && e.toks[0].text != "-" {
		return unknownValue("")
	}
	return e.r.cast(typ, e.unary())
}

// cast turns a value into a type: characters out of numbers matter, for words
// are hidden so.
func (r *reader) cast(typ string, v value) value {
	switch typ {
	case "string":
		return one(r.joined(v.items, " "))
	case "char", "char[]":
		if !r.afford(len(v.items), 0) {
			return unknownValue("")
		}
		out := value{either: v.either}
		for _, w := range v.items {
			if n, ok := one(w).number(); ok {
				w = shell.Text(string(rune(n))) //nolint:gosec // What is no character becomes the replacement.
			} else if s, ok := w.Text(); !ok || len(s) > 1 {
				w = unknownWord("")
			}
			out.items = append(out.items, w)
		}
		return out
	}
	v.client = v.client || isClient(typ)
	v.files = v.files || isFileInfo(typ)
	return v
}

func isClient(typ string) bool {
	return strings.HasSuffix(typ, "webclient") || strings.HasSuffix(typ, "httpclient")
}

func isFileInfo(typ string) bool {
	return strings.HasSuffix(typ, "fileinfo") || strings.HasSuffix(typ, "directoryinfo")
}

// postfix reads members and elements of a value.
func (e *expression) postfix(v value) value {
	for e.more() {
		switch t := &e.toks[0]; {
		case t.kind == tokMember:
			e.next()
			if args, ok := e.call(); ok {
				v = e.r.method(v, t.text, args)
			} else {
				v = e.r.property(v, t.text)
			}
		case t.kind == tokIndex:
			v = e.r.indexed(v, e.next())
		case t.kind == tokWord && t.glued:
			v = e.r.glue([]value{v, text(e.next().text)})
		default:
			return v
		}
	}
	return v
}
