package shell

// handle is the file that a call opens, if it is written to: the shell may run
// later what the program writes there.
func (p *program) handle(recv value, args []value, method bool) value {
	if method {
		args = append([]value{recv}, args...)
	}
	args, named := splitNamed(args)
	if len(args) == 0 {
		return noValue()
	}
	mode, _ := named["mode"].word().Text()
	if len(args) > 1 {
		mode, _ = args[1].word().Text()
	}
	file := args[0].word()
	if _, known := file.Text(); !known || openVerb(mode) == VerbRead {
		return noValue()
	}
	if openVerb(mode) == VerbWrite {
		p.r.writeFile(p.f, file, Word{}, false)
	}
	v := noValue()
	v.file = &file
	if p.lang.name == "ruby" && (p.isOp(0, "{") || p.peek(0).text == "do") && p.isOp(1, "|") {
		v, _ = p.eachElement("each", v)
	}
	return v
}

// opens remembers a handle of perl for a file that is written to.
func (p *program) opens(name string, verb Verb, file Word) {
	if verb == VerbRead || name == "" {
		return
	}
	if verb == VerbWrite {
		p.r.writeFile(p.f, file, Word{}, false)
	}
	p.opened[name] = file
}

// written reads a method that writes to an open file.
func (p *program) written(method string, v value) bool {
	end := ""
	switch method {
	case "write", "print", "writelines", "end", "syswrite":
	case "puts":
		end = "\n"
	default:
		return false
	}
	var args []value
	if p.isOp(0, "(") {
		p.at++
		args = p.listUntil(")")
	} else {
		args = p.bareArgs()
	}
	var b builder
	for _, w := range wordsOf(args) {
		b.addWord(w)
		b.addText(end)
	}
	p.r.writeFile(p.f, *v.file, b.word(), true)
	return true
}

// writes reads fwrite($handle, $text) of php.
func (p *program) writes(last string, args []value) bool {
	if last != "fwrite" && last != "fputs" || len(args) < 2 || args[0].file == nil {
		return false
	}
	p.r.writeFile(p.f, *args[0].file, args[1].word(), true)
	return true
}
