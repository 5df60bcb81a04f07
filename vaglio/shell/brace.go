package shell

import (
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"

	"github.com/metnos/vaglio/vaglio/wording"
)

// The limits of brace expansion. A longer sequence of numbers is represented
// by its ends and by an unknown number, for its members are alike.
const (
	maxBraces   = 200
	maxSequence = 64
)

// braces returns the words that a word's brace expansions yield.
func (r *reader) braces(f *frame, w *syntax.Word) [][]syntax.WordPart {
	n := 0
	for _, p := range w.Parts {
		if lit, ok := p.(*syntax.Lit); ok {
			n += strings.Count(lit.Value, "{")
		}
	}
	if n == 0 {
		return [][]syntax.WordPart{w.Parts}
	}
	if n > maxBraces {
		r.problem(f, Problem{Kind: ProblemTooBig, Detail: wording.Say("a word has too many braces to be expanded")})
		return [][]syntax.WordPart{w.Parts}
	}
	split := &syntax.Word{Parts: w.Parts} // for the word may be read again
	syntax.SplitBraces(split)
	if r.shorten(split) > maxFields {
		r.problem(f, Problem{Kind: ProblemTooBig, Detail: wording.Say("the braces of a word expand to too many words")})
		return [][]syntax.WordPart{w.Parts}
	}
	var out [][]syntax.WordPart
	for one, err := range expand.BracesSeq(nil, split) {
		if err != nil || !r.step(f, 2+2*len(one.Parts)) {
			break
		}
		out = append(out, mergeNames(one.Parts))
	}
	return out
}

// shorten makes of long sequences a choice between their ends and an unknown number.
// It returns how many words the word yields, but at most one more than may be.
func (r *reader) shorten(w *syntax.Word) int {
	n := 1
	for _, p := range w.Parts {
		b, ok := p.(*syntax.BraceExp)
		if !ok {
			continue
		}
		if b.Sequence && members(b) > maxSequence {
			number := &syntax.SglQuoted{Value: r.mark(NewWord(Part{Kind: PartUnknown, Name: "number"}))}
			b.Sequence = false
			b.Elems = []*syntax.Word{b.Elems[0], b.Elems[1], {Parts: []syntax.WordPart{number}}}
		}
		k := 0
		if b.Sequence {
			k = members(b)
		} else {
			for _, e := range b.Elems {
				k += r.shorten(e)
			}
		}
		n = min(n*k, maxFields+1)
	}
	return n
}

// members is how many members {from..to..step} has, but at most one more than are
// read.
func members(b *syntax.BraceExp) int {
	first, last := b.Elems[0].Lit(), b.Elems[1].Lit()
	from, errFrom := strconv.ParseInt(first, 10, 64)
	to, errTo := strconv.ParseInt(last, 10, 64)
	if errFrom != nil || errTo != nil {
		from, to = int64(first[0]), int64(last[0]) // letters
	}
	step := int64(1)
	if len(b.Elems) > 2 {
		step, _ = strconv.ParseInt(b.Elems[2].Lit(), 10, 64)
		step = max(1, step, -step)
	}
	distance := uint64(max(from, to)) - uint64(min(from, to)) //nolint:gosec // The difference is right modulo 2^64.
	return int(min(distance/uint64(step), maxSequence)) + 1
}

// mergeNames lengthens the names of variables by the letters that a brace
// expansion put behind them, because the shell expands braces first: $a{b,c}
// is $ab $ac.
func mergeNames(parts []syntax.WordPart) []syntax.WordPart {
	for i := 0; i+1 < len(parts); i++ {
		pe, ok := parts[i].(*syntax.ParamExp)
		lit, isLit := parts[i+1].(*syntax.Lit)
		if !ok || !isLit || !pe.Short || pe.Index != nil || !syntax.ValidName(pe.Param.Value) {
			continue
		}
		n := 0
		for n < len(lit.Value) && isNameByte(lit.Value[n]) {
			n++
		}
		if n == 0 {
			continue
		}
		parts = slices.Clone(parts)
		longer, rest := *pe, *lit
		longer.Param = &syntax.Lit{Value: pe.Param.Value + lit.Value[:n]}
		rest.Value = lit.Value[n:]
		parts[i], parts[i+1] = &longer, &rest
		if rest.Value == "" {
			parts = slices.Delete(parts, i+1, i+2)
			i--
		}
	}
	return parts
}
