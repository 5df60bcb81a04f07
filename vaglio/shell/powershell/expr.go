package powershell

import (
	"strconv"
	"strings"

	"github.com/metnos/vaglio/vaglio/shell"
	"github.com/metnos/vaglio/vaglio/wordclass"
)

// expression is one expression while it is being read.
type expression struct {
	r    *reader
	toks []token
	i    int
}

// eval reads an expression.
func (r *reader) eval(toks []token) value {
	if len(toks) == 0 || !r.enter() {
		return value{}
	}
	defer r.leave()
	if len(toks) == 1 && toks[0].kind == tokText {
		return r.text(&toks[0])
	}
	if !r.step(len(toks)) {
		return unknownValue("")
	}
	e := &expression{r: r, toks: pieces(toks)}
	return e.chain()
}

func (e *expression) more() bool { return e.i < len(e.toks) }

// chain reads operands and the operators between them. The operators that make
// texts bind in three degrees: -f and arithmetic, +, all others.
func (e *expression) chain() value {
	vals := []value{e.list()}
	var ops []string
	for e.more() {
		t := e.toks[e.i]
		if t.kind != tokOp {
			if t.kind == tokAssign || t.kind == tokRedirect || t.kind == tokAmp {
				e.i++
				continue
			}
			e.r.unread("an expression of a form that is not read")
			vals, ops = append(vals, e.list()), append(ops, "?")
			continue
		}
		e.i++
		if t.text == "++" || t.text == "--" {
			continue
		}
		if !e.more() && (t.text == "-join" || t.text == "-split") {
			break
		}
		ops, vals = append(ops, t.text), append(vals, e.list())
	}
	for degree := range 3 {
		vals, ops = e.r.reduce(vals, ops, degree)
	}
	return vals[0]
}

// reduce applies the operators of one degree, from left to right.
func (r *reader) reduce(vals []value, ops []string, degree int) ([]value, []string) {
	if len(ops) == 0 {
		return vals, ops
	}
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
	if !r.step(1) {
		return unknownValue("")
	}
	switch op {
	case "+":
		return r.plus(a, b)
	case "*":
		return r.repeat(a, b)
	case "-f":
		return r.format(a, b)
	case "-join":
		if sep, ok := b.text(); ok && !a.either {
			return r.bounded(one(joined(a.items, shell.Text(sep))))
		}
	case "-replace", "-ireplace", "-creplace":
		return r.replace(a, b)
	case "-split", "-isplit", "-csplit":
		return r.split(a, b)
	case "-as", "-is", "-isnot":
		return a
	case "??", "?":
		return merged(a, b)
	case "..":
		return r.numbers(a, b)
	}
	if wordclass.Is("powershell-test", op) {
		return value{items: []shell.Word{shell.Text("True"), shell.Text("False")}, either: true}
	}
	return unknownValue("")
}

// numbers are the elements of a range: only their form is known if they are
// many.
func (r *reader) numbers(a, b value) value {
	from, ok1 := a.number()
	to, ok2 := b.number()
	if !ok1 || !ok2 || to-from > maxChoices || from-to > maxChoices {
		return one(shell.NewWord(shell.Part{Kind: shell.PartUnknown, Name: "number"}))
	}
	out := value{}
	step := 1
	if to < from {
		step = -1
	}
	for n := from; ; n += step {
		out.items = append(out.items, shell.Text(strconv.Itoa(n)))
		if n == to {
			return out
		}
	}
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
		return r.bounded(list([]value{a, b}))
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

func (r *reader) repeat(a, b value) value {
	s, ok := a.text()
	n, known := b.number()
	if !ok || !known || n < 0 || n*len(s) > maxValue {
		return unknownValue("")
	}
	if m, err := strconv.Atoi(s); err == nil {
		return text(strconv.Itoa(m * n))
	}
	return r.bounded(text(strings.Repeat(s, n)))
}

// format fills the places {0}, {1} of a text.
func (r *reader) format(a, b value) value {
	f, ok := a.text()
	if !ok {
		return unknownValue("")
	}
	var parts []value
	for f != "" {
		i := strings.IndexByte(f, '{')
		end := strings.IndexByte(f, '}')
		if i < 0 || end < i {
			break
		}
		parts = append(parts, text(f[:i]))
		digits := f[i+1 : end]
		if j := strings.IndexAny(digits, ":,"); j >= 0 {
			digits = digits[:j]
		}
		n, err := strconv.Atoi(digits)
		switch {
		case err != nil || n < 0:
			parts = append(parts, unknownValue(""))
		case b.either && n == 0:
			parts = append(parts, b)
		case n < len(b.items):
			parts = append(parts, one(b.items[n]))
		}
		f = f[end+1:]
	}
	return r.glue(append(parts, text(f)))
}

// replace replaces a text that is no pattern; what patterns do is not known.
func (r *reader) replace(a, b value) value {
	if len(b.items) == 0 {
		return unknownValue("")
	}
	from, ok := b.items[0].Text()
	to, ok2 := "", true
	if len(b.items) > 1 {
		to, ok2 = b.items[1].Text()
	}
	plain := strings.ReplaceAll(from, `\\`, "")
	if !ok || !ok2 || strings.ContainsAny(plain, `.*+?()[]{}|^$\`) || from == "" || strings.Contains(to, "$") {
		return r.unknownLike(a)
	}
	from = strings.ReplaceAll(from, `\\`, `\`)
	return r.bounded(a.mapped(func(s string) string { return replaceFold(s, from, to) }))
}

// unknownLike is a text that a value was turned into in an unknown way.
func (r *reader) unknownLike(a value) value {
	for _, w := range a.items {
		if w.Remote() {
			return remoteValue("")
		}
	}
	return unknownValue("")
}

func replaceFold(s, from, to string) string {
	lower, low := strings.ToLower(s), strings.ToLower(from)
	if len(lower) != len(s) || len(low) == 0 {
		return strings.ReplaceAll(s, from, to)
	}
	var b strings.Builder
	for {
		i := strings.Index(lower, low)
		if i < 0 {
			b.WriteString(s)
			return b.String()
		}
		b.WriteString(s[:i])
		b.WriteString(to)
		s, lower = s[i+len(from):], lower[i+len(low):]
	}
}

func (r *reader) split(a, b value) value {
	s, ok := a.text()
	sep, ok2 := b.text()
	if !ok || !ok2 || sep == "" || strings.ContainsAny(strings.TrimPrefix(sep, `\`), `.*+?()[]{}|^$\`) {
		return r.unknownLike(a)
	}
	out := value{}
	for part := range strings.SplitSeq(s, strings.TrimPrefix(sep, `\`)) {
		out.items = append(out.items, shell.Text(part))
	}
	return r.bounded(out)
}

// list reads operands between commas.
func (e *expression) list() value {
	var vals []value
	for {
		vals = append(vals, e.unary())
		if !e.more() || e.toks[e.i].kind != tokComma {
			return list(vals)
		}
		e.i++
	}
}

// unary reads an operand with what stands before it.
func (e *expression) unary() value {
	if !e.more() || !e.r.enter() {
		e.i++
		return value{}
	}
	defer e.r.leave()
	t := &e.toks[e.i]
	if t.kind != tokOp {
		return e.postfix(e.primary())
	}
	e.i++
	v := e.unary()
	switch t.text {
	case "-join":
		return e.r.bounded(one(joined(v.items, shell.Text(""))))
	case "+":
		return v
	case "-":
		if s, ok := v.text(); ok {
			return text("-" + s)
		}
	}
	return unknownValue("")
}
