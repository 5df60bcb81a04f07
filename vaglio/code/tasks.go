package code

import (
	"regexp"
	"slices"
	"strings"

	"github.com/metnos/vaglio/vaglio/code/lex"
	"github.com/metnos/vaglio/vaglio/shell"
)

// Asked returns a program whose tool runs the tasks that are asked for, on the same lines, without the bodies of those that neither the names nor anything
// that stays mentions. others are texts that may mention some, too. A program that may call what it does not name stays as it is.
func (r *Reader) Asked(language, text string, names []string, others ...string) string {
	lang := r.table.languages[language]
	if lang == nil || lang.options.names["tasks"] == nil || len(text) > maxText || lang.options.finds("reflects", "", text) {
		return text
	}
	c, ok := r.choosers.Get([2]string{language, text})
	if !ok {
		c = &chooser{program: r.tokens(language, text), named: map[string][]int{}}
		c.find()
		c.program = nil
		r.choosers.Put([2]string{language, text}, c, len(text))
	}
	out := []byte(text)
	for i, kept := range c.choose(slices.Concat(names, others)) {
		for t := c.tasks[i]; !kept && t.from < t.to; t.from++ {
			if out[t.from] != '\n' {
				out[t.from] = ' '
			}
		}
	}
	return string(out)
}

// chooser finds out which tasks of a program run.
type chooser struct {
	*program

	tasks []task
	named map[string][]int // which of them have a name
	says  []string         // the names that what is in none of them mentions
}

// task is a part of a program that runs only if one of its names is asked for or mentioned.
type task struct {
	names     []string
	head, end int      // its tokens
	from, to  int      // those of its body, which may be none; once all are found, where that is in the text
	says      []string // the names that it mentions
}

var plainWord = regexp.MustCompile(`[A-Za-z_]\w*`)

// namesIn returns the names in a text.
func namesIn(text string) []string {
	return plainWord.FindAllString(strings.ReplaceAll(text, "-", "_"), -1)
}

// mentions returns the names in what is between two tokens.
func (c *chooser) mentions(from, to int) (names []string) {
	for i := from; i < to; i++ {
		if t := c.toks[i]; t.Word() || t.Kind == lex.String {
			names = append(names, namesIn(t.Text)...)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// choose returns which tasks run: those that texts name, or the rest of the program, or one that runs.
func (c *chooser) choose(texts []string) []bool {
	live, kept := map[string]bool{}, make([]bool, len(c.tasks))
	for names := slices.Concat(namesIn(strings.Join(texts, "\n")), c.says); len(names) > 0; {
		name := names[len(names)-1]
		if names = names[:len(names)-1]; live[name] {
			continue
		}
		live[name] = true
		for _, i := range c.named[name] {
			if !kept[i] {
				kept[i], names = true, append(names, c.tasks[i].says...)
			}
		}
	}
	return kept
}

// find lists the tasks, none if the program is too much. Where one is inside another, only the outer one counts.
func (c *chooser) find() {
	rest := 0
	for i := 0; i < len(c.toks); i++ {
		t := task{head: i}
		if c.toks[i].Line && (c.decorated(&t) || c.calledFor(&t) || c.functions(&t) || c.exported(&t)) {
			c.says = append(c.says, c.mentions(rest, i)...)
			rest, t.says = max(i, t.end), c.mentions(t.head, t.end)
			i = max(i, t.end-1)
			t.from, t.to = c.begins[t.from], c.begins[t.to]
			for _, name := range t.names {
				c.named[name] = append(c.named[name], len(c.tasks))
			}
			c.tasks = append(c.tasks, t)
		}
	}
	if c.says = append(c.says, c.mentions(rest, len(c.toks))...); c.stopped {
		c.tasks, c.named = nil, nil
	}
}

// isTask reports whether a name is one that the table gives for declaring tasks.
func (c *chooser) isTask(i int) bool {
	return c.tok(i).Word() && c.lang.options.names["tasks"][c.tok(i).Text] != nil
}

// decorated reads a function that only tasks' decorators stand before, or whose name says that it is one.
func (c *chooser) decorated(t *task) bool {
	i := t.head
	if !c.lang.has("columns") || c.toks[i].Column > 0 {
		return false
	}
	for c.tok(i).Is("@") {
		if i = c.decorator(t, i); i < 0 {
			return false
		}
	}
	def := i
	if c.tok(i).Word("async") {
		i++
	}
	name, own := strings.CutPrefix(c.tok(i+1).Text, "task_")
	if !c.tok(i).Word("def") || def == t.head && !own {
		return false
	}
	t.names = append(t.names, name, c.tok(i+1).Text)
	t.from, t.to = c.body(def, i)
	t.end = t.to
	return true
}

// decorator reads a decorator that declares a task, with the names that it gives, and returns the index of what it decorates; -1 if it is another.
func (c *chooser) decorator(t *task, i int) int {
	last := c.until(i+1, func(j int) bool { return !c.toks[j].Word() && c.toks[j].Text != "." })
	end := c.until(last, func(j int) bool { return c.toks[j].Is(";") })
	if !c.isTask(last - 1) {
		return -1
	}
	for j, a := range c.toks[last:end] {
		if a.Kind == lex.String || a.Word("default") {
			t.names = append(t.names, a.Text)
		}
		if a.Word("name", "aliases") && !c.textsOnly(last+j+1) {
			return -1 // it may be any name
		}
	}
	return c.until(end, func(j int) bool { return !c.toks[j].Is(";") })
}

// textsOnly reports whether a keyword's value, from its equals sign on, is a text or a list of them.
func (c *chooser) textsOnly(i int) bool {
	from, to := i+1, i+2
	if c.tok(from).Is("(", "[") {
		from, to = from+1, c.over(from)
	}
	plain := c.until(from, func(j int) bool {
		return j >= to || !c.toks[j].Is(",") && (c.toks[j].Kind != lex.String || strings.Contains(c.toks[j].Text, markOpen))
	})
	return c.tok(i).Is("=") && plain >= to && c.tok(to).Is(",", ")", "]")
}

// calledFor reads a call that declares a task with a block or a function: task :name do … end, gulp.task("name", () => { … }).
func (c *chooser) calledFor(t *task) bool {
	i := t.head
	for c.tok(i).Word() && c.tok(i+1).Is(".") {
		i += 2
	}
	at := c.until(i+1, func(j int) bool { return j == i+3 || !c.toks[j].Is("(", ":") })
	if !c.isTask(i) || !c.nameAt(at) {
		return false
	}
	name := c.tok(at)
	t.names = []string{name.Text[strings.LastIndexByte(name.Text, ':')+1:]}
	if c.lang.name == "ruby" {
		return c.doBlock(t, i)
	}
	t.end = c.over(i+1) + 1
	return c.tok(i+1).Is("(") && c.ends(t.end) && c.block(t, at+1, t.end)
}

// nameAt reports whether an argument is a name as it stands: a text or a symbol, not a variable or something put together.
func (c *chooser) nameAt(at int) bool {
	name, next := c.tok(at), c.tok(at+1)
	text := name.Kind == lex.String && !strings.Contains(name.Text, markOpen)
	symbol := name.Word() && (c.tok(at-1).Is(":") || next.Is(":"))
	return (text || symbol) && (next.Is(",", ")", ":", "=>") || next.Word("do"))
}

// doBlock finds the block of a call of ruby.
func (c *chooser) doBlock(t *task, i int) bool {
	do := c.until(i, func(j int) bool { return c.toks[j].Is(";") || c.toks[j].Word("do") })
	t.from, t.to = do+1, c.over(do)
	t.end = t.to + 1
	return c.tok(do).Word("do") && t.to > do && c.ends(t.end)
}

// ends reports whether a statement ends at a token, and the next line does not go on with it.
func (c *chooser) ends(i int) bool {
	next := c.tok(c.until(i, func(j int) bool { return !c.toks[j].Is(";") }))
	return (c.tok(i).Is(";") || i >= len(c.toks)) && !next.Is("(", "[", ".") && next.Kind != lex.String
}

// block finds the body of the function that begins between two tokens.
func (c *chooser) block(t *task, from, to int) bool {
	at := c.until(from, func(j int) bool { return j >= to || c.toks[j].Is("{", ";") })
	t.from, t.to = at+1, c.over(at)
	return at < to && c.opens(at, "{") && (c.tok(at-1).Is("=>", ")") || c.tok(at-1).Word() && c.typed(at-2))
}

// taskFunction matches the head of a function of node with a name.
var taskFunction = regexp.MustCompile(`^(?:export\s+)?(?:(default)\s+)?(?:async\s+)?(?:function\b\s*\*?\s*|(?:const|let|var)\s+)` +
	`([\w$]+)\s*(?:=\s*(?:async\b\s*)?(?:function\b\s*)?)?\(`)

// functions reads a function of node with a name: function name() { … }, const name = () => { … }.
func (c *chooser) functions(t *task) bool {
	m := taskFunction.FindStringSubmatch(c.src[c.begins[t.head]:])
	if m == nil || c.lang.name != "node" || c.toks[t.head].Column > 0 {
		return false
	}
	t.names = m[1:]
	open := c.until(t.head, func(j int) bool { return c.toks[j].Is("(") })
	if !c.opens(open, "(") || !c.block(t, c.over(open)+1, len(c.toks)) {
		return false
	}
	t.end = t.to + 1
	return c.ends(t.end)
}

// exported reads an export of node that only puts other tasks together: exports.name = gulp.series(a, b).
func (c *chooser) exported(t *task) bool {
	i := t.head
	export := c.tok(i).Word("exports") && c.tok(i+1).Is(".") || c.tok(i).Word("export") && c.tok(i+1).Word("const")
	if !export || !c.tok(i+3).Is("=") || c.lang.name != "node" {
		return false
	}
	t.names = []string{c.tok(i + 2).Text}
	t.end = c.until(i, func(j int) bool { return c.toks[j].Is(";") })
	for j := i + 4; j < t.end; j++ {
		if !c.putsTogether(j) {
			return false
		}
	}
	return c.ends(t.end)
}

// putsTogether reports whether a token only names tasks, or puts them one after or beside another.
func (c *chooser) putsTogether(j int) bool {
	t := c.toks[j]
	return t.Word() || t.Kind == lex.String || t.Is(",", ".", ")", ";") || t.Is("(") && c.tok(j-1).Word("series", "parallel")
}

// changed reads a member. A method that changes its object, a text, leaves its result there.
func (p *program) changed(v value, name token) value {
	out := p.member(v, name.Text)
	switch {
	case !name.Changes:
	case v.multi():
		p.mixes(v, nil)
	case v.kind == kindText && len(v.alts) > 0 && v.holder != "" && v.path == "":
		p.set(v.holder, out)
	case v.given():
		p.store(v.holder, unknown(name.Text))
	}
	return out
}

// replacedFirst replaces the first of what replaced does.
func replacedFirst(p *program, v value, rest []value) value {
	from, ok := first(rest).text()
	to, known := nth(rest, 1).text()
	s, told := v.text()
	if !ok || !told || strings.Count(s, from) < 2 {
		return replaced(p, v, rest)
	}
	if !known || nth(rest, 1).fn != nil {
		return unknown("replace()")
	}
	return value{kind: v.kind, alts: []shell.Word{shell.Text(strings.Replace(s, from, to, 1))}}
}

// replacedIn returns replaced for what is a plain text in a language of patterns: it has none of some signs, and is not too long.
func replacedIn(signs string, most int) pure {
	return func(p *program, v value, rest []value) value {
		from, _ := first(rest).text()
		to, _ := nth(rest, 1).text()
		if strings.ContainsAny(from, signs) || len(from) > most || len(to) > most {
			return unknown("replace()")
		}
		return replaced(p, v, rest)
	}
}

// setOf returns a set, which has the elements of a list once each, and others that are added.
func setOf(p *program, v value, _ []value) value {
	switch {
	case v.multi(), p.lists(v):
		v.some = v.multi()
		return v
	case v.given() || v.path != "":
		return passedOn(v.path, v.words()...)
	}
	out := listOf()
	out.some = true
	return out
}

// flatly calls a function with each element of a list, and returns the elements of all the lists that it returns.
func flatly(p *program, v value, rest []value) value {
	out := p.handedOn("flatMap", v, rest)
	if !out.multi() {
		return out
	}
	return out.listed(bounded(flattened(out.list)))
}

// changing returns the functions whose result is another text, or another list, than what they are given.
func changing() map[string]pure {
	return map[string]pure{
		"strip": trimmed(strings.Trim), "lstrip": trimmed(strings.TrimLeft), "rstrip": trimmed(strings.TrimRight), "chomp": chomped,
		"sort": sortedList,
		"subst": func(p *program, _ value, rest []value) value { // of awk: what it is given last
			p.store(nth(rest, 1).holder, unknown("sub()"))
			return unknown("sub()")
		},
		"flat":         func(_ *program, v value, _ []value) value { return v.listed(flattened(v.list)) },
		"replacefirst": replacedFirst, "tr": replacedIn(`^\`, 1), "gsub": replacedIn("^$()%.[]*+-?", maxText),
		"caller": func(_ *program, v value, rest []value) value { return value{fn: &routine{method: v.key(), held: rest}} },
		"getter": func(_ *program, v value, _ []value) value {
			return value{fn: &routine{method: "__getattribute__", held: []value{v}}}
		},
		"from": func(p *program, v value, rest []value) value {
			if len(rest) > 0 {
				return p.eachOf(rest[0], v.elements())
			}
			return v
		},
	}
}

// listed returns the value as a list of those elements.
func (v value) listed(list []value) value {
	v.kind, v.list, v.keys = kindList, list, nil
	return v
}

// digits is what a value is as a text: unknown in other digits, or encoded.
func digits(_ *program, v value, rest []value) value {
	if len(rest) > 0 && !slices.Contains([]string{"utf8", "utf-8"}, rest[0].key()) {
		return passedOn("toString()", v.words()...)
	}
	return v
}

// width counts the words of a list, up to a limit.
func (v value) width(most int) (n int) {
	for _, e := range bounded(v.list) {
		if n++; e.multi() {
			n += e.width(most-n+1) - 1
		}
		if n > most {
			break
		}
	}
	return n
}

var isBelow = regexp.MustCompile(`^\.?(?:join|resolve|append\w*|child|resolvePath)$`)

// goesOn makes a path a step to the next text if that is what is called on it.
func goesOn(texts []shell.Word, method string, bracketed bool) []shell.Word {
	if bracketed && len(texts) == 1 && isBelow.MatchString(method) {
		texts[0] = shell.Glue(texts[0], shell.Text("/."))
	}
	return texts
}

// ofArguments returns what a method yields that its arguments alone tell: a part of the command line, or what ruby's File.method(:delete) stands for.
func (p *program) ofArguments(v value, name, full string, args []value) (value, bool) {
	if n, ok := first(args).int(); ok && v.path == allArguments && name == "slice" {
		return v.part(n, maxText), true
	}
	s, ok := first(args).text()
	ok = ok && name == "method" && p.lang.name == "ruby"
	return unknown(strings.TrimSuffix(full, "method") + s), ok
}
