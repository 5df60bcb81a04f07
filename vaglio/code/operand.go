package code

import (
	"slices"

	"github.com/metnos/vaglio/vaglio/code/lex"
	"github.com/metnos/vaglio/vaglio/shell"
)

func (p *program) primary() value {
	t := p.peek(0)
	switch t.Kind {
	case lex.String:
		return p.glued()
	case lex.Number:
		p.take()
		return value{kind: kindNumber, alts: []shell.Word{shell.Text(t.Text)}}
	case lex.Name:
		if t.Text != "map" {
			return p.nameOperand()
		}
		if open := p.elements(); open > 0 && p.tok(open).Tight { // it is no result of a function
			p.skip(open)
			return p.mapping()
		}
		return p.nameOperand()
	case lex.Op, lex.End:
	}
	switch t.Text {
	case "(":
		return p.group()
	case "[":
		if open := p.elements(); open > 0 {
			p.skip(open + 1)
			return listOf(p.items("}")...)
		}
		p.take()
		return listOf(p.items("]")...)
	case "{":
		return p.mapping()
	}
	p.takeIf(!p.is(";", ")", "]", "}", ",", ":", "=>"))
	return value{}
}

// elements returns the index of the brace that opens the elements of one of Go's slices, arrays or maps, whose type begins here: []string{…}; 0 if none.
func (p *program) elements() int {
	if p.lang.name != "go" {
		return 0
	}
	from := p.over(p.at) + 1
	if p.word("map") {
		from = p.over(p.at+1) + 1
	}
	to := p.until(from, func(i int) bool {
		t, before := p.toks[i], p.tok(i-1)
		return !t.Word() && !t.Is(".", "*", "[") && (!t.Is("(") || !before.Word("func")) || t.Word("struct", "interface") // tables of tests are long
	})
	if to == from || !p.opens(to, "{") {
		return 0
	}
	return to
}

// glued reads a text and the texts directly beside it.
func (p *program) glued() value {
	v := p.text()
	for p.lang.has("prefixes") && p.peek(0).Quoted() {
		v = p.glue(v, p.text())
	}
	return v
}

// text reads a single text, of one part or of several.
func (p *program) text() value {
	t := p.take()
	if t.Kind == lex.String {
		return textOf(p.unmark(t.Text))
	}
	v := text("")
	if !p.is(")") {
		v = p.expression()
	}
	p.close(t.Match)
	return v
}

// nameOperand reads an operand that begins with a name.
func (p *program) nameOperand() value {
	t := p.peek(0)
	switch t.Text {
	case "lambda", "proc", "fn", "function", "sub", "func":
		if v, ok := p.anonymous(); ok {
			return v
		}
	case "None", "null", "nil", "undef", "undefined", "False", "false":
		p.take()
		return value{kind: kindNone}
	case "True", "true", "pass", "break", "continue", "next", "last", "redo", "//":
		if _, held := p.vars[t.Text]; !held { // a word of one language is a variable's name in others
			p.take()
			return value{kind: kindOther}
		}
	case "print", "printf", "getline":
		if p.lang.name == "awk" {
			return p.awkStatement()
		}
	case "s///", "tr///", "y///":
		return p.substituted()
	}
	switch {
	case t.Text[0] == '<':
		return p.inputLine()
	case p.lang.name == "node" && p.peek(1).Text == "=>":
		return p.arrow()
	}
	p.take()
	return p.named(t.Text)
}

// named returns what a name stands for: a key, a variable, or a function that the table may know.
func (p *program) named(name string) value {
	if p.is("=>") && p.lang.name != "node" && name[0] != '$' {
		return text(name)
	}
	name = p.key(name)
	v, ok := p.variable(name)
	for _, m := range p.stars {
		if full := m + "." + name; !ok && p.lang.find(p.canonical(full), "") != nil {
			return unknown(full)
		}
	}
	if !ok {
		v = unknown(name)
	} else if e, is := p.fromModule(v.path); is && !v.given() && v.fn == nil {
		v = e
	}
	v.holder = name
	return v
}

// variable returns the value of a variable; perl's elements of @_ and @ARGV count as their lists.
func (p *program) variable(name string) (value, bool) {
	if next := p.peek(0).Text; p.lang.name == "perl" && next == "[" && (name == "$_" || name == "$ARGV") {
		name = "@" + name[1:]
	}
	if v, ok := p.vars[name]; ok {
		return p.current(v), true
	}
	switch {
	case p.lang.name == "awk" && name[0] == '$':
		return p.recordField(name[1:]), true
	case name == "@ARGV", name == "@argv":
		return p.arguments(1), true
	}
	return value{}, false
}

// substituted reads s/…/…/ and tr/…/…/. The text on the left of =~, or $_, is unknown from there on.
func (p *program) substituted() value {
	p.take()
	if p.takeIf(p.is("(")) {
		p.items(")")
	}
	v := p.subject
	if !v.given() && v.holder == "" {
		v = p.named("$_")
	}
	out := value{alts: passedOn("s///", v.word()).words()}
	p.store(v.holder, out)
	return out
}

// group reads what is in parentheses: a function's parameters, a text of several parts, a list or one expression.
func (p *program) group() value {
	t, end := p.peek(0), p.over(p.at)
	if end > p.at && p.tok(end+1).Text == "=>" && end+1 < p.end && !t.Group {
		return p.arrow()
	}
	if t.Group {
		return p.glued()
	}
	p.take()
	comma := p.find(p.at, func(t token) bool { return t.Is(",") || t.Is("=>") && p.lang.name != "node" })
	list := p.items(")")
	if len(list) == 1 && comma < 0 {
		return list[0]
	}
	p.deferred(list)
	if p.lang.name == "node" {
		return listOf(list...).nth(-1)
	}
	v := listOf(list...)
	v.spread = p.lang.has("flat")
	return v
}

// close reads what an expression left before the bracket at end, and moves after it.
func (p *program) close(end int) {
	if end <= 0 || end < p.at {
		p.takeIf(p.is(")", "]", "}"))
		return
	}
	p.scan(p.at, end)
	p.at = end + 1
}

// items reads a list up to a bracket. A name before "=" or ":" names the item.
func (p *program) items(shut string) (out []value) {
	saved := p.printing
	p.printing = false
	defer func() { p.printing = saved }()
	for p.at < p.end && p.spend(1) && !p.takeIf(p.is(shut)) {
		before := p.at
		if p.takeIf(p.is(",", ";", "=>")) {
			continue
		}
		if list, ok := p.comprehended(); ok && len(out) == 0 {
			if out = list; shut == ")" {
				out = []value{listOf(list...)}
			}
			continue
		}
		v := p.item()
		if p.at <= before && p.is(")", "]", "}") {
			return out
		}
		if p.forward(before) || len(out) > maxList { // behind the limit stands anything already
			continue
		}
		out = bounded(spreadInto(out, v))
	}
	return out
}

// comprehended reads python's "e for x in list if c", once for every element of the list; false if none begins here.
func (p *program) comprehended() (out []value, ok bool) {
	if p.lang.name != "python" {
		return nil, false
	}
	start := p.at
	at := p.find(start, func(t token) bool { return t.Is(",") || t.Word("for") })
	if !p.tok(at).Word("for") {
		return nil, false
	}
	list := p.drawn(at + 1)
	end := p.at
	p.each(list, 0, func(e value) {
		p.bindNew(at+1, e)
		p.at = end
		p.clauses()
		after := p.at
		p.at = start
		v := p.expression()
		if p.takeIf(p.is(":")) { // an entry of a map
			v = value{kind: kindMap}.with(v.key(), p.expression())
			v.spread = true
		}
		out = append(out, v)
		p.at = after
	})
	return out, true
}

// clauses reads what follows the first list of a comprehension, whose names are bound: further lists and conditions.
func (p *program) clauses() {
	for p.spend(1) {
		switch {
		case p.word("async") && p.peek(1).Word("for"):
			p.take()
		case p.word("for"):
			inner := p.at + 1
			p.bindNew(inner, p.anyOf(p.iterated(p.drawn(inner)).elements()))
		case p.takeIf(p.word("if")):
			p.operation("if")
		default:
			return
		}
	}
}

// drawn reads "in list" behind the pattern of a comprehension.
func (p *program) drawn(pattern int) value {
	p.skip(p.find(pattern, func(t token) bool { return t.Word("in") }) + 1)
	return p.operation("if")
}

// item reads an argument, perhaps with its name: name=, name: or "name" =>.
func (p *program) item() value {
	t, next, name := p.peek(0), p.peek(1), ""
	if (t.Word() || t.Kind == lex.String) && p.namesItem(t, next) {
		if name = t.Text; p.lang.name == "php" && next.Is(":") {
			name = "$" + name
		}
		p.skip(p.at + 2)
	}
	v := p.expression()
	v.name = name
	return v
}

// mapping reads what is in braces: a map, a set, or statements.
func (p *program) mapping() value {
	end := p.peek(0).Match
	p.take()
	v := value{kind: kindMap}
	for p.at < p.end && !p.is("}") && p.spend(1) {
		before := p.at
		if p.takeIf(p.is(",", ";")) || p.lang.name == "node" && p.define() {
			p.takeIf(p.at < end && p.is("}")) // of a method, not of the map
			continue
		}
		if list, ok := p.comprehended(); ok {
			for _, e := range list {
				v = v.entered("", e)
			}
			continue
		}
		v = v.entered(p.entry())
		p.forward(before)
	}
	p.close(end)
	if len(v.list) > 0 && !slices.ContainsFunc(v.keys, func(k string) bool { return k != "" }) {
		v = v.listed(v.list)
	}
	return v
}

// entered returns a map with one more entry, or with those of a map that is spread.
func (v value) entered(key string, e value) value {
	switch {
	case key != "":
		return v.with(key, e)
	case e.spread && e.kind == kindMap:
		return v.orMap(e)
	case len(v.list) <= maxList:
		v.list, v.keys = bounded(append(v.list, e)), append(v.keys, "")
	}
	return v
}

// entry reads one entry of a map: a key, and its value if there is one.
func (p *program) entry() (string, value) {
	t := p.peek(0)
	if t.Word() && p.keyed(t.Text) {
		p.take()
		p.take()
		return t.Text, p.expression()
	}
	v := p.binary()
	if v.kind == kindList && len(v.list) == 1 { // [name]: value
		v.alts, v.kind = v.list[0].alts, kindText
	}
	if key := v.key(); p.takeIf(p.is(":", "=>")) {
		return key, p.expression()
	}
	if t.Word() && v.holder == t.Text && (!p.is(",") || !p.lang.has("flat")) {
		return t.Text, v // a variable that is an entry of its own
	}
	return "", v
}

// keyed reports whether a name is the key of an entry.
func (p *program) keyed(name string) bool {
	next := p.peek(1)
	_, held := p.vars[name]
	return name[0] != '$' && (next.Is(":", "=>") || next.Is("=") && p.lang.name == "lua") && (!held || !p.lang.has("columns"))
}

// puts stores what a list or map is by now where it is, under all names that it has.
func (p *program) puts(was, v value) {
	v.of = was.of
	p.store(was.holder, v)
	p.touch(was, v)
}

// touch notes what a list or map is by now.
func (p *program) touch(was, v value) {
	names, sure := was.names()
	for _, name := range names {
		now, old := v, was
		if !sure {
			old = p.objects[name]
		}
		if !sure || p.perhaps() {
			now = p.either(old, now)
		}
		now.of, now.holder = "", ""
		p.objects[name] = now
	}
}

// namesItem reports whether a token is the name of an argument, judging by the token behind it.
func (p *program) namesItem(t, next token) bool {
	return next.Is("=") && p.lang.name == "python" || next.Is(":") && (p.lang.name == "ruby" || p.lang.name == "php") ||
		next.Is("=>") && t.Kind == lex.String && p.lang.name != "node" && !p.lang.has("flat")
}
