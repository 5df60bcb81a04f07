package code

import (
	"path"
	"slices"
	"strings"

	"github.com/metnos/vaglio/vaglio/code/lex"
	"github.com/metnos/vaglio/vaglio/wordclass"
)

// scan reads a part of the program, expression by expression, and returns the value of the last.
// It skips words such as "if" and the brackets of blocks: a token's block says whether the program may skip it.
func (p *program) scan(from, to int) value {
	if !p.enter() {
		return value{}
	}
	defer p.leave()
	at, end := p.at, p.end
	p.at, p.end = from, min(to, len(p.toks))
	var last value
	for p.at < p.end && p.spend(1) {
		before := p.at
		if v := p.statement(); v.kind != kindNone || p.tok(before).Word("return") {
			last = v
		}
		p.forward(before)
	}
	p.at, p.end = at, end
	return last
}

// forward skips one token if nothing was read, and reports whether it did.
func (p *program) forward(before int) bool {
	if p.at > before {
		return false
	}
	p.at = before
	p.take()
	return true
}

func (p *program) peek(n int) token {
	if i := p.at + n; i >= 0 && i < p.end {
		return p.toks[i]
	}
	return token{}
}

func (p *program) take() token {
	t := p.peek(0)
	p.skip(p.at + 1)
	return t
}

func (p *program) is(ops ...string) bool { return p.peek(0).Is(ops...) }

func (p *program) word(words ...string) bool { return p.peek(0).Word(words...) }

// takeIf advances by one token if a condition holds, and reports whether it does.
func (p *program) takeIf(here bool) bool {
	if here {
		p.take()
	}
	return here
}

// skip advances to an index and marks the tokens before it as read.
func (p *program) skip(to int) {
	for to = min(to, len(p.toks)); p.at < to; p.at++ {
		p.seen[p.at] = true
	}
}

// tok returns the token at an index, or a zero token.
func (p *program) tok(i int) token { return p.toks.At(i) }

// over returns the index of the bracket that closes the one at i, or i.
func (p *program) over(i int) int { return p.toks.Over(i) }

// opens reports whether an index holds a bracket that is closed again.
func (p *program) opens(i int, bracket string) bool { return p.tok(i).Is(bracket) && p.over(i) > i }

// until returns the first index outside brackets at which a condition holds, or the end.
func (p *program) until(from int, stop func(i int) bool) int {
	i := from
	for i < p.end && !stop(i) {
		i = p.over(i) + 1
	}
	p.spend((i - from) / 4)
	return min(i, p.end)
}

// find returns the index of the first token outside brackets that satisfies is, or -1 if there is none before the end of the statement.
func (p *program) find(from int, is func(token) bool) int {
	i := p.until(from, func(i int) bool { t := p.toks[i]; return is(t) || t.Is(";", ")", "]", "}") })
	if i < p.end && is(p.toks[i]) {
		return i
	}
	return -1
}

func (p *program) statement() value {
	none := value{kind: kindNone}
	t := p.peek(0)
	switch {
	case p.is(";", "}", ")", "]", ":", ",", "{") && !t.Group && !p.pattern(p.at) && !p.beginsMap(t):
		p.take()
		return none
	case p.in.Imported && p.ifMain(), p.peek(1).Is("{") && p.takeIf(p.is("++", "--")): // the end of a loop's head
		return none
	case p.repeated(), t.Word() && (p.define() || p.keyword(t.Text)), p.assigned():
		return none
	}
	if p.takeIf(t.Word("yield")) { // what ruby's block makes of it
		p.expressions()
		return unknown(t.Text)
	}
	return p.expressions()
}

// ifMain skips what python runs only if the file is the program itself.
func (p *program) ifMain() bool {
	if !p.word("if") || !p.peek(1).Word("__name__") || p.peek(3).Text != "__main__" {
		return false
	}
	_, to := p.body(p.at, p.at+1)
	p.skip(to)
	return true
}

// beginsMap reports whether a statement begins with a map rather than a block.
func (p *program) beginsMap(t token) bool {
	return t.Is("{") && (p.at == 0 || p.peek(-1).Is(";")) && (p.lang.name == "python" || p.lang.name == "ruby")
}

// keyword reads a keyword that binds a name or repeats what follows, and skips other keywords.
func (p *program) keyword(name string) bool {
	if p.peek(1).Is("=", ",", ":") && slices.Contains([]string{"from", "loop", "until", "foreach"}, name) { // a variable's name
		return false
	}
	switch name {
	case "import", "from":
		return p.imports()
	case "for", "foreach", "while", "until", "loop":
		p.looped()
		return true
	case "return", "yield", "do", "del", "use", "no", "alias":
		if done, is := p.leaves(name); is {
			return done
		}
	case "class":
		p.classes[p.peek(1).Text] = p.class()
		p.take()
		return true
	}
	variable := p.peek(1).Is("=", ".", ",") || p.callsOrIndexes(name, p.peek(1))
	return p.takeIf(!variable && (wordclass.Is("branch-word", name) || wordclass.Is("statement-word", name)))
}

// callsOrIndexes reports whether a keyword is itself a function or a variable, as the token behind it says: let(:x), perl's do $file.
func (p *program) callsOrIndexes(word string, next token) bool {
	return word == "local" && next.Is("[") || word == "let" && next.Is("(") || word == "do" && p.lang.name == "perl" && !next.Is("{")
}

// returned reads what a function returns, or yields as one of several.
func (p *program) returned() {
	one, n := p.take().Text == "yield", len(p.returns)-1
	switch all := p.takeIf(p.word("from") || p.is("*")); {
	case p.is(";", "}"), n < 0:
	case one:
		v := p.expressions()
		v.spread = all
		p.returns[n] = listOf(bounded(spreadInto(p.returns[n].list, v))...)
		p.returns[n].some = true
	default:
		from := p.at
		v := p.expressions()
		if len(v.list) > 1 && p.lang.name == "go" && p.fails(from) {
			for i := range v.list {
				if text, known := v.list[i].text(); known && text == "" {
					v.list[i] = value{kind: kindNone}
				}
			}
		}
		p.returns[n] = p.returns[n].orEach(v)
	}
}

// orEach is [value.or] for what a function returns: of several values, each one stays in its place.
func (v value) orEach(o value) value {
	if v.kind != kindList || o.kind != kindList || len(v.list) != len(o.list) || v.some || o.some {
		return v.or(o)
	}
	v.list = slices.Clone(v.list)
	for i := range v.list {
		v.list[i] = v.list[i].or(o.list[i])
	}
	return v
}

// literal reads a function without a name of Go: func(x, y T) T { … }. The type of one has no braces.
func (p *program) literal() (value, bool) {
	def, to := p.at, p.over(p.at+1)+1
	if !p.word("func") || !p.opens(p.at+1, "(") {
		return value{}, false
	}
	to = p.until(to, func(i int) bool {
		t := p.toks[i]
		return t.Is("{") && !p.toks[i-1].Word("struct", "interface") || t.Is() && !t.Is(".", "*", "(", "[", "{", "<-")
	})
	if !p.opens(to, "{") {
		return value{}, false
	}
	p.take()
	params := p.parameters()
	p.skip(to)
	v := p.closure(def, params)
	v.fn.command, v.fn.deferred = p.runner(params), p.tok(def-1).Word("defer")
	return v, true
}

// runner returns how a library runs a function that takes what it hands to commands, nil if none does.
func (p *program) runner(params []int) attributes {
	for _, at := range params {
		if how := p.lang.options.names["runner"][p.tok(at+2).Text+"."+p.tok(at+4).Text]; how != nil { // cmd *cobra.Command
			return how
		}
	}
	return nil
}

// perhaps reports whether the program may pass by what was just read, or come to it again.
func (p *program) perhaps() bool {
	return p.branches > 0 || p.tok(min(p.at, p.end)-1).Perhaps ||
		p.lang.has("bare") && !p.peek(0).Line && p.word("if", "unless", "while", "until", "for", "foreach")
}

// imports reads "from a import b as c", and node's "import a, {b as c}, * as d from m". Other forms, such as "import a.b as c, d", are expressions.
func (p *program) imports() bool {
	node, mod := p.lang.name == "node", ""
	if p.lang.name == "go" {
		return p.packages()
	}
	if p.peek(1).Text == "(" {
		return false
	}
	if p.take().Text == "import" && !node {
		for i := p.at; p.tok(i).Word() || p.tok(i).Is(".", ","); i++ {
			p.takes(p.tok(i).Text)
			p.includesPut(p.tok(i).Text)
		}
		return true
	}
	if node {
		from := p.until(p.at, func(i int) bool { return p.toks[i].Is(";") || p.toks[i].Word("from") })
		mod = moduleName(p.tok(from + 1).Text)
	} else {
		for p.takeIf(p.is(".", "..", "...") && p.peek(1).Text != "import") {
		}
		mod = p.dotted()
		p.takeIf(p.word("import"))
	}
	p.takes(mod)
	p.includesPut(mod)
	name := p.peek(0).Text
	p.importNames(mod, node)
	p.importsData(name)
	if p.takeIf(p.word("from")) {
		p.take()
	}
	return true
}

// packages reads go's imports: of packages by their own names, by others, or of all that is in one.
func (p *program) packages() bool {
	to := p.over(p.at + 1)
	if p.tok(to).Word() || p.tok(to).Is(".") {
		to++
	}
	for i := p.at + 1; i <= to; i++ {
		t, before := p.tok(i), p.tok(i-1)
		own := path.Base(t.Text)
		switch {
		case t.Kind == lex.String && before.Is("."):
			p.stars = append(p.stars, own)
		case t.Kind == lex.String && before.Word() && !before.Word("import"):
			p.vars[before.Text] = unknown(own)
		}
	}
	p.skip(to + 1)
	return true
}

func (p *program) takes(module string) {
	head, _, _ := strings.Cut(module, ".")
	p.modules[head] = true
}

// importNames reads what is imported from a module: names, or the module itself.
func (p *program) importNames(mod string, node bool) {
	for whole := node; p.spend(1) && p.imported(); {
		t := p.take()
		whole = node && !t.Is("{") && (whole || t.Is("}"))
		if t.Is("*") && !node {
			p.stars = append(p.stars, mod)
		}
		local := t.Text
		if p.takeIf(p.word("as")) {
			local = p.take().Text
		}
		p.vars[local] = unknown(mod)
		if t.Word() && !whole && t.Text != "default" {
			p.vars[local] = unknown(mod + "." + t.Text)
		}
	}
}

// imported reports whether the list of imported names continues here.
func (p *program) imported() bool {
	return p.is("(", ")", "{", "}", ",", "*") || p.peek(0).Word() && !p.word("from")
}

// decorated returns what is known, under a kind, of the first of a function's decorators of which something is.
func (p *program) decorated(kind string, decorators []string) attributes {
	for _, name := range decorators {
		if how := p.lang.options.names[kind][name]; how != nil {
			return how
		}
	}
	return nil
}

// decorators returns the last words of the names of the decorators before the function that begins at an index.
func (p *program) decorators(def int) (names []string) {
	before := p.defined
	if before >= def { // it is read again
		before = -1
	}
	for i := def - 1; i > before && !p.toks[i].Word("def", "class") && p.lang.has("columns"); i-- {
		if p.toks[i].Line && p.toks[i].Is("@") {
			last := p.until(i+1, func(j int) bool { return !p.toks[j].Word() && p.toks[j].Text != "." })
			names = append(names, p.tok(last-1).Text)
		}
	}
	return names
}

// defaults returns what python's parameters have by default that are given a variable: what that holds now.
func (p *program) defaults(params []int) map[int]value {
	if !p.lang.has("columns") {
		return nil
	}
	out := map[int]value{}
	for _, at := range params {
		if eq := p.usualAt(at); p.tok(eq+1).Word() && p.tok(eq+2).Is(",", ")") {
			if v, held := p.vars[p.key(p.tok(eq+1).Text)]; held && p.tok(eq).Is("=") {
				out[at] = p.current(v)
			}
		}
	}
	return out
}

// usualAt returns where the equal sign stands before the default of the parameter at an index, if it has one.
func (p *program) usualAt(at int) int {
	if p.tok(at + 1).Is(":") {
		return p.find(at+1, func(t token) bool { return t.Is("=", ",") })
	}
	return at + 1
}

// lines skips line ends where an operand is due.
func (p *program) lines() {
	for p.is(";") && p.peek(0).Line {
		p.take()
	}
}

// continued reports whether the next line continues this expression.
func (p *program) continued() bool {
	t := p.peek(1)
	return p.is(";") && p.peek(0).Line && !p.lang.has("columns") && (t.Is("+", "->", "?.") || t.Is(".") && p.peek(2).Word())
}

func moduleName(s string) string {
	for _, registry := range [...]string{"node:", "npm:", "jsr:"} { // deno's standard modules have the names of node's
		s = strings.TrimPrefix(s, registry)
	}
	return strings.ReplaceAll(strings.TrimPrefix(s, "@std/"), "/", ".")
}
