package powershell

import (
	"slices"
	"strings"

	"github.com/metnos/vaglio/vaglio/shell"
)

// statements reads statements and returns what they put out.
func (r *reader) statements(toks []token) value {
	if !r.enter() {
		return unknownValue("")
	}
	defer r.leave()
	var outs []value
	for i := 0; i < len(toks) && !r.stopped; {
		if toks[i].kind == tokEnd {
			i++
			continue
		}
		v, n := r.statement(toks[i:])
		i += max(n, 1)
		if !v.isNothing() {
			outs = append(outs, v)
		}
	}
	if len(outs) == 0 {
		return value{}
	}
	return r.bounded(list(outs))
}

// block reads a block's body.
func (r *reader) block(toks []token) value { return r.statements(toks) }

// statement reads the first statement and returns its output and how many
// tokens it has.
func (r *reader) statement(toks []token) (value, int) {
	if !r.step(1) {
		return value{}, len(toks)
	}
	t := &toks[0]
	if t.kind != tokWord {
		return r.line(toks)
	}
	word := strings.ToLower(t.text)
	next := byte(0)
	if len(toks) > 1 && toks[1].kind == tokGroup {
		next = toks[1].open
	}
	switch word {
	case "if", "elseif", "while", "for", "foreach", "switch", "until", "param":
		if next == openParen || word == "switch" && len(toks) > 1 {
			return r.withHead(word, toks)
		}
	case "else", "do", "try", "catch", "finally", "trap", "begin", "process", "end", "dynamicparam", "clean", "data":
		if n := nextBlock(toks); n > 0 {
			return r.conditional(word == "do", func() value { return r.block(toks[n].kids) }), n + 1
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
	case "return", "throw", "exit", "break", "continue":
		if len(toks) == 1 || toks[1].kind == tokEnd {
			return value{}, 1
		}
		v, n := r.statement(toks[1:])
		return v, n + 1
	case "using":
		return value{}, lineEnd(toks)
	}
	if strings.HasPrefix(word, ":") && len(toks) > 1 {
		v, n := r.statement(toks[1:])
		return v, n + 1
	}
	return r.line(toks)
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
	if word == "param" {
		r.parameters(toks[1].kids)
		return value{}, 2
	}
	n := nextBlock(toks)
	if n == 0 {
		for _, t := range toks[1:2] {
			r.statements(t.kids)
		}
		return value{}, 2
	}
	body := toks[n].kids
	head := toks[1].kids
	switch word {
	case "foreach":
		return r.forEach(head, body), n + 1
	case "for", "while", "until":
		return r.conditional(true, func() value {
			r.statements(head)
			return r.block(body)
		}), n + 1
	case "switch":
		return r.cases(toks[1:n], body), n + 1
	}
	r.statements(head)
	v := r.conditional(false, func() value { return r.block(body) })
	v, n = r.branches(v, toks, n+1)
	return v, n
}

// branches reads what follows an if.
func (r *reader) branches(v value, toks []token, n int) (value, int) {
	for {
		i := n
		for i < len(toks) && toks[i].kind == tokEnd && toks[i].text != ";" {
			i++
		}
		if i >= len(toks) || toks[i].kind != tokWord {
			return v, n
		}
		word := strings.ToLower(toks[i].text)
		b := nextBlock(toks[i:])
		if word != "else" && word != "elseif" || b == 0 {
			return v, n
		}
		for _, t := range toks[i+1 : i+b] {
			r.statements(t.kids)
		}
		v = merged(v, r.conditional(false, func() value { return r.block(toks[i+b].kids) }))
		n = i + b + 1
	}
}

// forEach reads foreach ($x in …) {…} once for all that $x may be.
func (r *reader) forEach(head, body []token) value {
	i := slices.IndexFunc(head, func(t token) bool { return t.kind == tokWord && strings.EqualFold(t.text, "in") })
	if i < 1 || head[0].kind != tokVar {
		r.unread("a loop of a form that is not read")
		return r.conditional(true, func() value { return r.block(body) })
	}
	items := r.statements(head[i+1:])
	return r.conditional(true, func() value {
		r.vars[head[0].text] = items.element()
		return r.block(body)
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
				out = merged(out, r.block(body[i].kids))
			}
		}
		return out
	})
	return out
}

// lineEnd is how many tokens the first line has.
func lineEnd(toks []token) int {
	for i := range toks {
		if toks[i].kind == tokEnd && (i == 0 || toks[i].text == ";" || !goesOn(&toks[i-1])) {
			if i+1 < len(toks) && toks[i+1].kind == tokPipe {
				continue
			}
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
		switch strings.ToLower(t.text) {
		case "+", "-and", "-or", "-f", "-join", "-replace", "-split", "-eq", "-ne", "-like", "-match", "-not":
			return true
		}
	}
	return false
}

// line reads an assignment, or pipelines up to the end of the line.
func (r *reader) line(toks []token) (value, int) {
	n := lineEnd(toks)
	if toks[0].kind == tokVar || toks[0].kind == tokWord && strings.HasPrefix(toks[0].text, "[") {
		k := slices.IndexFunc(toks[:n], func(t token) bool { return t.kind == tokAssign })
		if k > 0 && k+1 < len(toks) {
			v, m := r.statement(toks[k+1:])
			r.assign(toks[:k], toks[k].text, v)
			return value{}, k + 1 + m
		}
	}
	return r.pipelines(withoutEnds(toks[:n])), n
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
	start, maybe := 0, false
	var outs []value
	for i := 0; i <= len(toks); i++ {
		if i < len(toks) && toks[i].kind != tokAnd && toks[i].kind != tokOr {
			continue
		}
		part := toks[start:i]
		start = i + 1
		if len(part) == 0 {
			continue
		}
		v := r.within(func(p *place) { p.conditional = p.conditional || maybe }, func() value { return r.pipeline(part) })
		outs, maybe = append(outs, v), true
	}
	return list(outs)
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
	var names []token
	for _, t := range target {
		if t.kind == tokVar {
			names = append(names, t)
		}
	}
	if len(names) == 0 {
		return
	}
	name := names[0].text
	member := len(target) > 0 && target[len(target)-1].kind == tokWord && !strings.HasPrefix(target[0].text, "[") && target[len(target)-1].glued
	old, had := r.vars[name]
	switch {
	case member || len(names) > 1:
		for _, t := range names {
			r.setVar(t.text, merged(r.vars[t.text], v))
		}
		return
	case op == "+=" && had:
		v = r.plus(old, v)
	case op != "=" && op != "+=":
		v = merged(v, unknownValue(""))
	}
	if env, ok := strings.CutPrefix(name, "env:"); ok {
		r.setenv(env, v)
	}
	r.setVar(name, v)
}

func (r *reader) setenv(name string, v value) {
	for _, w := range v.choices() {
		r.emit(shell.Command{Assigns: []shell.Assign{{Name: strings.ToUpper(name), Value: w}}})
	}
}

// setVar sets a variable; where that may not happen it may keep its value.
func (r *reader) setVar(name string, v value) {
	r.writes++
	if old, ok := r.vars[name]; ok && (r.at.conditional || r.at.inLoop) {
		v = merged(old, v)
	}
	r.vars[name] = v
}
