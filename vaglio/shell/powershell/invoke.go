package powershell

import (
	"encoding/base64"
	"encoding/binary"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode/utf16"

	"github.com/metnos/vaglio/vaglio/shell"
	"github.com/metnos/vaglio/vaglio/shell/word"
	"github.com/metnos/vaglio/vaglio/wordclass"
	"github.com/metnos/vaglio/vaglio/wording"
)

// invoke runs a command by its name: a function of the source, a cmdlet, or else a program.
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
			return r.callFunction(f, args, in)
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

// row returns the cmdlet that a name means, possibly as an alias or without Get-.
func (r *reader) row(s string) (name string, sp *spec, alias bool) {
	if to, ok := r.t.words["aliases"][strings.ToLower(s)]; ok {
		return to, r.t.spec("cmdlets:", to), true
	}
	if sp = r.t.spec("cmdlets:", s); sp == nil && !strings.Contains(s, "-") && !strings.EqualFold(s, "item") {
		sp = r.t.spec("cmdlets:get-", s)
	}
	return s, sp, false
}

// isCmdlet reports whether a name has the form of a cmdlet: Verb-Noun.
func isCmdlet(s string) bool {
	verb, noun, ok := strings.Cut(s, "-")
	return ok && len(verb) > 1 && noun != "" && names.FindString(noun) == noun && wordclass.Is("powershell-verb", strings.ToLower(verb))
}

// stranger returns a row for a cmdlet that the table does not have: one that only reads, by its family, or one left to the judges.
func (t *tables) stranger(name string) *spec {
	verb, _, _ := strings.Cut(name, "-")
	if t.is("families", verb) || t.is("families", name) {
		return &spec{name: name, rest: "read"}
	}
	return &spec{name: name, pass: "pass"}
}

// words returns the words of a command as a program receives them; each element of a list is a word of its own.
func (r *reader) words(args []argument) []shell.Word {
	out := make([]shell.Word, 0, len(args))
	for i := range args {
		a := &args[i]
		named := strings.TrimPrefix(a.name, "@") != ""
		isList := len(a.val.items) > 1 && (named || !a.val.either)
		switch {
		case a.bare && a.name == "" && !isList && strings.ContainsAny(a.word.Prefix(), "*?"): // it stands for files
			out = append(out, r.path(a.word, false))
		case named || !isList:
			out = append(out, r.nativeWord(a.word))
		}
		for j := 0; isList && j < len(a.val.items); j++ {
			r.step(1)
			out = append(out, r.nativeWord(a.val.items[j]))
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
		return r.script(name, args, false)
	}
	rows := r.t.specs["programs:"+base]
	row := slices.IndexFunc(rows, func(sp *spec) bool {
		return sp.when == "" || slices.ContainsFunc(args, func(a argument) bool { return sp.holds.MatchString(a.word.Prefix()) })
	})
	if row >= 0 && rows[row].pass == "" {
		return r.table(rows[row], args, value{}, false)
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

// script runs a script file, which is not part of the source. Behind a dot, its variables are those of the source.
func (r *reader) script(w shell.Word, args []argument, dot bool) value {
	p := r.path(w, true)
	if s, ok := p.Text(); ok && !strings.Contains(s, "/") {
		p = shell.Text("./" + s)
	}
	s := p.Suffix()
	at, _ := p.Text()
	if cwd, here := r.cwd.Text(); here && !path.IsAbs(at) {
		at = path.Join(cwd, at)
	}
	if r.o.Files != nil && r.at.Remote == nil && path.IsAbs(at) {
		if text, ok := r.o.Files.Content(path.Clean(at)); ok {
			r.emit(shell.Command{Name: path.Base(s), Argv: append([]shell.Word{p}, r.words(args)...)})
			read := func() value { return r.file(func() value { return r.fileText(at, text) }) }
			if dot {
				return read()
			}
			return r.with(text, args, read)
		}
	}
	r.problem(shell.Problem{Kind: shell.ProblemScriptFile, Detail: wording.Say("runs a script that was not read"), Word: p, Interpreter: "powershell"})
	r.emit(shell.Command{Name: s[strings.LastIndexByte(s, '/')+1:], Argv: append([]shell.Word{p}, r.words(args)...)})
	r.blocks(args, value{})
	return unknown()
}

// fileText runs the text of a script file by its name. The manifest of a module loads the files that it names.
func (r *reader) fileText(at, text string) value {
	outer := r.variable("psscriptroot")
	r.vars["psscriptroot"] = one(shell.Text(path.Dir(at)))
	v := value{}
	switch strings.ToLower(path.Ext(at)) {
	case ".ps1", ".psm1":
		v = r.carried(one(shell.Text(text)), "pwsh")
	case ".psd1":
		for _, w := range r.source(text).items {
			r.loads(path.Dir(at), w, at)
		}
	default:
		v = r.carried(one(shell.Text(text)), "cmd")
	}
	r.vars["psscriptroot"] = outer
	return v
}

// loads runs the files that a word in the manifest of a module may name, with or without their endings.
func (r *reader) loads(folder string, w shell.Word, manifest string) {
	name, known := w.Text()
	if !known {
		r.script(w, nil, true)
		return
	}
	for _, end := range [...]string{"", ".psm1", ".psd1", "/" + path.Base(name) + ".psm1", "/" + path.Base(name) + ".psd1"} {
		file := path.Join(folder, forward(name)+end)
		if file == manifest || !moduleFile.MatchString(file) {
			continue
		}
		if _, there := r.o.Files.Content(file); there || end == "" {
			r.script(shell.Text(file), nil, true)
		}
	}
}

var moduleFile = regexp.MustCompile(`(?i)\.(?:ps[md]?1|dll|exe|cdxml|xaml)$`)

// interpreter reads the command line of powershell or pwsh: code, in one or more words, or a script.
func (r *reader) interpreter(name string, args []argument, in value, piped bool) value {
	r.step(1 + len(args))
	role, args := r.t.startOptions(args)
	if role == "" && namesScript(name, args) {
		role = "script"
	}
	block := slices.IndexFunc(args, func(a argument) bool { return a.val.isBlock })
	switch {
	case len(args) == 0 || len(args) == 1 && args[0].word.Is("-"):
		if piped {
			return r.carried(in, name)
		}
		r.call(name, shell.VerbRead)
		return output(name, false)
	case block >= 0:
		return r.carried(args[block].val, name)
	case role == "encoded":
		return r.encoded(name, args[0].word)
	case role == "script":
		return r.script(args[0].word, handed(args[1:]), false)
	}
	return r.carried(one(r.line(args)), name)
}

// namesScript reports whether the first word is a script rather than code: pwsh takes any word for a script.
func namesScript(shell string, args []argument) bool {
	return len(args) > 0 && (strings.HasPrefix(shell, "pwsh") || isScript(args[0].word.Suffix())) && !strings.ContainsAny(args[0].word.Prefix(), " ;|")
}

// startOptions reads the options of powershell, and returns what the last of them makes of the other words.
func (t *tables) startOptions(args []argument) (role string, rest []argument) {
	for len(args) > 0 && !args[0].val.isBlock && isOption.MatchString(args[0].word.Prefix()) {
		p := t.spec("start:", "powershell").find(strings.ToLower(args[0].word.Prefix()[1:]), 1)
		args = args[1:]
		switch {
		case p == nil:
		case p.role != "":
			return p.role, args
		case !p.isFlag && len(args) > 0 && !strings.HasPrefix(args[0].word.Prefix(), "-"):
			args = args[1:]
		}
	}
	return "", args
}

var isOption = regexp.MustCompile(`^[-/][^/]+$`)

// encoded reads code that is base64 of UTF-16.
func (r *reader) encoded(name string, w shell.Word) value {
	s, ok := w.Text()
	r.step(1 + len(s)/bytesPerStep)
	data, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(strings.Join(strings.Fields(s), ""), "="))
	if !ok || err != nil {
		return r.carried(one(word.Unknown("")), name+" -EncodedCommand")
	}
	units := make([]uint16, len(data)/2)
	for i := range units {
		units[i] = binary.LittleEndian.Uint16(data[2*i:])
	}
	return r.carried(text(string(utf16.Decode(units))), name+" -EncodedCommand")
}

// line returns the words of a command as one text.
func (r *reader) line(args []argument) shell.Word {
	v := value{}
	for i := range args {
		v.items = append(v.items, args[i].word)
	}
	return r.word(v)
}
