package code

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/metnos/vaglio/vaglio/shell"
)

// linked calls a function that the program imports from another file of its project. What that file
// does by itself is read elsewhere: here counts what the function does to what it is handed.
func (p *program) linked(name string, args []value) (out value, ok bool) {
	tells := func(w shell.Word) bool { return strings.ContainsAny(w.Prefix(), "/~ ") }
	if p.in.Source == nil || p.lang.imports == nil || !slices.ContainsFunc(listOf(args...).words(), tells) {
		return value{}, false
	}
	at := strings.LastIndexByte(name, '.')
	of := path.Ext("." + name[:max(at, 0)])[1:] // the module, "" if it has no name
	if p.links == nil {
		p.links = append([][]string{}, p.lang.imports.In(path.Dir(cmp.Or(p.in.Path, p.in.Cwd+"/-")), []string{p.in.Cwd}, p.src)...)
	}
	for _, files := range p.links {
		if stem, _, _ := strings.Cut(path.Base(files[0]), "."); of != "" && of != stem {
			continue
		}
		for _, file := range files {
			if m := p.module(file); m != nil && m.defines(name[at+1:]) != nil {
				m.later, m.loop, m.unsure = p.later, p.loop, p.unsure
				return m.invoke(m.defines(name[at+1:]), args), true
			}
		}
	}
	return value{}, false
}

// defines returns the function that others know by a name, nil if there is none.
func (p *program) defines(name string) *routine {
	return cmp.Or(p.fns[name], p.vars[name].fn, p.vars["exports."+name].fn, p.vars["module.exports."+name].fn)
}

// module returns the functions of a file, nil if nothing is known of it.
func (p *program) module(file string) *program {
	if m, read := p.files[file]; read {
		return m
	}
	text, ok := p.in.Source(file)
	p.files[file] = nil
	if !ok || len(text) > maxText || !p.spend(len(text)/bytesPerStep) {
		return nil
	}
	in := *p.in
	in.Path, in.Args, in.Stdin = file, nil, shell.Word{}
	aside := &run{left: p.left, said: map[string]bool{}, files: p.files, depth: p.depth, out: &shell.ProgramResult{}} // for its own statements
	m := newProgram(aside, p.table, p.lang, &in)
	m.other = true
	m.lex(text)
	m.scan(0, m.end)
	p.left = aside.left
	m.run, p.files[file] = p.run, m
	return m
}
