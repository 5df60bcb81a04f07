package powershell

import (
	"slices"
	"strings"
)

// parser reads one text of PowerShell from its beginning to its end, and runs
// it as it goes. What stands in brackets is a text of its own.
type parser struct {
	cursor
	r        *reader
	names    []string // the variables of an expression that was begun
	member   bool     // a part of one of them is named
	assigned bool     // the statement set a variable
}

func (r *reader) parse(text string) *parser {
	return &parser{r: r, cursor: cursor{src: text, open: &r.open}}
}

// source reads a text of PowerShell and gives what it puts out.
func (r *reader) source(text string) value {
	r.opens(text)
	return r.deeper(func() value {
		p := r.parse(plain(text))
		var outs []value
		for p.space("\n;"); !p.done(); p.space("\n;") {
			p.assigned = false
			p.progress(func() {
				if v := p.statement(); !v.isNothing() && !p.assigned {
					outs = append(outs, v)
				}
			})
		}
		if len(outs) == 0 {
			return value{}
		}
		return r.list(outs...)
	})
}

// word is the word of the language that comes next, in lower case.
func (p *parser) word() string {
	n := 0
	for isLetter(p.peek(n)) {
		n++
	}
	if c := p.peek(n); c != 0 && strings.IndexByte(blanks+"\n;({}&|", c) < 0 {
		return ""
	}
	return strings.ToLower(p.rest()[:n])
}

// statement reads one statement and gives its output.
func (p *parser) statement() value {
	p.r.step(1)
	if p.space(""); p.at(":") && isLetter(p.peek(1)) { // the name of a loop
		p.take(1)
		p.name()
		p.space("\n")
	}
	start, word := p.pos, p.word()
	if word != "" {
		p.take(len(word))
		p.space("\n")
	}
	return p.r.deeper(func() value {
		if v, ok := p.keyword(word); ok {
			return v
		}
		p.pos = start
		return p.chain()
	})
}

// keyword reads a statement that begins with a word of the language.
func (p *parser) keyword(word string) (value, bool) {
	switch word {
	case "return", "throw", "exit", "break", "continue":
		return p.statement(), true
	case "if", "while", "until", "for", "foreach", "switch":
		if p.at("(") || word == "switch" {
			return p.headed(word), true
		}
	case "else", "do", "try", "catch", "finally", "trap", "begin", "process", "end", "dynamicparam", "clean", "data":
		for p.at("[") || p.at(",") { // what is caught
			p.enclosed()
			p.space("\n,")
		}
		if p.at("{") {
			return p.branch(word == "do"), true
		}
	case "param":
		if p.at("(") {
			p.r.parameters(p.enclosed())
			return value{}, true
		}
	case "function", "filter", "workflow":
		return value{}, p.define()
	}
	return value{}, false
}

// branch reads a block that may not run, or run many times.
func (p *parser) branch(loop bool) value {
	body := p.enclosed()
	return p.r.conditional(loop, func() value { return p.r.source(body) })
}

// headed reads a statement with a head in parentheses, and what else an if has.
func (p *parser) headed(word string) value {
	r := p.r
	for word == "switch" && !p.at("({") && !p.ends() { // its options
		p.argument()
		p.space("\n")
	}
	head := ""
	if p.at("(") {
		head = p.enclosed()
		p.space("\n")
	}
	name, items := "", value{}
	switch {
	case !p.at("{"): // do … while (…)
		return r.source(head)
	case word == "foreach":
		name, items = r.forEach(head)
	case word == "if":
		r.source(head)
		return p.otherwise(p.branch(false))
	case word == "switch":
		r.vars["_"] = r.source(head).element()
		return p.cases()
	}
	body := p.enclosed()
	return r.conditional(true, func() value {
		if word != "foreach" {
			r.source(head)
		} else {
			r.vars[name] = items.element()
		}
		return r.source(body)
	})
}

// otherwise reads what follows an if.
func (p *parser) otherwise(v value) value {
	end := p.pos
	p.space("\n")
	word := p.word()
	p.take(len(word))
	if p.space("\n"); word == "elseif" && p.at("(") {
		p.grouped()
		p.space("\n")
	} else if word != "else" {
		p.pos = end
		return v
	}
	if !p.at("{") {
		return v
	}
	p.r.step(1)
	return p.otherwise(p.r.merged(v, p.branch(false)))
}

// forEach reads $x in …: the body is read once for all that $x may be.
func (r *reader) forEach(head string) (name string, items value) {
	p := r.parse(head)
	p.space("\n")
	p.take(1) // the dollar sign
	name = p.variable()
	if p.space("\n"); p.word() != "in" {
		r.unread("a loop of a form that is not read")
	}
	p.take(len("in"))
	return name, r.source(p.rest())
}

// cases reads the branches of a switch; any may be taken.
func (p *parser) cases() value {
	in, out := p.r.parse(p.enclosed()), value{}
	for in.space("\n;"); !in.done(); in.space("\n;") {
		in.progress(func() {
			if in.at("{") {
				out = p.r.merged(out, in.branch(false))
			} else {
				in.argument()
			}
		})
	}
	return out
}

// conditional reads what may not run, or run many times. The second round of a
// loop sees what the first one left.
func (r *reader) conditional(loop bool, read func() value) value {
	change := func(p *place) { p.conditional, p.inLoop = true, p.inLoop || loop }
	writes := r.writes
	v := r.within(change, read)
	if loop && r.writes != writes && !r.again {
		r.again = true
		v = r.within(change, read)
		r.again = false
	}
	return v
}

// define notes a function, the body of which is read when it is called, with
// what the variables hold then; what it is given is not followed.
func (p *parser) define() bool {
	start, head := p.pos, ""
	for isNameByte(p.peek(0)) || p.at("-:") {
		p.take(1)
	}
	name := strings.ToLower(p.src[start:p.pos])
	name = name[strings.IndexByte(name, ':')+1:]
	if p.space("\n"); p.at("(") {
		head = "param(" + p.enclosed() + ")\n"
		p.space("\n")
	}
	if name == "" || !p.at("{") {
		p.r.unread("a function of a form that is not read")
		return false
	}
	p.r.funcs[name] = head + p.enclosed() + "\n"
	return true
}

// callFunction runs a function of the source. While it runs it has no body.
func (r *reader) callFunction(name string, in value) value {
	body := r.funcs[name]
	if body == "" {
		r.unread("a function calls itself")
	}
	r.funcs[name] = ""
	v := r.each(value{isBlock: true, block: body}, in)
	r.funcs[name] = body
	return v
}

// parameters forgets what the names of parameters stood for, and reads what is
// run to find their defaults.
func (r *reader) parameters(head string) {
	p := r.parse(head)
	for p.space("\n,"); !p.done(); p.space("\n,") {
		p.progress(func() {
			switch {
			case p.at("["):
				p.enclosed()
			case p.skip("$"):
				delete(r.vars, p.variable())
				if p.space("\n"); p.skip("=") {
					p.expression(false)
				}
			}
		})
	}
}

// each runs a block for all that comes through a pipe.
func (r *reader) each(v, in value) value {
	if !v.isBlock {
		return value{}
	}
	return r.conditional(true, func() value {
		old := r.variable("_")
		r.vars["_"] = something(in, "_").element()
		out := r.source(v.block)
		r.vars["_"] = old
		return out
	})
}

// within reads something in another place.
func (r *reader) within(change func(*place), read func() value) value {
	old := r.at
	change(&r.at)
	v := read()
	r.at = old
	return v
}

// by is the place of what something else runs.
func by(name string) func(*place) {
	return func(p *place) { p.via = append(slices.Clip(p.via), name) }
}
