package shell

import (
	"slices"
	"strings"
)

// program reads one inline program.
type program struct {
	r        *reader
	f        *frame
	lang     language
	args     []Word // the program's own arguments
	file     bool   // the program stands in a file
	implicit []Word // files that the program reads line by line
	toks     []lexeme
	at       int
	vars     map[string]value
	imports  map[string]string // a local name to what it was imported as
	depth    int
	loop     bool
	out      *builder        // what the program writes
	wrote    bool            // something was written
	lines    bool            // print ends lines (perl -l)
	inPrint  bool            // a | belongs to the print statement
	pipesTo  map[string]Word // handles that lead into a command
	record   []Word          // the fields of the present line, the line first
	routines map[string]*routine
	forks    int             // how often it copies itself
	opened   map[string]Word // handles of files that are written to
}

// value is what an expression may be: a text with alternatives, a list or a
// map.
type value struct {
	alts  []Word
	list  []value
	multi bool   // the value is a list
	num   bool   // the text is a number
	path  string // the dotted name of a function or module
	ref   string // the same for a named argument, whose path is its name
	// file is what is written to, if the value is a file that is open for it.
	file *Word
	// fields are a map's keys and values in turn, or values that their path
	// names with an equal sign behind.
	fields []value
}

func textValue(w Word) value { return value{alts: []Word{w}} }

func noValue() value { return value{alts: []Word{unknown("")}} }

// word is the value as one text.
func (v value) word() Word {
	if v.multi || len(v.alts) == 0 {
		return unknown("")
	}
	return v.alts[0]
}

// words are the alternatives of a text, or the elements of a list.
func (v value) words() []Word {
	if !v.multi {
		return v.alts
	}
	var out []Word
	for _, e := range v.list {
		out = append(out, e.word())
	}
	return out
}

func (r *reader) newProgram(f *frame, lang language, args []Word) *program {
	return &program{r: r, f: f, lang: lang, args: args, vars: map[string]value{}, imports: map[string]string{}, out: &builder{}, pipesTo: map[string]Word{}, routines: map[string]*routine{}, opened: map[string]Word{}}
}

// read reads a program text. Text that is not known is a problem.
func (p *program) read(text Word) {
	if text.size() > maxValue {
		p.r.problem(p.f, Problem{Kind: ProblemTooBig, Detail: "the program is longer than 1 MiB"})
		return
	}
	p.r.codeProblem(p.f, text, p.lang.name)
	if text.IsUnknown() || !p.r.step(p.f, text.size()/16) || !p.r.enter(p.f) {
		return
	}
	defer p.r.leave()
	if p.lang.name == "tcl" {
		p.readTcl(text)
		return
	}
	lex := lexer{p: p, src: p.r.splice(text)}
	p.toks, p.at = lex.run(), 0
	p.statements()
	for _, file := range p.implicit {
		p.emit("<>", VerbRead, file)
	}
}

func (p *program) peek(n int) lexeme {
	if p.at+n >= 0 && p.at+n < len(p.toks) {
		return p.toks[p.at+n]
	}
	return lexeme{}
}

func (p *program) isOp(n int, ops ...string) bool {
	t := p.peek(n)
	return t.kind == lexOp && slices.Contains(ops, t.text)
}

// statements reads the program from the first token to the last. Whatever is
// no expression that it knows is passed over token by token.
func (p *program) statements() {
	for p.at < len(p.toks) && p.r.step(p.f, 1) {
		p.statement()
	}
}

// statement reads a statement, or what of it is no expression, and yields its
// value if it has one.
//
//nolint:cyclop // One case per form that the grammar knows.
func (p *program) statement() (v value, ok bool) {
	before := p.at
	if last := p.peek(-1); before == 0 || last.kind == lexOp && (last.text == ";" || last.text == "{") {
		p.modifier()
	}
	if t := p.peek(0); t.kind == lexName && p.keyword(t.text) {
		return value{}, false
	}
	if !p.define() && !p.pattern() && !p.assignment() {
		v = p.expression()
		ok = p.at > before+1 || len(v.alts) > 0 || v.multi
	}
	if p.at == before {
		p.at++
	}
	return v, ok
}

// keyword reads the statements that bind names.
func (p *program) keyword(name string) bool {
	if p.printStatement(name) {
		return true
	}
	switch name {
	case "import":
		return p.importStatement()
	case "from":
		return p.fromStatement()
	case "for", "foreach":
		return p.forStatement()
	case "with":
		p.at++
		if v := p.expression(); p.peek(0).text == "as" && p.peek(1).kind == lexName {
			p.set(p.peek(1).text, v)
			p.at += 2
		}
		return true
	case "while", "until", "loop", "unless":
		p.loop = true
		p.at++
		return true
	case "my", "our", "local", "const", "let", "var", "await", "new", "return", "do", "then", "else", "elif", "if", "try",
		"not", "and", "or", "in", "lambda", "yield", "BEGIN", "END", "begin", "end", "die":
		p.at++
		return true
	}
	return false
}

// importStatement reads import a as b, c of python.
func (p *program) importStatement() bool {
	p.at++
	if p.lang.name == "node" {
		p.nodeImport()
		return true
	}
	if p.lang.name != "python" {
		return true
	}
	for p.peek(0).kind == lexName {
		mod := p.dotted()
		local := mod
		if p.peek(0).text == "as" {
			local = p.peek(1).text
			p.at += 2
		}
		p.imports[local] = mod
		if !p.isOp(0, ",") {
			break
		}
		p.at++
	}
	return true
}

// nodeImport reads import a from "m", import {a as b} from "m" and
// import * as a from "m".
//
//nolint:cyclop // One case per form that the grammar knows.
func (p *program) nodeImport() {
	if p.isOp(0, "(") {
		p.at-- // import("m") is a call
		p.expression()
		return
	}
	var names [][2]string // local and exported name
	for p.at < len(p.toks) && p.peek(0).text != "from" && p.peek(0).kind != lexString && !p.isOp(0, ";") {
		t := p.peek(0)
		p.at++
		switch {
		case t.kind != lexName:
		case t.text == "as" && len(names) > 0:
			names[len(names)-1][0] = p.peek(0).text
			p.at++
		case t.text == "as":
			names = append(names, [2]string{p.peek(0).text, ""})
			p.at++
		case p.isOp(0, ",", "}", ";") || p.peek(0).text == "as":
			names = append(names, [2]string{t.text, t.text})
		default:
			names = append(names, [2]string{t.text, ""})
		}
	}
	if p.peek(0).text == "from" {
		p.at++
	}
	mod, ok := p.peek(0).word.Text()
	if p.peek(0).kind != lexString || !ok {
		return
	}
	p.at++
	mod = strings.ReplaceAll(strings.TrimPrefix(mod, "node:"), "/", ".")
	for _, n := range names {
		full := mod
		if n[1] != "" {
			full += "." + n[1]
		}
		p.imports[n[0]] = full
	}
}

// fromStatement reads from a import b as c of python.
func (p *program) fromStatement() bool {
	p.at++
	mod := p.dotted()
	if p.peek(0).text != "import" {
		return true
	}
	p.at++
	for {
		if p.isOp(0, "(", ")", ",") {
			p.at++
			continue
		}
		t := p.peek(0)
		if t.kind != lexName {
			return true
		}
		p.at++
		local := t.text
		if p.peek(0).text == "as" {
			local = p.peek(1).text
			p.at += 2
		}
		p.imports[local] = mod + "." + t.text
		if !p.isOp(0, ",") {
			return true
		}
	}
}

func (p *program) dotted() string {
	names := []string{p.peek(0).text}
	p.at++
	for p.isOp(0, ".") && p.peek(1).kind == lexName {
		names = append(names, p.peek(1).text)
		p.at += 2
	}
	return strings.Join(names, ".")
}

// forStatement reads for x in list, and binds x to every element.
//
//nolint:cyclop // One case per form that the grammar knows.
func (p *program) forStatement() bool {
	def := p.at
	p.at++
	p.loop = true
	for p.isOp(0, "(") || p.peek(0).text == "const" || p.peek(0).text == "let" || p.peek(0).text == "my" || p.peek(0).text == "var" {
		p.at++
	}
	t := p.peek(0)
	if t.kind != lexName {
		return true
	}
	names, at := []string{t.text}, p.at+1
	for at+1 < len(p.toks) && p.toks[at].text == "," && p.toks[at+1].kind == lexName {
		names, at = append(names, p.toks[at+1].text), at+2
	}
	switch next := p.peek(at - p.at); {
	case next.text == "in" || next.text == "of":
		p.at = at + 1
		p.eachTurn(def, names, p.expression().listed())
	case next.text == "(" && p.lang.name == "perl" && len(names) == 1:
		p.at = at
		p.eachTurn(def, names, p.expression().listed())
	case p.lang.name == "php":
		v := p.expression()
		if p.peek(0).text != "as" {
			return true
		}
		p.at++
		if p.isOp(1, "=>") {
			p.at += 2
		}
		if t := p.peek(0); t.kind == lexName {
			p.at++
			p.eachTurn(def, []string{t.text}, v.listed())
		}
	}
	return true
}

// assignment reads name = expression.
func (p *program) assignment() bool {
	t := p.peek(0)
	if t.kind == lexName && p.isOp(1, "=~") && p.peek(2).subst != nil {
		p.vars[t.text] = p.onEach(p.vars[t.text], p.peek(2).subst.apply)
		p.at += 3
		return true
	}
	if t.subst != nil {
		p.vars["$_"] = p.onEach(p.vars["$_"], t.subst.apply)
		p.at++
		return true
	}
	if t.kind != lexName || !p.isOp(1, "=", ".=", "+=", ":=") {
		return false
	}
	op := p.peek(1).text
	p.at += 2
	v := p.expression()
	if op != "=" && op != ":=" {
		if old, ok := p.vars[t.text]; ok {
			v = p.concat(old, v)
		}
	}
	p.vars[t.text] = v
	if v.path != "" {
		p.imports[t.text] = v.path
	}
	if t.text == "@ARGV" {
		p.implicit = append(p.implicit, v.words()...) // what <> reads
	}
	return true
}
