package shell

import (
	"strconv"
	"strings"
)

// lookupCall finds the verb of a call and whether its object is the target.
func (p *program) lookupCall(name string) (verb Verb, method, ok bool) {
	last := name[strings.LastIndexByte(name, '.')+1:]
	if last == "" {
		return "", false, false
	}
	for _, v := range callVerbs() {
		for n := range strings.FieldsSeq(functions[p.lang.name][v]) {
			switch {
			case n == name:
				return v, false, true
			case n[0] == '.' && n[1:] == last:
				return v, false, true
			case strings.HasPrefix(n, "@.") && n[2:] == last && name != last:
				verb, method, ok = v, true, true
			}
		}
	}
	return verb, method, ok
}

// nameOperand evaluates what begins with a name.
//
//nolint:cyclop // One case per form that the grammar knows.
func (p *program) nameOperand() value {
	t := p.peek(0)
	p.at++
	name := t.text
	if p.lang.name == "perl" || p.lang.name == "php" {
		if v, ok := p.perlName(name); ok {
			return p.postfix(v)
		}
	}
	if p.lang.sigil != "" && len(name) > 1 && (name[0] == '$' || name[0] == '@') {
		if v, ok := p.vars["$"+name[1:]]; ok {
			return p.postfix(v)
		}
		if v, ok := p.vars["@"+name[1:]]; ok {
			return p.postfix(v)
		}
	}
	if v, ok := p.vars[name]; ok && v.path == "" {
		if v.multi && p.grows(name, v) {
			return p.vars[name]
		}
		return p.postfix(v)
	}
	if p.lang.name == "awk" && name[0] == '$' {
		return p.field(name)
	}
	if p.lang.name == "awk" && (name == "print" || name == "printf" || name == "getline") {
		return p.awkIO(name)
	}
	if full, ok := p.imports[name]; ok {
		name = full
	}
	v := value{path: name}
	if p.bareCall(name) {
		return p.call(name, value{}, p.bareArgs())
	}
	return p.postfix(v)
}

// bareCall reports whether a known function is called without parentheses.
//
//nolint:cyclop // One case per form that the grammar knows.
func (p *program) bareCall(name string) bool {
	if !p.lang.bare || p.isOp(0, "(") {
		return false
	}
	if _, _, ok := p.lookupCall(name); !ok {
		return false
	}
	if p.isOp(0, "{") && name == "eval" {
		return false // a block, not a text
	}
	t := p.peek(0)
	return t.kind == lexString || t.kind == lexName && !p.isOp(1, "=") || t.kind == lexNumber || p.isOp(0, "<", "{", "\\", ":", "[") || name == "fork" || name == "rmtree" ||
		(name == "unlink" || name == "rmdir") && (p.isOp(0, "}", ";", ")") || p.at >= len(p.toks))
}

// field is a field of awk's present line.
func (p *program) field(name string) value {
	if name == "$" {
		p.operand() // $(NF-1) and $i
		return textValue(unknown("$"))
	}
	n, err := strconv.Atoi(name[1:])
	if err != nil || p.record == nil {
		return textValue(unknown("$"))
	}
	if n >= len(p.record) {
		return textValue(Word{})
	}
	return textValue(p.record[n])
}

// bareArgs reads arguments up to the statement's end.
//
//nolint:cyclop // One case per form that the grammar knows.
func (p *program) bareArgs() []value {
	var out []value
	if p.lang.name == "perl" && p.isOp(0, "{") && (p.peek(-1).text == "system" || p.peek(-1).text == "exec") {
		for p.at < len(p.toks) && !p.isOp(0, "}") {
			p.at++ // system {$program} @words
		}
		p.at++
	}
	for p.at < len(p.toks) && p.r.step(p.f, 1) {
		if p.isOp(0, ";", ")", "}", "]") || p.peek(0).text == "or" || p.peek(0).text == "while" || p.peek(0).text == "if" || p.peek(0).text == "for" {
			if p.peek(0).text == "while" || p.peek(0).text == "for" {
				p.loop = true
			}
			return out
		}
		if t := p.peek(0); p.isOp(0, ",") || p.lang.sigil != "" && (t.text == "my" || t.text == "our") && t.kind == lexName {
			p.at++
			continue
		}
		before := p.at
		out = append(out, p.expression())
		if p.at == before {
			p.at++
		}
	}
	return out
}

// postfix applies member access, subscripts and calls.
//
//nolint:cyclop // One case per form that the grammar knows.
func (p *program) postfix(v value) value {
	for p.at < len(p.toks) && p.r.step(p.f, 1) {
		if list, ok := p.arguments(v.path); ok {
			v = list
		}
		switch {
		case p.peek(0).kind == lexString && p.lang.name == "node" && (v.path == "$" || strings.HasSuffix(v.path, ".$")):
			p.shell(p.operand().word(), v.path)
			v = noValue()
		case p.isOp(0, "(") && v.path == "" && p.named(v) != "":
			p.at++
			v = p.call(p.named(v), value{}, p.listUntil(")"))
		case p.lang.name == "ruby" && p.isOp(0, "{") && p.isOp(1, "|") && len(v.alts) > 0:
			v, _ = p.eachElement("each", v)
		case p.isOp(0, ".", "::", "->", ":") && p.peek(1).kind == lexName && (!p.isOp(0, ".") || p.lang.concat != "." || v.path != "") && (!p.isOp(0, ":") || p.lang.name == "lua"):
			v = p.member(v)
		case p.isOp(0, "(") && v.path != "":
			p.at++
			v = p.call(v.path, value{}, p.listUntil(")"))
		case p.isOp(0, "[") && p.isOp(1, "::") && p.isOp(2, "-") && p.peek(3).text == "1" && p.isOp(4, "]"):
			p.at += 5
			v = p.reversed(v)
		case p.isOp(0, "[") && (v.multi || v.path != "" || len(v.fields) > 0 || len(v.alts) > 0 && p.lang.name != "awk" && p.lang.name != "lua"):
			p.at++
			v = p.subscript(v)
		case p.isOp(0, "{") && (v.path == "$ENV" || v.path == "ENV" || v.path == "$_ENV"):
			p.at++
			name := p.peek(0).text
			if t := p.peek(0); t.kind == lexString {
				name, _ = t.word.Text()
			}
			p.at += 2
			v = textValue(p.env(name))
		default:
			return p.constant(v)
		}
	}
	return p.constant(v)
}

// member reads .name, and the call that may follow.
//
//nolint:cyclop // One case per form that the grammar knows.
func (p *program) member(v value) value {
	name := p.peek(1).text
	p.at += 2
	full := name
	if v.path != "" {
		full = v.path + "." + name
	}
	if full == "process.env" || strings.HasSuffix(full, ".environ") {
		if p.isOp(0, ".") && p.peek(1).kind == lexName && full == "process.env" {
			name = p.peek(1).text
			p.at += 2
			return textValue(p.env(name))
		}
		return value{path: full}
	}
	if e, ok := v.field(name); ok {
		return e
	}
	if v.file != nil && p.written(name, v) {
		return v
	}
	if name == "__dict__" {
		return v
	}
	if out, ok := p.eachElement(name, v); ok {
		return out
	}
	if p.isOp(0, "(") {
		p.at++
		if v.path == "" {
			full = "?." + name
		}
		args := p.listUntil(")")
		if out, ok := p.callee(name, v.path, args); ok {
			return out
		}
		return p.call(full, v, args)
	}
	if p.bareCall(full) {
		return p.call(full, v, p.bareArgs())
	}
	if _, method, _ := p.lookupCall("?." + name); method && p.lang.name == "ruby" && v.path == "" && len(v.alts) > 0 {
		return p.call("?."+name, v, nil)
	}
	if v.path == "" && (len(v.alts) > 0 || v.multi) {
		if out, ok := p.method(name, v, nil); ok {
			return out
		}
	}
	return value{path: full, alts: v.alts, list: v.list, multi: v.multi}
}

// constant is the value of a name that stands for a known text.
func (p *program) constant(v value) value {
	if v.path == "" || v.multi || len(v.alts) > 0 && v.path == "" {
		return v
	}
	if strings.HasSuffix(v.path, "().anchor") || strings.HasSuffix(v.path, "().root") {
		return textValue(Text("/"))
	}
	switch v.path {
	case "Dir.home", "os.homedir":
		return textValue(p.home())
	case "os.sep", "os.path.sep", "path.sep", "File.SEPARATOR", "posixpath.sep", "path.posix.sep":
		return textValue(Text("/"))
	case "$HOME":
		return textValue(p.home())
	case "sys.executable", "process.execPath", "process.argv0", "RbConfig.ruby", "Gem.ruby", "PHP_BINARY":
		return textValue(Text(p.lang.name)) // the interpreter itself
	}
	return v
}

func (p *program) home() Word {
	w, _ := p.r.home("")
	return w
}

// env is the value of an environment variable.
func (p *program) env(name string) Word {
	if name == "HOME" || name == "USERPROFILE" {
		return p.home()
	}
	if v, ok := assigned(p.f.assigns, name); ok {
		return v
	}
	w, _ := p.r.variable(name)
	return w
}

// index evaluates a subscript.
//
//nolint:cyclop // One case per form that the grammar knows.
func (p *program) index(v value, at []value) value {
	if len(at) != 1 {
		return noValue()
	}
	key, ok := at[0].word().Text()
	switch {
	case ok && (strings.HasSuffix(v.path, "environ") || v.path == "ENV" || v.path == "process.env" || v.path == "$_ENV" || v.path == "$_SERVER" || v.path == "ENVIRON"):
		return textValue(p.env(key))
	case v.path == "Dir" && p.lang.name == "ruby":
		p.emit("Dir.[]", VerbList, at[0].word())
		return p.listing("Dir.glob", at)
	case v.path != "" && !v.multi && ok:
		return value{path: v.path + "." + key}
	}
	if key == "" {
		key = at[0].path
	}
	if e, ok := v.pairs().field(key); ok {
		return e
	}
	n, ok := at[0].integer()
	switch {
	case !ok:
		return noValue()
	case v.multi:
		if p.lang.name == "lua" && v.fields != nil {
			n-- // its lists begin with one
		}
		return nth(v, n)
	case n == -1:
		return sliced(v, n, 0, false)
	}
	return sliced(v, n, n+1, true)
}

// call evaluates a call: a pure function to its value, one that matters to a
// command of the script.
//
//nolint:cyclop // One case per form that the grammar knows.
func (p *program) call(name string, recv value, args []value) value {
	last := name[strings.LastIndexByte(name, '.')+1:]
	if out, ok := p.moduleCall(name, args); ok {
		return out
	}
	if out, ok := p.callRoutine(name, args); ok {
		return out
	}
	if p.writes(last, args) {
		return noValue()
	}
	if how, ok := printers[p.lang.name][name]; ok {
		if name == "os.write" && len(args) > 1 {
			args = args[1:]
		}
		p.print(p.printed(how, args))
		return noValue()
	}
	if out, ok := p.dispatchCall(last, args); ok {
		return out
	}
	if verb, method, ok := p.lookupCall(name); ok {
		if method && (recv.path != "" || len(recv.alts) == 0) {
			return noValue()
		}
		p.effect(name, verb, method, recv, args)
		if method && verb == VerbList {
			args = append([]value{recv}, args...)
		}
		if verb == verbOpen || name == "fs.createWriteStream" {
			return p.handle(recv, args, method)
		}
		if verb == VerbList && len(args) > 0 {
			return p.listing(name, args)
		}
		if verb == verbEval && len(args) > 0 && p.lang.name == "python" {
			if s, ok := args[0].word().Text(); ok {
				return p.literal(s)
			}
		}
		return noValue()
	}
	if out, ok := p.handedOn(last, args); ok {
		return out
	}
	if out, ok := p.pureCall(name, last, args); ok {
		return out
	}
	if recv.path == "" || len(recv.alts) > 0 || recv.multi {
		if out, ok := p.method(last, recv, args); ok {
			return out
		}
	}
	return value{path: name + "()"}
}
