package shell

import (
	"mvdan.cc/sh/v3/syntax"
)

// param adds a parameter expansion.
func (e *expander) param(p *syntax.ParamExp, quoted bool) {
	if p.Param == nil {
		if p.NestedParam != nil {
			e.parts([]syntax.WordPart{p.NestedParam}, quoted, tildeNone)
		}
		return
	}
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

// lengthens reports whether the operator puts another word in place of a list.
func lengthens(op syntax.ParExpOperator) bool {
	return op <= syntax.AssignUnsetOrNull && op >= syntax.AlternateUnset
}

// listParam reports whether an expansion yields a list: $@, $*, ${a[@]},
// ${!prefix@}.
func listParam(p *syntax.ParamExp) bool {
	if p.Param == nil || p.Length || p.Width {
		return false
	}
	return p.Names != 0 || everything(p.Param.Value) || everything(subscript(p.Index))
}

// everything reports whether a name or a subscript stands for a whole list.
func everything(s string) bool { return s == "@" || s == "*" }

// subscript is the literal subscript of an array, "" if it is no literal.
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
		for i, w := range items {
			if i > 0 {
				e.cur.addText(sep)
			}
			e.cur.addWord(w.quoted())
		}
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
func (r *reader) paramList(f *frame, p *syntax.ParamExp) []Word {
	var items []Word
	switch {
	case p.Names != 0:
		return []Word{unknown(p.Param.Value)}
	case everything(p.Param.Value):
		items = r.args()
	default:
		name := r.resolveRef(p.Param.Value)
		if items = r.elements(name); p.Excl {
			items = []Word{unknown(name)}
		}
	}
	if !r.step(f, len(items)) {
		return nil
	}
	if p.Slice != nil {
		r.arithm(f, p.Slice.Offset) // for what they run
		r.arithm(f, p.Slice.Length)
		return []Word{NewWord(Part{Kind: PartUnknown, Name: p.Param.Value, MayBeEmpty: true, Splits: true})}
	}
	if p.Repl == nil && p.Exp == nil {
		return items
	}
	out := make([]Word, len(items))
	for i, w := range items {
		out[i] = r.transform(f, p, w)
	}
	return out
}

// args are the positional parameters.
func (r *reader) args() []Word {
	e := r.st.get(keyArgs)
	if e == nil {
		return nil
	}
	if e.maybe && len(e.list) == 0 {
		return []Word{NewWord(Part{Kind: PartUnknown, Name: "@", MayBeEmpty: true, Splits: true})}
	}
	return e.list
}

// elements are the values of an array, or the one value of a scalar.
func (r *reader) elements(name string) []Word {
	if e := r.st.get(name); e != nil && e.isList {
		return e.list
	}
	if w, set := r.variable(name); set {
		return []Word{w}
	}
	return nil
}

// resolveRef follows name references.
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
