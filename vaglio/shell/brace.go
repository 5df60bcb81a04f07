package shell

import (
	"slices"
	"strconv"
	"strings"

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
	if !hasBrace(w.Parts) {
		return [][]syntax.WordPart{w.Parts}
	}
	n := 0
	for _, p := range w.Parts {
		if lit, ok := p.(*syntax.Lit); ok {
			n += strings.Count(lit.Value, "{")
		}
	}
	if n > maxBraces {
		r.problem(f, Problem{Kind: ProblemTooBig, Detail: wording.Say("a word has too many braces to be expanded")})
		return [][]syntax.WordPart{w.Parts}
	}
	syntax.SplitBraces(w)
	out := [][]syntax.WordPart{nil}
	for _, p := range w.Parts {
		b, ok := p.(*syntax.BraceExp)
		if !ok {
			if !r.step(f, len(out)) {
				return out[:1]
			}
			for i := range out {
				out[i] = append(out[i], p)
			}
			continue
		}
		if out = r.product(f, out, r.alternatives(f, b)); r.stopped {
			return out[:1]
		}
	}
	for i := range out {
		out[i] = mergeNames(out[i])
	}
	return out
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

func hasBrace(parts []syntax.WordPart) bool {
	for _, p := range parts {
		switch p := p.(type) {
		case *syntax.Lit:
			if strings.IndexByte(p.Value, '{') >= 0 {
				return true
			}
		case *syntax.BraceExp:
			return true
		}
	}
	return false
}

// product appends every tail to every head. What that copies is paid for.
func (r *reader) product(f *frame, heads, tails [][]syntax.WordPart) [][]syntax.WordPart {
	if len(heads)*len(tails) > maxFields {
		r.problem(f, Problem{Kind: ProblemTooBig, Detail: wording.Say("the braces of a word expand to too many words")})
		tails = tails[:1]
	}
	cost := 2 * len(heads) * len(tails)
	for _, h := range heads {
		cost += len(h) * len(tails)
	}
	for _, t := range tails {
		cost += len(t) * len(heads)
	}
	if !r.step(f, cost) {
		return heads
	}
	out := make([][]syntax.WordPart, 0, len(heads)*len(tails))
	for _, h := range heads {
		for _, t := range tails {
			out = append(out, append(slices.Clip(h), t...))
		}
	}
	return out
}

func (r *reader) alternatives(f *frame, b *syntax.BraceExp) [][]syntax.WordPart {
	if b.Sequence {
		return r.sequence(b)
	}
	var out [][]syntax.WordPart
	if !r.enter(f) {
		return [][]syntax.WordPart{nil}
	}
	defer r.leave()
	for _, w := range b.Elems {
		out = append(out, r.braces(f, w)...)
	}
	return out
}

// sequence returns the members of {from..to..step}.
func (r *reader) sequence(b *syntax.BraceExp) [][]syntax.WordPart {
	from, to, step := b.Elems[0].Lit(), b.Elems[1].Lit(), int64(1)
	if len(b.Elems) > 2 {
		step, _ = strconv.ParseInt(b.Elems[2].Lit(), 10, 64)
	}
	a, errA := strconv.ParseInt(from, 10, 64)
	z, errZ := strconv.ParseInt(to, 10, 64)
	letters := errA != nil || errZ != nil
	if letters {
		a, z = int64(from[0]), int64(to[0])
	}
	if step < 0 {
		step = -step
	}
	if step == 0 {
		step = 1
	}
	spell := func(n int64) []syntax.WordPart { return member(n, letters, from, to) }
	count := span(a, z) / uint64(step) //nolint:gosec // The step is positive.
	if count > maxSequence {
		return [][]syntax.WordPart{spell(a), spell(z), {&syntax.SglQuoted{Value: r.splice(NewWord(Part{Kind: PartUnknown, Name: "number"}))}}}
	}
	var out [][]syntax.WordPart
	for i := int64(0); i <= int64(count); i++ {
		n := a + i*step
		if a > z {
			n = a - i*step
		}
		out = append(out, spell(n))
	}
	return out
}

// member spells one member of a sequence, as wide as its ends if one of them
// begins with a zero.
func member(n int64, letter bool, from, to string) []syntax.WordPart {
	s := strconv.FormatInt(n, 10)
	if letter {
		s = string(rune(n)) //nolint:gosec // Both ends are bytes.
	} else if len(from) > 1 && from[0] == '0' || len(to) > 1 && to[0] == '0' {
		s = strings.Repeat("0", max(0, max(len(from), len(to))-len(s))) + s
	}
	if isNameByte(s[0]) {
		return []syntax.WordPart{&syntax.Lit{Value: s}}
	}
	return []syntax.WordPart{&syntax.SglQuoted{Value: s}}
}

// span is the distance between two numbers.
func span(a, z int64) uint64 {
	if a > z {
		return uint64(a) - uint64(z) //nolint:gosec // The difference is right modulo 2^64.
	}
	return uint64(z) - uint64(a) //nolint:gosec // The difference is right modulo 2^64.
}
