package powershell

import (
	"strings"

	"github.com/metnos/vaglio/vaglio/shell"
)

// parser reads one text of PowerShell from its beginning to its end, and runs
// it as it goes. What stands in brackets is a text of its own.
type parser struct {
	cursor
	r *reader
}

const lineEnds = "\n"

// source reads a text of PowerShell and gives what it puts out.
func (r *reader) source(text string) value {
	if !r.opens(text) {
		return unknownValue("")
	}
	defer r.leave()
	p := &parser{r: r, cursor: cursor{src: plain(text)}}
	var outs []value
	for p.space("\n;"); !p.done() && !r.stopped; p.space("\n;") {
		before := p.pos
		if v := p.statement(); !v.isNothing() {
			outs = append(outs, v)
		}
		if p.pos == before {
			r.unclosed()
			p.take(1)
		}
	}
	if p.open {
		r.unclosed()
	}
	if len(outs) == 0 {
		return value{}
	}
	return r.list(outs)
}

// word is the word of the language that comes next, in lower case.
func (p *parser) word() string {
	n := 0
	for n < len(p.rest()) && isLetter(p.peek(n)) {
		n++
	}
	if c := p.peek(n); n == 0 || c != 0 && !isBlank(c) && strings.IndexByte("\n;({}&|", c) < 0 {
		return ""
	}
	return strings.ToLower(p.rest()[:n])
}

// statement reads one statement and gives its output.
func (p *parser) statement() value {
	if !p.r.step(1) || !p.r.enter() {
		p.pos = len(p.src)
		return unknownValue("")
	}
	defer p.r.leave()
	for p.r.step(1) {
		p.blanks()
		if p.peek(0) == ':' && isLetter(p.peek(1)) { // the name of a loop
			p.take(1)
			p.name()
			continue
		}
		word := p.word()
		switch word {
		case "return", "throw", "exit", "break", "continue":
			p.take(len(word))
			continue
		}
		start := p.pos
		if v, ok := p.keyword(word); ok {
			return v
		}
		p.pos = start
		break
	}
	if p.assignment() {
		return value{}
	}
	return p.chain()
}

// keyword reads a statement that begins with a word of the language.
func (p *parser) keyword(word string) (value, bool) {
	p.take(len(word))
	p.space(lineEnds)
	switch next := p.peek(0); word {
	case "if", "elseif", "while", "until", "for", "foreach", "switch":
		if next == '(' || word == "switch" {
			return p.branches(p.headed(word)), true
		}
	case "param":
		if next == '(' {
			p.r.parameters(p.enclosed())
			return value{}, true
		}
	case "do", "else", "try", "catch", "finally", "trap", "begin", "process", "end", "dynamicparam", "clean", "data":
		if body, ok := p.block(); ok {
			return p.r.conditional(word == "do", func() value { return p.r.source(body) }), true
		}
	case "function", "filter", "workflow":
		return value{}, p.define()
	default:
		return value{}, p.declares(word)
	}
	return value{}, false
}

// declares takes what is beyond this reader, or says nothing.
func (p *parser) declares(word string) bool {
	ok := false
	switch word {
	case "class", "enum", "configuration":
		_, ok = p.block()
	case "using":
		what := p.word()
		for !p.ends() {
			p.take(1)
		}
		if ok = true; what == "namespace" {
			return true
		}
	}
	if ok {
		p.r.unread("a %s is not read", word)
	}
	return ok
}

// block takes the block that ends the head of a statement.
func (p *parser) block() (body string, ok bool) {
	for p.space(lineEnds); p.peek(0) != '{'; p.space(lineEnds) {
		switch c := p.peek(0); {
		case c == '[':
			p.enclosed()
		case isNameByte(c), c == ',', c == '.', c == ':':
			p.take(1)
		default:
			return "", false
		}
	}
	return p.enclosed(), true
}

// branches reads what may follow an if.
func (p *parser) branches(v value) value {
	for {
		end := p.pos
		p.space(lineEnds)
		word := p.word()
		if word != "else" && word != "elseif" || !p.r.step(1) {
			p.pos = end
			return v
		}
		other, ok := p.keyword(word)
		if !ok {
			p.pos = end
			return v
		}
		v = p.r.merged(v, other)
	}
}

// headed reads a statement with a head in parentheses.
func (p *parser) headed(word string) value {
	r := p.r
	for p.peek(0) != '(' && p.peek(0) != '{' && !p.ends() { // options of switch
		p.argument()
		p.space(lineEnds)
	}
	head := ""
	if p.peek(0) == '(' {
		head = p.enclosed()
		p.space(lineEnds)
	}
	if p.peek(0) != '{' { // do … while (…)
		return r.source(head)
	}
	body := p.enclosed()
	switch word {
	case "if", "elseif":
		r.source(head)
		return r.conditional(false, func() value { return r.source(body) })
	case "foreach":
		return r.forEach(head, body)
	case "switch":
		subject := r.source(head)
		return r.conditional(false, func() value { return r.cases(subject, body) })
	}
	return r.conditional(true, func() value {
		r.source(head)
		return r.source(body)
	})
}

// forEach reads foreach ($x in …) {…} once for all that $x may be.
func (r *reader) forEach(head, body string) value {
	p := &parser{r: r, cursor: cursor{src: head}}
	p.space(lineEnds)
	var items value
	p.take(1) // the dollar sign
	name := variableName(p.variableName())
	if p.space(lineEnds); p.word() == "in" {
		p.take(len("in"))
		items = r.source(p.rest())
	} else {
		r.unread("a loop of a form that is not read")
	}
	return r.conditional(true, func() value {
		r.vars[name] = items.element()
		return r.source(body)
	})
}

// cases reads the branches of a switch; any may be taken.
func (r *reader) cases(subject value, body string) value {
	p := &parser{r: r, cursor: cursor{src: body}}
	r.vars["_"] = subject.element()
	out := value{}
	for p.space("\n;"); !p.done() && r.step(1); p.space("\n;") {
		before := p.pos
		if p.peek(0) == '{' || p.peek(0) == '(' {
			out = r.merged(out, p.grouped())
		} else {
			p.argument()
		}
		if p.pos == before {
			p.take(1)
		}
	}
	return out
}

// conditional reads what may not run, or run many times.
func (r *reader) conditional(loop bool, read func() value) value {
	change := func(p *place) { p.conditional, p.inLoop = true, p.inLoop || loop }
	writes := r.writes
	v := r.within(change, read)
	if !loop || r.writes == writes || r.loops > 0 {
		return v
	}
	r.loops++ // the second round sees what the first one left
	defer func() { r.loops-- }()
	return r.within(change, read)
}

// target is what an assignment sets.
type target struct {
	names, indexes []string
	member         bool
}

// assignment reads what sets variables, if the statement does.
func (p *parser) assignment() bool {
	start := p.pos
	t, ok := p.target()
	op := assigns(p.rest())
	if !ok || op == "" {
		p.pos = start
		return false
	}
	p.take(len(op))
	p.space(lineEnds)
	for _, at := range t.indexes {
		p.r.index(at)
	}
	v := p.statement()
	if !t.member && len(t.names) == 1 {
		p.r.assign(t.names[0], op, v)
		return true
	}
	for _, name := range t.names {
		p.r.setVar(name, p.r.merged(p.r.vars[name], v))
	}
	return true
}

// target takes variables with what is named of them.
func (p *parser) target() (t target, ok bool) {
	for {
		for p.peek(0) == '[' {
			p.enclosed()
			p.blanks()
		}
		if p.peek(0) != '$' || p.peek(1) != '{' && !isNameByte(p.peek(1)) || !p.r.step(1) {
			return t, false
		}
		p.take(1)
		t.names = append(t.names, variableName(p.variableName()))
		for p.peek(0) == '[' || p.peek(0) == '.' && isNameByte(p.peek(1)) {
			if t.member = true; p.peek(0) == '[' {
				t.indexes = append(t.indexes, p.enclosed())
				continue
			}
			p.take(1)
			p.name()
		}
		p.blanks()
		if p.peek(0) != ',' {
			return t, true
		}
		p.take(1)
		p.blanks()
	}
}

// assigns is the operator of an assignment with which a text begins, or "".
func assigns(s string) string {
	for _, op := range [...]string{"??=", "+=", "-=", "*=", "/=", "%=", "="} {
		if rest, ok := strings.CutPrefix(s, op); ok && !strings.HasPrefix(rest, "=") {
			return op
		}
	}
	return ""
}

func (r *reader) assign(name, op string, v value) {
	old, had := r.vars[name]
	switch {
	case op == "+=" && had:
		v = r.sum([]value{old, v})
	case op != "=":
		v = r.merged(old, unknownValue(""))
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
