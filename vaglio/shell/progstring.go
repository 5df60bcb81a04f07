package shell

import (
	"strings"
)

// interpolates reports whether a string literal has expressions in it.
func (p *program) interpolates(prefix, quote string) bool {
	switch p.lang.name {
	case "python":
		return strings.Contains(prefix, "f")
	case "node":
		return quote == "`"
	case "perl", "php", "ruby", "powershell":
		return quote != "'"
	}
	return false
}

// interpolate fills the expressions of a string literal.
func (p *program) interpolate(s string) Word {
	var b builder
	for s != "" {
		i := strings.IndexAny(s, "$#@{\\"+holeOpen)
		if i < 0 {
			b.addText(s)
			break
		}
		b.addText(s[:i])
		s = p.interpolation(&b, s[i:])
	}
	return b.word()
}

// interpolation reads one expression of a string and returns the rest.
//
//nolint:cyclop // One case per form that the grammar knows.
func (p *program) interpolation(b *builder, s string) string {
	if w, rest, ok := p.r.takeHole(s); ok {
		b.addWord(w)
		return rest
	}
	open, shut := "", "}"
	switch name := p.lang.name; {
	case s[0] == '\\' && len(s) > 1:
		b.addText(s[1:2])
		return s[2:]
	case name == "python" && s[0] == '{':
		if strings.HasPrefix(s, "{{") {
			b.addText("{")
			return s[2:]
		}
		open = "{"
	case name == "php" && strings.HasPrefix(s, "{$"):
		open = "{"
	case name == "node" && strings.HasPrefix(s, "${"):
		open = "${"
	case name == "ruby" && strings.HasPrefix(s, "#{"):
		open = "#{"
	case (name == "perl" || name == "php" || name == "powershell") && len(s) > 1 && (s[0] == '$' || s[0] == '@' && name == "perl"):
		return p.sigil(b, s)
	}
	if open == "" {
		b.addText(s[:1])
		return s[1:]
	}
	end := strings.Index(s, shut)
	if end < 0 {
		b.addText(s)
		return ""
	}
	b.addWord(p.inner(s[len(open):end]))
	return s[end+len(shut):]
}

// inner evaluates an expression in a string.
func (p *program) inner(src string) Word {
	if !p.r.step(p.f, len(src)/8+1) || !p.r.enter(p.f) {
		return unknown("")
	}
	defer p.r.leave()
	sub := *p
	lex := lexer{p: &sub, src: src}
	sub.toks, sub.at = lex.run(), 0
	if len(sub.toks) == 0 {
		return Word{}
	}
	return sub.expression().word()
}

// sigil reads $name, ${name}, $ENV{NAME} in a string.
//
//nolint:cyclop // One case per form that the grammar knows.
func (p *program) sigil(b *builder, s string) string {
	n := 1
	for n < len(s) && isNameByte(s[n]) {
		n++
	}
	if n == 1 && strings.HasPrefix(s[1:], "{") {
		if end := strings.IndexByte(s, '}'); end > 0 {
			b.addWord(p.inner("$" + strings.TrimPrefix(s[2:end], "$")))
			return s[end+1:]
		}
	}
	if n == 1 {
		b.addText(s[:1])
		return s[1:]
	}
	if (s[:n] == "$ENV" || s[:n] == "$_ENV" || s[:n] == "$_SERVER") && n < len(s) && (s[n] == '{' || s[n] == '[') {
		if end := strings.IndexAny(s[n:], "}]"); end > 0 {
			b.addWord(p.env(strings.Trim(s[n+1:n+end], `'"`)))
			return s[n+end+1:]
		}
	}
	if n < len(s) && (s[n] == '[' || s[n] == '{') && p.holds(s[1:n]) {
		if end := strings.IndexAny(s[n:], "]}"); end > 0 {
			b.addWord(p.inner(s[:n+end+1]))
			return s[n+end+1:]
		}
	}
	b.addWord(p.inner(s[:n]))
	return s[n:]
}

// holds reports whether a name is that of a known list or map.
func (p *program) holds(name string) bool {
	if _, ok := p.arguments("$" + name); ok {
		return true
	}
	for _, mark := range [...]string{"$", "@", ""} {
		if v := p.vars[mark+name]; v.multi || len(v.fields) > 0 {
			return true
		}
	}
	return false
}

// pipes reports whether awk pipes a text to or from a command.
func (p *program) pipes() bool { return p.lang.name == "awk" && p.isOp(0, "|", "|&") }

// awkPipe reads "command" | getline and print … | "command".
func (p *program) awkPipe(v value) value {
	p.at++
	if p.peek(0).text == "getline" {
		p.at++
		for _, w := range v.words() {
			p.shell(w, "getline")
		}
		return noValue()
	}
	cmd := p.expression()
	for _, w := range cmd.words() {
		p.shell(w, "print |")
	}
	return noValue()
}

// awkIO reads print and getline with their redirections.
//
//nolint:cyclop,funlen // One case per form that the grammar knows.
func (p *program) awkIO(name string) value {
	p.inPrint = name != "getline"
	defer func() { p.inPrint = false }()
	var args []value
	for p.at < len(p.toks) && !p.isOp(0, ";", "}", ">", ">>", "<", "|", "|&") && p.r.step(p.f, 1) {
		before := p.at
		switch {
		case p.isOp(0, ","):
			p.at++
		case p.isOp(0, "(") && len(args) == 0:
			p.at++
			args = p.listUntil(")")
			if len(args) == 1 && p.peek(0).kind == lexString {
				args[0] = p.concat(args[0], p.operand())
			}
		default:
			args = append(args, p.expression())
		}
		if p.at == before {
			p.at++
		}
	}
	p.inPrint = false
	var text Word
	if how, ok := printers["awk"][name]; ok {
		if len(args) == 0 {
			args = []value{p.field("$0")}
		}
		text = p.printed(how, args)
	}
	if !p.isOp(0, ">", ">>", "<", "|", "|&") {
		if name != "getline" {
			p.print(text)
		}
		return noValue()
	}
	op := p.peek(0).text
	p.at++
	target := p.expression()
	for _, w := range target.words() {
		switch op {
		case "|", "|&":
			p.pipesTo[name] = w
			p.feed(name, text)
		case "<":
			p.emit(name, VerbRead, w)
		case ">>":
			p.emit(name, VerbAppend, w)
			p.r.writeFile(p.f, w, text, true)
		default:
			p.emit(name, VerbWrite, w)
			p.r.writeFile(p.f, w, text, p.r.written(w))
		}
	}
	return noValue()
}

// readTcl reads the commands of Tcl that matter, one per line.
func (p *program) readTcl(text Word) {
	for _, l := range text.lines() {
		s, ok := l.Text()
		if !ok {
			continue
		}
		for stmt := range strings.SplitSeq(s, ";") {
			p.tclCommand(shellFields(strings.NewReplacer("{", "", "}", "", "[", "", "]", "").Replace(stmt)))
		}
	}
}

func (p *program) tclCommand(words []string) {
	var argv []Word
	for _, w := range words {
		argv = append(argv, p.expandUser(Text(w)))
	}
	if len(words) < 2 {
		return
	}
	switch words[0] {
	case "exec", "spawn", "system":
		p.exec(argv[1:])
	case "file":
		if words[1] == "delete" {
			for _, w := range argv[2:] {
				if !strings.HasPrefix(w.Prefix(), "-") {
					p.emit("file delete", VerbDeleteTree, w)
				}
			}
		}
	case "open":
		mode := "r"
		if len(words) > 2 {
			mode = words[2]
		}
		p.emit("open", openVerb(mode), argv[1])
	}
}
