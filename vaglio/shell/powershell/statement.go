package powershell

import (
	"slices"
	"strings"

	"github.com/metnos/vaglio/vaglio/shell"
	"github.com/metnos/vaglio/vaglio/wordclass"
)

// statements reads statements and returns what they put out.
func (r *reader) statements(toks []token) value {
	if !r.enter() {
		return unknownValue("")
	}
	defer r.leave()
	var outs []value
	for len(toks) > 0 && !r.stopped {
		if toks[0].kind == tokEnd {
			toks = toks[1:]
			continue
		}
		v, n := r.statement(toks)
		toks = toks[min(max(n, 1), len(toks)):]
		if !v.isNothing() {
			outs = append(outs, v)
		}
	}
	if len(outs) == 0 {
		return value{}
	}
	return r.list(outs)
}

// statement reads the first statement and returns its output and how many
// tokens it has.
func (r *reader) statement(toks []token) (value, int) {
	if !r.step(1) {
		return value{}, len(toks)
	}
	words := 0 // before the statement proper: return, or the name of a loop
	for len(toks) > words && isPrefix(&toks[words]) {
		words++
	}
	rest := toks[words:]
	switch {
	case !r.step(words) || len(rest) == 0 || words > 0 && rest[0].kind == tokEnd:
		return value{}, words
	case rest[0].kind != tokWord:
		v, n := r.simple(rest)
		return v, words + n
	}
	v, n := r.keyword(strings.ToLower(rest[0].text), rest)
	if n == 0 {
		v, n = r.simple(rest)
	}
	return v, words + n
}

// isPrefix says that a statement follows a word as if it were not there.
func isPrefix(t *token) bool {
	if t.kind != tokWord {
		return false
	}
	switch strings.ToLower(t.text) {
	case "return", "throw", "exit", "break", "continue":
		return true
	}
	return strings.HasPrefix(t.text, ":")
}

// keyword reads a statement that begins with a word of the language, 0 tokens
// if it does not.
func (r *reader) keyword(word string, toks []token) (value, int) {
	switch word {
	case "if", "elseif", "while", "for", "foreach", "until", "param", "switch":
		if len(toks) > 1 && (toks[1].is(openParen) || word == "switch") {
			return r.withHead(word, toks)
		}
	case "else", "do", "try", "catch", "finally", "trap", "begin", "process", "end", "dynamicparam", "clean", "data":
		if n := nextBlock(toks); n > 0 {
			return r.conditional(word == "do", func() value { return r.statements(toks[n].kids) }), n + 1
		}
	case "function", "filter", "workflow":
		return value{}, r.define(toks)
	case "class", "enum", "configuration":
		if n := nextBlock(toks); n > 0 {
			if word != "enum" {
				r.unread("a %s is not read", word)
			}
			return value{}, n + 1
		}
	case "using":
		return value{}, max(lineEnd(toks), 1)
	}
	return value{}, 0
}

// nextBlock finds the block that ends the head of a statement.
func nextBlock(toks []token) int {
	const most = 64 // tokens before a block
	for i := 1; i < len(toks) && i < most; i++ {
		switch {
		case toks[i].kind == tokGroup && toks[i].open == openBlock:
			return i
		case toks[i].kind == tokEnd && toks[i].text == ";", toks[i].kind == tokPipe:
			return 0
		}
	}
	return 0
}

// conditional reads what may not run, or run many times.
func (r *reader) conditional(loop bool, read func() value) value {
	change := func(p *place) { p.conditional, p.inLoop = true, p.inLoop || loop }
	if !loop {
		return r.within(change, read)
	}
	writes := r.writes
	v := r.within(change, read)
	if r.writes == writes || r.loops > 0 {
		return v
	}
	r.loops++ // the second round sees what the first one left
	defer func() { r.loops-- }()
	return r.within(change, read)
}

// withHead reads a statement with a head in parentheses.
func (r *reader) withHead(word string, toks []token) (value, int) {
	head := toks[1].kids
	if word == "param" {
		r.parameters(head)
		return value{}, 2
	}
	n := nextBlock(toks)
	if n == 0 {
		r.statements(head)
		return value{}, 2
	}
	body := toks[n].kids
	switch word {
	case "foreach":
		return r.forEach(head, body), n + 1
	case "for", "while", "until":
		return r.conditional(true, func() value {
			r.statements(head)
			return r.statements(body)
		}), n + 1
	case "switch":
		return r.cases(toks[1:n], body), n + 1
	}
	r.statements(head)
	v := r.conditional(false, func() value { return r.statements(body) })
	return r.branches(v, toks, n+1)
}

// branches reads what follows an if.
func (r *reader) branches(v value, toks []token, n int) (value, int) {
	for {
		i := n
		for i < len(toks) && toks[i].kind == tokEnd && toks[i].text != ";" {
			i++
		}
		b := 0
		if i < len(toks) && isElse(&toks[i]) && r.step(1+i-n) {
			b = nextBlock(toks[i:])
		}
		if b == 0 {
			return v, n
		}
		for _, t := range toks[i+1 : i+b] {
			r.statements(t.kids)
		}
		v = r.merged(v, r.conditional(false, func() value { return r.statements(toks[i+b].kids) }))
		n = i + b + 1
	}
}

func isElse(t *token) bool {
	return t.kind == tokWord && (strings.EqualFold(t.text, "else") || strings.EqualFold(t.text, "elseif"))
}

// forEach reads foreach ($x in …) {…} once for all that $x may be.
func (r *reader) forEach(head, body []token) value {
	i := slices.IndexFunc(head, func(t token) bool { return t.kind == tokWord && strings.EqualFold(t.text, "in") })
	if i < 1 || head[0].kind != tokVar {
		r.unread("a loop of a form that is not read")
		return r.conditional(true, func() value { return r.statements(body) })
	}
	items := r.statements(head[i+1:])
	return r.conditional(true, func() value {
		r.vars[head[0].text] = items.element()
		return r.statements(body)
	})
}

// cases reads the branches of a switch; any may be taken.
func (r *reader) cases(head, body []token) value {
	subject := value{}
	for _, t := range head {
		if t.kind == tokGroup {
			subject = r.statements(t.kids)
		}
	}
	out := value{}
	r.conditional(false, func() value {
		r.vars["_"] = subject.element()
		for i := range body {
			if body[i].kind == tokGroup && body[i].open != openHash {
				out = r.merged(out, r.statements(body[i].kids))
			}
		}
		return out
	})
	return out
}

// lineEnd is how many tokens the first line has.
func lineEnd(toks []token) int {
	for i := range toks {
		if toks[i].kind != tokEnd || i > 0 && toks[i].text != ";" && goesOn(&toks[i-1]) {
			continue
		}
		if i+1 >= len(toks) || toks[i+1].kind != tokPipe {
			return i
		}
	}
	return len(toks)
}

// goesOn says that a line cannot end behind a token.
func goesOn(t *token) bool {
	switch t.kind {
	case tokPipe, tokAnd, tokOr, tokComma, tokAssign, tokEnd:
		return true
	case tokWord:
		const most = len("-replace")
		return len(t.text) <= most && wordclass.Is("powershell-infix", strings.ToLower(t.text))
	default:
		return false
	}
}

// simple reads an assignment, or pipelines up to the end of the line. The line
// is paid for by its tokens and its bytes: it is gone through several times.
func (r *reader) simple(toks []token) (value, int) {
	n := lineEnd(toks)
	line := toks[:n]
	if n == 0 || !r.step(n+max(line[n-1].end-line[0].start, 0)/bytesPerStep) {
		return value{}, max(n, 1)
	}
	k := -1
	if beginsTarget(&toks[0]) {
		k = slices.IndexFunc(line, func(t token) bool { return t.kind == tokAssign })
	}
	if k < 1 || k+1 >= len(toks) {
		return r.pipelines(withoutEnds(line)), n
	}
	if !r.enter() {
		return value{}, n
	}
	defer r.leave()
	v, m := r.statement(toks[k+1:])
	r.assign(toks[:k], toks[k].text, v)
	return value{}, k + 1 + m
}

// withoutEnds drops the line ends inside a pipeline.
func withoutEnds(toks []token) []token {
	if !slices.ContainsFunc(toks, func(t token) bool { return t.kind == tokEnd }) {
		return toks
	}
	return slices.DeleteFunc(slices.Clone(toks), func(t token) bool { return t.kind == tokEnd })
}

// pipelines reads pipelines joined by && and ||.
func (r *reader) pipelines(toks []token) value {
	var outs []value
	for len(toks) > 0 {
		n := slices.IndexFunc(toks, func(t token) bool { return t.kind == tokAnd || t.kind == tokOr })
		part := toks
		if toks = nil; n >= 0 {
			part, toks = part[:n], part[n+1:]
		}
		if len(part) == 0 {
			continue
		}
		maybe := len(outs) > 0
		v := r.within(func(p *place) { p.conditional = p.conditional || maybe }, func() value { return r.pipeline(part) })
		outs = append(outs, v)
	}
	return r.list(outs)
}

func (r *reader) pipeline(toks []token) value {
	var in value
	background := len(toks) > 1 && toks[len(toks)-1].kind == tokAmp
	if background {
		toks = toks[:len(toks)-1]
	}
	return r.within(func(p *place) { p.background = p.background || background }, func() value {
		for i, part := range splitAt(toks, tokPipe) {
			if len(part) > 0 {
				in = r.element(part, in, i > 0)
			}
		}
		return in
	})
}

// assign sets variables.
func (r *reader) assign(target []token, op string, v value) {
	names := slices.DeleteFunc(slices.Clone(target), func(t token) bool { return t.kind != tokVar })
	if len(names) == 0 {
		return
	}
	last := &target[len(target)-1]
	member := last.kind == tokWord && last.glued && !strings.HasPrefix(target[0].text, "[")
	if member || len(names) > 1 {
		for _, t := range names {
			r.setVar(t.text, r.merged(r.vars[t.text], v))
		}
		return
	}
	name := names[0].text
	old, had := r.vars[name]
	switch {
	case op == "+=" && had:
		v = r.plus(old, v)
	case op != "=" && op != "+=":
		v = r.merged(v, unknownValue(""))
	}
	if env, ok := strings.CutPrefix(name, "env:"); ok {
		r.setenv(env, v)
	}
	r.setVar(name, v)
}

func (r *reader) setenv(name string, v value) {
	for _, w := range r.choices(v) {
		r.emit(shell.Command{Assigns: []shell.Assign{{Name: strings.ToUpper(name), Value: w}}})
	}
}

// setVar sets a variable; where that may not happen it may keep its value.
func (r *reader) setVar(name string, v value) {
	r.writes++
	if old, ok := r.vars[name]; ok && (r.at.conditional || r.at.inLoop) {
		v = r.merged(old, v)
	}
	r.vars[name] = v
}
