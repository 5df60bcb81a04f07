package code

import (
	"strings"

	"github.com/metnos/vaglio/vaglio/shell"
)

// runHandle reads what is written to an open file.
func (p *program) runHandle(f *function, _ string, args []value, _ map[string]value) value {
	if len(args) == 0 || args[0].file == nil {
		return unknown("")
	}
	for _, a := range args[1:] {
		for _, w := range a.words() {
			p.feed(args[0].file, p.concat(w, shell.Text(f.text)))
		}
	}
	return args[0]
}

// feed gives a text to an open file or command.
func (p *program) feed(h *handle, w shell.Word) {
	if h.command {
		cmd := h.file
		p.step(shell.ProgramStep{Shell: &cmd, By: p.lang.name, Input: &w})
		return
	}
	p.step(shell.ProgramStep{File: h.file, Write: w, Append: true, Writes: true})
}

// runPrint reads what the program prints.
func (p *program) runPrint(f *function, name string, args []value, named map[string]value) value {
	sep, end, _ := strings.Cut(f.text, ",")
	for option, s := range map[string]*string{"sep": &sep, "end": &end} {
		if w, ok := named[option]; ok {
			*s, _ = w.text()
		}
	}
	if name == "os.write" {
		args = tailOf(args, 1)
	}
	h, args, ok := printsTo(args, named)
	if !ok {
		return value{}
	}
	if p.lang.name == "perl" {
		if len(args) == 0 {
			args = []value{p.vars["$_"]}
		}
		if p.in.Lines && end == "" && name != "syswrite" {
			end = "\n"
		}
	}
	p.print(h, p.concat(p.spaced(listOf(args...).words(), sep), shell.Text(end)))
	return value{}
}

// printsTo is the file that is printed to, nil for the output, and the texts;
// false for a file that is not known.
func printsTo(args []value, named map[string]value) (*handle, []value, bool) {
	if v, ok := named["file"]; ok {
		return v.file, args, v.file != nil
	}
	switch to := first(args); {
	case to.holder == "STDOUT":
		return nil, args[1:], true
	case to.path == "<handle>":
		return to.file, args[1:], to.file != nil
	}
	return nil, args, true
}

func (p *program) print(h *handle, w shell.Word) {
	if h != nil {
		p.feed(h, w)
		return
	}
	n := size(w)
	if p.size += n; p.size > maxText || !p.spend(1+n/bytesPerStep) {
		return
	}
	p.wrote = append(p.wrote, w)
	if p.unsure > 0 {
		p.out.Unsure = true
	}
}

// awkStatement reads print, printf and getline with where their texts go.
func (p *program) awkStatement() value {
	name := p.take().text
	if name == "getline" {
		return p.getline()
	}
	p.printing = true
	args := p.awkTexts()
	p.printing = false
	var out value
	if name == "printf" && len(args) > 0 {
		out = p.formatted(args[0], args[1:])
	} else {
		if len(args) == 0 && p.in.Record != nil {
			args = []value{textOf(p.in.Record[0])}
		}
		var words []shell.Word
		for _, a := range args {
			words = append(words, a.word())
		}
		out = textOf(p.concat(p.spaced(words, " "), shell.Text("\n")))
	}
	p.awkTo(out.word())
	return value{}
}

// getline reads getline of awk, and the file behind it.
func (p *program) getline() value {
	p.takeIf(p.peek(0).kind == tokenName)
	if p.takeIf(p.is("<")) {
		p.falls("getline", shell.VerbRead, []value{p.sum()})
	}
	return unknown("getline")
}

// awkTexts reads what print of awk prints.
func (p *program) awkTexts() []value {
	var args []value
	for p.at < p.end && !p.is(";", "}", ">", ">>", "|", "|&") && p.spend(1) {
		before := p.at
		if p.takeIf(p.is(",")) {
			continue
		}
		v := p.expression()
		if v.multi() && len(args) == 0 {
			args = v.list
		} else {
			args = append(args, v)
		}
		if p.at <= before {
			break
		}
	}
	return args
}

// awkTo sends what awk prints to a file, a command or the output.
func (p *program) awkTo(w shell.Word) {
	if !p.is(">", ">>", "|", "|&") {
		p.print(nil, w)
		return
	}
	op := p.take().text
	to := p.sum()
	for _, t := range to.words() {
		switch op {
		case "|", "|&":
			p.step(shell.ProgramStep{Shell: &t, By: "print", Input: &w})
		default:
			verb := map[string]shell.Verb{">": shell.VerbWrite, ">>": shell.VerbAppend}[op]
			p.emit("print", verb, t)
			key := t.String()
			p.step(shell.ProgramStep{File: t, Write: w, Append: op == ">>" || p.opened[key], Writes: true})
			p.opened[key] = true
		}
	}
}
