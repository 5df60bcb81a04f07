package shell

import (
	"math"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/pattern"
	"mvdan.cc/sh/v3/syntax"

	"github.com/metnos/vaglio/vaglio/shell/word"
	"github.com/metnos/vaglio/vaglio/wording"
)

// The limits of brace expansion. A longer sequence of numbers is represented by its ends and an unknown number, because its members are alike.
const (
	maxBraces   = 200
	maxSequence = 64
)

// braces returns the words that a word's braces expand to.
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
	split := &syntax.Word{Parts: w.Parts} // the word may be read again
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

// shorten replaces long sequences by a choice between their ends and an unknown number. It returns how many words the word expands to, at most maxFields+1.
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

// members returns how many members {from..to..step} has, at most maxSequence+1.
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

// mergeNames extends a variable's name by the letters that a brace expansion puts after it, because the shell expands braces first: $a{b,c} is $ab $ac.
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

func (r *reader) arithmWord(f *frame, x syntax.ArithmExpr) Word {
	if n, ok := r.arithm(f, x); ok {
		return Text(strconv.FormatInt(n, 10))
	}
	return word.NotEmpty("")
}

// number evaluates the text of an operand: a number in any notation, a name, or another expression.
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

// arithm evaluates an arithmetic expression; false if it is not constant. It reads the substitutions in it either way.
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
	}
	return 0, false
}

// unary evaluates a negative number, and reads the operand of any other operator.
func (r *reader) unary(f *frame, x *syntax.UnaryArithm) (int64, bool) {
	n, ok := r.arithm(f, x.X)
	if x.Op == syntax.Inc || x.Op == syntax.Dec {
		r.setNumber(f, x.X)
	}
	return -n, ok && x.Op == syntax.Minus
}

// binaryArithm evaluates both sides. It does not follow assignments.
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

// setNumber marks the variable that an operand names as unknown.
func (r *reader) setNumber(f *frame, x syntax.ArithmExpr) {
	if w, isWord := x.(*syntax.Word); isWord && syntax.ValidName(w.Lit()) {
		r.assign(f, w.Lit(), word.NotEmpty(w.Lit()))
	}
}

// compute applies an operator to known numbers.
func compute(op syntax.BinAritOperator, a, b int64, ok bool) (int64, bool) {
	switch op {
	case syntax.Shl, syntax.Shr:
		ok = ok && b >= 0 && b < 64 // processors differ beyond that
	default:
	}
	if !ok || a == math.MinInt64 || b == math.MinInt64 { // no literal spells it
		return 0, false
	}
	// Without a configuration of its own, Arithm writes into one that all readers share.
	n, err := expand.Arithm(&expand.Config{}, &syntax.BinaryArithm{Op: op, X: literal(a), Y: literal(b)})
	return int64(n), err == nil
}

func literal(n int64) *syntax.Word {
	return &syntax.Word{Parts: []syntax.WordPart{&syntax.Lit{Value: strconv.FormatInt(n, 10)}}}
}

// trim evaluates ${x#p}, ${x##p}, ${x%p} and ${x%%p}.
func (r *reader) trim(pat, w Word, op syntax.ParExpOperator, name string) Word {
	suffix := op == syntax.RemSmallSuffix || op == syntax.RemLargeSuffix
	s, known := w.Text()
	if step, ok := r.trimStep(pat, w, op); ok && !known {
		return step
	}
	if !known {
		return trimKnownEnd(pat, w, suffix, name)
	}
	re, ok := word.AtEnd(pat, op)
	if !ok || len(s) > word.MaxPattern || !r.step(nil, len(s)*(1+pat.Size()/word.PartSize)/8) {
		return cutOf(name)
	}
	if at := re.FindStringSubmatchIndex(s); at != nil {
		s = s[:at[2]] + s[at[3]:]
	}
	return Text(s)
}

// trimStep returns the name, or the folder, that removing the other leaves of a path that is not known in full.
func (r *reader) trimStep(pat, w Word, op syntax.ParExpOperator) (Word, bool) {
	switch {
	case !pat.HasGlob():
	case op == syntax.RemLargePrefix && pat.String() == "*/":
		return word.LastStep(w)
	case op == syntax.RemSmallSuffix && pat.String() == "/*":
		return r.folderIn(w)
	}
	return Word{}, false
}

// trimKnownEnd removes literal text from the known end of a word.
func trimKnownEnd(pat, w Word, suffix bool, name string) Word {
	text, ok := pat.Text()
	switch {
	case !ok:
		return cutOf(name)
	case !suffix && strings.HasPrefix(w.Prefix(), text):
		return w.Cut(len(text))
	case !suffix:
		return w
	}
	return w.MapSuffix(func(s string) string { return strings.TrimSuffix(s, text) })
}

// replace evaluates ${x/p/w}, ${x//p/w}, ${x/#p/w} and ${x/%p/w}.
func (r *reader) replace(f *frame, p *syntax.ParamExp, w Word) Word {
	pat, with := r.word(f, p.Repl.Orig), r.text(f, p.Repl.With)
	if names, ok := renamed(w, pat, with); ok && p.Repl.All {
		return names
	}
	s, known := w.Text()
	re, anchored, ok := word.Within(pat, !p.Repl.All)
	if !known || !ok || len(s) > word.MaxPattern || !r.step(f, 100+len(s)) {
		return cutOf(indirection(p))
	}
	n := 1
	if p.Repl.All {
		n = -1
	}
	var out word.Builder
	last := 0
	for _, m := range re.FindAllStringIndex(s, n) {
		if m[0] == m[1] && !anchored {
			continue
		}
		out.AddText(s[last:m[0]])
		out.AddWord(with)
		last = m[1]
	}
	out.AddText(s[last:])
	return out.Word()
}

// renamed returns the names that match a pattern of stars with each of one character replaced: what a star stands for is replaced, too, within its step.
func renamed(w, char, with Word) (Word, bool) {
	from, plain := char.Text()
	to, known := with.Text()
	if !plain || !known || len(from) != 1 || from == "/" || strings.ContainsAny(to, "/.") || !w.HasGlob() || strings.HasPrefix(path.Base(w.String()), ".") ||
		slices.ContainsFunc(w.Parts(), func(p Part) bool { return p.Kind != PartText && p.Text != "*" }) {
		return Word{}, false
	}
	return w.MapText(func(s string) string { return strings.ReplaceAll(s, from, to) }), true
}

// splitPattern splits a word with a pattern into its certain folder, the pattern below it and the pattern's depth in folders, negative for any depth.
func (r *reader) splitPattern(w Word) (dir string, pat *regexp.Regexp, depth int, ok bool) {
	cwd, known := r.cwd().Text()
	if !known || !w.HasGlob() && !w.HasUnknown() {
		return "", nil, 0, false
	}
	w = ListedAs(w)
	dir = w.Prefix()
	dir = dir[:strings.LastIndexByte(dir, '/')+1]
	rest := slices.Clone(w.Cut(len(dir)).Parts())
	if depth, ok = widened(rest); !ok {
		return "", nil, 0, false
	}
	if !path.IsAbs(dir) {
		dir = path.Join(cwd, dir)
	}
	pat, ok = word.Compile(NewWord(rest...), pattern.EntireString, "%s")
	return path.Clean(dir), pat, depth, ok
}

// widened replaces the parts that stand for arbitrary names with a star and returns their depth in folders; ok is false if they stand for no existing files.
func widened(parts []Part) (depth int, ok bool) {
	star := Part{Kind: PartGlob, Text: "*"}
	for i := range parts {
		switch p := &parts[i]; p.Kind {
		case PartText:
			depth += strings.Count(p.Text, "/")
		case PartUnknown:
			if p.From != "find" && p.Among == "" {
				return 0, false
			}
			*p, depth = star, -MaxPath
		case PartGlob:
			if i > 0 && *p == star && parts[i-1] == star {
				depth = -MaxPath
			} else if len(p.Text) > 1 && p.Text[0] != '[' { // an extended pattern
				*p = star
			}
		}
	}
	return depth, true
}

// indirect returns what ${!name} stands for: the value of what the value names, or the name that a reference stands for.
func (r *reader) indirect(f *frame, p *syntax.ParamExp, name Word) (Word, bool) {
	if to := r.resolveRef(p.Param.Value); to != p.Param.Value {
		return Text(to), true
	}
	s, ok := name.Text()
	switch {
	case !ok && slices.ContainsFunc(name.Parts(), func(p Part) bool { return p.From != "" || p.File != "" || p.Made != nil }): // anyone's choice
		return word.Unknown(indirection(p)), true
	case !ok || !syntax.ValidName(s):
		return word.Unknown(""), true
	}
	return r.lookup(f, &syntax.ParamExp{Param: &syntax.Lit{Value: s}})
}

func redirectKind(op syntax.RedirOperator) RedirectKind {
	switch op {
	case syntax.RdrIn:
		return RedirectRead
	case syntax.RdrInOut:
		return RedirectReadWrite
	case syntax.AppOut, syntax.AppAll, syntax.AppClob, syntax.AppAllClob:
		return RedirectAppend
	default:
	}
	return RedirectWrite
}
