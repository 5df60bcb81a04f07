package shell

import (
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
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
		r.problem(f, Problem{Kind: ProblemTooBig, Detail: "a word has too many braces to be expanded"})
		return [][]syntax.WordPart{w.Parts}
	}
	syntax.SplitBraces(w)
	out := [][]syntax.WordPart{nil}
	for _, p := range w.Parts {
		b, ok := p.(*syntax.BraceExp)
		if !ok {
			for i := range out {
				out[i] = append(out[i], p)
			}
			continue
		}
		out = r.product(f, out, r.alternatives(f, b))
	}
	return out
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

// product appends every tail to every head.
func (r *reader) product(f *frame, heads, tails [][]syntax.WordPart) [][]syntax.WordPart {
	if len(heads)*len(tails) > maxFields || !r.step(f, len(heads)*len(tails)) {
		r.problem(f, Problem{Kind: ProblemTooBig, Detail: "the braces of a word expand to too many words"})
		tails = tails[:1]
	}
	out := make([][]syntax.WordPart, 0, len(heads)*len(tails))
	for _, h := range heads {
		for _, t := range tails {
			out = append(out, append(h[:len(h):len(h)], t...))
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
	spell := func(n int64) []syntax.WordPart {
		s := strconv.FormatInt(n, 10)
		if letters {
			s = string(rune(n))
		} else if len(from) > 1 && from[0] == '0' || len(to) > 1 && to[0] == '0' {
			s = strings.Repeat("0", max(0, max(len(from), len(to))-len(s))) + s
		}
		return []syntax.WordPart{&syntax.SglQuoted{Value: s}}
	}
	count := span(a, z) / uint64(step)
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

// span is the distance between two numbers.
func span(a, z int64) uint64 {
	if a > z {
		return uint64(a) - uint64(z)
	}
	return uint64(z) - uint64(a)
}
