package shell

import (
	"math"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// arithmWord evaluates $((...)).
func (r *reader) arithmWord(f *frame, x syntax.ArithmExpr) Word {
	if n, ok := r.arithm(f, x); ok {
		return Text(strconv.FormatInt(n, 10))
	}
	return unknownHome("")
}

// arithmText evaluates text as an arithmetic expression.
func (r *reader) arithmText(f *frame, w Word) Word {
	s, ok := w.Text()
	if !ok {
		return unknownHome("")
	}
	n, ok := r.number(f, s)
	if !ok {
		return unknownHome("")
	}
	return Text(strconv.FormatInt(n, 10))
}

// number evaluates the text of an operand: a number in any notation, a name,
// or an expression of its own.
func (r *reader) number(f *frame, s string) (int64, bool) {
	s = strings.TrimSpace(s)
	if s == "" {
		return 0, true
	}
	if base, digits, ok := strings.Cut(s, "#"); ok {
		return based(base, digits)
	}
	if n, err := strconv.ParseInt(s, 0, 64); err == nil && !strings.Contains(s, "_") {
		return n, true
	}
	if !r.enter(f) {
		return 0, false
	}
	defer r.leave()
	if syntax.ValidName(s) {
		w, set := r.lookup(f, &syntax.ParamExp{Param: &syntax.Lit{Value: s}})
		if v, ok := w.Text(); ok && set {
			return r.number(f, v)
		}
		return 0, !set
	}
	if len(s) > 1000 || !r.step(f, 20+len(s)/4) {
		return 0, false
	}
	x, err := syntax.NewParser().Arithmetic(&bounded{src: s, r: r})
	if err != nil {
		return 0, false
	}
	return r.arithm(f, x)
}

// based is the number that digits spell in a base.
func based(base, digits string) (int64, bool) {
	b, err := strconv.Atoi(base)
	if err != nil || b < 2 || b > 36 {
		return 0, false
	}
	n, err := strconv.ParseInt(digits, b, 64)
	return n, err == nil
}

// arithm evaluates an arithmetic expression; false if it is not constant. Its
// substitutions are read in any case.
func (r *reader) arithm(f *frame, x syntax.ArithmExpr) (int64, bool) {
	if x == nil || !r.step(f, 1) || !r.enter(f) {
		return 0, false
	}
	defer r.leave()
	switch x := x.(type) {
	case *syntax.Word:
		s, ok := r.text(f, x).Text()
		if !ok {
			return 0, false
		}
		return r.number(f, s)
	case *syntax.ParenArithm:
		return r.arithm(f, x.X)
	case *syntax.UnaryArithm:
		return r.unary(f, x)
	case *syntax.BinaryArithm:
		return r.binaryArithm(f, x)
	case *syntax.FlagsArithm:
		return r.arithm(f, x.X)
	}
	return 0, false
}

func (r *reader) unary(f *frame, x *syntax.UnaryArithm) (int64, bool) {
	n, ok := r.arithm(f, x.X)
	switch x.Op {
	case syntax.Inc, syntax.Dec:
		d := int64(1)
		if x.Op == syntax.Dec {
			d = -1
		}
		r.setNumber(f, x.X, n+d, ok)
		if x.Post {
			return n, ok
		}
		return n + d, ok
	case syntax.Not:
		return truth(n == 0), ok
	case syntax.BitNegation:
		return ^n, ok
	case syntax.Minus:
		return -n, ok
	default:
	}
	return n, ok
}

func truth(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// setNumber assigns to the variable that an operand names.
func (r *reader) setNumber(f *frame, x syntax.ArithmExpr, n int64, ok bool) {
	w, isWord := x.(*syntax.Word)
	if !isWord || w.Lit() == "" || !syntax.ValidName(w.Lit()) {
		return
	}
	v := unknownHome(w.Lit())
	if ok {
		v = Text(strconv.FormatInt(n, 10))
	}
	r.assign(f, w.Lit(), v)
}

func (r *reader) binaryArithm(f *frame, x *syntax.BinaryArithm) (int64, bool) {
	if x.Op == syntax.TernQuest {
		return r.ternary(f, x)
	}
	if x.Op >= syntax.AddAssgn && x.Op <= syntax.PowAssgn || x.Op == syntax.Assgn {
		if w, isWord := x.X.(*syntax.Word); !isWord || w.Lit() == "" {
			r.arithm(f, x.X) // for what its subscript runs
		}
		n, ok := r.arithm(f, x.Y)
		if op, has := assignOp(x.Op); has {
			old, okOld := r.arithm(f, x.X)
			n, ok = compute(op, old, n, ok && okOld)
		} else if x.Op != syntax.Assgn {
			ok = false
		}
		r.setNumber(f, x.X, n, ok)
		return n, ok
	}
	a, okA := r.arithm(f, x.X)
	b, okB := r.arithm(f, x.Y)
	if x.Op == syntax.Comma {
		return b, okB
	}
	return compute(x.Op, a, b, okA && okB)
}

// assignOp is the operator that an assignment such as += applies.
func assignOp(op syntax.BinAritOperator) (syntax.BinAritOperator, bool) {
	applied, ok := map[syntax.BinAritOperator]syntax.BinAritOperator{
		syntax.AddAssgn: syntax.Add, syntax.SubAssgn: syntax.Sub, syntax.MulAssgn: syntax.Mul, syntax.QuoAssgn: syntax.Quo, syntax.RemAssgn: syntax.Rem,
		syntax.AndAssgn: syntax.And, syntax.OrAssgn: syntax.Or, syntax.XorAssgn: syntax.Xor, syntax.ShlAssgn: syntax.Shl, syntax.ShrAssgn: syntax.Shr,
	}[op]
	return applied, ok
}

func (r *reader) ternary(f *frame, x *syntax.BinaryArithm) (int64, bool) {
	c, ok := r.arithm(f, x.X)
	y, isPair := x.Y.(*syntax.BinaryArithm)
	if !isPair || y.Op != syntax.TernColon {
		return 0, false
	}
	a, okA := r.arithm(f, y.X)
	b, okB := r.arithm(f, y.Y)
	if c != 0 {
		return a, ok && okA
	}
	return b, ok && okB
}

// compute applies an operator to numbers that are known.
func compute(op syntax.BinAritOperator, a, b int64, ok bool) (int64, bool) {
	switch op {
	case syntax.Shl, syntax.Shr:
		ok = ok && b >= 0 && b < 64 // beyond, processors differ
	default:
	}
	if !ok || a == math.MinInt64 || b == math.MinInt64 { // which no literal spells
		return 0, false
	}
	n, err := expand.Arithm(nil, &syntax.BinaryArithm{Op: op, X: literal(a), Y: literal(b)})
	return int64(n), err == nil
}

func literal(n int64) *syntax.Word {
	return &syntax.Word{Parts: []syntax.WordPart{&syntax.Lit{Value: strconv.FormatInt(n, 10)}}}
}
