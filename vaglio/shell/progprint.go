package shell

import (
	"strconv"
	"strings"
)

// printing says how a function writes its arguments to standard output.
type printing struct {
	sep, end string
	format   bool // the first argument is a format
	each     bool // the end follows each argument
}

// printers are the functions that write to standard output, by language.
//
//nolint:gochecknoglobals // A table that is only read.
var printers = map[string]map[string]printing{
	"python": {"print": {sep: " ", end: "\n"}, "sys.stdout.write": {}, "sys.stdout.buffer.write": {}, "os.write": {}},
	"perl":   {"print": {}, "say": {end: "\n"}, "printf": {format: true}, "syswrite": {}},
	"ruby":   {"print": {}, "puts": {end: "\n", each: true}, "p": {end: "\n", each: true}, "printf": {format: true}, "$stdout.write": {}, "$stdout.puts": {end: "\n", each: true}, "STDOUT.write": {}, "STDOUT.puts": {end: "\n", each: true}, "$stdout.print": {}, "STDOUT.print": {}},
	"node":   {"console.log": {sep: " ", end: "\n"}, "console.info": {sep: " ", end: "\n"}, "process.stdout.write": {}},
	"php":    {"echo": {}, "print": {}, "printf": {format: true}, "print_r": {}},
	"lua":    {"print": {sep: "\t", end: "\n"}, "io.write": {}, "io.stdout.write": {}},
	"awk":    {"print": {sep: " ", end: "\n"}, "printf": {format: true}},
}

// printed is the text that a call of a printing function writes.
func (p *program) printed(how printing, args []value) Word {
	args, named := splitNamed(args)
	if w, ok := named["sep"]; ok {
		how.sep, _ = w.word().Text()
	}
	if w, ok := named["end"]; ok {
		how.end, _ = w.word().Text()
	}
	words := wordsOf(args)
	if how.format && len(words) > 0 {
		return formatted(codedArgs(words))
	}
	var b builder
	for i, w := range words {
		if i > 0 && how.each {
			b.addText(how.end)
		} else if i > 0 {
			b.addText(how.sep)
		}
		b.addWord(w)
	}
	b.addText(how.end)
	return b.word()
}

// codedArgs spells the numbers that a format takes as characters by %c.
func codedArgs(words []Word) []Word {
	format, ok := words[0].Text()
	if !ok {
		return words
	}
	at := 1
	for i := 0; i+1 < len(format) && at < len(words); i++ {
		if format[i] != '%' {
			continue
		}
		i++
		if format[i] == '%' {
			continue
		}
		for i < len(format)-1 && strings.IndexByte("-+ #0123456789.", format[i]) >= 0 {
			i++
		}
		s, _ := words[at].Text()
		if n, err := strconv.Atoi(s); format[i] == 'c' && err == nil && n > 9 && n < 0x110000 {
			words[at] = Text(string(rune(n)))
		}
		at++
	}
	return words
}

// print notes what the program writes to its output.
func (p *program) print(w Word) {
	if p.out == nil || p.out.size > maxValue || !p.r.step(p.f, 1+w.size()/bytesPerStep) {
		return
	}
	p.out.addWord(w)
	p.wrote = true
}

// printStatement reads a printing statement that stands without parentheses,
// or with a file handle: print $fh "text".
//
//nolint:cyclop // One case per form that the grammar knows.
func (p *program) printStatement(name string) bool {
	how, ok := printers[p.lang.name][name]
	if !ok || p.lang.name == "awk" || p.lang.name == "node" {
		return false
	}
	p.at++
	if p.lang.name == "perl" && p.isOp(0, "{") && p.peek(1).kind == lexName && p.isOp(2, "}") {
		p.toks[p.at+2], p.at = p.toks[p.at+1], p.at+2 // print {$fh} "text"
	}
	handle := ""
	if t := p.peek(0); p.lang.name == "perl" && t.kind == lexName && (p.peek(1).kind == lexString || p.peek(1).kind == lexName || name == "syswrite" && p.isOp(1, ",")) && !strings.HasPrefix(t.text, "join") {
		if _, _, call := p.lookupCall(t.text); !call && (t.text[0] == '$' || strings.ToUpper(t.text) == t.text) {
			handle = t.text
			p.at++
		}
	}
	var args []value
	if p.isOp(0, "(") {
		args = p.parenthesised()
	} else {
		args = p.bareArgs()
	}
	if len(args) == 0 {
		args = []value{p.vars["$_"]}
	}
	if last := p.peek(-1).text; p.lang.name == "perl" && last == "reverse" {
		args = []value{p.reversed(p.vars["$_"])} // print scalar reverse
	}
	text := p.printed(how, args)
	if p.lang.name == "perl" && p.lines && how.end == "" && !how.format {
		text = Glue(text, Text("\n")) // -l
	}
	switch {
	case handle == "" || handle == "STDOUT":
		p.print(text)
	case handle != "STDERR":
		p.feed(handle, text)
	}
	return true
}

// parenthesised reads (a, b), and the concatenation that may follow (a).b.
func (p *program) parenthesised() []value {
	start := p.at
	p.at++
	list := p.listUntil(")")
	if p.peek(0).kind == lexOp && p.peek(0).text == p.lang.concat && p.lang.concat != "" {
		p.at = start
		return p.bareArgs()
	}
	if len(list) == 1 && p.isOp(0, ".", "%") {
		return []value{p.postfix(list[0])}
	}
	return list
}

// feed gives text to the command that a handle was opened for.
func (p *program) feed(handle string, text Word) {
	if file, ok := p.opened[handle]; ok {
		p.r.writeFile(p.f, file, text, true)
	}
	cmd, ok := p.pipesTo[handle]
	if !ok {
		return
	}
	g := p.f.with(p.lang.name)
	g.stdin = Input{Kind: InputText, Text: text, Piped: true}
	p.r.carried(g, cmd, p.lang.name)
}
