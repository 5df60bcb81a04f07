package shell

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"

	"github.com/metnos/vaglio/vaglio/shell/word"
)

func (e *expander) param(p *syntax.ParamExp, quoted bool) {
	if listParam(p) && p.Exp == nil || listParam(p) && !lengthens(p.Exp.Op) {
		e.list(p, quoted)
		return
	}
	w := e.r.paramValue(e.f, p)
	if quoted {
		e.has = true
	}
	e.value(w, quoted)
}

// lengthens reports whether the operator replaces a list by another word.
func lengthens(op syntax.ParExpOperator) bool {
	return op <= syntax.AssignUnsetOrNull && op >= syntax.AlternateUnset
}

// listParam reports whether an expansion yields a list: $@, $*, ${a[@]}, ${!prefix@}.
func listParam(p *syntax.ParamExp) bool {
	return !p.Length && (p.Names != 0 || everything(p.Param.Value) || everything(subscript(p.Index)))
}

// everything reports whether a name or a subscript stands for a whole list.
func everything(s string) bool { return s == "@" || s == "*" }

// subscript returns the literal subscript of an array, "" if it is not a literal.
func subscript(x syntax.ArithmExpr) string {
	if w, ok := x.(*syntax.Word); ok && w != nil {
		return w.Lit()
	}
	return ""
}

// list adds a list expansion: one field per element, or one in all for "$*".
func (e *expander) list(p *syntax.ParamExp, quoted bool) {
	items := e.r.paramList(e.f, p)
	star := p.Param.Value == "*" || subscript(p.Index) == "*" || p.Names == syntax.NamesPrefix
	if quoted && star || !e.split {
		sep := " "
		if star {
			sep = e.r.ifs()
			sep = sep[:min(1, len(sep))]
		}
		e.cur.AddWord(word.Join((&entry{}).append(items).list, sep))
		return
	}
	for i, w := range items {
		if i > 0 {
			e.end()
		}
		if quoted {
			e.has = true
		}
		e.value(w, quoted)
	}
}

// paramList returns the elements of a list expansion.
func (r *reader) paramList(f *frame, p *syntax.ParamExp) (items []Word) {
	switch {
	case p.Names != 0:
		return []Word{word.Unknown(p.Param.Value)}
	case everything(p.Param.Value):
		items = r.args()
	default:
		name := r.resolveRef(p.Param.Value)
		if items = r.elements(name); p.Excl {
			items = []Word{word.Unknown(name)}
		}
	}
	if !r.step(f, len(items)) {
		return nil
	}
	if p.Slice != nil {
		r.arithm(f, p.Slice.Offset) // for the code in them
		r.arithm(f, p.Slice.Length)
		return []Word{NewWord(Part{Kind: PartUnknown, Name: p.Param.Value, MayBeEmpty: true, Splits: true})}
	}
	out := make([]Word, len(items))
	for i, w := range items {
		out[i] = r.transform(f, p, w)
	}
	return out
}

func (r *reader) args() []Word {
	e := r.array(keyArgs)
	if e.maybe && len(e.list) == 0 {
		return []Word{NewWord(Part{Kind: PartUnknown, Name: "@", MayBeEmpty: true, Splits: true})}
	}
	return e.list
}

// elements returns the values of an array, or the one value of a scalar.
func (r *reader) elements(name string) []Word {
	if e := r.array(name); e != nil {
		return e.list
	}
	if w, set := r.variable(name); set {
		return []Word{w}
	}
	return nil
}

func (r *reader) resolveRef(name string) string {
	for range 8 {
		e := r.st.get(name)
		if e == nil || e.ref == "" {
			break
		}
		name = e.ref
	}
	return name
}

// paramValue returns the result of a scalar expansion.
func (r *reader) paramValue(f *frame, p *syntax.ParamExp) Word {
	if p.Length {
		return r.length(p)
	}
	w, set := r.lookup(f, p)
	if p.Excl && p.Names == 0 {
		w, set = r.indirect(f, p, w)
	}
	if !r.step(f, (w.Size()+len(p.Param.Value))/bytesPerStep) {
		return word.Unknown(p.Param.Value)
	}
	if p.Exp != nil && lengthens(p.Exp.Op) {
		return r.defaulted(f, p, w, set)
	}
	if p.Slice != nil {
		return r.slice(f, p, w)
	}
	return r.transform(f, p, w)
}

// lookup returns the value of a parameter, and whether it is or may be set.
func (r *reader) lookup(f *frame, p *syntax.ParamExp) (Word, bool) {
	name := p.Param.Value
	if n, err := strconv.Atoi(name); err == nil {
		return r.positional(n)
	}
	if w, ok := r.special(name); ok {
		return w, true
	}
	name = r.resolveRef(name)
	if base, _, ok := strings.Cut(name, "["); ok {
		return word.Unknown(base), true
	}
	r.draws(p, r.st.get(name))
	if e := r.array(name); e != nil {
		return r.arrayLookup(f, e, name, p.Index), true
	}
	if p.Index != nil && f != nil && subscript(p.Index) == "" {
		r.arithm(f, p.Index) // for the code in it
	}
	return r.variable(name)
}

// special returns the value of a parameter that the shell itself sets.
func (r *reader) special(name string) (Word, bool) {
	switch name {
	case "#":
		return r.length(&syntax.ParamExp{Length: true, Param: &syntax.Lit{Value: keyArgs}}), true
	case "PWD":
		return r.cwd(), true
	case "IFS":
		return Text(r.ifs()), true
	case "OLDPWD":
		return r.prevCwd(), true
	case "?", "$", "!", "-", "RANDOM", "SECONDS", "EPOCHSECONDS", "LINENO", "BASHPID", "UID", "EUID", "PPID", "SRANDOM", "BASHOPTS":
		return word.NotEmpty(name), true
	}
	return Word{}, false
}

func (r *reader) positional(n int) (Word, bool) {
	if n == 0 {
		if e := r.st.get(keyZero); e != nil {
			return e.vals[0], true
		}
		if e := r.st.get(keySource); e != nil {
			return e.list[0], true
		}
		return word.NotEmpty("0"), true
	}
	e := r.array(keyArgs)
	if e.opaque && n > e.sure {
		return word.Unknown(strconv.Itoa(n)), true
	}
	if n > len(e.list) {
		if !e.maybe {
			return Word{}, false
		}
		return word.Unknown(strconv.Itoa(n)), true
	}
	return e.list[n-1], true
}

// arrayLookup returns the element at a subscript, or the first if there is no subscript.
func (r *reader) arrayLookup(f *frame, e *entry, name string, index syntax.ArithmExpr) Word {
	n, ok := int64(0), true
	if index != nil {
		n, ok = r.arithm(f, index)
	}
	if !ok || e.opaque && (n < 0 || n >= int64(e.sure)) {
		return word.Unknown(name)
	}
	if n < 0 {
		n += int64(len(e.list))
	}
	if n < 0 || n >= int64(len(e.list)) {
		return Word{}
	}
	return e.list[n]
}

func (r *reader) length(p *syntax.ParamExp) Word {
	name, list := p.Param.Value, everything(subscript(p.Index))
	if everything(name) {
		name, list = keyArgs, true
	}
	e := r.array(name)
	switch {
	case list && e != nil && !e.maybe && !e.opaque:
		return Text(strconv.Itoa(len(e.list)))
	case !list && p.Index == nil:
		w, _ := r.lookup(nil, p)
		if s, ok := w.Text(); ok && r.step(nil, len(s)/bytesPerStep) {
			return Text(strconv.Itoa(utf8.RuneCountInString(s)))
		}
	}
	return word.NotEmpty("#" + p.Param.Value)
}

// defaulted evaluates ${x:-w}, ${x:=w}, ${x:?w} and ${x:+w}.
func (r *reader) defaulted(f *frame, p *syntax.ParamExp, w Word, set bool) Word {
	op := p.Exp.Op
	missing := r.missing(p, w, set)
	switch op {
	case syntax.AlternateUnset, syntax.AlternateUnsetOrNull:
		if missing {
			return Word{}
		}
		return r.text(f, p.Exp.Word)
	case syntax.ErrorUnset, syntax.ErrorUnsetOrNull:
		if missing {
			r.word(f, p.Exp.Word)
		}
		return filled(w, false)
	default:
	}
	if !missing {
		w = filled(w, !r.set(p.Param.Value))
	} else {
		w = r.text(f, p.Exp.Word)
	}
	if (op == syntax.AssignUnset || op == syntax.AssignUnsetOrNull) && p.Index == nil && syntax.ValidName(p.Param.Value) {
		r.assign(f, p.Param.Value, w)
	}
	return w
}

// missing reports whether a value counts as missing for the operator. What may be unset is tried both ways.
func (r *reader) missing(p *syntax.ParamExp, w Word, set bool) bool {
	e := r.st.get(p.Param.Value)
	if w.MayBeEmpty() && (!w.Known() || e != nil && e.maybe) && r.pick("${"+p.Param.Value, 2) == 1 {
		return true
	}
	return !set || w.Is("") && slices.Contains([]syntax.ParExpOperator{
		syntax.AlternateUnsetOrNull, syntax.DefaultUnsetOrNull, syntax.ErrorUnsetOrNull, syntax.AssignUnsetOrNull,
	}, p.Exp.Op)
}

// filled returns the word, marked as not empty, and as one that has a default.
func filled(w Word, has bool) Word {
	p, _ := w.Only()
	if !p.MayBeEmpty {
		return w
	}
	p.MayBeEmpty, p.Default = false, has
	return NewWord(p)
}

// partOf returns an unknown part of a variable's value, which may be a command's output.
func partOf(w Word, variable string) Word {
	part, _ := w.Only()
	if part.From == "" || strings.HasPrefix(part.From, "mktemp") {
		return cutOf(variable)
	}
	part.MayBeEmpty = true
	return NewWord(part)
}

func (r *reader) slice(f *frame, p *syntax.ParamExp, w Word) Word {
	s, ok := w.Text()
	from, okFrom := r.arithm(f, p.Slice.Offset)
	length, okLen := int64(len(s)), true
	if p.Slice.Length != nil {
		length, okLen = r.arithm(f, p.Slice.Length)
	}
	if !ok || !okFrom || !okLen {
		return partOf(w, indirection(p))
	}
	runes := []rune(s)
	n := int64(len(runes))
	if from < 0 {
		from += n
	}
	to := n
	if length < 0 {
		to += length
	} else if p.Slice.Length != nil {
		to = min(n, from+min(length, n))
	}
	if from < 0 || from > n || to < from {
		return Word{}
	}
	return Text(string(runes[from:to]))
}

// transform evaluates the operators that change a value: removing a prefix or suffix, replacing, changing case.
func (r *reader) transform(f *frame, p *syntax.ParamExp, w Word) Word {
	if p.Repl != nil {
		return r.replace(f, p, w)
	}
	if p.Exp == nil {
		return w
	}
	arg := r.word(f, p.Exp.Word)
	op := p.Exp.Op
	switch {
	case op == syntax.UpperAll && arg.Is(""):
		return w.MapText(strings.ToUpper)
	case op == syntax.LowerAll && arg.Is(""):
		return w.MapText(strings.ToLower)
	case op >= syntax.UpperFirst && op <= syntax.LowerAll, op == syntax.OtherParamOps:
		return cutOf(indirection(p))
	}
	return r.trim(arg, w, op, indirection(p))
}

func (r *reader) arithmStmt(f *frame, x syntax.ArithmExpr) {
	if x != nil {
		r.eachAlternative(f, func() Word { r.arithm(f, x); return Word{} })
	}
}

func (r *reader) testClause(f *frame, x syntax.TestExpr) {
	counts := false // the words are numbers, or names of variables
	syntax.Walk(x, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.BinaryTest:
			counts = n.Op >= syntax.TsEql && n.Op <= syntax.TsGtr
		case *syntax.UnaryTest:
			counts = n.Op == syntax.TsVarSet
		case *syntax.Word:
			if r.step(f, 1) {
				r.eachAlternative(f, func() Word { r.tested(f, n, counts); return Word{} })
			}
			return false
		}
		return true
	})
}

// indirection is how an expansion is called that may be of any variable. No variable has such a name.
func indirection(p *syntax.ParamExp) string {
	if p.Excl && p.Names == 0 {
		return "{!" + p.Param.Value + "}"
	}
	return p.Param.Value
}

// stays keeps what a name stands for in a shell that goes on.
func (r *reader) stays(name, text string) {
	if r.st.level == 1 {
		r.out.Stays = append(r.out.Stays, Alias+name+"="+text)
	}
}
