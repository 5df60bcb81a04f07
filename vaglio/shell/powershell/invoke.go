package powershell

import (
	"encoding/base64"
	"encoding/binary"
	"regexp"
	"slices"
	"strings"
	"unicode/utf16"

	"github.com/metnos/vaglio/vaglio/shell"
	"github.com/metnos/vaglio/vaglio/wordclass"
	"github.com/metnos/vaglio/vaglio/wording"
)

// invoke runs a command by its name: a function of the source, a cmdlet, or
// else a program.
func (r *reader) invoke(name shell.Word, args []argument, in value, piped bool) value {
	s, known := name.Text()
	r.step(1 + len(args) + len(s)/bytesPerStep)
	if !known {
		return r.program(name, args, in, piped)
	}
	if i := strings.LastIndexByte(s, '\\'); i > 0 && isCmdlet(s[i+1:]) {
		s = s[i+1:] // Module\Command
	}
	to, sp, alias := r.row(s)
	for _, f := range [...]string{"function:" + strings.ToLower(s), "function:" + strings.ToLower(to)} {
		if r.vars[f].isBlock {
			r.blocks(args, in)
			return r.callFunction(f, in)
		}
	}
	if sp == nil && isCmdlet(to) {
		sp = r.t.stranger(to)
	}
	w := r.work(sp, in, piped)
	if sp == nil || w.bind(args) && alias {
		return r.program(name, args, in, piped)
	}
	return w.run(args)
}

// row is the cmdlet that a name means, maybe as an alias or without Get-.
func (r *reader) row(s string) (name string, sp *spec, alias bool) {
	if to, ok := r.t.words["aliases"][strings.ToLower(s)]; ok {
		return to, r.t.spec("cmdlets:", to), true
	}
	if sp = r.t.spec("cmdlets:", s); sp == nil && !strings.Contains(s, "-") && !strings.EqualFold(s, "item") {
		sp = r.t.spec("cmdlets:get-", s)
	}
	return s, sp, false
}

// isCmdlet says whether a name has the form of a cmdlet: Verb-Noun.
func isCmdlet(s string) bool {
	verb, noun, ok := strings.Cut(s, "-")
	return ok && len(verb) > 1 && noun != "" && nameLength(noun) == len(noun) && wordclass.Is("powershell-verb", strings.ToLower(verb))
}

// stranger is the row of a cmdlet of which the table has none: one of a family
// that only reads, or one that is left to those who judge.
func (t *tables) stranger(name string) *spec {
	verb, _, _ := strings.Cut(name, "-")
	if t.is("families", verb) || t.is("families", name) {
		return &spec{name: name, rest: "read"}
	}
	return &spec{name: name, pass: "pass"}
}

// plain adds a command as it stands, under its full name.
func (r *reader) plain(name string, args []argument) {
	r.emit(shell.Command{Name: name, Argv: append([]shell.Word{shell.Text(name)}, r.words(args)...)})
}

// words are the words of a command as a program gets them: of a list, each is
// one of its own.
func (r *reader) words(args []argument) []shell.Word {
	out := make([]shell.Word, 0, len(args))
	for i := range args {
		a := &args[i]
		named := strings.TrimPrefix(a.name, "@") != ""
		switch {
		case a.bare && a.name == "" && len(a.val.items) < 2 && strings.ContainsAny(a.word.Prefix(), "*?"):
			out = append(out, r.path(a.word, false))
			continue
		case len(a.val.items) < 2 || a.val.either && !named:
			out = append(out, r.nativeWord(a.word))
			continue
		case named:
			out = append(out, r.nativeWord(a.word))
		}
		r.step(len(a.val.items))
		for _, w := range a.val.items {
			out = append(out, r.nativeWord(w))
		}
	}
	return out
}

// program runs a program of the machine.
func (r *reader) program(name shell.Word, args []argument, in value, piped bool) value {
	base := programName(name)
	path, known := name.Text()
	switch {
	case !known && base == "":
		return r.dynamicName(name, args)
	case base == "cmd":
		return r.deeper(func() value { return r.batchLine(args, in, piped) })
	case isPowerShell(base):
		return r.deeper(func() value { return r.interpreter(base, args, in, piped) })
	case known && isScript(path):
		return r.script(name, args)
	}
	rows := r.t.specs["programs:"+base]
	if i := slices.IndexFunc(rows, func(sp *spec) bool { return sp.holds(args) }); i >= 0 && rows[i].pass == "" {
		return r.table(rows[i], args, value{}, false)
	}
	argv := append([]shell.Word{r.nativeName(name, base)}, r.words(args)...)
	stdin := shell.Input{}
	if piped {
		stdin = shell.Input{Kind: shell.InputText, Text: r.word(something(in, "")), Piped: true}
	}
	r.blocks(args, in)
	return r.native(argv, stdin)
}

// table runs a command whose options begin with a slash by its row.
func (r *reader) table(sp *spec, args []argument, in value, piped bool) value {
	w := r.work(sp, in, piped)
	w.bind(slashed(sp, args))
	return w.run(args)
}

// holds says whether one of the words is there that a row asks for.
func (s *spec) holds(args []argument) bool {
	return s.when == "" || s.when == "*" || slices.ContainsFunc(args, func(a argument) bool {
		w := strings.ToLower(a.word.Prefix())
		name, _, _ := strings.Cut(w, ":")
		when := strings.Split(s.when, "|")
		return slices.Contains(when, w) || slices.Contains(when, name)
	})
}

// script runs a script's file, which is no part of the source.
func (r *reader) script(w shell.Word, args []argument) value {
	p := r.path(w, true)
	s, ok := p.Text()
	if ok && !strings.Contains(s, "/") {
		p = shell.Text("./" + s)
	} else if !ok {
		s = p.Suffix()
	}
	r.problem(shell.Problem{Kind: shell.ProblemScriptFile, Detail: wording.Say("runs a script that was not read"), Word: p, Interpreter: "powershell"})
	r.emit(shell.Command{Name: s[strings.LastIndexByte(s, '/')+1:], Argv: append([]shell.Word{p}, r.words(args)...)})
	r.blocks(args, value{})
	return unknown()
}

// interpreter reads the command line of powershell or pwsh.
func (r *reader) interpreter(name string, args []argument, in value, piped bool) value {
	r.step(1 + len(args))
	for len(args) > 0 && !args[0].val.isBlock && isOption.MatchString(args[0].word.Prefix()) {
		p := r.t.spec("start:", "powershell").find(strings.ToLower(args[0].word.Prefix()[1:]), 1)
		args = args[1:]
		switch {
		case p == nil:
		case p.role == "code":
			return r.text(name, args, in, false)
		case p.role == "encoded":
			return r.encoded(name, args)
		case p.role == "script":
			return r.text(name, args, in, true)
		case !p.isFlag && len(args) > 0 && !strings.HasPrefix(args[0].word.Prefix(), "-"):
			args = args[1:]
		}
	}
	if len(args) > 0 {
		isFile := strings.HasPrefix(name, "pwsh") || isScript(args[0].word.Suffix())
		return r.text(name, args, in, isFile && !strings.ContainsAny(args[0].word.Prefix(), " ;|"))
	}
	if piped {
		return r.carried(in, name)
	}
	r.call(name, shell.VerbRead)
	return output(name, false)
}

var isOption = regexp.MustCompile(`^[-/][^/]+$`)

// text reads what is no option: code, in one word or several, or a script.
func (r *reader) text(name string, args []argument, in value, file bool) value {
	if len(args) == 0 {
		return value{}
	}
	if at := slices.IndexFunc(args, func(a argument) bool { return a.val.isBlock }); at >= 0 {
		return r.carried(args[at].val, name)
	}
	switch w := args[0].word; {
	case w.Is("-") && len(args) == 1:
		return r.carried(in, name)
	case file:
		return r.script(w, args[1:])
	}
	return r.carried(one(r.line(args)), name)
}

// encoded reads code in base64 of UTF-16.
func (r *reader) encoded(name string, args []argument) value {
	s, ok := r.line(args[:min(len(args), 1)]).Text()
	r.step(1 + len(s)/bytesPerStep)
	data, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(strings.Join(strings.Fields(s), ""), "="))
	if !ok || err != nil {
		return r.carried(one(unknownWord("")), name+" -EncodedCommand")
	}
	units := make([]uint16, len(data)/2)
	for i := range units {
		units[i] = binary.LittleEndian.Uint16(data[2*i:])
	}
	return r.carried(text(string(utf16.Decode(units))), name+" -EncodedCommand")
}

// line is the words of a command as one text.
func (r *reader) line(args []argument) shell.Word {
	v := value{}
	for i := range args {
		v.items = append(v.items, args[i].word)
	}
	return r.word(v)
}
