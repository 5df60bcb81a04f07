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

// number evaluates the text of an operand: a number in any notation, a name,
// or an expression of its own.
func (r *reader) number(f *frame, s string) (int64, bool) {
	s = strings.TrimSpace(s)
	if s == "" {
		return 0, true
	}
	if strings.Contains(s, "#") {
		return 0, false // digits of another base
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

// unary evaluates a number below zero, and reads what else stands behind a sign.
func (r *reader) unary(f *frame, x *syntax.UnaryArithm) (int64, bool) {
	n, ok := r.arithm(f, x.X)
	if x.Op == syntax.Inc || x.Op == syntax.Dec {
		r.setNumber(f, x.X)
	}
	return -n, ok && x.Op == syntax.Minus
}

// binaryArithm evaluates both sides. What is assigned is not followed.
func (r *reader) binaryArithm(f *frame, x *syntax.BinaryArithm) (int64, bool) {
	a, okA := r.arithm(f, x.X)
	b, okB := r.arithm(f, x.Y)
	switch {
	case x.Op == syntax.Assgn, x.Op >= syntax.AddAssgn && x.Op <= syntax.PowAssgn:
		r.setNumber(f, x.X)
		return 0, false
	case x.Op == syntax.Comma, x.Op == syntax.TernQuest, x.Op == syntax.TernColon:
		return 0, false
	}
	return compute(x.Op, a, b, okA && okB)
}

// setNumber forgets the variable that an operand names.
func (r *reader) setNumber(f *frame, x syntax.ArithmExpr) {
	if w, isWord := x.(*syntax.Word); isWord && syntax.ValidName(w.Lit()) {
		r.assign(f, w.Lit(), unknownHome(w.Lit()))
	}
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
