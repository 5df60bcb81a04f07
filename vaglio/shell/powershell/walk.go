package powershell

import (
	"regexp"
	"slices"
	"strings"

	"github.com/metnos/vaglio/vaglio/shell"
)

// parser reads one PowerShell text from beginning to end, and runs it as it goes. What is in brackets is a text of its own.
type parser struct {
	cursor
	r        *reader
	names    []string // the variables of the expression being read
	member   bool     // the expression names a part of one of them
	assigned bool     // the statement set a variable
	given    *given   // what the text is called with, nil if that is not known
}

func (r *reader) parse(text string) *parser {
	return &parser{r: r, cursor: cursor{src: text, open: &r.open}}
}

// source reads a PowerShell text and returns its output.
func (r *reader) source(text string) value {
	r.opens(text)
	return r.deeper(func() value {
		p := r.parse(plain(text))
		if r.given != nil && r.given.body == text {
			p.given = r.given
		}
		var outs []value
		for p.space("\n;"); !p.done(); p.space("\n;") {
			p.assigned = false
			p.progress(func() {
				alone := p.at("{") // such as a branch of a switch
				v := p.statement()
				if alone {
					v = r.each(v, value{})
				}
				if !v.isNothing() && !p.assigned {
					outs = append(outs, v)
				}
			})
		}
		return r.list(outs...)
	})
}

// word returns the keyword that comes next, in lower case.
func (p *parser) word() string {
	if m := words.FindStringSubmatch(p.rest()); m != nil {
		return strings.ToLower(m[1])
	}
	return ""
}

// labels matches the labels of loops, and what leaves a loop by its label.
var labels = regexp.MustCompile(`^(?::\w+\s+|(?i:break|continue)[ \t]+\w+)`)

var words = regexp.MustCompile(`^([A-Za-z]+)(?:[\s;({}&|]|$)`)

func (p *parser) statement() value {
	p.r.step(1)
	p.space("")
	p.match(labels)
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

// keyword reads a statement that begins with a keyword.
func (p *parser) keyword(word string) (value, bool) {
	switch word {
	case "return", "throw", "exit", "break", "continue":
		return p.statement(), true
	case "param":
		if p.at("(") {
			p.r.parameters(p.enclosed(), p.given)
			return value{}, true
		}
	case "function", "filter", "workflow":
		return value{}, p.define()
	default:
		if p.r.t.is("flow", word) {
			return p.flow(word)
		}
	}
	return value{}, false
}

// flow reads what follows a keyword: a head in brackets and a block, which may not run or may run many times, and the branches that belong to it.
func (p *parser) flow(word string) (value, bool) {
	for p.at("[-") && !p.ends() { // options, or the exceptions that are caught
		p.side()
		p.space("\n,")
	}
	head, body, kind := "", "", p.r.t.words["flow"][word]
	if !p.at("(") && (!p.at("{") || strings.Contains(kind, "head")) {
		return value{}, false
	}
	if p.at("(") {
		head = p.enclosed()
		p.space("\n")
	}
	if p.at("{") {
		body = p.enclosed()
	}
	v := p.r.conditional(strings.Contains(kind, "loop"), func() value {
		name, list := p.r.head(word, head)
		return p.r.rounds(name, list, word == "foreach", body)
	})
	end := p.pos
	p.space("\n")
	switch word = p.word(); word {
	case "else", "elseif", "catch", "finally":
		p.take(len(word))
		p.space("\n")
		p.r.step(1)
		more, ok := p.flow(word)
		if !ok {
			p.r.unread("an expression of a form that is not read")
		}
		return p.r.merged(v, more), true
	}
	p.pos = end
	return v, true
}

// head reads the head of a statement. It returns the name of a loop's variable, and its values.
func (r *reader) head(word, head string) (name string, list value) {
	p := r.parse(head)
	switch word {
	case "switch":
		name = "_"
	case "foreach":
		p.space("\n")
		p.take(1) // the dollar sign
		name = p.variable()
		if p.space("\n"); p.word() != "in" {
			r.unread("a loop of a form that is not read")
		}
		p.take(len("in"))
	}
	return name, r.source(p.rest())
}

// rounds reads a block for each value of its variable, if they are few texts that are known, and the block is short and sets nothing, so that no value grows
// with the rounds; or else once for all of them. So it does in a block that is read in such a way, whose rounds would multiply.
func (r *reader) rounds(name string, list value, each bool, body string) value {
	const longest = 1024
	if !each || !list.isFew() || r.unrolled || len(body) > longest || strings.Contains(body, "=") {
		if name != "" {
			r.vars[name] = list.element()
		}
		return r.source(body)
	}
	var out []value
	r.unrolled = true
	for _, item := range list.items {
		r.vars[name] = one(item)
		out = append(out, r.source(body))
	}
	r.unrolled = false
	r.vars[name] = list.element()
	return r.list(out...)
}

// isFew reports whether a value is a list of a few texts that are known.
func (v value) isFew() bool {
	unread := func(w shell.Word) bool { _, known := w.Text(); return !known }
	return len(v.items) > 1 && len(v.items) <= maxChoices && !v.either && !v.hash && !v.files && !slices.ContainsFunc(v.items, unread)
}

// conditional reads what may not run, or may run many times. The second round of a loop sees what the first one left.
func (r *reader) conditional(loop bool, read func() value) value {
	change := func(p *place) { p.Conditional, p.InLoop = true, p.InLoop || loop }
	writes := r.writes
	v := r.within(change, read)
	if loop && r.writes != writes && !r.again {
		r.again = true
		v = r.within(change, read)
		r.again = false
	}
	return v
}

// define records a function. Its body is read when the function is called, with the variables as they are then.
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
	p.r.vars["function:"+name] = value{isBlock: true, block: head + p.enclosed() + "\n"}
	return true
}

// callFunction runs a function of the source. The function has no body while it runs.
func (r *reader) callFunction(name string, args []argument, in value) value {
	body := r.vars[name]
	if body.block == "" {
		r.unread("a function calls itself")
	}
	r.vars[name] = value{isBlock: true}
	v := r.with(body.block, args, func() value { return r.each(body, in) })
	r.vars[name] = body
	return v
}

// each runs a block for everything that comes through a pipe.
func (r *reader) each(v, in value) value {
	if !v.isBlock {
		return value{}
	}
	return r.conditional(true, func() value {
		old := r.variable("_")
		out := r.rounds("_", something(in, "_"), true, v.block)
		r.vars["_"] = old
		return out
	})
}

// within reads something in a changed place.
func (r *reader) within(change func(*place), read func() value) value {
	old := r.at
	change(&r.at)
	v := read()
	r.at = old
	return v
}

// by returns the place change for something that name runs.
func by(name string) func(*place) {
	return func(p *place) { p.Via = append(slices.Clip(p.Via), name) }
}
