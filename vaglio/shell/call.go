package shell

import (
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/metnos/vaglio/vaglio/shell/word"
	"github.com/metnos/vaglio/vaglio/wordclass"
	"github.com/metnos/vaglio/vaglio/wording"
)

// call is a simple command after the expansion of its words.
type call struct {
	argv     []Word
	assigns  []Assign
	redirs   []Redirect
	span     Span
	external bool // ignores functions and aliases (command, env, sudo)
	module   bool // python runs it
}

// callExpr reads a simple command of the syntax tree.
func (r *reader) callExpr(f *frame, c *syntax.CallExpr, s *syntax.Stmt) Word {
	return r.eachAlternative(f, func() Word {
		g := *f
		if len(c.Args) == 0 {
			return r.assignments(&g, c, s)
		}
		k := &call{span: f.spanOf(s)}
		drawn := r.drawing(func() {
			k.argv = r.words(&g, c.Args)
			for _, a := range c.Assigns {
				k.assigns = append(k.assigns, r.assignment(&g, a))
			}
		})
		g.Sourced = append(slices.Clip(g.Sourced[:min(len(g.Sourced), maxAlternatives)]), drawn...)
		if len(s.Redirs) == 0 {
			return r.writes(k, func() Word { return r.named(&g, k, c.Args[0]) })
		}
		var red *redirects
		g.Sourced = append(g.Sourced, r.drawing(func() { red = r.redirects(&g, s.Redirs) })...)
		k.redirs = red.list
		g.capture = f.capture || red.wants()
		return r.writes(k, func() Word { return r.deliver(f, red, r.named(&g, k, c.Args[0])) })
	})
}

// named runs a call. If its name is a plain word, named reads the alias of that name first.
func (r *reader) named(f *frame, k *call, name *syntax.Word) Word {
	if lit := name.Lit(); lit != "" {
		if e := r.st.get(keyAlias + lit); e.hasValue() {
			r.expandAlias(f, k, lit, e)
		}
	}
	return r.run(f, k)
}

// expandAlias reads what an alias turns a command into. The caller still reads the command itself, because aliases only work in some shells.
func (r *reader) expandAlias(f *frame, k *call, name string, e *entry) {
	r.st.put(keyAlias+name, nil)
	defer r.st.put(keyAlias+name, e)
	var b word.Builder
	b.AddWord(e.vals[r.pick(keyAlias+name, len(e.vals))])
	for _, w := range k.argv[1:] {
		b.AddText(" " + r.quote(w))
	}
	g := f.with("alias " + name)
	g.span, g.base = &k.span, 0
	r.carried(g, b.Word(), "alias "+name)
}

// assignments reads a statement that only assigns or redirects.
func (r *reader) assignments(f *frame, c *syntax.CallExpr, s *syntax.Stmt) Word {
	k := Command{Span: f.spanOf(s)}
	for _, a := range c.Assigns {
		r.drawing(func() {
			as := r.assignment(f, a)
			k.Assigns = append(k.Assigns, as)
			r.assignNode(f, a, as.Value)
		})
	}
	red := r.redirects(f, s.Redirs)
	k.Redirects = red.list
	if len(k.Redirects) > 0 || interestingAssign(k.Assigns) {
		r.emit(f, k)
	}
	for _, a := range k.Assigns {
		_, known := a.Value.Text() // what completes a prompt is no code
		if a.Name == "PROMPT_COMMAND" || a.Name == "PS0" || known && wordclass.Is("prompt-variable", a.Name) {
			r.codeInAssigns(f, &call{assigns: []Assign{a}, span: k.Span})
		}
	}
	return r.deliver(f, red, Word{})
}

// interestingAssign reports whether a shell or a program acts on one of the variables.
func interestingAssign(list []Assign) bool {
	return slices.ContainsFunc(list, func(a Assign) bool { return codeVariable(a.Name) != "" || wordclass.Is("loader-variable", a.Name) })
}

func (r *reader) assignment(f *frame, a *syntax.Assign) Assign {
	out := Assign{Name: a.Name.Value}
	if a.Value != nil {
		out.Value = r.text(f, a.Value)
	}
	return out
}

func (r *reader) assignNode(f *frame, a *syntax.Assign, value Word) {
	name := r.resolveRef(a.Name.Value)
	switch {
	case a.Array != nil:
		r.assignArray(f, a, name)
	case a.Index != nil:
		r.assignElement(f, a, name, value)
	case a.Append:
		old, _ := r.lookup(f, &syntax.ParamExp{Param: &syntax.Lit{Value: name}})
		if e := r.st.get(name); e != nil && e.ints {
			value = Glue(old, Text("+"), value)
			r.assign(f, name, value)
			return
		}
		r.assignChecked(f, name, Glue(old, value))
	default:
		r.assign(f, name, value)
	}
}

// assignChecked assigns a value, or an unknown one if the value has grown too long.
func (r *reader) assignChecked(f *frame, name string, w Word) {
	if w.Size() > word.MaxSize || !r.step(f, w.Size()/32) {
		r.problem(f, Problem{Kind: ProblemTooBig, Detail: wording.Say("a variable becomes longer than 1 MiB")})
		w = word.Unknown(name)
	}
	r.assign(f, name, w)
}

func (r *reader) assignArray(f *frame, a *syntax.Assign, name string) {
	e := r.element(name)
	if !a.Append {
		e.list, e.opaque, e.sure = nil, e.maybe, 0 // the keys of an associative one are not followed
	}
	if !r.step(f, len(e.list)/8+1) {
		return
	}
	for _, el := range a.Array.Elems {
		if el.Index == nil && el.Value != nil {
			words := r.fields(f, el.Value)
			e.append(words)
			continue
		}
		v := r.text(f, el.Value)
		r.place(f, e, el.Index, v)
	}
	if len(e.list) > maxFields {
		e.list = e.list[:maxFields]
		r.problem(f, Problem{Kind: ProblemTooBig, Detail: wording.Say("an array has too many elements")})
	}
	r.st.put(name, e)
}

// append adds words to an array. Behind one that may become several, or none, no place is known.
func (e *entry) append(words []Word) *entry {
	several := func(p Part) bool { return p.Splits }
	for _, w := range words {
		if !e.opaque && (slices.ContainsFunc(w.Parts(), several) || passed(w)) {
			e.opaque, e.sure = true, len(e.list)
		}
		e.list = append(e.list, w.Quoted())
	}
	return e
}

func (r *reader) place(f *frame, e *entry, index syntax.ArithmExpr, v Word) {
	n, ok := r.arithm(f, index)
	if !ok {
		n = -1
	}
	e.place(n, v)
}

// place stores a value as the nth element, or as one of which the place is not known.
func (e *entry) place(n int64, v Word) {
	if e.opaque || n < 0 || n > maxFields {
		e.opaque, e.sure = true, 0
		e.list = append(e.list, v)
		return
	}
	for int64(len(e.list)) <= n {
		e.list = append(e.list, Word{})
	}
	e.list[n] = v
}

func (r *reader) assignElement(f *frame, a *syntax.Assign, name string, value Word) {
	e := r.element(name)
	if !r.step(f, len(e.list)+1) {
		return
	}
	r.place(f, e, a.Index, value)
	r.st.put(name, e)
}

// element returns a copy of an array of which an element is to be set. A scalar becomes the first element.
func (r *reader) element(name string) *entry {
	if old := r.array(name); old != nil {
		return &entry{isList: true, list: slices.Clone(old.list), opaque: old.opaque, sure: old.sure, maybe: old.maybe}
	}
	e := &entry{isList: true}
	if w, set := r.value(name); set {
		e.list = []Word{w}
	}
	return e
}

// assign gives a variable a value and applies the variable's attributes.
func (r *reader) assign(f *frame, name string, w Word) {
	if !r.step(f, entryCost+len(name)/bytesPerStep) {
		return
	}
	name = r.resolveRef(name)
	if base, _, ok := strings.Cut(name, "["); ok {
		e := r.element(base)
		e.opaque, e.sure, e.list = true, 0, append(e.list, w)
		r.st.put(base, e)
		return
	}
	e := &entry{exported: r.allExport, from: r.setBy(f, name)}
	old := r.st.get(name)
	if old == nil {
		e.inherited = true
	} else {
		e.lower, e.upper, e.ints, e.fixed = old.lower, old.upper, old.ints, old.fixed
		e.exported, e.inherited = old.exported || r.allExport, old.inherited
		if old.isList {
			e := r.element(name)
			e.place(0, w)
			r.st.put(name, e)
			return
		}
	}
	switch {
	case e.lower:
		w = w.MapText(strings.ToLower)
	case e.upper:
		w = w.MapText(strings.ToUpper)
	case e.ints:
		if s, ok := w.Text(); ok {
			r.number(f, s) // for the code in it
		}
		w = word.NotEmpty("")
	}
	e.vals = []Word{w.Quoted()}
	if e.fixed {
		e.vals = either(old.vals, e.vals)
	}
	r.st.put(name, e)
}

// normalOptions rewrites node's option cluster -pe as -e.
func (p *program) normalOptions(words []Word) []Word {
	at := slices.IndexFunc(words, func(w Word) bool { return w.Is("-pe") })
	if at >= 0 && p.language == "node" {
		words = slices.Clone(words)
		words[at] = Text("-e")
	}
	return words
}

// scanTail looks for a destructive command among the words of an unknown program, which may be a wrapper.
func (r *reader) scanTail(f *frame, k *call) {
	name := baseName(k.argv[0])
	if len(k.argv) < 3 || wordclass.Is("takes-words", name) || r.carriers.known(name) {
		return
	}
	last := lastCommandLike(k.argv)
	for i := 1; i < last; i++ {
		on := baseName(k.argv[i])
		if !wordclass.Is("acts-on-system", on) && !strings.HasPrefix(on, "mkfs") || strings.HasSuffix(k.argv[i].Suffix(), "/") {
			continue
		}
		g := f.at(k, name+"?")
		g.Conditional = true
		r.run(g, &call{argv: k.argv[i:], span: k.span, external: true})
		return
	}
}

// lastCommandLike returns the index of the last word that looks like an argument of a file tool,
// an option or a path, so that "tool rm NAME" does not count; 0 if there is none.
func lastCommandLike(words []Word) int {
	for i, w := range slices.Backward(words) {
		s := w.Prefix()
		if !w.Known() || strings.HasPrefix(s, "-") || strings.ContainsAny(s, "/~=") || s == "." || s == ".." {
			return i
		}
	}
	return 0
}

// A hole is a mark in carried text that stands for a word that is not plain text. Marks are private-use characters, which mean nothing to any shell.
const (
	holeOpen  = "\uf8ff"
	holeClose = "\uf8fe"
)

// splice writes a word as text to be parsed, with a mark for each part that is unknown or an active pattern.
func (r *reader) splice(w Word) string {
	if s, ok := w.Text(); ok {
		return s
	}
	var b strings.Builder
	for _, p := range w.Parts() {
		if p.Kind == PartText {
			b.WriteString(p.Text)
			continue
		}
		b.WriteString(r.mark(NewWord(p)))
	}
	return b.String()
}

// mark returns a mark that stands for a whole word.
func (r *reader) mark(w Word) string {
	r.holes = append(r.holes, w)
	return holeOpen + strconv.Itoa(len(r.holes)-1) + holeClose
}

// quote writes a word as one shell word whose value is exactly that word.
func (r *reader) quote(w Word) string {
	if s, ok := w.Text(); ok {
		return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
	}
	return "\"" + r.mark(w) + "\""
}

// otherGrammar reports whether a shell in whose grammar other words stand around commands reads the text.
func (f *frame) otherGrammar() bool {
	return slices.ContainsFunc(f.Via, func(by string) bool {
		name, _, _ := strings.Cut(by, " ")
		return wordclass.Is("other-grammar", name)
	})
}

// soleWords returns the words of a command that the shell itself runs, with nothing around it; else an empty one.
func soleWords(s *syntax.Stmt) []*syntax.Word {
	call, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || s.Background || s.Coprocess || len(s.Redirs)+len(call.Assigns) > 0 || len(call.Args) == 0 {
		return []*syntax.Word{{}}
	}
	return call.Args
}

// mayReturn reports whether a function may return before its end: by return, or by what may come to that.
func (r *reader) mayReturn(body syntax.Node) (found bool) {
	syntax.Walk(body, func(n syntax.Node) bool {
		if call, ok := n.(*syntax.CallExpr); ok && len(call.Args) > 0 {
			name := call.Args[0].Lit()
			found = found || name == "" || wordclass.Is("may-return", name) || r.st.get(keyAlias+name) != nil
		}
		return !found
	})
	return found
}

// reads reports whether a file that a command found is being read already.
func (s *sourceFile) reads(t *Task) bool {
	for ; s != nil; s = s.in {
		if s.path == t.File && s.text == t.Text {
			return true
		}
	}
	return false
}

// single returns an entry with one value, in a single allocation.
func single(w Word) *entry {
	e := &struct {
		entry
		room [1]Word
	}{room: [1]Word{w}}
	e.vals = e.room[:]
	return &e.entry
}

// place returns the carrier's place, for carried text.
func (f *frame) place() Span {
	if f.span == nil {
		return Span{}
	}
	return *f.span
}

// owns reports whether the session wrote a file whose words all count, or one read loosely that calls a library's function by its name.
func (s *sourceFile) owns(c *Call) bool {
	return s.own || s.wrote && c != nil && c.Verb == VerbClient
}
