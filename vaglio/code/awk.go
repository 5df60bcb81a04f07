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
	if name == "os.write" {
		args = tailOf(args, 1)
	}
	if w, ok := named["end"]; ok {
		end, _ = w.text()
	}
	if w, ok := named["sep"]; ok {
		sep, _ = w.text()
	}
	var h *handle
	if v, ok := named["file"]; ok {
		if h = v.file; h == nil {
			return value{}
		}
	}
	if len(args) > 0 && args[0].path == "<handle>" {
		if h = args[0].file; h == nil && args[0].holder != "STDOUT" {
			return value{}
		}
		args = args[1:]
	}
	if len(args) == 0 && p.lang.name == "perl" {
		args = []value{p.vars["$_"]}
	}
	if p.in.Lines && end == "" && p.lang.name == "perl" && name != "syswrite" {
		end = "\n"
	}
	if len(args) > 0 && args[0].holder == "STDOUT" {
		args = args[1:]
	}
	p.print(h, p.concat(p.spaced(listOf(args...).words(), sep), shell.Text(end)))
	return value{}
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
		if p.peek(0).kind == tokenName {
			p.take()
		}
		if p.is("<") {
			p.take()
			for _, w := range p.sum().words() {
				p.emit("getline", shell.VerbRead, w)
			}
		}
		return unknown("getline")
	}
	p.printing = true
	var args []value
	for p.at < p.end && !p.is(";", "}", ">", ">>", "|", "|&") && p.spend(1) {
		before := p.at
		if p.is(",") {
			p.take()
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
